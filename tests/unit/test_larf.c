/* LARF and LAS: the paper's examples, the address mapping table against brute force, evictions, cycles that are derived
 * by hand, and what must be noticed. The paper is that of hwmodel/rf/models/larf.c. */
#include "rf_replay.h"
#include "small_machine.h"
#include "timed_kernel.h"

#include "hwmodel/rf/models/larf_table.h"

/* ---- the table --------------------------------------------------------------------------------------------------- */

static const uint32_t nothing[32];

static hd_larf_pattern pattern(uint64_t first, uint32_t stride, uint32_t lanes)
{
    return (hd_larf_pattern){first - (uint64_t)stride * (uint32_t)__builtin_ctz(lanes), stride, lanes};
}

static bool enter(hd_larf_table *t, uint64_t first, uint32_t stride, uint32_t lanes, uint32_t physical)
{
    bool evicted;
    assert_true(hd_larf_enter(t, pattern(first, stride, lanes), physical, nothing, &evicted));
    return evicted;
}

/* Section 5.5.2: P3 holds what all 32 lanes load from 0x10000000 on, 4 bytes apart. Warp 7 finds it; 0x10004000 is not
 * there, and is entered with P1. */
static void the_table_finds_what_figure_5_5_has(void **state)
{
    hd_larf_table t = {.region = 0};
    (void)state;
    hd_larf_start(&t, 400, 1024);
    enter(&t, 0x10000000, 4, UINT32_MAX, 3);
    uint64_t addresses[32];
    for (uint32_t lane = 0; lane < 32; lane++)
        addresses[lane] = 0x10000000 + 4 * lane;
    hd_larf_pattern load = hd_larf_pattern_of(UINT32_MAX, addresses);
    const hd_larf_entry *e = hd_larf_find(&t, load);
    assert_non_null(e);
    assert_int_equal(e->physical, 3);
    assert_null(hd_larf_find(&t, pattern(0x10004000, 4, UINT32_MAX)));
    enter(&t, 0x10004000, 4, UINT32_MAX, 1);
    assert_int_equal(hd_larf_find(&t, pattern(0x10004000, 4, UINT32_MAX))->physical, 1);
    assert_int_equal(hd_larf_find(&t, load)->physical, 3);
    hd_larf_free(&t);
}

/* The same section: a load from 0x1000000c on takes the first 29 lanes from the entry of 0x10000000, shifted by 3, and
 * the last 3 from the lanes 0 to 2 of that of 0x10000080. */
static void two_entries_are_merged_as_in_section_5_5(void **state)
{
    hd_larf_table t = {.region = 0};
    hd_larf_part parts[2];
    (void)state;
    hd_larf_start(&t, 400, 1024);
    enter(&t, 0x10000000, 4, UINT32_MAX, 1);
    assert_int_equal(hd_larf_find_parts(&t, pattern(0x1000000c, 4, UINT32_MAX), parts), 0);
    enter(&t, 0x10000080, 4, UINT32_MAX, 2);
    assert_null(hd_larf_find(&t, pattern(0x1000000c, 4, UINT32_MAX)));
    assert_int_equal(hd_larf_find_parts(&t, pattern(0x1000000c, 4, UINT32_MAX), parts), 2);
    assert_int_equal(parts[0].entry->physical, 1);
    assert_int_equal(parts[0].shift, 3);
    assert_int_equal(parts[0].lanes, 0x1fffffff);
    assert_int_equal(parts[1].entry->physical, 2);
    assert_int_equal(parts[1].shift, -29);
    assert_int_equal(parts[1].lanes, 0xe0000000);
    hd_larf_free(&t);
}

/* Figure 5.2b, warps of five threads: the first warp has 1 to 5, the second one 6 to 10; the second load of the first
 * warp, 2 to 6, is four of its own values and the first one of the other. */
static void neighbours_share_as_in_figure_5_2(void **state)
{
    hd_larf_table t = {.region = 0};
    hd_larf_part parts[2];
    (void)state;
    hd_larf_start(&t, 400, 1024);
    enter(&t, 4, 4, 31, 1);
    enter(&t, 24, 4, 31, 2);
    assert_int_equal(hd_larf_find_parts(&t, pattern(8, 4, 31), parts), 2);
    assert_int_equal(parts[0].entry->physical, 1);
    assert_int_equal(parts[0].shift, 1);
    assert_int_equal(parts[0].lanes, 15);
    assert_int_equal(parts[1].entry->physical, 2);
    assert_int_equal(parts[1].shift, -4);
    assert_int_equal(parts[1].lanes, 16);
    hd_larf_free(&t);
}

