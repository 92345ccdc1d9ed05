from importlib.metadata import version

import msgspec
import pytest
from fakes.stub_graders import StubGrader

from graders.text_extractors import LastAssistant
from graders.text_graders import Contains
from harness.grading.plugin_versions import release_of


@pytest.mark.parametrize("plugin", [Contains, LastAssistant])
def test_our_own_plugins_come_with_regrade(plugin):
    assert release_of(plugin) == f"regrade=={version('regrade')}"


def test_a_class_of_any_installed_package_has_its_release():
    assert release_of(msgspec.Struct) == f"msgspec=={version('msgspec')}"


@pytest.mark.parametrize("plugin", [StubGrader, object])
def test_a_class_of_no_package_has_none(plugin):
    assert release_of(plugin) == ""
