"""Explanations of repeated values, defined a second time from the documentation alone."""
