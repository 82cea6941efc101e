"""GitHub for this product: publish, audit, similar, matrix, merge."""
