/* Iterations of loops as the text gives them, against the interpreter: random nests of counted loops, and loops that
 * must not be counted. */
#include "tests/unit/kernel.h"

#include "base/writer.h"
#include "passes/analysis/executions.h"
#include "tests/unit/rf_walk.h"

enum { LOOPS = 4, PLACES = 3 * LOOPS + 1 };

typedef struct loop {
    const char *type, *compare;
    uint32_t bits;
    bool is_signed, head, negated, copies, subtracts, swapped, in_register, steps_first, apart;
    int64_t start, step, bound;
} loop;

typedef struct nest {
    uint64_t random;
    hd_writer text;
    uint32_t loops, places; /* so far; a place is a counter %n */
    bool pads;              /* an instruction without effect after each comparison and each step */
    uint32_t apart;         /* loops whose comparison is in a block before the one with the branch */
} nest;

static uint32_t choose(nest *n, uint32_t count) { return (uint32_t)(unit_random(&n->random) % count); }

static int64_t small(nest *n) { return (int64_t)choose(n, 41) - 20; }

/* Small numbers; of 16-bit loops now and then some near the ends of the type, where a loop may run over them. */
static int64_t start_or_bound(nest *n, const loop *l)
{
    int64_t ends[] = {0, 32767, -32768, 65535};
    return small(n) + (l->bits == 16 && choose(n, 4) == 0 ? ends[choose(n, 4)] : 0);
}

static loop random_loop(nest *n)
{
    static const struct {
        const char *type;
        uint32_t bits, compares;
        bool is_signed;
    } types[] = {{"s16", 16, 6, true},  {"u16", 16, 10, false}, {"s32", 32, 6, true},  {"u32", 32, 10, false},
                 {"b32", 32, 2, false}, {"s64", 64, 6, true},   {"u64", 64, 10, false}};
    static const char *const compares[] = {"eq", "ne", "lt", "le", "gt", "ge", "lo", "ls", "hi", "hs"};
    static const int64_t steps[] = {1, -1, 2, -2, 3, -5, 7};
    uint32_t t = choose(n, 7);
    loop l = {.type = types[t].type,
              .bits = types[t].bits,
              .is_signed = types[t].is_signed,
              .compare = compares[choose(n, types[t].compares)]};
    uint32_t flags = choose(n, 128);
    l.head = flags & 1, l.negated = flags & 2, l.copies = flags & 4, l.subtracts = flags & 8, l.swapped = flags & 16;
    l.in_register = flags & 32, l.steps_first = flags & 64;
    l.apart = choose(n, 20) == 0;
    l.start = start_or_bound(n, &l), l.bound = start_or_bound(n, &l), l.step = steps[choose(n, 7)];
    return l;
}

static const char *number(const loop *l, int64_t value, char *buffer)
{
    uint64_t mask = l->bits < 64 ? (1ull << l->bits) - 1 : ~0ull;
    int64_t extended = l->bits == 16 ? (int16_t)value : l->bits == 32 ? (int32_t)value : value;
    if (l->is_signed)
        snprintf(buffer, 32, "%lld", (long long)extended);
    else
        snprintf(buffer, 32, "%llu%s", (unsigned long long)((uint64_t)value & mask), l->bits == 64 ? "U" : "");
    return buffer;
}

static void visit(nest *n)
{
    hd_write_format(&n->text, "add.u32 %%n%u, %%n%u, 1;\n", n->places, n->places), n->places++;
}

static void write_step(nest *n, const loop *l, uint32_t k)
{
    static const char *const sums[] = {"s16", "s32", "s64"};
    char step[32];
    const char *type = sums[l->bits / 32];
    loop as_signed = *l;
    as_signed.is_signed = true;
    hd_write_format(&n->text, "%s.%s %%%s%u_%u, %%c%u_%u, %s;\n", l->subtracts ? "sub" : "add", type,
                    l->copies ? "t" : "c", l->bits, k, l->bits, k,
                    number(&as_signed, l->subtracts ? -l->step : l->step, step));
    if (l->copies)
        hd_write_format(&n->text, "mov.b%u %%c%u_%u, %%t%u_%u;\n", l->bits, l->bits, k, l->bits, k);
    if (n->pads)
        hd_write_string(&n->text, "mov.u32 %n28, %n29;\n");
}

