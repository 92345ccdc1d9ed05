import pytest

from graders.text_graders import Contains
from harness.loading.suite_files import load_suite

ECHO = "type: assistant-contains-tool-output, config: {tools: [a], pattern: b}"


def load(folder, text, more=""):
    folder.suite(f"graders: {text}\n{more}", graders=False)
    return load_suite(folder.path / "suite.yaml").graders


def faults(folder, text, more=""):
    folder.suite(f"graders: {text}\n{more}", graders=False)
    return [fault.partition(": ")[2] for fault in folder.faults()]


def test_a_mapping_and_a_list_give_the_same_graders_and_both_kinds_mix(folder):
    tool = "kind: tool, function: contains"
    mapping = load(folder, f"{{one: {{{tool}}}, two: {{{ECHO}, turn: -1, weight: 2}}}}")
    listed = load(folder, f"[{{name: one, {tool}}}, {{name: two, {ECHO}, turn: -1, weight: 2}}]")
    assert mapping == listed
    one, two = mapping
    assert (one.name, one.kind, one.turn, one.weight, one.role) == (
        "one",
        "contains",
        None,
        1.0,
        "required",
    )
    assert one.grader == Contains()
    assert type(one.extractor).__name__ == "LastAssistant"
    assert (two.kind, two.extractor, two.turn, two.weight) == (
        "assistant-contains-tool-output",
        None,
        -1,
        2.0,
    )
    assert two.grader.tools == ("a",)


def test_entries_of_a_list_without_a_name_are_called_by_their_grader_and_made_unique(folder):
    folder.write("g.py", "def mine(submission): ...\n")
    entries = "[{type: contains}, {type: contains}, {type: contains, name: contains-2}, "
    entries += "{type: 'g.py:mine'}]"
    names = [spec.name for spec in load(folder, entries)]
    assert names == ["contains", "contains-3", "contains-2", "mine"]


def test_a_display_name_is_kept_beside_the_name(folder):
    [spec] = load(folder, "{g: {type: contains, display_name: Says it}}")
    assert (spec.name, spec.display_name) == ("g", "Says it")


@pytest.mark.parametrize(
    ("more", "entry", "role"),
    [
        ("", "", "required"),
        ("scoring: {threshold: 0.5}", "", "scored"),
        ("scoring: {threshold: 0.5}", ", role: required", "required"),
        ("scoring: {threshold: ~}", "", "required"),
        ("", ", role: observed", "observed"),
    ],
)
def test_the_role_depends_on_whether_a_mean_decides(folder, more, entry, role):
    [spec] = load(folder, f"{{g: {{type: contains{entry}}}}}", more)
    assert spec.role == role


def test_weights_may_stand_under_scoring_by_name_or_by_type(folder):
    entries = "{a: {type: contains}, b: {type: contains}, c: {type: exact_match}}"
    specs = load(folder, entries, "scoring: {threshold: 0.5, weights: {a: 3, contains: 2}}")
    assert [spec.weight for spec in specs] == [3.0, 2.0, 1.0]


def test_numbers_and_truth_values_are_the_texts_that_were_written_where_texts_are_wanted(folder):
    config = "{tools: [010, 1.10, true, NO, 1e3], pattern: 12:30:00}"
    [spec] = load(folder, f"{{g: {{type: assistant-contains-tool-output, config: {config}}}}}")
    assert spec.grader.tools == ("010", "1.10", "true", "NO", "1e3")
    assert spec.grader.pattern == "12:30:00"


def test_the_config_of_a_custom_grader_is_given_as_it_is_written(folder):
    folder.write("g.py", "def mine(submission, config): ...\n")
    [spec] = load(folder, "{g: {type: 'g.py:mine', config: {v: 1.10, n: 2, l: [x]}}}")
    assert spec.grader.config == {"v": "1.10", "n": 2, "l": ["x"]}
    assert spec.grader.parameters == ("submission", "config")
    assert (spec.grader.reads, spec.grader.isolation) == ("submission", "thread")


