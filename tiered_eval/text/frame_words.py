"""The words by which a sentence holds a value without saying it: lists for :mod:`~tiered_eval.text.frames`.

The one idea: closed lists that can be read and argued about, one a kind, laid out over lines; where each must stand is written
below it, and decided in ``frames``. English only.

:mod:`~tiered_eval.text.signs` looks for all of them at once.
"""

from __future__ import annotations

__all__ = [
    "COMPARED",
    "FRAME_SIGNS",
    "GUESSED",
    "RESTRICTED",
    "RULED_OUT",
    "SEASONAL",
    "SUPPOSED",
    "TAKEN_BACK",
    "TOLD",
    "UNREAL",
    "joined",
]


def joined(*groups: str) -> str:
    """One alternation out of lists that are laid out with spaces."""
    return "".join("|".join(groups).split())


SUPPOSED = r"""
    suppos(?:e[ds]?|ing) | dream(?:s|t|ed|ing)\s+(?:that|of|about|it) | jok(?:e[ds]|ing)\s+that | assum(?:e[ds]?|ing|ption) | imagin(?:e[ds]?|ing) | pretend\w* | picture\s+an?
  | let(?:'s|\s+us)\s+say | say\s+you | hypothetical\w* | in\s+theory | ideally | in\s+an?\s+(?:perfect|ideal)\s+world
  | (?:in|according\s+to)\s+(?:the|an?|this|that|his|her|its|their|our|my|your|one\s+of\s+\w+|\w+['’]s)\s+(?:[\w'’-]+[\s-]){0,2}?
      (?:novels? | stor(?:y|ies) | films? | movies? | tales? | legends? | fiction | dreams? | simulation | scenarios? | plays? | games? | examples? | jokes?
      | sketch | comics? | cartoon | episode | poems? | songs? | musical | opera | drama | myths? | fables? | parody | riddle | puzzle | screenplay | role-?play
      | thought\s+experiment | tv\s+series)\b
  | in\s+fiction | in\s+(?:act|scene)\s+[ivx\d]+ | on\s+stage | story\s+(?:goes|has\s+it) | (?:play|novel|film|movie|tale|legend)\s+(?:says|has\s+it)
  | for\s+the\s+sake\s+of\s+argument | in\s+(?:an?|the|this|that|our)\s+(?:alternat(?:e|ive)|parallel|imaginary)\s+\w+
  | placeholder | dummy | fictional | fictitious | made-up | looks?\s+like\s+this | in\s+the\s+(?:form|format)
  | (?:for|as\s+an)\s+(?:example|instance) | e\.g\. | (?:were|had)\s+(?:we|you|they|it|he|she)
  | april\s+fools?\W* | parallel\s+(?:world|universe) | (?:god|heaven)\s+forbid | lest | as\s+(?:if|though)
  | if | unless | whether | as\s+soon\s+as | until | once
"""
GUESSED = r"""
    guess\w* | thinks? | thought | believe[ds]? | expect(?:s|ed|ation)? | suspect(?:s|ed)? | hope[ds]? | fear(?:s|ed)? | reckon\w*
  | presum\w+ | perhaps | maybe | possibl[ey] | probabl[ey] | likely | apparently | seem(?:s|ed|ingly)? | appear(?:s|ed)\s+to
  | tentative\w* | provisional\w* | preliminary | uncertain | unsure | (?:not|n't)\s+sure | unclear | remains\s+to\s+be
  | memory\s+serves | (?:to|best\s+of|limits\s+of)\s+my\s+knowledge | as\s+far\s+as | might | suggest(?:s|ed) | rumou?r\w* | alleg\w+ | supposedly
  | misconception | (?:please|let\s+me|to)\s+(?:check|verify|confirm|double-check) | make\s+sure | ensure
  | (?:should|could|would|must|ought\s+to|needs?\s+to|has\s+to|have\s+to|ha[sd]\s+yet\s+to)\s+(?:be|have|get)
  | estimate[ds]? | projected | forecast\w* | in\s+the\s+(?:region|neighbou?rhood|ballpark|order)\s+of
  | (?:was|were|had)\s+(?:(?:originally|first|once|initially)\s+)?(?:scheduled|planned|supposed|meant|due|to)
"""
SPEAKERS = """(?:you | users? | customers? | clients? | colleagues? | callers? | friends? | neighbou?rs? | people | they | he | she
  | someone | somebody | everyone | blogs? | forums? | posts? | adverts? | ads? | websites? | many | some | most | others | critics
  | rivals? | competitors? | witness(?:es)? | lawyers?)"""
