import click
import pytest
from click.testing import CliRunner

from harness.commands.number_options import FiniteRange


@click.command()
@click.option("--share", type=FiniteRange(min=0, max=1, min_open=True))
def said(share):
    click.echo(share)


@pytest.mark.parametrize("text", ["nan", "NaN", "-nan", "inf", "0", "1.1", "five", ""])
def test_what_is_no_number_in_the_range_is_refused(text):
    result = CliRunner().invoke(said, ["--share", text])
    assert result.exit_code == 2
    assert "--share" in result.output


def test_a_number_in_the_range_is_taken():
    assert CliRunner().invoke(said, ["--share", "0.05"]).output == "0.05\n"
