"""What instructions of sm_90 do, by the name of the opcode: LANE has functions of the machine, a lane, the statement and its operands,
WARP those of the machine, the statement, a group of lanes and which of them execute."""
import fractions
import math
import re

import rounding

WORD = 0xffffffff
ATOMIC = {"ADD": lambda a, b: a + b, "MAX": max, "MIN": min}
COMPARE = {"LT": lambda a, b: a < b, "EQ": lambda a, b: a == b, "LE": lambda a, b: a <= b, "GT": lambda a, b: a > b, "NE": lambda a, b: a != b,
           "GE": lambda a, b: a >= b}
JOIN = {"AND": lambda a, b: a and b, "OR": lambda a, b: a or b, "XOR": lambda a, b: a != b}


class Unknown(Exception):
    """What the model does not know."""


def mask_of(lanes):
    return sum(1 << lane for lane in lanes)


def signed(value, bits=32):
    return value - (1 << bits) if value >> (bits - 1) & 1 else value


LANE, WARP = {}, {}


def lane(*names):
    """Of what each lane does alone."""
    return lambda function: [LANE.__setitem__(n, function) for n in names] and function


def warp(*names):
    return lambda function: [WARP.__setitem__(n, function) for n in names] and function


# ---- control -----------------------------------------------------------------------------------------------------------------------


@warp("BRA", "CALL")
def branch(m, s, group, lanes):
    assert s.operands[0].kind == "label" and (s.name == "BRA" or s.mods == ["REL", "NOINC"]), s.text
    m.split(group, lanes, s.operands[0].value)


@warp("RET")
def ret(m, s, group, lanes):
    targets = {l: m.integer(l, s.operands[0], 2) for l in lanes}
    for target in sorted(set(targets.values())):
        m.split(group, [l for l in lanes if targets[l] == target], target)


@warp("EXIT")
def leave(m, s, group, lanes):
    m.warp.alive -= set(lanes)
    group.lanes = [l for l in group.lanes if l not in lanes]
    if not group.lanes:
        m.warp.groups.remove(group)
    m.meet(m.warp)


@warp("BSSY")
def bssy(m, s, group, lanes):
    m.warp.barriers[s.operands[0].value] = set(lanes)


@warp("BSYNC")
def bsync(m, s, group, lanes):
    group.waits = s.operands[0].value
    m.meet(m.warp)


@warp("BAR")
def bar(m, s, group, lanes):
    assert s.mods[0] == "SYNC", s.text
    group.waits = "bar"


@warp("NOP")
def nop(m, s, group, lanes):
    pass


# ---- uniform registers, and lanes together -----------------------------------------------------------------------------------------


@warp("ULDC", "UMOV")
def uniform_move(m, s, group, lanes):
    words = 2 if "64" in s.mods else 1
    m.put_uniform(s.operands[0], m.integer(0, s.operands[1], words), words)


@warp("ULEA")
def ulea(m, s, group, lanes):
    d, a, b, shift = s.operands
    assert not s.mods, s.text
    m.put_uniform(d, (m.integer(0, a) << m.integer(0, shift)) + m.integer(0, b))


@warp("UFLO")
def uflo(m, s, group, lanes):
    m.put_uniform(s.operands[0], m.integer(0, s.operands[1]).bit_length() - 1)


@warp("S2UR")
def s2ur(m, s, group, lanes):
    m.put_uniform(s.operands[0], special(m, lanes[0], s.operands[1].value))


@warp("VOTE", "VOTEU")
def vote(m, s, group, lanes):
    assert s.mods == ["ANY"], s.text
    *dests, source = s.operands
    ballot = mask_of(l for l in lanes if m.predicate(l, source))
    for d in dests:
        if d.kind == "UR":
            m.put_uniform(d, ballot)
        for l in lanes:
            if d.kind == "R":
                m.put(l, d, ballot)
            elif d.kind in ("P", "UP") and d.value is not None:
                m.put_predicate(l, d, ballot)


@warp("REDUX")
def redux(m, s, group, lanes):
    values = [m.integer(l, s.operands[1]) for l in lanes]
    m.put_uniform(s.operands[0], {"SUM": sum, "MAX": max, "MIN": min}[s.mods[0]](values))


