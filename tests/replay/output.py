"""Figures and formats: numbers that hold by construction (relations.py), the table, JSON and CSV, and what the options
of models change in them."""
import csv
import glob
import html
import io
import json
import math
import os
import re
import subprocess
import tempfile

import relations
import toolkit
from program import case, EXAMPLES, HEDDLE, heddle, launch_file, replay_json, sums_hold, table_of, TITLE, TOP, whole_rows


def order_holds(kernel):
    """A longer window bypasses no less; half of the entries never save more."""
    r = {x["model"]: x for x in kernel["results"]}
    for kind in ("bow", "bow-wr"):
        reads = [r["%s-iw%d" % (kind, n)]["rf_reads_eliminated"] for n in (2, 3, 7)]
        half = all(r["%s-iw%d-half" % (kind, n)]["rf_writes"] >= r["%s-iw%d" % (kind, n)]["rf_writes"] and
                   r["%s-iw%d-half" % (kind, n)]["rf_reads_eliminated"] <= r["%s-iw%d" % (kind, n)]["rf_reads_eliminated"] for n in (2, 3, 7))
        if reads != sorted(reads) or not half:
            return kind
    return None if r["bow-wr-iw3"]["rf_writes"] <= r["bow-wb-iw3"]["rf_writes"] <= r["bow-iw3"]["rf_writes"] else "write policies"


def examples():
    for example in EXAMPLES:
        status, report, errors = replay_json(launch_file(example))
        case(example + " runs, outputs right", status == 0 and all(k["outputs_ok"] for k in report["kernels"]), errors)
        if not report:
            continue
        wrong = [w for w in map(sums_hold, report["kernels"]) if w]
        case(example + " counts add up, all proved", not wrong, ", ".join(wrong))
        wrong = [w for w in map(order_holds, report["kernels"]) if w]
        case(example + " windows and policies are ordered", not wrong, ", ".join(wrong))


def row_agrees(row, r):
    figure = (r["headline"] or {}).get("value")
    shown = re.search(r"(-?\+?[\d.]+)( %)?$", row[2])
    headline = r["headline"] is None or row[2] == "not applied: %s" % r["headline"]["absent"] or (
        row[2].startswith(r["headline"]["title"] + " ") and abs(float(shown.group(1)) - figure * (100 if shown.group(2) else 1)) <= 0.0501)
    energy = "unknown" if r["energy_pj"] is None else "%.3f%s" % (r["energy_normalized"], "*" if r["energy_derived"] else "")
    return row[:2] == ("%.3f" % r["rf_accesses_normalized"], energy) and headline and (row[3] == "pass") == r["verified"]


def text_agrees(path, report):
    """Each row of the table and each counter is that of the JSON, and no line is longer than 100 columns but for paths."""
    text = heddle("replay", "--models", "--counters", path)[1]
    wrong = []
    for kernel in report["kernels"]:
        rows, counters = table_of(text, kernel["name"])
        keys = ("energy_pj", "storage_bits", "physical_access_variation")
        for r in kernel["results"]:
            told = {key: r[key] for key in r if r[key] and (isinstance(r[key], int) and not isinstance(r[key], bool) or key in keys)}
            if r["allocated_registers"]:
                told.update({"allocated_registers " + key: r["allocated_registers"][key] for key in ("mean", "peak")})
            shown = counters.get(r["model"], {})
            same = set(shown) == set(told) and all(abs(shown[key] - told[key]) <= 0.51 for key in told)
            if r["title"] not in rows or not row_agrees(rows[r["title"]], r) or not same:
                wrong.append("%s of %s: %s" % (r["title"], kernel["name"], rows.get(r["title"])))
    case("text and json agree", not wrong, "; ".join(wrong))
    return text


def means(path, report):
    """The rows after "Mean over" are those of the launches, geometric for ratios and changes."""
    text = heddle("replay", "--models", path)[1]
    table = text.split("\nMean over %d launches" % len(report["kernels"]))[1].split("\n\n")[0]
    rows = {row.group(1): row.group(2).split() for row in (re.match(TITLE + r" +([\d.-].*)$", line) for line in whole_rows(table)) if row}
    wrong = []
    for m, r in enumerate(report["kernels"][0]["results"]):
        each = [k["results"][m]["rf_accesses_normalized"] for k in report["kernels"]]
        mean = math.exp(sum(map(math.log, each)) / len(each)) if all(each) else 0
        if rows[r["title"]][0] != "%.3f" % mean or rows[r["title"]][-1] != "pass":
            wrong.append("%s: %s, not %.3f" % (r["title"], rows[r["title"]], mean))
    case("the means are those of the launches", not wrong, "; ".join(wrong))
    wide = [line for line in text.replace(TOP + "/", "").splitlines() if len(line) > 100]
    case("the table has at most 100 columns", not wide, str(wide))


