"""What the suites of this folder share: running heddle, collecting cases, finding ptxas."""
import os
import subprocess
import sys
import tempfile
import traceback

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.abspath(os.environ.get("TOP") or os.path.join(HERE, "../.."))
BUILD = os.path.abspath(os.environ.get("BUILD") or os.path.join(TOP, "build"))
HEDDLE = os.path.abspath(os.environ.get("HEDDLE") or os.path.join(BUILD, "heddle"))
CUBINCMP = os.path.join(TOP, "tools/cubincmp")
TIMEOUT = 120


class Failed(Exception):
    pass


class Result:
    def __init__(self, done):
        self.status, self.out, self.err = done.returncode, done.stdout, done.stderr.decode("utf-8", "replace")


def run(*arguments, stdin=b"", cwd=None, stdout=subprocess.PIPE, **environment):
    """heddle with these arguments."""
    done = subprocess.run((HEDDLE,) + arguments, input=stdin, stdout=stdout, stderr=subprocess.PIPE, cwd=cwd,
                          timeout=TIMEOUT, env={**os.environ, "NO_COLOR": "1", **environment})
    return Result(done)


def heddle(*arguments, stdin=b"", **keywords):
    """Its standard output; fails where the exit status is not 0."""
    result = run(*arguments, stdin=stdin, **keywords)
    if result.status != 0:
        raise Failed("heddle %s: exit %d: %s" % (" ".join(arguments), result.status, result.err.strip()[:300]))
    return result.out


def same(left, right, what="bytes"):
    if left != right:
        at = next((i for i, pair in enumerate(zip(left, right)) if pair[0] != pair[1]), min(len(left), len(right)))
        raise Failed("%s differ at byte %d, line %d: %r became %r" %
                     (what, at, left.count(b"\n", 0, at) + 1, left[max(0, at - 20):at + 40], right[max(0, at - 20):at + 40]))


def expect(condition, why, *values):
    if not condition:
        raise Failed(why % values if values else why)


def write(path, data):
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())
    return path


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Cases:
    """Functions whose name starts with case_ are cases; each gets an empty folder."""

    def __init__(self):
        self.failed = 0

    def report(self, name, why=None):
        failed = why is not None
        print("not ok %s: %s" % (name, " ".join(str(why).split()) or "says nothing") if failed else "ok %s" % name, flush=True)
        self.failed += failed

    def run_one(self, name, function):
        with tempfile.TemporaryDirectory(prefix="heddle-cli.") as folder:
            try:
                function(folder)
                self.report(name)
            except (Failed, subprocess.TimeoutExpired, OSError, ValueError) as error:
                self.report(name, error)
            except Exception:  # a broken case must not hide the others
                traceback.print_exc(file=sys.stdout)
                self.report(name, "the case itself failed")

    def run_module(self, module):
        for name, function in list(vars(module).items()):
            if name.startswith("case_"):
                self.run_one(name[len("case_"):].replace("_", " "), function)
