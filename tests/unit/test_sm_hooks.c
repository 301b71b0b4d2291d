/* Hooks of technique.h that only cycles show, in cycles that are derived by hand: warps by rank, units that are
 * offered, and instructions that skip their unit. The models are the baseline with one hook more, or another. */
#include "small_machine.h"
#include "timed_kernel.h"

#include "ir/form.h"

typedef struct hooked { /* a model, and its hooks */
    hd_rf_model_info info;
    hd_rf_ops ops;
} hooked;

static const hd_rf_ops *baseline;

static hooked hook(void)
{
    const hd_rf_model_info *info = hd_rf_model_find("baseline", 8);
    hooked h = {*info, *info->ops};
    baseline = info->ops;
    return h;
}

static timed time_hooked(const hooked *h, const char *body, uint32_t block)
{
    hooked own = *h;
    own.info.ops = &own.ops;
    timed t = {.model = &own.info, .machine = small_machine()};
    t.machine.fetch.buffer = t.machine.fetch.width = 8; /* so that warps wait for each other only */
    time_body(&t, body, 1, block);
    t.model = NULL;
    return t;
}

static const hd_form *form_of(const hd_rf_step *step) { return hd_insn_form(step->code->function, step->insn); }

static uint32_t opcode_of(const hd_rf_step *step) { return form_of(step)->opcode; }

/* ---- rank_warp --------------------------------------------------------------------------------------------------- */

static uint32_t second_first(hd_rf_model *model, const hd_rf_step *next, uint64_t now)
{
    (void)model, (void)now;
    return opcode_of(next) == HD_OP_SQRT ? next->warp->identity.warp : 0;
}

static uint32_t first_first(hd_rf_model *model, const hd_rf_step *next, uint64_t now)
{
    (void)model, (void)now;
    return opcode_of(next) == HD_OP_SQRT ? 1 - next->warp->identity.warp : 0;
}

/* After the barrier both warps may compute a root in the same cycle; the first one has a chain after it. The unit takes
 * a root every 8 cycles: so much later does the chain begin where the second warp is first. */
static void ranks_decide_who_is_first(void **state)
{
    static const char body[] = "mov.f32 %f1, 0f40000000;\nsetp.ge.u32 %p1, %r0, 32;\nbar.sync 0;\n"
                               "sqrt.approx.f32 %f2, %f1;\n@%p1 bra DONE;\nadd.f32 %f2, %f2, %f2;\n"
                               "add.f32 %f2, %f2, %f2;\nadd.f32 %f2, %f2, %f2;\nDONE:\n";
    hooked first = hook(), second = first;
    (void)state;
    first.ops.rank_warp = first_first;
    second.ops.rank_warp = second_first;
    assert_int_equal(time_hooked(&second, body, 64).counts.cycles, time_hooked(&first, body, 64).counts.cycles + 8);
}

/* ---- idle_slot --------------------------------------------------------------------------------------------------- */

static struct {
    uint64_t calls, busy, last;
} offers;

static uint32_t take_all(hd_rf_model *model, uint32_t units, uint64_t now, hd_access_sink *sink)
{
    const uint32_t all = (1u << (HD_UNIT_CTRL + 1)) - 1;
    (void)model, (void)sink;
    assert_true(!offers.calls || now > offers.last);
    offers.last = now;
    offers.calls++;
    offers.busy += (uint32_t)__builtin_popcount(all & ~units);
    return units;
}

/* Offered in each cycle in which a warp is resident, but for the unit of the instruction that issues, and for one that
 * is busy: for 7 cycles after the dispatch of a root, which it takes every 8 cycles. An operation takes the cycle that
 * nobody wanted, so that it delays nothing. */
