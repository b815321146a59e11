"""Build hook: makes the compiled form of the shipped documents, so that a launch need not parse YAML."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledDocuments(BuildHookInterface):
    """Writes the compiled forms of profiles/, hardware/, overlays/ and the engine documents into the package."""

    PLUGIN_NAME = "compiled-documents"

    def initialize(self, _version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        sys.path.insert(0, self.root)
        from lilserve.cli.compile import compile_package  # noqa: PLC0415 -- importable only from the source tree

        for name, text in compile_package().items():
            Path(self.root, "lilserve", name).write_text(text, encoding="utf-8")
            build_data["artifacts"].append(f"lilserve/{name}")