TOLD = rf"""
    {SPEAKERS}(?:\s+\w+){{0,2}}?\s+(?:says? | said | mention(?:s|ed)? | told | claim(?:s|ed)? | state[ds]? | quote[ds]? | insist(?:s|ed)?
      | argue[ds]? | want(?:s|ed)? | wish(?:es|ed)? | call(?:s|ed)?\s+it | put\s+it\s+at | gives?)
  | you\s+(?:asked | wrote | meant | refer\w* | are\s+looking) | (?:as|like)\s+you | so-called
  | (?:per|in|from|with)\s+your\s+(?:message|e-?mail|question|note|request|claim|query) | in\s+(?:his|her|their)\s+(?:opinion|view)
"""
"""Anywhere before the value, in its clause."""
COMPARED = r"""
    than | versus | vs\.? | unlike | compared\s+(?:with|to) | in\s+contrast\s+to | as\s+opposed\s+to | against | beats?
  | averages?\s+of | similar\s+to | akin\s+to | (?:duplicate|copy|clone|version|variant)\s+of
  | as\s+(?:much|many|long|heavy|big|far|fast|high|cheap)\s+as | confus\w+\s+(?:\w+\s+)?(?:with|for)
  | mist(?:ake|aken|ook)\s+(?:\w+\s+)?for | prior\s+to | beyond
"""
"""Up to three words before the value."""
UNREAL = r"""
    forg(?:ed|ery) | fakes? | faked | bogus | false(?:ly)? | wrong(?:ly)? | mistaken\w* | misread\w* | mis(?:quote|print|heard|spel)\w* | mixed\s+(?:it\s+|them\s+)?up
  | inflat(?:ed|es) | exaggerat\w+ | overstat\w+ | understat\w+ | scam\w* | fraud\w* | hoax\w* | impost\w+ | posing | posed\s+as | masquerad\w+
  | typos? | lies? | lied | lying | dreams? | dreamt | joke[ds]? | jokingly | nonsense | failed | fails | failing | failure | missed | ignor(?:e[ds]?|ing)
  | declin(?:e[ds]?|ing) | reject(?:s|ed|ing)? | refus(?:e[ds]?|ing) | drop(?:s|ped|ping) | scrap(?:s|ped) | struck | rul(?:ed?|ing)\s+out
  | withdr[ae]wn? | revok\w+ | overturn\w* | stop(?:s|ped)\s+(?:being|short) | quit | lost | loses? | stolen | vetoed? | disqualif\w+ | overrul\w+
  | push(?:ed|es|ing)\s+for | lobb(?:y|ied|ying)\w* | hop(?:e[ds]?|ing) | aim(?:s|ed|ing)? | bet | bets | bid | bids | wish(?:e[ds]|ing)?
  | demand(?:s|ed|ing)? | propos(?:e[ds]?|ing|al) | request(?:ed|ing) | seek(?:s|ing)? | sought | tr(?:y|ies|ied|ying)\s+to | attempt\w* | intend\w* | consider(?:s|ed|ing)
  | threaten\w* | promis\w+ | pledg\w+ | on\s+the\s+table | in\s+favou?r\s+of | fe(?:el|els|lt)\s+like | back\s+then | at\s+the\s+time | in\s+those\s+days | used\s+to
  | another\s+(?:customer|person|account|user|order|firm|company|case|patient|client|country|city|flat|room)\b
  | leave\s+out | left\s+out | no\s+\w+\s+but | elsewhere | next\s+(?:door|to) | someone\s+else | somebody\s+else | anybody | nobody | nowhere | hardly | runner-up | opponents? | rivals? | competitors? | namesake
  | pen\s+name | pseudonym | alias | stand-in | stood\s+in | substitut\w+ | lookalike | imitat\w+ | suburbs? | outskirts | sequel | prequel | prize | cup | award\s+named
  | same\s+(?:form|shape|format|pattern)\s+as | rename | remove | delete | ignore | forget | beware | other\s+side | good\s+luck | at\s+(?:worst|best) | net\s+of
  | as\s+(?:cold|hot|warm|good|bad|old|young|long|short|small|large)\s+as | under\s+the\s+(?:bill|draft|proposal|motion) | too\s+\w+\s+(?:for|to)
"""
"""Anywhere before the value, in its sentence: what is tried, feared or undone, or about something or somebody else."""
RULED_OUT = r"""
    waiv\w+ | exclud\w+ | omit\w* | exempt\w*\s+from | (?:free|aside|apart|away)\s+(?:of|from)
  | (?:out|short|devoid|instead|empty|bereft)\s+of | ban(?:s|ned)? | prohibit\w* | forbid\w* | forbade | cancel\w* | abolish\w*
  | lacks? | lacking | lost | (?:in\s+)?lieu\s+of | disallow\w* | without\s+so\s+much\s+as | ex | less | swap\w* | switch\w* | trade | exchange | remov\w+ | drop | delet\w+ | undo | replac\w+ | w/o | sans | dream\w*\s+of | allergic\s+to | without\s+\w+ing | except(?:\s+for)? | save\s+for | minus | skip\w*
  | (?:dead|outdated|obsolete|expired|deprecated|fake|counterfeit|old|wrong|mistyped|another|similar)\s+\w+
  | vice | deputy | prime | acting | assistant | partly | partially | mostly | largely | almost | nearly | half | semi
  | sometimes | occasionally | usually | rarely | somewhat
"""
"""Right before the value, or before its article."""
TAKEN_BACK = r"""
    costs?\s+extra | (?:is|are|comes?|was|were)\s+(?:\w+\s+)?(?:extra | optional | dead | outdated | obsolete | deprecated | void | expired
      | out\s+of\s+date | an?\s+(?:\w+\s+)?(?:myth|misconception|mistake|rumou?r|typo|joke|guess|lie))
  | (?:sold|billed|available|charged)\s+separately | redirects?\s+to | belongs?\s+to\s+(?:an?other|someone|somebody|a\s+different)
  | says?\s+nothing | (?:is|are|was)\s+silent | give\s+or\s+take | or\s+(?:so|thereabouts) | at\s+the\s+(?:earliest|latest)
  | below\s+zero | (?:was|were|has\s+been|is|are)\s+(?:taken\s+down|gone|removed|broken|disputed|debated|wrong)
  | (?:was|were|is|are|has\s+been|got|been)\s+(?:dropped|scrapped|removed|renamed|withdrawn|abolished|lost|stolen|cancell?ed|rejected|declined|refused|missed
      | gone|struck\s+down|overturned|taken\s+by|replaced|superseded|disqualified|thwarted) | (?:would|could|might|should) | is\s+what | declined | failed | withdrew | lost
  | in\s+error
  | back\s+then | at\s+the\s+time | in\s+(?:(?:his|her|their|my)\s+dreams?|an?\s+dream) | wrongly | falsely | (?:was|were)\s+before\s+the
  | (?:critics|they|some|many|analysts|experts|people|opponents)\s+(?:say|claim|think|believe|argue|insist|hope)
  | disagree\w* | otherwise | never\s+came | in\s+vain | by\s+(?:accident|mistake|error) | has\s+been\s+suggested | i\s+(?:think|guess|believe|suppose) | if\s+memory | as\s+far\s+as | they\s+say
"""
"""Not far behind the value."""
RESTRICTED = r"""
    only | exclusively | solely | if | unless | except\w* | excluding | (?:apart|aside)\s+from | save\s+for | other\s+than | provided
  | (?:as|so)\s+long\s+as | subject\s+to | on\s+condition | in\s+case | (?:by|on|upon)\s+(?:appointment|request) | when | whenever
  | but\s+(?:not|only) | while\s+(?:stocks|supplies)
"""
"""Behind the value, in its sentence; of an identifier it restricts nothing."""
SEASONAL = r"""
    (?:on|at|in|during)\s+(?:the\s+)?(?:weekends? | weekdays | nights? | \w+days | holidays | winter | summer | spring | autumn | mornings
      | evenings | (?:january|february|march|april|june|july|august|september|october|november|december)
      | the\s+(?:old|older|other|first|previous|big|small)\s+\w+ | mice | rats | vitro)
  | once\s+an?\s+\w+ | off-peak | when | less | in\s+one\s+\w+\s+(?:of|out\s+of) | in\s+(?:his|her|their)\s+dreams? | with\s+an?\s+(?:ticket|permit|pass|card|licen[cs]e|reservation|valid)
  | but\s+(?:was|were|later|then|only|never)\b | (?:to|for)\s+(?:students|members|customers|employees|residents|children|adults|subscribers|owners|guests
      |pensioners|seniors|patients)
"""
"""Behind a statement or a participle: not always, or not everywhere."""
FRAME_SIGNS = rf"(?i:\b(?:{joined(SUPPOSED, GUESSED, TOLD, UNREAL, COMPARED, RULED_OUT, TAKEN_BACK, RESTRICTED, SEASONAL)}|would|off|discount|ish|but|yet|although|though|however|out|past|before|at\s+bay)\b)"
"""For RE2: a text without any of these frames nothing."""
