"""The synthetic target: a package whose ``__init__`` must not be run."""

raise RuntimeError("the package's __init__ was run")
