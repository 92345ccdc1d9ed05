"""How many trials of a model may be in flight."""

import asyncio

from harness.running.pace_windows import Window


def filled(places):
    """Give a window all of whose places are taken."""
    window = Window(places)
    assert all(window.take_now() for _ in range(places))
    return window


def test_all_places_are_open_at_first_and_no_more():
    window = filled(3)
    assert not window.has_room
    assert not window.take_now()


def test_a_refusal_halves_the_window_and_one_place_is_left_at_least():
    sizes = []
    window = Window(20, sizes.append)
    for _ in range(6):
        window.refused(window.halvings)
    assert sizes == [10, 5, 2, 1]
    assert window.size == 1


def test_refusals_of_requests_from_before_the_last_halving_are_no_news():
    window = Window(16)
    sent = window.halvings
    for _ in range(10):
        window.refused(sent)
    assert window.size == 8


def test_as_many_answers_as_there_are_places_open_another_one():
    window = Window(4)
    window.refused(0)
    window.refused(1)
    sizes = [window.size]
    while window.size < 4:
        window.answered()
        sizes.append(window.size)
    assert sizes == [1, 2, 2, 2, 3, 3, 3, 4]
    for _ in range(100):
        window.answered()
    assert window.size == 4


async def test_who_waits_is_let_in_by_who_leaves_in_the_order_in_which_they_came():
    window, entered = filled(2), []

    async def enter(name):
        await window.take()
        entered.append(name)

    tasks = [asyncio.create_task(enter(name)) for name in "abc"]
    await asyncio.sleep(0)
    assert entered == []
    assert not window.has_room
    window.leave()
    window.leave()
    await asyncio.sleep(0)
    assert entered == ["a", "b"]
    window.leave()
    await asyncio.gather(*tasks)
    assert entered == ["a", "b", "c"]


async def test_nobody_is_let_in_before_a_narrowed_window_has_room():
    window, entered = filled(4), []
    window.refused(0)
    task = asyncio.create_task(window.take())
    task.add_done_callback(entered.append)
    for left in range(3):
        await asyncio.sleep(0)
        assert entered == [], left
        window.leave()
    await task
    assert not window.has_room


async def test_who_is_cancelled_while_waiting_takes_no_place_with_them():
    window = filled(1)
    waiting, given = (asyncio.create_task(window.take()) for _ in range(2))
    await asyncio.sleep(0)
    waiting.cancel()
    await asyncio.sleep(0)
    window.leave()
    # The place is given by now, yet the one that has it has not run.
    given.cancel()
    await asyncio.gather(waiting, given, return_exceptions=True)
    assert window.take_now()


async def test_a_window_that_widens_lets_in_who_waits():
    window = Window(2)
    window.refused(0)
    assert window.take_now()
    task = asyncio.create_task(window.take())
    await asyncio.sleep(0)
    window.answered()
    await asyncio.wait_for(task, 1)