static void write_test(nest *n, const loop *l, uint32_t k)
{
    char bound[64], counter[32], text[32];
    snprintf(counter, sizeof counter, "%%c%u_%u", l->bits, k);
    snprintf(bound, sizeof bound, "%s", number(l, l->bound, text));
    if (l->in_register)
        snprintf(bound, sizeof bound, "%%b%u_%u", l->bits, k);
    bool swapped = l->swapped && l->in_register;
    hd_write_format(&n->text, "setp.%s.%s %%p%u, %s, %s;\n", l->compare, l->type, k, swapped ? bound : counter,
                    swapped ? counter : bound);
    if (n->pads)
        hd_write_string(&n->text, "mov.u32 %n28, %n29;\n");
    if (l->apart)
        hd_write_format(&n->text, "bra S%u;\nS%u:\n", k, k);
    n->apart += l->apart;
}

static void write_nest(nest *n, uint32_t depth)
{
    uint32_t k = n->loops++;
    loop l = random_loop(n);
    char text[32];
    hd_write_format(&n->text, "mov.b%u %%c%u_%u, %s;\n", l.bits, l.bits, k, number(&l, l.start, text));
    hd_write_format(&n->text, "mov.b%u %%b%u_%u, %s;\nL%u:\n", l.bits, l.bits, k, number(&l, l.bound, text), k);
    visit(n);
    if (l.head) {
        write_test(n, &l, k);
        hd_write_format(&n->text, "@%s%%p%u bra E%u;\n", l.negated ? "!" : "", k, k);
    }
    if (l.steps_first)
        write_step(n, &l, k);
    visit(n);
    if (depth < 3 && n->loops < LOOPS && choose(n, 2))
        write_nest(n, depth + 1);
    visit(n);
    if (!l.steps_first)
        write_step(n, &l, k);
    if (l.head) {
        hd_write_format(&n->text, "bra L%u;\nE%u:\n", k, k);
    } else {
        write_test(n, &l, k);
        hd_write_format(&n->text, "@%s%%p%u bra L%u;\n", l.negated ? "!" : "", k, k);
    }
}

static void write_kernel(nest *n, uint64_t seed, bool pads)
{
    *n = (nest){.random = seed, .pads = pads};
    hd_writer_to_memory(&n->text);
    hd_write_string(
        &n->text,
        ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b64 %rd1;\n"
        ".reg .b32 %n<30>;\n.reg .pred %p<9>;\n");
    for (uint32_t k = 0; k < LOOPS; k++)
        for (uint32_t bits = 16; bits <= 64; bits *= 2)
            hd_write_format(&n->text, ".reg .b%u %%c%u_%u, %%t%u_%u, %%b%u_%u;\n", bits, bits, k, bits, k, bits, k);
    uint32_t bits = 16u << choose(n, 3), k = choose(n, LOOPS); /* decides nothing */
    hd_write_format(&n->text, "setp.lt.s%u %%p8, %%c%u_%u, 9;\n", bits, bits, k);
    for (uint32_t p = 0; p < PLACES; p++)
        hd_write_format(&n->text, "mov.u32 %%n%u, 0;\n", p);
    while (n->loops < LOOPS - 1)
        write_nest(n, 1);
    hd_write_string(&n->text, "ld.param.u64 %rd1, [out];\n");
    for (uint32_t p = 0; p < PLACES; p++)
        hd_write_format(&n->text, "st.global.u32 [%%rd1+%u], %%n%u;\n", 4 * p, p);
    hd_write_string(&n->text, "ret;\n}\n");
    hd_write_char(&n->text, '\0');
}

typedef struct estimated {
    uint64_t places[PLACES];
    uint32_t loops, counted;
} estimated;

/* What the text says of each counter's block. */
static estimated estimate(const char *text)
{
    estimated e = {.loops = 0};
    hd_source source;
    hd_diagnostics diagnostics;
    hd_arena arena = {0};
    hd_diagnostics_init(&diagnostics);
    hd_module *module = rf_parse(&source, text, strlen(text), &diagnostics);
    hd_function *f = hd_module_find_function(module, "k");
    hd_storage storage = hd_storage_of(f, &arena);
    hd_executions x = hd_executions_estimate(f, &storage, 10, &arena);
    e.loops = x.loops, e.counted = x.counted;
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        const hd_operand *o = hd_insn_operands(f, insn);
        char name[32] = "";
        if (insn->operand_count && o->kind == HD_OPERAND_REGISTER && hd_insn_form(f, insn)->opcode == HD_OP_ADD)
            hd_register_spell(f, o->value, name, sizeof name);
        if (name[0] && name[1] == 'n')
            e.places[atoi(name + 2)] = x.of_block[hd_function_cfg(f)->block_of[i]];
    }
    hd_arena_free(&arena);
    hd_module_free(module);
    hd_diagnostics_free(&diagnostics);
    return e;
}

