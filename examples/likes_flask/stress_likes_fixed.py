"""The same with the change that `isoscope stress` suggests."""

from __future__ import annotations

from likes import app
from stress_likes import setup

__all__ = ["TRANSACTIONS", "setup"]


def like_safely() -> None:
    """A reader likes the post."""
    assert app.test_client().post("/posts/1/like-safely").status_code == 200


TRANSACTIONS = [like_safely]
