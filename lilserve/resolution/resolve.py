"""Documents, environment, command line and facts in; one value per leaf with its trail out, derived and checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lilserve.layers.documents import Block, block_layer
from lilserve.layers.environment import FAMILIES
from lilserve.layers.layer import Layer, Rank
from lilserve.resolution.blocks import after_settling, before_settling, preset_blocks
from lilserve.resolution.figures import figures, needs
from lilserve.resolution.merge import Merged, merge
from lilserve.resolution.outside import Outside, outside
from lilserve.resolution.overlays import Applying, applying, conflicts
from lilserve.resolution.rules import derive, require, tell
from lilserve.resolution.scope import Scope
from lilserve.resolution.selection import Chosen, Selection, choose
from lilserve.resolution.settle import Settled, default_checkpoint, selecting_only, settle

if TYPE_CHECKING:
    from collections.abc import Sequence

    from lilserve.documents.library import Library
    from lilserve.errors import Problem
    from lilserve.notice import Notice


@dataclass(slots=True, eq=False, repr=False)
class Resolution:
    """Everything that was decided, and how. `problems` are not raised yet, so that all can be told at once."""

    chosen: Chosen
    selection: Selection
    settled: Settled
    overlays: list[Applying]
    scope: Scope
    problems: list[Problem]
    notices: list[Notice]
    outside: Outside
    blocks: list[Block]
    derived: set[str] = field(default_factory=set)

    @property
    def options(self) -> dict[str, Merged]:
        """Options and controls by canonical name."""
        return self.scope.options

    @property
    def environment(self) -> dict[str, Merged]:
        """The listed variables: those a layer below wrote or an operator set, and the inherited families."""
        return self.scope.environment


def resolve(library: Library, selection: Selection) -> Resolution:
    """Resolve one launch. Raises ConfigurationError only where nothing can be resolved at all."""
    chosen = choose(library, selection)
    around = outside(chosen, selection)
    problems = list(around.problems)
    early, late = before_settling(chosen), preset_blocks(chosen)
    above = [*_layers(late, chosen, problems), *around.layers]
    default = Layer(default_checkpoint(chosen))
    settled = settle([default, *_layers(early, chosen, []), *above], chosen, library, problems)

    inner = after_settling(chosen, settled)
    for layer in _layers(inner, chosen, []):
        selecting_only(problems, layer.options)
    blocks = sorted([*early, *inner], key=lambda block: block.rank)
    below = [default, *_layers(blocks, chosen, problems)]
    known = figures(chosen, settled, selection.facts)
    scope = _scope(below, [], above, known)

    notices = list(around.notices)
    overlays = applying(library, selection.overlays, scope, notices)
    for one in overlays:
        known["h"] |= needs(one.document)
    added = [Block(one.document, (), f"overlay:{one.document.id}", Rank.OVERLAY) for one in overlays]
    corrections = _layers(added, chosen, problems)
    problems += conflicts(zip([one.document for one in overlays], corrections, strict=True))
    for layer in corrections:
        selecting_only(problems, layer.options)
    if any(layer.options or layer.environment for layer in corrections):
        problems += scope.problems
        before, scope = scope, _scope(below, corrections, above, known)
        scope.read |= before.read  # what the overlays' conditions read was read
        scope.used |= before.used

    rules = [*blocks, *added, *late]
    derived = derive(rules, scope, notices)
    notices += require(rules, scope)
    notices += tell(rules, scope)
    return Resolution(
        chosen, selection, settled, overlays, scope, problems + scope.problems, notices, around, rules, derived
    )


def _layers(blocks: Sequence[Block], chosen: Chosen, problems: list[Problem]) -> list[Layer]:
    layers = []
    for block in blocks:
        layer, found = block_layer(block, chosen.catalog)
        problems += found
        layers.append(layer)
    return layers


def _scope(below: list[Layer], corrections: list[Layer], above: list[Layer], known: dict[str, Any]) -> Scope:
    """Merge all layers. An inherited variable outside the families stays out unless a document wrote it too."""
    layers = [*below, *corrections, *above]
    options = merge(layer.options for layer in layers)
    environment = merge(layer.environment for layer in layers)
    for name in [name for name, merged in environment.items() if _only_inherited(name, merged)]:
        del environment[name]
    return Scope.of(options, environment, known)


def _only_inherited(name: str, merged: Merged) -> bool:
    trails = (*merged.live.values(), *merged.displaced.values())
    return not name.startswith(FAMILIES) and all(one.rank == Rank.ENVIRONMENT for trail in trails for one in trail)
