"""Exit statuses, failed checks, and what is refused: options and techniques, limits, nothing to do."""
import csv
import io
import json
import os
import re

from program import case, EXAMPLES, exit_status, heddle, launch_file, plain_module, replay_json, table_of, TICKETS, TOP


def statuses(folder):
    store = "mov.u32 %r1, 7; st.global.u32 [%rd0], %r1;"
    for name, status, part, arguments in [
            ("a right run", 0, "output as expected", (store,)),
            ("a wrong output", 3, "wrong-output", (store, "8, 0, 0, 0")),
            ("an access out of bounds", 5, "kernel-fault", ("mov.u32 %r1, 7; st.global.u32 [%rd0+1000000], %r1;",)),
            ("a kernel over the limit", 6, "instruction-limit", ("L: add.u64 %rd1, %rd1, 1; st.global.u64 [%rd0], %rd1; bra L;", "0, 0, 0, 0", "--instruction-limit=100000")),
            ("a kernel under the limit", 0, "output as expected", (store, "7, 0, 0, 0", "--instruction-limit=100000")),
            ("a wrong limit", 2, "takes a number", (store, "7, 0, 0, 0", "--instruction-limit=-1")),
            ("an unsupported instruction", 6, "unsupported", ("zzz.b32 %r1, %r2;",)),
            ("a module with a mistake", 1, "undeclared-register", ("mov.u32 %r9, 7;",)),
            ("an unknown GPU", 2, "no GPU is called", (store, "7, 0, 0, 0", "--gpu=sm_1")),
            ("an unknown technique", 2, "no technique is called", (store, "7, 0, 0, 0", "--technique=wow")),
            ("an unknown format", 2, "text|json|csv", (store, "7, 0, 0, 0", "--format=xml"))]:
        got, text = exit_status(folder, *arguments)
        case("%s exits %d" % (name, status), got == status and part in text, "%d %s" % (got, text[-400:]))
    for name, code in ("fault", "trap;"), ("limit", "L: add.u64 %rd1, %rd1, 1; st.global.u64 [%rd0], %rd1; bra L;"):
        exit_status(folder, code, "0, 0, 0, 0", "--instruction-limit=100000")
        _, report, _ = replay_json("--instruction-limit=100000", os.path.join(folder, "m.yaml"))
        proved = [r["verified"] for r in report["kernels"][0]["results"]]
        case("a run that ends in a %s proves nothing" % name, proved and not any(proved), str(proved))
    status, _, errors = heddle("replay", os.path.join(folder, "none.yaml"))
    case("a missing launch file exits 1", status == 1 and "unreadable" in errors, errors)


def failed_checks(folder):
    """The row says which check failed, in each format; what a failed proof stops is not verified either."""
    def told(options, wanted, words):
        path = os.path.join(folder, "m.yaml")
        report = replay_json("--technique=bow-iw3,bow-wr-iw3", *options, path)[1]
        results = [r for k in report["kernels"] for r in k["results"]]
        text = heddle("replay", "--technique=bow-iw3,bow-wr-iw3", *options, path)[1]
        rows = [row[3] for row in table_of(text, "k")[0].values()]
        lines = list(csv.DictReader(io.StringIO(heddle("replay", "--format=csv", "--technique=bow-iw3,bow-wr-iw3", *options, path)[1])))
        case("a failed check is told: %s" % wanted, [r["failed_check"] for r in results] == wanted and rows == words and
             [r["verified"] for r in results] == [w is None for w in wanted] and [line["failed_check"] or None for line in lines] == wanted,
             "%s %s" % ([r["failed_check"] for r in results], rows))

    exit_status(folder, "mov.u32 %r1, 7; st.global.u32 [%rd0], %r1;")
    told([], 3 * [None], 3 * ["pass"])
    exit_status(folder, "mov.u32 %r1, 7; st.global.u32 [%rd0], %r1;", "8, 0, 0, 0")
    told([], 3 * ["outputs"], 3 * ["FAIL (output)"])
    exit_status(folder, "mov.u32 %r1, 7; st.global.u32 [%rd0], %r1; trap;")
    told([], 3 * ["incomplete"], 3 * ["FAIL (stopped)"])
    plain_module(folder, TICKETS, count=65, block=64)
    told([], 3 * ["identical"], 3 * ["FAIL (differs)"])
    far = "\n".join(8 * ["add.u32 %r2, %r2, 1;"])
    plain_module(folder, "mov.u32 %r0, %tid.x;\nadd.u32 %r1, %r0, 7; //@bow boc\n" + far + "\nst.global.u32 [%rd0], %r1;")
    told([], ["incomplete", "incomplete", "operands"], ["FAIL (stopped)", "FAIL (stopped)", "FAIL (operands)"])


