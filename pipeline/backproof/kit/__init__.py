"""A kit on disk: plan.toml, its types, and where a fix-up is inserted."""
