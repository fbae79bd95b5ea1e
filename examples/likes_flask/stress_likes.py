"""Stress the application: `isoscope stress examples/likes_flask/stress_likes.py`."""

from __future__ import annotations

from likes import Base, Post, app, engine
from sqlalchemy.orm import Session


def setup() -> None:
    """One post without likes."""
    Base.metadata.create_all(engine)
    with Session(engine) as session, session.begin():
        session.merge(Post(id=1, likes=0))


def like() -> None:
    """A reader likes the post."""
    assert app.test_client().post("/posts/1/like").status_code == 200


TRANSACTIONS = [like]
