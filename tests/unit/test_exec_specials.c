/* Every special register of ir/sregs.def, in every thread: its value, or the reason why the interpreter has none. */
#include "kernel.h"
#include "ir/sregs.h"

#include <stdlib.h>

enum { CTAS = 3, THREADS = 40, SHARED = 256, MOST = CTAS * THREADS };

static uint64_t out[MOST];

/* Every thread of the grid stores the register's value, as 64 bits. */
static kernel_run read_special(hd_sreg sreg, int component, bool cooperative)
{
    static char text[4096];
    const hd_sreg_info *info = &hd_sregs[sreg];
    bool wide = info->type == HD_TYPE_U64;
    char name[64], body[1024];
    snprintf(name, sizeof name, "%%%s%s%c", info->spelling, component < 0 ? "" : ".",
             component < 0 ? ' ' : "xyzw"[component]);
    const char *read = wide                         ? "mov.u64 %%rd5, %s;\n"
                       : info->type == HD_TYPE_PRED ? "mov.pred %%p1, %s;\nselp.u32 %%r5, 1, 0, %%p1;\n"
                       : info->type == HD_TYPE_B32  ? "mov.b32 %%r5, %s;\n"
                                                    : "mov.u32 %%r5, %s;\n";
    int used = snprintf(body, sizeof body,
                        "mov.u32 %%r1, %%ctaid.x;\nmad.lo.u32 %%r1, %%r1, %d, %%r0;\n"
                        "mad.wide.u32 %%rd4, %%r1, 8, %%rd1;\n",
                        THREADS);
    used += snprintf(body + used, sizeof body - (size_t)used, read, name);
    snprintf(body + used, sizeof body - (size_t)used, "%sst.global.u64 [%%rd4], %%rd5;",
             wide ? "" : "cvt.u64.u32 %rd5, %r5;\n");
    memset(out, 0xee, sizeof out);
    kernel_run run = {.text = kernel_text_for(text, sizeof text, "8.3", "sm_90", body),
                      .out = out,
                      .out_bytes = sizeof out,
                      .grid = CTAS,
                      .block = THREADS,
                      .shared = SHARED,
                      .cooperative = cooperative};
    run_kernel(&run);
    return run;
}

/* What a thread reads from a register other than a clock. False: the interpreter has no value. */
static bool expected(const char *name, uint32_t component, uint32_t cta, uint32_t tid, uint64_t *value)
{
    uint32_t lane = tid % 32;
    uint32_t below = 0;
    for (uint32_t i = 0; i < lane; i++)
        below += 1u << i;
    const struct {
        const char *name;
        uint64_t values[4];
    } rows[] = {
        {"tid", {tid, 0, 0, 0}},
        {"ntid", {THREADS, 1, 1, 0}},
        {"ctaid", {cta, 0, 0, 0}},
        {"nctaid", {CTAS, 1, 1, 0}},
        {"clusterid", {cta, 0, 0, 0}},
        {"nclusterid", {CTAS, 1, 1, 0}},
        {"cluster_ctaid", {0, 0, 0, 0}},
        {"cluster_nctaid", {1, 1, 1, 0}},
        {"cluster_ctarank", {0}},
        {"cluster_nctarank", {1}},
        {"is_explicit_cluster", {0}},
        {"laneid", {lane}},
        {"warpid", {tid / 32}},
        {"nwarpid", {64}},
        {"smid", {0}},
        {"nsmid", {1}},
        {"gridid", {0}},
        {"lanemask_eq", {1u << lane}},
        {"lanemask_lt", {below}},
        {"lanemask_le", {below + (1u << lane)}},
        {"lanemask_gt", {(uint32_t) ~(below + (1u << lane))}},
        {"lanemask_ge", {(uint32_t)~below}},
        {"clock_hi", {0}},
        {"globaltimer_hi", {0}},
        {"total_smem_size", {SHARED}},
        {"aggr_smem_size", {SHARED}},
        {"dynamic_smem_size", {SHARED}},
        {"reserved_smem_offset_begin", {SHARED}},
        {"reserved_smem_offset_0", {SHARED}},
        {"reserved_smem_offset_1", {SHARED + 512}},
        {"reserved_smem_offset_end", {SHARED + 1024}},
        {"reserved_smem_offset_cap", {1024}},
        {"envreg1", {0}},
        {"envreg2", {0}},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0) {
            *value = rows[i].values[component];
            return true;
        }
    return false;
}

static bool is_clock(const char *name)
{
    return strcmp(name, "clock") == 0 || strcmp(name, "clock64") == 0 || strcmp(name, "globaltimer") == 0 ||
           strcmp(name, "globaltimer_lo") == 0;
}

static void check_values(const hd_sreg_info *info, int component)
{
    uint64_t want;
    for (uint32_t i = 0; i < MOST; i++) {
        assert_true(expected(info->spelling, component < 0 ? 0 : (uint32_t)component, i / THREADS, i % THREADS, &want));
        if (out[i] != want)
            fail_msg("%%%s.%d of thread %u: 0x%llx instead of 0x%llx", info->spelling, component, i,
                     (unsigned long long)out[i], (unsigned long long)want);
    }
}

static void check_register(hd_sreg sreg, int component)
{
    const hd_sreg_info *info = &hd_sregs[sreg];
    uint64_t want;
    kernel_run run = read_special(sreg, component, false);
    if (is_clock(info->spelling)) { /* what a warp has issued before */
        assert_int_equal(run.status, HD_EXEC_DONE);
        for (uint32_t i = 0; i < MOST; i++)
            assert_true(out[i] > 0 && out[i] < 32 && out[i] == out[0]);
    } else if (expected(info->spelling, 0, 0, 0, &want)) {
        if (run.status != HD_EXEC_DONE)
            fail_msg("%%%s: %s", info->spelling, run.message);
        check_values(info, component);
    } else {
        char part[96];
        snprintf(part, sizeof part, "the special register %%%s", info->spelling);
        if (run.status != HD_EXEC_UNSUPPORTED || !strstr(run.message, part))
            fail_msg("%%%s: status %d: %s", info->spelling, run.status, run.message);
    }
}

static void every_register(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < HD_SREG_COUNT; i++)
        for (int component = 0; component < (int)hd_sregs[i].components; component++)
            check_register((hd_sreg)i, hd_sregs[i].components > 1 ? component : -1);
}

/* %envreg1 and %envreg2 are the halves of one address, the same in all threads. */
static void registers_of_a_cooperative_launch(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 2; i++) {
        kernel_run run = read_special(i ? HD_SREG_ENVREG2 : HD_SREG_ENVREG1, -1, true);
        assert_int_equal(run.status, HD_EXEC_DONE);
        for (uint32_t k = 0; k < MOST; k++)
            assert_true(out[k] == out[0] && out[k] && (i || out[k] < 0x8000));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_register),
        cmocka_unit_test(registers_of_a_cooperative_launch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
