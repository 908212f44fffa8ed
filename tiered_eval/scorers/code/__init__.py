"""What ``code_exec`` is made of: the code is found in the response, run shut in, and judged where it cannot reach.

The one idea: a response never says how it did. Either it only returns values, and they are compared outside of the box; or
the tests are in another process than the response, and ask it for values one by one.

``values``, ``serving``, ``standing_in`` and ``asserting`` also run in the box, where they are all that there is of this package.
"""
