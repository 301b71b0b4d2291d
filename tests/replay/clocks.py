"""Kernels whose output depends on a clock: named, in every format, and no FAIL; what else is wrong still is."""
import csv
import io
import os
import re

from program import LAUNCH, PLAIN, case, heddle

NAMED = "depends on a clock"
# A name, a body, whether a clock decides what it leaves. All leave 7 where it does not.
BODIES = [
    ("stored", "mov.u32 %r0, %clock;\nst.global.u32 [%rd0], %r0;", True),
    ("its difference", "mov.u64 %rd1, %clock64;\nmov.u64 %rd2, %clock64;\nsub.u64 %rd1, %rd2, %rd1;\nadd.u64 %rd1, %rd1, 9;\n"
     "cvt.u32.u64 %r0, %rd1;\nst.global.u32 [%rd0], %r0;", True),
    ("the timer", "mov.u64 %rd1, %globaltimer;\nst.global.u64 [%rd0], %rd1;", True),
    ("an address", "mov.u32 %r0, %clock_hi;\nand.b32 %r0, %r0, 4;\ncvt.u64.u32 %rd1, %r0;\nadd.u64 %rd1, %rd0, %rd1;\n"
     "mov.u32 %r1, 8;\nst.global.u32 [%rd1], %r1;", True),
    ("a branch", "mov.u32 %r0, %clock;\nmov.u32 %r1, 8;\nsetp.lt.u32 %p0, %r0, 100000;\n@%p0 bra L;\nmov.u32 %r1, 9;\n"
     "L: st.global.u32 [%rd0], %r1;", True),
    ("a guard", "mov.u32 %r0, %clock;\nmov.u32 %r1, 9;\nsetp.lt.u32 %p0, %r0, 100000;\n@%p0 mov.u32 %r1, 8;\n"
     "st.global.u32 [%rd0], %r1;", True),
    ("a called function", "call (%r1), f, (%rd0);\nst.global.u32 [%rd0], %r1;", True),
    ("only read", "mov.u32 %r0, %clock;\nadd.u32 %r0, %r0, 1;\nmov.u32 %r1, 8;\nst.global.u32 [%rd0], %r1;", False),
    ("no clock", "mov.u32 %r1, 8;\nst.global.u32 [%rd0], %r1;", False),
]
CALLEE = ".func (.reg .u32 %o) f(.reg .u64 %i) { mov.u32 %o, %clock; ret; }\n"


def launch(folder, ptx, values="7, 0, 0, 0"):
    with open(os.path.join(folder, "m.ptx"), "w", encoding="ascii") as file:
        file.write(ptx)
    path = os.path.join(folder, "m.yaml")
    with open(path, "w", encoding="ascii") as file:
        file.write(LAUNCH % values)
    return path


def named(folder):
    for name, body, decides in BODIES:
        path = launch(folder, PLAIN % (CALLEE if "call" in body else "", "", body))
        replay = ["replay", "--technique=baseline,bow-wr-iw3", path]
        status, text, errors = heddle(*replay)
        _, page, _ = heddle(*replay[:-1], "--format=html", path)
        _, table, _ = heddle(*replay[:-1], "--format=csv", path)
        _, report, _ = heddle(*replay[:-1], "--format=json", path)
        rows = list(csv.DictReader(io.StringIO(table)))
        if decides:
            good = status == 0 and "output " + NAMED in text and "FAIL" not in text and "[clock-dependent]" in errors and "'k'" in errors
            good = good and "<p>output " + NAMED in page and "FAIL" not in re.sub(r"(?s)<dl.*?</dl>", "", page)
            good = good and all((r["outputs_ok"], r["clock_dependent"], r["verified"]) == ("", "true", "true") for r in rows)
            good = good and '"clock_dependent": true' in report and '"outputs_ok": null' in report
        else:
            good = status == 3 and NAMED not in text + page and "FAIL (output)" in text and "[wrong-output]" in errors
            good = good and all((r["outputs_ok"], r["clock_dependent"], r["verified"]) == ("false", "", "false") for r in rows)
            good = good and '"clock_dependent": false' in report and '"outputs_ok": false' in report
        case("%s: a clock %s" % (name, "decides" if decides else "decides nothing"), good and rows, text + errors + table)


def still_wrong(folder):
    """An operand that is not verified, in a kernel that stores a clock."""
    body = ("mov.u32 %r0, %clock;\nld.global.u32 %r1, [%rd0+8];\n" + 8 * "add.u32 %r0, %r0, %r0;\n" +
            "add.u32 %r2, %r1, %r0;\nst.global.u32 [%rd0], %r2;")
    path = launch(folder, PLAIN % ("", "", body))
    source = os.path.join(folder, "m.ptx")
    _, ptx, _ = heddle("rewrite", "--no-section", "-p", "select,regalloc,bow(iw=3)", source)
    spoiled = re.sub(r"(ld\.global.*//@.*?bow )(rf|both)", r"\1boc", ptx)
    status, _, errors = heddle("replay", "--technique=bow-wr-iw3", launch(folder, ptx))
    case("a kernel that stores a clock is verified", status == 0 and "[clock-dependent]" in errors, errors)
    status, text, errors = heddle("replay", "--technique=bow-wr-iw3", path if spoiled == ptx else launch(folder, spoiled))
    case("a wrong operand beside a clock exits 3", status == 3 and "FAIL (operands)" in text and "proof-failed" in errors, ptx + text + errors)
    status, _, errors = heddle("replay", "-Werror=clock-dependent", launch(folder, PLAIN % ("", "", BODIES[0][1])))
    case("-Werror=clock-dependent", status == 3 and "error:" in errors, "%d %s" % (status, errors))
