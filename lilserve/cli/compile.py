"""The shipped documents in, the compiled forms that a package carries out; run as a module it writes them."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from lilserve.documents import compiled
from lilserve.documents.library import open_library
from lilserve.documents.shipped import PACKAGE, package_file, shipped_files
from lilserve.resolution import rule_forms
from lilserve.resolution.expressions import ExpressionError, compile_text
from lilserve.resolution.rule_texts import rule_texts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lilserve.resolution.expressions import Expression


def compile_package() -> dict[str, str]:
    """File name to content, for the package's own folder."""
    return {compiled.FILE: compiled.build(shipped_files(), package_file), rule_forms.FILE: rule_forms.build(_rules())}


def _rules() -> Iterator[Expression]:
    library = open_library()
    for text in dict.fromkeys(
        rule.text for document in library.documents.values() for rule in rule_texts(document.data)
    ):
        try:
            yield compile_text(text)
        except ExpressionError:
            continue  # `check` reports it at its line; a launch that needs it refuses


if __name__ == "__main__":
    for name, text in compile_package().items():
        with open(os.path.join(PACKAGE, name), "w", encoding="utf-8") as file:
            file.write(text)
