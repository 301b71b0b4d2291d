/* The cycle-level model against what machines can do at most, and conservation: what each built-in GPU description
 * gives comes out within 3 %, and at the end of a run nothing is in flight. */
#include "program.h"
#include "small_machine.h"
#include "timed_kernel.h"

#include "target/gpu.h"

static void assert_close(const char *gpu, const char *what, double measured, double expected)
{
    print_message("%-16s %-24s %10.2f, expected %10.2f\n", gpu, what, measured, expected);
    if (measured < 0.97 * expected || measured > 1.03 * expected)
        fail_msg("%s: %s: %.2f, expected %.2f", gpu, what, measured, expected);
}

/* Takes one in `every` built-in description with a section `timing`; with sanitizers, one in four of these. */
#ifdef __SANITIZE_ADDRESS__
enum { TAKEN = 4 };
#else
enum { TAKEN = 1 };
#endif
static void for_each_gpu(void (*check)(const hd_gpu *gpu), uint32_t every)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < hd_gpu_file_count; i++) {
        hd_diagnostics quiet;
        hd_diagnostics_init(&quiet);
        hd_gpu *gpu = hd_gpu_load(hd_gpu_files[i].name, &quiet);
        assert_true(gpu->valid);
        if (gpu->machine.known && count++ % (every * TAKEN) == 0)
            check(gpu);
        hd_gpu_free(gpu);
        hd_diagnostics_free(&quiet);
    }
    assert_true(count >= 3);
}

/* ---- issue ------------------------------------------------------------------------------------------------------- */

static uint64_t lesser(uint64_t a, uint64_t b) { return a < b ? a : b; }

/* A loop of LINES times `line` for all warps that an SM has: so many that the three instructions of its end take little
 * beside them, and that the smallest instruction cache holds it. */
enum { LINES = 236 };

static timed time_loop(const hd_gpu *gpu, const char *line, uint32_t times)
{
    char body[16384];
    size_t used = (size_t)snprintf(body, sizeof body, "mov.u32 %%r1, 0;\nL:\n");
    for (uint32_t i = 0; i < LINES; i++)
        used += (size_t)snprintf(body + used, sizeof body - used, line, 4 + i % 16);
    snprintf(body + used, sizeof body - used, "add.u32 %%r1, %%r1, 1;\nsetp.lt.u32 %%p1, %%r1, %u;\n@%%p1 bra L;\n",
             times);
    timed t = {.machine = gpu->machine, .ctas = gpu->limits.warps_per_sm / 4};
    t.machine.core.policy = HD_POLICY_LRR;
    time_body(&t, body, t.ctas, 128);
    return t;
}

/* Independent instructions: the schedulers issue as many as fetch brings and the units of their class take. They read
 * no register, so that banks do not limit them. More turns of the loop have no first fetches. Warps take turns: a
 * greedy policy leaves some of them alone at the end. */
static void check_issue(const hd_gpu *gpu)
{
    static const struct {
        const char *what, *line;
        hd_machine_class class;
    } cases[] = {{"IPC of add.u32", "add.u32 %%r%u, 2, 1;\n", HD_MACHINE_CLASS_INT_ADD},
                 {"IPC of add.f32", "add.f32 %%f%u, 0f40000000, 0f3f800000;\n", HD_MACHINE_CLASS_FP_ADD},
                 {"IPC of sqrt.f32", "sqrt.approx.f32 %%f%u, 0f40000000;\n", HD_MACHINE_CLASS_SFU}};
    const hd_machine *m = &gpu->machine;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        timed few = time_loop(gpu, cases[i].line, 4), many = time_loop(gpu, cases[i].line, 12);
        uint64_t turns = 8 * gpu->limits.warps_per_sm, cycles = many.counts.cycles - few.counts.cycles;
        assert_int_equal(many.warp_instructions - few.warp_instructions, turns * (LINES + 3));
        hd_machine_class_timing timing = m->classes[cases[i].class];
        uint64_t slots = lesser(m->core.schedulers * m->core.issue_width, m->fetch.ports * m->fetch.width);
        double expected = (double)m->units[timing.unit] / timing.interval;
        assert_close(gpu->name, cases[i].what, (double)(turns * LINES) / (double)cycles,
                     expected < (double)slots ? expected : (double)slots);
    }
}

static void issue_at_peak(void **state)
{
    (void)state;
    for_each_gpu(check_issue, 1);
}

