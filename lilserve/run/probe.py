"""One HTTP question that never blocks: a URL in, an answer or the reason for none out. No proxy takes part."""

from __future__ import annotations

import errno
import http.client
import io
import os
import select
import socket
from dataclasses import dataclass
from urllib.parse import urlsplit

_CHUNK = 65536
_WHOLE = 4 << 20  # bytes; a status page is some KiB
_UNDER_WAY = (0, errno.EINPROGRESS, errno.EAGAIN)


@dataclass(frozen=True, slots=True)
class Answer:
    """What came back. Without a status nothing did, and `why` says what stood in the way."""

    status: int | None
    body: bytes = b""
    why: str = ""


class Ask:
    """A GET under way. Poll `fileno` for `events` and call `advance`; past `deadline` call `give_up`."""

    def __init__(self, url: str, now: float, timeout: float) -> None:
        parts = urlsplit(url)
        self._timeout = timeout
        self.deadline = now + timeout
        self.events = select.POLLOUT
        host, port = parts.hostname or "127.0.0.1", parts.port or 80
        path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        self._request = f"GET {path} HTTP/1.0\r\nHost: {parts.netloc}\r\nUser-Agent: lil-serve\r\n\r\n".encode()
        self._received = b""
        self._socket = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET, socket.SOCK_STREAM)
        self._socket.setblocking(False)
        self._refused = self._socket.connect_ex((host, port))

    def fileno(self) -> int:
        return self._socket.fileno()

    def advance(self) -> Answer | None:
        """Do what can be done at once; None while there is more to wait for."""
        try:
            return self._receive() if self.events == select.POLLIN else self._send()
        except BlockingIOError:
            return None
        except OSError as error:
            return self._end(Answer(None, why=os.strerror(error.errno or 0).lower()))

    def give_up(self) -> Answer:
        return self._end(Answer(None, why=f"no answer within {self._timeout:g} s"))

    def _end(self, answer: Answer) -> Answer:
        self._socket.close()
        return answer

    def _send(self) -> Answer | None:
        refused = self._refused if self._refused not in _UNDER_WAY else 0
        refused = refused or self._socket.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
        if refused:
            raise OSError(refused, "")
        self._request = self._request[self._socket.send(self._request) :]
        if not self._request:
            self.events = select.POLLIN
        return None

    def _receive(self) -> Answer | None:
        part = self._socket.recv(_CHUNK)
        self._received += part
        if part and len(self._received) < _WHOLE:
            return None
        return self._end(parse(self._received))


class _Bytes:
    def __init__(self, received: bytes) -> None:
        self._received = received

    def makefile(self, *_: object) -> io.BytesIO:
        return io.BytesIO(self._received)


def parse(received: bytes) -> Answer:
    """The bytes of a whole HTTP response as an answer; what is none has the reason instead of a status."""
    response = http.client.HTTPResponse(_Bytes(received))  # type: ignore[arg-type]  # it only asks for a file
    try:
        response.begin()
        return Answer(response.status, response.read())
    except (http.client.HTTPException, OSError, ValueError):
        return Answer(None, why="an answer that is not HTTP" if received else "closed without an answer")