static void idle_units_are_offered_in_each_cycle(void **state)
{
    static const char body[] = "add.u32 %r4, %r0, 1;\nmul.lo.u32 %r4, %r4, 3;\nld.global.u32 %r5, [%rd1];\n"
                               "sqrt.approx.f32 %f1, 0f40000000;\nadd.u32 %r4, %r4, %r5;\n";
    hooked h = hook(), plain = h;
    (void)state;
    h.ops.idle_slot = take_all;
    memset(&offers, 0, sizeof offers);
    timed with = time_hooked(&h, body, 32), without = time_hooked(&plain, body, 32);
    assert_int_equal(offers.calls, with.counts.sm.busy_cycles);
    assert_int_equal(offers.busy, with.counts.sm.warp_instructions + 7);
    assert_int_equal(with.counts.cycles, without.counts.cycles);
    assert_memory_equal(with.counts.sm.slots, without.counts.sm.slots, sizeof with.counts.sm.slots);
}

static const hd_rf_module *repeating;

/* Repeats the roots of the kernel in the first cycle in which their unit is offered. */
static uint32_t repeat_root(hd_rf_model *model, uint32_t units, uint64_t now, hd_access_sink *sink)
{
    (void)model;
    if (offers.calls || !(units >> HD_UNIT_SFU & 1))
        return 0;
    const hd_rf_code *code = repeating->functions[0];
    for (uint32_t i = 0; i < code->instruction_count && !offers.calls; i++)
        if (hd_insn_form(code->function, &code->function->instructions.items[i])->opcode == HD_OP_SQRT) {
            hd_array_push(&sink->repeats, (hd_rf_repeat){0, i});
            offers.calls++;
            offers.last = now;
        }
    return 1 << HD_UNIT_SFU;
}

static hd_rf_model *create_repeating(const hd_rf_module *code, const char *options, const char **refusal)
{
    repeating = code;
    return baseline->create(code, options, refusal);
}

/* A root that is repeated in cycle 1, in which the first instruction is fetched, takes its unit for 8 cycles. The root
 * of the kernel issues in cycle 3, after the index of the thread; it reads no register, and would be dispatched in the
 * next cycle. */
static void a_repeated_instruction_occupies_its_unit(void **state)
{
    static const char body[] = "sqrt.approx.f32 %f1, 0f40000000;\nadd.f32 %f2, %f1, %f1;\n";
    hooked h = hook(), plain = h;
    (void)state;
    h.ops.create = create_repeating;
    h.ops.idle_slot = repeat_root;
    memset(&offers, 0, sizeof offers);
    timed with = time_hooked(&h, body, 32), without = time_hooked(&plain, body, 32);
    assert_int_equal(offers.calls, 1);
    assert_int_equal(offers.last, 1);
    assert_int_equal(with.counts.cycles - without.counts.cycles, (offers.last + 8) - (3 + 1));
}

/* ---- skips_unit -------------------------------------------------------------------------------------------------- */

static void skip_products(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    baseline->execute(model, step, sink);
    sink->skips_unit = opcode_of(step) == HD_OP_MUL;
}

static void skip_loads(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    baseline->execute(model, step, sink);
    sink->skips_unit = opcode_of(step) == HD_OP_LD && form_of(step)->space == HD_SPACE_GLOBAL;
}

/* sm.h: issue in t, operands in t + 1, dispatch in t + 2, a result in t + 2 + 6. Without the unit it is there in t + 2:
 * what needs it issues 6 cycles earlier. */
static void products_skip_their_unit(void **state)
{
    static const char body[] =
        "mul.lo.u32 %r4, %r0, 3;\nmul.lo.u32 %r4, %r4, 3;\nmul.lo.u32 %r4, %r4, 3;\nmul.lo.u32 %r4, %r4, 3;\n"
        "add.u32 %r5, %r4, 1;\n";
    hooked h = hook(), plain = h;
    (void)state;
    h.ops.execute = skip_products;
    assert_int_equal(time_hooked(&plain, body, 32).counts.cycles, time_hooked(&h, body, 32).counts.cycles + 4 * 6);
}

