"""`health`: whether servers answer well, for the health checks of containers; loads as little as it can."""

from __future__ import annotations

import click

from lilserve.errors import NotReadyError, Problem

TIMEOUT = 5.0  # seconds for each server; whoever asks waits ten


@click.command()
@click.argument("urls", nargs=-1, required=True, metavar="URL...")
def command(urls: tuple[str, ...]) -> None:
    """Ask each URL; the status is 0 when all answer with 2xx, and 4 otherwise. No proxy takes part."""
    problems = [Problem(f"{url}: {why}", code="health") for url in urls if (why := _ails(url))]
    if problems:
        raise NotReadyError(*problems)


def _ails(url: str) -> str | None:
    """Why a server is not well, or None. A certificate is not judged: it names the world's name, not the loopback's."""
    import http.client  # noqa: PLC0415 -- not for help
    import ssl  # noqa: PLC0415 -- as above
    from urllib.parse import urlsplit  # noqa: PLC0415 -- as above

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        return "no URL of a server"
    try:
        port = parts.port
        if parts.scheme == "https":
            unjudged = ssl._create_unverified_context()  # noqa: S323, SLF001 -- our own server on the loopback
            connection: http.client.HTTPConnection = http.client.HTTPSConnection(
                parts.hostname, port, timeout=TIMEOUT, context=unjudged
            )
        else:
            connection = http.client.HTTPConnection(parts.hostname, port, timeout=TIMEOUT)
        connection.request("GET", parts.path or "/")
        status = connection.getresponse().status
        connection.close()
    except (OSError, ValueError, http.client.HTTPException) as error:
        return (getattr(error, "strerror", None) or str(error) or type(error).__name__).lower()
    return None if 200 <= status < 300 else f"HTTP status {status}"  # noqa: PLR2004 -- HTTP's own