/* Section 5.4: first in, first out. An entry that has gone makes room without another one. */
static void the_oldest_entry_makes_room(void **state)
{
    hd_larf_table t = {.region = 0};
    (void)state;
    hd_larf_start(&t, 3, 16);
    for (uint32_t k = 0; k < 3; k++)
        assert_false(enter(&t, 0x1000 * (k + 1), 4, 255, k));
    assert_non_null(hd_larf_find(&t, pattern(0x1000, 4, 255))); /* being found makes it no younger */
    assert_true(enter(&t, 0x4000, 4, 255, 3));
    assert_null(hd_larf_find(&t, pattern(0x1000, 4, 255)));
    assert_true(hd_larf_forget(&t, 2));
    assert_false(hd_larf_forget(&t, 2));
    assert_false(enter(&t, 0x5000, 4, 255, 4));
    assert_non_null(hd_larf_find(&t, pattern(0x2000, 4, 255)));
    assert_true(enter(&t, 0x6000, 4, 255, 5));
    assert_null(hd_larf_find(&t, pattern(0x2000, 4, 255)));
    assert_int_equal(hd_larf_clear(&t), 3);
    hd_larf_free(&t);
}

/* Section 5.6.4: 32 + 8 + 32 + 11 bits. 400 entries take 4.05 KB; the 1 KB that the text gives for them has room for
 * 98. Strides of 0 to 512 bytes, multiples of four, fit in 8 bits of words. */
static void entries_have_the_size_of_the_paper(void **state)
{
    uint64_t addresses[32];
    (void)state;
    assert_int_equal(HD_LARF_ENTRY_BITS, 83);
    assert_int_equal(400 * HD_LARF_ENTRY_BITS, 33200);
    assert_int_equal(1024 * 8 / HD_LARF_ENTRY_BITS, 98);
    for (uint32_t stride = 0; stride <= 1100; stride++) {
        for (uint32_t lane = 0; lane < 32; lane++)
            addresses[lane] = 4096 + stride * lane;
        assert_int_equal(hd_larf_pattern_of(UINT32_MAX, addresses).lanes != 0, stride % 4 == 0 && stride <= 1020);
    }
}

/* Entries share the upper half of their addresses. */
static void addresses_of_another_region_are_not_entered(void **state)
{
    hd_larf_table t = {.region = 0};
    bool evicted;
    (void)state;
    hd_larf_start(&t, 4, 16);
    enter(&t, 0x100000000, 4, 255, 1);
    assert_false(hd_larf_enter(&t, pattern(0x200000000, 4, 255), 2, nothing, &evicted));
    assert_false(hd_larf_enter(&t, pattern(0x1fffffff8, 4, 255), 2, nothing, &evicted));
    assert_true(hd_larf_forget(&t, 1));
    enter(&t, 0x200000000, 4, 255, 2);
    hd_larf_free(&t);
}

/* ---- the table against brute force ------------------------------------------------------------------------------- */

enum { MODEL_ENTRIES = 6 };

static uint64_t lane_address(const hd_larf_pattern *p, uint32_t lane) { return p->base + (uint64_t)p->stride * lane; }

/* Lanes of the load that the entry has, `shift` lanes away; by addresses. */
static uint32_t covered(const hd_larf_pattern *load, const hd_larf_pattern *entry, int32_t shift)
{
    uint32_t lanes = 0;
    for (int32_t lane = 0; lane < 32; lane++) {
        int32_t from = lane + shift;
        if (from >= 0 && from < 32 && load->lanes >> lane & 1 && entry->lanes >> from & 1 &&
            lane_address(load, (uint32_t)lane) == lane_address(entry, (uint32_t)from))
            lanes |= 1u << lane;
    }
    return lanes;
}

static uint32_t most_covered(const hd_larf_pattern *load, const hd_larf_pattern *a, const hd_larf_pattern *b)
{
    uint32_t most = 0;
    for (int32_t s = -31; s < 32; s++)
        for (int32_t u = -31; u < 32; u++) {
            uint32_t lanes = covered(load, a, s) | covered(load, b, u);
            most = __builtin_popcount(lanes) > __builtin_popcount(most) ? lanes : most;
        }
    return most;
}

static hd_larf_pattern random_pattern(uint64_t *seed)
{
    static const uint32_t strides[] = {4, 4, 4, 8, 0};
    uint32_t lanes = unit_random(seed) % 2 ? UINT32_MAX : (uint32_t)unit_random(seed) | 1u << unit_random(seed) % 32;
    return pattern(0x1000 + 4 * (unit_random(seed) % 96), strides[unit_random(seed) % 5], lanes);
}