@warp("SHFL")
def shfl(m, s, group, lanes):
    p, d, a, b, c = s.operands
    values, out = {l: m.integer(l, a) for l in lanes}, {}
    for l in lanes:
        by, control = m.integer(l, b) & 31, m.integer(l, c)
        segment, clamp = control >> 8 & 31, control & 31
        low, high = l & segment, (l & segment) | (clamp & ~segment)
        source = {"BFLY": l ^ by, "UP": l - by, "DOWN": l + by, "IDX": low | by & ~segment}[s.mods[0]]
        is_valid = source >= high if s.mods[0] == "UP" else source <= high
        out[l] = is_valid, values.get(source, 0) if is_valid else values[l]
    for l, (is_valid, value) in out.items():
        m.put_predicate(l, p, is_valid)
        m.put(l, d, value)


# ---- memory ------------------------------------------------------------------------------------------------------------------------


def width_of(mods):
    return next((int(re.sub(r"\D", "", x)) // 8 for x in mods if re.fullmatch(r"[US]?(8|16|64|128)", x)), 4)


@lane("LDG", "LDS", "LDL")
def load(m, lane, s, d, address):
    memory, window = m.memory_of(s, lane)
    m.width = width_of(s.mods)
    value = memory.load(m.at(lane, address, window), m.width)
    if "S8" in s.mods or "S16" in s.mods:
        value = signed(value, 8 * m.width) & WORD
    m.put(lane, d, value, max(1, m.width // 4))


@lane("STG", "STS", "STL")
def store(m, lane, s, address, source):
    memory, window = m.memory_of(s, lane)
    m.width = width_of(s.mods)
    value = m.raw(lane, source, max(1, m.width // 4))
    memory.store(m.at(lane, address, window), m.width, value & ((1 << 8 * m.width) - 1))


@lane("ATOMS", "REDG")
def atomic(m, lane, s, *operands):
    *dests, address, source = operands
    memory, window = m.memory_of(s, lane)
    m.width = width_of(s.mods)
    at = m.at(lane, address, window)
    old = memory.load(at, m.width)
    operation = next((x for x in s.mods if x in ATOMIC), None)
    memory.store(at, m.width, ATOMIC[operation](old, m.integer(lane, source)) & WORD)
    for d in dests:
        m.put(lane, d, old)


@lane("LDC")
def ldc(m, lane, s, d, source):
    words = 2 if "64" in s.mods else 1
    m.put(lane, d, m.raw(lane, source, words), words)


def special(m, lane, name):
    values = {"SR_TID.X": 32 * m.warp.at + lane, "SR_LANEID": lane, "SR_CgaCtaId": 0}
    if name not in values:
        raise Unknown("special register " + name)
    return values[name]


@lane("S2R")
def s2r(m, lane, s, d, name):
    m.put(lane, d, special(m, lane, name.value))


# ---- integers ----------------------------------------------------------------------------------------------------------------------


def with_predicates(operands):
    """(first operand, predicates that follow it, sources, predicates at the end)"""
    d, rest = operands[0], list(operands[1:])
    outs, ins = [], []
    while rest and rest[0].kind == "P":
        outs.append(rest.pop(0))
    while rest and rest[-1].kind == "P":
        ins.insert(0, rest.pop())
    return d, outs, rest, ins


def carried(m, lane, s, outs, total, bits=32):
    """Of a sum: each of its carries in a predicate."""
    for i, out in enumerate(outs):
        m.put_predicate(lane, out, total >> bits > i)
    assert not outs or total >= 0, s.text


@lane("IADD3", "VIADD")
def iadd3(m, lane, s, *operands):
    d, outs, sources, ins = with_predicates(operands)
    assert not ("X" in s.mods and any(o.negated for o in sources)), s.text
    total = sum(m.integer(lane, o) for o in sources) + sum(m.predicate(lane, p) for p in ins)
    m.put(lane, d, total & WORD)
    carried(m, lane, s, outs, total)


@lane("IMAD")
def imad(m, lane, s, *operands):
    d, outs, (a, b, c), ins = with_predicates(operands)
    assert not set(s.mods) - {"IADD", "MOV", "SHL", "U32", "X", "WIDE"} and len(ins) == ("X" in s.mods), s.text
    words = 2 if "WIDE" in s.mods else 1
    x, y, z = m.integer(lane, a), m.integer(lane, b), m.integer(lane, c, words)
    if words == 2 and "U32" not in s.mods:
        x, y = signed(x), signed(y)
    total = x * y + z + sum(m.predicate(lane, p) for p in ins)
    m.put(lane, d, total & ((1 << 32 * words) - 1), words)
    carried(m, lane, s, outs, total, 32 * words)


@lane("LEA")
def lea(m, lane, s, *operands):
    d, outs, sources, ins = with_predicates(operands)
    assert len(sources) == (4 if "HI" in s.mods else 3) and len(ins) == ("X" in s.mods), s.text
    a, b, shift = m.integer(lane, sources[0]), m.integer(lane, sources[1]), m.integer(lane, sources[-1])
    if "HI" in s.mods:
        shifted = ((m.integer(lane, sources[2]) << 32 | a) << shift) >> 32 & WORD
    else:
        shifted = a << shift & WORD
    total = shifted + b + sum(m.predicate(lane, p) for p in ins)
    m.put(lane, d, total & WORD)
    carried(m, lane, s, outs, total)


@lane("SHF")
def shf(m, lane, s, d, low, by, high):
    direction, kind, *half = s.mods
    assert kind in ("U32", "S32", "U64") and (half == ["HI"] or direction == "L" or kind == "U64"), s.text
    value, shift = m.integer(lane, high) << 32 | m.integer(lane, low), min(m.integer(lane, by), 63 if kind == "U64" else 32)
    value = (signed(value, 64) if kind[0] == "S" else value) >> shift if direction == "R" else value << shift
    m.put(lane, d, (value >> 32 if half else value) & WORD)


@lane("LOP3")
def lop3(m, lane, s, *operands):
    first = [operands[0]] if operands[0].kind == "P" else []
    d, a, b, c, table, more = operands[len(first):]
    x, y, z, table = m.integer(lane, a), m.integer(lane, b), m.integer(lane, c), table.value
    result = 0
    for i in range(8):
        if table >> i & 1:
            result |= (x if i & 4 else ~x) & (y if i & 2 else ~y) & (z if i & 1 else ~z) & WORD
    m.put(lane, d, result)
    for p in first:
        m.put_predicate(lane, p, result or m.predicate(lane, more))


@lane("PLOP3")
def plop3(m, lane, s, p, q, a, b, c, table, second):
    at = m.predicate(lane, a) * 4 + m.predicate(lane, b) * 2 + m.predicate(lane, c)
    m.put_predicate(lane, p, table.value >> at & 1)
    m.put_predicate(lane, q, second.value >> at & 1)


@lane("ISETP")
def isetp(m, lane, s, p, q, a, b, joined, *low):
    x, y = m.integer(lane, a), m.integer(lane, b)
    if "U32" not in s.mods:
        x, y = signed(x), signed(y)
    result = COMPARE[s.mods[0]](x, y)
    if "EX" in s.mods and x == y:
        result = m.predicate(lane, low[0])
    join, more = JOIN[next(x for x in s.mods if x in JOIN)], m.predicate(lane, joined)
    m.put_predicate(lane, p, join(result, more))
    m.put_predicate(lane, q, join(not result, more))


@lane("MOV")
def mov(m, lane, s, d, a):
    m.put(lane, d, m.integer(lane, a))


@lane("SEL")
def sel(m, lane, s, d, a, b, p):
    x, y = m.integer(lane, a), m.integer(lane, b)
    m.put(lane, d, x if m.predicate(lane, p) else y)


@lane("VIMNMX")
def vimnmx(m, lane, s, d, a, b, p):
    x, y = m.integer(lane, a), m.integer(lane, b)
    key = (lambda v: v) if "U32" in s.mods else signed
    m.put(lane, d, (min if m.predicate(lane, p) else max)(x, y, key=key))


@lane("POPC")
def popc(m, lane, s, d, a):
    m.put(lane, d, bin(m.integer(lane, a)).count("1"))


@lane("BREV")
def brev(m, lane, s, d, a):
    m.put(lane, d, int("{:032b}".format(m.integer(lane, a))[::-1], 2))


@lane("FLO")
def flo(m, lane, s, d, a):
    assert s.mods == ["U32"], s.text
    m.put(lane, d, (m.integer(lane, a).bit_length() - 1) & WORD)


# ---- reals -------------------------------------------------------------------------------------------------------------------------


ONE = {32: rounding.bits_of(1.0, 32), 64: rounding.bits_of(1.0, 64)}
MINUS_ZERO = 1 << 31


def mode_of(s):
    assert not set(s.mods) - {"FTZ", "RM", "RP", "RZ"}, s.text
    return {"mode": next((x for x in s.mods if x != "FTZ"), "RN"), "ftz": "FTZ" in s.mods}


@lane("FFMA", "FADD", "FMUL")
def ffma(m, lane, s, d, a, b, *c):
    x, y = m.real(lane, a), m.real(lane, b)
    if s.name == "FADD":
        result = rounding.fused(x, ONE[32], y, **mode_of(s))
    elif s.name == "FMUL":
        result = rounding.fused(x, y, (x ^ y) & MINUS_ZERO, **mode_of(s))
    else:
        result = rounding.fused(x, y, m.real(lane, c[0]), **mode_of(s))
    m.put(lane, d, result)


@lane("DFMA")
def dfma(m, lane, s, d, a, b, c):
    assert not s.mods, s.text
    m.put(lane, d, rounding.fused(m.real(lane, a, 64), m.real(lane, b, 64), m.real(lane, c, 64), 64), 2)


@lane("MUFU")
def mufu(m, lane, s, d, a):
    bits = m.real(lane, a)
    exact = {"RCP": rounding.reciprocal, "RSQ": rounding.root_reciprocal}[s.mods[0]](bits)
    m.put(lane, d, m.approximations.get((s.mods[0], bits), exact))


@lane("HFMA2")
def hfma2(m, lane, s, d, a, b, high, low):
    if a.value is not None or b.value is not None or s.mods != ["MMA"]:
        raise Unknown(s.text + ", which is no constant")
    m.put(lane, d, rounding.bits_of(float(high.value), 16) << 16 | rounding.bits_of(float(low.value), 16))


@lane("I2F", "I2FP")
def i2f(m, lane, s, d, a):
    width = 64 if "F64" in s.mods else 32
    value = m.integer(lane, a)
    value = value if "U32" in s.mods else signed(value)
    m.put(lane, d, rounding.rounded(fractions.Fraction(value), width) if value else 0, width // 32)


@lane("FRND")
def frnd(m, lane, s, d, a):
    assert s.mods == ["TRUNC"], s.text
    bits = m.real(lane, a)
    value = rounding.number_of(bits, 32)
    m.put(lane, d, bits if not rounding.is_finite(value) else rounding.bits_of(math.copysign(math.trunc(value), value), 32))


@lane("FMNMX")
def fmnmx(m, lane, s, d, a, b, p):
    x, y = m.real(lane, a), m.real(lane, b)
    u, v = rounding.number_of(x, 32), rounding.number_of(y, 32)
    is_min = m.predicate(lane, p)
    if math.isnan(u) or math.isnan(v):
        m.put(lane, d, rounding.QUIET[32] if math.isnan(u) and math.isnan(v) else y if math.isnan(u) else x)
    else:
        m.put(lane, d, x if (u < v or (u == v and x >> 31)) == is_min else y)


@lane("FSETP")
def fsetp(m, lane, s, p, q, a, b, joined):
    x, y = m.real(lane, a), m.real(lane, b)
    u, v = (rounding.number_of(rounding.flushed(w) if "FTZ" in s.mods else w, 32) for w in (x, y))
    compare = s.mods[0]
    is_unordered = math.isnan(u) or math.isnan(v)
    result = compare.endswith("U") if is_unordered else COMPARE[compare[:2]](u, v)
    join, more = JOIN[next(x for x in s.mods if x in JOIN)], m.predicate(lane, joined)
    m.put_predicate(lane, p, join(result, more))
    m.put_predicate(lane, q, join(not result, more))
