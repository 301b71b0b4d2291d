#!/usr/bin/env python3
"""Writes PTX of one shape and size, to measure how times grow: make_shape.py SHAPE N OUT; without arguments, the shapes.

Each shape has N times as many instructions, functions or table entries as its smallest one. What is live at once is small, but for the shapes
that are about that."""
import sys

HEAD = ".version 8.0\n.target sm_80\n.address_size 64\n"
SHAPES = {}


def shape(build):
    SHAPES[build.__name__.replace("_", "-")] = build
    return build


def kernel(lines, registers, name="k", predicates=2, longs=4, before=()):
    """A kernel of the lines; %r0 is the lane's number, %p0 depends on it, and what %r1 holds is stored at the end."""
    return "\n".join([
        *before, ".visible .entry %s(.param .u64 out)\n{" % name,
        "\t.reg .b32 %%r<%d>;\n\t.reg .b64 %%d<%d>;\n\t.reg .pred %%p<%d>;" % (max(registers, 4), longs, predicates),
        "\tmov.u32 %r0, %tid.x;\n\tmov.u32 %r1, 0;\n\tsetp.lt.u32 %p0, %r0, 7;\n\tld.param.u64 %d0, [out];",
        *lines, "\tst.global.u32 [%d0], %r1;\n\tret;\n}\n"])


def one(lines, registers=4, **options):
    return HEAD + kernel(lines, registers, **options)


def test(i):
    return "\tsetp.eq.u32 %%p1, %%r0, %d;" % i


# ---- branches of one function ----------------------------------------------------------------------------------------

@shape
def exits_of_one_label(n):
    """n conditional branches to the label after them all"""
    return one([line for i in range(n) for line in (test(i), "\t@%p1 bra END;", "\tadd.u32 %%r1, %%r1, %d;" % i)] + ["END:"])


@shape
def branches_to_one_head(n):
    """a loop with n ways back to its head"""
    return one(["HEAD:", "\tadd.u32 %r1, %r1, 1;"] +
               [line for i in range(n) for line in (test(i), "\t@%p1 bra HEAD;", "\tadd.u32 %%r1, %%r1, %d;" % i)])


@shape
def breaks_of_one_loop(n):
    """a loop with n ways out"""
    return one(["HEAD:", "\tadd.u32 %r1, %r1, 1;"] +
               [line for i in range(n) for line in ("\tsetp.eq.u32 %%p1, %%r1, %d;" % i, "\t@%p1 bra END;", "\tadd.u32 %r1, %r1, %r0;")] +
               ["\tsetp.lt.u32 %p1, %r1, 9999999;", "\t@%p1 bra HEAD;", "END:"])


@shape
def ifs_in_sequence(n):
    """n short ifs, one after the other"""
    return one([line for i in range(n) for line in (test(i), "\t@%%p1 bra L%d;" % i, "\tadd.u32 %r1, %r1, %r0;", "\txor.b32 %r1, %r1, 5;",
                                                    "\tst.global.u32 [%d0+4], %r1;", "L%d:" % i)])


@shape
def nested_ifs(n):
    """n ifs, each in the one before"""
    return one([line for i in range(n) for line in (test(i), "\t@%%p1 bra L%d;" % i, "\tadd.u32 %%r1, %%r1, %d;" % i)] +
               [line for i in reversed(range(n)) for line in ("L%d:" % i, "\txor.b32 %%r1, %%r1, %d;" % i)])


@shape
def nested_if_elses(n):
    """n ifs with two sides, each in the first side of the one before"""
    lines = [line for i in range(n) for line in (test(i), "\t@%%p1 bra E%d;" % i, "\tadd.u32 %%r1, %%r1, %d;" % i)]
    for i in reversed(range(n)):
        lines += ["\tbra L%d;" % i, "E%d:" % i, "\tmul.lo.u32 %r1, %r1, 3;", "L%d:" % i, "\txor.b32 %%r1, %%r1, %d;" % i]
    return one(lines)


