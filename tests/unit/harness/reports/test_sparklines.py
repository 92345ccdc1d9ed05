import pytest

from harness.reports.sparklines import sparkline


@pytest.mark.parametrize(
    ("rates", "bars"),
    [
        ([], ""),
        ([None, None], "··"),
        ([0.0, 0.5, 1.0], "▁▅█"),
        ([1.0, None, 0.0], "█·▁"),
        ([0.9, 0.9], "██"),
        ([0.90, 0.92, 0.90], "▇█▇"),
        ([0.0, 0.0], "▁▁"),
    ],
)
def test_rates_are_bars_and_noise_is_no_mountain(rates, bars):
    assert sparkline(rates) == bars
