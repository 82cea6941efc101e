"""Words of the product, errors, text and time: no I/O of its own."""
