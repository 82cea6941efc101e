"""Runs one experiment of the plan: two configurations under load that differ in one variable."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from backproof import devices
from backproof.core.errors import PlanError
from backproof.core.model import Record, StageRole, worst
from backproof.core.time_budget import Budget
from backproof.records.experiment import ExperimentsRecord
from backproof.records.proof import StageResult
from backproof.rundir import loaded_run
from backproof.serving.experiments import conduct
from backproof.serving.setup_bed import open_testbed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from backproof.kit.serving import Experiment, Serve
    from backproof.records.experiment import ExperimentRecord
    from backproof.rundir.context import Context

NAME = "experiment"
NEEDS: tuple[type[Record], ...] = ()
RECORD = ExperimentsRecord
ROLE = StageRole.BESIDE
REUSABLE = False
