SIX = """\
name: six
dataset: samples.jsonl
epoch: 3
limits: {concurrency: many}
graders:
  a: {kind: tool, function: contans}
  b:
    type: assistant-contains-tool-output
    config: {tools: [x], pattern: "("}
  c: {kind: tool, function: 'g.py:grade'}
"""


def test_six_mistakes_are_six_lines_each_with_its_place_in_the_order_of_the_text(folder):
    folder.write("suite.yaml", SIX)
    folder.write("samples.jsonl", '{"id": "a", "input": "x"}\n\n{"id": "a", "input": "y"}\n')
    folder.write("g.py", "import not_installed_anywhere\n")
    found = folder.faults()
    assert [fault.split(": ")[0] for fault in found] == [
        "suite.yaml:3:1",
        "suite.yaml:4:23",
        "suite.yaml:6:29",
        "suite.yaml:9:35",
        "g.py:1",
        "samples.jsonl:3",
    ]
    assert found[-1] == (
        'samples.jsonl:3: id: duplicate id: the id "a"; the other is on line 1; '
        "ids are unique, whatever their type"
    )


def test_a_missing_dataset_hides_nothing_else(folder):
    folder.write("suite.yaml", SIX.replace("samples.jsonl", "sample.jsonl"))
    folder.write("samples.jsonl", '{"input": "x"}\n')
    folder.write("g.py", "import not_installed_anywhere\n")
    found = folder.faults()
    assert len(found) == 6
    assert found[0] == (
        'suite.yaml:2:10: dataset: there is no file "sample.jsonl"; did you mean "samples.jsonl"?'
    )


def test_what_the_graders_say_of_a_sample_stands_at_its_line(folder):
    folder.write("samples.jsonl", '{"input": "x", "ground_truth": "["}\n')
    folder.suite(
        "dataset: samples.jsonl\ngraders: [{type: regex_match}]", graders=False, samples=False
    )
    [fault] = folder.faults()
    assert fault.startswith("samples.jsonl:1: ground_truth: regex_match: ")


def test_a_suite_without_a_fault_has_none(folder):
    folder.suite()
    assert folder.faults() == []
