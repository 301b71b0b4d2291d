"""Traces of Accel-Sim, written from scratch: kernels of a few instructions that random warps walk through, in every form of the
format, and a second reader of the text that counts what its lines name."""
import random
import re

FORMATS = {
    0: "#traces format = threadblock_x threadblock_y threadblock_z warpid_tb sm_id warpid_sm PC mask dest_num reg_dests opcode src_num reg_srcs mem_width mem_addresses",
    3: "#traces format = threadblock_x threadblock_y threadblock_z warpid_tb PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]",
    4: "#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses]",
    6: "#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate1 immediate2 Val|NoVal [dest_val_n]",
    5: "#traces format = [line_num] PC mask dest_num [reg_dests] opcode src_num [reg_srcs] mem_width [adrrescompress?] [mem_addresses] immediate",
}


class Line:
    """One warp instruction: addresses by lane, or None."""

    def __init__(self, pc, mask, opcode, dests=(), srcs=(), width=0, addresses=None):
        self.pc, self.mask, self.opcode, self.dests, self.srcs, self.width, self.addresses = pc, mask, opcode, tuple(dests), tuple(srcs), width, addresses

    def lanes(self):
        return [lane for lane in range(32) if self.mask >> lane & 1]

    def memory(self, mode):
        """Its addresses in that form, or as a list where they have no such form."""
        lanes = self.lanes()
        if not self.width:
            return "0"
        values = [self.addresses[lane] for lane in lanes]
        contiguous = lanes == list(range(lanes[0], lanes[0] + len(lanes))) if lanes else False
        steps = {b - a for a, b in zip(values, values[1:])} or {0}
        if mode == 1 and contiguous and len(steps) == 1:
            return "%d 1 0x%x %d" % (self.width, values[0], steps.pop())
        if mode == 2 and lanes:
            return "%d 2 0x%x%s" % (self.width, values[0], "".join(" %d" % (b - a) for a, b in zip(values, values[1:])))
        return "%d 0%s" % (self.width, "".join(" 0x%016x" % v for v in values))


class Trace:
    def __init__(self, name, grid, block, sm, registers=16, shared=0):
        self.name, self.grid, self.block, self.sm, self.registers, self.shared = name, grid, block, sm, registers, shared
        self.blocks = {}  # (x, y, z): a list of lines for each warp

    def warps(self):
        x, y, z = self.block
        return (x * y * z + 31) // 32

    def lines(self):
        return [line for warps in self.blocks.values() for lines in warps for line in lines]

    def header(self, version, lineinfo):
        out = ["-kernel name = " + self.name, "-kernel id = 1", "-grid dim = (%d,%d,%d)" % self.grid, "-block dim = (%d,%d,%d)" % self.block,
               "-shmem = %d" % self.shared, "-nregs = %d" % self.registers]
        if version:
            out += ["-binary version = %d" % self.sm]
        out += ["-cuda stream id = 0"]
        if version:
            out += ["-shmem base_addr = 0x00007f1000000000", "-local mem base_addr = 0x00007f0ffe000000", "-nvbit version = 1.5.5",
                    "-accelsim tracer version = %d" % version]
        if version >= 4:
            out += ["-enable lineinfo = %d" % lineinfo]
        return out + [FORMATS[0 if version == 0 else max(3, version)], ""]

    def text(self, version=3, grouped=True, lineinfo=0, mode=1, end=" \n"):
        """mode: the form of addresses; end: of an instruction line."""
        out = self.header(version, lineinfo)
        places = sorted(self.blocks, key=lambda p: (p[2], p[1], p[0]))

        def instruction(place, warp, line):
            columns = []
            if not grouped or version < 3:
                columns += ["%d %d %d %d" % (place + (warp,))] + (["7 %d" % warp] if version == 0 else [])
            columns += ["15"] if version >= 4 and lineinfo else []
            columns += ["%04x" % line.pc, "%08x" % line.mask, str(len(line.dests))] + ["R%d" % r for r in line.dests] + [line.opcode]
            columns += [str(len(line.srcs))] + ["R%d" % r for r in line.srcs] + [line.memory(mode)]
            return " ".join(columns + (["16"] if version >= 5 else []) + (["3 Val 7 8" if line.dests else "0 NoVal"] if version >= 6 else [])) + end

        body = []
        if grouped:
            for place in places:
                body.append("\n#BEGIN_TB\n\nthread block = %d,%d,%d\n" % place)
                for warp, lines in enumerate(self.blocks[place]):
                    body.append("\nwarp = %d\ninsts = %d\n" % (warp, len(lines)))
                    body += [instruction(place, warp, line) for line in lines]
                body.append("\n#END_TB\n")
        else:  # round robin
            left = [[place, warp, list(lines)] for place in places for warp, lines in enumerate(self.blocks[place])]
            while any(lines for _, _, lines in left):
                body += [instruction(place, warp, lines.pop(0)) for place, warp, lines in left if lines]
        return "\n".join(out) + "\n" + "".join(body)


