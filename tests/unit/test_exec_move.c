/* mov in all its forms, prmt and the dot products, each against plain C on one thread's values. */
#include "kernel.h"

enum { COUNT = 256 };
typedef struct slots {
    uint64_t s[4];
} slots;
static slots in[COUNT], out[COUNT];

typedef slots expectation(const slots *v, uint32_t thread);

typedef struct row {
    const char *body; /* %rd4.. and %r4.. (the low halves), %h4.., %c4.. hold the slots; %rd8.. go out */
    expectation *expected;
} row;

static const char *module_text(const char *body)
{
    static char text[4096];
    snprintf(text, sizeof text,
             ".version 8.8\n.target sm_90\n.address_size 64\n.global .u32 variable;\n"
             ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .pred %%p<4>;\n.reg .b8 %%c<16>;\n"
             ".reg .b16 %%h<16>;\n.reg .b32 %%r<16>;\n.reg .b64 %%rd<16>;\n.reg .f32 %%f<16>;\n.reg .b128 %%q<4>;\n"
             ".reg .v4 .u32 four;\n.reg .v2 .f32 two;\n"
             "ld.param.u64 %%rd0, [in];\nld.param.u64 %%rd1, [out];\nmov.u32 %%r0, %%tid.x;\n"
             "mad.wide.u32 %%rd2, %%r0, 32, %%rd0;\nmad.wide.u32 %%rd3, %%r0, 32, %%rd1;\n"
             "ld.global.v2.u64 {%%rd4, %%rd5}, [%%rd2];\nld.global.v2.u64 {%%rd6, %%rd7}, [%%rd2+16];\n"
             "cvt.u32.u64 %%r4, %%rd4;\ncvt.u32.u64 %%r5, %%rd5;\ncvt.u32.u64 %%r6, %%rd6;\ncvt.u32.u64 %%r7, %%rd7;\n"
             "cvt.u16.u64 %%h4, %%rd4;\ncvt.u16.u64 %%h5, %%rd5;\ncvt.u16.u64 %%h6, %%rd6;\ncvt.u16.u64 %%h7, %%rd7;\n"
             "ld.global.u8 %%c4, [%%rd2];\nld.global.u8 %%c5, [%%rd2+8];\nld.global.u8 %%c6, [%%rd2+16];\n"
             "ld.global.u8 %%c7, [%%rd2+24];\nand.b32 %%r1, %%r0, 1;\nsetp.ne.u32 %%p1, %%r1, 0;\n"
             "mov.u64 %%rd8, 8;\nmov.u64 %%rd9, 9;\nmov.u64 %%rd10, 10;\nmov.u64 %%rd11, 11;\n"
             "mov.u32 %%r8, 80;\nmov.u32 %%r9, 90;\nmov.u16 %%h8, 808;\nmov.u16 %%h9, 909;\n"
             "%s\nst.global.u64 [%%rd3], %%rd8;\nst.global.u64 [%%rd3+8], %%rd9;\nst.global.u64 [%%rd3+16], %%rd10;\n"
             "st.global.u64 [%%rd3+24], %%rd11;\nret;\n}\n",
             body);
    return text;
}

static void fill(void)
{
    uint64_t state = 3;
    for (uint32_t i = 0; i < COUNT; i++)
        for (uint32_t k = 0; k < 4; k++)
            in[i].s[k] =
                i < 8 ? (i & 1 ? ~0ull : 0) ^ (i & 2 ? 0x8080808080808080 : 0) ^ (i & 4 ? k : 0) : unit_random(&state);
}

static kernel_run run(const char *body)
{
    fill();
    memset(out, 0, sizeof out);
    kernel_run r = {.text = module_text(body),
                    .in = in,
                    .in_bytes = sizeof in,
                    .out = out,
                    .out_bytes = sizeof out,
                    .block = COUNT};
    run_kernel(&r);
    return r;
}

static void check(const char *body, expectation *expected)
{
    kernel_run r = run(body);
    if (r.status != HD_EXEC_DONE)
        fail_msg("%s: %s", body, r.message);
    for (uint32_t i = 0; i < COUNT; i++) {
        slots want = expected(&in[i], i);
        for (uint32_t k = 0; k < 4; k++)
            if (out[i].s[k] != want.s[k])
                fail_msg("%s: thread %u, %%rd%u is %llx, expected %llx", body, i, 8 + k,
                         (unsigned long long)out[i].s[k], (unsigned long long)want.s[k]);
    }
}

