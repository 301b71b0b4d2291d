/* Warps with several frames, looked up: the same counters and the same verdict as where they are walked. On the
 * random modules of call_module.h, and on single cases. */
#include "ptx_file.h"
#include "unit.h"

#include "hwmodel/count/count.h"
#include "tests/unit/call_module.h"
#include "tests/unit/rf_replay.h"

enum { THREADS = 128 };

/* ---- replays ----------------------------------------------------------------------------------------------------- */

typedef struct variant {
    const char *passes; /* NULL: none */
    const char *models[RF_REPLAY_MODELS][2];
} variant;
static const variant variants[] = {
    {"select,regalloc,bow,ltrf(n=8,dead)",
     {{"bow-wr-iw3", "policy=tags,iw=3,entries=3"},
      {"ltrf", "n=8"},
      {"ltrf+", "n=8,dead"},
      {"rfc", "private,entries=3"}}},
    {"select,regalloc,corf,release",
     {{"bow-iw3", "policy=back,iw=7,entries=9"},
      {"corf", "policy=pairs,release"},
      {"release", "cache=2,banks=3,subarrays=5"},
      {"rfc", "private,entries=40"}}},
    {"select,regalloc(max=16),demo",
     {{"demo", ""},
      {"corf", "policy=first,kept"},
      {"bow-iw3", "policy=through,iw=31,entries=64"},
      {"release", "static"}}},
    {NULL, {{"demo", ""}, {"ltrf", "n=16"}, {"corf", "policy=first"}, {"rfc", "private,entries=6"}}},
    {"regalloc(max=20),release,ltrf(n=4,dead),corf",
     {{"ltrf+", "n=4,dead"},
      {"release", "cache=1,robin"},
      {"corf++", "policy=sides"},
      {"bow-iw3", "policy=back,iw=3"}}},
};
enum { VARIANTS = sizeof variants / sizeof *variants };

static uint32_t in[THREADS], out[THREADS];

static rf_replay replay_of(const char *text, const variant *v, hd_rf_model_info *infos)
{
    for (uint32_t m = 0; m < RF_REPLAY_MODELS; m++) {
        infos[m] = *hd_rf_model_find(v->models[m][0], strlen(v->models[m][0]));
        infos[m].options = v->models[m][1];
    }
    return (rf_replay){.run = {.text = text,
                               .in = in,
                               .in_bytes = sizeof in,
                               .out = out,
                               .out_bytes = sizeof out,
                               .block = THREADS,
                               .grid = 3,
                               .options.instruction_limit = 10000000,
                               .passes = v->passes},
                       .models = infos,
                       .model_count = RF_REPLAY_MODELS,
                       .residency = {.ctas = 2, .active = 3, .latency = 20, .bytes = 1 << 24}};
}

/* Which warps do as others. */
static void fill_input(uint64_t seed)
{
    for (uint32_t i = 0; i < THREADS; i++)
        in[i] = (seed % 3 ? i % 32 * 37 % (5 + (uint32_t)seed % 11 * 16) : i * 7919) % 256;
}

typedef struct reads {
    uint64_t walked, known;
} reads;

static reads expect_same(rf_replay *each, uint64_t seed)
{
    reads n = {0};
    rf_replay_run(each);
    if (!each->proved)
        fail_msg("seed %llu: model %u is not proved: %s", (unsigned long long)seed, each->failed, each->run.message);
    for (uint32_t forgets = 0; forgets < 2; forgets++) {
        rf_replay known = *each;
        known.events = 100;
        known.forgets = forgets;
        rf_replay_run(&known);
        for (uint32_t m = 0; m < RF_REPLAY_MODELS; m++) {
            assert_null(each->results[m].refusal);
            if (memcmp(&each->results[m], &known.results[m], sizeof each->results[m]))
                fail_msg("seed %llu, %s: not the same%s", (unsigned long long)seed, each->models[m].name,
                         forgets ? ": something of a warp is not carried" : "");
            n.walked += forgets ? 0 : each->looks[m].reads;
            n.known += forgets ? 0 : known.looks[m].reads;
        }
    }
    return n;
}

