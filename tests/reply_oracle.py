"""What a reply means by docs/collect.md, "What is read", alone: written from that page, without
regular expressions.
"""

import json

GENERAL = ["answer", "rating", "score", "grade", "verdict", "vote"]
PAIRS = ['""', "''", "“”", "‘’", "«»", "()", "[]", "<>", "{}", "$$"]
OFF, UNREADABLE = "off the scale", "unreadable"


def meaning(reply, labels, dimensions, *, low=1, reads="reply"):
    """Dimension -> rating or reason, of a whole reply that nothing but its text says anything
    about.
    """
    reply = part(reply, reads)
    one = len(dimensions) == 1
    found = {dimension: [] for dimension in dimensions}
    value, text = json_in(reply)
    if value is not None:
        walk(value, dimensions, one and dimensions[0], found)
    scan(text, dimensions, found)
    for line in text.split("\n"):
        if one and is_boxed(line.strip()):
            found[dimensions[0]].append(inside_box(line.strip()))
    if one and value is None and not found[dimensions[0]]:
        found[dimensions[0]].append(reply)
    return {
        dimension: agreed([label(each, labels, low) for each in values])
        for dimension, values in found.items()
    }


def part(reply, reads):
    if not reply.strip().startswith("{"):
        for end in ("</think>", "</thinking>"):
            reply = reply[reply.lower().rfind(end) + len(end) :] if end in reply.lower() else reply
    if any(
        line.strip(" \t").lower().startswith(("<think>", "<thinking>"))
        for line in reply.split("\n")
    ):
        reply = ""
    kept = [line for line in reply.split("\n") if not is_fence(line)]
    reply = "\n".join(kept).strip()
    lines = reply.splitlines() or [""]
    return {"reply": reply, "first line": lines[0].strip(), "last line": lines[-1].strip()}[reads]


def is_fence(line):
    line = line.strip(" \t\r")
    return line.startswith("```") and (
        line[3:] == "" or all(each.isalnum() or each == "_" for each in line[3:])
    )


class Object(list):
    """The pairs of an object."""


def json_in(reply):
    """(the object or None, the text)."""
    if "{" not in reply:
        return None, reply
    start, end = reply.index("{"), reply.rfind("}") + 1
    if end < start:
        return None, ""
    for candidate in (reply[start:end], without_commas(reply[start:end])):
        try:
            value = json.loads(
                candidate,
                object_pairs_hook=Object,
                parse_float=str,
                parse_int=str,
                parse_constant=str,
            )
        except ValueError:
            continue
        return value, reply[:start].rstrip(" \t\r\n:：*_") + "\n" + reply[end:]
    return None, "" if start == 0 else reply


def without_commas(text):
    kept = ""
    for place, each in enumerate(text):
        if not (
            each == ","
            and text[place + 1 :].lstrip()[:1] in ("}", "]")
            and text[place + 1 :].strip()
        ):
            kept += each
    return kept


def walk(value, dimensions, meant, found):
    """meant: the dimension that general names stand for here, if any."""
    for key, inner in value:
        name = key.strip().lower()
        of = next(
            (each for each in dimensions if each.lower() in (name, name.replace("_", " "))), None
        )
        if of is None and name in GENERAL and meant:
            of = meant
        if isinstance(inner, Object):
            walk(inner, dimensions, of, found)
        elif of:
            found[of].append(inner)


def scan(text, dimensions, found):
    """The statements of a text, from left to right."""
    names = {each.lower(): each for each in dimensions}
    if len(dimensions) == 1:
        names |= {each: dimensions[0] for each in GENERAL if each not in names}
    starts = []  # (start of what introduces a name, end of the mark, dimension, whether it counts)
    place = 0
    while place < len(text):
        mark = mark_at(text, place, names)
        if mark is None:
            place += 1
            continue
        end, name = mark
        begin, counts = introduction(text, place, starts[-1][1] if starts else 0)
        starts.append((begin if counts else place, end, names[name], counts))
        place = end
    for number, (_, end, dimension, counts) in enumerate(starts):
        stop = starts[number + 1][0] if number + 1 < len(starts) else len(text)
        value = text[end:stop].split("\n")[0]
        found[dimension].append(value if counts else None)


