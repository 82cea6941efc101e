"""Proves a backport by the tests that its fix changes or adds: source trees as arms, the project's own pytest."""
