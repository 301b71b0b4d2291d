"""Modules that come with annotations: replayed as written, refused by the check and the proof where these are wrong, and
compared with their originals."""
import csv
import io
import os
import re

from program import annotated, case, EXAMPLES, heddle, launch_file, plain_module, replay_json, TOP


def annotations(folder):
    for example in EXAMPLES:
        source = os.path.join(TOP, "examples", example, example + ".ptx")
        for spelling, registers in (("portable", "virtual"), ("extended", "virtual"), ("portable", "architected"), ("extended", "architected")):
            virtual = registers == "virtual"
            _, plain, _ = replay_json("--technique=bow-wr-iw3", *["--virtual"] * virtual, launch_file(example))
            _, ptx, errors = heddle("rewrite", "--emit=" + spelling, "-p", "bow(iw=3)" if virtual else "select,regalloc,bow(iw=3)", source)
            status, report, why = replay_json("--technique=bow-wr-iw2,bow-wr-iw3", annotated(folder, example, ptx))
            good = status == 0 and all(k["annotated"] and k["results"][1]["not_applied"] for k in report["kernels"]) and [
                k["results"][2] for k in report["kernels"]] == [k["results"][1] for k in plain["kernels"]] and all(
                    k["registers"] == registers and k["output_identical"] is True for k in report["kernels"])
            case("%s, %s, with its own %s annotations replays as written" % (example, registers, spelling), good, errors + why)
            status, out, why = heddle("check", os.path.join(folder, example + ".ptx"))
            case("%s, %s, with %s annotations is sound" % (example, registers, spelling), status == 0 and ": sound" in out, why)


def tampering(folder):
    """Every tag of the example's text that can be made boc by hand: check refutes each, and where the run reads the value later, so does the proof."""
    source = os.path.join(TOP, "examples", "reduction", "reduction.ptx")
    _, ptx, _ = heddle("rewrite", "--no-section", "-p", "bow(iw=3)", source)
    places = [m.start(1) for m in re.finditer(r"//@bow (rf|both)$", ptx, re.M)]
    refuted = disproved = 0
    mixed = []
    for k, at in enumerate(places):
        word = re.match(r"\w+", ptx[at:]).group()
        path = annotated(folder, "reduction", ptx[:at] + "boc" + ptx[at + len(word):])
        status, _, errors = heddle("check", os.path.join(folder, "reduction.ptx"))
        line = ptx.count("\n", 0, at) + 1
        refuted += status == 3 and "unsound-annotation" in errors and "reduction.ptx:%d:" % line in errors
        status, _, errors = heddle("replay", "--technique=bow-wr-iw3", path)
        disproved += status == 3 and "proof-failed" in errors
        if k % 8:
            continue
        whole = [heddle("replay", "-j%d" % threads, "--format=json", path) for threads in (1, 2, 5)]
        if any(run != whole[0] for run in whole) or (status == 3 and whole[0][0] != 3):
            mixed.append((line, [run[0] for run in whole]))
    case("check refutes every tampered tag", len(places) > 20 and refuted == len(places), "%d of %d" % (refuted, len(places)))
    case("what all other models count beside a wrong one does not depend on threads", not mixed, str(mixed))
    case("the replay disproves most of them", disproved > len(places) / 2, "%d of %d" % (disproved, len(places)))


def sets_too_small(folder):
    """An extended set with one register less than the code has: the register of the next section is not taken for it."""
    source = os.path.join(TOP, "examples", "tpacf", "tpacf.ptx")
    _, ptx, _ = heddle("rewrite", "--no-section", "-p", "select,regalloc,regmutex(es=4)", source)
    held = re.search(r"regmutex \((\d+),4\)", ptx)
    if not held:
        case("tpacf holds four registers in its extended set", False, ptx[:400])
        return
    path = annotated(folder, "tpacf", ptx.replace(held.group(), "regmutex (%s,3)" % held.group(1)))
    status, out, errors = heddle("check", os.path.join(folder, "tpacf.ptx"))
    case("check refutes an extended set that is too small", status == 3 and "hold fewer registers than the kernel names" in errors, errors)
    status, out, errors = heddle("replay", "--technique=regmutex", path)
    case("the proof refuses it, too", status == 3 and "regmutex delivers another value of R%d" % (int(held.group(1)) + 3) in errors, errors)


