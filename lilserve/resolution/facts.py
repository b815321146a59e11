"""The facts that rules may read, group by group; a host that cannot tell one leaves it out."""

from __future__ import annotations

# `f.gpus` is a list, one entry per GPU; its fields are read inside a macro, as in `f.gpus.all(g, g.memory_gib > 90)`.
FACTS: dict[str, tuple[str, ...]] = {
    "kernel": ("release", "wsl2", "page_size"),
    "cpu": ("arch",),
    "memory": ("total_gib", "available_gib"),
    "shm": ("total_bytes", "free_bytes"),
    "limits": ("memlock_bytes",),
    "gpus": (),
}