/* A load that hits takes 1 in the unit, then 30; it looks into no cache when it skips. */
static void loads_skip_memory(void **state)
{
    static const char body[] = "ld.global.u32 %r4, [%rd1];\nadd.u32 %r5, %r4, 1;\n"
                               "ld.global.u32 %r6, [%rd1];\nadd.u32 %r7, %r6, 1;\n";
    hooked h = hook(), plain = h;
    (void)state;
    h.ops.execute = skip_loads;
    timed skips = time_hooked(&h, body, 32), loads = time_hooked(&plain, body, 32);
    uint64_t miss = (7 + 1) + 50 + (13 + 11 + 4 + 60) + (7 + 5);
    assert_int_equal(loads.counts.cycles - skips.counts.cycles, (1 + miss) + (1 + 30));
    assert_int_equal(loads.counts.sm.l1_reads, 2);
    assert_int_equal(skips.counts.sm.l1_reads, 0);
    assert_int_equal(skips.counts.memory.l2_reads, 0);
}

/* ---- accesses ---------------------------------------------------------------------------------------------------- */

static uint32_t first_load;

/* The second load shares what the first one brings. */
static void share_load(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    baseline->execute(model, step, sink);
    if (opcode_of(step) != HD_OP_LD || form_of(step)->space != HD_SPACE_GLOBAL)
        return;
    assert_true(sink->number != 0);
    sink->skips_unit = first_load != 0;
    hd_array_last(&sink->accesses).awaits = first_load;
    first_load = first_load ? first_load : sink->number;
}

/* What awaits a load is written in the cycle after it has been. It costs no access of memory. */
static void an_access_awaits_another_instruction(void **state)
{
    static const char shares[] = "ld.global.u32 %r4, [%rd1];\nld.global.u32 %r6, [%rd1];\nadd.u32 %r7, %r6, 1;\n";
    static const char loads[] = "ld.global.u32 %r4, [%rd1];\nadd.u32 %r7, %r4, 1;\n";
    hooked h = hook(), plain = h;
    (void)state;
    h.ops.execute = share_load;
    first_load = 0;
    timed with = time_hooked(&h, shares, 32), without = time_hooked(&plain, loads, 32);
    assert_int_equal(with.counts.cycles, without.counts.cycles + 1);
    assert_int_equal(with.counts.sm.l1_reads, 1);
}

static void read_at_home(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    baseline->execute(model, step, sink);
    for (uint32_t a = 0; a < sink->accesses.count && opcode_of(step) == HD_OP_ADD; a++) {
        sink->accesses.items[a].home = 1;
        sink->accesses.items[a].bank = 0;
    }
}

/* Two warps in banks of their own read in the same cycle; in banks of the first warp, the second one waits, and so it
 * does for its result. */
static void an_access_names_the_banks_of_another_warp(void **state)
{
    static const char body[] = "add.u32 %r4, %r0, 1;\n";
    hooked h = hook();
    uint64_t conflicts[2];
    (void)state;
    for (uint32_t k = 0; k < 2; k++) {
        hooked own = h;
        own.ops.execute = k ? read_at_home : h.ops.execute;
        own.info.ops = &own.ops;
        timed t = {.model = &own.info, .machine = small_machine()};
        t.machine.core.schedulers = t.machine.core.bank_groups = 2;
        t.machine.units[HD_MACHINE_UNIT_SP] = 2;
        t.machine.fetch.buffer = t.machine.fetch.width = 8;
        t.machine.fetch.ports = 2;
        time_body(&t, body, 1, 64);
        conflicts[k] = t.counts.sm.bank_conflicts;
    }
    assert_int_equal(conflicts[0], 0);
    assert_int_equal(conflicts[1], 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ranks_decide_who_is_first),
                                       cmocka_unit_test(idle_units_are_offered_in_each_cycle),
                                       cmocka_unit_test(a_repeated_instruction_occupies_its_unit),
                                       cmocka_unit_test(products_skip_their_unit),
                                       cmocka_unit_test(loads_skip_memory),
                                       cmocka_unit_test(an_access_awaits_another_instruction),
                                       cmocka_unit_test(an_access_names_the_banks_of_another_warp)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
