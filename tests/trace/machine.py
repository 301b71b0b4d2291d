"""A functional model of machine code (sm_90), written from scratch: executes the listing that nvdisasm writes of a kernel, counts the
general registers that the semantics read and write, and writes a trace as the tracer would. It shares no table with heddle;
opcodes.py has the instructions."""
import functools
import re

import opcodes
import rounding
import traces

WORD = 0xffffffff
SHARED, LOCAL = 0x7f1000000000, 0x7f0ffe000000  # the windows of Trace.header


# ---- listings ----------------------------------------------------------------------------------------------------------------------


class Operand:
    """kind: R, UR, P, B, imm (value: an integer or a number's text), c (value: an offset), mem (base, uniform, offset), label or name."""

    def __init__(self, text, labels):
        self.kind, self.value, self.base, self.uniform, self.offset = "name", text, None, None, 0
        self.negated, self.inverted, self.absolute, self.inverse = text[0] == "-", text[0] == "~", "|" in text, text[0] == "!"
        plain = re.sub(r"\.(reuse|64)\b", "", text.strip("-~!|"))
        register = re.fullmatch(r"(U?[RP]|B)(\d+|Z|T)( `.*)?", plain)  # the target of RET names a kernel, too
        if register:
            self.kind, self.value = register[1], None if register[2] in "ZT" else int(register[2])
        elif text.startswith("`("):
            self.kind, self.value = "label", labels.get(text[2:-1])
        elif re.match(r"c\[0x0\]\[0x\w+\]$", text):
            self.kind, self.value = "c", int(text[7:-1], 16)
        elif "[" in text:
            self.address(re.sub(r"^desc\[UR\d+\]", "", text))
        elif re.fullmatch(r"-?0x[0-9a-f]+", text):
            self.kind, self.value, self.negated = "imm", int(text, 16) & WORD, False
        elif re.fullmatch(r"[+-]?(INF|QNAN|[\d.]+(e[+-]?\d+)?)", text):
            self.kind, self.value, self.negated = "imm", text, False

    def address(self, text):
        self.kind = "mem"
        for part in text.strip("[]").split("+"):
            if re.match(r"U?R", part):
                register = re.match(r"(U?)R(\d+|Z)(\.64)?$", part)
                value = None if register[2] == "Z" else (int(register[2]), 2 if register[3] else 1)
                self.base, self.uniform = (self.base, value) if register[1] else (value, self.uniform)
            else:
                self.offset += int(part, 16)


class Statement:
    def __init__(self, pc, text, labels):
        guard, self.text = re.match(r"(?:@(!?)(U?P\w+) )?(.*)", text).groups()[:2], text
        self.pc, self.guard, self.unless = pc, guard[1] and Operand(guard[1], {}), bool(guard[0])
        self.opcode, self.dests, self.srcs = traces.listed(text)
        self.name, *self.mods = self.opcode.split(".")
        _, _, rest = re.sub(r"^@\S+ ", "", text).partition(" ")
        self.operands = [Operand(o, labels) for o in traces.operands_of(rest)]


def read_listing(text):
    """{kernel: {address: statement}}"""
    kernels = {}
    for section in re.split(r"^\t\.section\t", text, flags=re.M):
        name = re.match(r"\.text\.(\w+),", section)
        if not name:
            continue
        labels, rows, waiting = {}, [], []
        for line in section.split("\n"):
            label, row = re.match(r"(\S+):$", line), re.match(r"\s+/\*([0-9a-f]{4,})\*/\s+(\S.*?)\s*;", line)
            waiting += [label[1]] if label else []
            if row:
                labels.update({w: int(row[1], 16) for w in waiting})
                waiting = []
                rows.append((int(row[1], 16), row[2]))
        kernels[name[1]] = {pc: Statement(pc, statement, labels) for pc, statement in rows}
    return kernels


# ---- state -------------------------------------------------------------------------------------------------------------------------


class Memory:
    """Bytes from a first address on; an access outside is an error."""

    def __init__(self, first, data):
        self.first, self.data = first, bytearray(data)

    def load(self, address, width):
        at = address - self.first
        assert 0 <= at <= len(self.data) - width and address % width == 0, "load of 0x%x" % address
        return int.from_bytes(self.data[at:at + width], "little")

    def store(self, address, width, value):
        at = address - self.first
        assert 0 <= at <= len(self.data) - width and address % width == 0, "store to 0x%x" % address
        self.data[at:at + width] = value.to_bytes(width, "little")


class Group:
    """Lanes of a warp that go together; waits: None, "bar", or the barrier that they have reached with BSYNC."""

    def __init__(self, pc, lanes):
        self.pc, self.lanes, self.waits = pc, lanes, None