def readme():
    """The README shows what the demo prints."""
    with open(os.path.join(TOP, "tools", "demo"), encoding="ascii") as file:
        demo = re.search(r'^"\$HEDDLE" (replay .*)$', file.read(), re.M).group(1).split()
    with open(os.path.join(TOP, "README.md"), encoding="utf-8") as file:
        shown = re.search(r"```\n(  technique .*?)```", file.read(), re.S).group(1).splitlines()
    done = subprocess.run([HEDDLE, *demo], capture_output=True, text=True, check=False, cwd=TOP)
    missing = [line for line in shown if line not in done.stdout.splitlines()]
    case("the README's table is that of the program", len(shown) > 10 and not missing, str(missing))


def energies():
    """Published and derived energies are distinguished, and a model whose energy a description does not give has a row like any other."""
    path = launch_file("vectorAdd")
    for gpu in ("pascal-titan-x", "sm_80"):
        status, report, errors = replay_json("--gpu=" + gpu, path)
        results = [r for k in report["kernels"] for r in k["results"] if r["not_applied"] is None]
        wrong = [w for w in (sums_hold(k, relations.energies(gpu)) for k in report["kernels"]) if w]
        case("every energy is known on " + gpu, status == 0 and results and not wrong and all(r["energy_pj"] for r in results), errors + str(wrong))
        odd = [r["model"] for r in results if r["energy_derived"] != relations.needs(r, relations.derived_energies(gpu))]
        marked = sum(r["energy_derived"] for r in results)
        case("derived ones are marked on " + gpu, not odd and (0 < marked < len(results) or gpu == "sm_80"), str(odd))
        rows, _ = table_of(heddle("replay", "--models", "--gpu=" + gpu, path)[1], "vectorAdd")
        case("also in the table on " + gpu, all(row_agrees(rows[r["title"]], r) for r in results), str(rows))
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(TOP, "target", "gpus", "sm_80.yaml"), encoding="utf-8") as file:
            bare = file.read().split("energies:")[0]
        with open(os.path.join(folder, "bare.yaml"), "w", encoding="utf-8") as file:
            file.write(bare)
        option = "--gpu=" + os.path.join(folder, "bare.yaml")
        status, report, errors = replay_json(option, path)
        unknown = [r for k in report["kernels"] for r in k["results"] if r["energy_pj"] is None and r["energy_derived"] is None]
        wrong = [w for w in (sums_hold(k, {}) for k in report["kernels"]) if w]
        case("a description without energies gives none, and all else", status == 0 and unknown == report["kernels"][0]["results"] and not wrong, errors + str(wrong))
        rows, _ = table_of(heddle("replay", "--models", option, path)[1], "vectorAdd")
        case("they are called unknown", rows and all(row[1] == "unknown" and row[3] == "pass" for row in rows.values()), str(rows))


def standard():
    """A technique is its standard configurations, by the names of the papers; --models asks for all of its models. What
    depends on time is left out where nothing names it and cycles are not asked for, and the legend says so."""
    path = launch_file("vectorAdd")
    models = relations.rows("hwmodel/rf/models/models.def", "HD_RF_MODEL")
    titles = {row[1]: row[0] for row in relations.rows("hwmodel/rf/models/models.def", "HD_RF_STANDARD")}
    names = lambda *options: [(r["model"], r["title"]) for r in json.loads(heddle("replay", "--format=json", *options, path)[1])["kernels"][0]["results"]]
    said = re.search(r"^not shown, .*: (.*)$", heddle("replay", path)[1], re.M).group(1).split(", ")
    slow = {row[1] for row in models if row[1] in said}
    wanted = [(row[0], titles.get(row[0], row[0])) for row in models if row[1] not in slow]
    hidden = [row[0] for row in models if row[1] in slow and row[0] in titles]
    case("what is not shown is a technique", slow == set(said) and hidden, str(said))
    case("what is not shown is by name, and with cycles", all([(m, titles[m]) in names(option) for m in hidden for option in ("--technique=" + m, "--time")]), str(said))
    case("by default the standard configuration of each technique", names() == names("--technique=all") ==
         [w for w in wanted if w[0] in titles or w[0] == "baseline"], str(names()))
    case("with --models all of them", names("--models") == wanted, str(names("--models")))
    for technique in sorted({row[1] for row in models if row[1]}):
        mine = [(row[0], titles.get(row[0], row[0])) for row in models if row[1] == technique]
        if technique not in [row[0] for row in models]:
            got = names("--technique=" + technique)[1:], names("--models", "--technique=" + technique)[1:]
            case("technique %s" % technique, got == ([m for m in mine if m[0] in titles], mine), str(got))
    untitled = next(row[0] for row in models if row[0] not in titles and row[0] != "baseline")
    case("a model is itself", [n[0] for n in names("--technique=" + untitled)] == ["baseline", untitled])


