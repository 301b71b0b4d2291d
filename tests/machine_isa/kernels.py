"""Small kernels around single PTX statements, with inputs that every thread has of its own.

A statement's names say what they are: p predicates, h 16, x 32, y 64 bits, f .f32, d .f64. Every register that a statement
names is loaded from the buffer IN before it and stored to OUT after it. ga and gb are the addresses of the thread's 64 bytes
and of 64 bytes of all threads in global memory, sa and sb the same in shared memory, la that of a local array, ge and se
generic addresses of ga and sa.

A variant says where the sources come from: r all from registers, u all from kernel parameters (so that ptxas may use the
uniform datapath and constant banks), cN and iN the N-th one from a parameter or as an immediate, the others from registers."""
import itertools
import random
import re
import struct

THREADS = 64
SLOTS = 64  # values of 8 bytes of a thread
BYTES = 64  # of a thread's memory
TYPES = {"p": "pred", "h": "b16", "x": "b32", "y": "b64", "f": "f32", "d": "f64"}
REGISTER = re.compile(r"\b([phxyfd])(\d+)\b")
PLACES = ("ga", "gb", "sa", "sb", "la", "ge", "se")


def expand(line):
    """a.{b,c}.d -> a.b.d, a.c.d; a choice has no blanks, as operands in braces have."""
    parts = re.split(r"(?:(?<=[.\w%])|^)(\{[^{} ]*\})", line)
    choices = [part[1:-1].split(",") if part.startswith("{") and i % 2 else [part] for i, part in enumerate(parts)]
    return [re.sub(r"\.(?=[. ])", "", "".join(chosen)) for chosen in itertools.product(*choices)]


def read_forms(path):
    """(statement, lowest architecture): a line may begin with it."""
    with open(path, encoding="utf-8") as file:
        for line in file:
            line = line.split("#")[0].strip()
            if line:
                least = re.match(r"(\d+):\s*", line)
                for statement in expand(line[least.end():] if least else line):
                    yield statement, int(least.group(1)) if least else 0


def operands_of(statement):
    """Of the last instruction, split at commas outside of brackets and braces."""
    text = re.sub(r"^(@!?\w+ )?\S+\s*", "", statement.rstrip(";").split(";")[-1].strip())
    parts, depth, last = [], 0, ""
    for letter in text:
        depth += letter in "[{"
        depth -= letter in "]}"
        if letter == "," and not depth:
            parts.append(last)
            last = ""
        else:
            last += letter
    return parts + [last]


def sources_of(statement):
    """The registers that a variant may take from elsewhere: named in one operand that is not the first, and read only."""
    parts = operands_of(statement)
    written = {m.group() for m in REGISTER.finditer(parts[0])}
    names = [m.group() for part in parts[1:] for m in REGISTER.finditer(part)]
    return [name for name in dict.fromkeys(names) if name not in written and name[0] != "p" and ";" not in statement]


def variants_of(statement):
    sources = [] if ".aligned" in statement else sources_of(statement)
    yield "r"
    if sources and not any(re.search(r"\b%s\b" % place, statement) for place in PLACES):
        yield "u"
    for i in range(len(sources)):
        yield "c%d" % i
    for i, name in enumerate(sources):
        if name[0] in "xyfdh":
            yield "i%d" % i


def float_bits(value, form):
    size = {"e": "H", "f": "I", "d": "Q"}[form]
    return struct.unpack("<" + size, struct.pack("<" + form, value))[0]


HALVES = (0, 0x8000, 1, 0x3c00, 0xbc00, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e00, 0x3555, 0x83ff)
SINGLES = (0, 0x80000000, 1, 0x807fffff, 0x00800000, 0x3f800000, 0xbf800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0x4f000000)
DOUBLES = (0, 1 << 63, 1, 0x0010000000000000, 0x3ff0000000000000, 0x7fefffffffffffff, 0x7ff0000000000000, 0xfff0000000000000,
           0x7ff8000000000000, 0x41e0000000000000)


