"""Environments of targets, made from recipes: which recipe, from what it was inferred, how it is built and where it is kept."""
