/* The models of CORF and CORF++: widths, places, coalesced reads and moves on kernels worked by hand, faults, and
 * random programs. What the compiler says is written by hand, or at random. */
#include "tests/unit/program.h"
#include "tests/unit/ptx_file.h"
#include "tests/unit/rf_replay.h"

#include "hwmodel/rf/models/pack.h"

/* ---- helpers ----------------------------------------------------------------------------------------------------- */

/* Register n is word n. One warp, unless said otherwise. */
#define KERNEL_OF(notes, body)                                                                              \
    ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 in, .param .u64 out)\n{ //@" notes \
    "architected (16,4,0,0)\n.reg .b32 %R<16>;\n.reg .b64 %RD<16>;\n.reg .pred %P<4>;\n" body "ret;\n}\n"

static hd_rf_model_info model_of(const char *options)
{
    hd_rf_model_info info = *hd_rf_model_find("corf-first-fit", 14);
    info.options = options;
    return info;
}

static rf_replay replay_with(const char *text, const char *options, uint32_t fault)
{
    static unsigned char buffer[4096];
    static hd_rf_model_info info;
    info = model_of(options);
    rf_replay r = {
        .run = {.text = text, .in = buffer, .in_bytes = sizeof buffer, .out = buffer, .out_bytes = sizeof buffer},
        .models = &info,
        .model_count = 1,
        .fault = fault};
    rf_replay_run(&r);
    return r;
}

static rf_replay_result proved(const char *text, const char *options)
{
    rf_replay r = replay_with(text, options, 0);
    assert_null(r.results[0].refusal);
    assert_true(r.proved);
    assert_int_equal(r.results[0].counters[HD_COUNTER_OPERANDS], r.baseline.counters[HD_COUNTER_OPERANDS]);
    assert_int_equal(r.results[0].counters[HD_COUNTER_FILE_READS] + r.results[0].counters[HD_COUNTER_BYPASSED],
                     r.baseline.counters[HD_COUNTER_FILE_READS] + r.results[0].counters[HD_COUNTER_LANE_COPIES]);
    return r.results[0];
}

static bool disproved(const char *text, const char *options, uint32_t fault)
{
    rf_replay r = replay_with(text, options, fault);
    return !r.proved && r.failed == 1; /* never the baseline */
}

static void assert_widths(const rf_replay_result *r, uint64_t one, uint64_t two, uint64_t three, uint64_t four)
{
    assert_int_equal(r->counters[HD_COUNTER_WIDTH_1], one);
    assert_int_equal(r->counters[HD_COUNTER_WIDTH_2], two);
    assert_int_equal(r->counters[HD_COUNTER_WIDTH_3], three);
    assert_int_equal(r->counters[HD_COUNTER_WIDTH_4], four);
}

/* ---- slices and the free map ------------------------------------------------------------------------------------- */

static uint8_t naive_run(uint8_t taken, uint32_t width, hd_pack_side side)
{
    static const uint8_t runs[4][4] = {{1, 2, 4, 8}, {3, 6, 12}, {7, 14}, {15}};
    for (uint32_t k = 0; k < 4 && runs[width - 1][k]; k++)
        if (!(taken & runs[width - 1][k]) && (side != HD_PACK_LEFT || runs[width - 1][k] & 8) &&
            (side != HD_PACK_RIGHT || runs[width - 1][k] & 1))
            return runs[width - 1][k];
    return 0;
}

/* The pool against a plain list of masks. */
static void the_lowest_room_is_found(void **state)
{
    enum { ENTRIES = 400, PLACES = 1000 };
    static uint8_t taken[ENTRIES], reserved[ENTRIES];
    static hd_pack_slices places[PLACES];
    hd_pack_pool pool = {0};
    uint64_t seed = 1;
    uint32_t count = 0, highest = 0;
    (void)state;
    hd_pack_clear(&pool);
    memset(taken, 0, sizeof taken);
    for (uint32_t step = 0; step < 40000; step++) {
        uint32_t width = 1 + (uint32_t)(unit_random(&seed) % 4), at = 0, used = 0;
        bool fills = step % 4000 < 2500; /* in waves, so that low entries come back */
        if (count && (count == 300 || unit_random(&seed) % 8 >= (fills ? 6 : 2))) {
            uint32_t gone = (uint32_t)(unit_random(&seed) % count);
            hd_pack_give(&pool, places[gone]);
            taken[places[gone].entry] &= (uint8_t)~places[gone].mask;
            reserved[places[gone].entry] &= taken[places[gone].entry] != 0;
            places[gone] = places[--count];
        } else {
            hd_pack_side side = (hd_pack_side)(unit_random(&seed) % 3);
            bool empty = unit_random(&seed) % 8 == 0;
            while (reserved[at] || (empty ? taken[at] != 0 : !naive_run(taken[at], width, side)))
                at++;
            hd_pack_slices place = empty ? (hd_pack_slices){hd_pack_empty(&pool), 0} : hd_pack_find(&pool, width, side);
            place.mask = empty ? hd_pack_run(&pool, place.entry, width, HD_PACK_RIGHT) : place.mask;
            assert_int_equal(place.entry, at);
            assert_int_equal(place.mask, naive_run(taken[at], width, empty ? HD_PACK_RIGHT : side));
            hd_pack_take(&pool, place);
            taken[at] |= place.mask;
            places[count++] = place;
            if (empty) {
                hd_pack_reserve(&pool, at, true);
                reserved[at] = 1;
            } else if (unit_random(&seed) % 4 == 0) {
                hd_pack_reserve(&pool, at, false);
                reserved[at] = 0;
            }
            highest = at > highest ? at : highest;
        }
        for (uint32_t e = 0; e < ENTRIES; e++)
            used += taken[e] != 0;
        assert_int_equal(pool.used, used);
    }
    assert_true(highest > 128);
    hd_pack_free(&pool);
}

/* A place is what all of its slices say. */
static void slices_must_agree(void **state)
{
    hd_pack_pool pool = {0};
    hd_pack_slices place = {0, 6}, beside = {0, 12}, low = {0, 2};
    hd_owner one = {1, 0, 7}, other = {1, 0, 8};
    (void)state;
    assert_int_equal(hd_pack_empty(&pool), 0);
    hd_pack_take(&pool, (hd_pack_slices){0, 15});
    hd_pack_write(&pool, place, one, (hd_claim){5, 0xff});
    assert_int_equal(hd_pack_read(&pool, place).claim.lanes, 0xff);
    assert_int_equal(hd_pack_read(&pool, low).claim.lanes, 0xff);                 /* the low byte alone */
    assert_int_equal(hd_pack_read(&pool, (hd_pack_slices){0, 4}).claim.lanes, 0); /* the high byte for the low one */
    assert_int_equal(hd_pack_read(&pool, beside).claim.lanes, 0);
    hd_pack_write(&pool, low, one, (hd_claim){6, 0xff});
    assert_int_equal(hd_pack_read(&pool, place).claim.lanes, 0); /* one byte is older */
    hd_pack_write(&pool, place, one, (hd_claim){6, 0xff});
    hd_pack_write(&pool, (hd_pack_slices){0, 4}, other, (hd_claim){6, 0xff});
    assert_int_equal(hd_pack_read(&pool, place).claim.lanes, 0);
    assert_int_equal(hd_pack_read(&pool, (hd_pack_slices){0, 4}).claim.lanes, 0xff);
    hd_pack_give(&pool, (hd_pack_slices){0, 15});
    hd_pack_take(&pool, (hd_pack_slices){0, 4});
    assert_int_equal(hd_pack_read(&pool, (hd_pack_slices){0, 4}).claim.lanes, 0); /* taken anew */
    hd_pack_free(&pool);
}

/* ---- widths ------------------------------------------------------------------------------------------------------ */

static void widths_of_values(void **state)
{
    static const struct {
        int32_t value;
        uint32_t width;
    } cases[] = {{0, 1},     {1, 1},       {127, 1},     {128, 2},       {255, 2},      {32767, 2},
                 {32768, 3}, {8388607, 3}, {8388608, 4}, {INT32_MAX, 4}, {-1, 1},       {-128, 1},
                 {-129, 2},  {-32768, 2},  {-32769, 3},  {-8388608, 3},  {-8388609, 4}, {INT32_MIN, 4}};
    (void)state;
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[] = KERNEL_OF("", "mov.b32 %R0, 0x12345678;\n"), digits[9];
        snprintf(digits, sizeof digits, "%08x", (uint32_t)cases[i].value);
        memcpy(strstr(text, "12345678"), digits, 8);
        rf_replay_result r = proved(text, "policy=first");
        for (uint32_t w = 1; w <= 4; w++)
            if (r.counters[HD_COUNTER_WIDTH_1 + w - 1] != (w == cases[i].width))
                fail_msg("%d should have %u bytes", cases[i].value, cases[i].width);
    }
}

