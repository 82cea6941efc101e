"""One archive with a run's evidence, for somebody who has neither the run folder nor this machine."""

from pipeline.bundle.check import Checked, check
from pipeline.bundle.make import Made, make

__all__ = ["Checked", "Made", "check", "make"]