@shape
def else_if_chain(n):
    """if .. else if .. else if .."""
    lines = []
    for i in range(n):
        lines += [test(i), "\t@%%p1 bra E%d;" % i, "\tadd.u32 %%r1, %%r1, %d;" % i, "\tbra END;", "E%d:" % i]
    return one(lines + ["END:"])


@shape
def ladder(n):
    """n blocks, each of which may be left out"""
    return one([line for i in range(n) for line in ("L%d:" % i, test(i), "\t@%%p1 bra L%d;" % (i + 2), "\tadd.u32 %%r1, %%r1, %d;" % i)] +
               ["L%d:" % n, "L%d:" % (n + 1)])


@shape
def loops_in_sequence(n):
    """n loops of one block"""
    return one([line for i in range(n) for line in ("L%d:" % i, "\tadd.u32 %r1, %r1, %r0;", "\tsetp.lt.u32 %%p1, %%r1, %d;" % i, "\t@%%p1 bra L%d;" % i)])


@shape
def nested_loops(n):
    """n loops, each in the one before"""
    return one([line for i in range(n) for line in ("L%d:" % i, "\tadd.u32 %r1, %r1, %r0;")] +
               [line for i in reversed(range(n)) for line in ("\tsetp.lt.u32 %%p1, %%r1, %d;" % i, "\t@%%p1 bra L%d;" % i)])


@shape
def irreducible(n):
    """n loops with two entries, one after the other"""
    lines = []
    for i in range(n):
        lines += [test(i), "\t@%%p1 bra M%d;" % i, "L%d:" % i, "\tadd.u32 %r1, %r1, %r0;", "M%d:" % i, "\txor.b32 %r1, %r1, 5;",
                  "\tsetp.lt.u32 %%p1, %%r1, %d;" % i, "\t@%%p1 bra L%d;" % i]
    return one(lines)


@shape
def nested_irreducible(n):
    """n blocks that lead to the next one and the one before, and are entered at both ends"""
    lines = [test(7), "\t@%%p1 bra L%d;" % (n - 1)]
    for i in range(n):
        lines += ["L%d:" % i, "\tadd.u32 %%r1, %%r1, %d;" % i]
        if i:
            lines += ["\tsetp.lt.u32 %%p1, %%r1, %d;" % i, "\t@%%p1 bra L%d;" % (i - 1)]
    return one(lines)


@shape
def crossing(n):
    """n blocks, each of which may lead to any one of two far away"""
    lines = []
    for i in range(n):
        lines += ["L%d:" % i, "\tadd.u32 %%r1, %%r1, %d;" % i, "\tsetp.lt.u32 %%p1, %%r1, %d;" % i, "\t@%%p1 bra L%d;" % (i * 7919 % n)]
    return one(lines)


# ---- tables ----------------------------------------------------------------------------------------------------------

@shape
def table_in_loop(n):
    """a loop around one brx.idx with n targets"""
    lines = ["HEAD:", "\tand.b32 %%r2, %%r1, %d;" % (n - 1), "T: .branchtargets %s;" % ", ".join("C%d" % i for i in range(n)),
             "\tbrx.idx %r2, T;"]
    for i in range(n):
        lines += ["C%d:" % i, "\tadd.u32 %%r1, %%r1, %d;" % i, "\tbra NEXT;"]
    return one(lines + ["NEXT:", "\tadd.u32 %r1, %r1, %r0;", "\tsetp.lt.u32 %p1, %r1, 99999;", "\t@%p1 bra HEAD;"])


@shape
def tables_in_sequence(n):
    """n times brx.idx with four targets"""
    lines = []
    for i in range(n):
        sides = ["L%d_%d" % (i, side) for side in range(4)]
        lines += ["\tand.b32 %r2, %r0, 3;", "T%d: .branchtargets %s;" % (i, ", ".join(sides)), "\tbrx.idx %%r2, T%d;" % i]
        for side in sides:
            lines += [side + ":", "\tadd.u32 %%r1, %%r1, %d;" % i, "\tbra N%d;" % i]
        lines += ["N%d:" % i]
    return one(lines)


