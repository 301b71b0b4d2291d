"""The page: rows with a figure, the paper's and ours, and the experiments that look for the cause of a difference. Whether one is close is
computed: within 2 points of a percentage, else within a tenth."""

import re
import sys

from against import measure

POINTS, PART = 2.0, 0.1


def bounds(paper):
    if isinstance(paper, str):  # "> 70"
        return (float(paper[1:]), float("inf"))
    return paper if isinstance(paper, tuple) else (paper, paper)


def distance(paper, ours):
    """How far ours is from the paper's, and from which number."""
    low, high = bounds(paper)
    return (low - ours, low) if ours < low else (max(0, ours - high), high)


def is_close(paper, ours, unit):
    if paper is None:
        return True
    far, number = distance(paper, ours)
    return far <= (POINTS if unit == "%" else PART * abs(number)) if far else True


def one(number, unit, signed):
    if number is None:
        return "."
    if isinstance(number, str):
        return number
    if isinstance(number, tuple):
        return "%s to %s" % (one(number[0], unit, signed), one(number[1], unit, signed))
    if isinstance(number, int):
        return ("%+d" if signed else "%d") % number
    return ("%+.1f" if signed else "%.1f" if unit == "%" or abs(number) >= 10 else "%.2f") % number


def several(numbers, unit, signed=False):
    return " / ".join(one(n, unit, signed) for n in numbers) + (" %" if unit == "%" else "")


class Row:
    """`paper`: numbers, pairs for ranges, "> 70", None where the paper has none; `ours` as many numbers."""

    def __init__(self, figure, paper, ours, at, unit="%", signed=False, known=True):
        self.figure, self.paper, self.ours, self.unit, self.signed = figure, paper, ours, unit, signed
        self.known = known  # whether the paper says enough for a cause to be found
        self.setting = at if isinstance(at, str) else at.setting
        self.notes, self.causes, self.halves = [], [], []

    def note(self, text):
        """What belongs to the row and is no experiment."""
        self.notes.append(text)
        return self

    def experiment(self, text, ours=None, at=None):
        """What was changed, and the row's figure then, or a text of figures of another kind."""
        label = chr(ord("a") + sum(1 for n in self.notes if n.startswith("(")))
        where = "" if at is None else " [%s]" % (at if isinstance(at, str) else at.setting)
        self.notes.append("(%s) %s%s%s" % (label, text, "" if ours is None else ": **%s**" % several(ours, self.unit, self.signed), where))
        if ours is None or any(o is None and p is not None for p, o in zip(self.paper, ours)):
            return self  # an experiment without all of the row's figures is no cause
        if all(is_close(p, o, self.unit) for p, o in zip(self.paper, ours)):
            self.causes.append(label)
        elif all(is_close(p, o, self.unit) or distance(p, o)[0] <= distance(p, was)[0] / 2 for p, o, was in zip(self.paper, ours, self.ours)):
            self.halves.append(label)
        return self

    def verdict(self):
        if all(p is None for p in self.paper):
            return "the paper has no number"
        if all(is_close(p, o, self.unit) for p, o in zip(self.paper, self.ours)):
            return "close"
        listed = lambda labels: ", ".join("(%s)" % label for label in labels)
        if self.causes and self.known:
            return "with %s close" % listed(self.causes)
        if self.halves and self.known:
            return "%s: half or more; the rest *open*" % listed(self.halves)
        return "*open*"

    def cells(self):
        paper = several(self.paper, self.unit, self.signed) if any(p is not None for p in self.paper) else "none"
        return "| %s | %s | %s | %s | %s |" % (self.figure, paper, several(self.ours, self.unit, self.signed), self.verdict(), self.setting)


class Page:
    def __init__(self):
        self.rows, self.lines = [], []

    def say(self, text=""):
        self.lines.append(text)
        print(text, flush=True)

    def section(self, title, text=""):
        self.finish()
        self.say("\n## " + title)
        if text:
            self.say("\n" + text)

    def keep(self, title, path):
        """A section as it is on the page already, with the letters that its settings have now."""
        self.finish()
        with open(path, encoding="utf-8") as file:
            old = file.read()
        text_of = dict(re.findall(r"^- \*\*([A-Z]+)\*\* (.*)$", old, re.M))
        letter = lambda match: measure.setting(text_of[match.group(1)])
        body = old[old.index("\n## %s\n" % title):].split("\n## ")[1]
        body = re.sub(r"(?<=\| )([A-Z]+)(?= \|$)", letter, body, flags=re.M)
        self.say(re.sub(r"(?<=\[)([A-Z]+)(?=\]$)", letter, "\n## " + body.rstrip("\n"), flags=re.M))

    def row(self, *words, **options):
        self.rows.append(Row(*words, **options))
        return self.rows[-1]

    def finish(self):
        """The section's rows as a table, and what belongs to them."""
        if not self.rows:
            return
        self.say("\n| figure | paper | here | difference | setting |\n| --- | ---: | ---: | --- | --- |")
        for row in self.rows:
            self.say(row.cells())
        for row in self.rows:
            if row.notes:
                self.say("\n**%s**\n" % row.figure)
                for note in row.notes:
                    self.say("- " + note)
        self.rows = []

    def head(self):
        self.say("""# The papers' figures beside ours

Generated by `bench/papers --write`; not to be edited. It replays all of `examples/` (%d applications) under every technique. As in the papers
a figure is that of each application by itself, with all its kernels and launches added up, and then the plain mean over applications, where a
row says nothing else. GPUs are those of the papers. No constant was chosen to meet a figure.

*Difference* is computed: **close** is within %g points of a percentage and within a tenth of any other figure. Where it is not, experiments
(a), (b) ... follow below the table, each with the row's figure as it becomes: *with (a) close* where one brings all of the row's figures so
near, *half or more* where it takes half of each distance or more, else *open*: no cause is known. *Setting* names a command of the list
at the end. Registers are allocated by `select,regalloc` unless `--virtual` keeps PTX's own.""" % (len(measure.SOURCES), POINTS))

    def tail(self):
        self.finish()
        self.say("\n## Settings\n")
        for text in measure.SETTINGS:
            self.say("- **%s** %s" % (measure.setting(text), text))
        self.say("\nMeasured with `%s`. GPU descriptions: `target/gpus/`." % measure.heddle("--version").stdout.decode().strip())
        self.say("`the examples` is `examples/*/*.yaml`; other texts are copies that the script makes of them.")

    def write(self, path):
        missing = [line for line in self.lines if re.search(r"\bnan\b", line)]
        if missing:  # what a figure is made of has another name by now
            sys.exit("%s: not written, figures are missing:\n%s" % (path, "\n".join(missing)))
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(self.lines) + "\n")