static void check_search(const hd_larf_table *t, const hd_larf_pattern *load)
{
    hd_larf_part parts[2];
    bool in_place = false, possible = false;
    for (uint32_t a = t->oldest; a; a = t->entries.items[a - 1].younger) {
        const hd_larf_pattern *first = &t->entries.items[a - 1].where;
        in_place = in_place || (first->stride == load->stride && covered(load, first, 0) == load->lanes);
        for (uint32_t b = a; b && load->stride; b = t->entries.items[b - 1].younger) {
            const hd_larf_pattern *second = &t->entries.items[b - 1].where;
            possible = possible || (first->stride == load->stride && second->stride == load->stride &&
                                    most_covered(load, first, second) == load->lanes);
        }
    }
    const hd_larf_entry *found = hd_larf_find(t, *load);
    assert_int_equal(found != NULL, in_place);
    assert_true(!found || covered(load, &found->where, 0) == load->lanes);
    uint32_t count = hd_larf_find_parts(t, *load, parts), lanes = 0;
    assert_int_equal(count != 0, possible);
    for (uint32_t k = 0; k < count; k++) {
        assert_int_equal(parts[k].lanes & ~covered(load, &parts[k].entry->where, parts[k].shift), 0);
        assert_int_equal(parts[k].lanes & lanes, 0);
        lanes |= parts[k].lanes;
    }
    assert_true(!count || lanes == load->lanes);
}

static bool stored_to(const hd_larf_pattern *p, uint32_t lanes, const uint64_t *addresses, uint32_t bytes)
{
    for (uint32_t a = 0; a < 32; a++)
        for (uint32_t s = 0; s < 32; s++)
            if (p->lanes >> a & 1 && lanes >> s & 1 && lane_address(p, a) + 4 > addresses[s] &&
                lane_address(p, a) < addresses[s] + bytes)
                return true;
    return false;
}

static void check_store(hd_larf_table *t, uint64_t *seed)
{
    static const uint32_t widths[] = {1, 2, 4, 8, 16};
    hd_larf_pattern left[MODEL_ENTRIES];
    uint64_t addresses[32];
    uint32_t lanes = (uint32_t)unit_random(seed) | 1, bytes = widths[unit_random(seed) % 5], count = 0,
             before = t->used;
    uint64_t first = 0xff0 + unit_random(seed) % 700, stride = unit_random(seed) % 20 * bytes;
    for (uint32_t lane = 0; lane < 32; lane++)
        addresses[lane] = first + stride * lane;
    lanes = unit_random(seed) % 2 ? lanes : 1;
    for (uint32_t a = t->oldest; a; a = t->entries.items[a - 1].younger)
        if (!stored_to(&t->entries.items[a - 1].where, lanes, addresses, bytes))
            left[count++] = t->entries.items[a - 1].where;
    assert_int_equal(hd_larf_evict(t, lanes, addresses, bytes), before - count);
    assert_int_equal(t->used, count);
    for (uint32_t k = 0, a = t->oldest; k < count; k++, a = t->entries.items[a - 1].younger)
        assert_memory_equal(&t->entries.items[a - 1].where, &left[k], sizeof left[k]);
}

static void the_table_agrees_with_brute_force(void **state)
{
    uint64_t seed = 1;
    hd_larf_table t = {.region = 0};
    (void)state;
    hd_larf_start(&t, MODEL_ENTRIES, 64);
    for (uint32_t round = 0; round < 600; round++) {
        hd_larf_pattern p = random_pattern(&seed);
        bool evicted;
        check_search(&t, &p);
        (void)hd_larf_enter(&t, p, (uint32_t)unit_random(&seed) % 64, nothing, &evicted);
        if (round % 4 == 0)
            check_store(&t, &seed);
    }
    hd_larf_free(&t);
}

/* ---- small kernels ----------------------------------------------------------------------------------------------- */

enum { WORDS = 512 };
static uint32_t in[WORDS], out[WORDS];

static rf_replay replay_body(const char *options, const char *body, uint32_t block, uint32_t fault, bool release)
{
    static char text[8192];
    static hd_rf_model_info info;
    info = *hd_rf_model_find("larf", 4);
    info.options = options;
    info.pass = "";
    rf_replay r = {.models = &info, .model_count = 1, .fault = fault};
    for (uint32_t i = 0; i < WORDS; i++)
        in[i] = 3 * i + 1;
    memset(out, 0, sizeof out);
    r.run.text = kernel_text(text, sizeof text, body);
    r.run.in = in;
    r.run.in_bytes = sizeof in;
    r.run.block = block;
    r.run.out = out;
    r.run.out_bytes = sizeof out;
    r.run.passes = release ? "release(table=65536)" : NULL;
    r.residency = (hd_rf_residency){.ctas = 4, .active = 8, .latency = 4, .bytes = 1 << 20};
    rf_replay_run(&r);
    assert_true(!r.proved || r.run.status == HD_EXEC_DONE);
    return r;
}

