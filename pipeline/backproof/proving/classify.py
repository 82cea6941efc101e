"""By what a test is red on base: by what the code does, or only because a name is missing there. Pure functions.

The second kind is no proof of behaviour: it shows that the fix adds something, not that anything was wrong.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from backproof.verdict.endings import classify_ending

if TYPE_CHECKING:
    from backproof.devices.check_result import TestResult
    from backproof.records.proving import RedClass
    from backproof.records.raised import Raised

_MISSING: Final = re.compile(r"has no attribute|does not have the attribute|object attribute .* is read-only")
_SIGNATURE: Final = re.compile(
    r"unexpected keyword argument|takes (no|from|\d+) .*argument|missing \d+ required|got multiple values|takes no arguments"
)
_NAMES: Final = frozenset({"builtins.ImportError", "builtins.NameError", "backproof_target.missing.MissingName"})


def classify_red(test: TestResult, *, missing: bool, root: str) -> RedClass | None:
    """Return by what a test is red on an arm; None where it could not be carried out.

    Args:
        test: one that did not pass.
        missing: it met or mentions a name that the arm lacks.
        root: the folder of the arm: what was raised there may be the target's own doing.
    """
    if missing or any(_lacks_name(raised, root) for raised in test.raised[:1]):
        return "symbol"
    return "behaviour" if classify_ending(test) == "failed" else None


def _lacks_name(raised: Raised, root: str) -> bool:
    classes = set(raised.classes)
    if "builtins.UnboundLocalError" in classes:
        return False
    if classes & _NAMES:
        return True
    if "builtins.AttributeError" in classes and _MISSING.search(raised.text):
        # The target's own code that takes nothing for something is a fault, and a common one.
        return not (raised.text.startswith("'NoneType'") and raised.file.startswith(root))
    return "builtins.TypeError" in classes and bool(_SIGNATURE.search(raised.text))