/* The widest lane counts: lane 31 writes 124 * 2, or -31 * 8. */
static void the_widest_lane_counts(void **state)
{
    (void)state;
    rf_replay_result r = proved(KERNEL_OF("", "mov.u32 %R0, %tid.x;\nshl.b32 %R1, %R0, 2;\nshl.b32 %R1, %R0, 3;\n"
                                              "sub.s32 %R2, 0, %R0;\nshl.b32 %R2, %R2, 2;\nshl.b32 %R2, %R2, 1;\n"),
                                "policy=first");
    /* results 31, 124, 248, -31, -124, -248; operands tid three times, -31, -124 */
    assert_widths(&r, 4 + 5, 2, 0, 0);
}

/* Both halves of 64 bits, each by itself: -2 has ones above; a 16-bit register has no sign. */
static void parts_of_wide_and_half_values(void **state)
{
    (void)state;
    rf_replay_result r =
        proved(KERNEL_OF("", "mov.b64 %RD0, -2;\nmov.b64 %RD2, 0x3000000000000005;\nmov.b64 %RD4, 0x500003000;\n"),
               "policy=first");
    assert_widths(&r, 4, 1, 0, 1);
    r = proved(KERNEL_OF("", ".reg .b16 %RH<16>;\nmov.b16 %RH0, 0xffff;\n"), "policy=first");
    assert_widths(&r, 0, 0, 1, 0);
}

