"""F35: a secret is in no output of any verb, right or wrong, and reaches the engine untouched."""

from __future__ import annotations

import json
import shlex

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

FORMATS = ("json", "yaml", "argv", "shell", "env", "table")

# Two letters that nothing else contains stand around it, so that a part that got out is seen too.
ODD = "\N{SNOWMAN}z a \"b\" 'c' \\ = : , } z\N{SNOWMAN}"
secrets = st.just(ODD) | st.text(
    st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\0"), max_size=20
).map("\N{SNOWMAN}z{}z\N{SNOWMAN}".format)
odd = example(ODD)


def places(secret):
    """Command lines and variables that give the secret under a secret's name: words, variables."""
    yield ["--", "--toy-api-key", secret], {}
    yield ["--", f"--toy_api_key={secret}"], {}
    yield ["--", "--toy-map", json.dumps({"api_key": secret})], {}
    yield ["--", "--toy-map", json.dumps({"deep": [{"password": secret}]})], {}
    yield ["--", "--toy-map.headers.authorization", secret], {}
    yield ["--env", f"NIGHT_TOKEN={secret}"], {}
    yield ["--env", f"TOY_API_KEY={secret}"], {}
    yield [], {"VLLM_API_KEY": secret}
    yield [], {"TOY_API_KEY": secret}
    yield ["--allow-unknown", "--", "--other-token", secret], {}
    yield ["--allow-unknown", "--", f"--other-token={secret}"], {}


def check(words, secret):
    for shown in ("\N{SNOWMAN}", "\\u2603", secret):
        assert shown not in words.out + words.err


@settings(max_examples=150)
@given(secrets, st.data())
def test_no_format_shows_a_secret(toy_command, secret, data):
    arguments, variables = data.draw(st.sampled_from(list(places(secret))))
    form = data.draw(st.sampled_from(FORMATS))
    words = toy_command([], f"--print-config={form}", *arguments, env=variables)
    assert words.status == 0, words
    check(words, secret)


@odd
@settings(max_examples=25)
@given(secrets)
def test_explain_and_diff_show_no_secret(toy_command, secret):
    words = toy_command(["explain", "toy-api-key"], "--", "--toy-api-key", secret)
    assert (words.status, words.out.splitlines()[0]) == (0, "toy-api-key = <redacted>")
    check(words, secret)
    selection = shlex.join(["--", "--toy-api-key", secret])
    for form in ([], ["--json"]):
        words = toy_command(["diff"], *form, selection, "-- --toy-api-key other-value")
        assert words.status == 0
        assert "--toy-api-key" in words.out
        check(words, secret)


@settings(max_examples=200)
@given(secrets, st.data())
def test_no_error_shows_a_secret(toy_command, secret, data):
    wrong = [
        ["--", "--toy-api-key", secret, "--toy-api-key", "other"],
        ["--", "--toy-api-key " + secret],
        ["--", "--toy-map", '{"api_key": ' + json.dumps(secret, ensure_ascii=False)],
        ["--", "--toy-map", "api_key:" + secret],
        ["--", "--toy-map.api_key", secret, "--toy-map.api_key.x=2"],
        ["--", "--toy-typed", json.dumps({"mood": {"api_key": secret}})],
        ["--", "--toy-size", "many", "--toy-api-key", secret],
        ["--", "--unknown-token", secret],
        ["--", f"--unknown-token={secret}"],
        ["--env", f"TOY_API_KEY={secret}", "--env", "LIL_SERVE_TOY_API_KEY=other"],
        ["--env", f"not a name NIGHT_TOKEN={secret}"],
        ["--api-key", secret],
        [f"--api-key={secret}"],
    ]
    words = toy_command([], "--print-config", *data.draw(st.sampled_from(wrong)))
    words.refused()
    check(words, secret)


def test_a_secret_of_a_settings_file_is_in_no_output_and_no_error(project):
    project.write(
        "settings.yaml",
        """
        version: 1
        kind: settings
        options: {toy-api-key: hushhush}
        environment: {NIGHT_TOKEN: hushhush, TOY_URL: "https://me:hushhush@host/"}
        """,
    )
    for form in FORMATS:
        words = project.show("--settings", "settings.yaml", form=form)
        assert words.status == 0
        assert "hushhush" not in words.out
    project.write("wrong.yaml", "version: 1\nkind: settings\noptions: {toy-api-key: 12345678}")
    words = project.show("--settings", "wrong.yaml")
    words.refused("toy-api-key must be text")
    assert "12345678" not in words.err
    project.write(
        "both.yaml", "version: 1\nkind: settings\nenvironment: {TOY_API_KEY: hushone, LIL_SERVE_TOY_API_KEY: hushtwo}"
    )
    words = project.show("--settings", "both.yaml")
    words.refused("toy-api-key is written twice")
    assert "hush" not in words.err


@pytest.mark.parametrize("name", ["because", "notice", "why", "require"])
def test_a_rule_that_shows_a_secret_shows_it_hidden(project, name):
    project.write(
        "policy/leak.yaml",
        {
            "because": "version: 1\nkind: overlay\nid: leak\nwhen: 'true'\nbecause: key is ${o[\"toy-api-key\"]}\n",
            "notice": "version: 1\nkind: overlay\nid: leak\nwhen: 'true'\n"
            "notice: [{code: leak, when: 'true', text: 'it is ${e[\"NIGHT_TOKEN\"]}'}]\n",
            "why": "version: 1\nkind: overlay\nid: leak\nwhen: 'true'\n"
            "derive: [{set: toy-name, to: '\"x\"', why: 'it is ${e[\"NIGHT_TOKEN\"]}'}]\n",
            "require": "version: 1\nkind: overlay\nid: leak\nwhen: 'true'\n"
            'require: [{that: \'o["toy-api-key"] == ""\', else: \'it is ${o["toy-api-key"]}\'}]\n',
        }[name],
    )
    for form in ("json", "table"):
        words = project.show("--env", "NIGHT_TOKEN=hushhush", "--", "--toy-api-key", "hushhush", form=form)
        assert "Traceback" not in words.err
        assert "hushhush" not in words.out + words.err


@given(secrets)
def test_what_is_executed_has_the_secret_untouched(toy, secret):
    plan = toy.plan(tokens=["--toy-api-key", secret], assigned=(("NIGHT_TOKEN", secret),))
    assert plan.argv[plan.argv.index("--toy-api-key") + 1] == secret
    assert plan.texts()["NIGHT_TOKEN"] == secret
