"""heddle replay --lane-fault: what the formats say of a faulty lane, that it fails no verification, and exit statuses."""
import csv
import io
import os
import re

from program import case, exit_status, heddle, replay_json

# Of the last thread, whose store remains: 31 and 38.
BODY = "mov.u32 %r1, %tid.x; add.u32 %r1, %r1, 7; st.global.u32 [%rd0], %r1;"
MODELS = "--technique=warped-dmr-inorder"
FAULT = "--lane-fault=lane=31,unit=sp,bit=0,flip=2"


def rows(folder, *options):
    path = os.path.join(folder, "m.yaml")
    status, report, errors = replay_json(*options, path)
    lines = list(csv.DictReader(io.StringIO(heddle("replay", "--format=csv", *options, path)[1])))
    return status, report, lines, heddle("replay", *options, path)[1], errors


def formats(folder):
    exit_status(folder, BODY, "38, 0, 0, 0")
    hidden = "--technique=warped-dmr(inorder,unshuffled)"
    for fault, model, wrong, detected in (("lane=31,unit=sp,bit=0,flip=2", MODELS, 1, 1), ("lane=31,unit=sp,bit=0,flip=9", MODELS, 0, 0),
                                          ("lane=31,unit=sp,bit=2,stuck=1", MODELS, 0, 0), ("lane=31,unit=sp,bit=3,stuck=1", MODELS, 1, 1),
                                          ("lane=31,unit=sp,bit=3,stuck=1", hidden, 1, 0)):
        right = not wrong
        for clock in ((), ("--time", "--gpu=fermi-warped-dmr")):
            status, report, lines, text, errors = rows(folder, model, "--lane-fault=" + fault, *clock)
            kernel = report["kernels"][0]
            none, seen = (r["lane_fault"] for r in kernel["results"])
            first = seen["first"] or {}
            line = lines[1]
            name = "%s%s%s" % (fault, " in cycles" if clock else "", "" if model == MODELS else ", unshuffled")
            case("a fault: %s" % name, status == 0 and report["lane_fault"] == fault and none is None and not errors and
                 kernel["lane_fault"] == {"operations": 2, "wrong_results": wrong} and seen["wrong_results"] == wrong and
                 seen["detected"] == detected and
                 seen["slipped_through"] == wrong - detected and bool(first) == (seen["differences"] > 0) and
                 all(r["verified"] for r in kernel["results"]) and kernel["outputs_ok"] == right, "%d %s %s %s" % (status, kernel["lane_fault"], seen, errors))
            case("a fault in CSV: %s" % name, [line["lane_fault_" + key] for key in ("operations", "wrong", "detected", "slipped_through", "differences", "first_at")] ==
                 [str(v) for v in (2, wrong, seen["detected"], seen["slipped_through"], seen["differences"], first.get("cycle" if clock else "instruction", ""))] and
                 lines[0]["lane_fault_wrong"] == "", str(line))
            found = re.search(r"first detected\n  \S+\s+(\d+) +(\d+) +(\d+)  (never|(?:cycle|instruction) \d+)\n", text)
            case("a fault as text: %s" % name, found and [int(n) for n in found.groups()[:3]] == [wrong, seen["detected"], seen["slipped_through"]] and
                 (found.group(4) == "never") == (not first) and ("output as expected" in text) == right and "FAIL" not in text, text)
    status, report, lines, text, _ = rows(folder, MODELS)
    case("without a fault nothing is said of it", status == 0 and "lane_fault" not in report and "lane_fault" not in report["kernels"][0]["results"][1] and
         not any(key.startswith("lane_fault_") for key in lines[0]) and "faulty lane" not in text, text)


def statuses(folder):
    for name, status, part, arguments in [
            ("a fault that is not detected", 0, "output NOT as expected", (BODY, "38, 0, 0, 0", "--technique=baseline", "--lane-fault=lane=31,unit=sp,bit=3,stuck=1")),
            ("an address outside all buffers", 5, "kernel-fault", (BODY, "38, 0, 0, 0", MODELS, "--lane-fault=lane=31,unit=ldst,bit=40,flip=2")),
            ("a loop without end", 6, "instruction-limit", (".reg .pred %p0; mov.u32 %r1, 0; L: add.u32 %r1, %r1, 1; st.global.u32 [%rd0], %r1; setp.lt.u32 %p0, %r1, 4; @%p0 bra L;", "4, 0, 0, 0", MODELS,
                                                             "--lane-fault=lane=31,unit=sp,bit=2,stuck=0", "--instruction-limit=100000")),
            ("a fault that cannot be read", 2, "'unit' takes sp, sfu or ldst", (BODY, "38, 0, 0, 0", MODELS, "--lane-fault=lane=31,unit=x,bit=0,flip=1")),
            ("a fault in an SM that is not there", 2, "there is no SM 56", (BODY, "38, 0, 0, 0", MODELS, "--lane-fault=sm=56,lane=31,unit=sp,bit=0,flip=1")),
            ("models that do not look for faults", 2, "models that do: warped-dmr", (BODY, "38, 0, 0, 0", "--technique=bow", FAULT)),
            ("models with different lanes", 2, "in different ways", (BODY, "38, 0, 0, 0", "--technique=warped-dmr,warped-dmr-8", FAULT))]:
        got, text = exit_status(folder, *arguments)
        case("%s exits %d" % (name, status), got == status and part in text, "%d %s" % (got, text[-400:]))
