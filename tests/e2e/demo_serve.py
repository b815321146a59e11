"""`make demo-serve`: brings up the real pair as the tests do, shows what it says, asks for a completion and ends it."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from serving_launch import REAL, Launch


def made_model(folder: Path) -> Path:
    """A tiny model that the engine's own interpreter makes."""
    script = Path(__file__).with_name("serving_model.py")
    subprocess.run([REAL / "engine" / "bin" / "python", script, folder], check=True, stderr=subprocess.DEVNULL)
    return folder


def main() -> int:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        launch = Launch(folder, made_model(folder / "model"))
        try:
            print("starting the real engine and cache server; about a minute on two cores", flush=True)
            launch.start().ready()
            print("\n".join(launch.told()))
            status, answer = launch.complete("the quick brown fox ")
            launch.complete()
            print(f"completion: status {status}, text {answer['choices'][0]['text']!r}, usage {answer['usage']}")
            print(f"objects in the cache's L1: {launch.objects()}", flush=True)
            launch.process.send_signal(signal.SIGTERM)
            ended = launch.end()
            print(f"{launch.told()[-1]}\nexit status {ended}, nothing left behind")
        finally:
            launch.close()
    return 0 if ended == 128 + signal.SIGTERM else 1


if __name__ == "__main__":
    sys.exit(main())