@shape
def one_table_for_all(n):
    """n times brx.idx with the same sixteen targets"""
    lines = ["T: .branchtargets %s;" % ", ".join("C%d" % i for i in range(16))]
    for i in range(n):
        lines += [test(i), "\tand.b32 %r2, %r1, 15;", "\t@%p1 brx.idx %r2, T;", "\tadd.u32 %%r1, %%r1, %d;" % i]
    lines += ["\tbra END;"]
    for i in range(16):
        lines += ["C%d:" % i, "\tadd.u32 %%r1, %%r1, %d;" % i, "\tbra END;"]
    return one(lines + ["END:"])


# ---- straight code ---------------------------------------------------------------------------------------------------

@shape
def long_block(n):
    """one block, few registers"""
    return one(["\tmad.lo.u32 %%r%d, %%r%d, %%r1, %d;" % (1 + i % 3, 1 + (i + 1) % 3, i) for i in range(n)])


@shape
def many_registers(n):
    """one block, a register for each value"""
    return one(["\tmad.lo.u32 %%r%d, %%r%d, %%r%d, %d;" % (i + 2, i + 1, i, i) for i in range(n)] + ["\tmov.u32 %%r1, %%r%d;" % (n + 1)], n + 2)


@shape
def values_live_across_a_block(n):
    """one block that makes n values and then uses them"""
    return one(["\tadd.u32 %%r%d, %%r0, %d;" % (i + 2, i) for i in range(n)] + ["\tmad.lo.u32 %%r1, %%r1, 5, %%r%d;" % (i + 2) for i in range(n)], n + 2)


@shape
def copies(n):
    """n moves of moves"""
    return one(["\tmov.u32 %%r%d, %%r%d;" % (i + 2, i + 1 if i else 0) for i in range(n)] + ["\tmov.u32 %%r1, %%r%d;" % (n + 1)], n + 2)


@shape
def merges(n):
    """n registers that two sides write and the code after them reads"""
    return one(["\t@%p0 bra E;"] + ["\tmov.u32 %%r%d, %d;" % (i + 2, i) for i in range(n)] + ["\tbra J;", "E:"] +
               ["\tadd.u32 %%r%d, %%r0, %d;" % (i + 2, i) for i in range(n)] + ["J:"] + ["\txor.b32 %%r1, %%r1, %%r%d;" % (i + 2) for i in range(n)], n + 2)


@shape
def loads_and_uses(n):
    """one block of loads, each used once, and stores"""
    return one([line for i in range(n) for line in ("\tld.global.u32 %%r%d, [%%d0+%d];" % (i + 2, 4 * i), "\tadd.u32 %%r1, %%r1, %%r%d;" % (i + 2),
                                                    "\tst.global.u32 [%%d0+%d], %%r1;" % (4 * i))], n + 2)


@shape
def loads_before_uses(n):
    """n loads, then n uses"""
    return one(["\tld.global.u32 %%r%d, [%%d0+%d];" % (i + 2, 4 * i) for i in range(n)] + ["\tadd.u32 %%r1, %%r1, %%r%d;" % (i + 2) for i in range(n)], n + 2)


@shape
def barriers(n):
    """n barriers in divergent ifs"""
    return one([line for i in range(n) for line in (test(i), "\t@%%p1 bra E%d;" % i, "\tadd.u32 %r1, %r1, 1;", "\tbar.warp.sync -1;", "\tbra L%d;" % i,
                                                    "E%d:" % i, "\tadd.u32 %r1, %r1, 2;", "L%d:" % i)])


@shape
def parameters(n):
    """n parameters and n loads of them (at most 1024)"""
    n = min(n, 1024)
    lines = [line for i in range(n) for line in ("\tld.param.u32 %%r2, [q%d];" % i, "\tadd.u32 %r1, %r1, %r2;")]
    text = one(lines)
    return text.replace(".param .u64 out", ".param .u64 out, " + ", ".join(".param .u32 q%d" % i for i in range(n)))


