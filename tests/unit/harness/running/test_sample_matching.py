"""Which sample a record is of."""

import pytest
from fakes.factories import make_sample, make_trajectory

from harness.running.sample_matching import Match, SampleIndex, id_of, sample_of_record
from harness.types.events import UserMessage
from harness.types.imports import Imported


def record(*prompts, **fields):
    turns = [[UserMessage(text=text), "Well."] for text in prompts]
    trajectory = make_trajectory(*turns) if turns else make_trajectory(["Well."])
    return Imported(**{"place": "r.jsonl:1", "trajectory": trajectory, **fields})


HISTORY = ({"role": "user", "content": "Hello."}, {"role": "assistant", "content": "Hi."})
SAMPLES = [
    make_sample(id="one", input="Which train?"),
    make_sample(id="two", input=("Which train?", "And the next?")),
    make_sample(id="three", input="Same  words"),
    make_sample(id="four", input="Same words"),
    make_sample(id="five", input="Book a seat."),
    make_sample(id="six", input="Who owns it?", history=HISTORY),
    make_sample(id="7", input="A  B"),
    make_sample(id="eight", input=("Ask.", "Ask more.")),
]


@pytest.mark.parametrize(
    ("read", "row"),
    [
        (record("Book a  seat.", sample_id="five"), 4),
        (record("Book a seat.", "Thanks, ###STOP###", sample_id="five"), 4),
        (record("Which train?", sample_id="two"), 1),
        (record(sample_id="two"), 1),
        (record("Hello.", "Who owns it?", sample_id="six"), 5),
        (record("Who owns it?", sample_id="six"), 5),
        (record(" Which\n train? "), 0),
        (record("Which train?", "And the next?"), 1),
        (record("Which train?", sample_id="of another tool"), 0),
        (record("else", prompts=("Book a seat.",)), 4),
        (record("Hello.", "Who owns it?"), 5),
        (record("Who owns it?"), 5),
        (record("x", prompts=("Same words",), sample_id="four"), 3),
        (record("x", prompts=("A\nB",), sample_id="7"), 6),
    ],
)
def test_a_record_is_found_by_its_id_else_by_all_that_the_user_says(read, row):
    assert SampleIndex(SAMPLES).find(read) == Match(row=row)


@pytest.mark.parametrize(
    ("read", "row", "doubt"),
    [
        (record("anything", sample_id="five"), 4, "other_prompts"),
        (record("Which train?", "And then?", sample_id="two"), 1, "other_prompts"),
        (record("Hello.", sample_id="five"), 4, "other_prompts"),
        (record("x", prompts=("Book a seat.",), sample_id="one"), 0, "other_prompts"),
        (record("x", prompts=("Unheard of",), sample_id="7"), 6, "other_prompts"),
        (record("Book a seat.", sample_id="7"), 6, "other_prompts"),
        (record("x", prompts=("Book a seat.",), sample_id="7"), 4, "other_id"),
        (record("Book a seat.", "Thanks, ###STOP###"), 4, "goes_on"),
        (record("Hello.", "Who owns it?", "And else?"), 5, "goes_on"),
    ],
)
def test_a_match_that_may_be_another_says_so(read, row, doubt):
    assert SampleIndex(SAMPLES).find(read) == Match(row=row, doubt=doubt)


SEVERAL = "several samples begin with its first prompt"
OTHERWISE = "the one sample that begins with its first prompt goes on otherwise"


@pytest.mark.parametrize(
    ("read", "why"),
    [
        (record("Same words"), "it has no id, and several samples have its prompts"),
        (record("Which train?", "And then?"), SEVERAL),
        (record("Ask."), OTHERWISE),
        (record("Ask.", "Other"), OTHERWISE),
        (record("Hello."), OTHERWISE),
        (record("nothing like it"), "it has no id, and no sample has its prompts"),
        (record("x", sample_id="y"), '"y" is not in the dataset, and no sample has its prompts'),
        (record(), "it has no id, and it holds no prompt"),
    ],
)  # fmt: skip
def test_a_record_without_a_sample_says_why(read, why):
    match = SampleIndex(SAMPLES).find(read)
    assert (match.row, match.doubt) == (None, None)
    assert match.problem.endswith(why)


def test_records_without_ids_are_repeats_of_one_sample_where_their_prompts_are_the_same():
    assert id_of(record("a  b")) == id_of(record("a b", place="r.jsonl:9"))
    assert id_of(record("a", "b")) != id_of(record("a b"))
    assert id_of(record()) == "r.jsonl:1"
    assert id_of(record("a b", sample_id="own")) == "own"


def test_a_sample_is_made_of_what_the_record_tells():
    fields = {"ground_truth": "Tuesday", "tags": ["trains"], "level": 3}
    sample = sample_of_record(record("Which train?", sample_id="t-1", fields=fields))
    assert (sample.id, sample.input, sample.ground_truth) == ("t-1", "Which train?", "Tuesday")
    assert (sample.tags, sample.metadata) == (("trains",), fields)


@pytest.mark.parametrize(
    ("fields", "truth"),
    [
        ({"ground_truth": ["1", "2"]}, ("1", "2")),
        ({"ground_truth": ["1", "2", "3"]}, None),
        ({"ground_truth": ["1", 2]}, None),
        ({"ground_truth": 7}, None),
    ],
)
def test_a_ground_truth_a_turn_has_one_for_each(fields, truth):
    assert sample_of_record(record("a", "b", fields=fields)).ground_truth == truth


def test_a_record_that_holds_its_sample_gives_it_whole():
    whole = make_sample(id="s", input="Say it.", rubric="be kind")
    sample = sample_of_record(record("else", sample=whole, sample_id="t"))
    assert (sample.id, sample.input, sample.rubric) == ("t", "Say it.", "be kind")
