"""``python -m tiered_eval`` is ``tiered-eval``."""

from tiered_eval.cli import main

if __name__ == "__main__":
    main()
