"""The document models in, one JSON Schema (draft-07) per kind out; run as a module it rewrites lilserve/schemas."""

from __future__ import annotations

import json
import os
from typing import Any

from lilserve.documents.models import KINDS
from lilserve.documents.shipped import PACKAGE

FOLDER = os.path.join(PACKAGE, "schemas")


def schema(kind: str) -> dict[str, Any]:
    """The schema of one kind, as editors use it."""
    generated = KINDS[kind].model_json_schema(ref_template="#/definitions/{model}")
    generated["definitions"] = generated.pop("$defs", {})
    return {"$schema": "http://json-schema.org/draft-07/schema#", **generated}


def schema_text(kind: str) -> str:
    """The content of `lilserve/schemas/KIND.schema.json`."""
    return json.dumps(schema(kind), indent=2) + "\n"


if __name__ == "__main__":
    for name in KINDS:
        with open(os.path.join(FOLDER, f"{name}.schema.json"), "w", encoding="utf-8") as file:
            file.write(schema_text(name))
