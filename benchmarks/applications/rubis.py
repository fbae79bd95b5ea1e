"""RUBiS as SQL, in the shares of Cobra: an auction site with users, items, sales, comments and ratings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from benchmarks.applications.terminal import SeededTerminal

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

__all__ = ["SCHEMA", "Rubis", "load"]

SCHEMA = (
    "CREATE TABLE regions (id INTEGER PRIMARY KEY, name VARCHAR(20))",
    "CREATE TABLE users (id VARCHAR(40) PRIMARY KEY, nick VARCHAR(40), region INTEGER)",
    "CREATE TABLE nicks (nick VARCHAR(40) PRIMARY KEY, user_id VARCHAR(40))",
    "CREATE TABLE ratings (user_id VARCHAR(40) PRIMARY KEY, rating INTEGER, comments INTEGER)",
    "CREATE TABLE items (id VARCHAR(40) PRIMARY KEY, seller VARCHAR(40), quantity INTEGER)",
    "CREATE TABLE buy_now (id VARCHAR(40) PRIMARY KEY, item VARCHAR(40), buyer VARCHAR(40),"
    " quantity INTEGER)",
    "CREATE TABLE comments (id VARCHAR(40) PRIMARY KEY, author VARCHAR(40), user_id VARCHAR(40),"
    " item VARCHAR(40), rating INTEGER)",
)
_REGIONS, _ITEMS, _COMMENTS, _QUANTITY = 62, 4, 2, 1_000


def load(execute_many: Callable[[str, list[tuple[Any, ...]]], Any], users: int) -> None:
    """62 regions; each user has four items, each item two comments. Cobra has 1,000 users."""
    everyone = range(users)
    items = [(f"{user}-{number}", str(user)) for user in everyone for number in range(_ITEMS)]
    rows: dict[str, list[tuple[Any, ...]]] = {
        "regions VALUES (%s, %s)": [(region, f"region {region}") for region in range(_REGIONS)],
        "users VALUES (%s, %s, %s)": [(str(user), f"nick{user}", user % _REGIONS) for user in everyone],
        "nicks VALUES (%s, %s)": [(f"nick{user}", str(user)) for user in everyone],
        "ratings VALUES (%s, 0, 0)": [(str(user),) for user in everyone],
        f"items VALUES (%s, %s, {_QUANTITY})": list(items),
        "comments VALUES (%s, %s, %s, %s, 0)": [
            (f"{item}-{number}", str((int(seller) + 1 + number) % users), seller, item)
            for item, seller in items
            for number in range(_COMMENTS)
        ],
    }
    for text, values in rows.items():
        execute_many(f"INSERT INTO {text}", values)


class Rubis(SeededTerminal):
    """A client."""

    def __init__(self, cursor: Any, users: int, seed: str) -> None:
        super().__init__(cursor, seed)
        self._users = users
        self._made = 0

    def mix(self) -> Mapping[Callable[[Any], None], int]:
        """The shares of Cobra."""
        return _MIX

    def _user(self) -> str:
        return str(self._random.randrange(self._users))

    def _item(self) -> str:
        return f"{self._user()}-{self._random.randrange(_ITEMS)}"

    def _new(self) -> str:
        """A name that no other row has."""
        self._made += 1
        return f"{self._seed}.{self._made}"

    def register_user(self) -> None:
        """A user with a nick that is not taken."""
        region, name = self._random.randrange(_REGIONS), self._new()
        self._one("SELECT name FROM regions WHERE id = %s", region)
        taken = self._all("SELECT user_id FROM nicks WHERE nick = %s", name)
        if taken or self._all("SELECT nick FROM users WHERE id = %s", name):
            return
        self._do("INSERT INTO users VALUES (%s, %s, %s)", name, name, region)
        self._do("INSERT INTO nicks VALUES (%s, %s)", name, name)
        self._do("INSERT INTO ratings VALUES (%s, 0, 0)", name)

    def register_item(self) -> None:
        """A user offers an item."""
        seller = self._user()
        self._one("SELECT nick FROM users WHERE id = %s", seller)
        self._do("INSERT INTO items VALUES (%s, %s, %s)", self._new(), seller, _QUANTITY)

    def buy_now(self) -> None:
        """A user buys one to five of an item."""
        item, wanted = self._item(), self._random.randint(1, 5)
        (quantity,) = self._one("SELECT quantity FROM items WHERE id = %s", item)
        if quantity >= wanted:
            self._do("UPDATE items SET quantity = %s WHERE id = %s", quantity - wanted, item)
            self._do("INSERT INTO buy_now VALUES (%s, %s, %s, %s)", self._new(), item, self._user(), wanted)

    def comment(self) -> None:
        """A comment about a user, which changes the user's rating."""
        about, points = str(self._skewed(self._users, 0.99)), self._random.randrange(5)
        self._do(
            "INSERT INTO comments VALUES (%s, %s, %s, %s, %s)",
            *(self._new(), self._user(), about, self._item(), points),
        )
        rating, comments = self._one("SELECT rating, comments FROM ratings WHERE user_id = %s", about)
        self._do(
            "UPDATE ratings SET rating = %s, comments = %s WHERE user_id = %s",
            *(rating + points, comments + 1, about),
        )

    def browse(self) -> None:
        """Five items, and the ratings of three users."""
        for _ in range(5):
            self._one("SELECT seller, quantity FROM items WHERE id = %s", self._item())
        seen = {self._skewed(self._users, 0.99) for _ in range(3)}
        for user in sorted(seen):
            self._one("SELECT rating FROM ratings WHERE user_id = %s", str(user))


_MIX: dict[Callable[[Any], None], int] = {
    Rubis.register_user: 10,
    Rubis.register_item: 15,
    Rubis.buy_now: 15,
    Rubis.comment: 20,
    Rubis.browse: 40,
}
