"""Modules of an overlay stand in front of the engine's own, and only this user can have put them there."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from lilserve.errors import HostError
from lilserve.overlays.place import place, with_modules

FILES = {"kernel_patch.py": "VALUE = 'patched'\n", "pkg/inner.py": "VALUE = 2\n"}


def test_the_engine_imports_the_module_of_the_overlay(tmp_path):
    environ = with_modules({**os.environ, "XDG_RUNTIME_DIR": str(tmp_path)}, FILES)
    code = "import kernel_patch, pkg.inner; print(kernel_patch.VALUE, pkg.inner.VALUE)"
    done = subprocess.run([sys.executable, "-c", code], env=environ, capture_output=True, text=True, check=True)
    assert done.stdout == "patched 2\n"


def test_what_stood_in_pythonpath_stands_behind(tmp_path):
    environ = with_modules({"XDG_RUNTIME_DIR": str(tmp_path), "PYTHONPATH": "/theirs"}, FILES)
    assert environ["PYTHONPATH"].endswith(os.pathsep + "/theirs")


def test_without_modules_the_environment_is_untouched():
    assert with_modules({"A": "1"}, {}) == {"A": "1"}


def test_the_same_modules_are_written_once_and_others_elsewhere(tmp_path):
    first = place(FILES, str(tmp_path))
    assert place(dict(FILES), str(tmp_path)) == first
    assert place({"kernel_patch.py": "VALUE = 'other'\n"}, str(tmp_path)) != first
    assert os.stat(os.path.dirname(first)).st_mode & 0o077 == 0
    assert sorted(os.listdir(first)) == ["kernel_patch.py", "pkg"]


def test_a_folder_that_others_can_write_to_is_refused(tmp_path):
    own = tmp_path / f"lil-serve-{os.getuid()}"
    own.mkdir()
    own.chmod(0o777)
    with pytest.raises(HostError, match="not a private folder"):
        place(FILES, str(tmp_path))


def test_a_link_in_place_of_the_folder_is_refused(tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (tmp_path / f"lil-serve-{os.getuid()}").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(HostError, match="not a private folder"):
        place(FILES, str(tmp_path))


def test_a_place_that_cannot_be_written_is_one_clean_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(HostError, match="cannot be written"):
        place(FILES, str(tmp_path / "file"))