static uint64_t counted(const rf_replay *r, hd_counter counter) { return r->results[0].counters[counter]; }

/* %rd2: the word of `in` of its lane, the same for all warps; %rd3: that of its thread; %rd4: of `out`, likewise */
#define POINTERS                                                                                  \
    "and.b32 %r1, %r0, 31;\nmad.wide.u32 %rd2, %r1, 4, %rd0;\nmad.wide.u32 %rd3, %r0, 4, %rd0;\n" \
    "mad.wide.u32 %rd4, %r0, 4, %rd1;\n"
#define STORE "st.global.u32 [%rd4], %r9;\n"

/* Four warps load the same words: three of them share the first one's register. The copy of %r9 in the first warp is
 * written alone when it changes. */
static void warps_share_a_load(void **state)
{
    rf_replay r = replay_body("entries=8", POINTERS "ld.global.u32 %r9, [%rd2];\n" STORE, 128, 0, false);
    (void)state;
    assert_true(r.proved);
    assert_int_equal(counted(&r, HD_COUNTER_LOADS), 4);
    assert_int_equal(counted(&r, HD_COUNTER_LOADS_SKIPPED), 3);
    assert_int_equal(counted(&r, HD_COUNTER_LOADS_MERGED), 0);
    assert_int_equal(counted(&r, HD_COUNTER_FILE_WRITES), counted(&r, HD_COUNTER_RESULTS) - 3);
    assert_int_equal(counted(&r, HD_COUNTER_ADDRESS_LOOKUPS), 4 + 4); /* of loads, of stores */
    assert_int_equal(counted(&r, HD_COUNTER_ADDRESS_WRITES), 1);
    r = replay_body("entries=8", POINTERS "ld.global.u32 %r9, [%rd2];\nbar.sync 0;\nadd.u32 %r9, %r9, %r0;\n" STORE,
                    128, 0, false);
    assert_true(r.proved);
    assert_int_equal(counted(&r, HD_COUNTER_LOADS_SKIPPED), 3);
    for (uint32_t i = 0; i < 128; i++)
        assert_int_equal(out[i], in[i % 32] + i);
}

/* Many to one, section 5.5.1: the register stays while one of two is mapped to it, and its entry; then both go. */
static void a_register_lives_until_its_last_user(void **state)
{
    /* %r9 is dead after the first sum; the sum after it needs %r10, and a register of each bank was written between */
    static const char body[] = POINTERS
        "ld.global.u32 %r9, [%rd2];\nld.global.u32 %r10, [%rd2];\nadd.u32 %r11, %r9, 1;\n"
        "ld.global.u32 %r12, [%rd2];\nmov.u32 %r20, %r0;\nadd.u32 %r21, %r20, 1;\nadd.u32 %r22, %r21, 1;\n"
        "add.u32 %r23, %r22, 1;\nadd.u32 %r24, %r23, 1;\nadd.u32 %r11, %r11, %r10;\nadd.u32 %r11, %r11, %r12;\n"
        "xor.b32 %r20, %r20, %r21;\nxor.b32 %r22, %r22, %r23;\nxor.b32 %r20, %r20, %r22;\n"
        "xor.b32 %r20, %r20, %r24;\nand.b32 %r20, %r20, 0;\nadd.u32 %r11, %r11, %r20;\n"
        "ld.global.u32 %r9, [%rd2];\nadd.u32 %r9, %r9, %r11;\n" STORE;
    rf_replay r = replay_body("entries=8", body, 32, 0, true);
    (void)state;
    assert_true(r.proved);
    assert_int_equal(counted(&r, HD_COUNTER_LOADS), 4);
    assert_int_equal(counted(&r, HD_COUNTER_LOADS_SKIPPED), 2);
    assert_int_equal(counted(&r, HD_COUNTER_SHARES_ENDED), 2);
    for (uint32_t i = 0; i < 32; i++)
        assert_int_equal(out[i], 4 * in[i] + 1);
    assert_false(replay_body("entries=8,early", body, 32, 0, true).proved); /* freed with its first user */
}

