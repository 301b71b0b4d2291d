/* Models that stand for others: what one counts beside a model that does all that it would do is what it counts
 * alone. */
#include "tests/unit/unit.h"

#include "tests/unit/rf_bench.h"

static hd_rf_model_info window_with(const char *options)
{
    return (hd_rf_model_info){"bow", "bow", hd_rf_model_find("bow-iw3", 7)->ops, "", options, "", NULL};
}

/* Full windows, such that evict, and pairs that do not go together. */
static void a_window_that_writes_back_stands_for_one_that_writes_through(void **state)
{
    static const char *const options[][2] = {
        {"policy=through,iw=2", "policy=back,iw=2"},
        {"policy=through,iw=3,entries=12", "policy=back,iw=3"},
        {"policy=through,iw=3,entries=2", "policy=back,iw=3,entries=2"},
        {"policy=through,iw=7,entries=5", "policy=back,iw=7,entries=5"},
        {"policy=through,iw=3,entries=2", "policy=back,iw=3,entries=3"},
        {"policy=through,iw=3", "policy=back,iw=4,entries=12"},
        {"policy=back,iw=3", "policy=through,iw=3"},
    };
    enum { PAIRS = sizeof options / sizeof *options };
    uint64_t evictions = 0;
    (void)state;
    for (uint64_t seed = 0; seed < 40 * PAIRS; seed++) {
        const char *const *pair = options[seed % PAIRS];
        hd_rf_model_info model = window_with(pair[0]), beside = window_with(pair[1]);
        rf_bench_run run = {.model = &model, .warps = 6, .events = 100, .stretches = true, .lanes = seed % 2};
        rf_bench b;
        rf_bench_open_random(&b, seed / PAIRS);
        rf_bench_result alone = rf_bench_replay(&b, &run);
        run.beside = &beside;
        rf_bench_result together = rf_bench_replay(&b, &run);
        assert_true(alone.proved && together.proved);
        for (uint32_t c = 0; c < HD_COUNTER_COUNT; c++)
            if (alone.counters[c] != together.counters[c])
                fail_msg("seed %llu, %s beside %s: %s are %llu, and %llu", (unsigned long long)seed, pair[0], pair[1],
                         hd_counters[c].title, (unsigned long long)alone.counters[c],
                         (unsigned long long)together.counters[c]);
        evictions += alone.counters[HD_COUNTER_EVICTIONS];
        rf_bench_close(&b);
    }
    assert_true(evictions > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_window_that_writes_back_stands_for_one_that_writes_through)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
