"""A Twitter clone as SQL, in the shares of Cobra: tweets, followers, timelines.

Users that act follow Zipf's law with the exponent 0.5, users that they follow one with 0.99. A program of SQL
reads the number of the last tweet before it writes the next one; Cobra writes it without a read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.applications.terminal import SeededTerminal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["SCHEMA", "Twitter", "load"]

SCHEMA = (
    "CREATE TABLE last_tweets (author INTEGER PRIMARY KEY, number INTEGER)",
    "CREATE TABLE tweets (author INTEGER, number INTEGER, body VARCHAR(140), PRIMARY KEY (author, number))",
    "CREATE TABLE follow_lists (follower INTEGER PRIMARY KEY, followees VARCHAR(8000), changes INTEGER)",
    "CREATE TABLE following (follower INTEGER, followee INTEGER, is_active INTEGER, change_no INTEGER,"
    " PRIMARY KEY (follower, followee))",
    "CREATE TABLE followers (followee INTEGER, follower INTEGER, is_active INTEGER, change_no INTEGER,"
    " PRIMARY KEY (followee, follower))",
)
#: Tweets of each user that are there first, followees of a timeline, and tweets of a page.
_FIRST, _TIMELINE, _PAGE = 10, 20, 10


def load(execute_many: Callable[[str, list[tuple[Any, ...]]], Any], users: int) -> None:
    """Users that follow none, each with ten tweets; Cobra has 1,000 users."""
    everyone = range(users)
    execute_many("INSERT INTO last_tweets VALUES (%s, %s)", [(user, _FIRST) for user in everyone])
    execute_many(
        "INSERT INTO tweets VALUES (%s, %s, %s)",
        [(user, number, f"{user} says {number}") for user in everyone for number in range(1, _FIRST + 1)],
    )
    execute_many("INSERT INTO follow_lists VALUES (%s, '', 0)", [(user,) for user in everyone])


class Twitter(SeededTerminal):
    """A client."""

    def __init__(self, cursor: Any, users: int, seed: str) -> None:
        super().__init__(cursor, seed)
        self._users = users

    def mix(self) -> Mapping[Callable[[Any], None], int]:
        """The shares of Cobra."""
        return _MIX

    def _user(self) -> int:
        return self._skewed(self._users, 0.5)

    def _last(self, author: int) -> int:
        (number,) = self._one("SELECT number FROM last_tweets WHERE author = %s", author)
        return int(number)

    def _follow_list(self, follower: int) -> tuple[dict[int, bool], int]:
        """The users that were ever followed, and whether they still are; and the number of changes."""
        text, changes = self._one("SELECT followees, changes FROM follow_lists WHERE follower = %s", follower)
        return {int(one[:-1]): one[-1] == "+" for one in text.split()}, changes

    def new_tweet(self) -> None:
        """A tweet, which becomes the user's last one."""
        author = self._user()
        number = self._last(author) + 1
        self._do("INSERT INTO tweets VALUES (%s, %s, %s)", author, number, f"{self._seed} says {number}")
        self._do("UPDATE last_tweets SET number = %s WHERE author = %s", number, author)

    def follow(self) -> None:
        """A user follows another one, or no longer does."""
        follower, followee = self._user(), self._skewed(self._users, 0.99)
        is_active = self._random.random() < 0.5
        listed, changes = self._follow_list(follower)
        # The number makes the contents of all versions different, where rows do not name their writers.
        state = (int(is_active), changes + 1)
        if followee in listed:
            change = "SET is_active = %s, change_no = %s WHERE follower = %s AND followee = %s"
            self._do(f"UPDATE following {change}", *state, follower, followee)
            self._do(f"UPDATE followers {change}", *state, follower, followee)
        else:
            self._do("INSERT INTO following VALUES (%s, %s, %s, %s)", follower, followee, *state)
            self._do("INSERT INTO followers VALUES (%s, %s, %s, %s)", followee, follower, *state)
        listed[followee] = is_active
        text = " ".join(f"{user}{'+' if active else '-'}" for user, active in listed.items())
        self._do(
            "UPDATE follow_lists SET followees = %s, changes = %s WHERE follower = %s",
            *(text, changes + 1, follower),
        )

    def timeline(self) -> None:
        """The last tweet of each of the users that a user follows."""
        listed, _ = self._follow_list(self._user())
        for followee in [user for user, is_active in listed.items() if is_active][:_TIMELINE]:
            number = self._last(followee)
            self._one("SELECT body FROM tweets WHERE author = %s AND number = %s", followee, number)

    def show_follow(self) -> None:
        """The users that a user follows."""
        self._follow_list(self._user())

    def show_tweets(self) -> None:
        """The last tweets of a user."""
        author = self._user()
        last = self._last(author)
        self._all(
            "SELECT body FROM tweets WHERE author = %s AND number BETWEEN %s AND %s",
            *(author, last - _PAGE + 1, last),
        )


_MIX: dict[Callable[[Any], None], int] = {
    Twitter.new_tweet: 20,
    Twitter.follow: 40,
    Twitter.timeline: 10,
    Twitter.show_follow: 10,
    Twitter.show_tweets: 20,
}