/* A load 3 words further is merged from two registers; one of half the lanes from one. `perfect` loads them. */
static void neighbours_are_merged(void **state)
{
    static const char body[] = POINTERS "ld.global.u32 %r4, [%rd3];\nbar.sync 0;\nld.global.u32 %r5, [%rd3+12];\n"
                                        "add.u32 %r9, %r4, %r5;\n" STORE;
    rf_replay r = replay_body("entries=8", body, 64, 0, false);
    (void)state;
    assert_true(r.proved);
    assert_int_equal(counted(&r, HD_COUNTER_LOADS), 4);
    assert_int_equal(counted(&r, HD_COUNTER_LOADS_SKIPPED), 1); /* the second warp's next words are nobody's */
    assert_int_equal(counted(&r, HD_COUNTER_LOADS_MERGED), 1);
    assert_int_equal(counted(&r, HD_COUNTER_MERGE_WRITES), 2);
    r = replay_body("entries=8,perfect", body, 64, 0, false);
    assert_true(r.proved);
    assert_int_equal(counted(&r, HD_COUNTER_LOADS_SKIPPED), 0);
}

/* What is in place of `ld`, in the second of two loads of the same words. */
static void expect_shared(const char *options, const char *between, const char *load, uint32_t skipped, uint32_t merged)
{
    char body[2048];
    snprintf(body, sizeof body, "%sld.global.u32 %%r4, [%%rd3];\n%s%s\nadd.u32 %%r9, %%r4, %%r5;\n%s", POINTERS,
             between, load, STORE);
    rf_replay r = replay_body(options, body, 32, 0, false);
    if (!r.proved)
        fail_msg("not proved after: %s%s", between, load);
    if (counted(&r, HD_COUNTER_LOADS_SKIPPED) != skipped || counted(&r, HD_COUNTER_LOADS_MERGED) != merged)
        fail_msg("%s%s: %u loads are skipped", between, load, (unsigned)counted(&r, HD_COUNTER_LOADS_SKIPPED));
}

static void what_is_shared_and_what_evicts(void **state)
{
#define AGAIN "ld.global.u32 %r5, [%rd3];"
    static const struct {
        const char *between, *load;
        uint32_t skipped;
    } cases[] = {
        {"", AGAIN, 1},
        {"", "ld.global.nc.f32 %f5, [%rd3];\nmov.b32 %r5, %f5;", 1}, /* the same bits */
        {"", "ld.global.ca.s32 %r5, [%rd3];", 1},
        {"", "ld.volatile.global.u32 %r5, [%rd3];", 0},
        {"", "ld.relaxed.gpu.global.u32 %r5, [%rd3];", 0},
        {"", "ld.acquire.gpu.global.u32 %r5, [%rd3];", 0},
        {"", "ld.global.cg.u32 %r5, [%rd3];", 0},
        {"", "ld.global.cv.u32 %r5, [%rd3];", 0},
        {"", "ld.global.u16 %r5, [%rd3];", 0}, /* another value of the same address */
        {"", "ld.global.u8 %r5, [%rd3];", 0},
        {"", "ld.u32 %r5, [%rd3];", 0}, /* generic */
        {"bar.sync 0;\n", AGAIN, 1},    /* orders stores of this SM, which evict themselves */
        {"membar.cta;\n", AGAIN, 1},
        {"fence.acq_rel.cta;\n", AGAIN, 1},
        {"membar.gl;\n", AGAIN, 0},
        {"fence.acq_rel.gpu;\n", AGAIN, 0},
        {"fence.sc.sys;\n", AGAIN, 0},
        {"ld.acquire.gpu.global.u32 %r6, [%rd1];\n", AGAIN, 0},
        {"st.global.u32 [%rd3], 7;\n", AGAIN, 0},
        {"st.u32 [%rd3], 7;\n", AGAIN, 0}, /* generic */
        {"st.global.u8 [%rd3+2], 7;\n", AGAIN, 0},
        {"st.global.u32 [%rd0+40], 7;\n", AGAIN, 0}, /* one word, with another base */
        {"st.global.u32 [%rd3+128], 7;\n", AGAIN, 1},
        {"st.global.u64 [%rd1+8], 7;\n", AGAIN, 1},
        {"red.global.add.u32 [%rd0+124], 7;\n", AGAIN, 0},
        {"atom.global.add.u32 %r6, [%rd0+4], 7;\n", AGAIN, 0},
        {"red.global.add.u32 [%rd0+128], 7;\n", AGAIN, 1},
        {"mov.u32 %r6, %r4;\nadd.u32 %r4, %r4, 1;\n", AGAIN, 0}, /* the register is written again */
    };
    (void)state;
    for (uint32_t k = 0; k < sizeof cases / sizeof *cases; k++)
        expect_shared("entries=8", cases[k].between, cases[k].load, cases[k].skipped, 0);
    expect_shared("entries=8", "ld.global.v2.u32 {%r6, %r7}, [%rd0];\n", "ld.global.v2.u32 {%r5, %r8}, [%rd0];", 1, 0);
    expect_shared("entries=8", "ld.global.u64 %rd6, [%rd0];\n", "ld.global.v2.u32 {%r5, %r8}, [%rd0];", 1, 0);
    expect_shared("entries=8", "ld.global.v2.u32 {%r6, %r7}, [%rd0];\n", "ld.global.u32 %r5, [%rd0+4];", 1, 0);
    expect_shared("entries=2", "ld.global.v2.u32 {%r6, %r7}, [%rd0];\n", AGAIN, 0, 0); /* replaced */
}