@shape
def declarations(n):
    """n scopes, each with a register of its own"""
    return one([line for i in range(n) for line in ("\t{", "\t.reg .b32 x%d;" % i, "\tadd.u32 x%d, %%r0, %d;" % (i, i), "\txor.b32 %%r1, %%r1, x%d;" % i, "\t}")])


@shape
def variables(n):
    """n variables of the module, each read once"""
    return one([line for i in range(n) for line in ("\tld.global.u32 %%r2, [g%d];" % i, "\tadd.u32 %r1, %r1, %r2;")],
               before=[".global .u32 g%d = %d;" % (i, i) for i in range(n)])


@shape
def values_live_through_ifs(n):
    """sixteen values, each live through n short ifs"""
    lines = ["\tadd.u32 %%r%d, %%r0, %d;" % (k + 4, k) for k in range(16)]
    lines += [line for i in range(n) for line in (test(i), "\t@%%p1 bra L%d;" % i, "\tadd.u32 %r1, %r1, %r0;", "\tst.global.u32 [%d0+4], %r1;", "L%d:" % i)]
    return one(lines + ["\txor.b32 %%r1, %%r1, %%r%d;" % (k + 4) for k in range(16)], 20)


# ---- functions -------------------------------------------------------------------------------------------------------

def head(name):
    return ".func (.param .b32 o) %s(.param .b32 i)" % name


def device(name, lines):
    return "\n".join([head(name), "{\n\t.reg .b32 %r<4>;\n\tld.param.u32 %r1, [i];\n\tadd.u32 %r1, %r1, 1;", *lines,
                      "\tst.param.b32 [o], %r1;\n\tret;\n}\n"])


def call(name):
    """Of %r1, into it."""
    return "\t{\n\t.param .b32 a;\n\t.param .b32 b;\n\tst.param.b32 [a], %%r1;\n\tcall.uni (b), %s, (a);\n\tld.param.b32 %%r1, [b];\n\t}" % name


@shape
def kernels(n):
    """n small kernels"""
    return HEAD + "".join(kernel(["\tadd.u32 %%r1, %%r0, %d;" % i], 4, "k%d" % i) for i in range(n))


@shape
def functions(n):
    """n device functions that one kernel calls"""
    return HEAD + "".join(device("f%d" % i, ["\tmul.lo.u32 %%r1, %%r1, %d;" % i]) for i in range(n)) + \
        kernel([call("f%d" % i) for i in range(n)], 4)


@shape
def call_chain(n):
    """n device functions, each of which calls the next one"""
    return HEAD + "".join(device("f%d" % i, [call("f%d" % (i - 1))] if i else []) for i in range(n)) + kernel([call("f%d" % (n - 1))], 4)


@shape
def call_ladder(n):
    """n device functions, each of which calls the next two"""
    return HEAD + "".join(device("f%d" % i, [call("f%d" % k) for k in (i - 1, i - 2) if k >= 0]) for i in range(n)) + kernel([call("f%d" % (n - 1))], 4)


@shape
def call_circle(n):
    """n device functions that call each other in a circle"""
    return HEAD + "".join(head("f%d" % i) + ";\n" for i in range(n)) + \
        "".join(device("f%d" % i, [call("f%d" % ((i + 1) % n))]) for i in range(n)) + kernel([call("f0")], 4)


@shape
def callers(n):
    """n kernels that call the same function"""
    return HEAD + device("f", []) + "".join(kernel([call("f")], 4, "k%d" % i) for i in range(n))


def main():
    if len(sys.argv) != 4:
        print("\n".join("%-28s %s" % (name, build.__doc__) for name, build in SHAPES.items()))
        return
    with open(sys.argv[3], "w", encoding="ascii") as out:
        out.write(SHAPES[sys.argv[1]](int(sys.argv[2])))


if __name__ == "__main__":
    main()
