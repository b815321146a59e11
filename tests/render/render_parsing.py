"""Each rendering read back as its home would read it: text in, the engine's argv and environment out."""

from __future__ import annotations

import json
import re
import shlex
from typing import NamedTuple

import yaml


class Carried(NamedTuple):
    """What a home would run: the whole command, the variables by value, and those that are named alone."""

    command: tuple[str, ...]
    environment: dict[str, str]
    named: frozenset[str]

    @property
    def argv(self):
        assert self.command[0] == "run"
        return self.command[self.command.index("--") + 1 :]

    @property
    def seal(self):
        return self.command[self.command.index("--sealed") + 1]


def environment(pairs):
    shown = dict(pair.split("=", 1) for pair in pairs if "=" in pair)
    return shown, frozenset(pair for pair in pairs if "=" not in pair)


def of_docker(text, image):
    tokens = shlex.split(text)
    at = tokens.index(image)
    flags = tokens[2:at]
    pairs = [flags[index + 1] for index, flag in enumerate(flags) if flag == "--env"]
    return Carried(tuple(tokens[at + 1 :]), *environment(pairs))


def interpolated(text):
    """Compose: `$$` is `$`, and any other `$` would be a variable."""
    assert not re.search(r"\$", text.replace("$$", "")), text
    return text.replace("$$", "$")


def of_compose(text, _image=""):
    (service,) = yaml.safe_load(text)["services"].values()
    pairs = service["environment"]
    shown = {name: interpolated(value) for name, value in pairs.items() if value is not None}
    named = frozenset(name for name, value in pairs.items() if value is None)
    return Carried(tuple(interpolated(token) for token in service["command"]), shown, named)


def expanded(text, values):
    """Kubernetes: `$$` is `$`, `$(NAME)` a variable that is known, anything else as it stands."""
    out, index = [], 0
    while index < len(text):
        reference = re.match(r"\$\(([A-Za-z0-9_.-]+)\)", text[index:])
        if text.startswith("$$", index):
            out.append("$")
            index += 2
        elif reference:
            out.append(values.get(reference[1], reference[0]))
            index += reference.end()
        else:
            out.append(text[index])
            index += 1
    return "".join(out)


def of_container(container, cluster):
    shown, named = {}, set()
    for one in container["env"]:
        if "value" in one:
            shown[one["name"]] = expanded(one["value"], {**cluster, **shown})
        else:
            assert one["valueFrom"]["secretKeyRef"]["key"] == one["name"]
            named.add(one["name"])
    command = tuple(expanded(token, {**cluster, **shown}) for token in container["args"])
    return Carried(command, shown, frozenset(named))


def manifests(text):
    return {one["kind"]: one for one in yaml.safe_load_all(text)}


def of_kubernetes(text, _image=""):
    spec = manifests(text)["Deployment"]["spec"]["template"]["spec"]
    return of_container(spec["containers"][0], {})


def cache_of_kubernetes(text):
    spec = manifests(text)["Deployment"]["spec"]["template"]["spec"]
    return of_container(spec["initContainers"][0], {})


def of_group(text, rank, leader="leader.example"):
    template = manifests(text)["LeaderWorkerSet"]["spec"]["leaderWorkerTemplate"]
    spec = template["workerTemplate" if rank else "leaderTemplate"]["spec"]
    cluster = {"LWS_LEADER_ADDRESS": leader, "LWS_WORKER_INDEX": str(rank), "LWS_GROUP_SIZE": str(template["size"])}
    return of_container(spec["containers"][0], cluster)


_ESCAPE = re.compile(r"\\(x[0-9a-fA-F]{2}|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8}|[0-7]{3}|.)", re.DOTALL)
_LETTERS = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v", "s": " "}


def unescaped(found):
    body = found[1]
    if body[0] in "xuU":
        return chr(int(body[1:], 16))
    return _LETTERS.get(body) or (chr(int(body, 8)) if len(body) == 3 else body)


def words(line):
    """A line split and unquoted as systemd and podman's generator do; an empty word ends the line."""
    found, index = [], 0
    while index < len(line):
        if line[index] in " \t\n\r":
            index += 1
            continue
        word, quote = "", ""
        while index < len(line) and (quote or line[index] not in " \t\n\r"):
            letter = line[index]
            escape = _ESCAPE.match(line, index) if letter == "\\" else None
            if escape:
                word += unescaped(escape)
                index = escape.end()
                continue
            if quote:
                quote, word = ("", word) if letter == quote else (quote, word + letter)
            elif letter in "\"'":
                quote = letter
            else:
                word += letter
            index += 1
        assert not quote, line
        if not word:
            return found
        found.append(word)
    return found


def systemd(word):
    """What systemd makes of a word of ExecStart: `%%` is `%`, `$$` is `$`, and neither may stand alone."""
    assert "%" not in word.replace("%%", "")
    assert "$" not in word.replace("$$", "")
    return word.replace("%%", "%").replace("$$", "$")


def entries(text):
    """Section, key and value of each line; a value never goes on in the next line."""
    section = ""
    for line in text.split("\n"):
        if line.startswith("["):
            section = line.strip("[]")
        elif line and not line.startswith("#"):
            assert not line.endswith("\\")
            key, _, value = line.partition("=")
            yield section, key, value


def of_quadlet(text, _image=""):
    found = list(entries(text))
    (line,) = [value for section, key, value in found if (section, key) == ("Container", "Exec")]
    pairs = [systemd(word) for section, key, value in found if key == "Environment" for word in words(value)]
    secrets = {value.split(",")[0] for section, key, value in found if key == "Secret"}
    return Carried(tuple(systemd(word) for word in words(line)), environment(pairs)[0], frozenset(secrets))


READERS = {"docker": of_docker, "compose": of_compose, "quadlet": of_quadlet, "kubernetes": of_kubernetes}


def sealed(carried):
    return json.loads(carried.seal)
