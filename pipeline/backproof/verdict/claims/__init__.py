"""The three claims of verify: loaded, complete, reached. Pure functions over what was found; no I/O."""