def test_a_custom_function_may_be_isolated_and_may_read_the_trajectory(folder):
    folder.write("g.py", "def mine(trajectory): ...\ndef cut(trajectory, config): ...\n")
    [spec] = load(folder, "{g: {type: 'g.py:mine', isolation: process}}")
    assert (spec.grader.isolation, spec.grader.reads, spec.extractor) == (
        "process",
        "trajectory",
        None,
    )
    [spec] = load(folder, "{g: {type: contains, extractor: 'g.py:cut', extractor_config: {a: 1}}}")
    assert (spec.extractor.name, spec.extractor.config) == ("cut", {"a": 1})


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        ("{kind: tool, function: contans}", 'unknown grader "contans"; did you mean "contains"?'),
        ("{type: 7}", 'unknown grader "7"; allowed: '),
        (
            "{kind: tool, function: assistant-contains-tool-output, config: {tools: [a]}}",
            (
                "reads the trajectory, not a text taken out of it; "
                "write `type: assistant-contains-tool-output`"
            ),
        ),
        ("{kind: contains}", 'unknown kind of grader "contains"; write `type: contains`'),
        ("{kind: vote}", 'unknown kind of grader "vote"; allowed: model_judge, rubric, tool'),
        ("{kind: tool}", "the entry names no grader"),
        ("{kind: tool, type: contains}", "`kind` and `type` are both given"),
        ("{type: contains, function: contains}", "the entry names two graders"),
        ("{type: contains, wieght: 2}", 'unknown key "wieght"; did you mean "weight"?'),
        ("{type: contains, weight: -1}", "found -1; at least 0"),
        ("{type: contains, threshold: 1.5}", "found 1.5; at most 1"),
        ("{type: contains, weight: 010}", "the number 010 begins with a zero; write 10"),
        ("{type: contains, weight: heavy}", "found the text 'heavy'; a number"),
        ("{type: contains, turn: 1.5}", "found 1.5; a whole number"),
        ("{type: contains, turn: '1'}", "found the text '1'; a whole number"),
        ("{type: contains, role: requierd}", 'did you mean "required"?'),
        ("{type: contains, extractor: last_asistant}", 'did you mean "last_assistant"?'),
        ("{type: contains, extractor: pattern}", '"pattern" is missing'),
        ("{type: contains, isolation: process}", "only a function of the suite can be isolated"),
        (f"{{{ECHO}, extractor: last_turn}}", "there is nothing to extract; leave it out"),
        (
            "{type: assistant-contains-tool-output, pattern: b, config: {tools: [a]}}",
            'unknown key "pattern"; it belongs under `config`',
        ),
        (
            "{type: assistant-contains-tool-output, config: {tools: [a], patern: b}}",
            'unknown key "patern"; did you mean "pattern"?',
        ),
        (
            "{type: contains, config: {turn: 1}}",
            'unknown key "turn"; it belongs one level up, beside `config`',
        ),
        (
            "{type: assistant-contains-tool-output, config: {tools: a, pattern: b}}",
            "found the text 'a'; a list of texts",
        ),
        (
            "{type: assistant-contains-tool-output, config: {tools: [[a]], pattern: b}}",
            "found a list; a text",
        ),
        ("{type: assistant-contains-tool-output, config: [a]}", "found a list; a mapping"),
        ("contains", "found the text 'contains'; a mapping of options"),
    ],
)
def test_a_wrong_entry_is_one_fault(folder, entry, expected):
    found = faults(folder, f"{{g: {entry}}}")
    assert len(found) == 1, found
    assert expected in found[0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", "there is no grader; a suite has at least one"),
        ("[]", "there is no grader; a suite has at least one"),
        ("", "there is no grader; a suite has at least one"),
        ("contains", "found the text 'contains'; a mapping by name, or a list"),
        ("{trial: {type: contains}}", 'a grader cannot be called "trial"'),
        (
            "[{type: contains, name: a}, {type: contains, name: a}]",
            'there are two graders called "a"; the other is on line 3; names are unique',
        ),
    ],
)
def test_names_and_number_of_graders_are_checked(folder, text, expected):
    found = faults(folder, text)
    assert len(found) == 1, found
    assert expected in found[0]


