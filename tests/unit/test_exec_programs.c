/* Random programs of all arithmetic types with nested divergence, shared and local memory, calls, and exchange between
 * lanes: the interpreter, a warp at a time, against program_evaluate, one thread at a time.
 * PROGRAM_COUNT=N runs N programs (default 600), PROGRAM_SEED=N starts at seed N. `make campaign-exec` runs 100,000.
 * PROGRAM_PRINT=1 writes the program of PROGRAM_SEED to standard output and ends. */
#include "kernel.h"
#include "program.h"

enum { TEXT_BYTES = 1 << 19 };

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *value = getenv(name);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

/* Which word differs first, in words of the results' layout. */
static void tell_difference(const program *p, uint64_t seed, const uint32_t *got, const uint32_t *want)
{
    for (uint32_t i = 0; i < p->threads * RESULT_WORDS; i++)
        if (got[i] != want[i])
            fail_msg(
                "seed %llu, thread %u, word %u: 0x%08x, expected 0x%08x (PROGRAM_SEED=%llu PROGRAM_PRINT=1 shows it)",
                (unsigned long long)seed, i / RESULT_WORDS, i % RESULT_WORDS, got[i], want[i],
                (unsigned long long)seed);
}

static void programs_agree(void **state)
{
    static program p;
    static uint32_t got[96 * RESULT_WORDS], want[96 * RESULT_WORDS];
    uint64_t count = number_from("PROGRAM_COUNT", 600), first = number_from("PROGRAM_SEED", 1), divergent = 0;
    char *text = malloc(TEXT_BYTES);
    (void)state;
    assert_non_null(text);
    for (uint64_t seed = first; seed < first + count; seed++) {
        program_make(&p, seed);
        program_print(&p, text, TEXT_BYTES);
        memset(got, 0, sizeof got);
        kernel_run run = {.text = text,
                          .in = p.inputs,
                          .in_bytes = sizeof p.inputs,
                          .out = got,
                          .out_bytes = sizeof *got * RESULT_WORDS * p.threads,
                          .block = p.threads,
                          .options.instruction_limit = 10000000};
        run_kernel(&run);
        if (run.status != HD_EXEC_DONE)
            fail_msg("seed %llu: line %u: %s", (unsigned long long)seed, run.line, run.message);
        program_plain(&p, got);
        program_evaluate(&p, want);
        tell_difference(&p, seed, got, want);
        divergent += run.statistics.divergent_branches;
    }
    assert_true(divergent > 2 * count);
    free(text);
}

int main(void)
{
    if (getenv("PROGRAM_PRINT")) {
        static program p;
        static char text[TEXT_BYTES];
        program_make(&p, number_from("PROGRAM_SEED", 1));
        program_print(&p, text, sizeof text);
        return puts(text) < 0;
    }
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_agree)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
