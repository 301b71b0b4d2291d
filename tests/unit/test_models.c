/* Every row of models.def, on kernels that a new model is likely to get wrong: calls in loops, by some lanes, of
 * different functions, and recursive ones; parameters in registers; warps that end within a function; divergence,
 * guards, results of several words. Each model must be verified, count the same again, where its effects are looked
 * up, and from snapshots (hwmodel/rf/memo.h), and fail where one move of its data is lost. MODELS_COUNT=N random
 * modules for each model, MODELS_SEED=N the first; MODELS_ONLY=NAME takes only that model.
 */
#include "unit.h"

#include "tests/unit/call_module.h"
#include "tests/unit/rf_replay.h"

#include <stdio.h>

enum { THREADS = 128, MOST_FAULTS = 64 };

static uint32_t in[THREADS], out[THREADS];

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *value = getenv(name);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

static bool is_wanted(const hd_rf_model_info *model)
{
    const char *only = getenv("MODELS_ONLY");
    return !only || !strcmp(only, model->name);
}

static void fill_input(uint64_t seed)
{
    for (uint32_t i = 0; i < THREADS; i++)
        in[i] = (seed % 3 ? i % 32 * 37 % (5 + (uint32_t)seed % 11 * 16) : i * 7919) % 256;
}

/* The model on allocated code, after its pass. `passes` has room for their list. */
static rf_replay replay_of(const char *text, const hd_rf_model_info *model, char passes[static 128])
{
    snprintf(passes, 128, "select,regalloc%s%s", *model->pass ? "," : "", model->pass);
    return (rf_replay){.run = {.text = text,
                               .in = in,
                               .in_bytes = sizeof in,
                               .out = out,
                               .out_bytes = sizeof out,
                               .block = THREADS,
                               .grid = 3,
                               .options.instruction_limit = 10000000,
                               .passes = passes},
                       .models = model,
                       .model_count = 1,
                       .residency = {.ctas = 2, .active = 3, .latency = 20, .bytes = 1 << 24}};
}

