/* Textures and surfaces in the cycle-level SM: the sectors that their texels are in, as traces have them; fetches go
 * through the cache as loads of the same bytes do, and hit; surfaces are written as memory is. */
#include "small_machine.h"
#include "timed_kernel.h"

#include "texture_run.h"

enum { BASE = 0x10000000 /* address of the first texel; of the loads, what the buffer has */ };

#define FETCH "tex.1d.v4.f32.s32 {%f5, %f6, %f7, %f8}, [%rd4, {%r0}];\n"
#define USE "add.f32 %f9, %f5, %f6;\n"
#define LOAD "ld.global.nc.v4.f32 {%f5, %f6, %f7, %f8}, [%rd3];\n"

static const char *text_of(const char *body)
{
    static char text[8192], whole[4096];
    snprintf(whole, sizeof whole,
             "mul.wide.u32 %%rd3, %%r0, 16;\nadd.u64 %%rd3, %%rd0, %%rd3;\nmov.u64 %%rd4, 0x%llx;\n%s",
             (unsigned long long)HANDLE(0), body);
    return kernel_text(text, sizeof text, whole);
}

static timed time_texture(hd_machine machine, hd_texture t, const char *body)
{
    timed of = {.machine = machine, .sms = 1, .ctas = 8};
    t.texel_address = BASE;
    kernel_run run = {.text = text_of(body),
                      .in = texels,
                      .in_bytes = sizeof texels,
                      .out = results,
                      .out_bytes = sizeof results,
                      .block = 32,
                      .textures = {&t, 1},
                      .opened = open_timed,
                      .closing = close_timed,
                      .context = &of};
    run_kernel(&run);
    if (run.status != HD_EXEC_DONE)
        fail_msg("%s: %s", body, run.message);
    assert_int_equal(of.status, HD_TIMING_DONE);
    assert_true(of.idle);
    return of;
}

static timed time_1d(hd_machine machine, const char *body)
{
    return time_texture(machine, texture(HD_TEXTURE_1D, 1024, 1, 1, 1), body);
}

static hd_machine with_cache(uint32_t bytes)
{
    hd_machine m = small_machine();
    m.texture.bytes = bytes;
    m.texture.line_bytes = 128;
    m.texture.ways = 4;
    m.l1.global = 1;
    return m;
}

/* ---- traffic ----------------------------------------------------------------------------------------------------- */

/* With a cache of its own and with the L1 cache, a fetch asks for what a load of the same bytes asks for. */
static void a_fetch_is_a_load_of_its_texels(void **state)
{
    (void)state;
    for (uint32_t bytes = 0; bytes <= 4096; bytes += 4096) {
        timed fetch = time_1d(with_cache(bytes), FETCH USE FETCH USE),
              load = time_1d(with_cache(bytes), LOAD USE LOAD USE);
        assert_int_equal(fetch.counts.memory.l2_reads, load.counts.memory.l2_reads);
        assert_int_equal(fetch.counts.memory.dram_reads, load.counts.memory.dram_reads);
        assert_int_equal(fetch.counts.memory.dram_bytes, 512);
        assert_int_equal(fetch.counts.memory.interconnect_bytes, load.counts.memory.interconnect_bytes);
        assert_int_equal(fetch.counts.sm.l1_reads, bytes ? 0 : 8);
        assert_int_equal(fetch.counts.sm.l1_hits, bytes ? 0 : 4);
    }
}

/* A hit takes texture.latency, in either cache; a miss has each latency on its way. */
static void hits_and_misses_take_their_latencies(void **state)
{
    (void)state;
    for (uint32_t bytes = 0; bytes <= 4096; bytes += 4096) {
        hd_machine m = with_cache(bytes), slow = m;
        uint64_t once = time_1d(m, FETCH USE).counts.cycles, twice = time_1d(m, FETCH USE FETCH USE).counts.cycles;
        slow.texture.latency += 200;
        assert_int_equal(time_1d(slow, FETCH USE FETCH USE).counts.cycles, twice + 200);
        assert_int_equal(time_1d(slow, FETCH USE).counts.cycles, once);
        slow = m;
        slow.dram.latency += 100;
        slow.interconnect.latency += 100;
        assert_int_equal(time_1d(slow, FETCH USE FETCH USE).counts.cycles, twice + 300);
        assert_int_equal(time_1d(slow, FETCH USE).counts.cycles, once + 300);
    }
}

/* Outside with a border nothing is read; the instruction takes the latency. */
static void a_border_is_not_read(void **state)
{
    hd_texture t = texture(HD_TEXTURE_1D, 1024, 1, 1, 1);
    (void)state;
    t.address[0] = HD_TEXTURE_BORDER;
    timed of = time_texture(with_cache(4096), t, "add.u32 %r0, %r0, 4096;\n" FETCH USE);
    assert_int_equal(of.counts.memory.l2_reads, 0);
}

