"""A stand-in for the engine or the cache server: quick to start, and it misbehaves on request.

`cache` makes its arena and answers /healthcheck and /status; `engine` answers /health. Both end on SIGTERM.
"""

from __future__ import annotations

import os
import select
import signal
import socket
import sys
import time


def option(name, default=None):
    return sys.argv[sys.argv.index(name) + 1] if name in sys.argv else default


ARENA = os.path.join("/dev/shm", option("--arena")) if option("--arena") else None  # noqa: S108 -- where the server's is


def descendant(escape):
    """A child that sleeps for ever; an escaping one has a session of its own and another parent."""
    if os.fork():
        return
    if escape:
        os.setsid()
        if os.fork():
            os._exit(0)
    note("escaped" if escape else "worker")
    if "--stubborn" in sys.argv:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        signal.pause()


def note(what):
    """One line a process, for the test to find it again."""
    path = option("--notes")
    if path:
        with open(path, "a", encoding="ascii") as file:
            file.write(f"{what} {os.getpid()}\n")


def answer(connection):
    request = connection.recv(4096)
    status = 401 if "--guarded" in sys.argv else 503 if "--unhealthy" in sys.argv else 200
    body = option("--pool", "{}").encode() if b"/status" in request else b'{"status": "healthy"}'
    connection.sendall(b"HTTP/1.1 %d X\r\nContent-Length: %d\r\n\r\n%s" % (status, len(body), body))
    connection.close()


def orphan():
    """A grandchild that is handed to the supervisor, and ends a moment later."""
    if os.fork() == 0:
        if os.fork():
            os._exit(0)
        time.sleep(0.05)
        os._exit(0)


def beget():
    for _ in range(int(option("--workers", "0"))):
        descendant(escape=False)
    for _ in range(int(option("--zombies", "0"))):
        orphan()
    if "--escape" in sys.argv:
        descendant(escape=True)


def prepare(role):
    """Everything before the port opens."""
    note(role)
    if option("--environ"):
        with open(option("--environ"), "w", encoding="utf-8") as file:
            file.write("\n".join(f"{name}={text}" for name, text in os.environ.items()))
    beget()
    if ARENA:
        with open(ARENA, "wb") as file:
            file.truncate(int(option("--bytes", "4096")))
    time.sleep(float(option("--delay", "0")))


def part():
    """A polite end."""
    time.sleep(float(option("--flush", "0")))
    if ARENA and "--litter" not in sys.argv:
        os.unlink(ARENA)
    note("bye")
    return int(option("--farewell", "0"))


def speak():
    """A log: `--speak BYTES` of pseudo-random bytes on both outputs, the same every time."""
    import random  # noqa: PLC0415 -- slow to import, and few stand-ins speak

    for descriptor in (1, 2):
        left = random.Random(descriptor).randbytes(int(option("--speak")))  # noqa: S311 -- a pattern
        while left:
            left = left[os.write(descriptor, left) :]


def serve(server, reader):
    ends = time.monotonic() + float(option("--exit-after", "3600"))
    for line in filter(None, option("--says", "").split("|")):
        os.write(1, line.encode() + b"\n")
    note("ready")
    if option("--speak"):
        speak()
        note("spoken")
    while time.monotonic() < ends:
        ready, _, _ = select.select([reader, *server], [], [], ends - time.monotonic())
        for one in server:
            if one in ready:
                answer(one.accept()[0])
        if reader in ready and signal.SIGUSR1 not in os.read(reader, 64) and "--stubborn" not in sys.argv:
            return part()
    return int(option("--status", "0"))


def main():
    prepare(sys.argv[1])
    server = [socket.create_server(("127.0.0.1", int(option("--listen"))))] if option("--listen") else []
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
        signal.signal(number, lambda number, _: note(f"got-{number}"))
    return serve(server, reader)


if __name__ == "__main__":
    status = main()
    sys.stdout.flush()
    os._exit(status)
