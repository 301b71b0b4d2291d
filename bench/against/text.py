"""What is counted in the text of nvcc's PTX, and changes of it."""
import functools
import json
import re

from against import measure


@functools.lru_cache(None)
def functions():
    """Of nvcc's PTX, all functions that have instructions."""
    dumps = measure.each(lambda name: json.loads(measure.heddle("dump", "--ir", "--json", measure.MODULES[name]).stdout)["functions"])
    return [f for of_one in dumps.values() for f in of_one if f["instructions"]]


def reads_in_window(window):
    """Percent of register reads whose register one of the window - 1 instructions before accesses, mean over functions."""
    shares = []
    for function in functions():
        wide = [not r["type"] == "pred" for r in function["registers"]]
        last, near, reads = {}, 0, 0
        for at, instruction in enumerate(function["instructions"]):
            sources = {r for r in instruction["reads"] if wide[r]}
            near += sum(at - last.get(r, -window) < window for r in sources)
            reads += len(sources)
            last.update({r: at for r in sources | set(instruction["writes"])})
        if reads:
            shares.append(100 * near / reads)
    return measure.average(shares)


def several_sources(words):
    """Percent of instructions with several sources, a 64-bit one counted as two (`words`) or as one."""
    flags = [sum(f["registers"][r]["type"] != "pred" and (1 + (words and f["registers"][r]["type"].endswith("64"))) for r in set(i["reads"])) > 1
             for f in functions() for i in f["instructions"]]
    return 100 * sum(flags) / len(flags)


TEXT_LINE = re.compile(r"^\s*(@!?%\w+\s+)?([a-z][\w.:]*)\s+(.*);\s*$")
UNMOVED = re.compile(r"^(st|red|atom|bar|barrier|call|bra|brx|ret|exit|trap|membar|fence|ld\.volatile|ld\.relaxed|ld\.acquire|cp|shfl|vote|activemask|match|redux|"
                   r"mma|wmma|ldmatrix|tex|suld|sust|surf|prefetch|nanosleep|mbarrier|discard|applypriority|createpolicy|isspacep|griddepcontrol|\W)")


def spread_block(lines):
    """Each next one is what has waited longest for its operands: so readers are as far from writers as the block lets them."""
    parsed = []
    for line in lines:
        guard, _, operands = TEXT_LINE.match(line).groups()
        target = re.match(r"\{[^}]*\}|[^,]*", operands).group()
        writes = set(re.findall(r"%\w+", target))
        parsed.append((writes, set(re.findall(r"%\w+", operands[len(target):] + (guard or ""))) | (writes if guard else set())))
    before = [{b for b in range(a) if parsed[b][0] & (parsed[a][0] | parsed[a][1]) or parsed[b][1] & parsed[a][0]} for a in range(len(lines))]
    feeds = [{b for b in before[a] if parsed[b][0] & parsed[a][1]} for a in range(len(lines))]
    at, order = {}, []
    while len(order) < len(lines):
        ready = [a for a in range(len(lines)) if a not in at and before[a] <= at.keys()]
        chosen = min(ready, key=lambda a: (max((at[b] for b in feeds[a]), default=-1), a))
        at[chosen] = len(order)
        order.append(lines[chosen])
    return order


def spread(text):
    """The text with its instructions reordered between what is not moved: stores, barriers, branches, calls, what warps do together."""
    out, block = [], []
    for line in text.split("\n") + [""]:
        match = TEXT_LINE.match(line)
        if match and not UNMOVED.match(match.group(2)) and "{" not in line.replace(match.group(3), "") and ".reg" not in line:
            block.append(line)
            continue
        out += spread_block(block) + [line]
        block = []
    return "\n".join(out[:-1])


def halves_apart(text):
    """Without the pairs of an even register and the next one: the halves of 64-bit values, and what else lies so."""
    def keep(match):
        numbers = [int(n) for n in match.group(1).split(",")]
        pairs = [p for p in zip(numbers[::2], numbers[1::2]) if p[0] // 2 != p[1] // 2]
        return "corf_pairs (%s)" % ",".join("%d,%d" % p for p in pairs) if pairs else "corf_pairs ()"
    return re.sub(r"corf_pairs \(([\d,]*)\)", keep, text)
