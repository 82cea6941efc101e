"""A run from request to folder."""
