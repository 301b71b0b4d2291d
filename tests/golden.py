"""Golden files of numbers: lines "HEAD: NAME=NUMBER, ...", written anew with BLESS=1 (make bless)."""
import os
import re
import subprocess

TOP = os.environ.get("TOP") or os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
HEDDLE = os.environ.get("HEDDLE") or os.path.join(os.environ.get("BUILD") or os.path.join(TOP, "build"), "heddle")


def heddle(*arguments):
    return subprocess.run([HEDDLE, *arguments], capture_output=True, text=True, timeout=300, check=False)


def line(head, counts):
    """Without zeros."""
    return " ".join(head) + ": " + ", ".join("%s=%s" % (k, v) for k, v in counts if v not in ("0", 0, "", None)) + "\n"


def compare(folder, name, lines, taken=None):
    """Whether the golden file has these lines; with `taken`, of those whose first word is one of these. Prints a case in
    the form of tools/run-tests."""
    path = os.path.join(folder, name)
    if os.environ.get("BLESS") == "1":
        with open(path, "w", encoding="ascii") as file:
            file.writelines(lines)
    with open(path, encoding="ascii") as file:
        known = [old for old in file if taken is None or re.match(r"[^ :]*", old).group() in taken]
    wrong = [(old, new) for old, new in zip(known, lines) if old != new]
    good = not wrong and len(known) == len(lines)
    print(("ok %s " if good else "not ok %s ") % os.path.basename(folder) + name +
          ("" if good else ": %d of %d lines differ" % (len(wrong), len(known)) if wrong else ": other lines"))
    for old, new in wrong[:3]:
        print("  was %s  now %s" % (old, new), end="")
    return good
