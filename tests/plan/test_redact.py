"""What is a secret, by name and by shape, and what is shown in its place."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lilserve.plan.redact import redact, redact_argv, redact_message, redact_text, secret_name, secrets_of

SECRETS = [
    *("HF_TOKEN", "HUGGING_FACE_HUB_TOKEN", "api-key", "api_key", "apiKey", "API_KEY", "VLLM_API_KEY", "--api-key"),
    *(
        "AWS_SECRET_ACCESS_KEY",
        "AWS_SESSION_TOKEN",
        "password",
        "db_password",
        "PGPASSWORD_FILE_PASSWORD",
        "passphrase",
    ),
    *("ssl-keyfile-password", "Authorization", "client_secret", "access_token", "auth_token", "private_key"),
]
PLAIN = [
    *("max-num-batched-tokens", "num_speculative_tokens", "bos_token", "eos-token", "TOKENIZERS_PARALLELISM"),
    *("tokenizer", "max-num-seqs", "key", "kv_cache_dtype", "ssl-keyfile", "monkey", "VLLM_USE_V2_MODEL_RUNNER"),
]


@pytest.mark.parametrize("name", SECRETS)
def test_a_value_under_this_name_is_a_secret(name):
    assert secret_name(name)


@pytest.mark.parametrize("name", PLAIN)
def test_a_value_under_this_name_is_shown(name):
    assert not secret_name(name)


def test_a_secret_field_is_hidden_at_any_depth():
    value = {"a": [{"api_key": "s3cret", "size": 4}], "headers": {"authorization": "Bearer s3cret"}}
    assert redact(value) == {"a": [{"api_key": "<redacted>", "size": 4}], "headers": {"authorization": "<redacted>"}}


def test_a_whole_mapping_under_a_secret_name_is_hidden():
    assert redact({"credentials": {"user": "u", "pass": "p"}}) == {"credentials": "<redacted>"}


def test_nothing_and_switches_are_no_secrets():
    assert redact({"api_key": None, "auth": True}) == {"api_key": None, "auth": True}


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://user:s3cret@host/x", "https://<redacted>@host/x"),
        ("https://s3cret@host/x", "https://<redacted>@host/x"),
        ("s3://host/x?X-Amz-Signature=s3cret&y=1", "s3://host/x?X-Amz-Signature=<redacted>&y=1"),
        ("http://host/?api_key=s3cret#top", "http://host/?api_key=<redacted>#top"),
        ("Authorization: Bearer s3cretvalue", "Authorization: Bearer <redacted>"),
        ("host=db password=s3cret user=u", "host=db password=<redacted> user=u"),
        ('{"api_key": "s3 cret", "a": 1', '{"api_key": <redacted>, "a": 1'),
        ("expandable_segments:True", "expandable_segments:True"),
        ("http://host:8000/path?page=2", "http://host:8000/path?page=2"),
    ],
)
def test_a_secret_inside_a_text_is_hidden_and_the_rest_is_shown(text, shown):
    assert redact_text(text) == shown


@pytest.mark.parametrize(
    ("argv", "shown"),
    [
        (["--api-key", "s3cret", "--size", "4"], ["--api-key", "<redacted>", "--size", "4"]),
        (["--api-key", "one", "two", "--size"], ["--api-key", "<redacted>", "<redacted>", "--size"]),
        (["--api-key=s3cret", "plain"], ["--api-key=<redacted>", "<redacted>"]),
        (["--hf_token", "s3cret"], ["--hf_token", "<redacted>"]),
        (["--config", '{"api_key":"s3cret","n":[1]}'], ["--config", '{"api_key":"<redacted>","n":[1]}']),
        (["--config", '{"a": 1}'], ["--config", '{"a": 1}']),
        (["--url=http://u:p@h"], ["--url=http://<redacted>@h"]),
    ],
)
def test_argv_shows_flags_and_hides_what_follows_a_secret_one(argv, shown):
    assert redact_argv(argv) == shown


@pytest.mark.parametrize(
    "tokens",
    [
        ["--api-key", "s3cr3t value"],
        ["--api-key=s3cr3t value"],
        ["--api-key s3cr3t"],
        ["--map.api_key", "s3cr3t"],
        ["--map", '{"api_key":"s3cr3t"}'],
        ["--map", '{"api_key": "s3cr3t'],
        ["--map", r"{\"api_key\": \"s3cr3t\"}"],
        ["--map", "api_key:s3cr3t"],
        ["--env", "HF_TOKEN=s3cr3t"],
        ["--env=HF_TOKEN=s3cr3t=="],
        ["-- --api-key 's3cr3t"],
    ],
)
def test_a_message_repeats_no_secret_of_the_command_line(tokens):
    secrets = secrets_of(tokens, {})
    for message in (f"cannot read {tokens!r}", "; ".join(tokens), json.dumps(tokens)):
        assert "s3cr3t" not in redact_message(message, secrets)


def test_a_message_repeats_no_secret_variable():
    assert redact_message("what is 'hush hush'?", secrets_of([], {"HF_TOKEN": "hush hush"})) == "what is '<redacted>'?"


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        ("api-key must be text, not 123456", "api-key must be text, not <redacted>"),
        ("TOY_TOKEN (toy-token) cannot be 'abc'", "TOY_TOKEN (toy-token) cannot be <redacted>"),
        ("toy-size must be a whole number, not 'many'", "toy-size must be a whole number, not 'many'"),
        ("the key 'api-key' is missing", "the key 'api-key' is missing"),
        ("api-key: input should be valid", "api-key: input should be valid"),
    ],
)
def test_a_judged_value_is_hidden_only_under_the_name_of_a_secret(message, shown):
    assert redact_message(message) == shown


@given(st.text(max_size=2000))
def test_redaction_never_fails_and_is_settled_after_one_pass(text):
    once = redact_text(text)
    assert redact_text(once) == once


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text("abc", max_size=5),
        lambda inner: st.lists(inner) | st.dictionaries(st.text("xyz", min_size=1), inner),
    )
)
def test_what_holds_no_secret_is_shown_as_it_is(value):
    assert redact(value) == value


def test_a_long_text_is_redacted_in_reasonable_time():
    assert redact_text("a" * 200_000 + ":") == "a" * 200_000 + ":"
    assert redact_message("x: " + "a:" * 100_000, secrets_of(["a:" * 20_000], {})).startswith("x: ")
