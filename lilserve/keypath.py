"""Where a leaf stands inside a value: a tuple of keys, written as a JSON pointer (RFC 6901)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

Path = tuple[str, ...]


def pointer(path: Iterable[object]) -> str:
    """`("a", "b/c")` as `/a/b~1c`; the empty path is the empty pointer."""
    keys = [str(key) for key in path]
    plain = "/".join(("", *keys))
    if "~" not in plain and plain.count("/") == len(keys):  # nearly every key has nothing to escape
        return plain
    return "".join(["/" + key.replace("~", "~0").replace("/", "~1") for key in keys])


def parse(text: str) -> Path:
    """The path of a JSON pointer; the inverse of `pointer`."""
    return tuple(key.replace("~1", "/").replace("~0", "~") for key in text.split("/")[1:])


def flatten(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Every leaf under `value` in order. A mapping has leaves; a list, a scalar and an empty mapping are one."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flatten(inner, (*path, key))
    else:
        yield path, value


def nest(leaves: Mapping[Path, Any]) -> Any:
    """The value whose leaves these are, keys in the order given; the inverse of `flatten`."""
    if () in leaves:
        return leaves[()]
    root: dict[str, Any] = {}
    for path, value in leaves.items():
        inner = root
        for key in path[:-1]:
            inner = inner.setdefault(key, {})
        inner[path[-1]] = value
    return root


def related(one: Path, other: Path) -> bool:
    """Whether one path is the other, or leads to it."""
    return one[: len(other)] == other or other[: len(one)] == one