/* R1 is 1000 in lane 3 alone: two bytes, as long as that lane is not written again; then one, although lane 3 is not
 * active. */
static void lanes_that_are_not_active_count(void **state)
{
    (void)state;
    rf_replay_result r =
        proved(KERNEL_OF("", "mov.u32 %R0, %tid.x;\nsetp.eq.u32 %P0, %R0, 3;\nsetp.lt.u32 %P1, %R0, 16;\n"
                             "mov.b32 %R1, 1;\n@%P0 mov.b32 %R1, 1000;\n@!%P1 mov.b32 %R1, 2;\n@%P0 mov.b32 %R1, "
                             "7;\n@!%P1 mov.b32 %R1, 3;\n"),
               "policy=first");
    /* results: tid 1, then 1, 2, 2, 1, 1; operands: tid twice */
    assert_widths(&r, 4 + 2, 2, 0, 0);
    assert_int_equal(r.counters[HD_COUNTER_WIDENINGS], 1);
    assert_int_equal(r.counters[HD_COUNTER_LANE_COPIES], 1); /* the other 31 lanes get a second byte */
}

/* Lanes that were never written have no width, and nothing to be copied. */
static void lanes_that_were_never_written_do_not_count(void **state)
{
    (void)state;
    rf_replay_result r = proved(
        KERNEL_OF("",
                  "mov.u32 %R0, %tid.x;\nsetp.eq.u32 %P0, %R0, 3;\n@%P0 mov.b32 %R1, 1;\n@%P0 mov.b32 %R1, 1000;\n"),
        "policy=first");
    assert_widths(&r, 2 + 1, 1, 0, 0);
    assert_int_equal(r.counters[HD_COUNTER_WIDENINGS], 1);
    assert_int_equal(r.counters[HD_COUNTER_LANE_COPIES], 0);
}

/* ---- places and coalesced reads ---------------------------------------------------------------------------------- */

#define ONE_BYTE(r) "mov.b32 %R" #r ", 5;\n"
#define TWO_BYTES(r) "mov.b32 %R" #r ", 500;\n"
#define THREE_BYTES(r) "mov.b32 %R" #r ", 50000;\n"
#define FOUR_BYTES(r) "mov.b32 %R" #r ", 0x50000000;\n"
#define READ(a, b) "add.u32 %R15, %R" #a ", %R" #b ";\n"

/* Entries: {R1 2, R2 1, R5 1}, {R3 3}, {R4 4}; R15 is 2 or 3 bytes and goes where it fits. */
static void first_fit_fills_gaps(void **state)
{
    (void)state;
    rf_replay_result r = proved(KERNEL_OF("", TWO_BYTES(1) ONE_BYTE(2) THREE_BYTES(3) FOUR_BYTES(4) ONE_BYTE(5)
                                                  READ(1, 2) READ(2, 5) READ(1, 3) READ(3, 4)),
                                "policy=first");
    assert_int_equal(r.counters[HD_COUNTER_MULTI_OPERAND], 4);
    assert_int_equal(r.counters[HD_COUNTER_MULTI_READS], 8);
    assert_int_equal(r.counters[HD_COUNTER_COALESCED], 2); /* R1 R2, R2 R5 */
    assert_int_equal(r.counters[HD_COUNTER_BYPASSED], 2);
    assert_int_equal(r.counters[HD_COUNTER_COALESCEABLE], 2);
    assert_int_equal(r.allocation.peak, 4);
}

/* Figure 2.5: pairs (r1,r3) and (r2,r4). Here both fit, and only they are one access, although all four would fit in
 * one entry. */
static const char pairs[] =
    KERNEL_OF("corf_pairs (1,3,2,4); ",
              ONE_BYTE(1) ONE_BYTE(2) ONE_BYTE(3) ONE_BYTE(4) READ(1, 2) READ(1, 3) READ(1, 4) READ(2, 4) READ(4, 2));
static void buddies_share_an_entry(void **state)
{
    (void)state;
    rf_replay_result r = proved(pairs, "policy=pairs");
    assert_int_equal(r.counters[HD_COUNTER_COALESCEABLE], 5);
    assert_int_equal(r.counters[HD_COUNTER_COALESCED], 3);
    assert_int_equal(r.counters[HD_COUNTER_PAIR_TRIES], 2);
    assert_int_equal(r.counters[HD_COUNTER_PAIR_FITS], 2);
    assert_int_equal(r.counters[HD_COUNTER_PAIRS_MET], 2);
    assert_int_equal(r.counters[HD_COUNTER_PAIRS_JOINED], 2);
    assert_int_equal(r.allocation.peak, 2); /* R15 goes between R1 and R3 */
    r = proved(pairs, "policy=first");      /* not told: all four in one entry */
    assert_int_equal(r.counters[HD_COUNTER_COALESCED], 5);
    assert_int_equal(r.counters[HD_COUNTER_PAIR_TRIES], 0);
}