#define EXPECT(name, first, second, third, fourth)                                                      \
    static slots name(const slots *v, uint32_t thread)                                                  \
    {                                                                                                   \
        const uint64_t a = v->s[0], b = v->s[1], c = v->s[2], d = v->s[3];                              \
        bool odd = thread & 1;                                                                          \
        (void)a, (void)b, (void)c, (void)d, (void)odd;                                                  \
        return (slots){{(uint64_t)(first), (uint64_t)(second), (uint64_t)(third), (uint64_t)(fourth)}}; \
    }
#define B(x, n) ((x) >> (8 * (n)) & 0xff)
#define H(x, n) ((x) >> (16 * (n)) & 0xffff)
#define W(x, n) ((x) >> (32 * (n)) & 0xffffffff)

/* ---- packing and unpacking --------------------------------------------------------------------------------------- */

EXPECT(two_words, W(a, 0) | W(b, 0) << 32, 9, 10, 11)
EXPECT(two_words_odd, odd ? W(a, 0) | W(b, 0) << 32 : 8, 9, 10, 11)
EXPECT(four_halves, H(a, 0) | H(b, 0) << 16 | H(c, 0) << 32 | H(d, 0) << 48, 9, 10, 11)
EXPECT(two_halves, H(a, 0) | H(b, 0) << 16, 9, 10, 11)
EXPECT(two_halves_odd, odd ? H(a, 0) | H(b, 0) << 16 : 80, 9, 10, 11)
EXPECT(four_bytes, B(a, 0) | B(b, 0) << 8 | B(c, 0) << 16 | B(d, 0) << 24, 9, 10, 11)
EXPECT(two_bytes, B(a, 0) | B(b, 0) << 8, 9, 10, 11)
EXPECT(byte_and_constant, B(a, 0) | 0xfd00, 9, 10, 11)
EXPECT(word_and_constants, W(a, 0) | 0x3f80000000000000, 1 | 2ull << 32, 10, 11)
EXPECT(words_of_long, W(a, 0), W(a, 1), 10, 11)
EXPECT(words_of_long_odd, odd ? W(a, 0) : 80, odd ? W(a, 1) : 90, 10, 11)
EXPECT(high_word, W(a, 1), 9, 10, 11)
EXPECT(halves_of_long, H(a, 3), H(a, 2), H(a, 1), H(a, 0))
EXPECT(halves_of_word_odd, odd ? H(a, 0) : 808, odd ? H(a, 1) : 909, 10, 11)
EXPECT(bytes_of_word, B(a, 3), B(a, 2), B(a, 1), B(a, 0))
EXPECT(bytes_of_half, B(a, 1), B(a, 0), 10, 11)
EXPECT(through_128, a, b, W(a, 1) | W(b, 0) << 32, 11)
EXPECT(converted_128, W(a, 0), (int32_t)c, (int32_t)c < 0 ? -1 : 0, H(c, 0))
EXPECT(words_to_128, W(a, 0) | W(b, 0) << 32, W(c, 0) | W(d, 0) << 32, 10, 11)
EXPECT(copy_of_128_odd, odd ? b : c, odd ? a : d, 10, 11)

