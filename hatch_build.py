"""Build hook: makes the compiled form of the shipped documents, so that a launch need not parse YAML."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CompiledDocuments(BuildHookInterface):
    """Writes lilserve/compiled.json from profiles/, hardware/, overlays/ and the engine documents."""

    PLUGIN_NAME = "compiled-documents"

    def initialize(self, _version: str, build_data: dict[str, Any]) -> None:
        if self.target_name != "wheel":
            return
        sys.path.insert(0, self.root)
        from lilserve.documents.compiled import FILE, build  # noqa: PLC0415 -- importable only from the source tree
        from lilserve.documents.shipped import package_file, shipped_files  # noqa: PLC0415 -- as above

        path = Path(self.root, "lilserve", FILE)
        path.write_text(build(shipped_files(), package_file), encoding="utf-8")
        build_data["artifacts"].append(f"lilserve/{FILE}")