/* ---- latency ----------------------------------------------------------------------------------------------------- */

enum { MEMORY_BYTES = 1 << 23, LARGEST_BYTES = 1 << 26 };
static uint32_t memory_words[LARGEST_BYTES / 4];

/* One thread executes `load` and an addition to the address `hops` times; the instruction cache always hits. */
static uint64_t time_hops(const hd_gpu *gpu, const char *load, uint32_t hops)
{
    char body[16384];
    size_t used = (size_t)snprintf(body, sizeof body, "add.u64 %%rd2, %%rd1, 0;\n");
    for (uint32_t i = 0; i < hops; i++)
        used += (size_t)snprintf(body + used, sizeof body - used, "%sadd.u64 %%rd2, %%rd2, %%rd3;\n", load);
    timed t = {.machine = gpu->machine, .memory = memory_words, .memory_bytes = MEMORY_BYTES};
    t.machine.fetch.bytes = 0;
    time_body(&t, body, 1, 1);
    return t.counts.cycles;
}

/* Cycles of a load, from its issue to that of what needs its value. */
static double load_cycles(const hd_gpu *gpu, const char *load, uint64_t stride)
{
    memset(memory_words, 0, MEMORY_BYTES);
    for (uint64_t at = 0; stride && at + 8 <= MEMORY_BYTES; at += stride)
        memcpy((char *)memory_words + at, &stride, sizeof stride);
    char with_load[64];
    snprintf(with_load, sizeof with_load, "%s [%%rd2];\n", load);
    uint64_t loads = time_hops(gpu, with_load, 12) - time_hops(gpu, with_load, 2),
             additions = time_hops(gpu, "", 12) - time_hops(gpu, "", 2);
    return (double)(loads - additions) / 10;
}

static double quotient(uint64_t a, uint64_t b) { return (double)((a + b - 1) / b); }

/* Bank latency aside, as in sm.h and subcore.c: a cycle for the operand, one to dispatch, the unit's latency; sub-cores
 * have the control latch before. With slow banks the operand comes later, and the value that was written is there
 * later. */
static double to_the_unit(const hd_machine *m)
{
    return 1 + m->core.bank_latency + m->classes[HD_MACHINE_CLASS_MEMORY].latency + (m->core.bank_latency - 1) +
           (m->core.kind == HD_CORE_SUBCORE);
}

/* L1: its latency follows. L2: a request of 8 bytes, the slice, an answer of 8 and a sector. Device memory: between the
 * two, the activation of a row that is not open in any bank yet, the command, the data, and the controller. */
static void check_latency(const hd_gpu *gpu)
{
    const hd_machine *m = &gpu->machine;
    double ports = 2 * m->interconnect.latency + quotient(8, m->interconnect.bytes) +
                   quotient(8 + m->l2.sector_bytes, m->interconnect.bytes);
    double unit = to_the_unit(m), l2 = unit + ports + m->l2.latency;
    double dram = (double)(m->dram.rcd + m->dram.cl) + quotient(m->l2.sector_bytes, m->dram.bytes);
    dram = l2 + dram * m->clocks.core_mhz / m->clocks.dram_mhz + m->dram.latency;
    /* each hop to the next row of all channels */
    uint64_t rows = (uint64_t)m->dram.row_bytes * m->dram.channels;
    if (m->l1.bytes)
        assert_close(gpu->name, "latency of L1",
                     load_cycles(gpu, m->l1.global ? "ld.global.ca.u64 %rd3," : "ld.global.nc.u64 %rd3,", 0),
                     unit + (!m->l1.global && m->texture.bytes ? m->texture.latency : m->l1.latency));
    assert_close(gpu->name, "latency of L2", load_cycles(gpu, "ld.global.cg.u64 %rd3,", 0), l2);
    assert_true(12 * rows <= MEMORY_BYTES && 12 < m->dram.banks);
    assert_close(gpu->name, "latency of device memory", load_cycles(gpu, "ld.global.cg.u64 %rd3,", rows), dram);
}

static void latencies(void **state)
{
    (void)state;
    for_each_gpu(check_latency, 1);
}

/* ---- bandwidth --------------------------------------------------------------------------------------------------- */

/* All SMs read 8 MB once, 16 bytes a thread, or more where all buses together are so wide that it would take fewer
 * than LEAST_CYCLES. They give at most their width times their clock; the first and the last latencies, rows that are
 * opened, and channels that end earlier than others take the rest. */
