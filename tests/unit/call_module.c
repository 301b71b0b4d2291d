/* Random modules whose functions call each other: see call_module.h. */
#include "tests/unit/call_module.h"
#include "unit.h"

#include "base/writer.h"

enum { CALL_MODULE_FUNCTIONS = 4, CALL_MODULE_WORDS = 64 };

typedef struct maker {
    hd_writer text;
    uint64_t seed;
    uint32_t labels;
    bool in_registers; /* parameters and results */
    bool exits;        /* some lanes end within a function */
} maker;

static uint32_t below(maker *m, uint32_t n) { return (uint32_t)(unit_random(&m->seed) % n); }
static uint32_t data(maker *m) { return 2 + below(m, 4); } /* a register that holds some */

static void write_guard(maker *m)
{
    if (!below(m, 3))
        hd_write_format(&m->text, "@%s%%p%u ", below(m, 2) ? "!" : "", 1 + below(m, 2));
}

static void write_plain(maker *m)
{
    static const char *const names[] = {"add.u32", "xor.b32", "mul.lo.u32", "and.b32"};
    uint32_t d = data(m), a = data(m), b = data(m);
    switch (below(m, 8)) {
    case 0: hd_write_format(&m->text, "setp.lt.u32 %%p%u, %%r%u, %u;\n", 1 + below(m, 2), a, below(m, 100)); return;
    case 1:
        hd_write_format(&m->text, "and.b32 %%r7, %%r%u, %u;\nmad.wide.u32 %%rd0, %%r7, 4, %%rd1;\n", a,
                        CALL_MODULE_WORDS - 1);
        write_guard(m);
        hd_write_format(&m->text, "ld.global.u32 %%r%u, [%%rd0];\n", d);
        return;
    case 2: hd_write_format(&m->text, "mov.u32 %%r%u, %u;\n", d, below(m, 200)); return;
    default: write_guard(m); hd_write_format(&m->text, "%s %%r%u, %%r%u, %%r%u;\n", names[below(m, 4)], d, a, b);
    }
}

static void write_plains(maker *m, uint32_t most)
{
    for (uint32_t i = below(m, most + 1); i > 0; i--)
        write_plain(m);
}

/* Calls the function, or one of the table; only lanes of %p3 do, if the call is not uniform. */
static void write_call(maker *m, bool guarded)
{
    uint32_t from = data(m), to = data(m), label = m->labels++;
    const char *guard = guarded ? "@%p3 " : "";
    bool by_table = !below(m, 3);
    if (by_table)
        hd_write_format(
            &m->text, "and.b32 %%r7, %%r%u, %u;\nmad.wide.u32 %%rd0, %%r7, 8, %%rd2;\nld.global.u64 %%rd0, [%%rd0];\n",
            from, CALL_MODULE_FUNCTIONS - 1);
    if (!m->in_registers)
        hd_write_format(
            &m->text,
            "{\n.param .b32 x;\n.param .b32 y;\n.param .b32 z;\nst.param.b32 [x], %%r%u;\nst.param.b32 [y], %%r6;\n",
            from);
    if (by_table)
        hd_write_format(&m->text,
                        m->in_registers ? "P%u: .callprototype (.reg .b32 _) _ (.reg .b32 _, .reg .b32 _);\n"
                                        : "P%u: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b32 _);\n",
                        label);
    hd_write_string(&m->text, guard);
    if (m->in_registers)
        hd_write_format(&m->text, "call (%%r%u), ", to);
    else
        hd_write_string(&m->text, "call (z), ");
    if (by_table)
        hd_write_string(&m->text, "%rd0, ");
    else
        hd_write_format(&m->text, "f%u, ", below(m, CALL_MODULE_FUNCTIONS));
    if (m->in_registers)
        hd_write_format(&m->text, "(%%r%u, %%r6)", from);
    else
        hd_write_string(&m->text, "(x, y)");
    if (by_table)
        hd_write_format(&m->text, ", P%u", label);
    hd_write_string(&m->text, ";\n");
    if (!m->in_registers)
        hd_write_format(&m->text, "%sld.param.b32 %%r%u, [z];\n}\n", guard, to);
}

