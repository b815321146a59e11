"""What a person may write, a pydantic model per kind of document, made of the blocks in `parts`.

The program reads the validated data, not these classes; they validate and become schemas.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, JsonValue, StringConstraints

from lilserve.documents.parts import (
    Checkpoint,
    Contract,
    Environment,
    EnvironmentName,
    Evidence,
    Expression,
    Header,
    Id,
    Mode,
    Model,
    ModulePath,
    OptionName,
    Options,
    Rules,
    Service,
    Text,
)


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


Flag = Annotated[str, StringConstraints(pattern=r"^-{1,2}[A-Za-z0-9][A-Za-z0-9_-]*$")]


class DeclaredField(Model):
    """A field of a mapping option, over what was observed of it; what is not written stays as it was observed."""

    type: Literal["bool", "int", "float", "str", "list", "map", "any"] | None = None
    choices: list[JsonValue] | None = None
    choices_also: list[JsonValue] | None = Field(default=None, alias="choices_also")
    nullable: bool | None = None
    fields: dict[str, DeclaredField] | None = None


class Declared(Model):
    """An option that a fork adds to the catalog it extends; declared by a person, not observed from a parser."""

    type: Literal["bool", "int", "float", "str", "json", "human-int"]
    flags: list[Flag] | None = None
    negative: list[Flag] | None = None
    arity: Annotated[str, StringConstraints(pattern=r"^([0-9]|[?*+])$")] | None = None
    choices: list[JsonValue] | None = None
    choices_also: list[JsonValue] | None = Field(default=None, alias="choices_also")
    nullable: bool | None = None
    group: Text | None = None
    fields: dict[str, DeclaredField] | None = None


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