/* CALLS_COUNT=N modules, CALLS_SEED=N the first. */
static uint64_t number_from(const char *name, uint64_t otherwise)
{
    const char *value = getenv(name);
    return value ? strtoull(value, NULL, 10) : otherwise;
}

static void random_calls_count_the_same(void **state)
{
    uint64_t first = number_from("CALLS_SEED", 0), count = number_from("CALLS_COUNT", 60);
    reads all = {0};
    (void)state;
    for (uint64_t seed = first; seed < first + count; seed++) {
        hd_rf_model_info infos[RF_REPLAY_MODELS];
        char *text = call_module_make(seed, 2 + (uint32_t)seed % 2);
        rf_replay each = replay_of(text, &variants[seed % VARIANTS], infos);
        each.segments = seed / VARIANTS % 2;
        fill_input(seed);
        reads n = expect_same(&each, seed);
        all.walked += n.walked;
        all.known += n.known;
        free(text);
    }
    assert_true(all.known < all.walked / 3);
}

/* ---- cases ------------------------------------------------------------------------------------------------------- */

/* Says how many operands were asked for, of how many there are. */
static reads expect_case(const char *text, uint32_t v)
{
    hd_rf_model_info infos[RF_REPLAY_MODELS];
    rf_replay each = replay_of(text, &variants[v], infos);
    return expect_same(&each, v);
}

/* Lanes go so deep as their number says, and once more half as deep. A frame that has just begun calls the next one: a
 * long window holds registers of many. */
static const char *recursion(void) { return ptx_file("memo_calls-recursion"); }

static void recursion_counts_the_same(void **state)
{
    static const uint32_t depths[] = {5, 12, 90}; /* the last one has more frames than a snapshot */
    (void)state;
    for (uint32_t d = 0; d < 3; d++)
        for (uint32_t v = 0; v < VARIANTS; v++) {
            for (uint32_t i = 0; i < THREADS; i++)
                in[i] = depths[d] - i % 32 % 3 * (d + 1);
            reads n = expect_case(recursion(), v);
            assert_true(n.known < (d == 2 ? n.walked : n.walked / 2));
        }
}

/* One of two callers has a register that is never written: what is there when the leaf runs differs by nothing but how
 * many registers there are. */
static void registers_of_callers_count(void **state)
{
    const char *text = ptx_file("memo_calls-registers_of_callers_count");
    (void)state;
    fill_input(1);
    for (uint32_t v = 0; v < VARIANTS; v++)
        expect_case(text, v);
}

/* A function begins with a loop, and calls itself when it is in the same state as at the loop's end: the same
 * instructions in a new frame. */
static void a_new_frame_is_not_the_same_again(void **state)
{
    const char *text = ptx_file("memo_calls-a_new_frame_is_not_the_same_again");
    (void)state;
    fill_input(1);
    for (uint32_t v = 0; v < VARIANTS; v++)
        expect_case(text, v);
}

/* The warps of a block diverge in lanes of their own, of different number. */
static void lanes_make_no_difference(void **state)
{
    const char *text = ptx_file("memo_calls-lanes_make_no_difference");
    (void)state;
    for (uint32_t v = 0; v < VARIANTS; v++) {
        for (uint32_t i = 0; i < THREADS; i++)
            in[i] = (i * (3 + i / 32 * 2) + i / 32) % 32 + i / 32;
        reads n = expect_case(text, v);
        assert_true(n.known * 10 < n.walked * 3); /* else a third: the three blocks do the same */
    }
}

/* Warps end within a function, with and without a value in the kernel's frame that was loaded and read once. */
static void frames_that_rest_end_with_the_warp(void **state)
{
    const char *text = ptx_file("memo_calls-frames_that_rest_end_with_the_warp");
    (void)state;
    for (uint32_t i = 0; i < THREADS; i++)
        in[i] = i / 32 % 2;
    for (uint32_t v = 0; v < VARIANTS; v++)
        expect_case(text, v);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_calls_count_the_same),        cmocka_unit_test(recursion_counts_the_same),
        cmocka_unit_test(registers_of_callers_count),         cmocka_unit_test(a_new_frame_is_not_the_same_again),
        cmocka_unit_test(frames_that_rest_end_with_the_warp), cmocka_unit_test(lanes_make_no_difference),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