def options():
    """Models with options: named as given, beside those without, and other numbers where the options say so."""
    path = launch_file("reduction")
    given = "corf( shared , kept),corf(shared,kept),rfc(entries=1),rfc(entries=16),rfc,bow-iw3(iw=7,entries=28),bow-iw7,release-wear,release(cache=0,robin)"
    status, report, errors = replay_json("--technique=" + given, path)
    names = [r["model"] for r in report["kernels"][0]["results"]] if report else []
    case("models with options stand behind theirs, once", status == 0 and names == [
        "baseline", "bow-iw3(iw=7,entries=28)", "bow-iw7", "rfc", "rfc(entries=1)", "rfc(entries=16)", "corf(shared,kept)", "release(cache=0,robin)",
        "release-wear"], errors + str(names))
    results = [{r["model"]: r for r in k["results"]} for k in report["kernels"]]
    alone = replay_json("--technique=corf(),demo()", launch_file("vectorAdd"))[1]
    case("empty parentheses mean the model alone", [r["model"] for r in alone["kernels"][0]["results"]] == ["baseline", "demo", "corf"], str(alone)[:400])
    counted = lambda r: {key: value for key, value in r.items() if key not in ("model", "title", "options")}
    case("options make one model another", all(counted(r["bow-iw3(iw=7,entries=28)"]) == counted(r["bow-iw7"]) and
                                               counted(r["rfc(entries=16)"]) == counted(r["rfc"]) for r in results))
    fewer = lambda r, one, other, key: r[one][key] < r[other][key]
    case("options count", all(fewer(r, "rfc(entries=1)", "rfc", "rf_reads_eliminated") and fewer(r, "release-wear", "release(cache=0,robin)", "flag_words_decoded") and
                              r[name]["verified"] for r in results for name in r), str(results)[:400])
    case("the report tells the options in effect", results[0]["corf(shared,kept)"]["options"] == "policy=pairs,shared,kept")
    status, out, _ = heddle("replay", "--format=csv", "--technique=corf(shared,kept)", path)
    rows = list(csv.DictReader(io.StringIO(out)))
    case("a comma in a name stays in its column", status == 0 and {row["model"] for row in rows} == {"baseline", "corf(shared,kept)"} and
         all(row["verified"] == "true" for row in rows), out)
    status, report, _ = replay_json("--technique=bow(iw=2..3),bow-wr(iw=2..4),bow-wr-iw3(iw=4),bow-wr-iw2,bow-wr-iw3,ltrf(n=8),ltrf()", path)
    results = [{r["model"]: r for r in k["results"]} for k in report["kernels"]]
    names = ["baseline", "bow(iw=2)", "bow(iw=3)", "bow-wr-iw2", "bow-wr-iw3", "bow-wr(iw=2)", "bow-wr(iw=3)", "bow-wr(iw=4)", "bow-wr-iw3(iw=4)", "ltrf", "ltrf(n=8)"]
    case("a range is a row for each value", status == 0 and all(list(r) == names for r in results), str(list(results[0])))
    same = lambda r, one, other: counted(r[one]) == counted(r[other])
    case("the pass runs for each window", all(same(r, "bow-wr(iw=2)", "bow-wr-iw2") and same(r, "bow-wr(iw=3)", "bow-wr-iw3") and
                                              same(r, "bow-wr(iw=4)", "bow-wr-iw3(iw=4)") and
                                              fewer(r, "bow-wr(iw=4)", "bow-wr(iw=3)", "destinations_rf") for r in results), str(results)[:400])
    case("intervals are made for each size", all(fewer(r, "ltrf", "ltrf(n=8)", "intervals") or
                                                 r["ltrf"]["intervals"] == r["ltrf(n=8)"]["intervals"] for r in results), str(results)[:400])


