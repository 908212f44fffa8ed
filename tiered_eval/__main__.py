"""``python -m tiered_eval`` is ``tiered-eval``.

The one idea: ``-m`` lets Python look for every module in the working folder first, and that may be the checkout of a
stranger's pull request, with a ``json.py`` in it or with what looks like an installed package. So the folder is taken off the
path again, unless this package itself stands there.
"""

import os
import sys

if __name__ == "__main__":
    _here = os.getcwd()
    if (
        not sys.flags.safe_path
        and sys.path[:1] == [_here]
        and os.path.dirname(os.path.dirname(__file__)) != _here
    ):
        del sys.path[0]

    from tiered_eval.cli import main

    main()
