"""Texts of a flag or a variable in, one typed value out; and the judgement of a value that has its type already."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from lilserve.errors import Problem, nearest

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from lilserve.engine.catalog import Spec

_INT = r"[-+]?\d{1,19}\Z"
_HUMAN = r"(\d{1,12}(?:\.\d{1,6})?)([kKmMgGtT])\Z"
_SCALE = {
    letter: base**power
    for power, pair in enumerate(("kK", "mM", "gG", "tT"), 1)
    for letter, base in zip(pair, (1000, 1024), strict=True)
}
_BOOLEANS = {
    text: value for value, texts in ((True, "true 1 on yes"), (False, "false 0 off no")) for text in texts.split()
}
_SHORTHAND = r"([A-Za-z_]\w*)[:=](.+)\Z"


class WrongValueError(ValueError):
    """A text that is not of the option's type: the problem without its place."""

    def __init__(self, what: str, allowed: str | None = None, hint: str | None = None) -> None:
        super().__init__(what)
        self.allowed, self.hint = allowed, hint

    def problem(self, name: str, at: str | None) -> Problem:
        """The same as a problem of the option `name`, written at `at`."""
        return Problem(f"{name} {self}", at, self.allowed, self.hint, code="wrong-value")


def read(spec: Spec, texts: Sequence[str]) -> Any:
    """The value that these texts give the option. Raises WrongValueError."""
    if spec.many:
        return [_read_one(spec, text) for text in texts]
    return _read_one(spec, texts[0] if texts else "true")


def read_variable(spec: Spec, text: str) -> Any:
    """The value that one environment variable gives: a list may be JSON, or split at commas or spaces."""
    if not spec.many:
        return read(spec, [text])
    if text.lstrip().startswith("["):
        return read_json(text)
    return read(spec, [part for part in re.split(r"[,\s]+", text) if part])


def read_json(text: str) -> Any:
    """JSON that is a mapping or a list, with its own syntax error as the message. Raises WrongValueError."""
    try:
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_not_finite)
    except json.JSONDecodeError as error:
        if text.lstrip()[:2] in ("{\\", '"{') or '\\"' in text:
            raise WrongValueError(
                f"is quoted twice: at character {error.pos + 1} stands {text[error.pos : error.pos + 2]!r}",
                "JSON quoted once",
                text.strip('"').replace('\\"', '"').replace("\\{", "{"),
            ) from None
        raise WrongValueError(f"is not JSON: {error.msg.lower()} at character {error.pos + 1}") from None
    except RecursionError:
        raise WrongValueError("is nested too deeply") from None


def read_field(text: str) -> Any:
    """The value of a dotted field: JSON where it reads as JSON, else text."""
    try:
        return json.loads(text, object_pairs_hook=_distinct, parse_constant=_not_finite)
    except (ValueError, RecursionError):
        return text