/* Counts those of one load, of what is between it and the next of the same words, and of that one. */
static uint64_t table_writes(const char *between)
{
    char body[2048];
    snprintf(body, sizeof body,
             "%sld.global.u32 %%r4, [%%rd3];\n%sld.global.u32 %%r5, [%%rd3];\nadd.u32 %%r9, %%r4, %%r5;\n%s", POINTERS,
             between, STORE);
    rf_replay r = replay_body("entries=8", body, 32, 0, false);
    assert_true(r.proved);
    return counted(&r, HD_COUNTER_ADDRESS_WRITES);
}

/* The entry of the first load, which is evicted, and that of the second. */
static void entries_that_go_are_written(void **state)
{
    (void)state;
    uint64_t shared = table_writes("");
    assert_true(shared > 0);
    assert_int_equal(table_writes("st.global.u32 [%rd3], 7;\n"), shared + 2);
    assert_int_equal(table_writes("membar.gl;\n"), shared + 2);
}

/* Entries that a store should evict and does not are noticed where their values are shared: if it evicts none, and if
 * it only looks for its base address, as the text reads. */
static void stale_entries_are_noticed(void **state)
{
    static const char base[] = POINTERS "ld.global.u32 %r4, [%rd3];\nst.global.u32 [%rd3], 7;\n"
                                        "ld.global.u32 %r9, [%rd3];\n" STORE;
    static const char other[] = POINTERS "ld.global.u32 %r4, [%rd3];\nst.global.u32 [%rd0+40], 7;\n"
                                         "ld.global.u32 %r9, [%rd3];\n" STORE;
    (void)state;
    assert_false(replay_body("entries=8,deaf", base, 32, 0, false).proved);
    assert_true(replay_body("entries=8,bases", base, 32, 0, false).proved);
    assert_false(replay_body("entries=8,bases", other, 32, 0, false).proved);
    assert_true(replay_body("entries=8", other, 32, 0, false).proved);
}

/* Lanes that the load does not write keep their values: the register is not shared, and the copy of a shared one takes
 * them along. */
static void other_lanes_are_kept(void **state)
{
    static const char load[] = POINTERS "setp.lt.u32 %p1, %r0, 9;\nmov.u32 %r9, 5;\nld.global.u32 %r4, [%rd3];\n"
                                        "@%p1 ld.global.u32 %r9, [%rd3];\nadd.u32 %r9, %r9, %r4;\n" STORE;
    static const char write[] = POINTERS "setp.lt.u32 %p1, %r0, 9;\nld.global.u32 %r4, [%rd3];\n"
                                         "ld.global.u32 %r9, [%rd3];\n@%p1 mov.u32 %r9, 5;\n"
                                         "add.u32 %r9, %r9, %r4;\n" STORE;
    rf_replay r = replay_body("entries=8", load, 32, 0, false);
    (void)state;
    assert_true(r.proved);
    assert_int_equal(counted(&r, HD_COUNTER_LOADS_MERGED), 1);
    assert_int_equal(counted(&r, HD_COUNTER_LOADS_SKIPPED), 1);
    r = replay_body("entries=8", write, 32, 0, false);
    assert_true(r.proved);
    assert_int_equal(counted(&r, HD_COUNTER_LOADS_SKIPPED), 1);
    assert_int_equal(counted(&r, HD_COUNTER_LANE_COPIES), 1);
}