def mark_at(text, place, names):
    """(end of the mark, name) if a name and `:` or `=` are at a place."""
    if place and (text[place - 1].isalnum()):
        return None
    for name in sorted(names, key=len, reverse=True):
        if text[place : place + len(name)].lower() == name:
            end = place + len(name)
            while text[end : end + 1] in ("*", "_", " ", "\t", '"', "'"):
                end += 1
            if text[end : end + 1] in (":", "=", "："):
                return end + 1, name
    return None


def introduction(text, place, least):
    """(where what introduces a name begins, whether the name counts)."""
    begin = place
    while True:
        before = text[least:begin]
        stripped = before.rstrip(" \t")
        if (
            stripped.endswith(",")
            and stripped != before
            and stripped[:-1].lower().endswith(("final", "overall", "my"))
        ):
            stripped = stripped[:-1]
        word = next(
            (
                w
                for w in ("final", "overall", "my")
                if stripped.lower().endswith(w) and stripped != before
            ),
            None,
        )
        if word is None or stripped[: -len(word)][-1:].isalpha():
            break
        begin = least + len(stripped) - len(word)
    line = max(
        text.rfind("\n", 0, begin) + 1, least if least and "\n" not in text[least:begin] else 0
    )
    lead = text[text.rfind("\n", 0, begin) + 1 : begin]
    if line == text.rfind("\n", 0, begin) + 1 and all(
        each in " \t*_#•.)-" or each.isdigit() for each in lead
    ):
        return line, True
    blank = text[least:begin].rstrip("*_")
    trimmed = blank.rstrip(" \t")
    comma = trimmed[-2:-1].isdigit() or text[begin] not in "abcdefghijklmnopqrstuvwxyz"
    if trimmed != blank and (trimmed[-1:] in (".", ";") or (trimmed[-1:] == "," and comma)):
        return least + len(trimmed) - 1, True
    return place, False


def is_boxed(text):
    text = bare_box(text)
    return text.startswith("\\boxed{") and text.endswith("}") and not {*"{}"} & {*text[7:-1]}


def inside_box(text):
    return bare_box(text)[7:-1]


def bare_box(text):
    """A box without what may be around it: dollars, asterisks, brackets of formulas and, after it,
    full stops.
    """
    before = None
    while text != before:
        before = text
        text = text.removeprefix("\\(").removeprefix("\\[").lstrip("*$")
        text = text.removesuffix("\\)").removesuffix("\\]").rstrip("*$.")
    return text


def label(value, labels, low):
    """A rating or a reason, of one value."""
    if not isinstance(value, str):
        return UNREADABLE
    lowered = [each.lower() for each in labels]
    markup = [each for each in "*_`" if not any(each in label for label in labels)]
    while True:
        for text in (value, without_zeros(out_of(value, labels)), without_zeros(value)):
            if text.lower() in lowered:
                return low + lowered.index(text.lower())
        value, before = value.strip(), value
        if value != before:
            continue
        while value and value[0] in markup:
            value = value[1:]
        while value and value[-1] in markup:
            value = value[:-1]
        if value != before:
            continue
        if value and value[-1] in ".,;!":
            value = value[:-1]
        elif is_boxed(value):
            value = inside_box(value)
        elif len(value) > 2 and value[0] + value[-1] in PAIRS:
            value = value[1:-1]
        if value == before:
            return OFF if is_number(value) else UNREADABLE


def out_of(value, labels):
    whole = len(labels) > 2 and all(each.isdecimal() for each in labels)
    for sign in ("out of", "of", "/"):
        head, found, tail = value.lower().rpartition(sign)
        if whole and found and tail.strip() == labels[-1]:
            return head.strip().rstrip("*_ \t")
    return value


def without_zeros(value):
    head, point, tail = value.partition(".")
    return (
        head
        if point and head.removeprefix("-").isdecimal() and tail and not tail.strip("0")
        else value
    )


def is_number(value):
    head, point, tail = value.removeprefix("-").partition(".")
    return (head + tail).isascii() and head.isdecimal() and (not point or tail.isdecimal())


def agreed(read):
    return read[0] if read and all(each == read[0] for each in read) else UNREADABLE