/* What runs at all must run as often as the text says. Returns iterations of the first loop. */
static uint32_t run_and_compare(const nest *n, const estimated *e, uint64_t seed)
{
    uint32_t out[PLACES] = {0};
    uint64_t most = 0;
    kernel_run run = {.text = n->text.buffer.items,
                      .out_bytes = sizeof out,
                      .out = out,
                      .block = 1,
                      .options.instruction_limit = 50000};
    run_kernel(&run);
    for (uint32_t p = 0; p < n->places; p++) {
        most = e->places[p] > most ? e->places[p] : most;
        if (run.status == HD_EXEC_DONE && out[p] && e->places[p] != out[p])
            fail_msg("seed %llu: place %u runs %u times, not %llu", (unsigned long long)seed, p, out[p],
                     (unsigned long long)e->places[p]);
    }
    if (run.status != HD_EXEC_DONE) {
        assert_int_equal(run.status, HD_EXEC_LIMIT);
        assert_true(most > 100);
    }
    return out[0];
}

static void counted_loops_turn_as_often(void **state)
{
    (void)state;
    uint32_t proved = 0, turned = 0;
    for (uint64_t seed = 0; seed < 3500; seed++) {
        nest n, padded;
        write_kernel(&n, seed, false);
        write_kernel(&padded, seed, true);
        estimated e = estimate(n.text.buffer.items), same = estimate(padded.text.buffer.items);
        hd_writer_free(&padded.text);
        assert_int_equal(e.counted, same.counted);
        assert_memory_equal(e.places, same.places, sizeof e.places);
        assert_int_equal(e.loops, n.loops);
        assert_true(e.counted <= n.loops - n.apart);
        if (e.counted == e.loops)
            turned += run_and_compare(&n, &e, seed) > 1;
        proved += e.counted == e.loops;
        hd_writer_free(&n.text);
    }
    assert_true(proved > 300 && proved < 2700 && turned > 150);
}

/* ---- by hand ----------------------------------------------------------------------------------------------------- */

#define LOOP(start, body, end)                                                                                \
    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u32 m)\n{\n.reg .b32 %r<9>;\n.reg .b32 " \
    "%n<9>;\n.reg .b64 %rd<3>;\n.reg .pred %p<4>;\n" start "L:\nadd.u32 %n0, %n0, 1;\n" body end "ret;\n}\n"
#define TEST "setp.lt.s32 %p1, %r1, 7;\n@%p1 bra L;\n"

