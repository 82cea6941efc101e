"""The target's own tests, arm by arm, in processes that may die. See docs/hardware.md."""