def models_not_applied(folder):
    """A model whose options the annotations of the text do not fit has a row that says so, in each format."""
    ptx = heddle("rewrite", "-p", "select,regalloc,bow(iw=3),ltrf(n=16)", os.path.join(TOP, "examples", "reduction", "reduction.ptx"))[1]
    path = annotated(folder, "reduction", ptx)
    models = "--technique=bow-wr(iw=2..4),ltrf(n=8),ltrf(n=32)"
    status, report, errors = replay_json(models, path)
    left_out = [r["not_applied"] for r in report["kernels"][0]["results"]]
    case("options that the annotations do not fit leave the model out", status == 0 and [bool(why) for why in left_out] ==
         [False, True, False, False, True, False] and "longer window" in left_out[1] and "larger cache" in left_out[4], errors + str(left_out))
    rows = list(csv.DictReader(io.StringIO(heddle("replay", "--format=csv", models, path)[1])))
    flat = [r for k in report["kernels"] for r in k["results"]]
    case("csv has a row for them, without counts", len(rows) == len(flat) and all(
        row["model"] == r["model"] and row["not_applied"] == (r["not_applied"] or "") and None not in row and
        (row["rf_reads"] == row["verified"] == row["storage_bits"] == "" if r["not_applied"] else int(row["rf_reads"]) == r["rf_reads"])
        for row, r in zip(rows, flat)), str(rows)[:600])
    case("what is not measured has no key", all("cycles" not in r and "ipc" not in r for r in flat))


def unchanged_code(folder):
    """A pass that changes no instruction needs no run of its own: what its models count does not depend on which run they see."""
    for example, model in ("mergeSort", "demo()"), ("vectorAdd", "demo()"), ("dxtc", "regmutex-paired()"):
        alone, beside = (replay_json("--gpu=fermi-gtx480", "--technique=" + list, launch_file(example))[1]["kernels"]
                         for list in (model, "bow,release,rfc," + model))
        kept = [{r["model"]: r for r in k["results"]} for k in beside]
        case("models count the same beside others: %s, %s" % (example, model),
             alone and all(r["verified"] and r == more[r["model"]] for k, more in zip(alone, kept) for r in k["results"]), str(alone)[:400])
    for example in "vectorAdd", "mergeSort": # only annotated, and so in the run that there is
        _, ptx, _ = heddle("rewrite", "-p", "select,regalloc,demo", os.path.join(TOP, "examples", example, example + ".ptx"))
        written = replay_json("--technique=demo", annotated(folder, example, ptx))[1]["kernels"]
        shared = replay_json("--technique=demo", launch_file(example))[1]["kernels"]
        case("what DeMO only annotates counts as it does with annotations in the text: " + example, [k["results"][1] for k in written] ==
             [k["results"][1] for k in shared] and any(k["results"][1]["memory_operands"] for k in shared), str(shared)[:400])
    virtual = replay_json("--virtual", "--technique=regmutex-paired()", launch_file("aes"))[1]["kernels"] # more than the register file has
    results = [r for k in alone + virtual for r in k["results"] if r["model"] == "regmutex-paired"]
    case("without extended sets as many warps are resident as without RegMutex",
         virtual and results and all(r["pool_sections"] == 0 and r["resident_warps"] == r["resident_warps_without"] > 0 for r in results), str(results)[:400])


# By hand across the store; what the load gave before it was moved is 0.
MOVED = """mov.u32 %%r0, %%tid.x;
mul.wide.u32 %%rd1, %%r0, 4;
add.u64 %%rd1, %%rd0, %%rd1;
st.global.u32 [%%rd1], %%r0;
ld.global.u32 %%r1, [%%rd1]; //@demo%s
add.u32 %%r2, %%r1, 5; //@demo_operand set
st.global.u32 [%%rd1], %%r2;"""


def originals(folder):
    """What comes annotated leaves the memory that it leaves without annotations, its loads where they stood."""
    status, kernel, errors = plain_module(folder, MOVED % "", count=32)
    case("a load annotated across a store exits 3, and the element is named", status == 3 and kernel["output_identical"] is False and
         "'A' differs from what the original kernel leaves, first at byte 4, element 1: 6, and 5 there" in errors, errors)
    status, out, errors = heddle("check", os.path.join(folder, "m.ptx"))
    case("and check refutes it", status == 3 and "it may have been moved over this one" in errors, errors)
    status, kernel, errors = plain_module(folder, MOVED % "", "--no-compare", count=32)
    case("--no-compare asks for no original", status == 0 and kernel["output_identical"] is None, errors)
    status, kernel, errors = plain_module(folder, "mov.u32 %r0, %tid.x;\nst.global.u32 [%rd0], %r0;", "--no-compare")
    case("nor of allocated code", status == 0 and kernel["output_identical"] is None and kernel["registers"] == "allocated", errors)
    status, kernel, errors = plain_module(folder, MOVED % "; demo_after 1", count=32)
    case("a load that stood behind the store is fine", status == 0 and kernel["output_identical"] is True, errors)
    for example in EXAMPLES:
        source = os.path.join(TOP, "examples", example, example + ".ptx")
        for passes in ("demo", "select,demo,regalloc", "select,regalloc,demo", "select,demo(operands=1),regalloc,regmutex"):
            for spelling in ("portable", "extended"):
                _, ptx, errors = heddle("rewrite", "--emit=" + spelling, "-p", passes, source)
                status, report, why = replay_json("--technique=demo", annotated(folder, example, ptx))
                good = status == 0 and all(k["output_identical"] is True and all(r["verified"] for r in k["results"]) for k in report["kernels"])
                case("%s with %s, %s, leaves what its original does" % (example, passes, spelling), good, errors + why)
