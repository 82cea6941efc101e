"""Two configurations that differ in one variable, and whether it decides. See docs/hardware.md."""
