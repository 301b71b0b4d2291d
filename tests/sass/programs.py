"""Random programs of machine code: instructions of rows of ir/sass/sass.def with random operands, in random control flow."""
import os
import random
import re

ROW = re.compile(r'^HD_SASS\("([^"]*)", "([^"]*)", "([^"]*)", (\w+), "([^"]*)", "([^"]*)", (\w+), (\w+), (\w+), (\w+)\)', re.M)
CHIPS = (35, 52, 61, 70, 75, 80, 86, 90, 100, 120)
WRITTEN = ("Rd", "Rd2", "Rdb", "Pd", "nPd", "Pu", "Pv", "URd", "UPu", "UPv", "Bd")
HELD = re.compile(r".GMMA$|LDTM$|STTM$")  # use registers after they have been issued


def rows(top):
    with open(os.path.join(top, "ir", "sass", "sass.def"), encoding="ascii") as file:
        found = [match.groups() for match in ROW.finditer(file.read())]
    return [row for row in found if row[8] in ("NONE", "WAIT", "BARRIER", "WARP") and not HELD.match(row[0])]


def is_for(row, chip):
    """Whether the row is described or seen for the chip."""
    for part in row[2].split("~")[0].split(","):
        bounds = part.split("-")
        if part and int(bounds[0]) <= chip <= int(bounds[-1]):
            return True
    return False


class Program:
    def __init__(self, table, seed):
        self.rng = random.Random(seed)
        self.chip = self.rng.choice(CHIPS)
        self.table = [row for row in table if is_for(row, self.chip)]
        self.uniform = any(row[0] == "UMOV" for row in self.table)
        self.lines, self.address = [], 0
        self.roles = []  # of each instruction: {first registers written}, {read}

    def register(self, name):
        """A register of the slot's file; aligned, so that none is beyond the file however wide it is."""
        rng = self.rng
        if name.startswith("UP"):
            return rng.choice(["UP0", "UP1", "UP2", "UPT"])
        if name.startswith("UR"):
            return rng.choice(["UR%d" % (4 * rng.randrange(8)), "URZ"])
        if name[0] == "P" or name.startswith("nP"):
            return rng.choice(["P0", "P1", "P2", "P3", "PT"])
        if name[0] == "B":
            return "B%d" % rng.randrange(4)
        return rng.choice(["R%d" % (4 * rng.randrange(12))] * 7 + ["RZ"])

    def inner(self, slot):
        match = re.search(r"\((.*)\)", slot)
        return "+".join(self.register(part.rstrip("?")) for part in re.split(r"[+|]", match.group(1))) if match else "0x10"

    def operand(self, slot):
        head = slot.split("(")[0]
        if head == "imm":
            return "0x%x" % self.rng.randrange(64)
        if head == "label":
            return "`(.L_x_0)"
        if head == "c":
            return "c[0x0][0x%x]" % (4 * self.rng.randrange(100)) if "(" not in slot else "c[0x0][%s]" % self.inner(slot)
        if head == "cx":
            return "cx[%s][0x10]" % self.register("URb")
        if head in ("mem", "attr", "gdesc", "idesc", "tmem"):
            space = {"mem": "", "attr": "a"}.get(head, head)
            return "%s[%s]" % (space, self.inner(slot) if "(" in slot or head in ("mem", "attr") else self.register("URa"))
        if head in ("CC", "PR", "UPR"):
            return head
        if head in ("PRd", "UPRd"):
            return head[:-1]
        if head == "word":
            return "SR_CLOCKLO"
        if head.endswith("_imm"):
            return self.register(head) + " 0x10"
        return self.register(head)

    def instruction(self):
        rng = self.rng
        opcode, modifiers, _, unit, slots, _, _, _, _, _ = rng.choice(self.table)
        written, read = set(), set()
        text = opcode + "".join(requirement.split("|")[0] for requirement in modifiers.split())
        operands = []
        for slot in filter(None, re.split(r",\s*(?![^(]*\))", slots)):
            optional = slot.endswith("?")
            if optional and rng.random() < 0.5:
                continue
            chosen = rng.choice(re.split(r"\|(?![^(]*\))", slot.rstrip("?")))
            operands.append(self.operand(chosen))
            named = re.findall(r"\bU?[RP]\d+\b", operands[-1]) if unit != "TEX" else []  # mask and shape decide
            (written if chosen in WRITTEN else read).update(named)
            if chosen == "Bx":
                written.update(named)
        guard = "@%sP%d " % (rng.choice(["", "!"]), rng.randrange(4)) if rng.random() < 0.2 else ""
        self.put(guard + text + (" " + ", ".join(operands) if operands else ""), (written, read | set(re.findall(r"P\d", guard))))

    def put(self, statement, roles=None):
        self.roles.append(roles)
        self.lines.append("        /*%04x*/                   %s ;\n" % (self.address, statement))
        self.address += 16 if self.chip >= 70 else 8

    def text(self, blocks, length):
        rng = self.rng
        head = "\t.headerflags\t@\"EF_CUDA_SM%d EF_CUDA_PTX_SM(EF_CUDA_SM%d)\"\n\n\t.section\t.text.k,\"ax\",@progbits\n.text.k:\n" % (self.chip, self.chip)
        for block in range(blocks):
            self.lines.append(".L_x_%d:\n" % block)
            for _ in range(rng.randrange(1, length)):
                self.instruction()
            target = "`(.L_x_%d)" % rng.randrange(blocks)
            kind = rng.random()
            if kind < 0.6:
                self.put("@%sP%d BRA %s" % (rng.choice(["", "!"]), rng.randrange(4), target))
            elif kind < 0.7:
                self.put("BRA " + target)
            elif kind < 0.8:
                self.put("@P0 EXIT")
            elif kind < 0.9 and self.chip >= 70:
                self.put("BSSY B%d, %s" % (rng.randrange(2), target))
        self.put("EXIT")
        return head + "".join(self.lines)


def make(table, seed):
    """(text, roles of its instructions)"""
    rng = random.Random(seed)
    program = Program(table, seed)
    return program.text(rng.randrange(1, 12), rng.randrange(3, 16)), program.roles