static void check_bandwidth(const hd_gpu *gpu)
{
    enum { BLOCK = 256, BLOCK_BYTES = BLOCK * 16, LEAST_PERCENT = 85, LEAST_CYCLES = 14000 };
    const hd_machine *m = &gpu->machine;
    double peak = (double)(m->dram.channels * m->dram.bytes) * m->clocks.dram_mhz / m->clocks.core_mhz;
    uint32_t least = (uint32_t)(peak * LEAST_CYCLES), asked = least > MEMORY_BYTES ? least : MEMORY_BYTES,
             blocks = asked / BLOCK_BYTES, bytes = blocks * BLOCK_BYTES;
    assert_true(bytes <= LARGEST_BYTES);
    timed t = {.machine = *m, .sms = gpu->limits.sms, .memory = memory_words, .memory_bytes = bytes};
    time_body(&t,
              "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmad.lo.u32 %r1, %r1, %r2, %r0;\n"
              "mul.wide.u32 %rd2, %r1, 16;\nadd.u64 %rd2, %rd1, %rd2;\n"
              "ld.global.cg.v4.u32 {%r4, %r5, %r6, %r7}, [%rd2];\nadd.u32 %r4, %r5, %r6;\n",
              blocks, BLOCK);
    double reached = (double)bytes / (double)t.counts.cycles;
    print_message("%-16s %-24s %10.2f, peak %10.2f: %.0f %%\n", gpu->name, "bytes a cycle", reached, peak,
                  100 * reached / peak);
    assert_true(t.counts.memory.dram_bytes >= bytes);
    assert_true((double)t.counts.memory.dram_bytes / (double)t.counts.cycles <= peak);
    assert_true(100 * reached >= LEAST_PERCENT * peak);
}

static void bandwidth(void **state)
{
    (void)state;
    for_each_gpu(check_bandwidth, 2); /* its peak follows from the description, and most time is spent here */
}

/* ---- conservation ------------------------------------------------------------------------------------------------ */

enum { TEXT_BYTES = 1 << 19 };

static void run_program(timed *t, const program *p, const char *text, uint32_t grid, uint32_t threads)
{
    static uint32_t out[96 * RESULT_WORDS];
    char passes[128];
    snprintf(passes, sizeof passes, "select,regalloc%s%s", t->model && *t->model->pass ? "," : "",
             t->model ? t->model->pass : "");
    kernel_run run = {.text = text,
                      .in = p->inputs,
                      .in_bytes = sizeof p->inputs,
                      .out = out,
                      .out_bytes = sizeof *out * RESULT_WORDS * p->threads,
                      .grid = grid,
                      .block = threads,
                      .options.instruction_limit = 10000000,
                      .passes = passes,
                      .opened = open_timed,
                      .closing = close_timed,
                      .context = t};
    run_kernel(&run);
    assert_int_equal(run.status, HD_EXEC_DONE);
    t->warp_instructions = run.statistics.warp_instructions;
}

/* Random programs, on random machines, with every model: as many instructions issue as the trace has, and in the end
 * the SMs and the memory system are empty. */
#ifdef __SANITIZE_ADDRESS__
enum { SEEDS = 2 };
#else
enum { SEEDS = 12 };
#endif
static void nothing_is_left(void **state)
{
    static program p;
    char *text = hd_malloc(TEXT_BYTES);
    (void)state;
    for (uint64_t seed = 101; seed < 101 + SEEDS; seed++) {
        uint64_t by_chance = seed;
        program_make(&p, seed);
        program_print(&p, text, TEXT_BYTES);
        hd_machine machine = random_machine(&by_chance);
        for (uint32_t i = 0; i < hd_rf_model_count; i++) {
            timed t = {.machine = machine, .sms = 2, .ctas = 2, .model = &hd_rf_models[i]};
            run_program(&t, &p, text, 3, p.threads);
            if (t.refused)
                continue;
            assert_int_equal(t.status, HD_TIMING_DONE);
            assert_int_equal(t.counts.sm.warp_instructions, t.warp_instructions);
            if (!t.idle)
                fail_msg("seed %u, %s: something is left", (unsigned)seed, hd_rf_models[i].name);
        }
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(issue_at_peak), cmocka_unit_test(latencies),
                                       cmocka_unit_test(bandwidth), cmocka_unit_test(nothing_is_left)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
