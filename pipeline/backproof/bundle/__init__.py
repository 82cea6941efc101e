"""One archive with a run's evidence, for somebody who has neither the run folder nor this machine."""

from backproof.bundle.check import Checked, check
from backproof.bundle.make import Made, make

__all__ = ["Checked", "Made", "check", "make"]