def formats():
    path = launch_file("reduction")
    _, report, _ = replay_json(path)
    status, out, _ = heddle("replay", "--models", "--format=csv", path)
    rows = [row for row in csv.DictReader(io.StringIO(out)) if not row["not_applied"]]
    for kernel in report["kernels"]:
        kernel["results"] = [r for r in kernel["results"] if not r["not_applied"]]
    flat = [(k, r) for k in report["kernels"] for r in k["results"]]
    same = len(rows) == len(flat) and all(
        row["model"] == r["model"] and row["kernel"] == k["name"] and row["outputs_ok"] == "true" and
        all(int(row[c]) == r[c] for c in ("rf_reads", "rf_writes", "window_reads", "window_writes", "destinations_boc"))
        for row, (k, r) in zip(rows, flat))
    case("csv and json agree", status == 0 and same)
    text_agrees(path, report)
    means(path, report)
    case("runs are the same every time", heddle("replay", "--format=json", path) == heddle("replay", "-j1", "--format=json", path))
    _, one, _ = replay_json("--technique=bow-wr-iw3", path)
    case("a model alone counts as in company", [k["results"][1] for k in one["kernels"]] == [r for _, r in flat if r["model"] == "bow-wr-iw3"])


def settings():
    """Settings are in every format, and C++ names are demangled in each, unless the user wants them as they are."""
    mangled = "_Z9vectorAddPKfS0_Pfi"
    with tempfile.TemporaryDirectory() as folder:
        for name in ("vectorAdd.ptx", "vectorAdd.yaml"):
            with open(os.path.join(TOP, "examples", "vectorAdd", name), encoding="utf-8") as file:
                text = re.sub(r"(entry |kernel: )vectorAdd\b", r"\1" + mangled, file.read())
            with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        path = os.path.join(folder, "vectorAdd.yaml")
        given = ["--time", "--gpu=ampere-a100", "--sms=2", "--sample=4", "--set=limits.registers_per_sm=32768", "--set=limits.warps_per_sm=32",
                 "--memory-base=0x7f5c4c000000", "--seed=7", "--block-order=random:3", "--buffer-order=reverse"]
        run = lambda *more: heddle("replay", "--technique=bow", *given, *more, path)[1]
        row = next(csv.DictReader(io.StringIO(run("--format=csv"))))
        version = subprocess.run([HEDDLE, "--version"], capture_output=True, text=True, check=False).stdout.split()[1]
        wanted = {"heddle": version, "gpu": "ampere-a100", "sms": "2", "sample_waves": "4", "memory_base": "0x7f5c4c000000",
                  "settings": "limits.registers_per_sm=32768 limits.warps_per_sm=32", "latency": "64", "active_warps": "8",
                  "max_registers": "", "lane_fault": "", "seed": "7", "block_order": "random:3", "buffer_order": "reverse", "kernel": mangled, "demangled": "vectorAdd(float const*, float const*, float*, int)"}
        case("settings are in CSV", {key: row[key] for key in wanted} == wanted, str(row)[:600])
        report = json.loads(run("--format=json"))
        kernel = report["kernels"][0]
        case("settings are in JSON", report["settings"] == wanted["settings"].split() and (report["sms"], report["sample_waves"]) == (2, 4) and
             kernel["launch"]["memory_base"] == wanted["memory_base"] and (report["latency"], report["active_warps"], report["max_registers"]) == (64, 8, None) and
             (report["seed"], report["block_order"], report["buffer_order"]) == (7, "random:3", "reverse"))
        case("JSON has both names", (kernel["name"], kernel["demangled"]) == (mangled, wanted["demangled"]))
        for form in ("text", "html"):
            shown = html.unescape(run("--format=" + form))
            parts = [version, "ampere-a100", "limits.registers_per_sm=32768", "limits.warps_per_sm=32", wanted["memory_base"], wanted["demangled"], "7", "random:3", "reverse"]
            case("settings are in " + form, not [part for part in parts if part not in shown], shown[:600])
            plain = html.unescape(run("--format=" + form, "--no-demangle"))
            case("--no-demangle in " + form, mangled in plain and wanted["demangled"] not in plain)
        timeline = os.path.join(folder, "t.json")
        heddle("replay", "--technique=bow", *[o for o in given if "sample" not in o], "--timeline=" + timeline, path)
        with open(timeline, encoding="utf-8") as file:
            other = json.load(file)["otherData"]
        case("settings are in the timeline", other["memory_base"] == wanted["memory_base"] and other["settings"] == wanted["settings"] and other["sms"] == "2", str(other))