/* R5, which stands between them and is in no pair, does not take what is kept for R3. */
static void the_rest_is_kept_for_the_buddy(void **state)
{
    (void)state;
    rf_replay_result r = proved(
        KERNEL_OF("corf_pairs (1,3); ", ONE_BYTE(1) ONE_BYTE(5) THREE_BYTES(3) READ(1, 3) READ(1, 5)), "policy=pairs");
    assert_int_equal(r.counters[HD_COUNTER_COALESCED], 1);
    assert_int_equal(r.allocation.peak, 2);
}

/* In the figure the first pair does not fit. R3 goes to the next entry, and what was kept is free: R5 goes there. */
static void a_buddy_that_does_not_fit_goes_elsewhere(void **state)
{
    (void)state;
    rf_replay_result r =
        proved(KERNEL_OF("corf_pairs (1,3); ", TWO_BYTES(1) THREE_BYTES(3) TWO_BYTES(5) READ(1, 3) READ(1, 5)),
               "policy=pairs");
    assert_int_equal(r.counters[HD_COUNTER_COALESCED], 1); /* R1 and R5 */
    assert_int_equal(r.counters[HD_COUNTER_PAIR_TRIES], 1);
    assert_int_equal(r.counters[HD_COUNTER_PAIR_FITS], 0);
    assert_int_equal(r.counters[HD_COUNTER_PAIRS_MET], 1);
    assert_int_equal(r.counters[HD_COUNTER_PAIRS_JOINED], 0);
    r = proved(KERNEL_OF("corf_pairs (1,3); ", TWO_BYTES(1) THREE_BYTES(3) FOUR_BYTES(3) READ(1, 3)), "policy=pairs");
    assert_int_equal(r.counters[HD_COUNTER_PAIR_TRIES], 2); /* the pair stays one */
    assert_int_equal(r.counters[HD_COUNTER_PAIRS_MET], 1);
}

/* Buddies grow towards each other: R1 1, R3 2 at the other end; R1 2; R3 1 again, R1 3. Then R3 2, and goes. */
static void buddies_grow_towards_each_other(void **state)
{
    (void)state;
    rf_replay_result r =
        proved(KERNEL_OF("corf_pairs (1,3); ", ONE_BYTE(1) TWO_BYTES(3) TWO_BYTES(1) READ(1, 3) ONE_BYTE(3)
                                                   THREE_BYTES(1) READ(3, 1) TWO_BYTES(3) READ(1, 3)),
               "policy=pairs");
    assert_int_equal(r.counters[HD_COUNTER_COALESCED], 2);
    assert_int_equal(r.counters[HD_COUNTER_RELOCATIONS], 1);
    assert_int_equal(r.counters[HD_COUNTER_WIDENINGS], 3 + 1); /* R15: 3, 3, 3 bytes after 2 */
    assert_int_equal(r.counters[HD_COUNTER_LANE_COPIES], 0);
}

/* Figure 2.12: r1 don't care 2 bytes, r2 and r4 right, r3 and r5 left. Both pairs of reads are one access each, and r3
 * with r4 too, in two entries; an exclusive pair cannot have both r2 and r4 with r3. */
static const char figure_2_12[] = KERNEL_OF(
    "corf_pairs (2,3,4,5); corf_left (3,5); corf_right (2,4); ",
    TWO_BYTES(1) TWO_BYTES(2) ONE_BYTE(4) TWO_BYTES(3) "add.u32 %R5, %R2, %R3;\n"
                                                       "setp.eq.u32 %P0, %R4, %R5;\nsetp.eq.u32 %P0, %R3, %R4;\n");
static void two_halves_of_a_bank(void **state)
{
    (void)state;
    rf_replay_result r = proved(figure_2_12, "policy=sides");
    assert_int_equal(r.counters[HD_COUNTER_MULTI_OPERAND], 3);
    assert_int_equal(r.counters[HD_COUNTER_COALESCED], 3);
    assert_int_equal(r.allocation.peak, 3);
    r = proved(figure_2_12, "policy=pairs");
    assert_int_equal(r.counters[HD_COUNTER_COALESCED], 2);
}

/* The masks decide, not the sides: R1 left 3 bytes and R2 right 2 bytes meet in slice 1; with 1 byte they do not. Two
 * at the same side meet. */
static void masks_that_meet_are_two_accesses(void **state)
{
    (void)state;
    rf_replay_result r =
        proved(KERNEL_OF("corf_left (1,3); corf_right (2); ",
                         THREE_BYTES(1) TWO_BYTES(2) READ(1, 2) ONE_BYTE(2) READ(1, 2) ONE_BYTE(3) READ(1, 3)),
               "policy=sides");
    assert_int_equal(r.counters[HD_COUNTER_COALESCED], 1);
    assert_int_equal(r.counters[HD_COUNTER_COALESCEABLE], 2);
}

/* There are two unpackers: of three one-byte registers in an entry, two come together. */
static void never_more_than_two(void **state)
{
    (void)state;
    rf_replay_result r =
        proved(KERNEL_OF("", ONE_BYTE(1) ONE_BYTE(2)
                                 ONE_BYTE(3) "mad.lo.u32 %R15, %R1, %R2, %R3;\nmad.lo.u32 %R15, %R1, %R1, %R2;\n"),
               "policy=first");
    assert_int_equal(r.counters[HD_COUNTER_MULTI_READS], 5);
    assert_int_equal(r.counters[HD_COUNTER_COALESCED], 2);
    assert_int_equal(r.counters[HD_COUNTER_BYPASSED], 2);
}