static const row packs[] = {
    {"mov.b64 %rd8, {%r4, %r5};", two_words},
    {"@%p1 mov.b64 %rd8, {%r4, %r5};", two_words_odd},
    {"mov.b64 %rd8, {%h4, %h5, %h6, %h7};", four_halves},
    {"mov.b32 %r8, {%h4, %h5}; cvt.u64.u32 %rd8, %r8;", two_halves},
    {"@%p1 mov.b32 %r8, {%h4, %h5}; cvt.u64.u32 %rd8, %r8;", two_halves_odd},
    {"mov.b32 %r8, {%c4, %c5, %c6, %c7}; cvt.u64.u32 %rd8, %r8;", four_bytes},
    {"mov.b16 %h8, {%c4, %c5}; cvt.u64.u16 %rd8, %h8;", two_bytes},
    {"mov.b16 %h8, {%c4, -3}; cvt.u64.u16 %rd8, %h8;", byte_and_constant},
    {"mov.b64 %rd8, {%r4, 0f3f800000}; mov.b64 %rd9, {1, 2};", word_and_constants},
    {"mov.b64 {%r8, %r9}, %rd4; cvt.u64.u32 %rd8, %r8; cvt.u64.u32 %rd9, %r9;", words_of_long},
    {"@%p1 mov.b64 {%r8, %r9}, %rd4; cvt.u64.u32 %rd8, %r8; cvt.u64.u32 %rd9, %r9;", words_of_long_odd},
    {"mov.b64 {_, %r8}, %rd4; cvt.u64.u32 %rd8, %r8;", high_word},
    {"mov.b64 {%h11, %h10, %h9, %h8}, %rd4; cvt.u64.u16 %rd8, %h8; cvt.u64.u16 %rd9, %h9; cvt.u64.u16 %rd10, %h10; "
     "cvt.u64.u16 %rd11, %h11;",
     halves_of_long},
    {"@%p1 mov.b32 {%h8, %h9}, %r4; cvt.u64.u16 %rd8, %h8; cvt.u64.u16 %rd9, %h9;", halves_of_word_odd},
    {"mov.b32 {%c11, %c10, %c9, %c8}, %r4; cvt.u64.u8 %rd8, %c8; cvt.u64.u8 %rd9, %c9; cvt.u64.u8 %rd10, %c10; "
     "cvt.u64.u8 %rd11, %c11;",
     bytes_of_word},
    {"mov.b16 {%c9, %c8}, %h4; cvt.u64.u8 %rd8, %c8; cvt.u64.u8 %rd9, %c9;", bytes_of_half},
    {"mov.b128 %q0, {%rd4, %rd5}; mov.b128 %q1, %q0; mov.b128 {%rd8, %rd9}, %q1; mov.b128 {%r8, %r9, %r10, %r11}, %q0; "
     "mov.b64 %rd10, {%r9, %r10};",
     through_128},
    {"mov.b128 %q0, {%rd4, %rd5}; cvt.u64.u32 %rd8, %q0; @%p1 cvt.s64.s32 %q1, %r6; @!%p1 cvt.s32.s32 %q1, %r6; "
     "mov.b128 "
     "{%rd9, %rd10}, %q1; cvt.u16.u32 %q0, %r6; mov.b128 {%rd11, _}, %q0;",
     converted_128},
    {"mov.b128 %q0, {%r4, %r5, %r6, %r7}; mov.b128 {%rd8, %rd9}, %q0;", words_to_128},
    {"mov.b128 %q0, {%rd6, %rd7}; mov.b128 %q1, {%rd5, %rd4}; @%p1 mov.b128 %q0, %q1; mov.b128 {%rd8, %rd9}, %q0;",
     copy_of_128_odd},
};

static void packing(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof packs / sizeof *packs; i++)
        check(packs[i].body, packs[i].expected);
}

/* ---- vectors, special registers, addresses ----------------------------------------------------------------------- */

EXPECT(swapped, W(b, 0), W(a, 0), 10, 11)
EXPECT(rotated_odd, odd ? W(b, 0) : W(a, 0), odd ? W(c, 0) : W(b, 0), odd ? W(d, 0) : W(c, 0), odd ? W(a, 0) : W(d, 0))
EXPECT(thread_index, thread, 0, 0, 0)
EXPECT(block_size, COUNT, 1, 1, 0)
EXPECT(joined_vector, W(a, 0) | W(b, 0) << 32, 9, 10, 11)
EXPECT(component, W(b, 0), 9, 10, 11)
EXPECT(true_as_one, 1, 9, 10, 11)
EXPECT(zero, 0, 9, 10, 11)

#define WORDS_OUT "cvt.u64.u32 %rd8, %r8; cvt.u64.u32 %rd9, %r9; cvt.u64.u32 %rd10, %r10; cvt.u64.u32 %rd11, %r11;"
static const row vectors[] = {
    {"mov.v2.u32 {%r4, %r5}, {%r5, %r4}; cvt.u64.u32 %rd8, %r4; cvt.u64.u32 %rd9, %r5;", swapped},
    {"mov.v4.b32 {%r8, %r9, %r10, %r11}, {%r4, %r5, %r6, %r7}; @%p1 mov.v4.b32 {%r8, %r9, %r10, %r11}, {%r9, %r10, "
     "%r11, %r8}; " WORDS_OUT,
     rotated_odd},
    {"mov.v4.u32 {%r8, %r9, %r10, %r11}, %tid; " WORDS_OUT, thread_index},
    {"mov.v4.u32 four, %ntid; mov.v4.u32 {%r8, %r9, %r10, %r11}, four; " WORDS_OUT, block_size},
    {"mov.b32 two.x, %r4; mov.b32 two.y, %r5; mov.b64 %rd8, two;", joined_vector},
    {"mov.v4.u32 four, {%r4, %r5, %r6, %r7}; mov.u32 %r8, four.y; cvt.u64.u32 %rd8, %r8;", component},
    /* each read of a clock is later than the one before */
    {"mov.u64 %rd4, %clock64; mov.b64 {%r8, %r9}, %clock64; mov.b64 %rd5, {%r8, %r9}; setp.lt.u64 %p2, %rd4, %rd5; "
     "selp.u64 %rd8, 1, 0, %p2;",
     true_as_one},
    {"mov.u32 %r4, %clock; cvt.u64.u32 %rd5, %clock; cvt.u64.u32 %rd4, %r4; setp.lt.u64 %p2, %rd4, %rd5; selp.u64 "
     "%rd8, 1, 0, %p2;",
     true_as_one},
    {"mov.u32 %r4, %clock_hi; mov.u32 %r5, %globaltimer_hi; or.b32 %r8, %r4, %r5; cvt.u64.u32 %rd8, %r8;", zero},
    {"mov.b64 {%r8, %r9}, variable; mov.b64 %rd4, {%r8, %r9}; mov.u64 %rd5, variable; setp.eq.u64 %p2, %rd4, %rd5; "
     "selp.u64 %rd8, 1, 0, %p2;",
     true_as_one},
};

