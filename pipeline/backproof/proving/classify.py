"""By what a test is red on base: by what the code does, or only because a name is missing there. Pure functions.

The second kind is no proof of behaviour: it shows that the fix adds something, not that anything was wrong.
"""

from __future__ import annotations

import builtins
import re
from typing import TYPE_CHECKING, Final

from backproof.verdict.endings import classify_ending

if TYPE_CHECKING:
    from backproof.devices.check_result import TestResult
    from backproof.proving.trees import ArmTree
    from backproof.records.proving import RedClass
    from backproof.records.raised import Raised

_MISSING: Final = re.compile(r"has no attribute|does not have the attribute|object attribute .* is read-only")
_SIGNATURE: Final = re.compile(
    r"unexpected keyword argument|takes (no|from|\d+) .*argument|missing \d+ required|got multiple values|takes no arguments"
)
_BUILTIN: Final = re.compile(r"'(\w+)' object has no attribute")
_IMPORTS: Final = frozenset({"builtins.ImportError", "backproof_target.missing.MissingName"})
_NAMES: Final = _IMPORTS | {"builtins.NameError"}


def classify_red(test: TestResult, *, missing: bool, tree: ArmTree) -> RedClass | None:
    """Return by what a test is red on an arm; None where it could not be carried out.

    Args:
        test: one that did not pass.
        missing: it met or mentions a name that the arm lacks.
        tree: the arm: what its own code raises may be its own doing.
    """
    if missing or any(_lacks_name(raised, tree) for raised in test.raised[:1]):
        return "symbol"
    return "behaviour" if classify_ending(test) == "failed" else None


def _lacks_name(raised: Raised, tree: ArmTree) -> bool:
    classes = set(raised.classes)
    if "builtins.UnboundLocalError" in classes:
        return False
    if classes & _NAMES:
        # No test can take a name away from the target's own functions: a typo, or an import that was forgotten.
        return not (classes.isdisjoint(_IMPORTS) and raised.file in tree.hashes)
    if "builtins.AttributeError" in classes and _MISSING.search(raised.text):
        return not _takes_for_another(raised, tree)
    return "builtins.TypeError" in classes and bool(_SIGNATURE.search(raised.text))


def _takes_for_another(raised: Raised, tree: ArmTree) -> bool:
    """Tell whether the target's own code asks an object of Python's own for what it never had.

    Nothing taken for something is a common fault wherever it is raised. A list or a dictionary may also be what a test made
    for the code with the fix: there, the line must be one that the fix changes.
    """
    if raised.text.startswith("'NoneType'"):
        return raised.file.startswith(str(tree.folder))
    match = _BUILTIN.search(raised.text)
    return bool(match and hasattr(builtins, match[1])) and raised.line in tree.lines.get(raised.file, ())
