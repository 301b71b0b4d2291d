/* BOW beside CORF: counts derived by hand on a small kernel, beside those of BOW and of CORF alone; what is lost is
 * noticed in either; which techniques go together. */
#include "rf_replay.h"

#include "driver/replay/replay.h"

#define KERNEL_OF(notes, body)                                                                              \
    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 in, .param .u64 out)\n{ //@" notes \
    "architected (16,4,0,0)\n.reg .b32 %R<16>;\n.reg .b64 %RD<16>;\n.reg .pred %P<4>;\n" body "ret;\n}\n"

/* R0 and R1 are of one byte and a pair, so that they are in one entry. */
static const char text[] =
    KERNEL_OF("corf_pairs (0,1); ", "mov.b32 %R0, 1;\nmov.b32 %R1, 2;\n" /* 1, 2 */
                                    "add.u32 %R2, %R0, %R1;\n"           /* 3: both are in the window of three */
                                    "mov.b32 %R4, 4;\nmov.b32 %R5, 5;\n" /* 4, 5 */
                                    "mov.b32 %R6, 6;\n"                  /* 6: R0, R1 and R2 have left it */
                                    "add.u32 %R7, %R0, %R1;\n"   /* 7: neither is in the window: one read of the file */
                                    "add.u32 %R8, %R0, %R7;\n"); /* 8: both are in the window */

enum { BOW, CORF, BOTH, MODELS };

static rf_replay replay_all(uint32_t fault, uint32_t first)
{
    static const char *const names[MODELS] = {"bow-iw3", "corf", "bow+corf"};
    static hd_rf_model_info models[MODELS];
    static uint32_t out[64];
    for (uint32_t m = 0; m < MODELS; m++)
        models[m] = *hd_rf_model_find(names[m], strlen(names[m]));
    rf_replay r = {.models = models + first, .model_count = MODELS - first, .fault = fault};
    r.run.text = text;
    r.run.out = out;
    r.run.out_bytes = sizeof out;
    rf_replay_run(&r);
    return r;
}

/* Eight results; six operands. The window alone: instructions 3 and 8 are served from it, 7 reads the file twice and
 * fills the window twice. CORF alone: each of 3 and 7 reads its pair at once, 8 reads R0 and R7 one by one. Both: the
 * file is read once, for instruction 7. */
static void counts_are_those_derived_by_hand(void **state)
{
    rf_replay r = replay_all(0, 0);
    const uint64_t *bow = r.results[BOW].counters, *corf = r.results[CORF].counters, *both = r.results[BOTH].counters;
    (void)state;
    assert_true(r.proved);
    assert_int_equal(both[HD_COUNTER_OPERANDS], 6);
    assert_int_equal(both[HD_COUNTER_RESULTS], 8);
    assert_int_equal(bow[HD_COUNTER_FILE_READS], 2);
    assert_int_equal(corf[HD_COUNTER_FILE_READS], 1 + 1 + 2);
    assert_int_equal(both[HD_COUNTER_FILE_READS], 1);
    assert_int_equal(both[HD_COUNTER_BYPASSED], 5);
    assert_int_equal(both[HD_COUNTER_FILE_WRITES], 8);
    assert_int_equal(both[HD_COUNTER_WINDOW_READS], 2 + 2);
    assert_int_equal(both[HD_COUNTER_WINDOW_WRITES], 8 + 2);
    assert_int_equal(both[HD_COUNTER_MULTI_OPERAND], 1); /* that the file sees */
    assert_int_equal(both[HD_COUNTER_COALESCED], 1);
    assert_int_equal(corf[HD_COUNTER_MULTI_OPERAND], 3);
    assert_int_equal(corf[HD_COUNTER_COALESCED], 2);
    /* the table is looked up for operands that the window does not hold, and for results */
    assert_int_equal(corf[HD_COUNTER_RENAMING] - both[HD_COUNTER_RENAMING], 4);
    assert_int_equal(both[HD_COUNTER_WINDOW_READS], bow[HD_COUNTER_WINDOW_READS]);
    assert_int_equal(both[HD_COUNTER_WINDOW_WRITES], bow[HD_COUNTER_WINDOW_WRITES]);
    assert_int_equal(r.results[BOTH].storage_bits, r.results[BOW].storage_bits + r.results[CORF].storage_bits);
    assert_true(r.results[BOTH].allocation.samples == r.results[CORF].allocation.samples &&
                r.results[BOTH].allocation.peak == r.results[CORF].allocation.peak);
}

/* Moves of data, as both models ask for them: eight results into the window and eight into the file. Nothing reads R2
 * and R8 again, nor R4 to R6; R0 and R1 are read in both, R7 in the window only. */
static void what_is_lost_in_either_is_noticed(void **state)
{
    uint32_t noticed = 0;
    (void)state;
    for (uint32_t fault = 1; fault <= 16; fault++)
        noticed += !replay_all(fault, BOTH).proved;
    assert_int_equal(noticed, 2 + 2 + 1);
    assert_true(replay_all(17, BOTH).proved);
}

static void pairs_are_in_the_table_once(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < hd_rf_combination_count; i++) {
        const hd_rf_combination_info *row = &hd_rf_combinations[i];
        assert_true(!*row->model == (*row->reason != 0));
        assert_true(!*row->model || hd_rf_model_find(row->model, strlen(row->model)));
        for (uint32_t k = 0; k < i; k++) {
            const hd_rf_combination_info *other = &hd_rf_combinations[k];
            assert_false(!strcmp(row->one, other->one) && !strcmp(row->other, other->other));
            assert_false(!strcmp(row->one, other->other) && !strcmp(row->other, other->one));
        }
    }
}

static void assert_choice(const char *list, const char *message)
{
    hd_diagnostics diagnostics;
    hd_diagnostics_init(&diagnostics);
    hd_replay *replay = hd_replay_new(&(hd_replay_options){.techniques = list}, &diagnostics);
    if (message)
        assert_string_equal(diagnostics.first->message, message);
    assert_int_equal(hd_replay_status(replay), message ? HD_STATUS_USAGE : HD_STATUS_DONE);
    hd_replay_free(replay);
    hd_diagnostics_free(&diagnostics);
}

static void others_are_refused_with_the_reason(void **state)
{
    (void)state;
    assert_choice("bow+corf,corf+bow,bow+corf++,release+corf,corf+++release,bow+corf(iw=5)", NULL);
    assert_choice("release+regmutex",
                  "'release' and 'regmutex' do not go together: both decide which physical register a "
                  "name has: by sets of a fixed size, and one by one");
    assert_choice("demo+corf", "'demo' and 'corf' do not go together: no paper combines them");
    assert_choice("bow+bow", "'bow' and 'bow' do not go together: no paper combines them");
    assert_choice("bow+wow", "no technique is called 'bow+wow'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_are_those_derived_by_hand),
        cmocka_unit_test(what_is_lost_in_either_is_noticed),
        cmocka_unit_test(pairs_are_in_the_table_once),
        cmocka_unit_test(others_are_refused_with_the_reason),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
