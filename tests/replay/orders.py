"""What a real GPU does not guarantee, and what a study repeats over: the order of thread blocks, that of buffers, and the data of random
fills."""
import json
import math
import os
import struct

import toolkit
from program import HEDDLE, case, heddle, launch_file

WORD = (1 << 64) - 1
BLOCKS, WARPS = 37, 2
ORDERS = ("linear", "reverse", "random", "random:1", "random:4294967295")
# Each block takes a ticket, and leaves it where its index is: the order in which blocks started.
TICKET = """.version 7.5
.target sm_75
.address_size 64
.visible .entry k(.param .u64 counter, .param .u64 out)
{
.reg .b32 %r<8>;
.reg .b64 %rd<8>;
.reg .pred %p<2>;
ld.param.u64 %rd1, [counter];
ld.param.u64 %rd2, [out];
mov.u32 %r1, %tid.x;
setp.ne.u32 %p1, %r1, 0;
@%p1 bra END;
atom.global.add.u32 %r2, [%rd1], 1;
mov.u32 %r3, %ctaid.x;
mul.wide.u32 %rd3, %r3, 4;
add.u64 %rd4, %rd2, %rd3;
st.global.u32 [%rd4], %r2;
END:
ret;
}
"""
LAUNCH = """module: k.ptx
buffers:
  counter: {type: u32, count: 1}
  out: {type: u32, count: %d, save: {file: out.bin}}
  U: {type: f64, count: 5, fill: {uniform: [-2, 3], seed: 9}, save: {file: u.bin}}
  N: {type: f64, count: 5, fill: {normal: [1, 2]}, save: {file: n.bin}}
  at: {type: u64, values: [{buffer: counter}, {buffer: out}, {buffer: U}, {buffer: N}], save: {file: at.bin}}
launches:
  - {kernel: k, grid: %d, block: %d, %sparams: [counter, out]}
"""
LAUNCH = LAUNCH.replace("values: [{buffer", "fill: {values: [{buffer").replace("{buffer: N}], save", "{buffer: N}]}, save")


