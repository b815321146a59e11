"""What a person may write, a pydantic model per kind: unknown keys are refused, and nothing has a default.

`None` means "not written". The program reads the validated data, not these classes; they validate and become schemas.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, StringConstraints

Id = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9._-]{0,63}$")]
OptionName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$")]
EnvironmentName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,199}$")]
ModulePath = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_]\w*(/[A-Za-z_]\w*)*\.py$")]
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

    set: Text
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


class Profile(Header):
    """A model: its checkpoints, speculation modes, options, variables, and its contract with each cache mode."""

    kind: Literal["profile"]
    engine: Id | None = None
    extends: Id | None = None
    abstract: bool | None = None
    aliases: dict[OptionName, list[EnvironmentName]] | None = None
    prefixed: list[EnvironmentName] | None = None
    facts: dict[str, JsonValue] | None = None
    checkpoints: dict[Id, Checkpoint] | None = None
    modes: dict[Id, Mode] | None = None
    cache: dict[Id, Contract] | None = None


class Gpu(Model):
    """Figures of one GPU: memory in GiB, bandwidth in GB/s, compute capability as `major.minor`."""

    name: Text | None = None
    count: Annotated[int, Field(ge=1)] | None = None
    memory_gib: float | None = None
    bandwidth_gb_s: float | None = None
    compute_capability: Annotated[str, StringConstraints(pattern=r"^\d+\.\d+$")] | None = None
    unified: bool | None = None
    coherent_host_memory: bool | None = None


class PageSize(Model):
    """The kernel page size this machine needs, in bytes, and why."""

    bytes: int
    why: Text


class Host(Model):
    """What the host must be; `io-uring` says that the engine needs it allowed, `memlock-bytes` how much it locks."""

    page_size: PageSize | None = None
    image_arch: Literal["linux/amd64", "linux/arm64"] | None = None
    io_uring: bool | None = None
    memlock_bytes: Annotated[int, Field(gt=0)] | None = None


class PerProfile(Rules):
    """What one model needs on this machine. `graph-fraction` is the share of GPU memory that CUDA graphs take.

    `pool-gib` and `pool-tokens` are a measured KV pool, from which tokens per GiB follow.
    """

    checkpoint: Id | None = None
    graph_fraction: Annotated[float, Field(ge=0, lt=1)] | None = None
    pool_gib: Annotated[float, Field(gt=0)] | None = None
    pool_tokens: Annotated[int, Field(gt=0)] | None = None
    evidence: list[Evidence] | None = None


class Hardware(Header):
    """A machine or, when abstract, the class of machines it extends.

    `per-engine` is for values that only one engine and those that extend it know, `per-profile` for one model.
    """

    kind: Literal["hardware"]
    extends: Id | None = None
    abstract: bool | None = None
    cpu: Text | None = None
    gpu: Gpu | None = None
    ceiling: dict[OptionName, float] | None = None
    host: Host | None = None
    detect: Expression | None = None
    per_engine: dict[Id, Rules] | None = None
    per_profile: dict[Id, PerProfile] | None = None


class Overlay(Header):
    """A correction. With `when` it applies by itself, without only by `--overlay`; a cache mode names its value.

    `files` are Python modules that stand in front of the engine's own: path to source.
    """

    kind: Literal["overlay"]
    when: Expression | None = None
    because: Text | None = None
    after: list[Id] | None = None
    cache_mode: Id | None = None
    service: Service | None = None
    host: Host | None = None
    files: dict[ModulePath, str] | None = None


class Preset(Header):
    """A lane somebody runs: a profile, a machine, and what differs."""

    kind: Literal["preset"]
    profile: Id | None = None
    hardware: Id | None = None
    extends: Id | None = None


class Declared(Model):
    """An option that a fork adds to the catalog it extends; declared by a person, not observed from a parser."""

    type: Literal["bool", "int", "float", "str", "json", "human-int"]
    flags: list[str] | None = None
    negative: list[str] | None = None
    arity: str | None = None
    choices: list[JsonValue] | None = None
    choices_also: list[JsonValue] | None = Field(default=None, alias="choices_also")
    nullable: bool | None = None
    group: Text | None = None
    fields: dict[str, JsonValue] | None = None


class Engine(Model):
    """A build of vLLM: its command, its cache server's command, and the catalog of what it accepts."""

    version: Literal[1]
    kind: Literal["engine"]
    id: Id
    title: Text | None = None
    evidence: list[Evidence] | None = None
    replaces: bool | None = None
    extends: Id | None = None
    command: list[Text] | None = None
    cache_command: list[Text] | None = None
    catalog: Id | None = None
    facts: dict[str, JsonValue] | None = None
    options: dict[OptionName, Declared] | None = None
    environment: list[EnvironmentName] | None = None


class Settings(Model):
    """An operator's own values, and nothing else."""

    version: Literal[1]
    kind: Literal["settings"]
    options: Options | None = None
    environment: Environment | None = None


KINDS: dict[str, type[Model]] = {
    "profile": Profile,
    "hardware": Hardware,
    "overlay": Overlay,
    "preset": Preset,
    "engine": Engine,
    "settings": Settings,
}
