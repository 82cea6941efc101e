"""What results mean: judge, level, outcome, sentences, claims."""
