"""What is done beside a command: it comes again and again, ends with the block, and no fork meets it half done."""

from __future__ import annotations

import os
import threading

from backproof.core.ticker import can_fork, tick


def test_it_is_done_again_until_the_block_ends() -> None:
    ticks: list[int] = []
    twice = threading.Event()

    def count() -> None:
        ticks.append(1)
        if len(ticks) == 2:
            twice.set()

    with tick(0.001, count):
        assert twice.wait(10)
    done = len(ticks)
    assert threading.active_count() == 1
    assert len(ticks) == done


def test_an_output_that_is_gone_ends_it_and_not_the_command() -> None:
    tried = threading.Event()

    def fail() -> None:
        tried.set()
        raise BrokenPipeError

    with tick(0.001, fail):
        assert tried.wait(10)


def test_a_fork_waits_until_what_is_being_done_is_done() -> None:
    begun, go_on, half = threading.Event(), threading.Event(), threading.Lock()

    def work() -> None:
        with half:
            begun.set()
            go_on.wait(10)

    with tick(0.001, work):
        assert begun.wait(10)
        threading.Timer(0.1, go_on.set).start()
        child = os.fork()
        if child == 0:
            os._exit(half.locked())
        assert os.waitpid(child, 0)[1] == 0


def test_other_threads_keep_a_process_from_forking_and_a_ticker_does_not() -> None:
    with tick(60, lambda: None):
        assert can_fork()
        stop = threading.Event()
        other = threading.Thread(target=stop.wait)
        other.start()
        assert not can_fork()
        stop.set()
        other.join()
    assert can_fork()