/* Is it verified? Where it takes part in. */
static bool verify(const char *text, const hd_rf_model_info *model, const char *what)
{
    char passes[128];
    rf_replay r = replay_of(text, model, passes), again = r;
    rf_replay_run(&r);
    if (r.results[0].refusal)
        return false;
    if (!r.proved)
        fail_msg("%s, %s: %s fails: %s", what, passes, r.failed ? model->name : "the baseline", r.run.message);
    rf_replay_run(&again);
    if (memcmp(r.results[0].counters, again.results[0].counters, sizeof r.results[0].counters))
        fail_msg("%s: %s counts something else the second time", what, model->name);
    for (uint32_t forgets = 0; forgets < 2; forgets++) {
        again.events = 100;
        again.forgets = forgets;
        rf_replay_run(&again);
        if (memcmp(r.results[0].counters, again.results[0].counters, sizeof r.results[0].counters))
            fail_msg("%s: %s counts something else %s", what, model->name,
                     forgets ? "from its snapshots" : "where its effects are looked up");
    }
    return true;
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define REGISTERS ".reg .b32 %r<9>;\n.reg .b64 %rd<5>;\n.reg .pred %p<4>;\n"
#define ENTRY                                                                               \
    ".entry k(.param .u64 in, .param .u64 out)\n{\n" REGISTERS "ld.param.u64 %rd1, [in];\n" \
    "mov.u32 %r0, %tid.x;\nmad.wide.u32 %rd1, %r0, 4, %rd1;\nld.global.u32 %r1, [%rd1];\n"  \
    "ld.param.u64 %rd2, [out];\nmad.wide.u32 %rd2, %r0, 4, %rd2;\n"
#define END "st.global.u32 [%rd2], %r1;\nret;\n}\n"

static const struct kernel {
    const char *what, *text;
} kernels[] = {
    /* the last write of a call is the register in which the next one gets its parameter */
    {"parameters in registers", HEAD
     ".func (.reg .b32 z) f(.reg .b32 x)\n{\n" REGISTERS "add.u32 z, x, 3;\nadd.u32 x, x, 1;\nadd.u32 z, z, x;\n"
     "xor.b32 x, x, z;\nret;\n}\n" ENTRY "call (%r2), f, (%r1);\ncall (%r3), f, (%r2);\ncall (%r1), f, (%r3);\n" END},
    {"parameters in registers, in some lanes",
     HEAD ".func (.reg .b32 z) f(.reg .b32 x)\n{\n" REGISTERS "mul.lo.u32 z, x, 3;\nmov.u32 x, z;\nret;\n}\n" ENTRY
          "and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\ncall (%r3), f, (%r1);\n@%p1 call (%r3), f, (%r3);\n"
          "@!%p1 call (%r3), f, (%r1);\nadd.u32 %r1, %r3, %r1;\n" END},
    /* ... and nothing of the caller is in between */
    {"a function without a result, twice",
     HEAD ".global .u32 seen;\n.func f(.reg .b32 x)\n{\n" REGISTERS "mov.u64 %rd1, seen;\nadd.u32 x, x, 3;\n"
          "st.global.u32 [%rd1], x;\nret;\n}\n" ENTRY "call f, (%r1);\ncall f, (%r0);\n" END},
    {"a warp that ends in a function",
     HEAD ".func f(.reg .b32 x)\n{\n" REGISTERS
          "setp.lt.u32 %p1, x, 40;\nadd.u32 %r1, x, 1;\n@%p1 exit;\nadd.u32 x, x, %r1;\n"
          "ret;\n}\n" ENTRY "call f, (%r1);\ncall f, (%r0);\n" END},
    {"several results, over divergence", HEAD ENTRY
     "mov.u64 %rd3, %rd2;\nsetp.lt.u32 %p1, %r0, 16;\n@%p1 bra L;\nmul.wide.u32 %rd3, %r1, 5;\n"
     "mov.b64 {%r2, %r3}, %rd3;\nadd.u32 %r1, %r2, %r3;\nbra M;\nL:\nadd.u32 %r2, %r1, 1;\n@!%p1 add.u32 %r2, %r2, 1;\n"
     "add.u32 %r1, %r2, %r1;\nM:\nadd.u32 %r1, %r1, %r2;\n" END},
    {"a guarded write after a whole one",
     HEAD ENTRY "add.u32 %r3, %r1, %r0;\nmul.wide.u32 %rd3, %r1, %r3;\nadd.u32 %r4, %r1, 7;\nsetp.lt.u32 %p2, %r0, 9;\n"
                "add.u32 %r4, %r4, 1;\n@%p2 add.u32 %r4, %r3, 2;\nadd.u32 %r1, %r4, %r4;\nmov.b64 {%r5, %r6}, %rd3;\n"
                "add.u32 %r1, %r1, %r5;\nadd.u32 %r1, %r1, %r6;\n" END},
    {"many registers, written in some lanes after all",
     HEAD ENTRY "setp.lt.u32 %p2, %r0, 9;\n"
                "add.u32 %r2, %r1, 6;\nadd.u32 %r3, %r1, 9;\nadd.u32 %r4, %r1, 12;\nadd.u32 %r5, %r1, 15;\nadd.u32 "
                "%r6, %r1, 18;\nadd.u32 %r7, %r1, 21;\nadd.u32 %r8, %r1, 24;\n"
                "@%p2 xor.b32 %r2, %r0, 2;\n@%p2 xor.b32 %r3, %r0, 3;\n@%p2 xor.b32 %r4, %r0, 4;\n@%p2 xor.b32 %r5, "
                "%r0, 5;\n@%p2 xor.b32 %r6, %r0, 6;\n@%p2 xor.b32 %r7, %r0, 7;\n@%p2 xor.b32 %r8, %r0, 8;\n"
                "add.u32 %r1, %r1, %r2;\nadd.u32 %r1, %r1, %r3;\nadd.u32 %r1, %r1, %r4;\nadd.u32 %r1, %r1, "
                "%r5;\nadd.u32 %r1, %r1, %r6;\nadd.u32 %r1, %r1, %r7;\nadd.u32 %r1, %r1, %r8;\n" END},
    /* Other lanes in each warp. Up to the barrier, all warps but the first are looked up; the first one that goes the
     * other way is walked from there, with the last result at hand. */
    {"lanes that differ by warp, before a barrier and a branch",
     HEAD ENTRY "shr.u32 %r2, %r0, 5;\nmad.lo.u32 %r3, %r2, 5, %r0;\nand.b32 %r3, %r3, 3;\nsetp.eq.u32 %p1, %r3, 0;\n"
                "and.b32 %r5, %r2, 1;\nsetp.eq.u32 %p2, %r5, 0;\nmul.lo.u32 %r4, %r1, 5;\n@%p1 add.u32 %r4, %r1, 7;\n"
                "bar.sync 0;\n@%p2 bra L;\nadd.u32 %r1, %r4, %r1;\nst.global.u32 [%rd2], %r0;\nbra M;\nL:\n"
                "xor.b32 %r1, %r4, %r1;\nst.global.u32 [%rd2], %r2;\nM:\nadd.u32 %r1, %r1, %r4;\n" END},
    {"several results of one instruction",
     HEAD ENTRY "add.u64 %rd4, %rd1, 0;\nand.b64 %rd4, %rd4, -16;\nmov.u32 %r3, 1;\nadd.u32 %r4, %r3, %r1;\n"
                "ld.global.v2.u32 {%r4, %r3}, [%rd4];\nadd.u32 %r1, %r4, %r3;\nadd.u32 %r3, %r1, %r4;\n"
                "ld.global.v2.u32 {%r3, %r2}, [%rd4];\nadd.u32 %r1, %r3, %r1;\nadd.u32 %r1, %r1, %r2;\n" END},
};
enum { KERNELS = sizeof kernels / sizeof *kernels };

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void every_model_is_verified(void **state)
{
    uint64_t first = number_from("MODELS_SEED", 0), count = number_from("MODELS_COUNT", 8);
    uint32_t looked_at = 0;
    (void)state;
    for (uint32_t m = 1; m < hd_rf_model_count; m++) {
        const hd_rf_model_info *model = &hd_rf_models[m];
        uint64_t took_part = 0;
        if (!is_wanted(model))
            continue;
        looked_at++;
        fill_input(first);
        for (uint32_t k = 0; k < KERNELS; k++)
            took_part += verify(kernels[k].text, model, kernels[k].what);
        for (uint64_t seed = first; seed < first + count; seed++) {
            char *text = call_module_make(seed, 2 + (uint32_t)seed % 2), what[32];
            snprintf(what, sizeof what, "seed %llu", (unsigned long long)seed);
            fill_input(seed);
            took_part += verify(text, model, what);
            free(text);
        }
        if (!took_part)
            fail_msg("%s takes part in no kernel", model->name);
    }
    if (!looked_at)
        fail_msg("there is no model of that name (MODELS_ONLY)");
}

/* Some lost move of data is noticed; most values are read again. */
static bool notices(const char *text, const hd_rf_model_info *model)
{
    char passes[128];
    for (uint32_t fault = 1; fault < MOST_FAULTS; fault++) {
        rf_replay r = replay_of(text, model, passes);
        r.fault = fault;
        rf_replay_run(&r);
        if (r.results[0].refusal)
            return false;
        if (!r.proved)
            return true;
    }
    return false;
}

static void every_model_fails_where_it_loses_data(void **state)
{
    (void)state;
    fill_input(1);
    for (uint32_t m = 1; m < hd_rf_model_count; m++) {
        bool noticed = !is_wanted(&hd_rf_models[m]);
        for (uint32_t k = 0; k < KERNELS && !noticed; k++)
            noticed = notices(kernels[k].text, &hd_rf_models[m]);
        for (uint64_t seed = 0; seed < 4 && !noticed; seed++) {
            char *text = call_module_make(seed, 2);
            noticed = notices(text, &hd_rf_models[m]);
            free(text);
        }
        if (!noticed)
            fail_msg("%s: no lost move of data is noticed", hd_rf_models[m].name);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_model_is_verified),
        cmocka_unit_test(every_model_fails_where_it_loses_data),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
