"""Mutation testing: one wrong thing at a time in the specification and in the words of reports."""