/* ... by lanes that may go deeper, or by some of them. */
static void write_calls(maker *m)
{
    uint32_t label = m->labels++;
    bool some = below(m, 2), guarded = below(m, 2), loop = !below(m, 4);
    hd_write_string(&m->text, "sub.u32 %r6, %r1, 1;\n");
    if (loop)
        hd_write_format(&m->text, "mov.u32 %%r8, 0;\nT%u:\n", label);
    if (some)
        hd_write_format(&m->text, "setp.lt.u32 %%p3, %%r%u, %u;\nand.pred %%p3, %%p3, %%p0;\n", data(m),
                        20 + below(m, 300));
    else
        hd_write_string(&m->text, "and.pred %p3, %p0, %p0;\n");
    if (!guarded)
        hd_write_format(&m->text, "@!%%p3 bra L%u;\n", label);
    write_call(m, guarded);
    write_plains(m, 3);
    hd_write_format(&m->text, "L%u:\n", label);
    if (loop)
        hd_write_format(&m->text, "add.u32 %%r8, %%r8, 1;\nsetp.lt.u32 %%p3, %%r8, 2;\n@%%p3 bra T%u;\n", label);
}

static void write_body(maker *m, uint32_t calls)
{
    hd_write_format(
        &m->text,
        "mov.u64 %%rd1, numbers;\nmov.u64 %%rd2, table;\nsetp.gt.s32 %%p0, %%r1, 0;\nsetp.lt.u32 %%p1, %%r2, %u;\n"
        "setp.lt.u32 %%p2, %%r2, 30;\nmov.u32 %%r3, %%r2;\n",
        below(m, 300));
    write_plains(m, 4);
    for (uint32_t i = 0; i < calls; i++) {
        write_calls(m);
        write_plains(m, 6);
    }
}

#define REGISTERS ".reg .b32 %%r<9>;\n.reg .pred %%p<4>;\n.reg .b64 %%rd<5>;\n" /* of a format */

static void write_function(maker *m, uint32_t f)
{
    hd_write_format(&m->text,
                    m->in_registers ? ".func (.reg .b32 z) f%u(.reg .b32 x, .reg .b32 y)\n{\n" REGISTERS
                                      "mov.u32 %%r2, x;\nmov.u32 %%r1, y;\n"
                                    : ".func (.param .b32 z) f%u(.param .b32 x, .param .b32 y)\n{\n" REGISTERS
                                      "ld.param.b32 %%r2, [x];\nld.param.b32 %%r1, [y];\n",
                    f);
    write_body(m, below(m, 3));
    if (m->exits && f == 1)
        hd_write_string(&m->text, "setp.eq.u32 %p3, %r2, 7;\n@%p3 exit;\n");
    hd_write_format(&m->text, m->in_registers ? "mov.u32 z, %%r%u;\nret;\n}\n" : "st.param.b32 [z], %%r%u;\nret;\n}\n",
                    data(m));
}

char *call_module_make(uint64_t seed, uint32_t depth)
{
    maker m = {.seed = seed * 77 + 5, .in_registers = seed % 2, .exits = seed % 5 == 4};
    hd_writer_to_memory(&m.text);
    hd_write_string(&m.text, ".version 8.0\n.target sm_80\n.address_size 64\n");
    for (uint32_t f = 0; f < CALL_MODULE_FUNCTIONS; f++)
        hd_write_format(&m.text,
                        m.in_registers ? ".func (.reg .b32 z) f%u(.reg .b32 x, .reg .b32 y);\n"
                                       : ".func (.param .b32 z) f%u(.param .b32 x, .param .b32 y);\n",
                        f);
    hd_write_format(
        &m.text,
        ".global .u64 table[%u] = {f0, f1, f2, f3};\n.global .u32 numbers[%u] = {5, 17, 3, 250, 99, 1, 77, 42, 8};\n",
        CALL_MODULE_FUNCTIONS, CALL_MODULE_WORDS);
    for (uint32_t f = 0; f < CALL_MODULE_FUNCTIONS; f++)
        write_function(&m, f);
    hd_write_format(&m.text,
                    ".entry k(.param .u64 in, .param .u64 out)\n{\n" REGISTERS
                    "ld.param.u64 %%rd3, [in];\nmov.u32 %%r2, %%tid.x;\n"
                    "mad.wide.u32 %%rd3, %%r2, 4, %%rd3;\nld.global.u32 %%r2, [%%rd3];\nmov.u32 %%r1, %u;\n",
                    depth);
    write_body(&m, 2);
    write_body(&m, 1);
    hd_write_format(&m.text,
                    "mov.u32 %%r0, %%tid.x;\nld.param.u64 %%rd3, [out];\nmad.wide.u32 %%rd3, %%r0, 4, "
                    "%%rd3;\nst.global.u32 [%%rd3], %%r%u;\nret;\n}\n",
                    data(&m));
    hd_write_char(&m.text, '\0');
    char *text = malloc(m.text.buffer.count);
    memcpy(text, m.text.buffer.items, m.text.buffer.count);
    hd_writer_free(&m.text);
    return text;
}
