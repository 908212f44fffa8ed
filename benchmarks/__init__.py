"""Measurements: ``python -m benchmarks NAME [--json]``. Each module's docstring says question, set-up and command."""
