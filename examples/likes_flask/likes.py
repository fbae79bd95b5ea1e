"""A small web application that counts likes: Flask and SQLAlchemy. It loses likes at READ COMMITTED."""

from __future__ import annotations

import os

from flask import Flask
from sqlalchemy import create_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

engine = create_engine(os.environ["DATABASE_URL"].replace("postgresql:", "postgresql+psycopg:"))
app = Flask(__name__)


class Base(DeclarativeBase):
    """The tables of the application."""


class Post(Base):
    """A post and how many readers like it."""

    __tablename__ = "posts"

    id: Mapped[int] = mapped_column(primary_key=True)
    likes: Mapped[int]


@app.post("/posts/<int:post_id>/like")
def like(post_id: int) -> dict[str, int]:
    """Add one like: reads the number, then writes it."""
    with Session(engine) as session, session.begin():
        post = session.get_one(Post, post_id)
        post.likes = post.likes + 1
        session.flush()
        return {"likes": post.likes}


@app.post("/posts/<int:post_id>/like-safely")
def like_safely(post_id: int) -> dict[str, int]:
    """The same with a lock on the row: SELECT ... FOR UPDATE."""
    with Session(engine) as session, session.begin():
        post = session.get_one(Post, post_id, with_for_update=True)
        post.likes = post.likes + 1
        session.flush()
        return {"likes": post.likes}