# ---- random kernels ----------------------------------------------------------------------------------------------------------------

PLAIN = [("IADD3", 1, 3), ("FFMA", 1, 3), ("MOV", 1, 1), ("LOP3.LUT", 1, 3), ("ISETP.GE.AND", 0, 2), ("S2R", 1, 0), ("DFMA", 1, 3),
         ("IMAD.WIDE", 1, 3), ("SHF.L.U32", 1, 3), ("F2F.F64.F32", 1, 1), ("MUFU.RCP", 1, 1)]
MEMORY = [("LDG.E.SYS", 1, 1, 4), ("LDG.E.64.SYS", 1, 1, 8), ("STG.E.SYS", 0, 2, 4), ("LDS.U.32", 1, 1, 4), ("STS", 0, 2, 4), ("LDL", 1, 1, 4),
          ("LD.E", 1, 1, 4), ("ATOMG.E.ADD.STRONG.GPU", 0, 3, 4), ("LDG.E.128.SYS", 1, 1, 16)]


class Walk:
    """A random structured kernel: straight code, branches that split warps, loops, guards and exits."""

    def __init__(self, seed, registers):
        self.rng = random.Random(seed)
        self.registers = registers
        self.pc = 0
        self.body = self.block(3, 0) + [("exit", self.address(), None)]

    def address(self):
        self.pc += 16
        return self.pc - 16

    def instruction(self):
        rng = self.rng
        if rng.random() < 0.3:
            opcode, dests, srcs, width = rng.choice(MEMORY)
        else:
            (opcode, dests, srcs), width = rng.choice(PLAIN), 0
        even = lambda: rng.randrange(0, self.registers // 4) * 4
        return ("insn", self.address(), (opcode, [even() + rng.choice([0, 0, 1])] * dests, [even() for _ in range(srcs)], width, rng.random() < 0.15))

    def block(self, depth, loops):
        out = []
        for _ in range(self.rng.randrange(2, 6)):
            kind = self.rng.random()
            if depth and kind < 0.2:
                branch = self.address()
                taken = self.block(depth - 1, loops)
                skip = self.address()
                out.append(("if", branch, (taken, skip, self.block(depth - 1, loops))))
            elif depth and kind < 0.3 and loops < 2:
                body = self.block(depth - 1, loops + 1)
                out.append(("loop", self.address(), body))
            elif not loops and depth == 3 and kind < 0.4:
                out.append(("barrier", self.address(), None))
            elif kind < 0.44:
                out.append(("leave", self.address(), None))
            else:
                out.append(self.instruction())
        return out

    def run(self, rng, mask):
        self.lines, self.alive = [], mask
        self.go(self.body, mask, rng)
        return self.lines

    def add(self, pc, mask, opcode, dests=(), srcs=(), width=0, rng=None):
        addresses = None
        if width:
            base, step = 0x7f2000000000 + rng.randrange(1 << 12) * 16, rng.choice([4, 4, 8, -4])
            addresses = [base + (rng.randrange(1 << 16) * 4 if rng.random() < 0.1 else lane * step) for lane in range(32)]
        self.lines.append(Line(pc, mask, opcode, dests, srcs, width, addresses))

    def go(self, body, mask, rng):
        for kind, pc, what in body:
            mask &= self.alive
            if not mask:
                return
            if kind == "insn":
                opcode, dests, srcs, width, guarded = what
                self.add(pc, mask & rng.randrange(1 << 32) if guarded else mask, opcode, dests, srcs, width, rng)
            elif kind == "if":
                then, skip, otherwise = what
                one = rng.choice([0, mask, mask & rng.randrange(1 << 32)])
                self.add(pc, one, "BRA")
                for lanes, side in ((mask & ~one, (then, skip)), (one, (otherwise, None))):
                    if lanes & self.alive:
                        self.go(side[0], lanes, rng)
                        if side[1] is not None and lanes & self.alive:
                            self.add(side[1], lanes & self.alive, "BRA")
            elif kind == "loop":
                stay = mask
                while stay & self.alive:
                    self.go(what, stay & self.alive, rng)
                    stay &= self.alive
                    if stay:
                        stay &= rng.choice([0, 0, rng.randrange(1 << 32)])
                        self.add(pc, stay, "BRA")
            elif kind == "barrier":
                self.add(pc, mask, "BAR.SYNC")
            elif kind == "leave":
                gone = rng.choice([0, 0, mask & rng.randrange(1 << 32) & rng.randrange(1 << 32)])
                self.add(pc, gone, "EXIT")
                self.alive &= ~gone
            elif kind == "exit":
                self.add(pc, mask, "EXIT")
                self.alive &= ~mask


def random_trace(seed, sm=70):
    rng = random.Random(seed * 7919)
    registers = rng.choice([8, 16, 32, 64])
    walk = Walk(seed, registers)
    threads = rng.choice([32, 64, 96, 50, 20])
    trace = Trace("_Z6randomPi", (rng.choice([1, 2, 3]), rng.choice([1, 2]), 1), (threads, 1, 1), sm, registers)
    for y in range(trace.grid[1]):
        for x in range(trace.grid[0]):
            warps = []
            for warp in range(trace.warps()):
                lanes = min(32, threads - warp * 32)
                warps.append(walk.run(rng, (1 << lanes) - 1))
            trace.blocks[(x, y, 0)] = warps
    return trace


# ---- statements --------------------------------------------------------------------------------------------------------------------


def operands_of(text):
    out, depth, now = [], 0, ""
    for c in text:
        depth += (c in "[{(") - (c in "]})")
        if c == "," and not depth:
            out, now = out + [now], ""
        else:
            now += c
    return [o.strip() for o in out + [now] if o.strip()]


def number(name):
    return 255 if name == "Z" else int(name)


def listed(statement):
    """What the tracer writes of a statement: the opcode; a register that is its first operand; the others, and bases of addresses."""
    statement = re.sub(r"^[{ ]*(@!?U?P\w+ )?", "", statement).strip(" ;}")
    opcode, _, rest = statement.partition(" ")
    dests, sources = [], []
    for i, operand in enumerate(operands_of(rest)):
        register, bases = re.match(r"[-~|]*R(\d+|Z)\b", operand), re.findall(r"\bR(\d+|Z)\b", operand)
        if register:
            (sources if i else dests).append(number(register[1]))
        elif "[" in operand and bases and not re.match(r"[-|]*cx?\[", operand):
            sources.append(number(bases[0]))
    return opcode, tuple(dests), tuple(sources)


# ---- a second reader ---------------------------------------------------------------------------------------------------------------

# Words of the registers that a line of these opcodes lists, in its order; an opcode that is not here has one of each.
WORDS = {"DFMA": (2, 2, 2, 2), "IMAD.WIDE": (2, 1, 1, 2), "F2F.F64.F32": (2, 1), "LDG.E.SYS": (1, 2), "LDG.E.64.SYS": (2, 2), "LDG.E.128.SYS": (4, 2),
         "STG.E.SYS": (2, 1), "LD.E": (1, 2), "LDG.E": (1, 2), "STG.E": (2, 1), "ATOMG.E.ADD.STRONG.GPU": (1, 2, 1)}
WRITES_FIRST = ("ATOMG.E.ADD.STRONG.GPU",)  # the tracer lists the result as read, as it is no first operand
INSTRUCTION = re.compile(r"^(?P<before>(?:\d+ ){0,7}?)(?P<pc>[0-9a-f]{4,}) (?P<mask>[0-9a-f]{8}) (?P<dests>\d+)(?P<d>(?: R\d+)*) (?P<opcode>[A-Z][\w.]*) "
                         r"(?P<sources>\d+)(?P<s>(?: R\d+)*) ")


def recount(text):
    """(warp instructions, thread instructions, register reads, register writes), from the lines of a trace."""
    warp = thread = reads = writes = 0
    for line in text.split("\n"):
        match = INSTRUCTION.match(line + " ")
        if not match:
            continue
        lanes = bin(int(match["mask"], 16)).count("1")
        warp, thread = warp + 1, thread + lanes
        if not lanes:
            continue
        dests, sources = ([int(r[1:]) for r in match[g].split()] for g in "ds")
        words = WORDS.get(match["opcode"], (1,) * 16)
        read, written = set(), 0
        for i, register in enumerate(dests + sources):
            is_written = i < len(dests) or (match["opcode"] in WRITES_FIRST and i == 0)
            names = set(range(register, min(register + words[i], 255)))
            written += len(names) if is_written else 0
            read |= set() if is_written else names
        reads, writes = reads + len(read), writes + written
    return warp, thread, reads, writes