def with_memo():
    """The models that have hooks for it; others do the same either way."""
    found = set()
    for path in glob.glob(os.path.join(TOP, "hwmodel", "rf", "models", "*.c")):
        with open(path, encoding="utf-8") as file:
            found |= {ops.split()[0] for ops in file.read().split("\nconst hd_rf_ops ")[1:] if ".memo = &" in ops.split("\n};")[0]}
    return [row[0] for row in relations.rows("hwmodel/rf/models/models.def", "HD_RF_MODEL") if found & set(row)]


def memoization():
    """Each counter of each model is the same where nothing is looked up: on every example for every third model, in turn; FULL=1: all."""
    wrong, models = [], with_memo()
    case("models have a memo", {"baseline", "bow-iw3", "corf", "ltrf", "release"} <= set(models), str(models))
    step = 1 if os.environ.get("FULL") == "1" else 3
    for k, path in enumerate(sorted(glob.glob(os.path.join(TOP, "examples", "*", "*.yaml")))):
        if toolkit.is_slow(os.path.dirname(HEDDLE)) and k % 4:
            continue
        chosen = ",".join(models[(k + k // 4) % step::step])
        looked_up, walked = (heddle("replay", "--technique=" + chosen, "--format=csv", *option, path) for option in ([], ["--no-memo"]))
        if looked_up != walked or looked_up[0]:
            wrong.append(os.path.basename(path))
    case("numbers are the same without memoization", not wrong, ", ".join(wrong))


def flags():
    """Without a flag cache each flag word is decoded, without renaming none is met; a larger cache never decodes more."""
    _, report, _ = replay_json("--technique=release(cache=1),release-nocache,release-static,release()", launch_file("reduction"))
    for kernel in report["kernels"]:
        r = {x["model"]: x for x in kernel["results"]}
        words, without = r["release-nocache"]["flag_words"], r["release-static"]
        case("flag words of " + kernel["name"], words > 0 and r["release-nocache"]["flag_words_decoded"] == words and
             r["release"]["flag_words_decoded"] <= r["release(cache=1)"]["flag_words_decoded"] <= words and
             without["flag_words"] == without["registers_released"] == 0 and without["registers_touched"] == without["registers_static"] > 0, str(r)[:400])


def storage():
    """BOW's 36 KB and 12 KB, on its paper's machine: 32 collectors that grow from 3 to 12 and to 6 entries of 1024 bits, and tags."""
    models = {"bow-iw3": (12, 8 + 2 + 32), "bow-wr-iw3": (12, 8 + 2 + 64), "bow-wr-iw3-half": (6, 8 + 2 + 64 + 3 + 32), "bow-iw3-half": (6, 8 + 2 + 32 + 3)}
    _, report, _ = replay_json("--technique=" + ",".join(models) + ",bow-wb-iw3", launch_file("vectorAdd"))
    bits = {r["model"]: r["storage_bits"] for r in report["kernels"][0]["results"]}
    wanted = {name: 32 * ((entries - 3) * 1024 + entries * tag) for name, (entries, tag) in models.items()}
    case("storage of bypass windows", {name: bits[name] for name in models} == wanted and 32 * 9 * 1024 == 36 * 1024 * 8 and
         32 * 3 * 1024 == 12 * 1024 * 8, str(bits))
