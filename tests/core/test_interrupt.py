import signal
import threading
from collections.abc import Iterator

import pytest

from nodewise.core.interrupt import Interrupted, Paused, Stopped, deferred, exit_code, stopped_by_exception

SIGNALS = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in SIGNALS}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


def interrupt_work(*numbers: int) -> list[int]:
    """Do some work that signals fall into; return what was reached, and after it the number that ended it."""
    reached: list[int] = []
    try:
        with deferred() as stop_if_asked:
            stop_if_asked()
            for place, number in enumerate(numbers):
                signal.raise_signal(number)
                reached.append(place)
            stop_if_asked()
            reached.append(-1)
    except Stopped as stop:
        reached.append(stop.number)
    return reached


@pytest.mark.parametrize("number", SIGNALS)
def test_a_signal_waits_until_it_is_asked_for(number: int) -> None:
    assert interrupt_work(number) == [0, number]


def test_without_a_signal_work_goes_on() -> None:
    assert interrupt_work() == [-1]


def test_a_second_signal_does_not_wait() -> None:
    assert interrupt_work(signal.SIGINT, signal.SIGTERM) == [0, signal.SIGTERM]


def test_one_that_nobody_asked_for_comes_at_the_end() -> None:
    with pytest.raises(Stopped), deferred():
        signal.raise_signal(signal.SIGINT)


def test_handlers_are_put_back() -> None:
    before = [signal.getsignal(number) for number in SIGNALS]
    with deferred():
        assert all(signal.getsignal(number) not in before for number in SIGNALS)
    assert [signal.getsignal(number) for number in SIGNALS] == before


def test_an_ignored_signal_stays_ignored() -> None:
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    with stopped_by_exception(), deferred() as stop_if_asked:
        signal.raise_signal(signal.SIGHUP)
        stop_if_asked()


def test_in_another_thread_nothing_is_held_back() -> None:
    finished = []

    def work() -> None:
        with deferred() as stop_if_asked:
            stop_if_asked()
            finished.append(True)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert finished == [True]


@pytest.mark.parametrize("number", SIGNALS[1:])
def test_other_signals_become_interruptions(number: int) -> None:
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt) as caught, stopped_by_exception():
        signal.raise_signal(number)
    assert signal.getsignal(number) == before
    assert exit_code(caught.value) == 128 + number


def test_exit_codes_are_those_of_a_shell() -> None:
    assert [exit_code(stop) for stop in (KeyboardInterrupt(), Stopped(), Stopped(15), Stopped(1))] == [
        130,
        130,
        143,
        129,
    ]


@pytest.mark.parametrize("kind", [Paused, Interrupted])
def test_no_handler_of_errors_takes_a_pause_for_one(kind: type[Paused]) -> None:
    assert not issubclass(kind, Exception)
    pause = kind("interrupted; more", Stopped(signal.SIGTERM))
    assert isinstance(pause, KeyboardInterrupt)
    assert (str(pause), exit_code(pause), exit_code(kind("", KeyboardInterrupt()))) == ("interrupted; more", 143, 130)
