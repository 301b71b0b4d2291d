"""Golden files of numbers, with a line for each, so that a change of one is one line of a diff; written anew with BLESS=1
(make bless). An entry is a line "HEAD:" and its lines "  NAME=NUMBER"."""
import os
import re
import subprocess

TOP = os.environ.get("TOP") or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEDDLE = os.environ.get("HEDDLE") or os.path.join(os.environ.get("BUILD") or os.path.join(TOP, "build"), "heddle")


def heddle(*arguments):
    return subprocess.run([HEDDLE, *arguments], capture_output=True, text=True, timeout=300, check=False)


def entry(head, counts):
    """Without zeros."""
    return " ".join(head) + ":\n" + "".join("  %s=%s\n" % (k, v) for k, v in counts if v not in ("0", 0, "", None))


def read_entries(path):
    with open(path, encoding="ascii") as file:
        text = file.read()
    return re.split(r"(?<=\n)(?=[^ ])", text) if text else []


def first_difference(old, new):
    """The lines that only one of two entries of one head has."""
    was, now = old.splitlines(), new.splitlines()
    if was[:1] != now[:1]:
        return "'%s' in place of '%s'" % (now[0], was[0])
    return "%s was%s, is%s" % (was[0], ",".join(s for s in was if s not in now) or " nothing",
                               ",".join(s for s in now if s not in was) or " nothing")


def compare(folder, name, entries, taken=None):
    """Whether the golden file has these entries; with `taken`, of those whose first word is one of these. Prints a case in
    the form of tools/run-tests."""
    path = os.path.join(folder, name)
    if os.environ.get("BLESS") == "1":
        with open(path, "w", encoding="ascii") as file:
            file.writelines(entries)
    known = [old for old in read_entries(path) if taken is None or re.match(r"[^ :]*", old).group() in taken]
    wrong = [(old, new) for old, new in zip(known, entries) if old != new]
    good = not wrong and len(known) == len(entries)
    print(("ok %s " if good else "not ok %s ") % os.path.basename(folder) + name +
          ("" if good else ": %d of %d entries differ" % (len(wrong), len(known)) if wrong else ": other entries"))
    for old, new in wrong[:3]:
        print("  " + first_difference(old, new))
    return good
