"""A served model under load, arm by arm: level 4 of the proof. See docs/hardware.md."""
