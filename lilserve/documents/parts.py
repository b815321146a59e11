"""The blocks that documents are made of, as pydantic models: unknown keys are refused, and nothing has a default.

`None` means "not written".
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]
OptionName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")]
EnvironmentName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,199}$")]
ModulePath = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]\w*(/[A-Za-z_]\w*)*\.py$")]
Target = Annotated[str, StringConstraints(pattern=r"^(env:[A-Za-z_][A-Za-z0-9_]*|[A-Za-z0-9][A-Za-z0-9_-]*(/[^/]+)*)$")]
Expression = Annotated[str, StringConstraints(min_length=1, max_length=4000)]
Text = Annotated[str, StringConstraints(min_length=1)]
Options = dict[OptionName, JsonValue]
Environment = dict[EnvironmentName, str | None]
State = Literal["measured", "arithmetic", "untested"]


class Model(BaseModel):
    """A block of a document; its keys are written with dashes."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        alias_generator=lambda name: name.rstrip("_").replace("_", "-"),
    )


class Evidence(Model):
    """Where figures come from: `covers` names the options and variables, all of the document when absent."""

    source: Text
    state: State
    covers: list[str] | None = None
    note: Text | None = None


class Derivation(Model):
    """A value computed from others: `set` names an option, a leaf of one as `option/key/key`, or `env:NAME`.

    A `${CEL}` in `why` shows a figure as it was before the value was set.
    """

    set: Target
    to: JsonValue
    when: Expression | None = None
    why: Text | None = None


class Requirement(Model):
    """What must hold of the final values, and what to say when it does not; `${CEL}` in a text shows a figure."""

    that: Expression
    else_: Text
    when: Expression | None = None
    hint: Text | None = None


class NoticeRule(Model):
    """What a person should know when `when` holds; `information` is never counted by `--strict`."""

    when: Expression
    text: Text
    code: Id
    about: OptionName | None = None
    level: Literal["warning", "information"] | None = None


class Assignments(Model):
    """A block that writes options and variables; `null` removes what a weaker layer wrote."""

    options: Options | None = None
    environment: Environment | None = None
    why: dict[str, Text] | None = None


class Rules(Assignments):
    """Assignments with the rules that go with them."""

    derive: list[Derivation] | None = None
    require: list[Requirement] | None = None
    notice: list[NoticeRule] | None = None


class Header(Rules):
    """What every document may carry. `example` are options that a check passes where nothing has a default."""

    version: Literal[1]
    id: Id
    title: Text | None = None
    evidence: list[Evidence] | None = None
    replaces: bool | list[str] | None = None
    example: Options | None = None


class Checkpoint(Assignments):
    """Weights with all that goes with them: model, revision, quantization, load format."""

    default: bool | None = None


class Mode(Assignments):
    """A way to speculate: how many draft tokens, and the engine's speculative config."""

    draft_tokens: Annotated[int, Field(ge=1, le=64)] | None = None
    config: dict[str, JsonValue] | None = None


class Argument(Model):
    """One flag of the cache server, with a written `value`, a computed `to`, or alone.

    A `to` that is a mapping of expressions becomes compact JSON with its keys in the written order.
    """

    flag: Annotated[str, StringConstraints(pattern=r"^--[a-z0-9][a-z0-9-]*$")]
    value: str | None = None
    to: Expression | dict[str, JsonValue] | None = None
    when: Expression | None = None


class Variable(Model):
    """One variable of the cache server's own environment."""

    name: EnvironmentName
    value: str | None = None
    to: Expression | None = None
    when: Expression | None = None


class Service(Model):
    """The cache server of a cache mode; every figure is CEL over the resolved options."""

    arguments: list[Argument]
    environment: list[Variable] | None = None
    health_url: Expression
    shm_name: Expression | None = None
    shm_bytes: Expression | None = None
    l1_bytes: Expression | None = None
    disk_path: Expression | None = None
    disk_bytes: Expression | None = None
    transfer_mode: Expression | None = None


class Contract(Rules):
    """What a profile promises to one cache mode; `refused` is the reason why it does not."""

    refused: Text | None = None
    facts: dict[str, JsonValue] | None = None
    arguments: list[Argument] | None = None
