"""The run folder: ledger, loaded run, listing."""
