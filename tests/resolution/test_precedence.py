"""One test per adjacent pair of layers: the stronger one wins, and the trail keeps the weaker one."""

from __future__ import annotations

COMMON = """
version: 1
kind: profile
id: common
abstract: true
options: {port: 8000, cache-mode: vram, stop-grace: 30, toy-size: 1}
environment: {PYTHONHASHSEED: "0", TOY_MOOD: "1"}
"""
PROFILE = """
version: 1
kind: profile
id: alpha
engine: toy
options: {model: org/alpha, mode: "off", toy-size: 2}
environment: {TOY_MOOD: "2"}
checkpoints:
  csf: {default: true, options: {toy-other: 21}, environment: {TOY_SUB: csf}}
modes:
  "off": {options: {toy-other: 22}, environment: {TOY_SUB: mode}}
cache:
  remote: {options: {toy-other: 23}, environment: {TOY_SUB: contract}, facts: {workers: 1}}
"""
CACHE = """
version: 1
kind: overlay
id: remote
cache-mode: remote
options: {toy-size: 3, toy-other: 3}
environment: {TOY_MOOD: "3"}
"""
HARDWARE = """
version: 1
kind: hardware
id: box
options: {toy-size: 4}
environment: {TOY_MOOD: "4"}
"""
OVERLAY = """
version: 1
kind: overlay
id: fix
options: {toy-size: 5}
environment: {TOY_MOOD: "5"}
"""
PRESET = """
version: 1
kind: preset
id: lane
profile: alpha
hardware: box
options: {toy-size: 6}
environment: {TOY_MOOD: "6"}
"""
SETTINGS = """
version: 1
kind: settings
options: {toy-size: 80}
environment: {TOY_SIZE: "8", TOY_MOOD: "8"}
"""


def winners(toy, *texts, **selection):
    """The last two writings of the option and of the variable that every layer sets to its own number."""
    return toy.trail("toy-size", *texts, **selection)[-2:], toy.trail("TOY_MOOD", *texts, **selection)[-2:]


def test_the_profile_beats_the_common_document(toy):
    size, mood = winners(toy, COMMON, PROFILE)
    assert size == [("common:defaults", 1), ("model:alpha", 2)]
    assert mood == [("common:defaults", "1"), ("model:alpha", "2")]


def test_within_a_profile_checkpoint_mode_and_cache_contract_rise_in_this_order(toy):
    texts = (COMMON, PROFILE, CACHE.replace(", toy-other: 3", ""))
    trail = [
        ("model:alpha/csf", 21),
        ("model:alpha/off", 22),
        ("model:alpha/remote", 23),
    ]
    assert toy.trail("toy-other", *texts, tokens=["--cache-mode", "remote"]) == trail
    assert toy.trail("TOY_SUB", *texts, tokens=["--cache-mode", "remote"]) == [
        ("model:alpha/csf", "csf"),
        ("model:alpha/off", "mode"),
        ("model:alpha/remote", "contract"),
    ]


def test_the_cache_mode_beats_the_profile_and_its_contract(toy):
    remote = ["--cache-mode", "remote"]
    size, mood = winners(toy, COMMON, PROFILE, CACHE, tokens=remote)
    assert size == [("model:alpha", 2), ("cache:remote", 3)]
    assert mood == [("model:alpha", "2"), ("cache:remote", "3")]
    assert toy.trail("toy-other", COMMON, PROFILE, CACHE, tokens=remote)[-2:] == [
        ("model:alpha/remote", 23),
        ("cache:remote", 3),
    ]


def test_the_machine_beats_the_cache_mode(toy):
    size, mood = winners(toy, COMMON, PROFILE, CACHE, HARDWARE, tokens=["--cache-mode", "remote"])
    assert size == [("cache:remote", 3), ("hardware:box", 4)]
    assert mood == [("cache:remote", "3"), ("hardware:box", "4")]


def test_within_a_machine_class_machine_and_per_profile_rise_in_this_order(toy):
    crate = "version: 1\nkind: hardware\nid: crate\nabstract: true\noptions: {toy-size: 41}"
    box = """
    version: 1
    kind: hardware
    id: box
    extends: crate
    options: {toy-size: 42}
    per-profile: {alpha: {options: {toy-size: 43}}, other: {options: {toy-size: 44}}}
    """
    plan = toy.plan(crate, box)
    trail = plan.options["toy-size"].leaves[""].trail
    assert [(one.value, one.origin, one.at.split(":")[0]) for one in trail] == [
        (41, "hardware:box", "given-0.yaml"),
        (42, "hardware:box", "given-1.yaml"),
        (43, "hardware:box", "given-1.yaml"),
    ]


def test_an_overlay_beats_the_machine(toy):
    size, mood = winners(toy, COMMON, PROFILE, HARDWARE, OVERLAY, overlays=("fix",))
    assert size == [("hardware:box", 4), ("overlay:fix", 5)]
    assert mood == [("hardware:box", "4"), ("overlay:fix", "5")]


