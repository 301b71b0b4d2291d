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

static kernel_run run_program(const program *p, const char *text, uint32_t *got, bool checks)
{
    kernel_run run = {.text = text,
                      .in = p->inputs,
                      .in_bytes = sizeof p->inputs,
                      .out = got,
                      .out_bytes = sizeof *got * RESULT_WORDS * p->threads,
                      .block = p->threads,
                      .options.instruction_limit = 10000000,
                      .options.check_uninitialized = checks,
                      .options.check_races = checks};
    memset(got, 0, run.out_bytes);
    run_kernel(&run);
    return run;
}

/* What a thread that has ended would give a shuffle, or would have left in its slot, nobody wrote. */
static bool is_of_others(const char *text, const char *notes)
{
    const char *origin = strstr(notes, ": its value comes from here");
    while (origin && origin > notes && origin[-1] != '\n')
        origin--;
    uint32_t line = origin ? (uint32_t)atoi(origin) : 0;
    for (; line > 1 && text; line--)
        text = strchr(text + 1, '\n');
    return text && (!strncmp(text + 1, "shfl.", 5) || !strncmp(text + 1, "ld.shared.", 10));
}

/* Runs a program and compares; how often its warps split. */
static uint64_t expect_program(uint64_t seed, char *text, bool checks)
{
    static program p;
    static uint32_t got[96 * RESULT_WORDS], want[96 * RESULT_WORDS];
    program_make(&p, seed);
    program_print(&p, text, TEXT_BYTES);
    kernel_run run = run_program(&p, text, got, checks);
    if (checks && run.status == HD_EXEC_FAULT && is_of_others(text, run.notes))
        return 0;
    if (run.status != HD_EXEC_DONE || run.diagnostics)
        fail_msg("seed %llu: line %u: %s\n%s", (unsigned long long)seed, run.line, run.message, run.notes);
    program_plain(&p, got);
    program_evaluate(&p, want);
    tell_difference(&p, seed, got, want);
    return run.statistics.divergent_branches;
}

static void programs_agree(void **state)
{
    uint64_t count = number_from("PROGRAM_COUNT", 600), first = number_from("PROGRAM_SEED", 1), divergent = 0;
    char *text = malloc(TEXT_BYTES);
    (void)state;
    assert_non_null(text);
    for (uint64_t seed = first; seed < first + count; seed++)
        divergent += expect_program(seed, text, false);
    assert_true(divergent > 2 * count);
    free(text);
}

/* The programs have no race, and read nothing that was not written. */
static void checks_change_nothing(void **state)
{
    uint64_t divergent = 0;
    char *text = malloc(TEXT_BYTES);
    (void)state;
    assert_non_null(text);
    for (uint64_t seed = 1; seed <= 60; seed++)
        divergent += expect_program(seed, text, true);
    assert_true(divergent > 60);
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
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_agree), cmocka_unit_test(checks_change_nothing)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
