"""An image reference and a plan in, what is wrong with the pair out."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from lilserve.errors import Problem

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lilserve.plan.model import Plan

DEFAULT = "lilserve:latest"
_DIGEST = re.compile(r"@sha256:[0-9a-f]{64}\Z")
_REFERENCE = re.compile(r"[a-z0-9][A-Za-z0-9._/:@-]*")
# How image names and tags spell a processor.
_SPELLINGS = {"linux/amd64": r"amd64|x86[_-]64", "linux/arm64": r"arm64(?:v8)?|aarch64"}


def platform_of(plan: Plan) -> str | None:
    """`linux/arm64` or `linux/amd64`, where the machine document says which."""
    found = plan.hardware_figures.get("image_arch")
    return str(found) if found else None


def image_problems(image: str, plan: Plan, asked: str | None, *, strict: bool) -> Iterator[Problem]:
    """A reference that is none, that names another processor than the machine has, or under `strict` has no digest."""
    if not _REFERENCE.fullmatch(image):
        yield _problem(f"{image!r} is no image reference", "--image registry.example/lilserve:1.0")
        return
    needed = platform_of(plan)
    if needed and asked and asked != needed:
        yield _problem(f"--platform {asked} is asked for, and {plan.hardware} is {needed}", f"--platform {needed}")
    named = [
        platform
        for platform, words in _SPELLINGS.items()
        if re.search(rf"(?<![a-z0-9])(?:{words})(?![a-z0-9])", image.lower())
    ]
    wanted = asked or needed
    if wanted and named and wanted not in named:
        yield _problem(
            f"the image {image} is for {named[0]}, and {plan.hardware} is {wanted}", f"an image for {wanted}"
        )
    if strict and not _DIGEST.search(image):
        yield _problem(
            f"the image {image} has no digest, so it may be another one tomorrow (--strict)",
            f"--image {image.partition('@')[0]}@sha256:...; docker image inspect prints it under RepoDigests",
        )


def _problem(what: str, hint: str) -> Problem:
    return Problem(what, hint=hint, code="image")
