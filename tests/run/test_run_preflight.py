"""What keeps a pair from starting: everything at once, with the status of a host check, and nothing started."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import socket
import subprocess
import sys
from dataclasses import replace

import pytest
from conftest import SHM
from run_plans import free_ports, pair

from lilserve.cache.model import Service
from lilserve.errors import HostError
from lilserve.run import arena as arenas
from lilserve.run.directories import directory_problems, fitted, take
from lilserve.run.ports import Address, addresses, taken, value_of
from lilserve.run.preflight import preflight
from lilserve.run.room import GIB, memory, shared_memory


def address(port, host="127.0.0.1"):
    return Address("engine", host, port)


def test_a_listening_port_is_refused_with_the_process_that_has_it():
    with socket.create_server(("127.0.0.1", 0)) as server:
        problem = taken(address(server.getsockname()[1]))
    assert "taken by " in problem.what
    assert f"(process {os.getpid()})" in problem.what


def test_a_port_that_is_bound_and_not_yet_listening_is_refused():
    with socket.socket() as early:
        early.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        early.bind(("127.0.0.1", 0))
        assert "taken" in taken(address(early.getsockname()[1])).what


def test_a_port_where_only_a_closed_connection_rests_is_free():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        client = socket.create_connection(("127.0.0.1", port))
        served, _ = server.accept()
        served.close()  # the side that closes first is the one that rests
        client.close()
    assert taken(address(port)) is None


def test_an_address_of_another_machine_is_refused():
    assert "no address of this machine" in taken(address(free_ports(1)[0], "192.0.2.7")).what


def test_every_socket_of_the_pair_is_checked():
    argv = ("s", "--port", "18000", "--http-host=127.0.0.2", "--http-port=18001", "--prometheus-port", "18002")
    service = Service(argv, {}, "http://127.0.0.1:18001/healthcheck", None, None)
    made = replace(pair(), cache_service=service)
    engine = made.options["port"].value
    assert {(one.host, one.port) for one in addresses(made)} == {
        ("127.0.0.1", engine),
        ("127.0.0.1", 18000),
        ("127.0.0.2", 18001),
        ("0.0.0.0", 18002),  # noqa: S104 -- what the server binds
    }
    assert value_of(argv, "--nothing") is None


def test_an_arena_is_locked_until_it_is_released(arena):
    first = arenas.claim(arena)
    assert f"(process {os.getpid()})" in arenas.claim(arena).what
    first.release()
    assert not (SHM / f"{arena}.lock").exists()
    again = arenas.claim(arena)
    assert again.stale == 0
    again.release()


def test_a_stale_arena_of_ours_is_found_and_only_its_holder_clears_it(arena):
    (SHM / arena).write_bytes(b"x" * 5000)
    claimed = arenas.claim(arena)
    assert claimed.stale == 5000
    assert (SHM / arena).exists()
    claimed.clear()
    assert not (SHM / arena).exists()
    claimed.release()


def test_an_arena_that_a_process_maps_is_refused_by_name(arena):
    (SHM / arena).write_bytes(b"x" * 4096)
    code = f"import mmap, time; f = open('/dev/shm/{arena}'); m = mmap.mmap(f.fileno(), 0, prot=mmap.PROT_READ); "
    code += "f.close(); print(flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as holder:
        holder.stdout.read(1)
        problem = arenas.claim(arena)
        holder.kill()
    assert f"(process {holder.pid})" in problem.what
    assert (SHM / arena).exists()
    assert not (SHM / f"{arena}.lock").exists()


def test_an_arena_in_a_shared_namespace_that_is_not_ours_is_refused(arena, monkeypatch):
    monkeypatch.setattr(arenas, "may_be_shared", lambda: True)
    (SHM / arena).write_bytes(b"x")
    assert "was not left by lil-serve" in arenas.claim(arena).what
    (SHM / f"{arena}.lock").touch()  # what a crash of ours leaves
    claimed = arenas.claim(arena)
    assert claimed.stale == 1
    claimed.release()


def test_an_arena_of_another_user_is_refused(arena):
    if os.geteuid():
        pytest.skip("only root can make one")
    (SHM / arena).write_bytes(b"x")
    os.chown(SHM / arena, 12345, -1)
    assert "belongs to user 12345" in arenas.claim(arena).what


def test_a_lock_file_that_its_owner_removed_meanwhile_is_no_lock(arena, monkeypatch):
    path = SHM / f"{arena}.lock"
    real, removed = fcntl.flock, []

    def flock(descriptor, how):
        real(descriptor, how)
        if not removed:
            removed.append(path.unlink())  # between our opening and our lock

    monkeypatch.setattr(arenas.fcntl, "flock", flock)
    claimed = arenas.claim(arena)
    assert path.stat().st_ino == os.fstat(claimed.descriptor).st_ino
    claimed.release()


def test_what_a_crashed_engine_offloaded_is_found(tmp_path):
    (tmp_path / "vllm_offload_a.mmap").write_bytes(b"x")
    (tmp_path / "vllm_offload_b.mmap").write_bytes(b"x")
    (tmp_path / "other.mmap").write_bytes(b"x")
    with (tmp_path / "vllm_offload_b.mmap").open("rb"):
        found = arenas.offloaded(str(tmp_path))
    assert found in ([str(tmp_path / "vllm_offload_a.mmap")], []), "none where others may share the directory"


def test_a_small_shared_memory_is_refused_with_the_option_that_cures_it():
    [problem] = shared_memory(1 << 50, 0, str(SHM))
    assert "docker run --shm-size=1048577g; in Compose shm_size: 1048577g" in problem.hint


def test_a_stale_arena_counts_as_free(tmp_path):
    free = os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize
    [problem] = shared_memory(free + GIB, 0, str(tmp_path))
    assert "free of" in problem.what
    assert list(shared_memory(free + GIB, 2 * GIB, str(tmp_path))) == []


def test_memory_for_the_l1_is_checked():
    assert list(memory(1, 0)) == []
    [problem] = memory(1 << 50, 0)
    assert problem.hint.startswith("--cache-l1-gib ")


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("relative/cache", "is not absolute"),
        ("/", "is not dedicated"),
        ("/var/tmp", "is not dedicated"),  # noqa: S108 -- refused
        ("{root}", "is not dedicated"),
        ("{root}/link", "symbolic link"),
        ("{root}/link/below", "symbolic link"),
        ("{root}/file", "is not a directory"),
        ("{root}/open", "has mode 0755, not 0700"),
        ("{root}/a/b", "is not there and cannot be made"),
    ],
)
def test_an_unsafe_directory_is_refused(tmp_path, path, said):
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    (tmp_path / "file").touch()
    (tmp_path / "open").mkdir(0o755)
    problems = list(directory_problems(path.format(root=tmp_path), environ_home=str(tmp_path)))
    assert any(said in problem.what for problem in problems)


def test_a_dedicated_directory_is_made_private_and_locked(tmp_path):
    path = str(tmp_path / "cache")
    assert list(directory_problems(path)) == []
    held = take(path)
    assert os.stat(path).st_mode & 0o777 == 0o700
    assert "is in use by another cache" in take(path).what
    os.close(held)
    assert list(directory_problems(path)) == []


def test_a_disk_tier_larger_than_its_disk_is_cut_with_a_notice(tmp_path):
    adapter = '{"type": "fs_native", "max_capacity_gb": 1000000.0, "eviction": {"policy": "LRU"}}'
    service = Service(("s", "--l2-adapter", adapter, "x"), {}, "http://h:1/x", None, None, disk_path=str(tmp_path))
    fitting, told = fitted(service._replace(disk_bytes=1000000 * GIB))
    cut = json.loads(fitting.argv[2])
    assert 0 < cut["max_capacity_gb"] < 1000000
    assert cut["eviction"] == {"policy": "LRU"}
    assert fitting.disk_bytes < 1000000 * GIB
    assert "is cut to that" in told
    assert fitted(service._replace(disk_bytes=1)) == (service._replace(disk_bytes=1), None)


def test_every_problem_is_reported_at_once_and_nothing_is_left(arena, tmp_path):
    (SHM / arena).write_bytes(b"x")
    (tmp_path / "open").mkdir(0o755)
    made = pair(arena=arena, size=1 << 50, l1_bytes=1 << 50, disk_path=str(tmp_path / "open"))
    with socket.create_server(("127.0.0.1", made.options["port"].value)), pytest.raises(HostError) as raised:
        preflight(made, made.cache_service, os.environ)
    assert {problem.code for problem in raised.value.problems} == {
        "port", "shared-memory", "memory", "cache-directory",
    }  # fmt: skip
    assert (SHM / arena).exists(), "nothing is cleared by a run that is refused"


def test_a_taken_port_ends_with_3_and_starts_nothing(supervised):
    with socket.create_server(("127.0.0.1", 0)) as server:
        run = supervised.start(cache=["--port", str(server.getsockname()[1])])
        assert run.end() == 3
    assert run.noted("cache") == []
    assert any("the cache server cannot listen on 127.0.0.1:" in line for line in run.told)


def test_a_stale_arena_is_removed_with_a_notice(supervised, arena):
    (SHM / arena).write_bytes(b"x" * (1 << 20))
    run = supervised.start(arena=arena).ready().signal(signal.SIGTERM)
    assert run.end() == 143
    assert any(f"removed /dev/shm/{arena} (1 MiB), which an earlier run left behind" in line for line in run.told)


def test_a_running_pair_keeps_its_arena_against_a_second_one(supervised, arena):
    run = supervised.start(arena=arena).ready()
    with pytest.raises(HostError, match="is in use by"):
        preflight(made := pair(arena=arena), made.cache_service, os.environ)
    assert run.signal(signal.SIGTERM).end() == 143


def test_the_lock_lives_as_long_as_the_server_even_without_its_supervisor(supervised, arena):
    run = supervised.start(arena=arena, cache=["--stubborn"]).ready().signal(signal.SIGKILL)
    run.process.wait()
    assert "is in use by" in arenas.claim(arena).what
    run.kill("cache", signal.SIGKILL)
    claimed = None

    def free():
        nonlocal claimed
        claimed = arenas.claim(arena)
        return isinstance(claimed, arenas.Arena)

    run.until(free, "freeing of the lock")
    claimed.release()


def test_a_container_with_64_megabytes_of_shared_memory_is_told_what_to_do(supervised, arena):
    wrap = ["unshare", "--mount", "sh", "-c", 'mount -t tmpfs -o size=64m tmpfs /dev/shm && exec "$@"', "sh"]
    if subprocess.run([*wrap, "true"], check=False, capture_output=True).returncode:
        pytest.skip("this user may not mount")
    run = supervised.start(wrap=wrap, arena=arena, size=GIB)
    assert run.end() == 3
    assert run.noted("cache") == []
    assert any("has 64 MiB, and the cache's shared memory takes 1.0 GiB" in line for line in run.told)
    assert any("docker run --shm-size=2g; in Compose shm_size: 2g" in line for line in run.told)
