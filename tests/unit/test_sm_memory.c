/* Memory of the cycle-level SM: the lines of an access; misses that are on their way to a line; and latencies that
 * rise, with which the cycles of one warp never fall. */
#include "hwmodel/sm/coalesce.h"
#include "program.h"
#include "small_machine.h"
#include "timed_kernel.h"

/* ---- lines ------------------------------------------------------------------------------------------------------- */

/* Traces have any address: an access of the last line ends there, or goes on in line 0. */
static void lines_at_the_end_of_the_addresses(void **state)
{
    (void)state;
    hd_line_access lines[HD_LINE_ACCESSES];
    const uint64_t addresses[32] = {UINT64_MAX - 15, UINT64_MAX - 7, UINT64_MAX - 127};
    assert_int_equal(hd_coalesce(addresses, 1, 16, 128, 32, lines), 1);
    assert_true(lines[0].address == UINT64_MAX - 127 && lines[0].sectors == 1 << 3);
    assert_int_equal(hd_coalesce(addresses, 2, 16, 128, 32, lines), 2);
    assert_true(lines[0].address == UINT64_MAX - 127 && lines[0].sectors == 1 << 3);
    assert_true(lines[1].address == 0 && lines[1].sectors == 1);
    assert_int_equal(hd_coalesce(addresses, 1 << 2, 16, 128, 32, lines), 1);
    assert_true(lines[0].address == UINT64_MAX - 127 && lines[0].sectors == 1);
}

/* ---- misses that merge ------------------------------------------------------------------------------------------- */

static timed time_loads(uint32_t mshrs, const char *body)
{
    timed t = {.machine = small_machine()};
    t.machine.l1.mshrs = mshrs;
    time_body(&t, body, 1, 32);
    return t;
}

#define FIRST "ld.global.u32 %r4, [%rd1];\n"
#define SAME "ld.global.u32 %r5, [%rd1+4];\n"
#define USE "add.u32 %r6, %r4, 1;\n"
#define USE_SAME "add.u32 %r7, %r5, 1;\n"

/* The second load of a line that is on its way waits for that: one request. Both have their values in the same cycle;
 * the additions read and issue one after the other. Without an instruction for the second value it takes no time. */
static void misses_merge(void **state)
{
    (void)state;
    timed one = time_loads(16, FIRST USE), two = time_loads(16, FIRST SAME USE USE_SAME);
    assert_int_equal(two.counts.sm.l1_reads, 2);
    assert_int_equal(two.counts.sm.l1_hits, 0);
    assert_int_equal(two.counts.memory.l2_reads, 1);
    assert_int_equal(two.counts.memory.dram_reads, 1);
    assert_int_equal(two.counts.memory.dram_bytes, 128);
    assert_int_equal(two.counts.cycles, one.counts.cycles + 1);
}

/* With a single MSHR the second load waits for the first one, and hits. */
static void a_miss_waits_for_a_free_mshr(void **state)
{
    (void)state;
    timed merged = time_loads(16, FIRST SAME USE USE_SAME), one = time_loads(1, FIRST SAME USE USE_SAME);
    assert_int_equal(one.counts.memory.l2_reads, 1);
    assert_int_equal(one.counts.sm.l1_hits, 1);
    assert_in_range(one.counts.cycles - merged.counts.cycles, 29, 31);
}

/* ---- latencies that rise ----------------------------------------------------------------------------------------- */

enum { TEXT_BYTES = 1 << 19, CLASSES = HD_MACHINE_CLASSES };

/* The n-th latency of a machine; NULL: there are no more. */
static uint32_t *latency_of(hd_machine *m, uint32_t n)
{
    uint32_t *const others[] = {&m->core.bank_latency,    &m->fetch.latency, &m->shared.latency,
                                &m->constant.latency,     &m->l1.latency,    &m->texture.latency,
                                &m->l2.latency,           &m->dram.latency,  &m->dram.cl,
                                &m->interconnect.latency, &m->dram.rcd};
    return n < sizeof others / sizeof *others ? others[n] : NULL;
}

static uint64_t cycles_of(const hd_machine *machine, const program *p, const char *text)
{
    static uint32_t out[96 * RESULT_WORDS];
    timed t = {.machine = *machine, .sms = 1, .ctas = 1};
    kernel_run run = {.text = text,
                      .in = p->inputs,
                      .in_bytes = sizeof p->inputs,
                      .out = out,
                      .out_bytes = sizeof *out * RESULT_WORDS * p->threads,
                      .grid = 1,
                      .block = p->threads,
                      .options.instruction_limit = 10000000,
                      .passes = "select,regalloc",
                      .opened = open_timed,
                      .closing = close_timed,
                      .context = &t};
    run_kernel(&run);
    assert_int_equal(run.status, HD_EXEC_DONE);
    assert_int_equal(t.status, HD_TIMING_DONE);
    return t.counts.cycles;
}

/* One warp issues in order. What could still go earlier because something else goes later is left out: accesses that
 * meet at a bank of the register file or at a unit, and device memory that changes the order of its requests. With
 * several warps, whoever is late may leave a unit to a longer chain: cycles may fall then. */
static hd_machine machine_in_order(uint64_t *seed)
{
    hd_machine m = random_machine(seed);
    m.core.kind = HD_CORE_COLLECTOR;
    m.core.policy = HD_POLICY_GTO;
    m.core.schedulers = m.core.issue_width = m.core.bank_groups = 1;
    m.core.banks = 64;
    m.core.collectors = 64;
    m.core.bank_interval = 1;
    m.dram.queue = 1;
    m.l1.mshrs = 64;
    for (uint32_t u = 0; u < HD_MACHINE_UNITS; u++)
        m.units[u] = m.units[u] ? 1 : 0;
    for (uint32_t c = 0; c < CLASSES; c++)
        m.classes[c].interval = 1;
    return m;
}

#ifdef __SANITIZE_ADDRESS__
enum { PROGRAMS = 1 };
#else
enum { PROGRAMS = 6 };
#endif

static void raise_each(const hd_machine *machine, const program *p, const char *text, uint64_t *seed, uint64_t name)
{
    uint64_t before = cycles_of(machine, p, text);
    for (uint32_t n = 0; n < CLASSES || latency_of(&(hd_machine){0}, n - CLASSES); n++) {
        hd_machine slower = *machine;
        uint32_t more = 1 + unit_random(seed) % 40;
        if (n < CLASSES)
            slower.classes[n].latency += more;
        else
            *latency_of(&slower, n - CLASSES) += more;
        uint64_t after = cycles_of(&slower, p, text);
        if (after < before)
            fail_msg("seed %u: latency %u + %u: %llu cycles, before %llu", (unsigned)name, n, more,
                     (unsigned long long)after, (unsigned long long)before);
    }
}

static void cycles_never_fall(void **state)
{
    static program p;
    char *text = hd_malloc(TEXT_BYTES);
    uint32_t done = 0;
    (void)state;
    for (uint64_t seed = 1; done < PROGRAMS; seed++) {
        uint64_t by_chance = seed * 31;
        program_make(&p, seed);
        if (p.threads > 32)
            continue;
        program_print(&p, text, TEXT_BYTES);
        hd_machine machine = machine_in_order(&by_chance);
        raise_each(&machine, &p, text, &by_chance, seed);
        done++;
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(lines_at_the_end_of_the_addresses),
                                       cmocka_unit_test(misses_merge), cmocka_unit_test(a_miss_waits_for_a_free_mshr),
                                       cmocka_unit_test(cycles_never_fall)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
