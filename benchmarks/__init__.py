"""Seeded data, side-by-side runs, results with commit: `make bench`."""
