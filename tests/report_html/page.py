"""Reads a kernel's columns out of the HTML report, independently of the page's own scripts. The format is described in
emitters/report/report_page.h."""

DIGITS = {c: n for n, c in enumerate("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/")}


def numbers(text):
    found, value, shift = [], 0, 0
    for c in text:
        value |= (DIGITS[c] & 31) << shift
        shift += 5
        if not DIGITS[c] & 32:
            found.append(value)
            value = shift = 0
    return found


def unsign(value):
    return -(value >> 1) if value & 1 else value >> 1


def running(values, start=0):
    found = []
    for value in values:
        start += value
        found.append(start)
    return found


def groups(values, size):
    return [values[n:n + size] for n in range(0, len(values), size)]


def registers(kernel):
    values, last, names = iter(numbers(kernel["registers"])), {}, []
    for stem in values:
        text, numbered = kernel["stems"][stem]
        if numbered:
            last[stem] = last.get(stem, 0) + unsign(next(values))
            text += str(last[stem])
        next(values)
        names.append(text)
    return names


def touches(kernel, names):
    values, reg, found = iter(numbers(kernel["touches"])), 0, []
    for count in values:
        row = {}
        for _ in range(count):
            value = next(values)
            reg += unsign(value >> 2)
            if value & 3:
                row[names[reg]] = " ^vx"[value & 3]
        found.append(row)
    return found


def decode(kernel):
    lines = running([unsign(v) for v in numbers(kernel["line"])], kernel["first"])
    names = registers(kernel)
    block, depth, reached, source, at = [], [], [], [], 0
    for count, step, rest in groups(numbers(kernel["blocks"]), 3):
        at += unsign(step)
        block += [at] * count
        depth += [rest >> 1] * count
        reached += [rest & 1 == 1] * count
    at = 0
    for run in groups(numbers(kernel["positions"]), 5):
        at += unsign(run[2])
        source += [at] * run[0]
    own = dict(groups(kernel["texts"], 2))
    ranges, first, reg = [], 0, 0
    for step, length, difference in groups(numbers(kernel["ranges"]), 3):
        first, reg = first + step, reg + unsign(difference)
        ranges.append([names[reg], first, first + length])
    return {
        "line": lines, "block": block, "depth": depth, "reached": reached, "source": source,
        "ranges": ranges, "touches": touches(kernel, names),
        "live": running([unsign(v) for v in numbers(kernel["live"])]),
        "predicates": running([unsign(v) for v in numbers(kernel["predicates"])]),
        "single_use": running(numbers(kernel["single_use"])), "removed": running(numbers(kernel["removed"])),
        "text": [own[n] if n in own else kernel["ptx"][line - kernel["first"]] for n, line in enumerate(lines)],
    }


def squeeze(text):
    """An instruction's text without blanks, semicolon and comment."""
    return "".join(text.split("//")[0].split()).rstrip(";")