static void surfaces_are_written_and_read(void **state)
{
    hd_texture t = texture(HD_TEXTURE_1D, 1024, 1, 1, 1);
    (void)state;
    t.surface = true;
    t.channels = 1;
    t.type = HD_TYPE_U32;
    timed of =
        time_texture(with_cache(4096), t, "shl.b32 %r5, %r0, 2;\nsust.b.1d.b32.trap [%rd4, {%r5}], %r0;\nmembar.gl;\n");
    assert_int_equal(of.counts.memory.l2_writes, 1);
    assert_int_equal(of.counts.memory.l2_reads, 0);
    of = time_texture(with_cache(4096), t,
                      "shl.b32 %r5, %r0, 7;\nand.b32 %r5, %r5, 0xfff;\n"
                      "suld.b.1d.b32.zero %r6, [%rd4, {%r5}];\nadd.u32 %r7, %r6, 1;\n");
    assert_int_equal(of.counts.memory.l2_reads, 32); /* lane l reads byte 128 l of the texture, a line each */
    of = time_texture(with_cache(4096), t,
                      "mov.u32 %r5, 64;\nsured.b.add.1d.u32.trap [%rd4, {%r5}], %r0;\nmembar.gl;\n");
    assert_int_equal(of.counts.memory.l2_atomics, 1);
}

/* ---- sectors ----------------------------------------------------------------------------------------------------- */

/* Expects the sectors of the first instruction that has some, of one lane at (x, y) of an 8 x 8 texture with 16 bytes
 * a texel. */
static void expect_sectors(const char *instruction, bool linear, float x, float y, const char *expected)
{
    hd_texture t = texture(HD_TEXTURE_2D, 8, 8, 1, 1);
    char body[512], found[256] = "";
    uint32_t bits[2];
    timed of = {.machine = small_machine(), .sms = 1, .ctas = 1};
    t.linear = linear;
    t.texel_address = BASE;
    memcpy(bits, (const float[]){x, y}, sizeof bits);
    snprintf(body, sizeof body,
             "setp.ne.u32 %%p0, %%r0, 0;\n@%%p0 exit;\nmov.f32 %%f1, 0f%08x;\nmov.f32 %%f2, 0f%08x;\n%s", bits[0],
             bits[1], instruction);
    kernel_run run = {.text = text_of(body),
                      .out = results,
                      .out_bytes = sizeof results,
                      .block = 32,
                      .textures = {&t, 1},
                      .opened = open_timed,
                      .context = &of};
    run_kernel(&run);
    assert_int_equal(run.status, HD_EXEC_DONE);
    hd_record_cursor cursor;
    hd_record_open(&cursor, &of.blocks.items[0]->warps[0]);
    while (hd_record_next(&cursor))
        for (hd_record_sectors s = cursor.step.sectors; s.left;)
            snprintf(found + strlen(found), sizeof found - strlen(found), "%u ",
                     (uint32_t)(hd_record_take_sector(&s) - BASE / HD_EVENT_SECTOR_BYTES));
    assert_string_equal(found, expected);
    hd_record_release(of.blocks.items[0]);
    hd_array_free(&of.blocks);
    hd_recorder_free(of.recorder);
    hd_rf_module_free(of.code);
}

/* Texel (i, j) is at byte (8 j + i) 16: in sector 4 j + i / 2. */
static void sectors_by_hand(void **state)
{
#define SAMPLE "tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1, %f2}];\n"
    (void)state;
    expect_sectors(SAMPLE, false, 5.5f, 2.5f, "10 ");
    expect_sectors(SAMPLE, true, 2, 3, "8 9 12 13 ");   /* (1, 2), (2, 2), (1, 3), (2, 3) */
    expect_sectors(SAMPLE, true, 2.5f, 3.5f, "13 ");    /* in the middle of (2, 3): the others have no weight */
    expect_sectors(SAMPLE, true, 2.5f, 3, "9 13 ");     /* between (2, 2) and (2, 3) */
    expect_sectors(SAMPLE, true, 7.9f, 7.9f, "31 ");    /* clamped to (7, 7) */
    expect_sectors(SAMPLE SAMPLE, false, 0, 0, "0 0 "); /* of two instructions */
    expect_sectors("tld4.r.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f1, %f2}];\n", false, 2, 3, "12 13 9 8 ");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_fetch_is_a_load_of_its_texels), cmocka_unit_test(hits_and_misses_take_their_latencies),
        cmocka_unit_test(a_border_is_not_read), cmocka_unit_test(surfaces_are_written_and_read),
        cmocka_unit_test(sectors_by_hand)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