/* Integer or not is what the instruction does. */
static void floating_point_apart(void **state)
{
    (void)state;
    rf_replay_result r = proved(
        KERNEL_OF("corf_pairs (1,2); ", ONE_BYTE(1) ONE_BYTE(2) READ(1, 2) "add.f32 %R3, %R1, %R2;\n"), "policy=pairs");
    assert_int_equal(r.counters[HD_COUNTER_BYPASSED], 2);
    assert_int_equal(r.counters[HD_COUNTER_FLOAT_COALESCED], 1);
    assert_int_equal(r.counters[HD_COUNTER_FLOAT_ACCESSES], 3);
}

/* Entries and registers over time; R1 and R2 in one entry, R3 in another. An instruction is told before its result. */
static void what_is_held_over_time(void **state)
{
    (void)state;
    rf_replay_result r = proved(KERNEL_OF("", TWO_BYTES(1) TWO_BYTES(2) FOUR_BYTES(3)), "policy=first");
    assert_int_equal(r.counters[HD_COUNTER_ENTRIES_HELD], 0 + 1 + 1 + 2);
    assert_int_equal(r.counters[HD_COUNTER_REGISTERS_HELD], 0 + 1 + 2 + 3);
    assert_int_equal(r.counters[HD_COUNTER_REGISTERS_DECLARED], 4 * 16); /* as the kernel is allocated */
    assert_int_equal(r.allocation.samples, 4);
    assert_true(hd_rf_series_mean(&r.allocation) == 1.0);
}

/* Renaming table: a look-up for each operand and result, and one for each change: R1 comes, grows, shrinks. */
static void the_table_is_looked_up(void **state)
{
    (void)state;
    rf_replay_result r = proved(
        KERNEL_OF("", ONE_BYTE(1) TWO_BYTES(1) ONE_BYTE(1) ONE_BYTE(1) "setp.eq.u32 %P0, %R1, %R1;\n"), "policy=first");
    assert_int_equal(r.counters[HD_COUNTER_RENAMING], 4 + 1 + 3);
}

/* ---- moves and faults -------------------------------------------------------------------------------------------- */

/* R1 is one byte, beside R2; then half of the lanes get three. It moves, and the other lanes come along. */
static const char divergent[] = KERNEL_OF("corf_pairs (1,2); corf_left (1); corf_right (2); ",
                                          "mov.u32 %R0, %tid.x;\nsetp.lt.u32 %P0, %R0, 16;\n" ONE_BYTE(1)
                                              TWO_BYTES(2) "@%P0 mov.b32 %R1, 50000;\n" READ(1, 2));
static void a_move_takes_lanes_along(void **state)
{
    static const char *const policies[] = {"policy=first", "policy=pairs", "policy=sides", "policy=first,kept",
                                           "policy=pairs,shared"};
    (void)state;
    for (uint32_t i = 0; i < 5; i++) {
        rf_replay_result r = proved(divergent, policies[i]);
        assert_int_equal(r.counters[HD_COUNTER_LANE_COPIES], 1);
        assert_int_equal(r.counters[HD_COUNTER_FILE_READS] + r.counters[HD_COUNTER_BYPASSED], 1 + 2 + 1);
        char broken[64];
        snprintf(broken, sizeof broken, "%s,uncopied", policies[i]);
        assert_true(disproved(divergent, broken, 0));
    }
}

/* A left-aligned value that shrinks stays at its end: its low byte moves, and lanes that are not written with it. */
static void shrinking_at_the_left_moves_bytes(void **state)
{
    static const char text[] =
        KERNEL_OF("corf_left (1); corf_right (2); ",
                  "mov.u32 %R0, %tid.x;\nsetp.eq.u32 %P0, %R0, 0;\n" ONE_BYTE(
                      1) "@%P0 mov.b32 %R1, 500;\n@%P0 mov.b32 %R1, 6;\n" THREE_BYTES(2) READ(1, 2));
    (void)state;
    rf_replay_result r = proved(text, "policy=sides");
    assert_int_equal(r.counters[HD_COUNTER_LANE_COPIES], 2);
    assert_int_equal(r.counters[HD_COUNTER_COALESCED], 1);
    assert_true(disproved(text, "policy=sides,uncopied", 0));
    r = proved(text, "policy=first"); /* from slice 0 on: nothing moves when it shrinks */
    assert_int_equal(r.counters[HD_COUNTER_LANE_COPIES], 1);
}

/* With "kept" a value that grows back stays where it is; else R2 has taken the slices. */
static void kept_slices_are_there_again(void **state)
{
    static const char text[] = KERNEL_OF("", THREE_BYTES(1) ONE_BYTE(1) THREE_BYTES(2) THREE_BYTES(1) READ(1, 2));
    (void)state;
    rf_replay_result r = proved(text, "policy=first");
    assert_int_equal(r.counters[HD_COUNTER_WIDENINGS], 1);
    assert_int_equal(r.counters[HD_COUNTER_RELOCATIONS], 1);
    r = proved(text, "policy=first,kept");
    assert_int_equal(r.counters[HD_COUNTER_WIDENINGS], 0);
    assert_true(proved(divergent, "policy=first,kept").counters[HD_COUNTER_LANE_COPIES] == 1);
}