@pytest.mark.parametrize(
    ("scoring", "expected"),
    [
        ("{weights: {ggg: 1}}", 'no grader is called "ggg" or of that type; did you mean "gg"?'),
        ("{weights: {g: -1}}", "found -1; at least 0"),
        ("{weights: {g: x}}", "found the text 'x'; a number"),
        ("{weights: {g: 1}}", '"g" has a weight already; one of the two'),
        ("{threshold: 2}", "found 2; at most 1"),
        ("{treshold: 0.5}", 'unknown key "treshold"; did you mean "threshold"?'),
    ],
)
def test_scoring_is_held_against_the_graders(folder, scoring, expected):
    entries = "{g: {type: contains, weight: 2}, gg: {type: exact_match}}"
    found = faults(folder, entries, f"scoring: {scoring}")
    assert any(expected in fault for fault in found), found


def test_scored_graders_that_weigh_nothing_are_a_fault(folder):
    found = faults(folder, "{g: {type: contains, weight: 0}}", "scoring: {threshold: 0.5}")
    assert found == ["scoring.threshold: the weights of the scored graders are all 0"]


def test_a_pattern_that_is_none_is_a_warning_of_the_suite_and_a_fault_for_validate(folder):
    config = "config: {tools: [a], pattern: '(b'}"
    text = f"{{g: {{type: assistant-contains-tool-output, {config}}}}}"
    load(folder, text)
    [warning] = load_suite(folder.path / "suite.yaml").warnings
    assert warning.path == "graders.g.config.pattern"
    assert folder.faults() == [str(warning).replace(f"{folder.path.as_posix()}/", "")]


def test_the_fingerprint_is_of_what_a_grader_does_not_of_how_it_is_called(folder):
    def print_of(entry):
        return load(folder, f"[{entry}]")[0].fingerprint

    folder.write("g.py", "def mine(submission): return 1\n")
    plain = print_of("{type: contains}")
    assert plain.startswith("sha256:")
    same = [
        "{type: contains, name: x, weight: 3, role: observed}",
        "{kind: tool, function: contains}",
    ]
    assert {print_of(entry) for entry in same} == {plain}
    mine = print_of("{type: 'g.py:mine'}")
    others = [
        "{type: exact_match}",
        "{type: contains, turn: 1}",
        "{type: contains, threshold: 0.5}",
        "{type: contains, extractor: last_turn}",
        "{type: contains, extractor: last_turn, extractor_config: {separator: x}}",
    ]
    prints = [plain, mine, *map(print_of, others)]
    assert len(set(prints)) == len(prints)
    folder.write("g.py", "def mine(submission): return 0\n")
    assert print_of("{type: 'g.py:mine'}") != mine


@pytest.mark.parametrize(
    ("entries", "place"),
    [
        ("{one: {type: contains}, right: }", "graders.right: found nothing; a mapping"),
        ("[{type: contains}, ]\n", ""),
        ("[{type: contains}, ~]", "graders[1]: found nothing; a mapping"),
        ("{g: {type: }}", "graders.g.type: found nothing; the name of a grader"),
        ("{g: {kind: tool, function: }}", "graders.g.function: found nothing"),
        ("{g: {kind: tool, function: ''}}", "graders.g.function: found the text ''"),
        ("{g: {type: contains, weight: }}", "graders.g.weight: found nothing"),
        ("", "graders: there is no grader"),
    ],
)
def test_an_entry_without_a_body_is_a_fault_with_its_place(folder, entries, place):
    found = faults(folder, entries)
    assert len(found) == bool(place), found
    assert all(fault.startswith(place) for fault in found)


@pytest.mark.parametrize("config", ["", "~", "{}"])
def test_a_config_without_options_leaves_the_defaults(folder, config):
    [spec] = load(folder, f"{{g: {{type: contains, config: {config}}}}}")
    assert spec.grader == Contains()


@pytest.mark.parametrize(
    ("entry", "more", "expected"),
    [
        ("weight: 1e10", "", "at most 1,000,000,000"),
        ("weight: -1", "", "at least 0"),
        ("role: scored", "scoring: {threshold: 1, weights: {g: 1e10}}", "at most 1,000,000,000"),
        ("threshold: 1.5", "", "at most 1"),
        ("weight: 0x" + "f" * 290, "", "a number"),
    ],
)
def test_numbers_of_a_grader_lie_in_their_bounds(folder, entry, more, expected):
    [fault] = faults(folder, f"{{g: {{type: contains, {entry}}}}}", more)
    assert fault.endswith(expected)
