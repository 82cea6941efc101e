"""All JSON that is written: one module a subject."""