/* Even the bytes of a value in kept slices come new where they were given up: lanes that are not written get their
 * signs. */
static void kept_slices_hold_old_bytes(void **state)
{
    static const char text[] = KERNEL_OF("", "mov.u32 %R0, %tid.x;\nsetp.lt.u32 %P0, %R0, 16;\n" TWO_BYTES(1)
                                                 ONE_BYTE(1) "@%P0 mov.b32 %R1, 500;\n" READ(1, 1));
    (void)state;
    assert_int_equal(proved(text, "policy=first,kept").counters[HD_COUNTER_LANE_COPIES], 1);
    assert_true(disproved(text, "policy=first,kept,uncopied", 0));
}

/* Of the moves of `divergent` in order: R0, R1, R2, the lanes that come along, R1 again; R15 is not read. */
static void a_lost_move_is_noticed(void **state)
{
    static const char *const policies[] = {"policy=first", "policy=pairs", "policy=sides"};
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        assert_true(disproved(divergent, policies[i], 1)); /* R0, which the comparison reads */
        for (uint32_t fault = 2; fault <= 5; fault++)
            assert_true(disproved(divergent, policies[i], fault));
        assert_false(disproved(divergent, policies[i], 6));
    }
}

static void a_wrong_place_is_noticed(void **state)
{
    /* R1 grows out of its entry, which R2 fills: its old slices hold the older value */
    static const char text[] = KERNEL_OF("", TWO_BYTES(1) TWO_BYTES(2) THREE_BYTES(1) READ(1, 2));
    (void)state;
    assert_int_equal(proved(text, "policy=first").counters[HD_COUNTER_RELOCATIONS], 1);
    assert_true(disproved(text, "policy=first,stale", 0));
    assert_true(disproved(text, "policy=first,slipped", 0));
    assert_true(disproved(pairs, "policy=pairs,slipped", 0));
    assert_true(disproved(figure_2_12, "policy=sides,slipped", 0));
}

/* ---- with register virtualization -------------------------------------------------------------------------------- */

/* R1 is released at its last read; R4, of its old width, gets its slices, and R1 comes again as a new one. */
static void released_slices_are_free(void **state)
{
    static const char text[] =
        KERNEL_OF("release_renamed (1,2); ", FOUR_BYTES(1) "add.u32 %R2, %R1, 1; //@pir 0x1\n" FOUR_BYTES(4)
                                                 ONE_BYTE(1) "setp.eq.u32 %P0, %R1, %R4; //@pbr (2)\n" FOUR_BYTES(5));
    (void)state;
    rf_replay_result plain = proved(text, "policy=first"), r = proved(text, "policy=first,release");
    assert_int_equal(plain.allocation.peak, 4);
    assert_int_equal(r.allocation.peak, 3); /* R4, R1 again, R5 */
    assert_int_equal(plain.counters[HD_COUNTER_WIDENINGS], 0);
    assert_int_equal(plain.counters[HD_COUNTER_REGISTERS_HELD], 0 + 1 + 2 + 3 + 3 + 3 + 4);
    assert_int_equal(r.counters[HD_COUNTER_REGISTERS_HELD], 0 + 1 + 1 + 2 + 2 + 2 + 3);
    /* two released; R1 comes anew, instead of shrinking */
    assert_int_equal(r.counters[HD_COUNTER_RENAMING], plain.counters[HD_COUNTER_RENAMING] + 2 - 1 + 1);
}

/* Released too early: the next read finds nothing, or another's value. */
static void an_early_release_is_noticed(void **state)
{
    static const char text[] =
        KERNEL_OF("release_renamed (1); ", FOUR_BYTES(1) "add.u32 %R2, %R1, 1; //@pir 0x1\nadd.u32 %R3, %R1, 1;\n");
    (void)state;
    assert_true(disproved(text, "policy=first,release", 0));
    assert_false(disproved(text, "policy=first", 0));
}

/* Flags of both words of a wide operand, of which one is not renamed: that one stays. */
static void only_renamed_words_are_released(void **state)
{
    static const char text[] = KERNEL_OF(
        "release_renamed (3); ",
        FOUR_BYTES(2) FOUR_BYTES(3) "mov.b64 {%R4, %R5}, %RD2; //@pir 0x1\nadd.u32 %R6, %R2, 1; //@pbr (2)\n");
    (void)state;
    rf_replay_result plain = proved(text, "policy=first"), r = proved(text, "policy=first,release");
    assert_int_equal(r.counters[HD_COUNTER_RENAMING], plain.counters[HD_COUNTER_RENAMING] + 1);
}

/* ---- calls, warps, sizes ----------------------------------------------------------------------------------------- */

