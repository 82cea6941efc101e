"""What a host is: baseline and capture."""