static void other_loops_take_the_factor(void **state)
{
    (void)state;
    static const char *const texts[] = {
        /* from anywhere */
        LOOP("ld.param.u32 %r1, [m];\n", "add.s32 %r1, %r1, 1;\n", TEST),
        LOOP("mov.u32 %r1, 0;\nld.param.u32 %r2, [m];\n", "add.s32 %r1, %r1, 1;\n",
             "setp.lt.s32 %p1, %r1, %r2;\n@%p1 bra L;\n"),
        /* by anything */
        LOOP("mov.u32 %r1, 0;\n", "add.s32 %r1, %r1, %r2;\n", TEST),
        /* now and then */
        LOOP("mov.u32 %r1, 0;\n", "@%p2 add.s32 %r1, %r1, 1;\n", TEST),
        LOOP("mov.u32 %r1, 0;\n", "@%p2 bra M;\nadd.s32 %r1, %r1, 1;\nM:\n", TEST),
        /* by one or two */
        LOOP("mov.u32 %r1, 0;\n", "add.s32 %r1, %r1, 1;\n@%p2 bra M;\nadd.s32 %r1, %r1, 1;\nM:\n", TEST),
        /* left early */
        LOOP("mov.u32 %r1, 0;\n", "add.s32 %r1, %r1, 1;\n@%p2 bra M;\n", TEST "M:\n"),
        LOOP("mov.u32 %r1, 0;\n", "add.s32 %r1, %r1, 1;\n@%p2 exit;\n", TEST),
        /* two entries */
        LOOP("mov.u32 %r1, 0;\n@%p2 bra M;\n", "mov.u32 %r3, 1;\nM:\nadd.s32 %r1, %r1, 1;\n", TEST),
        /* two ways back */
        LOOP("mov.u32 %r1, 0;\n", "add.s32 %r1, %r1, 1;\n@%p2 bra L;\n", TEST),
        LOOP("mov.u32 %r1, 9;\n", "sub.s32 %r1, %r1, 1;\n", TEST "@!%p2 bra L;\n"),
        /* away from the bound */
        LOOP("mov.u32 %r1, 0;\n", "sub.s32 %r1, %r1, 1;\n", TEST),
        /* past the bound */
        LOOP("mov.u32 %r1, 1;\n", "add.s32 %r1, %r1, 2;\n", "setp.ne.s32 %p1, %r1, 8;\n@%p1 bra L;\n"),
        LOOP("mov.u32 %r1, 0;\n", "add.s32 %r1, %r1, 1;\nmul.lo.s32 %r1, %r1, 2;\n", TEST),
        LOOP("mov.u32 %r1, 0;\n", "add.s32 %r1, %r1, 1;\nsetp.lt.s32 %p1, %r1, 7;\n@%p3 setp.lt.s32 %p1, %r1, 9;\n",
             "@%p1 bra L;\n"),
        LOOP("mov.u32 %r1, 0;\n@%p2 mov.u32 %r1, 3;\n", "add.s32 %r1, %r1, 1;\n", TEST),
        LOOP("mov.u32 %r1, 0;\n@%p2 bra M;\nmov.u32 %r1, 3;\nM:\n", "add.s32 %r1, %r1, 1;\n", TEST),
        LOOP("mov.u32 %r1, 0;\n", "add.sat.s32 %r1, %r1, 1;\n", TEST),
        /* a bound that is set on one way only */
        LOOP("@%p2 bra M;\nmov.u32 %r2, 7;\nM:\nmov.u32 %r1, 0;\n", "add.s32 %r1, %r1, 1;\n",
             "setp.lt.s32 %p1, %r1, %r2;\n@%p1 bra L;\n"),
    };
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        estimated e = estimate(texts[i]);
        if (e.loops == 0 || e.counted != 0 || e.places[0] < 10)
            fail_msg("text %u: %u loops, %u counted, %llu times:\n%s", i, e.loops, e.counted,
                     (unsigned long long)e.places[0], texts[i]);
    }
    static const char counted[] = LOOP("mov.u32 %r1, 0;\n", "add.s32 %r1, %r1, 1;\n", TEST);
    assert_int_equal(estimate(counted).places[0], 7);
    static const char around[] =
        LOOP("mov.u32 %r1, 0;\n@%p2 bra M;\nadd.u32 %n1, %n1, 1;\nM:\n", "add.s32 %r1, %r1, 1;\n", TEST);
    assert_int_equal(estimate(around).counted, 0); /* the number is before a join: not looked for */
}

static void figures_stay_below_the_most(void **state)
{
    (void)state;
    hd_writer w;
    hd_writer_to_memory(&w);
    hd_write_string(&w, ".version 8.0\n.target sm_80\n.address_size 64\n.entry k()\n{\n.reg .b32 %r<99>;\n.reg .b32 "
                        "%n<9>;\n.reg .pred %p<99>;\n");
    for (uint32_t k = 0; k < 40; k++)
        hd_write_format(&w, "L%u:\nadd.u32 %%r%u, %%r%u, 1;\n", k, k, k);
    hd_write_string(&w, "add.u32 %n0, %n0, 1;\n");
    for (uint32_t k = 40; k-- > 0;)
        hd_write_format(&w, "@%%p%u bra L%u;\n", k, k);
    hd_write_string(&w, "add.u32 %n1, %n1, 1;\nret;\nadd.u32 %n2, %n2, 1;\nret;\n}\n");
    hd_write_char(&w, '\0');
    estimated e = estimate(w.buffer.items);
    assert_int_equal(e.loops, 40);
    assert_true(e.places[0] == HD_EXECUTIONS_MOST);
    assert_int_equal(e.places[1], 1);
    assert_int_equal(e.places[2], 0);
    hd_writer_free(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counted_loops_turn_as_often),
        cmocka_unit_test(other_loops_take_the_factor),
        cmocka_unit_test(figures_stay_below_the_most),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
