"""The compiled form of documents and rules says what parsing says, and can never be stale."""

from __future__ import annotations

import ast
import hashlib
import json

import pytest

from lilserve.cli.compile import compile_package
from lilserve.documents import compiled
from lilserve.documents.load import load
from lilserve.documents.shipped import package_file, shipped_files
from lilserve.resolution import rule_forms
from lilserve.resolution.expressions import compile_text


@pytest.fixture(scope="module")
def forms():
    return compile_package()


def package(forms, changed=None):
    """The package's files, with these forms and with one source changed by a comment."""

    def data(name):
        if name in forms:
            return forms[name].encode()
        return package_file(name) + (b"# changed" if name == changed else b"")

    return data


def test_every_shipped_document_loads_the_same_from_the_form_as_from_its_text(forms):
    entries = compiled.read(package(forms))
    files = list(shipped_files())
    assert len(entries) == len({hashlib.sha256(raw).hexdigest() for _, raw in files})
    for path, raw in files:
        parsed, loaded = load(raw, path, {}), load(raw, path, entries)
        assert (loaded.kind, loaded.id, loaded.digest) == (parsed.kind, parsed.id, parsed.digest)
        assert (loaded.data, loaded.places) == (parsed.data, parsed.places)


def test_a_touched_document_is_not_found_in_the_form(forms):
    entries = compiled.read(package(forms))
    path, raw = next(iter(shipped_files()))
    touched = raw.replace(b"version: 1", b"version: 2", 1)
    assert touched != raw
    assert isinstance(load(touched, path, entries), list)
    assert load(raw + b"\n# more\n", path, entries).digest == hashlib.sha256(raw + b"\n# more\n").hexdigest()


@pytest.mark.parametrize("source", compiled.SOURCES)
def test_a_form_that_other_code_made_is_not_read(forms, source):
    assert compiled.read(package(forms))
    assert compiled.read(package(forms, changed=source)) == {}


def test_the_sources_are_all_that_decides_what_a_document_is():
    """Whatever `parsed` runs through is part of the digest, so that no change of it leaves an old form in force."""
    seen, todo = set(), ["documents/load.py"]
    while todo:
        name = todo.pop()
        seen.add(name)
        for node in ast.walk(ast.parse(package_file(name))):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("lilserve.documents."):
                imported = node.module.removeprefix("lilserve.").replace(".", "/") + ".py"
                if imported not in seen:
                    todo.append(imported)
    helpers = {"documents/model.py", "documents/schema.py", "documents/shipped.py"}  # places, messages, files: no data
    assert seen - helpers <= set(compiled.SOURCES)


@pytest.mark.parametrize("content", [None, b"", b"{}", b"[]", b"null", b'{"code": 1}', b"\xff", b'{"entries": {}}'])
def test_a_form_that_is_missing_or_broken_is_no_form(content):
    def data(name):
        if name != compiled.FILE:
            return package_file(name)
        if content is None:
            raise FileNotFoundError(name)
        return content

    assert compiled.read(data) == {}


def test_compiled_rules_give_what_their_text_gives(forms):
    rules = json.loads(forms[rule_forms.FILE])["rules"]
    assert len(rules) > 50
    for text, (_, options, variables, explicit, facts) in rules.items():
        rule = compile_text(text)
        assert (list(rule.options), list(rule.variables), list(rule.explicit), rule.facts) == (
            options,
            variables,
            explicit,
            facts,
        )


def test_a_checkout_without_a_form_works(project, monkeypatch):
    monkeypatch.setattr("lilserve.documents.library.read", lambda _data: {})
    assert project.show().status == 0
