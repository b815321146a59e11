"""Stand-ins for the engine and the cache server inside the image: they listen where told.

`container_stand_ins.py engine|cache ARGV...`: the engine answers /health and, at /seen, its own argv and environment;
the cache server makes its pool and answers /healthcheck and /status. Both end on SIGTERM.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ROLE, *ARGV = sys.argv[1:]


def option(name, default=""):
    return ARGV[ARGV.index(name) + 1] if name in ARGV else default


def pool():
    """The pool's name and its path in shared memory."""
    name = "lmcache_l1_pool_" + option("--shm-name")
    return name, "/dev/shm/" + name  # noqa: S108 -- where the real server's is


def answers():
    if ROLE == "engine":
        return {"/health": {}, "/seen": {"argv": ARGV, "environ": dict(os.environ)}}
    told = {"shm_name": pool()[0], "pool_size": os.stat(pool()[1]).st_size}
    return {"/healthcheck": {"status": "healthy"}, "/status": {"engine_driven_shm_pool": told}}


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        found = answers().get(self.path)
        body = json.dumps(found).encode()
        self.send_response(404 if found is None else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def part(*_):
    sys.stdout.write(f"{ROLE} got SIGTERM\n")
    sys.stdout.flush()
    time.sleep(0.2)
    if ROLE == "cache":
        os.unlink(pool()[1])
    os._exit(0)


signal.signal(signal.SIGTERM, part)
if ROLE == "cache":
    with open(pool()[1], "wb") as file:
        file.truncate(int(float(option("--l1-size-gb")) * (1 << 30)))
else:
    time.sleep(2)
    sys.stdout.write("Loading weights took 2.0 seconds\n")
flag = "--port" if ROLE == "engine" else "--http-port"
server = ThreadingHTTPServer(("127.0.0.1", int(option(flag))), Handler)
sys.stdout.write("Application startup complete\n")
sys.stdout.flush()
server.serve_forever()
