/* The race check on random kernels whose threads access a few bytes of shared memory, a few threads at a time, with
 * barriers of the CTA, of a warp and of some of its lanes in between: against what is unordered by definition. An
 * access is ordered after another one where barriers between them carry on from its thread to the other's. No kernel
 * without a race is reported; one with a race is, where no third access to the byte may hide it. */
#include "kernel.h"

enum { THREADS = 64, STEPS = 14, BYTES = 16, KERNELS = 2000, NOWHERE = 0xffffffffu };

typedef enum step_kind {
    WEAK_STORE,
    WEAK_LOAD,
    STRONG_STORE,
    STRONG_LOAD,
    ATOMIC,
    LAST_ACCESS = ATOMIC,
    CTA_BARRIER,
    WARP_BARRIER,
    LANES_BARRIER,
    STEP_KINDS
} step_kind;

typedef struct step {
    step_kind kind;
    uint32_t bytes; /* of an access */
    uint32_t lanes; /* of a barrier of lanes */
} step;

typedef struct kernel {
    step steps[STEPS];
    uint32_t at[THREADS][STEPS]; /* NOWHERE: the thread does not access */
    uint32_t values[THREADS];    /* what a thread stores: in all bytes the same */
} kernel;

static uint32_t below(uint64_t *state, uint32_t n) { return (uint32_t)(unit_random(state) % n); }

static void make_kernel(kernel *k, uint64_t *state)
{
    uint32_t barriers = below(state, 4);
    memset(k->at, 0xff, sizeof k->at);
    for (uint32_t t = 0; t < THREADS; t++)
        k->values[t] = 0x01010101u * below(state, 3);
    for (uint32_t s = 0; s < STEPS; s++) {
        step *x = &k->steps[s];
        bool barrier = below(state, 5) < barriers;
        x->kind = barrier ? (step_kind)(LAST_ACCESS + 1 + below(state, STEP_KINDS - LAST_ACCESS - 1))
                          : (step_kind)below(state, LAST_ACCESS + 1);
        x->bytes = x->kind == ATOMIC ? 4 : 1u << below(state, 3);
        x->lanes = (uint32_t)unit_random(state) | 1;
        for (uint32_t i = below(state, 3); i < 3 && !barrier; i++)
            k->at[below(state, 2) ? below(state, THREADS) : below(state, 4)][s] =
                below(state, BYTES / x->bytes) * x->bytes;
    }
}

/* ---- what is a race ---------------------------------------------------------------------------------------------- */

static bool is_store(step_kind kind) { return kind == WEAK_STORE || kind == STRONG_STORE; }
static bool is_load(step_kind kind) { return kind == WEAK_LOAD || kind == STRONG_LOAD; }
static bool is_strong(step_kind kind) { return kind == STRONG_STORE || kind == STRONG_LOAD || kind == ATOMIC; }

/* Threads that have come after what thread `from` did, when step `to` begins. */
static uint64_t after(const kernel *k, uint32_t from, uint32_t step_from, uint32_t to)
{
    uint64_t reached = 1ull << from;
    for (uint32_t s = step_from + 1; s < to; s++) {
        uint64_t low = 0xffffffff, lanes = k->steps[s].lanes, others = ~lanes & low;
        uint64_t groups[4] = {low, low << 32, 0, 0};
        if (k->steps[s].kind <= LAST_ACCESS)
            continue;
        if (k->steps[s].kind == CTA_BARRIER)
            groups[0] = ~0ull;
        if (k->steps[s].kind == LANES_BARRIER)
            memcpy(groups, (uint64_t[]){lanes, others, lanes << 32, others << 32}, sizeof groups);
        for (uint32_t g = 0; g < 4; g++)
            reached |= reached & groups[g] ? groups[g] : 0;
    }
    return reached;
}

typedef struct access {
    uint32_t thread, step;
} access;

static bool ordered(const kernel *k, access a, access b)
{
    if (a.thread == b.thread)
        return true;
    return a.step < b.step   ? after(k, a.thread, a.step, b.step) >> b.thread & 1
           : b.step < a.step ? after(k, b.thread, b.step, a.step) >> a.thread & 1
                             : false;
}

/* Unordered, and of a kind that matters. `surely`: also by every reading of "leaves the value as it is". */
static bool race(const kernel *k, access a, access b, bool surely)
{
    step_kind x = k->steps[a.step].kind, y = k->steps[b.step].kind;
    if ((is_load(x) && is_load(y)) || (is_strong(x) && is_strong(y)) || ordered(k, a, b))
        return false;
    bool same = is_store(x) && is_store(y) && k->values[a.thread] == k->values[b.thread];
    return !same || (!surely && (is_strong(x) || is_strong(y)));
}

typedef enum verdict { NO_RACE, MAY_BE_HIDDEN, A_RACE } verdict;

