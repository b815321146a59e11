"""Questions over HTTP that never block, and what their answers mean."""

from __future__ import annotations

import select
import socket
import time
from dataclasses import replace

import pytest
from run_plans import free_ports, leaf, plan

from lilserve.cache.model import Service
from lilserve.plan.model import Option
from lilserve.run import readiness
from lilserve.run.events import Answered, Missed, Side, Wrong
from lilserve.run.probe import Answer, Ask, parse
from lilserve.run.readiness import alive, as_planned, engine_url

SERVICE = Service(
    ("s",), {}, "http://127.0.0.1:1/healthcheck", "lmcache_l1_pool_none", 1000, transfer_mode="engine_driven"
)


def ask(url, timeout=2.0):
    """What the loop does, for one question."""
    question = Ask(url, time.monotonic(), timeout)
    while True:
        poll = select.poll()
        poll.register(question, question.events)
        if not poll.poll(max(0.0, question.deadline - time.monotonic()) * 1000):
            return question.give_up()
        answer = question.advance()
        if answer is not None:
            return answer


def served(reply):
    """A server that has already sent its reply when it is asked."""
    server = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{server.getsockname()[1]}/healthcheck"
    question = Ask(url, time.monotonic(), 2.0)
    connection, _ = server.accept()
    while question.events == select.POLLOUT:
        question.advance()
    request = connection.recv(4096)
    connection.sendall(reply)
    connection.close()
    server.close()
    answer = None
    while answer is None:
        answer = question.advance()
    return request, answer


def test_a_question_is_one_get_without_any_proxy(monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    request, answer = served(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")
    assert request.startswith(b"GET /healthcheck HTTP/1.0\r\n")
    assert answer == Answer(200, b"{}")


@pytest.mark.parametrize(
    ("reply", "why"), [(b"", "closed without an answer"), (b"hello\r\n", "an answer that is not HTTP")]
)
def test_what_is_no_answer_says_so(reply, why):
    assert served(reply)[1] == Answer(None, why=why)


def test_a_port_where_nobody_listens_refuses():
    assert ask(f"http://127.0.0.1:{free_ports(1)[0]}/x") == Answer(None, why="connection refused")


def test_an_open_port_that_does_not_answer_is_found_in_time():
    with socket.create_server(("127.0.0.1", 0)) as server:
        begun = time.monotonic()
        answer = ask(f"http://127.0.0.1:{server.getsockname()[1]}/x", 0.2)
    assert answer == Answer(None, why="no answer within 0.2 s")
    assert 0.19 < time.monotonic() - begun < 1.0


def test_chunked_answers_are_read():
    assert parse(b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n") == Answer(200, b"{}")


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        (Answer(200, b'{"status": "healthy"}'), Answered),
        (Answer(200, b""), Answered),
        (Answer(204), Answered),
        (Answer(401), Answered),
        (Answer(403), Answered),
        (Answer(200, b'{"status": "unhealthy"}'), Missed),
        (Answer(500), Missed),
        (Answer(503), Missed),
        (Answer(404), Missed),
        (Answer(None, why="refused"), Missed),
    ],
)
def test_what_counts_as_life(answer, verdict):
    assert isinstance(alive(Side.CACHE, answer), verdict)


@pytest.mark.parametrize(
    ("status", "verdict"),
    [
        (b'{"engine_driven_shm_pool": {"shm_name": "lmcache_l1_pool_none", "pool_size": 1000}}', Answered),
        (b'{"engine_driven_shm_pool": {"shm_name": "/lmcache_l1_pool_none", "pool_size": 2000}}', Answered),
        (b'{"engine_driven_shm_pool": {"shm_name": "lmcache_l1_pool_none", "pool_size": 999}}', Wrong),
        (b'{"engine_driven_shm_pool": {"shm_name": "other", "pool_size": 1000}}', Wrong),
        (b'{"engine_driven_shm_pool": {}}', Wrong),
        (b'{"engine_driven_shm_pool": {"shm_name": "lmcache_l1_pool_none", "pool_size": "much"}}', Wrong),
        (b'{"transfer_mode": "lmcache_driven"}', Wrong),
        (b"not json", Wrong),
    ],
)
def test_an_advertised_pool_and_transfer_mode_must_be_the_planned_ones(status, verdict):
    assert isinstance(as_planned(Answer(200, status), SERVICE), verdict)


def test_a_server_that_does_not_tell_its_pool_is_measured_where_it_lies(tmp_path, monkeypatch):
    monkeypatch.setattr(readiness, "SHM", str(tmp_path))
    assert isinstance(as_planned(Answer(200, b"{}"), SERVICE), Wrong)
    (tmp_path / "lmcache_l1_pool_none").write_bytes(b"x" * 1000)
    assert isinstance(as_planned(Answer(200, b"{}"), SERVICE), Answered)


@pytest.mark.parametrize(
    ("options", "url"),
    [
        ({"port": 8000, "host": "0.0.0.0"}, "http://127.0.0.1:8000/health"),  # noqa: S104 -- asked on loopback
        ({"port": 8000, "host": "::"}, "http://[::1]:8000/health"),
        ({"port": 8000, "host": "10.0.0.7"}, "http://10.0.0.7:8000/health"),
        ({"port": 8000, "host": None}, "http://127.0.0.1:8000/health"),
        ({"port": 8000, "ssl-certfile": "x.pem"}, None),
        ({"port": 8000, "uds": "/run/x"}, None),
        ({"port": 8000, "headless": True}, None),
        ({}, None),
    ],
)
def test_where_the_engine_tells_its_health(options, url):
    made = {name: Option(name, value, {"": leaf(value)}) for name, value in options.items()}
    assert engine_url(replace(plan(["x"]), options=made)) == url
