"""Scorers that a model grades: each has a question of its own, a strict reader, and arithmetic that is ours.

The one idea: a model says what it sees about single criteria, statements or pairs, with a quote where there is one to
give. Shares, means and verdicts are computed here from what it said, so that the same answers make the same verdict.
"""
