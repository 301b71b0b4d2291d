/* Kernels whose blocks, and whose registers, just fill the words of a bit set, or miss it by one: every pass runs, all
 * checkers accept what it writes, and the models that ask for it prove what they deliver. What is read or written past
 * the end of an array shows with sanitizers, and with the guards of arenas. */
#include "golden.h"

#include "unit.h"

/* `blocks` blocks, each of which but the last ends with a branch to any but the first, over `registers` registers. */
static void open_kernel(rf_bench *b, uint32_t blocks, uint32_t registers, uint64_t seed)
{
    hd_writer text;
    hd_writer_to_memory(&text);
    hd_write_format(&text,
                    ".version 8.0\n.target sm_80\n.address_size 32\n.global .u32 out;\n.entry k(.param .u32 n)\n{\n"
                    ".reg .b32 %%r<%u>;\n.reg .pred %%p<4>;\nmov.u32 %%r0, %%laneid;\nld.param.u32 %%r1, [n];\n"
                    "setp.lt.u32 %%p0, %%r0, 5;\nsetp.lt.u32 %%p1, %%r1, 5;\nsetp.lt.u32 %%p2, %%r0, 7;\n",
                    registers);
    for (uint32_t r = 2; r < registers; r++)
        hd_write_format(&text, "add.u32 %%r%u, %%r%u, %%r%u;\n", r, r - 1, r / 2);
    for (uint32_t k = 0; k < blocks; k++) {
        uint32_t d = (uint32_t)(unit_random(&seed) % registers), s = (uint32_t)(unit_random(&seed) % registers),
                 p = (uint32_t)(unit_random(&seed) % 3),
                 to = 1 + (uint32_t)(unit_random(&seed) % blocks) % (blocks > 1 ? blocks - 1 : 1);
        hd_write_format(&text, "%sadd.u32 %%r%u, %%r%u, 1;\n", d % 5 ? "" : "@%p1 ", d, s);
        if (d % 3 == 0)
            hd_write_format(&text, "setp.lt.u32 %%p%u, %%r%u, %%r%u;\n", p, d, s);
        if (k + 1 < blocks)
            hd_write_format(&text, "@%%p%u bra L%u;\nL%u: ", p, k % 4 && to <= k ? k + 1 : to, k + 1);
    }
    for (uint32_t r = 0; r < registers; r++)
        hd_write_format(&text, "st.global.u32 [out], %%r%u;\n", r);
    hd_write_string(&text, "ret;\n}\n");
    rf_bench_open(b, text.buffer.items, text.buffer.count);
    hd_writer_free(&text);
    assert_int_equal(hd_function_cfg(b->kernel)->block_count, blocks);
}

static void expect_checked(hd_module *module, const char *what, uint32_t blocks, uint32_t registers)
{
    hd_diagnostics quiet;
    uint64_t looked_at = 0;
    hd_diagnostics_init(&quiet);
    assert_true(hd_ir_validate(module));
    for (uint32_t c = 0; c < hd_checker_count; c++)
        if (!hd_checkers[c].run(module->functions.items[0], &quiet, &looked_at))
            fail_msg("%s, %u blocks, %u registers: %s refutes: %s", what, blocks, registers, hd_checkers[c].technique,
                     quiet.first ? quiet.first->message : "");
    hd_diagnostics_free(&quiet);
}

static void each_pass(uint32_t blocks, uint32_t registers, uint64_t seed)
{
    const char *lists[GOLDEN_MOST_LISTS];
    uint32_t count = golden_passes(lists);
    for (uint32_t l = 0; l < count; l++) {
        rf_bench b;
        open_kernel(&b, blocks, registers, seed);
        if (!strncmp(lists[l], "regmutex", 8))
            rf_bench_allocate(&b, 0);
        rf_bench_pass(&b, lists[l]);
        expect_checked(b.module, lists[l], blocks, registers);
        rf_bench_close(&b);
    }
}

static void each_model(uint32_t blocks, uint32_t registers, uint64_t seed)
{
    for (uint32_t m = 0; m < hd_rf_model_count; m++) {
        const hd_rf_model_info *model = &hd_rf_models[m];
        rf_bench b;
        open_kernel(&b, blocks, registers, seed);
        bool mutex = !strncmp(model->pass, "regmutex", 8);
        if (mutex || m % 2)
            rf_bench_allocate(&b, 0);
        if (*model->pass)
            rf_bench_pass(&b, mutex ? "regmutex(es=4)" : model->pass);
        if (!rf_bench_replay(&b, &(rf_bench_run){.model = model, .order = seed, .limit = 400}).proved)
            fail_msg("%s, %u blocks, %u registers: not proved", model->name, blocks, registers);
        rf_bench_close(&b);
    }
}

static void numbers_beside_those_of_a_word(void **state)
{
    static const uint32_t sizes[] = {1, 2, 31, 32, 33, 63, 64, 65, 127, 128, 129};
    enum { SIZES = sizeof sizes / sizeof *sizes };
    (void)state;
    for (uint32_t i = 0; i < SIZES; i++) {
        each_pass(sizes[i], 59 + i % 7, i);
        each_pass(2 + i % 5, sizes[i] + 2, i);
        each_model(sizes[i], 30 + i, i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(numbers_beside_those_of_a_word)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
