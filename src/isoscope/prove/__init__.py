"""Looks for proofs that the checkers do not give: of small histories that leave much open.

What it finds is only a candidate: it asks the verifier about each, and the verifier decides once more when
the certificate is read.
"""
