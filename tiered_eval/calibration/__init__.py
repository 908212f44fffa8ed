"""How often early verdicts are wrong, learnt from labels; and what can be said of a suite, or of two runs, from a part of it.

The one idea: a figure that a run relies on is tested once, on labels that nothing else has looked at, and is written down
with what was tested. A run then applies it or, where anything has changed, does not.

Route: :mod:`calibrate` makes a :mod:`certificate` from :mod:`labels`; ``runner.certified`` applies it through a :mod:`decider`;
:mod:`audit` watches it from run to run. Beside them stand :mod:`sampling` and, for two runs, :mod:`comparison` and :mod:`regression`.

docs/calibration.md explains it without formulas. Importing this loads nothing; what makes certificates needs numpy.
"""