/* Parameters and results in registers have 4 bytes; the callee's registers go when it returns. */
static void calls_have_frames(void **state)
{
    const char *text = ptx_file("corf_model-calls_have_frames");
    static const char *const policies[] = {"policy=first", "policy=pairs", "policy=sides"};
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        rf_replay_result r = proved(text, policies[i]);
        /* results: r0 r1 t z r3 1, the call's r2 4; operands: call 1 1, add 4 4, mov 1, ret 1, add 4 1 */
        assert_widths(&r, 5 + 2 + 1 + 1 + 1, 0, 0, 1 + 2 + 1);
        assert_int_equal(r.allocation.peak, 4);
    }
}

/* Warps have entries of their own, or share one pool: 4 one-byte registers each, of 8 warps. */
static void warps_keep_apart_or_share(void **state)
{
    static unsigned char buffer[64];
    hd_rf_model_info infos[2] = {model_of("policy=first"), model_of("policy=first,shared")};
    rf_replay r = {.run = {.text = KERNEL_OF("", ONE_BYTE(1) ONE_BYTE(2) "bar.sync 0;\n"),
                           .in = buffer,
                           .in_bytes = 64,
                           .out = buffer,
                           .out_bytes = 64,
                           .block = 256},
                   .models = infos,
                   .model_count = 2};
    (void)state;
    rf_replay_run(&r);
    assert_true(r.proved);
    assert_int_equal(r.results[0].allocation.peak, 8);
    assert_int_equal(r.results[1].allocation.peak, 4);
}

static uint64_t storage(const char *options, uint32_t warps, uint32_t registers, uint32_t entries)
{
    static unsigned char buffer[64];
    hd_rf_model_info info = model_of(options);
    rf_replay r = {
        .run = {.text = KERNEL_OF("", ONE_BYTE(1)), .in = buffer, .in_bytes = 64, .out = buffer, .out_bytes = 64},
        .models = &info,
        .model_count = 1,
        .residency = {.ctas = 1,
                      .active = 8,
                      .latency = 1,
                      .bytes = 1 << 20,
                      .sm_warps = warps,
                      .file_registers = entries,
                      .thread_registers = registers}};
    rf_replay_run(&r);
    return r.results[0].storage_bits;
}

/* Section 2.8: 3,024 entries of 14 bits, 5.16 KB; a free map of 512 bytes; 128 bytes for the alignments. */
static void the_papers_storage(void **state)
{
    (void)state;
    assert_int_equal(storage("policy=pairs", 48, 63, 1024), 3024 * 14 + 512 * 8);
    assert_int_equal(storage("policy=pairs", 0, 0, 0), 3024 * 14 + 512 * 8); /* what is not known is the paper's */
    assert_int_equal(storage("policy=sides", 48, 63, 1024), 3024 * 14 + 512 * 8 + 128 * 8);
    assert_int_equal(storage("policy=sides", 64, 255, 2048), 64 * 255 * 15 + 2048 * 4 + 8 * 512);
}

static void what_does_not_fit_is_refused(void **state)
{
    (void)state;
    static const struct {
        const char *text, *options;
    } cases[] = {
        {KERNEL_OF("corf_pairs (1,99); ", ONE_BYTE(1)), "policy=pairs"},
        {KERNEL_OF("corf_pairs (1,2,2,3); ", ONE_BYTE(3)), "policy=pairs"},
        {KERNEL_OF("corf_pairs (1,1); ", ONE_BYTE(3)), "policy=pairs"},
        {KERNEL_OF("corf_pairs (1,2,3); ", ONE_BYTE(3)), "policy=pairs"},
        {KERNEL_OF("corf_left (1); corf_right (1); ", ONE_BYTE(3)), "policy=sides"},
        {KERNEL_OF("corf_right (99); ", ONE_BYTE(3)), "policy=sides"},
    };
    for (uint32_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_non_null(replay_with(cases[i].text, cases[i].options, 0).results[0].refusal);
        assert_null(replay_with(cases[i].text, "policy=first", 0).results[0].refusal);
    }
}

/* ---- random programs --------------------------------------------------------------------------------------------- */

/* Two words in three get a buddy; each word a side or none. */
static void annotate_at_random(rf_replay *r, hd_module *module)
{
    hd_arena arena = {0};
    uint64_t seed = r->seed;
    for (uint32_t i = 0; i < module->functions.count; i++) {
        hd_function *f = module->functions.items[i];
        if (!f->has_body)
            continue;
        uint32_t count = hd_storage_of(f, &arena).frame, lengths[3] = {0};
        uint32_t *lists = HD_ARENA_ARRAY(&arena, uint32_t, 3 * (size_t)count + 1),
                 *words = HD_ARENA_ARRAY(&arena, uint32_t, count + 1);
        for (uint32_t w = 0; w < count; w++) {
            uint32_t other = (uint32_t)(unit_random(&seed) % (w + 1)), kind = (uint32_t)(unit_random(&seed) % 3);
            words[w] = words[other];
            words[other] = w;
            if (kind)
                lists[kind * count + lengths[kind]++] = w;
        }
        memcpy(lists, words, count * sizeof *words);
        lengths[0] = count * 2 / 3 & ~1u;
        static const uint16_t kinds[] = {HD_ANNOTATION_CORF_PAIRS, HD_ANNOTATION_CORF_LEFT, HD_ANNOTATION_CORF_RIGHT};
        for (uint32_t k = 0; k < 3; k++)
            hd_annotate_list(f, (hd_annotation){.kind = kinds[k], .instruction = HD_NONE}, lists + k * count,
                             lengths[k]);
        hd_annotations_sort(f);
    }
    hd_arena_free(&arena);
}

