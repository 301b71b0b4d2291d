/* The table of encodings: its language, and words whose text other listings show, by architecture. */
#include "tests/unit/unit.h"

#include "ir/sass/decode.h"

#include <stdio.h>

static void test_language(void **state)
{
    (void)state;
    const char *mistake = hd_sass_encoding_mistake();
    if (mistake)
        fail_msg("not in the language of the table: %s", mistake);
}

/* The text with its guard and, where it has a target, that in hexadecimal; NULL: not decoded. */
static const char *decoded(uint64_t high, uint64_t low, uint32_t generation, uint64_t address, char *buffer,
                           size_t bytes)
{
    hd_sass_text text;
    if (!hd_sass_decode((hd_sass_word){low, high}, generation, address, &text))
        return NULL;
    snprintf(buffer, bytes, text.has_target ? "%s%s0x%llx" : "%s%s", text.guard, text.text,
             (unsigned long long)text.target);
    return buffer;
}

static void test_texts(void **state)
{
    (void)state;
    static const struct {
        uint64_t high, low;
        uint32_t generation;
        const char *text;
    } cases[] = {
        {0x000fe40000000f00, 0x00000a0000017a02, 75, "MOV R1, c[0x0][0x28]"},
        {0x080fe20007ffe0ff, 0x0000000205057210, 100, "IADD3 R5, PT, PT, R5, R2.reuse, RZ"},
        {0x000fd000007e2413, 0x0000590018137a10, 75, "IADD3.X R19, R24, c[0x0][0x164], R19, P0, P1"},
        {0x000fe200078e00ff, 0x0000000406047824, 75, "IMAD.SHL.U32 R4, R6, 0x4, RZ"},
        {0x000fe20000000001, 0x3e80000002057823, 75, "FFMA R5, R2, 0.25, R1"},
        {0x040fe40003f5d200, 0x7f8000000700780b, 75, "FSETP.NEU.FTZ.AND P2, PT, |R7|.reuse, +INF , PT"},
        {0x000ea2000c1e9900, 0x0000040404027981, 90, "LDG.E.CONSTANT R2, desc[UR4][R4.64+0x4]"},
        {0x000ea8000c1e9900, 0x0000000402137981, 80, "LDG.E.CONSTANT R19, [R2.64]"},
        {0x0000a6000c1ee300, 0x0000010402007981, 75, "LDG.E.S8.SYS R0, [R2.64+UR4+0x1]"},
        {0x000fe20000004800, 0x0000400918007388, 75, "STS [R24.X4+0x40], R9"},
        {0x002e6400000e0000, 0x0a001f0000037f89, 75, "SHFL.DOWN PT, R3, R0, 0x10, 0x1f"},
        {0x000fea0003800000, 0x0000005000000947, 75, "@P0 BRA 0x60"},
        {0x000fc0000383ffff, 0xfffffffc00fc7947, 90, "BRA 0x0"},
        {0x000fea0003800200, 0x0000013000007945, 100, "BSSY.RECONVERGENT B0, 0x140"},
        {0x000fe400000001ff, 0x00000008ff097435, 80, "HFMA2.MMA R9, -RZ, RZ, 0, 4.76837158203125e-07"},
        {0x044ff00000001804, 0x000000020c04723c, 80, "HMMA.16816.F32 R4, R12.reuse, R2, R4"},
        {0x000fea0003800000, 0x000000000000094d, 90, "@P0 EXIT"},
        {0x000feb0003800000, 0x000000000000094d, 90, NULL}, /* bit 104 */
        {0x000fea0003800000, 0x00000000000009ff, 90, NULL}, /* no such opcode */
    };
    char buffer[320];
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *text = decoded(cases[i].high, cases[i].low, cases[i].generation, 0, buffer, sizeof buffer);
        if (!text != !cases[i].text || (text && strcmp(text, cases[i].text) != 0))
            fail_msg("word %zu of sm_%u: '%s', not '%s'", i, (unsigned)cases[i].generation, text ? text : "none",
                     cases[i].text ? cases[i].text : "none");
    }
}

/* No bit of an instruction is passed over: with any bit turned, the word has another text or none. */
static void test_every_bit_counts(void **state)
{
    (void)state;
    static const struct {
        uint64_t high, low;
        uint32_t generation;
    } words[] = {{0x000fe200078e0002, 0x0000000f0d027225, 75},
                 {0x000fe80000000800, 0x0000040009008388, 80},
                 {0x000ea2000c1e1900, 0x0000000402037981, 90},
                 {0x000fe40003f06070, 0x0000001f0600780c, 120}};
    char before[320], after[320];
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        assert_non_null(decoded(words[i].high, words[i].low, words[i].generation, 0, before, sizeof before));
        for (unsigned bit = 0; bit < 105; bit++) {
            uint64_t low = words[i].low ^ (bit < 64 ? UINT64_C(1) << bit : 0),
                     high = words[i].high ^ (bit < 64 ? 0 : UINT64_C(1) << (bit - 64));
            if (decoded(high, low, words[i].generation, 0, after, sizeof after) && strcmp(before, after) == 0)
                fail_msg("word %zu: bit %u changes nothing", i, bit);
        }
    }
}

static void test_generations(void **state)
{
    (void)state;
    assert_true(hd_sass_decodes(70) && hd_sass_decodes(89) && hd_sass_decodes(103) && hd_sass_decodes(120));
    assert_false(hd_sass_decodes(61) || hd_sass_decodes(20) || hd_sass_decodes(200));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_language), cmocka_unit_test(test_texts),
                                       cmocka_unit_test(test_every_bit_counts), cmocka_unit_test(test_generations)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
