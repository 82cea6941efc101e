"""The wrong versions that are made of a fix: each operator, where they are made, and what is not made."""

from __future__ import annotations

import ast
from textwrap import dedent

import pytest
from backproof.mutation.changed_lines import find_changes, join_changes, split_lines
from backproof.mutation.mutants import Mutant, make_mutants
from hypothesis import given, settings
from hypothesis import strategies as st


def make(base: str, fixed: str) -> tuple[Mutant, ...]:
    return make_mutants("demo/conv.py", dedent(base).encode(), dedent(fixed).encode())


def changes_of(line: str) -> set[str]:
    """Return the wrong versions of one line that a fix adds."""
    return {mutant.after for mutant in make("", f"{line}\n") if mutant.operator != "revert"}


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        ("x = a < b", {"x = a <= b"}),
        ("x = a is not b", {"x = a is b"}),
        ("x = a and b", {"x = a", "x = b"}),
        ("x = (a > 0) & b", {"x = (a > 0)", "x = b", "x = (a >= 0) & b", "x = (a > 1) & b", "x = (a > (-1)) & b"}),
        ("x = n + 1", {"x = n - 1", "x = n + 2", "x = n + 0"}),
        ("x = n * m % k", {"x = n // m % k", "x = n * m // k"}),
        ("x = True", {"x = False"}),
        ("x = y.astype(dtype=np.int32)", {"x = y.astype(dtype=np.int64)"}),
        ("x = np.zeros(n)", {"x = np.empty(n)", "x = n"}),
        ("x = max(a, b)", {"x = min(a, b)", "x = max(b, a)"}),
        ("x.fill_(v)", {"pass", "v"}),
        ("x = y.contiguous() * k", {"x = y * k", "x = y.contiguous() // k"}),
        ("x = np.where(c, a + b, d) * k", {"x = (a + b) * k", "x = d * k"}),
        ("x = a if c else b", {"x = a", "x = b", "x = a if not c else b"}),
        ("x[i] = v", {"pass"}),
        ("x += v", {"pass"}),
    ],
)
def test_each_operator(line: str, wrong: set[str]) -> None:
    assert wrong <= changes_of(line)


def test_a_condition_is_negated_and_its_edge_moved() -> None:
    made = {mutant.after for mutant in make("", "if ready and n > 2:\n    f(n)\n")}
    assert {"if not (ready and n > 2):", "if ready:", "if n > 2:", "if ready and n >= 2:"} <= made


def test_a_hunk_is_taken_back_whole_and_change_by_change() -> None:
    base = "def f(a):\n    x = a\n    y = a\n    z = a\n    return x, z\n"
    fixed = "def f(a):\n    x = b\n    y = a\n    z = c\n    return x, z\n"
    texts = {mutant.source.decode() for mutant in make(base, fixed) if mutant.operator == "revert"}
    assert texts == {base, base.replace("z = a", "z = c"), base.replace("x = a", "x = b")}


def test_a_fix_that_holds_in_a_part_of_the_cases_only() -> None:
    """By its optional arguments, its modes, and size and type of its first tensor: the rest is as it was."""
    head = "def f(x: torch.Tensor, y: torch.Tensor, mode: int, *, tokens: Any = None):\n"
    made = make(f"{head}    return 1\n", f"{head}    return 2\n")
    parts = {mutant.after: mutant.source.decode() for mutant in made if mutant.operator == "in-part"}
    assert set(parts) == {
        "if tokens is None:",
        "if mode:",
        "if not mode:",
        "if x.shape[0] <= 16:",
        "if 'float16' not in str(x.dtype).split('.'):",
    }
    body = "    if tokens is None:\n        return 2\n    else:\n        return 1\n        pass\n"
    assert parts["if tokens is None:"] == f"{head}{body}"


