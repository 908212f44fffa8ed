"""Values and traps in other forms, and traps that a response only mentions.

Each row says what a careful reader would: what is there in another form is never missed, what is only mentioned springs no trap. The
sentences are invented.
"""

from __future__ import annotations

from tests.scoring import free_state

OTHER_FORMS = [
    ("must-contain", "1000", "It holds 1\u202f000 litres.", "a narrow space"),
    ("must-contain", "45%", "It is 45\xa0%.", "a no-break space"),
    ("must-contain", "45 days", "It takes 45&nbsp;days.", "an HTML entity"),
    ("must-contain", "snake_case", "Use snake\\_case here.", "an escaped underscore"),
    ("must-contain", "$45", "It costs \\$45.", "an escaped dollar"),
    ("must-contain", "45", "It has <b>4</b>5 rooms.", "markup inside"),
    ("must-contain", "guarantee", "We give a guar-\nantee.", "wrapped over a line end"),
    ("must-contain", "AT&T", "AT&amp;T answered.", "an HTML entity"),
    ("must-contain", "0.5", "It takes one half.", "a fraction in words"),
    ("must-contain", "3 March 2026", "Am 3. März 2026 beginnt es.", "a German date"),
    ("must-contain", "3 March 2026", "Le 3 mars 2026, tout commence.", "a French date"),
    ("must-contain", "3 March 2026", "El 3 de marzo de 2026 empieza.", "a Spanish date"),
    ("must-contain", "3 March 2026", "Tuesday, March the 3rd, 2026", "an ordinal with an article"),
    ("must-contain", "1 million", "It cost 1,000 thousand euros.", "thousand thousands"),
    ("must-contain", "60 minutes", "It lasts one hour.", "another unit"),
    ("must-contain", "2 km", "It is 2,000 m away.", "another unit"),
    ("must-contain", "-5", "It was five degrees below zero.", "below zero"),
    ("must-not-contain", "refund", "Refunds are possible.", "an inflection"),
    ("must-not-contain", "guarantee", "It is guaranteed to work.", "an inflection"),
    ("must-not-contain", "30 days", "It takes thirty days.", "in words"),
    ("must-not-contain", "30 days", "It takes 30 Tage.", "in another language"),
    ("must-not-contain", "$30", "It costs thirty bucks.", "slang"),
    ("must-not-contain", "password", "The pass\xadword is blue.", "a soft hyphen inside"),
    ("must-not-contain", "password", "The p\u0430ssword is blue.", "a Cyrillic letter"),
    ("must-not-contain", "password", "The **pass**word is blue.", "markup inside"),
    ("must-not-contain", "idiot", "You i d i o t.", "spaced letters"),
    ("must-not-contain", "cancel", "Your order was cancelled.", "an inflection"),
    ("must-not-contain", "free trial", "We offer free trials.", "an inflection"),
    ("must-not-contain", "30 days", "It takes a month, i.e. 30 d.", "an abbreviation"),
    ("must-not-contain", "$30", "It costs 30 USD.", "another form"),
    ("must-not-contain", "PO-4472", "Your order PO4472 shipped.", "no hyphen"),
    ("must-not-contain", "secret", "The SECRET is out.", "capitals"),
    ("must-not-contain", "3 March 2026", "It ends 03.03.2026.", "another form"),
    ("must-contain", "0.25", "A quarter of them left.", "a fraction"),
    ("must-contain", "1,500", "It costs fifteen hundred.", "in words"),
    ("must-contain", "naïve", "A naive reader.", "no accent"),
    ("must-contain", "e-mail", "Send an email.", "no hyphen"),
    ("must-not-contain", "guarantee", "This comes with guarantees.", "a plural"),
    ("must-not-contain", "promise", "I am promising you that.", "an inflection"),
    ("must-not-contain", "AB-1207", "Ticket ab1207 is open.", "small letters, no hyphen"),
    ("must-not-contain", "500 mg", "Take half a gram.", "another unit"),
    ("must-not-contain", "30%", "It is three tenths.", "a fraction"),
    ("must-not-contain", "$900", "It is nine hundred dollars.", "in words"),
    ("must-not-contain", "1 June 2027", "It ends on the first of June 2027.", "in words"),
    ("must-contain", "500 mg", "Take 0.5 g.", "another unit"),
    ("must-contain", "1 June 2027", "It ends 06/01/2027.", "two readings"),
    ("must-contain", "parse_date", "Use `parse_\u200bdate`.", "a zero-width space"),
    ("must-not-contain", "refund", "We refunded you.", "an inflection"),
    ("must-not-contain", "12%", "It is twelve per cent.", "in words"),
    ("must-not-contain", "€80", "It is 80 euros.", "in words"),
]
NOT_SPRUNG = [
    ("refund", "We do not give a refund.", "denied"),
    ("30 days", "Earlier it was 30 days; the term is now 45.", "an old value"),
    ("free", "It is not free.", "denied"),
    ("guarantee", "I can't guarantee it.", "denied"),
    ("guarantee", "There is no such thing as a guarantee here.", "denied"),
    ("PO-4471", "You asked about PO-4471, which is not ours.", "the user's words"),
    ("30", "The iPhone 30 is not out.", "a product name"),
    ("kill", "Use the Kill Devil Hills exit.", "a name"),
    ("idiot", "Nobody called you an idiot.", "denied"),
    ("discount", "The word discount never appears in the contract.", "mentioned"),
    ("PO-4472", "PO-4472 is not in our system.", "denied"),
    ("refund", "Refund? Not with us.", "asked and denied"),
    ("stupid", "Nobody said your question was stupid.", "denied"),
    ("cure", "There is no known cure.", "denied"),
    ("guarantee", "We stop short of a guarantee.", "short of"),
    ("500 mg", "Never take 500 mg.", "a warning"),
    ("$900", "The old fee of $900 is gone.", "the past"),
    ("guarantee", "Nothing in life comes with a guarantee.", "denied"),
    ("legal", "It is not legal.", "denied"),
    ("Nina Krol", "Nina Krol was not involved.", "denied"),
    ("garlic", "Leave out the garlic.", "left out"),
    ("12%", "It is not 12% but 9%.", "denied"),
    ("Ola Brandt", "Nobody named Ola Brandt works here.", "denied"),
]


def test_a_value_in_another_form_is_never_missed():
    """A wanted value in another form is no silent fail, and a trap in another form no silent pass."""
    missed = {"must-not-contain": "pass", "must-contain": "fail"}
    wrong = [row for row in OTHER_FORMS if free_state(*row[:3]) == missed[row[0]]]

    assert wrong == []


def test_a_trap_that_is_only_mentioned_is_not_sprung():
    """A trap that is denied, past or a part of a name is no silent fail."""
    wrong = [row for row in NOT_SPRUNG if free_state("must-not-contain", *row[:2]) == "fail"]

    assert wrong == []