class Warp:
    def __init__(self, at, lanes):
        self.at, self.alive = at, set(lanes)
        self.registers = [[0] * 256 for _ in range(32)]
        self.predicates = [[False] * 8 for _ in range(32)]
        self.uniform, self.uniform_predicates = [0] * 64, [False] * 8
        self.barriers = [set() for _ in range(16)]
        self.groups = [Group(0, list(lanes))]
        self.local = [Memory(0, bytes(0)) for _ in range(32)]
        self.lines = []
        self.defined = [set() for _ in range(32)]  # registers that an instruction has written


class Step:
    def __init__(self, warp, statement, lanes, lane):
        self.pc, self.statement, self.mask = statement.pc, statement, opcodes.mask_of(lanes)
        self.registers, self.defined = warp.registers[lane][:24], frozenset(warp.defined[lane])


class Machine:
    """One block. focus: by warp, the lane whose steps are kept. approximations: results of MUFU by function and argument, where they
    are not those of exact rounding. entry, starts: first address and registers by thread, for code that is no kernel."""

    def __init__(self, code, threads, memory, parameters, stack=0xfffdc0, focus=(), approximations=None, entry=0, starts=None):
        self.code, self.threads, self.memory = code, threads, memory
        self.constants = {0x28: stack, 0x208: 0, 0x20c: 0}
        for i, parameter in enumerate(parameters):
            self.constants[0x210 + 8 * i], self.constants[0x214 + 8 * i] = parameter & WORD, parameter >> 32
        self.shared = Memory(0, bytes(1024 + 4096))
        self.warps = [Warp(w, range(min(32, threads - 32 * w))) for w in range((threads + 31) // 32)]
        self.focus, self.steps = dict(enumerate(focus)), [[] for _ in self.warps]
        self.approximations = approximations or {}
        self.counts = {}  # by statement: [warp instructions, thread instructions, registers read, registers written]
        self.warp = self.lanes = None
        for warp in self.warps:
            warp.groups[0].pc = entry
            warp.local = [Memory(stack - 1024, bytes(1024)) for _ in range(32)]
            for lane in warp.alive:
                for register, values in (starts or {}).items():
                    warp.registers[lane][register] = values[32 * warp.at + lane]
        self.read, self.written, self.addresses, self.width = set(), set(), None, 0

    # registers, all accesses of which are noted

    def get(self, lane, register):
        if register is None:
            return 0
        self.read.add(register)
        return self.warp.registers[lane][register]

    def put(self, lane, operand, value, words=1):
        if isinstance(operand, Operand):
            assert operand.kind == "R", operand.kind
            operand = operand.value
        for i in range(words if operand is not None else 0):
            self.written.add(operand + i)
            self.warp.defined[lane].add(operand + i)
            self.warp.registers[lane][operand + i] = value >> 32 * i & WORD

    def predicate(self, lane, operand):
        bank = self.warp.uniform_predicates if operand.kind == "UP" else self.warp.predicates[lane]
        return (True if operand.value is None else bank[operand.value]) != operand.inverse

    def put_predicate(self, lane, operand, value):
        if operand.value is not None:
            self.warp.predicates[lane][operand.value] = bool(value)

    def put_uniform(self, operand, value, words=1):
        for i in range(words):
            self.warp.uniform[operand.value + i] = value >> 32 * i & WORD

    def raw(self, lane, operand, words=1):
        if operand.kind == "R":
            return sum(self.get(lane, operand.value + i) << 32 * i for i in range(words)) if operand.value is not None else 0
        if operand.kind == "UR":
            return sum(self.warp.uniform[operand.value + i] << 32 * i for i in range(words)) if operand.value is not None else 0
        if operand.kind == "c":
            return sum(self.constants[operand.value + 4 * i] << 32 * i for i in range(words))
        if operand.kind == "imm" and not isinstance(operand.value, str):
            return operand.value
        raise opcodes.Unknown("operand %s" % operand.value)

    def integer(self, lane, operand, words=1):
        value = self.raw(lane, operand, words)
        return (-value if operand.negated else ~value if operand.inverted else value) & ((1 << 32 * words) - 1)

    def real(self, lane, operand, width=32):
        """Bits of a floating-point operand."""
        if operand.kind == "imm":
            return rounding.bits_of(float(operand.value), width) if isinstance(operand.value, str) else operand.value << (width - 32)
        value = self.raw(lane, operand, width // 32)
        value &= ~(1 << (width - 1)) if operand.absolute else -1
        return value ^ (operand.negated << (width - 1))

    # memory

    def at(self, lane, operand, window=0):
        address = operand.offset
        if operand.base:
            register, words = operand.base
            address += sum(self.get(lane, register + i) << 32 * i for i in range(words))
        if operand.uniform:
            address += sum(self.warp.uniform[operand.uniform[0] + i] << 32 * i for i in range(operand.uniform[1]))
        self.addresses = self.addresses or [0] * 32
        self.addresses[lane] = window + address
        return address

    def memory_of(self, statement, lane):
        """The memory that the last letter of the opcode names, and its window in a trace."""
        return {"S": (self.shared, SHARED), "L": (self.warp.local[lane], LOCAL), "G": (self.memory, 0)}[statement.name[-1]]

    # a warp's instructions

    def run(self):
        """All warps, in turns between barriers, until they end."""
        while any(w.alive for w in self.warps):
            moved = [self.go(w) for w in self.warps]
            if not any(moved):
                groups = [g for w in self.warps for g in w.groups]
                assert groups and all(g.waits == "bar" for g in groups), "a deadlock"
                for group in groups:
                    group.waits = None
        return self

    def go(self, warp):
        moved = False
        while True:
            group = next((g for g in warp.groups if g.waits is None), None)
            if not group:
                return moved
            self.step(warp, group)
            moved = True

    def step(self, warp, group):
        statement = self.code[group.pc]
        self.warp, self.read, self.written, self.addresses, self.width = warp, set(), set(), None, 0
        if warp.at in self.focus and self.focus[warp.at] in group.lanes:
            self.steps[warp.at].append(Step(warp, statement, group.lanes, self.focus[warp.at]))
        lanes = [l for l in group.lanes if not statement.guard or self.predicate(l, statement.guard) != statement.unless]
        group.pc += 16
        if lanes:
            self.execute(statement, group, lanes)
            warp.lines.append(traces.Line(statement.pc, opcodes.mask_of(lanes), statement.opcode, statement.dests, statement.srcs, self.width, self.addresses))
            count = self.counts.setdefault(statement, [0, 0, 0, 0])
            for i, more in enumerate((1, len(lanes), len(self.read), len(self.written))):
                count[i] += more

    def execute(self, statement, group, lanes):
        whole, each = opcodes.WARP.get(statement.name), opcodes.LANE.get(statement.name)
        if whole:
            whole(self, statement, group, lanes)
        elif each:
            for lane in lanes:
                each(self, lane, statement, *statement.operands)
        else:
            raise opcodes.Unknown("opcode %s" % statement.text)

    def meet(self, warp):
        """Groups that wait for a barrier go on as one, when no lane of it is elsewhere."""
        for barrier, lanes in enumerate(warp.barriers):
            waiting = [g for g in warp.groups if g.waits == barrier]
            if waiting and set().union(*(g.lanes for g in waiting)) >= lanes & warp.alive:
                warp.groups = [g for g in warp.groups if g not in waiting]
                warp.groups.insert(0, Group(waiting[0].pc, sorted(set().union(*(g.lanes for g in waiting)))))

    def split(self, group, lanes, pc):
        """Those lanes go on there, after the others."""
        rest = [l for l in group.lanes if l not in lanes]
        if rest:
            self.warp.groups.insert(self.warp.groups.index(group) + 1, Group(pc, lanes))
            group.lanes = rest
        else:
            group.pc = pc


# ---- launches ----------------------------------------------------------------------------------------------------------------------


@functools.lru_cache(None)
def inputs(seed, count):
    """The words that kernels.cu makes of its seed."""
    words = []
    for _ in range(count):
        seed = (seed * 1664525 + 1013904223) & WORD
        words.append(seed >> 5)
    return tuple(words)


def launch(code, words, threads, base=0x7f2000000000, **how):
    """A machine that has run one block on these words; its memory holds 512 bytes for them, then those of the output."""
    memory = Memory(base, b"".join(w.to_bytes(4, "little") for w in words).ljust(512, b"\0") + bytes(4 * 384))
    machine = Machine(code, threads, memory, (base + 512, base), **how).run()
    machine.out = [memory.load(base + 512 + 4 * i, 4) for i in range(384)]
    return machine


def trace_of(machine, name, keep=lambda statement: True):
    """Its trace, of those statements."""
    trace = traces.Trace(name, (1, 1, 1), (machine.threads, 1, 1), 90, 32, 1024)
    trace.blocks[(0, 0, 0)] = [[line for line in w.lines if keep(machine.code[line.pc])] for w in machine.warps]
    return trace


def total(machine, keep=lambda statement: True):
    """(warp instructions, thread instructions, registers read, registers written) of those statements."""
    return tuple(map(sum, zip((0, 0, 0, 0), *(count for statement, count in machine.counts.items() if keep(statement)))))
