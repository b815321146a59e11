"""What will run, and who said so: launch policies for vLLM."""

from __future__ import annotations

__version__ = "0.1.0"
