"""Properties of merging: order inside a layer means nothing, doing it twice neither, and no assignment is ever lost."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from lilserve.keypath import flatten, nest, parse, pointer, related
from lilserve.layers.layer import EXPLICIT, Assignment, Layer
from lilserve.origin import REMOVED, Written
from lilserve.resolution.merge import merge

NAMES = ("toy-size", "toy-map")
keys = st.text("ab", min_size=1, max_size=1)
paths = st.lists(keys, max_size=3).map(tuple)
values = st.integers(0, 3) | st.just([1]) | st.just({}) | st.just(REMOVED)


def consistent(found):
    """Leaves of one block: none stands inside another, as in any mapping a person can write."""
    return not any(related(one, other) for one in found for other in found if one != other)


@st.composite
def layers(draw):
    """Layers weakest first, each with the leaves of a few names; some are whole roots."""
    result = []
    for rank in range(1, draw(st.integers(1, 6)) + 1):
        assignments = []
        for name in draw(st.lists(st.sampled_from(NAMES), unique=True)):
            leaves = {}
            for path, value in draw(st.lists(st.tuples(paths, values), max_size=4)):
                if not any(related(path, other) for other in leaves):
                    leaves[path] = value
            whole = draw(st.booleans()) and REMOVED not in leaves.values()
            for path, value in leaves.items():
                written = Written(value, f"layer:{rank}", f"{rank}/{name}{pointer(path)}", rank + EXPLICIT // 2)
                assignments.append(Assignment(name, path, written, whole))
        result.append(Layer(tuple(assignments)))
    return result


def seen(merged):
    """Everything that a result says, without the order of keys."""
    return {name: (one.value, one.live, one.displaced, one.owned) for name, one in merged.items()}


def merged(found):
    return merge(layer.options for layer in found)


@settings(max_examples=150)
@given(layers(), st.randoms(use_true_random=False))
def test_the_order_of_assignments_inside_a_layer_means_nothing(found, random):
    shuffled = [Layer(tuple(random.sample(layer.options, len(layer.options)))) for layer in found]
    assert seen(merged(found)) == seen(merged(shuffled))


@settings(max_examples=150)
@given(layers())
def test_a_value_is_always_the_last_of_its_trail(found):
    for one in merged(found).values():
        assert one.value == (nest({path: trail[-1].value for path, trail in one.live.items()}) if one.live else None)
        assert all(trail[-1].value is not REMOVED for trail in one.live.values())
        assert all(trail[-1].value is REMOVED for trail in one.displaced.values())


@settings(max_examples=150)
@given(layers())
def test_no_live_leaf_stands_inside_another(found):
    for one in merged(found).values():
        assert consistent(one.live)


@settings(max_examples=300)
@given(layers())
def test_no_assignment_is_ever_lost(found):
    result = merged(found)
    for layer in found:
        for name, _, written, _ in layer.options:
            one = result[name]
            trails = (*one.live.values(), *one.displaced.values())
            told = [other for trail in trails for other in trail]
            if written.value is REMOVED:
                assert any((other.value, other.origin) == (REMOVED, written.origin) for other in told)
            else:
                assert any(other is written for other in told)


@settings(max_examples=150)
@given(layers())
def test_a_trail_rises(found):
    for one in merged(found).values():
        for trail in (*one.live.values(), *one.displaced.values()):
            ranks = [written.rank for written in trail]
            assert ranks == sorted(ranks)


@settings(max_examples=150)
@given(layers())
def test_writing_the_strongest_layer_twice_changes_no_value(found):
    once, twice = merged(found), merged([*found, found[-1]])
    assert {name: one.value for name, one in once.items()} == {name: one.value for name, one in twice.items()}


@given(layers())
def test_merging_again_gives_the_same(found):
    assert seen(merged(found)) == seen(merged(found))


@given(st.recursive(st.integers() | st.text() | st.none(), lambda inner: st.dictionaries(st.text(), inner, min_size=1)))
def test_flattened_leaves_nest_to_the_same_value(value):
    assert nest(dict(flatten(value))) == value


@given(st.lists(st.text()))
def test_a_pointer_is_read_back(path):
    assert parse(pointer(path)) == tuple(path)


words = st.sampled_from(
    [
        *(
            "--toy-size=1",
            "--toy-size=2",
            "--toy_size=1",
            "-ts=1",
            "--toy-map={}",
            '--toy-map={"a":1}',
            "--toy-map.a=1",
        ),
        *("--toy-map.a=2", "--toy-map.b.c=1", "--toy-map.b=3", "--toy-switch", "--no-toy-switch", "--toy-map.l+=x"),
    ]
)


@settings(max_examples=150)
@given(st.lists(words, max_size=5), st.randoms(use_true_random=False))
def test_the_order_of_flags_means_nothing(toy, tokens, random):
    def result(said):
        resolution = toy.resolve(tokens=said)
        if resolution.problems:
            return "refused"
        return {name: one.value for name, one in resolution.options.items()}

    appended = [token for token in tokens if "+" in token]
    shuffled = random.sample(tokens, len(tokens))
    assert len(appended) > 1 or result(tokens) == result(shuffled)