def test_an_overlay_that_is_asked_for_stands_behind_those_that_apply_by_themselves(toy):
    held = OVERLAY.replace("id: fix", "id: zeal\nwhen: 'true'").replace("5", "50")
    asked = OVERLAY + "after: [zeal]\n"
    assert toy.trail("toy-size", held, asked, overlays=("fix",)) == [("overlay:zeal", 50), ("overlay:fix", 5)]


def test_the_preset_beats_an_overlay(toy):
    lane = {"profile": None, "hardware": None, "preset": "lane"}
    size, mood = winners(toy, COMMON, PROFILE, HARDWARE, OVERLAY, PRESET, overlays=("fix",), **lane)
    assert size == [("overlay:fix", 5), ("preset:lane", 6)]
    assert mood == [("overlay:fix", "5"), ("preset:lane", "6")]


def test_the_process_environment_beats_the_preset(toy):
    environ = {"TOY_SIZE": "7", "TOY_MOOD": "7"}
    size, mood = winners(toy, COMMON, PROFILE, HARDWARE, PRESET, preset="lane", environ=environ)
    assert size == [("preset:lane", 6), ("environment:TOY_SIZE", 7)]
    assert mood == [("preset:lane", "6"), ("environment:TOY_MOOD", "7")]


def test_the_settings_file_beats_the_process_environment(toy):
    settings = toy.settings("version: 1\nkind: settings\nenvironment: {TOY_SIZE: '8', TOY_MOOD: '8'}")
    environ = {"TOY_SIZE": "7", "TOY_MOOD": "7"}
    size, mood = winners(toy, COMMON, PROFILE, settings=settings, environ=environ)
    assert size == [("environment:TOY_SIZE", 7), ("settings:environment", 8)]
    assert mood == [("environment:TOY_MOOD", "7"), ("settings:environment", "8")]


def test_within_a_settings_file_options_beat_the_environment(toy):
    assert toy.trail("toy-size", settings=toy.settings(SETTINGS)) == [
        ("settings:environment", 8),
        ("settings:options", 80),
    ]


def test_an_assigned_variable_beats_the_settings_file(toy):
    assigned = (("TOY_SIZE", "9"), ("TOY_MOOD", "9"))
    size, mood = winners(toy, COMMON, PROFILE, settings=toy.settings(SETTINGS), assigned=assigned)
    assert size == [("settings:options", 80), ("cli:environment", 9)]
    assert mood == [("settings:environment", "8"), ("cli:environment", "9")]


def test_the_command_line_beats_an_assigned_variable(toy):
    trail = toy.trail("toy-size", assigned=(("TOY_SIZE", "9"),), tokens=["--toy-size", "10"])
    assert trail == [("cli:environment", 9), ("cli", 10)]


def test_on_the_command_line_a_dotted_field_beats_the_root_wherever_it_stands(toy):
    root, field = ["--toy-map", '{"a": 1, "b": 2}'], ["--toy-map.a", "3"]
    for tokens in (root + field, field + root):
        plan = toy.plan(tokens=tokens)
        assert plan.options["toy-map"].value == {"a": 3, "b": 2}
        assert [one.value for one in plan.options["toy-map"].leaves["/a"].trail] == [1, 3]


DERIVE = """
version: 1
kind: hardware
id: box
derive:
  - {set: toy-size, to: 'o["port"] + 1', why: one more than the port}
"""


def test_a_derived_value_fills_what_nobody_wrote(toy):
    trail = toy.plan(DERIVE).options["toy-size"].leaves[""].trail
    assert [(one.origin, one.value, one.inputs) for one in trail] == [("derived:box", 8001, {"port": 8000})]


def test_a_derived_value_beats_every_document_up_to_the_overlays(toy):
    assert toy.trail("toy-size", COMMON, PROFILE, DERIVE, OVERLAY, overlays=("fix",)) == [
        ("common:defaults", 1),
        ("model:alpha", 2),
        ("overlay:fix", 5),
        ("derived:box", 8001),
    ]


def test_every_explicit_layer_beats_a_derived_value_which_stays_in_the_trail(toy):
    explicit = {
        "preset:lane": {"preset": "lane"},
        "environment:TOY_SIZE": {"environ": {"TOY_SIZE": "7"}},
        "settings:options": {"settings": toy.settings("version: 1\nkind: settings\noptions: {toy-size: 8}")},
        "cli:environment": {"assigned": (("TOY_SIZE", "9"),)},
        "cli": {"tokens": ["--toy-size", "10"]},
    }
    lane = "version: 1\nkind: preset\nid: lane\nprofile: alpha\nhardware: box\noptions: {toy-size: 6}"
    for origin, selection in explicit.items():
        trail = toy.trail("toy-size", DERIVE, lane, **selection)
        assert [one[0] for one in trail] == ["derived:box", origin]


def test_a_derived_variable_gives_way_to_an_assigned_one(toy):
    box = """
    version: 1
    kind: hardware
    id: box
    derive: [{set: "env:TOY_MOOD", to: 'o["port"] > 1'}]
    """
    assert toy.trail("TOY_MOOD", box) == [("derived:box", "true")]
    trail = toy.trail("TOY_MOOD", box, assigned=(("TOY_MOOD", ""),))
    assert trail == [("derived:box", "true"), ("cli:environment", "")]