REFUSED = [("corf(sharde)", 6, "model 'corf' has no option 'sharde'", "shared (one pool"), ("corf(policy=first)", 6, "no option 'policy'", "kept"),
           ("bow,corf(shared,kept=1)", 17, "'1' is not what option 'kept'", "kept"), ("rfc(entries)", 5, "'' is not what option 'entries'", "entries=1 to 64"),
           ("rfc(entries=0)", 5, "'0' is not", "entries=1 to 64"), ("rfc(entries=65)", 5, "'65' is not", "entries=1 to 64"),
           ("rfc(entries=4294967297)", 5, "is not what", "entries=1 to 64"), ("rfc(entries=4x)", 5, "'4x' is not", "entries"),
           ("demo(x)", 6, "model 'demo' has no option 'x'", "it has none"), ("release+(x)", 1, "no technique is called", "known are"),
           ("corf++-release(kept=1..2)", 16, "'1..2' is not what option 'kept'", "kept"), ("bow-wr(iw=3..2)", 8, "'3..2' is not", "iw=1 to 16"),
           ("bow-wr(iw=1..17)", 8, "'1..17' is not", "iw=1 to 16"), ("bow-wr(iw=2..)", 8, "'2..' is not", "iw=1 to 16"),
           ("bow(iw=1..16,entries=1..64)", 1, "more than 256 models", ""),
           ("all(iw=4)", 1, "'all' takes no options", "baseline"), ("wow(x)", 1, "no technique is called 'wow'", "known are"),
           ("corf(shared", 12, "expected ',' or ')'", ""), ("corf(shared) kept", 14, "expected ',' or the end", ""),
           ("corf(,kept)", 6, "expected an option", ""), ("corf(shared),", 14, "no technique is called ''", "known are"), ("bow,none", 5, "'none' is given alone", "")]


def limits():
    """No more registers than a thread of the GPU may have, in what is replayed and what is written."""
    path = launch_file("dxtc")
    wide, narrow = (replay_json("--technique=corf", "--gpu=" + gpu, path) for gpu in ("sm_80", "fermi-gtx480"))
    registers = [[k["general_registers"] for k in r[1]["kernels"]] for r in (wide, narrow)]
    case("the GPU's registers a thread cap the allocation", wide[0] == narrow[0] == 0 and max(registers[0]) > 63 >= max(registers[1]), str(registers))
    source = os.path.join(TOP, "examples", "dxtc", "dxtc.ptx")
    wide, narrow, less = (max(int(n) for n in re.findall(r"%R(\d+)", heddle("rewrite", *gpu, "-p", "select,regalloc" + most, source)[1]))
                          for gpu, most in (((), ""), (("--gpu=fermi-gtx480",), "(max=200)"), (("--gpu=fermi-gtx480",), "(max=40)")))
    case("and so they do in what is rewritten", wide > 62 >= narrow > 39 >= less, "%d %d %d" % (wide, narrow, less))
    for given, column, says, tells in REFUSED:
        status, out, errors = heddle("replay", "--technique=" + given, path)
        case("--technique=%s is refused" % given, status == 2 and not out and "--technique:1:%d: error: " % column in errors and says in errors and
             tells in errors and "[bad-value]" in errors, "%d %s" % (status, errors))


def nothing():
    """Only running: the same runs and outputs on any number of threads, and no table."""
    for example in EXAMPLES:
        path = launch_file(example)
        alone, several = ((status, json.loads(out), errors) for status, out, errors in (
            heddle("replay", "--format=json", "--technique=none", threads, path) for threads in ("-j1", "-j4")))
        measured = replay_json("--virtual", "--technique=baseline", path)[1]["kernels"]
        bare = alone[1]["kernels"]
        case("running alone tells what the models' run tells: " + example, alone[0] == 0 and alone == several and all(
            not b.pop("results") and m.pop("results") and b == m for b, m in zip(bare, measured)), str(alone)[:400])
    _, text, _ = heddle("replay", "--technique=none", launch_file("vectorAdd"))
    case("running alone shows no table", "output as expected" in text and "RF accesses" not in text, text)