def value_of(letter, source):
    kind = source.randrange(8)
    if letter == "h":
        return source.choice(HALVES) if kind < 2 else float_bits(source.uniform(-4, 4), "e") if kind < 6 else source.getrandbits(16)
    if letter == "f":
        return source.choice(SINGLES) if kind < 2 else source.getrandbits(32) if kind < 3 else float_bits(source.uniform(-8, 8), "f")
    if letter == "d":
        return source.choice(DOUBLES) if kind < 2 else source.getrandbits(64) if kind < 3 else float_bits(source.uniform(-8, 8), "d")
    half = value_of("h", source) | value_of("h", source) << 16
    word = (source.randrange(40), half, half, source.getrandbits(32), source.getrandbits(32), (-source.randrange(1, 40)) & 0xffffffff,
            value_of("f", source), source.choice((0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x7f80)))[kind]
    high = source.choice((0, 0, 0xffffffff, source.getrandbits(32), source.getrandbits(32)))
    return word | (high << 32 if letter == "y" else 0)


def immediate(name, source):
    while True:
        value = value_of(name[0], source)
        if name[0] == "f":
            return "0f%08X" % value
        if name[0] == "d":
            return "0d%016X" % (value & ~0xffffffff)
        return "0x%x" % value


class Kernel:
    def __init__(self, name, statement, variant, seed):
        self.name, self.statement, self.variant = name, statement, variant
        self.random = random.Random("%s %s %s" % (seed, statement, variant))
        self.names = list(dict.fromkeys(m.group() for m in REGISTER.finditer(statement)))
        self.places = [place for place in PLACES if re.search(r"\b%s\b" % place, statement)]
        sources = sources_of(statement)
        chosen = sources if variant == "u" else [sources[int(variant[1:])]] if len(variant) > 1 else []
        self.from_parameters = [] if variant[0] == "i" else chosen
        self.immediates = chosen if variant[0] == "i" else []
        self.parameters = [value_of(name[0], self.random) for name in self.from_parameters]

    def inputs(self):
        """By slot and thread."""
        words = [0] * (SLOTS * THREADS)
        for slot, name in enumerate(self.names):
            for thread in range(THREADS):
                words[slot * THREADS + thread] = value_of(name[0], self.random) if name[0] != "p" else self.random.getrandbits(1)
        return words

    def memory(self):
        return b"".join(struct.pack("<Q", value_of(self.random.choice("xyfd"), self.random)) for _ in range(THREADS * 2 * BYTES // 8))

    def load(self, slot, name):
        kind = TYPES[name[0]]
        if name in self.immediates:
            return ["mov.%s %s, %s;" % (kind, name, immediate(name, self.random))]
        if name in self.from_parameters:
            return ["ld.param.%s %s, [value%d];" % (kind, name, self.from_parameters.index(name))]
        at = "[in+%d]" % (slot * THREADS * 8)
        if name[0] == "p":
            return ["ld.global.b32 word, %s;" % at, "setp.ne.b32 %s, word, 0;" % name]
        return ["ld.global.%s %s, %s;" % (kind, name, at)]

    def store(self, slot, name):
        at = "[out+%d]" % (slot * THREADS * 8)
        if name[0] == "p":
            return ["selp.b32 word, 1, 0, %s;" % name, "st.global.b32 %s, word;" % at]
        return ["st.global.%s %s, %s;" % (TYPES[name[0]], at, name)]

    def moves_of_shared(self, to_shared):
        """The thread's bytes of memory to shared memory, or back; thread 0 also moves those of all."""
        lines = []
        for at in range(0, BYTES, 8):
            pair = ("ld.global.b64 wide, [ga+%d];" % at, "st.shared.b64 [sa+%d], wide;" % at)
            both = ("ld.global.b64 wide, [gb+%d];" % at, "@first st.shared.b64 [sb+%d], wide;" % at)
            if not to_shared:
                pair = ("ld.shared.b64 wide, [sa+%d];" % at, "st.global.b64 [ga+%d], wide;" % at)
                both = ("ld.shared.b64 wide, [sb+%d];" % at, "@first st.global.b64 [gb+%d], wide;" % at)
            lines += pair + (both if "sb" in self.places else ())
        return lines

    def text(self):
        declared = "".join(", .param .%s value%d" % (TYPES[name[0]], i) for i, name in enumerate(self.from_parameters))
        lines = [".visible .entry %s(.param .u64 pin, .param .u64 pout, .param .u64 pmem%s)" % (self.name, declared), "{"]
        lines += [".reg .%s %s;" % (TYPES[name[0]], name) for name in self.names]
        lines += [".reg .b64 in, out, ga, gb, ge, se, wide;", ".reg .b32 word, sa, sb, la, lane, tid;", ".reg .pred first;"]
        shared = any(place in self.places for place in ("sa", "sb", "se"))
        if shared:
            lines.append(".shared .align 128 .b8 area[%d];" % (BYTES * (THREADS + 1)))
        if "la" in self.places:
            lines.append(".local .align 16 .b8 local[%d];" % BYTES)
        lines += ["mov.u32 tid, %tid.x;", "setp.eq.u32 first, tid, 0;", "and.b32 lane, tid, 31;"]
        for name in ("in", "out"):
            lines += ["ld.param.u64 %s, [p%s];" % (name, name), "mad.wide.u32 %s, tid, 8, %s;" % (name, name)]
        lines += ["ld.param.u64 gb, [pmem];", "mad.wide.u32 ga, tid, %d, gb;" % BYTES, "add.u64 ga, ga, %d;" % BYTES, "mov.u64 ge, ga;"]
        if shared:
            lines += ["mov.u32 sb, area;", "mad.lo.u32 sa, tid, %d, sb;" % BYTES, "add.u32 sa, sa, %d;" % BYTES, "cvt.u64.u32 se, sa;",
                      "cvta.shared.u64 se, se;"] + self.moves_of_shared(True) + ["bar.sync 0;"]
        if "la" in self.places:
            lines.append("mov.u32 la, local;")
            for at in range(0, BYTES, 8):
                lines += ["ld.global.b64 wide, [ga+%d];" % at, "st.local.b64 [la+%d], wide;" % at]
        for slot, name in enumerate(self.names):
            lines += self.load(slot, name)
        lines.append(self.statement.rstrip(";") + ";")
        for slot, name in enumerate(self.names):
            lines += self.store(slot, name)
        if shared:
            lines += ["bar.sync 0;"] + self.moves_of_shared(False)
        if "la" in self.places:
            for at in range(0, BYTES, 8):
                lines += ["ld.local.b64 wide, [la+%d];" % at, "st.global.b64 [ga+%d], wide;" % at]
        return "\n".join(lines + ["ret;", "}"])


def module(kernels, arch, version="9.0"):
    return ".version %s\n.target sm_%s\n.address_size 64\n%s\n" % (version, arch, "\n".join(kernel.text() for kernel in kernels))


def launch_file(path_of_module, kernels, folder, tag):
    """Each kernel with buffers of its own; their files in the folder."""
    lines, launches = ["module: " + path_of_module, "buffers:"], ["launches:"]
    for k in kernels:
        for kind in ("in", "mem"):
            lines.append("  %s_%s: {type: b64, count: %d, fill: {file: %s/%s.%s}, save: %s/%s.%s.%s}" %
                         (k.name, kind, SLOTS * THREADS if kind == "in" else THREADS * 2 * BYTES // 8, folder, k.name, kind, folder, k.name, tag, kind))
        lines.append("  %s_out: {type: b64, count: %d, save: %s/%s.%s.out}" % (k.name, SLOTS * THREADS, folder, k.name, tag))
        parameters = "".join(", {%s: 0x%x}" % ({"h": "b16", "x": "b32", "f": "b32", "y": "b64", "d": "b64"}[name[0]], value)
                             for name, value in zip(k.from_parameters, k.parameters))
        launches.append("  - {kernel: %s, grid: 1, block: %d, params: [%s_in, %s_out, %s_mem%s]}" % (k.name, THREADS, k.name, k.name, k.name, parameters))
    return "\n".join(lines + launches) + "\n"