static verdict judge_byte(const kernel *k, uint32_t byte)
{
    access all[THREADS * STEPS];
    uint32_t count = 0;
    verdict found = NO_RACE;
    for (uint32_t s = 0; s < STEPS; s++)
        for (uint32_t t = 0; t < THREADS; t++)
            if (k->at[t][s] != NOWHERE && byte - k->at[t][s] < k->steps[s].bytes)
                all[count++] = (access){t, s};
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = i + 1; j < count; j++) {
            bool alone = race(k, all[i], all[j], true);
            for (uint32_t o = 0; o < j && alone; o++)
                alone =
                    o == i || (all[o].step < all[i].step && ordered(k, all[o], all[i]) && ordered(k, all[o], all[j]));
            for (uint32_t o = j + 1; o < count && alone; o++)
                alone = ordered(k, all[i], all[o]) && ordered(k, all[j], all[o]);
            if (alone)
                return A_RACE;
            if (race(k, all[i], all[j], false))
                found = MAY_BE_HIDDEN;
        }
    return found;
}

static verdict judge(const kernel *k)
{
    verdict worst = NO_RACE;
    for (uint32_t b = 0; b < BYTES; b++) {
        verdict found = judge_byte(k, b);
        worst = found > worst ? found : worst;
    }
    return worst;
}

/* ---- as a kernel ------------------------------------------------------------------------------------------------- */

static const char *print_kernel(const kernel *k)
{
    static const char *const accesses[] = {
        "st.shared.b%u [%%r2], %%r1", "ld.shared.b%u %%r3, [%%r2]", "st.volatile.shared.b%u [%%r2], %%r1",
        "ld.relaxed.cta.shared.b%u %%r3, [%%r2]", "atom.shared.add.u%u %%r3, [%%r2], %%r1"};
    static char body[8192], text[8192 + 1024];
    size_t used = (size_t)snprintf(body, sizeof body,
                                   ".shared .align 16 .b8 s[%u];\nmov.u32 %%r9, s;\nmad.wide.u32 %%rd3, %%r0, %u, "
                                   "%%rd0;\nld.global.u32 %%r1, [%%rd3];\nand.b32 %%r8, %%r0, 31;\n",
                                   BYTES, 4 * (STEPS + 1));
    for (uint32_t s = 0; s < STEPS; s++) {
        const step *x = &k->steps[s];
        char line[256] = "bar.sync 0;\n";
        if (x->kind == WARP_BARRIER)
            snprintf(line, sizeof line, "bar.warp.sync -1;\n");
        if (x->kind == LANES_BARRIER)
            snprintf(line, sizeof line,
                     "shr.u32 %%r4, 0x%08x, %%r8;\nand.b32 %%r4, %%r4, 1;\nsetp.ne.u32 %%p2, %%r4, 0;\n"
                     "selp.u32 %%r4, 0x%08x, 0x%08x, %%p2;\nshfl.sync.bfly.b32 %%r5, %%r4, 0, 31, %%r4;\n",
                     x->lanes, x->lanes, ~x->lanes);
        used += (size_t)snprintf(body + used, sizeof body - used, "ld.global.u32 %%r2, [%%rd3+%u];\n", 4 * (s + 1));
        if (x->kind <= LAST_ACCESS) {
            snprintf(line, sizeof line, accesses[x->kind], 8 * x->bytes);
            used += (size_t)snprintf(body + used, sizeof body - used,
                                     "setp.ne.u32 %%p1, %%r2, -1;\nadd.u32 %%r2, %%r2, %%r9;\n@%%p1 %s;\n", line);
        } else {
            used += (size_t)snprintf(body + used, sizeof body - used, "%s", line);
        }
    }
    return kernel_text(text, sizeof text, body);
}

static uint64_t races_of(const kernel *k)
{
    uint32_t in[THREADS][STEPS + 1], out[4];
    for (uint32_t t = 0; t < THREADS; t++) {
        in[t][0] = k->values[t];
        memcpy(&in[t][1], k->at[t], sizeof k->at[t]);
    }
    kernel_run run = {.text = print_kernel(k),
                      .in = in,
                      .in_bytes = sizeof in,
                      .out = out,
                      .out_bytes = sizeof out,
                      .grid = 2, /* the second CTA does not race with the first */
                      .block = THREADS,
                      .options.check_races = true};
    run_kernel(&run);
    if (run.status != HD_EXEC_DONE)
        fail_msg("line %u: %s", run.line, run.message);
    return run.statistics.races;
}

static void races_of_random_kernels(void **state)
{
    uint32_t seen[3] = {0};
    (void)state;
    for (uint64_t seed = 1; seed <= KERNELS; seed++) {
        kernel k;
        uint64_t random = seed;
        make_kernel(&k, &random);
        verdict expected = judge(&k);
        uint64_t races = races_of(&k);
        seen[expected]++;
        if ((expected == NO_RACE && races) || (expected == A_RACE && !races))
            fail_msg("kernel %llu has %s, and %llu are reported:\n%s", (unsigned long long)seed,
                     expected == NO_RACE ? "no race" : "a race", (unsigned long long)races, print_kernel(&k));
    }
    assert_true(seen[NO_RACE] > KERNELS / 10 && seen[A_RACE] > KERNELS / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(races_of_random_kernels)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
