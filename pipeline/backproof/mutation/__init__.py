"""Mutation of a fix: wrong versions of it are made and tried, and those that no proof is red on are reported."""
