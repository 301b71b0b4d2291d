/* Random programs of all arithmetic types with divergence, calls, shared and local memory and exchange between lanes:
 * allocated with as many registers as there are and with few, they compute what program_evaluate does.
 * PROGRAM_COUNT=N runs N programs (default 120), PROGRAM_SEED=N starts at seed N. */
#include "kernel.h"
#include "program.h"

enum { TEXT_BYTES = 1 << 19 };

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *value = getenv(name);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

static void expect_same(const program *p, uint64_t seed, const char *text, const char *passes)
{
    static uint32_t got[96 * RESULT_WORDS], want[96 * RESULT_WORDS];
    memset(got, 0, sizeof got);
    kernel_run run = {.text = text,
                      .passes = passes,
                      .in = p->inputs,
                      .in_bytes = sizeof p->inputs,
                      .out = got,
                      .out_bytes = sizeof *got * RESULT_WORDS * p->threads,
                      .block = p->threads,
                      .options.instruction_limit = 20000000};
    run_kernel(&run);
    if (run.status != HD_EXEC_DONE)
        fail_msg("seed %llu, %s: line %u: %s", (unsigned long long)seed, passes, run.line, run.message);
    program_plain(p, got);
    program_evaluate(p, want);
    for (uint32_t i = 0; i < p->threads * RESULT_WORDS; i++)
        if (got[i] != want[i])
            fail_msg("seed %llu, %s: thread %u, word %u: 0x%08x, expected 0x%08x", (unsigned long long)seed, passes,
                     i / RESULT_WORDS, i % RESULT_WORDS, got[i], want[i]);
}

static void programs_compute_the_same(void **state)
{
    static const char *const passes[] = {"regalloc",
                                         "regalloc(max=32)",
                                         "regalloc(max=24,banks=4)",
                                         "regalloc(max=16,banks=2)",
                                         "select,regalloc(max=20)",
                                         "select,regalloc,regmutex(es=6)",
                                         "regalloc(max=24),regmutex(es=8,paired)"};
    static program p;
    uint64_t count = number_from("PROGRAM_COUNT", UNIT_CASES(120)), first = number_from("PROGRAM_SEED", 1);
    char *text = malloc(TEXT_BYTES);
    (void)state;
    assert_non_null(text);
    for (uint64_t seed = first; seed < first + count; seed++) {
        program_make(&p, seed);
        program_print(&p, text, TEXT_BYTES);
        for (uint32_t i = 0; i < sizeof passes / sizeof *passes; i++)
            expect_same(&p, seed, text, passes[i]);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_compute_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