/* Every value is read again, in all lanes: every move that is lost is noticed. */
static void lost_moves_are_noticed(void **state)
{
    static const char body[] = POINTERS
        "setp.lt.u32 %p1, %r0, 9;\nld.global.u32 %r4, [%rd3];\nld.global.u32 %r5, [%rd3+128];\n"
        "ld.global.u32 %r6, [%rd3];\nld.global.u32 %r7, [%rd3+12];\n@%p1 mov.u32 %r6, 5;\nadd.u32 %r9, %r4, %r5;\n"
        "add.u32 %r9, %r9, %r6;\nadd.u32 %r9, %r9, %r7;\nst.global.u32 [%rd2], %r1;\nst.global.u32 [%rd1], "
        "%r0;\n" STORE;
    rf_replay whole = replay_body("entries=8", body, 32, 0, false);
    uint32_t fault = 1;
    (void)state;
    assert_true(whole.proved);
    assert_int_equal(counted(&whole, HD_COUNTER_LOADS_SKIPPED), 2);
    uint64_t moves = counted(&whole, HD_COUNTER_RESULTS) + counted(&whole, HD_COUNTER_LANE_COPIES);
    while (!replay_body("entries=8", body, 32, fault, false).proved)
        fault++;
    assert_int_equal(fault - 1, moves);
}

/* Section 5.4: one entry, and warps that load the one or the other 32 words by turns. Round robin shares nothing; LAS
 * lets those go first that load what the table has. */
static void las_lets_sharers_go_first(void **state)
{
    static const char body[] =
        POINTERS "and.b32 %r2, %r0, 32;\nmad.wide.u32 %rd2, %r2, 4, %rd2;\nld.global.u32 %r9, [%rd2];\n" STORE;
    rf_replay r = replay_body("entries=1", body, 128, 0, false);
    (void)state;
    assert_true(r.proved);
    assert_int_equal(counted(&r, HD_COUNTER_LOADS_SKIPPED), 0);
    assert_int_equal(counted(&r, HD_COUNTER_SHARES_REPLACED), 3);
    r = replay_body("entries=1,las", body, 128, 0, false);
    assert_true(r.proved);
    assert_int_equal(counted(&r, HD_COUNTER_LOADS_SKIPPED), 2);
    assert_int_equal(counted(&r, HD_COUNTER_SHARES_REPLACED), 1);
}

/* 400 entries; a collector slot of two registers; a name of 10 bits for each of 1,024 registers; a bit for each that
 * says whether it is free; a flag cache of 10 words of 54 bits. */
static void storage_is_that_of_the_paper(void **state)
{
    rf_replay r = replay_body("entries=400", "add.u32 %r1, %r0, 1;", 32, 0, false);
    (void)state;
    assert_int_equal(r.results[0].storage_bits, 400 * 83 + 2 * 1024 + 1024 * 10 + 1024 + 540);
}

/* ---- cycles ------------------------------------------------------------------------------------------------------ */

static timed time_larf(const char *options, const char *body, uint32_t block)
{
    hd_rf_model_info info = *hd_rf_model_find("larf", 4);
    info.options = options;
    info.pass = "";
    timed t = {.model = &info, .machine = small_machine()};
    t.machine.fetch.buffer = t.machine.fetch.width = 16;
    t.machine.core.collectors = 16;
    t.machine.core.banks = 16; /* so that no two registers of an instruction are in one */
    time_body(&t, body, 1, block);
    t.model = NULL;
    return t;
}

#define LOADED "ld.global.u32 %r4, [%rd1];\nadd.u32 %r5, %r4, 1;\n"

/* The entry is there, and its value. Issue in t; the address register's name is looked up in t + 1, read in t + 2, its
 * addresses looked up in t + 3; no unit; the name is written in t + 4, in which an instruction that needs it issues.
 * The load issues in the cycle after the sum before it. */
static void a_hit_takes_four_cycles(void **state)
{
    timed loads = time_larf("entries=8", LOADED, 32),
          shares = time_larf("entries=8", LOADED "ld.global.u32 %r6, [%rd1];\nadd.u32 %r7, %r6, 1;\n", 32);
    (void)state;
    assert_int_equal(shares.counters[HD_COUNTER_LOADS_SKIPPED], 1);
    assert_int_equal(shares.counts.cycles, loads.counts.cycles + 1 + 4);
    assert_int_equal(shares.counts.sm.l1_reads, 1);
}

/* The load of its register is in flight: the value is there in the cycle after that load's. `instant`: before. */
static void a_hit_awaits_the_load_in_flight(void **state)
{
    static const char body[] = "ld.global.u32 %r4, [%rd1];\nld.global.u32 %r6, [%rd1];\nadd.u32 %r7, %r6, 1;\n";
    timed loads = time_larf("entries=8", LOADED, 32), shares = time_larf("entries=8", body, 32),
          instant = time_larf("entries=8,instant", body, 32);
    (void)state;
    assert_int_equal(shares.counts.cycles, loads.counts.cycles + 1);
    assert_true(instant.counts.cycles < loads.counts.cycles);
}

