/* The clean-up passes: on random programs, each and all of them, in the interpreter against program_evaluate; and what
 * they make of small kernels, as text. CLEAN_COUNT=N programs for each list of passes (default 60), CLEAN_SEED=N starts
 * there, CLEAN_PASSES=LIST runs only that list. */
#include "kernel.h"
#include "program.h"

#include "emitters/ptx.h"

enum { TEXT_BYTES = 1 << 19 };

/* ---- random programs --------------------------------------------------------------------------------------------- */

static const char *const lists[] = {
    "cvta", "copyprop", "copyprop(all)", "params", "dce", "copyprop(all),dce", "fold", "copyprop(all),fold,dce",
    "ifconvert", "ifconvert(limit=64)", "copyprop(all),fold,dce,ifconvert(limit=64),copyprop(all),dce", "clean", "clean,clean",
};

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *value = getenv(name);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

static void run_program(const program *p, uint64_t seed, const char *text, const char *passes)
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
                      .options.instruction_limit = 10000000};
    run_kernel(&run);
    if (run.status != HD_EXEC_DONE)
        fail_msg("%s, seed %llu: line %u: %s", passes, (unsigned long long)seed, run.line, run.message);
    program_plain(p, got);
    program_evaluate(p, want);
    for (uint32_t i = 0; i < p->threads * RESULT_WORDS; i++)
        if (got[i] != want[i])
            fail_msg("%s, seed %llu, thread %u, word %u: 0x%08x, expected 0x%08x", passes, (unsigned long long)seed,
                     i / RESULT_WORDS, i % RESULT_WORDS, got[i], want[i]);
}

static void programs_compute_the_same(void **state)
{
    static program p;
    uint64_t count = number_from("CLEAN_COUNT", 60), first = number_from("CLEAN_SEED", 1);
    const char *only = getenv("CLEAN_PASSES");
    char *text = malloc(TEXT_BYTES);
    (void)state;
    assert_non_null(text);
    for (uint64_t seed = first; seed < first + count; seed++) {
        program_make(&p, seed);
        program_print(&p, text, TEXT_BYTES);
        for (uint32_t i = 0; i < (only ? 1 : sizeof lists / sizeof *lists); i++)
            run_program(&p, seed, text, only ? only : lists[i]);
    }
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(programs_compute_the_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
