"""Running heddle over the examples, and means over them. A replay is a sweep, done once for the rows that share its setting. Each replay and each set of rewrites is a setting with a letter, which the page lists."""
import functools
import glob
import hashlib
import json
import os
import re
import shutil
import sqlite3
import subprocess
from concurrent.futures import ThreadPoolExecutor

TOP = os.environ.get("TOP", os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))))
BUILD = os.environ.get("BUILD", os.path.join(TOP, "build"))
HEDDLE = os.environ.get("HEDDLE", os.path.join(BUILD, "heddle"))
WORK = os.path.join(BUILD, "bench", "papers")
SOURCES = {os.path.basename(os.path.dirname(f)): f for f in sorted(glob.glob(os.path.join(TOP, "examples", "*", "*.yaml")))}
MODULES = {name: os.path.join(TOP, "examples", name, name + ".ptx") for name in SOURCES}
ADDRESSES = "--set=address_bits=32"  # as the papers have them that use PTXPlus
SETTINGS = []


class Examples(dict):
    """By example, what was measured; and the letter of the setting."""
    setting = ""


def setting(text):
    """The letter of a setting, which is the same for the same text."""
    if text not in SETTINGS:
        SETTINGS.append(text)
    at = SETTINGS.index(text)
    return ("" if at < 26 else chr(ord("A") + at // 26 - 1)) + chr(ord("A") + at % 26)


def heddle(*words):
    return subprocess.run([HEDDLE] + list(words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def each(work, names=None):
    """By example, what `work` gives for it; two at a time."""
    names = list(SOURCES if names is None else names)
    with ThreadPoolExecutor(2) as pool:
        return dict(zip(names, pool.map(work, names)))


# ---- replay -----------------------------------------------------------------------------------------------------------

EXTREMES = {"interval_shortest": "MIN", "optimal_shortest": "MIN", "interval_longest": "MAX", "optimal_longest": "MAX", "pool_sections": "MAX",
            "resident_warps": "MAX", "resident_warps_without": "MAX"}
# Beside the sums of all columns; the second where there are cycles.
COUNTED = ("MIN(general_registers) AS fewest_registers, SUM(allocated_registers_peak) AS peak, MAX(COALESCE(allocated_registers_peak, 0)) AS most,"
           " SUM(warp_instructions) AS issued, SUM(physical_access_variation * (rf_reads + rf_writes)) AS variation_of_launches,"
           " MAX(global_loads_skipped * 1.0 / MAX(global_loads, 1)) AS skipped_most")
TIMED = ", SUM(occupancy_fraction * cycles) AS occupied, SUM(cycles IS NULL) AS without_cycles"


def axes_of(options):
    """Options of heddle replay as axes of a sweep, where each has one value."""
    axes = {}
    for option in options:
        name, _, value = option[2:].partition("=")
        if name == "set":
            axes.setdefault(name, {}).update([value.split("=", 1)])
        else:
            axes[name] = value or "true"
    return axes


@functools.lru_cache(None)
def swept(options, files):
    """The database of a sweep over these files. Its points stay where they are, and run again where heddle or their files are others."""
    text = json.dumps({"axes": {"input": files, **axes_of(options)}})
    folder = os.path.join(BUILD, "bench", "sweeps", hashlib.sha256(text.encode()).hexdigest()[:16])
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, "sweep.yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    heddle("sweep", "-j2", "-o", folder, path)
    base = sqlite3.connect(os.path.join(folder, "results.sqlite"))
    base.row_factory = sqlite3.Row
    return base


def launches(options, file):
    """By launch and model, the columns of the results of one file."""
    found = {}
    for row in swept(tuple(options), (file,)).execute("SELECT * FROM results ORDER BY line"):
        found.setdefault(row["launch"], {})[row["model"]] = dict(row)
    return found


def added_up(options, files, kernels=(), where="TRUE"):
    """By example and model: each column of the results of all launches, added up. kernels: (example, its kernels), of those alone.
    Without models that have no cycles for a launch, where cycles are asked for."""
    base, examples = swept(tuple(options), tuple(files)), Examples()
    columns = [row["name"] for row in base.execute("PRAGMA table_info(results)")]
    sums = ["COALESCE(%s(NULLIF(%s, 0)), 0) AS %s" % (EXTREMES[c], c, c) if c in EXTREMES else "SUM(%s) AS %s" % (c, c) for c in columns if c not in ("file", "model")]
    chosen = "".join(" AND (file NOT LIKE '%%/%s/%%' OR kernel IN (%s))" % (name, ", ".join("'%s'" % k for k in of_it)) for name, of_it in kernels)
    for row in base.execute("SELECT file, model, %s, %s%s FROM results WHERE %s%s GROUP BY file, model ORDER BY MIN(point), MIN(line)" % (
            ", ".join(sums), COUNTED, TIMED if "cycles" in columns else "", where, chosen)):
        models = examples.setdefault(os.path.basename(os.path.dirname(row["file"])), {})
        if "cycles" not in columns or not row["without_cycles"]:
            models[row["model"]] = {key: row[key] for key in row.keys() if row[key] is not None}
    return examples


def accesses(total):
    return total["rf_reads"] + total["rf_writes"]


def variation(t):
    """The coefficient of variation of the accesses of physical registers."""
    return max(0, t["physical_registers"] * t["physical_access_squares"] / accesses(t) ** 2 - 1) ** 0.5 if accesses(t) else 0


FUSED = "examples compiled without -fmad=false"  # whose outputs are rounded otherwise than launch files expect


@functools.lru_cache(None)
def replay_files(technique, options, files, on):
    words = ("--models", "--technique=" + technique, *options)
    examples = added_up(words, files, where="not_applied IS NULL")
    wrong = swept(words, files).execute("SELECT DISTINCT file FROM results WHERE verified = 0" + (" AND failed_check <> 'outputs'" if on.startswith(FUSED) else ""))
    unproved = sorted({os.path.basename(os.path.dirname(row["file"])) for row in wrong})
    examples.setting = setting("`heddle replay --models --technique='%s'%s`, %s%s" % (
        technique, "".join(" " + o for o in options), on, ("; not proved: " + ", ".join(unproved)) if unproved else ""))
    return examples


def replay(technique, *options, files=None, on="the examples"):
    """By example and model: counters of all its launches, added up. `on` says what `files` are."""
    count = "" if files is None else " (%d)" % len(files)
    return replay_files(technique, options, tuple((SOURCES if files is None else files).values()), on + count)


def copies(label, names):
    """Launch files of copies of the examples without their modules."""
    folder = os.path.join(WORK, label)
    shutil.rmtree(folder, ignore_errors=True)
    for name in names:
        home, at = os.path.dirname(SOURCES[name]), os.path.join(folder, name)
        os.makedirs(at)
        for path in os.listdir(home):
            if path != name + ".ptx":
                os.symlink(os.path.join(os.path.realpath(home), path), os.path.join(at, path))
    return {name: os.path.join(folder, name, name + ".yaml") for name in names}


def changed(passes, edit=None, options=()):
    """Launch files of copies whose modules went through the passes, and through `edit` as text; what does not take them is left out."""
    files = copies(re.sub(r"\W+", "_", passes + (edit.__name__ if edit else "")), SOURCES)

    def change(name):
        module = os.path.join(os.path.dirname(files[name]), name + ".ptx")
        done = heddle("rewrite", "--no-section", "-p", passes, *options, "-o", module, MODULES[name])
        if not done.returncode and edit:
            with open(module, encoding="utf-8") as file:
                text = edit(file.read())
            with open(module, "w", encoding="utf-8") as file:
                file.write(text)
        return not done.returncode

    taken = each(change)
    return {name: path for name, path in files.items() if taken[name]}


@functools.lru_cache(None)
def fused():
    """Copies of the examples as nvcc makes them without -fmad=false; none without nvcc. Their outputs differ by roundings."""
    files = copies("fused", SOURCES) if nvcc() else {}

    def compile_one(name):
        words = [nvcc(), "-O3", "-arch=sm_80", "--ptx", "-o", os.path.join(os.path.dirname(files[name]), name + ".ptx"),
                 os.path.join(os.path.dirname(SOURCES[name]), name + ".cu")]
        return subprocess.run(words, stderr=subprocess.DEVNULL, check=False).returncode

    failed = each(compile_one, files)
    return {name: path for name, path in files.items() if not failed[name]}


def launch_file(label, module, buffers, launches):
    """Writes a launch file. buffers: by name, what stands after its colon; launches: (kernel, grid, block, parameters), or lines as they are."""
    folder = os.path.join(WORK, "inputs")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, label + ".yaml")
    with open(path, "w", encoding="utf-8") as file:
        file.write("module: %s\nbuffers:\n%slaunches:\n%s" % (os.path.realpath(module), "".join("  %s: {%s}\n" % b for b in buffers.items()), "".join(
            launch if isinstance(launch, str) else "  - {kernel: %s, grid: %s, block: %s, params: [%s]}\n" % launch for launch in launches)))
    return path


def nvcc():
    """Its path; None: there is none."""
    homes = [os.path.join(h, "bin", "nvcc") for h in (os.environ.get("CUDA_HOME"), "/usr/local/cuda") if h]
    return next((p for p in homes if os.access(p, os.X_OK)), shutil.which("nvcc"))


@functools.lru_cache(None)
def compiled(name, label, old, new):
    """The module of an example in whose source `new` stands for `old`; None without nvcc."""
    with open(os.path.join(TOP, "examples", name, name + ".cu"), encoding="utf-8") as file:
        text = file.read()
    if not nvcc() or old not in text:
        return None
    folder = os.path.join(WORK, "compiled")
    os.makedirs(folder, exist_ok=True)
    source, module = (os.path.join(folder, label + ending) for ending in (".cu", ".ptx"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(text.replace(old, new))
    done = subprocess.run([nvcc(), "-O3", "-fmad=false", "-arch=sm_80", "--ptx", "-o", module, source], stderr=subprocess.DEVNULL, check=False)
    return module if not done.returncode else None


def edited(module, label, edit):
    """The module after the passes of `clean` and `edit`, which changes its text."""
    folder = os.path.join(WORK, "edited")
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, label + ".ptx")
    with open(path, "w", encoding="utf-8") as file:
        file.write(edit(heddle("rewrite", "--no-section", "-p", "select", module).stdout.decode()))
    return path


# ---- what the passes say -----------------------------------------------------------------------------------------------

@functools.lru_cache(None)
def statistics(passes, name, *options):
    """What passes count, added up over the functions of an example: {"pass - what": number}."""
    done = heddle("rewrite", "--no-section", "-p", passes, "--stats", *options, "-o", os.devnull, MODULES.get(name, name))
    return {text: int(n) for n, text in re.findall(r"^\s*(\d+)\s+(\S+ - .*)$", done.stderr.decode(), re.M)}


@functools.lru_cache(None)
def annotated(passes):
    """By example, its text after the passes."""
    return each(lambda name: heddle("rewrite", "--no-section", "-p", passes, MODULES[name]).stdout.decode())


@functools.lru_cache(None)
def all_passes(gpu):
    """By technique and example: metadata words, their share of the code, instructions, and what the pass counts."""
    found = {}

    def run(name):
        return heddle("rewrite", "-p", "all", "--gpu=" + gpu, MODULES[name]).stdout.decode().splitlines()[3:]

    for name, lines in each(run).items():
        technique = None
        for line in lines:
            cells = line.split()
            if not line.startswith(" ") and len(cells) >= 6:
                technique = found.setdefault(cells[0], {}).setdefault(name, {})
                technique.update({"instructions": int(cells[1]), "words": int(cells[3]), "growth": float(cells[4])})
            elif line.startswith(" ") and technique is not None:
                technique[line.strip().split(" ", 1)[1].strip()] = int(cells[0])
    return found


def growth(technique, gpu="fermi-gtx480"):
    """Metadata words in percent of the code, the mean over examples."""
    return average(found["growth"] for found in all_passes(gpu)[technique].values())


# ---- means over the examples -------------------------------------------------------------------------------------------

def average(numbers):
    numbers = list(numbers)
    return sum(numbers) / len(numbers) if numbers else float("nan")


def values(examples, figure, names=None):
    found = {}
    for name, models in examples.items():
        if names is not None and name not in names:
            continue
        try:
            found[name] = figure(models)
        except (KeyError, ZeroDivisionError):
            pass
    return found


def mean(examples, figure, names=None):
    return average(values(examples, figure, names).values())


def percent(examples, figure, names=None):
    return 100 * mean(examples, figure, names)


def median(examples, figure, names=None):
    found = sorted(values(examples, figure, names).values())
    return found[len(found) // 2] if found else float("nan")


def share(model, part, *whole):
    return lambda e: e[model][part] / sum(e[model][w] for w in whole)


def change(model, count, beside="baseline"):
    """Of a count, the change against another model: -0.1 is a tenth less."""
    return lambda e: count(e[model]) / count(e[beside]) - 1


def energy(total):
    return total["energy_pj"]
