"""Click commands by topic; the only modules beside `cli` that print results."""
