"""What is written about a run: comment, page, JUnit, diff."""