def _distinct(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        keys = [key for key, _ in pairs]
        raise WrongValueError(f"has the key {next(key for key in keys if keys.count(key) > 1)!r} twice")
    return result


def _not_finite(text: str) -> Any:
    raise WrongValueError(f"has {text}, which is not JSON")


def _read_one(spec: Spec, text: str) -> Any:
    if text in (str(choice) for choice in spec.choices_also):
        return next(choice for choice in spec.choices_also if str(choice) == text)
    if spec.nullable and text == "None":
        return None
    if spec.text and text.lstrip()[:1] not in ("{", "["):
        return text
    value = _READERS[spec.type](text)
    if not _chosen(spec, value):
        raise not_a_choice(value, spec)
    return value


def _chosen(spec: Spec, value: Any) -> bool:
    """Whether the value is one of the option's choices, or it has none."""
    if not spec.choices or value in spec.choices:
        return True
    return spec.loose and isinstance(value, str) and _loose(value) in {_loose(str(choice)) for choice in spec.choices}


def _loose(text: str) -> str:
    return text.lower().replace("-", "_")


def not_a_choice(value: Any, spec: Spec) -> WrongValueError:
    """The refusal of a value outside the option's choices, with the nearest as its hint."""
    choices = [str(choice) for choice in (*spec.choices, *spec.choices_also)]
    near = nearest(str(value), choices)
    return WrongValueError(f"cannot be {value!r}", ", ".join(choices), f"did you mean {near}?" if near else None)


def _bool(text: str) -> bool:
    if text.lower() not in _BOOLEANS:
        raise WrongValueError(f"must be true or false, not {text!r}", ", ".join(_BOOLEANS))
    return _BOOLEANS[text.lower()]


def _int(text: str) -> int:
    if not re.match(_INT, text) or not -(1 << 63) <= int(text) < 1 << 63:
        raise WrongValueError(f"must be a whole number, not {text!r}")
    return int(text)


def _float(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = float("nan")
    if value - value != 0:  # neither a number nor finite
        raise WrongValueError(f"must be a number, not {text!r}")
    return value


def _number(text: str) -> int | float:
    return int(text) if re.match(_INT, text) else _float(text)


def _human(text: str) -> int:
    scaled = re.match(_HUMAN, text)
    if scaled is None:
        return _int(text)
    if scaled[2].isupper() and "." in scaled[1]:
        raise WrongValueError(
            f"cannot be {text!r}: a decimal goes with a small letter (1.5k = 1500)", "1k = 1000, 1K = 1024"
        )
    return int(float(scaled[1]) * _SCALE[scaled[2]])


def _json(text: str) -> Any:
    if text.lstrip()[:1] in ("{", "[", '"') or text.lstrip().startswith("\\"):
        value = read_json(text)
        if isinstance(value, dict | list):
            return value
        raise WrongValueError("needs a mapping, not text" + (" (the JSON is quoted twice)" if "{" in text else ""))
    shorthand = re.match(_SHORTHAND, text)
    hint = "'" + json.dumps({shorthand[1]: read_field(shorthand[2].strip())}) + "'" if shorthand else None
    raise WrongValueError(f"needs a mapping, not {text!r}", "a JSON object", hint)


_READERS: dict[str, Callable[[str], Any]] = {
    "bool": _bool,
    "int": _int,
    "float": _float,
    "number": _number,
    "human-int": _human,
    "json": _json,
    "str": str,
}

_TYPES: dict[str, tuple[tuple[type, ...], str]] = {
    "bool": ((bool,), "true or false"),
    "int": ((int,), "a whole number"),
    "human-int": ((int,), "a whole number"),
    "float": ((int, float), "a number"),
    "number": ((int, float), "a number"),
    "str": ((str,), "text"),
    "json": ((dict, list), "a mapping"),
}


def judge(spec: Spec, value: Any) -> WrongValueError | None:
    """What is wrong with a value that documents, derivations or JSON gave an option; None when it fits."""
    if isinstance(value, list) and spec.many and spec.type != "json":
        return next((wrong for wrong in (_judge_one(spec, item) for item in value) if wrong), None)
    return _judge_one(spec, value)


def _judge_one(spec: Spec, value: Any) -> WrongValueError | None:
    if value in spec.choices_also or (spec.type == "human-int" and isinstance(value, str) and re.match(_HUMAN, value)):
        return None
    if spec.text and isinstance(value, str):
        return None
    types, wanted = _TYPES[spec.type]
    if not isinstance(value, types) or (isinstance(value, bool) and bool not in types):
        if isinstance(value, str) and spec.type != "json":
            hint = f"{spec.name}: {value}" if _fits(spec, value) else None
            return WrongValueError(f"must be {wanted}, not the text {value!r}", hint=hint)
        return WrongValueError(
            f"must be {wanted}, not {json.dumps(value, default=str)}",
            hint=f'{spec.name}: "{value}"' if spec.type == "str" else None,
        )
    return None if _chosen(spec, value) else not_a_choice(value, spec)


def _fits(spec: Spec, text: str) -> bool:
    try:
        _READERS[spec.type](text)
    except WrongValueError:
        return False
    return True


def looks_like_a_flag(token: str) -> bool:
    """Whether argparse takes a word for a flag: a dash in front of anything but a plain negative number."""
    return len(token) > 1 and token.startswith("-") and not re.fullmatch(r"-\d+|-\d*\.\d+", token)
