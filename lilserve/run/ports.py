"""The addresses that a plan will listen on in, those that are taken out, with the process that has them."""

from __future__ import annotations

import errno
import os
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from lilserve.errors import Problem
from lilserve.run.processes import named, opened, processes

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from lilserve.plan.model import Plan

# The cache server's listening sockets: what it is, the flag of its port, the flag of its address, the default address.
SERVICE_PORTS = (
    ("cache server", "--port", "--host", "127.0.0.1"),
    ("cache server's HTTP side", "--http-port", "--http-host", "127.0.0.1"),
    ("cache server's metrics", "--prometheus-port", "--prometheus-host", "0.0.0.0"),  # noqa: S104 -- the server's default
)
_LISTEN, _TABLES = "0A", ("/proc/net/tcp", "/proc/net/tcp6")


@dataclass(frozen=True, slots=True)
class Address:
    what: str
    host: str
    port: int


def addresses(plan: Plan) -> list[Address]:
    """Every address that the engine and its cache server will listen on."""
    return list(dict.fromkeys([*_engine(plan), *_service(plan)]))


def _engine(plan: Plan) -> Iterator[Address]:
    options = {name: option.value for name, option in plan.options.items()}
    if options.get("port") and not options.get("uds") and not options.get("headless"):
        yield Address("engine", str(options.get("host") or "0.0.0.0"), int(options["port"]))  # noqa: S104 -- vLLM's default


def _service(plan: Plan) -> Iterator[Address]:
    if plan.cache_service is None:
        return
    argv = plan.cache_service.argv
    health = urlsplit(plan.cache_service.health_url)
    for what, flag, host_flag, default in SERVICE_PORTS:
        text = value_of(argv, flag)
        if text is not None and text.isdigit() and int(text):
            yield Address(what, value_of(argv, host_flag) or default, int(text))
    if health.port and value_of(argv, "--http-port") is None:
        yield Address("cache server's HTTP side", health.hostname or "127.0.0.1", health.port)


def value_of(argv: Sequence[str], flag: str) -> str | None:
    """The value of a flag, in either spelling; the last one counts."""
    found = None
    for index, token in enumerate(argv):
        name, equals, text = token.partition("=")
        if name == flag:
            found = text if equals else next(iter(argv[index + 1 : index + 2]), None)
    return found


def taken(address: Address) -> Problem | None:
    """The problem of an address that cannot be bound now, or None."""
    where = f"{address.host}:{address.port}" if ":" not in address.host else f"[{address.host}]:{address.port}"
    try:
        family, _, _, _, place = socket.getaddrinfo(
            address.host, address.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
    except OSError as error:
        return Problem(f"the {address.what}'s address {where} does not resolve: {error.strerror}", code="port")
    failure = _bind(family, place, reuse=False)
    if failure == errno.EADDRINUSE and _resting(address.port):
        failure = _bind(family, place, reuse=True)  # only closed connections linger there, and servers bind over them
    if failure is None:
        return None
    reason, hint = REFUSED.get(failure, (os.strerror(failure).lower(), None))
    owner = owner_of(address.port) if failure == errno.EADDRINUSE else None
    reason = f"{reason} by {owner}" if owner else reason
    return Problem(f"the {address.what} cannot listen on {where}: {reason}", hint=hint, code="port")


REFUSED: dict[int, tuple[str, str]] = {
    errno.EADDRINUSE: ("taken", "end what listens there, or pass another --port (the cache's ports follow it)"),
    errno.EADDRNOTAVAIL: ("no address of this machine", "--host 0.0.0.0"),
    errno.EACCES: ("ports below 1024 are not open to this user", "--port 8000"),
}


def _bind(family: int, place: tuple[object, ...], *, reuse: bool) -> int | None:
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        if family == socket.AF_INET6:
            trial.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        trial.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, int(reuse))
        try:
            trial.bind(place)
        except OSError as error:
            return error.errno
    return None


def _rows(port: int) -> Iterator[tuple[str, str]]:
    """State and inode of each socket of this network namespace whose local port this is."""
    for table in _TABLES:
        try:
            with open(table, encoding="ascii") as file:
                rows = [line.split() for line in file][1:]
        except OSError:
            continue
        yield from ((row[3], row[9]) for row in rows if int(row[1].rpartition(":")[2], 16) == port)


def _resting(port: int) -> bool:
    """Whether closed or closing connections explain the port.

    A socket that is bound and not yet listening is in no table, and vLLM binds long before it listens: where nothing
    explains a port that cannot be bound, somebody holds it.
    """
    states = [state for state, _ in _rows(port)]
    return bool(states) and _LISTEN not in states


def owner_of(port: int) -> str | None:
    """Name and process id of who listens on a port, where this user may see it."""
    wanted = {f"socket:[{inode}]" for state, inode in _rows(port) if state == _LISTEN}
    owners = (named(pid) for pid in processes() if not wanted.isdisjoint(opened(pid)))
    return next(owners, None) if wanted else None
