"""Scorers and hooks of one house: each of the ways to write one."""

import re

import tiered_eval


@tiered_eval.scorer()
def polite(response, *, any_of: list = ("please", "thank you")):
    """The response has one of the polite words."""
    return any(word in response.lower() for word in any_of)


@tiered_eval.scorer("short-sentences", metrics=("brevity",), pass_at=0.8)
def short_sentences(response, *, most: int = 20):
    """No sentence is longer than `most` words; the share that is not is the score."""
    lengths = [len(sentence.split()) for sentence in re.split(r"[.!?]+\s*", response) if sentence]
    if not lengths:
        return {"pass": False, "reason": "there is no sentence"}
    share = sum(length <= most for length in lengths) / len(lengths)
    return {"score": share, "reason": f"the longest has {max(lengths)} words", "metrics": {"brevity": share}}


@tiered_eval.scorer("says-first")
async def says_first(response, expected):
    """The response begins with this; async, as where a service is asked."""
    return response.startswith(expected)


def ends_with_stop(text):
    """Named as `house_style:ends_with_stop`, it needs no declaration."""
    return text.rstrip().endswith(".")


class SameWords:
    """The share of the expected words that the responses have, many responses at a time, as a model would be asked."""

    batch = 32
    tier = "coverage"
    requires_reference = True

    def __call__(self, items):
        return [self._share(item.response, item.expected) for item in items]

    @staticmethod
    def _share(response, expected):
        wanted = set(expected.lower().split())
        return len(wanted & set(response.lower().split())) / len(wanted)


SCORERS = {"same-words": SameWords}


def without_thoughts(response):
    """What a model thought aloud is no part of its answer."""
    return re.sub(r"<think>.*?</think>\s*", "", response, flags=re.DOTALL)


def json_only(response, case):
    """A response that must be JSON, and is none, fails everything that is expected of it."""
    if not response.lstrip().startswith("{"):
        return {"pass": False, "reason": f"{case.id} is no JSON"}
    return response


def only_whole_answers(response, expectation):
    """Before a judge is paid: an answer that breaks off has failed."""
    if not response.rstrip().endswith((".", "!", "?", "}")):
        return {"pass": False, "reason": "the answer breaks off"}
    return None


HOOKS = {
    "without_thoughts": without_thoughts,
    "json_only": json_only,
    "only_whole_answers": only_whole_answers,
}