def saved(folder, name, form):
    with open(os.path.join(folder, name), "rb") as file:
        data = file.read()
    return struct.unpack("<%d%s" % (len(data) // struct.calcsize(form), form), data)


def files(folder, more=""):
    for name, text in (("k.ptx", TICKET), ("k.yaml", LAUNCH % (BLOCKS, BLOCKS, 32 * WARPS, more))):
        with open(os.path.join(folder, name), "w", encoding="ascii") as file:
            file.write(text)
    return os.path.join(folder, "k.yaml")


def tickets(folder, path, *options):
    """By ticket, the block that took it; None where the replay fails."""
    status, _, said = heddle("replay", "--save", "--gpu=ampere-a100", *options, path)
    if status:
        return said
    found = saved(folder, "out.bin", "I")
    return [found.index(t) for t in range(BLOCKS)] if sorted(found) == list(range(BLOCKS)) else str(found)


def blocks(folder):
    """Each block runs once, in the order that was asked for, whoever looks on, whatever runs, and on however many threads."""
    path, orders = files(folder), {}
    for order in ORDERS:
        option = "--block-order=" + order
        orders[order] = tickets(folder, path, option, "--technique=none", "-j1")
        ways = {"two threads": ("--technique=none", "-j2"), "techniques": ("--technique=all",), "cycles": ("--technique=bow", "--time", "--sms=2"),
                "machine code": ("--technique=bow", "--code=machine")}
        for way, words in ways.items():
            other = tickets(folder, path, option, *words)
            if way == "machine code" and "missing-tool" in str(other):
                print("skip replay block order of machine code: there is no ptxas")
            else:
                case("block order %s: %s" % (order, way), isinstance(other, list) and other == orders[order], str(other)[:300])
    case("blocks in order", orders["linear"] == list(range(BLOCKS)) and orders["reverse"] == list(range(BLOCKS))[::-1], str(orders["reverse"])[:200])
    mixed = [orders[o] for o in ORDERS[2:]]
    case("blocks at random", all(o not in (orders["linear"], orders["reverse"]) for o in mixed) and len({tuple(o) for o in mixed}) == len(mixed), str(mixed)[:300])
    text = read_text(path)
    for order in ORDERS:
        write_text(path, "block_order: %s\n%s" % (order, text))
        case("the file's own block order %s" % order, tickets(folder, path, "--technique=none") == orders[order])
        case("an option in place of the file's block order %s" % order, tickets(folder, path, "--technique=none", "--block-order=reverse") == orders["reverse"])
    path = files(folder, "cooperative: true, ")
    turns = [tickets(folder, path, "--block-order=" + order, "--technique=none") for order in ORDERS]
    case("blocks of a cooperative grid", turns == [orders[o] for o in ORDERS], str(turns)[:300])


def buffers(folder):
    """Buffers that have no address of their own lie one after the other in the order that was asked for."""
    path, found = files(folder), {}
    for order in ORDERS:
        heddle("replay", "--save", "--technique=none", "--buffer-order=" + order, path)
        at = saved(folder, "at.bin", "Q")
        found[order] = sorted(range(len(at)), key=lambda i: at[i])
    case("buffers in order", found["linear"] == [0, 1, 2, 3] and found["reverse"] == [3, 2, 1, 0], str(found))
    text = read_text(path)
    for order in ORDERS:
        write_text(path, "buffer_order: %s\n%s" % (order, text))
        replay = lambda *words: heddle("replay", "--save", "--technique=none", "--format=json", *words, path)
        _, report, said = replay()
        of_file = saved(folder, "at.bin", "Q")
        case("the file's own buffer order %s" % order, sorted(range(len(of_file)), key=lambda i: of_file[i]) == found[order]
             and json.loads(report or "{}").get("buffer_order") == order, said)
        replay("--buffer-order=linear")
        at = saved(folder, "at.bin", "Q")
        case("an option in place of the file's buffer order %s" % order, sorted(range(len(at)), key=lambda i: at[i]) == found["linear"])
    case("buffers at random", len({tuple(o) for o in found.values()}) >= 4 and all(sorted(o) == [0, 1, 2, 3] for o in found.values()), str(found))


def read_text(path):
    with open(path, encoding="ascii") as file:
        return file.read()


def write_text(path, text):
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def word(seed, i):
    """docs/launch-fills.md, once more."""
    z = (seed + (i + 1) * 0x9E3779B97F4A7C15) & WORD
    z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & WORD
    z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & WORD
    return z ^ (z >> 31)


def seeds(folder):
    path = files(folder)
    for seed in (None, 1, 4294967295):
        heddle("replay", "--save", "--technique=none", *(["--seed=%d" % seed] if seed else []), path)
        of = [word(s, seed) if seed else s for s in (9, 0)]
        uniform = [-2 + (word(of[0], i) >> 11) * 2.0 ** -53 * 5 for i in range(5)]
        normal = [1 + 2 * math.sqrt(-2 * math.log(((word(of[1], 2 * i) >> 11) + 1) * 2.0 ** -53)) * math.cos(2 * math.pi * ((word(of[1], 2 * i + 1) >> 11) * 2.0 ** -53))
                  for i in range(5)]
        case("random fills, seed %s" % seed, list(saved(folder, "u.bin", "d")) == uniform and all(abs(a - b) < 1e-12 for a, b in zip(saved(folder, "n.bin", "d"), normal)))
    text = read_text(path)
    drawn = {}
    for seed in (1, 3):
        heddle("replay", "--save", "--technique=none", "--seed=%d" % seed, path)
        drawn[seed] = saved(folder, "u.bin", "d")
    write_text(path, "seed: 3\n" + text)
    for words, wanted in (((), drawn[3]), (("--seed=1",), drawn[1])):
        _, report, said = heddle("replay", "--save", "--technique=none", "--format=json", *words, path)
        case("the file's own seed%s" % (" and an option" if words else ""), saved(folder, "u.bin", "d") == wanted and
             json.loads(report or "{}").get("seed") == (1 if words else 3), said)
    expecting = "seed: 3\n" + text.replace("count: %d, save" % BLOCKS, "count: %d, expect: {fill: {constant: 7}}, save" % BLOCKS)
    write_text(path, expecting)
    found = [heddle("replay", "--technique=none", *more, path)[0] for more in ([], ["--seed=1"])]
    case("expectations are of the file's own seed", found == [3, 0], str(found))
    for name, changed, as_written, seeded in (
            ("expectations are of the file's own data", text.replace("count: %d, save" % BLOCKS, "count: %d, expect: {fill: {constant: 7}}, save" % BLOCKS), 3, 0),
            ("without random fills they hold", text.replace("uniform: [-2, 3], seed: 9", "constant: 1").replace("normal: [1, 2]", "constant: 2").replace(
                "count: %d, save" % BLOCKS, "count: %d, expect: {fill: {constant: 7}}, save" % BLOCKS), 3, 3),
            ("that two buffers are equal holds", text.replace("fill: {normal: [1, 2]}", "expect: {buffer: U}"), 3, 3)):
        write_text(path, changed)
        found = [heddle("replay", "--technique=none", *more, path) for more in ([], ["--seed=3"])]
        case(name, [f[0] for f in found] == [as_written, seeded] and (seeded or "output not checked" in found[1][1]), str([f[2] for f in found])[:300])


# Models whose warps share registers, and what depends on who is resident together.
SHARING, RESIDENT = ("release", "gpu-shrink", "ltrf", "rfc"), ("allocated_registers",)


def counts(report):
    """By kernel and model, what is counted of single warps."""
    return [({key: value for key, value in kernel.items() if key not in ("results", "launch")},
             [{key: value for key, value in result.items() if key not in RESIDENT} for result in kernel["results"] if not result["model"].startswith(SHARING)])
            for kernel in json.loads(report)["kernels"]]


def figures(_):
    """Every order proves; counts of single warps depend on none, and no figure on where buffers lie."""
    names = ("reduction", "transpose", "bfs")
    for name in toolkit.drawn(names, 3, HEDDLE) if toolkit.is_slow(os.path.dirname(HEDDLE)) else names:
        replay = lambda *words: heddle("replay", "--models", "--format=json", "--technique=bow,demo,corf,ltrf,regmutex,release", *words, launch_file(name))
        plain = replay()
        for order in ("reverse", "random:1"):
            status, report, said = replay("--block-order=" + order)
            case("%s proves with blocks %s" % (name, order), status == 0, said[:300])
            case("%s counts the same of single warps with blocks %s" % (name, order), status == 0 and counts(report) == counts(plain[1]))
            status, report, said = replay("--buffer-order=" + order)
            case("%s is the same with buffers %s" % (name, order), status == 0 and json.loads(report)["kernels"] == json.loads(plain[1])["kernels"], said[:300])