/* The two registers are read in t + 4, and come into the merging slot in t + 5 and t + 6. The name of the result is
 * looked up in t + 7, as that of any result, and the result written in t + 8. With one register it is a cycle less. */
static void a_merge_takes_eight_cycles(void **state)
{
#define BOTH                                                                                         \
    "mad.wide.u32 %rd3, %r0, 4, %rd1;\nld.global.u32 %r4, [%rd3];\nld.global.u32 %r5, [%rd3+128];\n" \
    "add.u32 %r6, %r4, %r5;\n"
    static const char two[] = BOTH "ld.global.u32 %r7, [%rd3+12];\nadd.u32 %r8, %r7, 1;\n";
    static const char one[] =
        BOTH "setp.lt.u32 %p1, %r0, 20;\n@%p1 ld.global.u32 %r7, [%rd3+12];\n@%p1 add.u32 %r8, %r7, 1;\n";
    static const char guard[] = BOTH "setp.lt.u32 %p1, %r0, 20;\n@%p1 add.u32 %r8, %r0, 1;\n";
    timed none = time_larf("entries=8", BOTH, 32), merges = time_larf("entries=8", two, 32),
          shifts = time_larf("entries=8", one, 32), guarded = time_larf("entries=8", guard, 32);
    (void)state;
    assert_int_equal(merges.counters[HD_COUNTER_LOADS_MERGED], 1);
    assert_int_equal(merges.counts.cycles, none.counts.cycles + 1 + 8);
    assert_int_equal(merges.counts.sm.l1_reads, none.counts.sm.l1_reads);
    assert_int_equal(shifts.counters[HD_COUNTER_MERGE_WRITES], 1);
    assert_int_equal(shifts.counts.cycles, guarded.counts.cycles + 7);
}

/* Without a hit, a load takes a cycle more than with renaming alone: the lookup of its addresses. */
static void a_miss_takes_one_cycle_more(void **state)
{
    timed larf = time_larf("entries=8", LOADED, 32),
          generic = time_larf("entries=8", "ld.u32 %r4, [%rd1];\nadd.u32 %r5, %r4, 1;\n", 32);
    (void)state;
    assert_int_equal(larf.counts.cycles, generic.counts.cycles + 1);
}

/* Four warps that load the same words: LARF reads L1 once. */
static void warps_share_in_time(void **state)
{
    static const char body[] = "and.b32 %r1, %r0, 31;\nmad.wide.u32 %rd2, %r1, 4, %rd1;\nld.global.u32 %r9, [%rd2];\n"
                               "add.u32 %r9, %r9, 1;\n";
    static const char *const options[] = {"entries=8", "entries=8,las"};
    (void)state;
    for (uint32_t k = 0; k < 2; k++) {
        timed t = time_larf(options[k], body, 128);
        assert_int_equal(t.counters[HD_COUNTER_LOADS_SKIPPED], 3);
        assert_int_equal(t.counts.sm.l1_reads, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_table_finds_what_figure_5_5_has),
        cmocka_unit_test(two_entries_are_merged_as_in_section_5_5),
        cmocka_unit_test(neighbours_share_as_in_figure_5_2),
        cmocka_unit_test(the_oldest_entry_makes_room),
        cmocka_unit_test(entries_have_the_size_of_the_paper),
        cmocka_unit_test(addresses_of_another_region_are_not_entered),
        cmocka_unit_test(the_table_agrees_with_brute_force),
        cmocka_unit_test(warps_share_a_load),
        cmocka_unit_test(a_register_lives_until_its_last_user),
        cmocka_unit_test(neighbours_are_merged),
        cmocka_unit_test(what_is_shared_and_what_evicts),
        cmocka_unit_test(entries_that_go_are_written),
        cmocka_unit_test(stale_entries_are_noticed),
        cmocka_unit_test(other_lanes_are_kept),
        cmocka_unit_test(lost_moves_are_noticed),
        cmocka_unit_test(las_lets_sharers_go_first),
        cmocka_unit_test(storage_is_that_of_the_paper),
        cmocka_unit_test(a_hit_takes_four_cycles),
        cmocka_unit_test(a_hit_awaits_the_load_in_flight),
        cmocka_unit_test(a_merge_takes_eight_cycles),
        cmocka_unit_test(a_miss_takes_one_cycle_more),
        cmocka_unit_test(warps_share_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
