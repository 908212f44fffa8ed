"""How a judge is asked: what the question is, in words or by numbers, how often, and what of the answers counts."""