/* The odd seeds with allocated registers. */
static void random_programs_are_proved(void **state)
{
    enum { TEXT_BYTES = 1 << 19, PROGRAMS = 250 };
    static program p;
    static uint32_t out[96 * RESULT_WORDS];
    char *text = malloc(TEXT_BYTES);
    uint64_t coalesced = 0, copies = 0, moves = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= UNIT_CASES(PROGRAMS); seed++) {
        hd_rf_model_info infos[4] = {model_of("policy=first"), model_of("policy=pairs"), model_of("policy=sides"),
                                     model_of(seed % 4 < 2 ? "policy=pairs,kept" : "policy=sides,shared")};
        program_make(&p, seed);
        program_print(&p, text, TEXT_BYTES);
        rf_replay r = {.run = {.text = text,
                               .in = p.inputs,
                               .in_bytes = sizeof p.inputs,
                               .out = out,
                               .out_bytes = sizeof *out * RESULT_WORDS * p.threads,
                               .block = p.threads,
                               .options.instruction_limit = 10000000,
                               .passes = seed % 2 ? "select,regalloc" : NULL},
                       .models = infos,
                       .model_count = 4,
                       .annotate = annotate_at_random,
                       .seed = seed};
        rf_replay_run(&r);
        if (!r.proved)
            fail_msg("seed %llu: model %u is not proved: %s", (unsigned long long)seed, r.failed, r.run.message);
        for (uint32_t m = 0; m < 4; m++) {
            const uint64_t *n = r.results[m].counters;
            assert_null(r.results[m].refusal);
            assert_int_equal(n[HD_COUNTER_FILE_READS] + n[HD_COUNTER_BYPASSED] - n[HD_COUNTER_LANE_COPIES],
                             r.baseline.counters[HD_COUNTER_FILE_READS]);
            assert_true(n[HD_COUNTER_ENTRIES_HELD] <= n[HD_COUNTER_REGISTERS_HELD] &&
                        n[HD_COUNTER_REGISTERS_HELD] <= n[HD_COUNTER_REGISTERS_DECLARED]);
            coalesced += n[HD_COUNTER_COALESCED];
            copies += n[HD_COUNTER_LANE_COPIES];
            moves += n[HD_COUNTER_RELOCATIONS];
        }
        rf_replay again = r;
        again.events = 50; /* what was walked before is looked up */
        rf_replay_run(&again);
        assert_true(again.proved);
        assert_memory_equal(again.results, r.results, sizeof r.results);
        again.forgets = true;
        rf_replay_run(&again);
        assert_memory_equal(again.results, r.results, sizeof r.results);
        for (uint32_t w = 0; w < 4; w++) /* widths are those of the values, wherever they lie */
            assert_int_equal(r.results[0].counters[HD_COUNTER_WIDTH_1 + w],
                             r.results[2].counters[HD_COUNTER_WIDTH_1 + w]);
    }
    free(text);
    assert_true(coalesced > UNIT_CASES(10000) && copies > UNIT_CASES(1000) && moves > UNIT_CASES(1000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_lowest_room_is_found),
        cmocka_unit_test(slices_must_agree),
        cmocka_unit_test(widths_of_values),
        cmocka_unit_test(the_widest_lane_counts),
        cmocka_unit_test(parts_of_wide_and_half_values),
        cmocka_unit_test(lanes_that_are_not_active_count),
        cmocka_unit_test(lanes_that_were_never_written_do_not_count),
        cmocka_unit_test(first_fit_fills_gaps),
        cmocka_unit_test(buddies_share_an_entry),
        cmocka_unit_test(the_rest_is_kept_for_the_buddy),
        cmocka_unit_test(a_buddy_that_does_not_fit_goes_elsewhere),
        cmocka_unit_test(buddies_grow_towards_each_other),
        cmocka_unit_test(two_halves_of_a_bank),
        cmocka_unit_test(masks_that_meet_are_two_accesses),
        cmocka_unit_test(never_more_than_two),
        cmocka_unit_test(floating_point_apart),
        cmocka_unit_test(what_is_held_over_time),
        cmocka_unit_test(the_table_is_looked_up),
        cmocka_unit_test(a_move_takes_lanes_along),
        cmocka_unit_test(shrinking_at_the_left_moves_bytes),
        cmocka_unit_test(kept_slices_are_there_again),
        cmocka_unit_test(kept_slices_hold_old_bytes),
        cmocka_unit_test(a_lost_move_is_noticed),
        cmocka_unit_test(a_wrong_place_is_noticed),
        cmocka_unit_test(released_slices_are_free),
        cmocka_unit_test(an_early_release_is_noticed),
        cmocka_unit_test(only_renamed_words_are_released),
        cmocka_unit_test(calls_have_frames),
        cmocka_unit_test(warps_keep_apart_or_share),
        cmocka_unit_test(the_papers_storage),
        cmocka_unit_test(what_does_not_fit_is_refused),
        cmocka_unit_test(random_programs_are_proved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