def test_what_the_changed_lines_rest_on_is_changed_too() -> None:
    head = "def f(slot, n):\n    unused = n + 1\n    active = (slot >= 0) & (slot < n)\n    return "
    made = make(f"{head}0\n", f"{head}active\n")
    assert "active = (slot >= 0) & (slot <= n)" in {mutant.after for mutant in made}
    assert not any("unused" in mutant.after for mutant in made)


def test_a_name_that_the_fix_sets_is_handed_to_a_neighbour_too() -> None:
    tail = "    call(\n        pad_slot_id=PAD,\n        null_block_id=null,\n        rows=n,\n    )\n"
    made = make(f"def f(n):\n    null = 0\n\n\n\n\n\n\n\n{tail}", f"def f(n):\n    null = n\n\n\n\n\n\n\n\n{tail}")
    assert [mutant.after for mutant in made if mutant.operator == "argument"] == ["pad_slot_id=null,"]


def test_lines_that_are_not_the_fixs_stay() -> None:
    rest = "".join(f"n{number} = {number}\n" for number in range(40))
    made = make(f"{rest}x = 1\n", f"{rest}x = 2\n")
    assert {mutant.line for mutant in made} == {41}


def test_no_version_breaks_the_import() -> None:
    """An import that is taken back alone would only show that Python finds undefined names."""
    made = make("x = 1\n", "import os\nx = os.sep\n")
    assert all("import os" in mutant.source.decode() or "os." not in mutant.source.decode() for mutant in made)
    assert not any(mutant.source == b"x = os.sep\n" for mutant in made)
    assert not any(mutant.operator == "revert" for mutant in make("", "ROWS = 1\n"))


def test_comments_and_annotations_are_not_mutated() -> None:
    assert make("x = y\n", "# 1 < 2\nx = y\n") == ()
    assert changes_of("x: Literal[1] = y") == set()


def test_a_kernel_is_mutated_like_any_function() -> None:
    kernel = """
        @triton.jit
        def copy(out, n: tl.constexpr, BLOCK: tl.constexpr):
            row = tl.program_id(0)
            tl.store(out + row, tl.where(row < n, row, {}))
    """
    made = {mutant.after for mutant in make(kernel.format("-1"), kernel.format("n"))}
    assert "tl.store(out + row, tl.where(row <= n, row, n))" in made
    assert "tl.store(out + row, row)" in made
    assert "row = tl.program_id(1)" in made


def test_the_id_stays_where_the_file_and_the_change_stay() -> None:
    first, second = make("", "x = a < b\n"), make("", "x = a < b\n")
    assert [mutant.id for mutant in first] == [mutant.id for mutant in second]
    assert len({mutant.id for mutant in first}) == len(first)


def test_a_file_that_is_not_python_is_refused() -> None:
    with pytest.raises(SyntaxError):
        make("", "def broken(:\n")


LINES = st.lists(st.sampled_from(["x = 1\n", "y = x < 2\n", "z = f(x, y)\n", "# note\n", "\n"]), max_size=12)


@settings(deadline=None, max_examples=50)
@given(LINES, LINES)
def test_every_version_compiles_and_differs_from_the_fix(before: list[str], after: list[str]) -> None:
    base, fixed = "".join(before), "".join(after)
    made = make(base, fixed)
    trees = [ast.dump(ast.parse(mutant.source)) for mutant in made]
    assert len({ast.dump(ast.parse(fixed)), *trees}) == len(made) + 1


@given(LINES, LINES)
def test_hunks_taken_back_one_after_another_give_the_file_before(before: list[str], after: list[str]) -> None:
    text = list(after)
    for hunk in reversed(join_changes(find_changes(before, after))):
        text[slice(*hunk.new)] = before[slice(*hunk.old)]
    assert text == before


@pytest.mark.parametrize("text", ["", "a\n", "a", "a\fb\n", "a\r\nb\n", "\n\n", "a\x0bb\n"])
def test_lines_are_those_of_git(text: str) -> None:
    assert split_lines(text) == [line for line in text.replace("\n", "\n\0").split("\0") if line]
