"""An arm put into a target: overlay, interpreter, distribution."""