static void vector_moves(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        check(vectors[i].body, vectors[i].expected);
}

/* ---- prmt -------------------------------------------------------------------------------------------------------- */

/* The bytes of a and b that each mode takes for the low two bits of c, from the highest byte of the result down. */
static const struct mode {
    const char *name, *selectors[4];
} modes[] = {
    {".f4e", {"3210", "4321", "5432", "6543"}}, {".b4e", {"5670", "6701", "7012", "0123"}},
    {".rc8", {"0000", "1111", "2222", "3333"}}, {".ecl", {"3210", "3211", "3222", "3333"}},
    {".ecr", {"0000", "1110", "2210", "3210"}}, {".rc16", {"1010", "3232", "1010", "3232"}},
};

static uint64_t taken(const slots *v, const uint32_t numbers[4])
{
    uint64_t result = 0;
    for (uint32_t k = 0; k < 4; k++) { /* from the highest */
        uint64_t from = numbers[k] & 4 ? v->s[1] : v->s[0], byte = B(from, numbers[k] & 3);
        result = result << 8 | (numbers[k] & 8 ? (byte >= 128 ? 255 : 0) : byte);
    }
    return result;
}

static slots permuted(const slots *v, uint32_t thread)
{
    uint32_t numbers[4];
    (void)thread;
    for (uint32_t k = 0; k < 4; k++)
        numbers[k] = v->s[2] >> (12 - 4 * k) & 15;
    return (slots){{taken(v, numbers), 9, 10, 11}};
}

static void permutations(void **state)
{
    (void)state;
    check("prmt.b32 %r8, %r4, %r5, %r6; cvt.u64.u32 %rd8, %r8;", permuted);
    for (uint32_t m = 0; m < 6; m++) {
        char body[96];
        snprintf(body, sizeof body, "prmt.b32%s %%r8, %%r4, %%r5, %%r6; cvt.u64.u32 %%rd8, %%r8;", modes[m].name);
        assert_int_equal(run(body).status, HD_EXEC_DONE);
        for (uint32_t i = 0; i < COUNT; i++) {
            uint32_t numbers[4];
            for (uint32_t k = 0; k < 4; k++)
                numbers[k] = (uint32_t)(modes[m].selectors[in[i].s[2] & 3][k] - '0');
            if (out[i].s[0] != taken(&in[i], numbers))
                fail_msg("%s of %llx gives %llx", body, (unsigned long long)in[i].s[2],
                         (unsigned long long)out[i].s[0]);
        }
    }
}

/* ---- dot products ------------------------------------------------------------------------------------------------ */

static int64_t number(uint64_t bits, uint32_t width, bool is_signed)
{
    int64_t n = (int64_t)(bits & ((1ull << width) - 1));
    return is_signed && n >= 1ll << (width - 1) ? n - (1ll << width) : n;
}

static void dot_products(void **state)
{
    (void)state;
    for (uint32_t k = 0; k < 12; k++) {
        bool a_signed = k & 1, b_signed = k & 2, four = k < 4, high = k >= 8;
        char body[96];
        snprintf(body, sizeof body, "dp%ca%s.%s.%s %%r8, %%r4, %%r5, %%r6; cvt.u64.u32 %%rd8, %%r8;", four ? '4' : '2',
                 four   ? ""
                 : high ? ".hi"
                        : ".lo",
                 a_signed ? "s32" : "u32", b_signed ? "s32" : "u32");
        assert_int_equal(run(body).status, HD_EXEC_DONE);
        for (uint32_t i = 0; i < COUNT; i++) {
            int64_t sum = (int64_t)W(in[i].s[2], 0);
            for (uint32_t n = 0; n < (four ? 4 : 2); n++)
                sum += number(in[i].s[0] >> (n * (four ? 8 : 16)), four ? 8 : 16, a_signed) *
                       number(in[i].s[1] >> (8 * (n + (high ? 2 : 0))), 8, b_signed);
            if (out[i].s[0] != W((uint64_t)sum, 0))
                fail_msg("%s of thread %u", body, i);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(packing), cmocka_unit_test(vector_moves),
                                       cmocka_unit_test(permutations), cmocka_unit_test(dot_products)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
