"""`python -m backproof`."""

from backproof.cli import main

main()
