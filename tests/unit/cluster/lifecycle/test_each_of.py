"""`each_of`: one fault or failure keeps no other item from its turn, and all faults are told."""

from __future__ import annotations

import pytest

from density_study.cluster.model.errors import (
    FaultsError,
    HostLostError,
    InputError,
    SeveralError,
    StudyError,
    each_of,
    together,
)
from density_study.dags.cli.console import print_error


def bad(where: str) -> InputError:
    return InputError("it is bad.", where, "mend it.")


def lost(where: str) -> HostLostError:
    return HostLostError("it does not answer.", where, "look at it.")


def fail(error: Exception | None) -> int:
    if error is not None:
        raise error
    return 1


def test_bad_input_alone_is_bad_input() -> None:
    with pytest.raises(FaultsError) as caught:
        each_of([bad("a"), None, bad("b")], fail)
    assert caught.value.exit_code == 2 and [one.where for one in caught.value.faults] == ["a", "b"]


@pytest.mark.parametrize("second", [bad("b"), lost("b")])
def test_what_fails_later_is_no_bad_input(
    second: StudyError, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SeveralError) as caught:
        each_of([lost("a"), second], fail)
    assert not isinstance(caught.value, InputError) and caught.value.exit_code == 1
    print_error(caught.value)
    assert capsys.readouterr().err.count("error: ") == 2


def test_several_of_several_are_one_list() -> None:
    with pytest.raises(SeveralError) as caught:
        each_of([together([lost("a"), bad("b")]), together([bad("c"), bad("d")]), lost("e")], fail)
    assert [one.where for one in caught.value.faults] == list("abcde")


def test_the_only_fault_is_itself() -> None:
    only = lost("a")
    with pytest.raises(HostLostError) as caught:
        each_of([None, only], fail)
    assert caught.value is only


def test_a_failed_file_operation_lets_the_others_have_their_turn() -> None:
    done: list[str] = []

    def act(name: str) -> None:
        done.append(name)
        fail({"b": OSError(28, "No space left"), "c": lost("c")}.get(name))

    with pytest.raises(OSError, match="No space left") as caught:
        each_of("abcd", act)
    assert done == list("abcd")
    assert caught.value.__cause__ is not None and "does not answer" in str(caught.value.__cause__)


def test_a_list_that_was_cut_says_so() -> None:
    turns: list[int] = []

    def act(number: int) -> None:
        turns.append(number)
        raise bad(str(number))

    with pytest.raises(FaultsError) as caught:
        each_of(range(3000), act, 20)
    assert len(turns) == 20 and "(the first 20 faults)" in caught.value.faults[-1].what
    with pytest.raises(FaultsError) as caught:
        each_of(range(20), act, 20)
    assert "first" not in str(caught.value), "these are all"


def test_faults_that_come_together_do_not_jump_over_the_limit() -> None:
    with pytest.raises(FaultsError) as caught:
        each_of([together([bad(f"{n}a"), bad(f"{n}b")]) for n in range(9)], fail, 3)
    assert len(caught.value.faults) == 4
