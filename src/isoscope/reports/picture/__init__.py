"""A counterexample as a picture: `layout` computes where everything stands, `model` holds the result.

A renderer such as `reports.svg` writes the model down.
"""
