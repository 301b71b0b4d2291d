/* Register-intervals around branch tables: the sides precede each other, few by edges and many by a hub, and are one
 * interval where their registers fit, as alone, in a loop, and with sides of several blocks. */
#include "rf_bench.h"
#include "unit.h"

enum { MOST_SIDES = 20, TEXT_BYTES = 1 << 14 };

typedef struct shape {
    uint32_t sides;
    bool loop, parts; /* parts: each side has a branch of its own */
} shape;

static void write_kernel(char *text, shape s)
{
    char *to = text;
    to += sprintf(to, ".version 8.0\n.target sm_80\n.address_size 32\n.global .u32 out;\n.entry k(.param .u32 n)\n"
                      "{ //@architected (32,4,0,0)\n.reg .b32 %%R<32>;\n.reg .pred %%P<4>;\nmov.u32 %%R0, %%laneid;\n"
                      "mov.u32 %%R1, 0;\nL:\nT: .branchtargets S0");
    for (uint32_t i = 1; i < s.sides; i++)
        to += sprintf(to, ", S%u", i);
    to += sprintf(to, ";\nadd.u32 %%R2, %%R0, %%R1;\nbrx.idx %%R2, T;\n");
    for (uint32_t i = 0; i < s.sides; i++) {
        to += sprintf(to, "S%u: add.u32 %%R2, %%R2, %u;\n", i, i);
        if (s.parts)
            to += sprintf(to, "setp.lt.u32 %%P0, %%R2, %u;\n@%%P0 bra J;\nxor.b32 %%R2, %%R2, 5;\n", 3 * i);
        to += sprintf(to, "bra J;\n");
    }
    to += sprintf(to, "J: add.u32 %%R1, %%R1, 1;\n");
    if (s.loop)
        to += sprintf(to, "setp.lt.u32 %%P1, %%R1, 9;\n@%%P1 bra L;\n");
    sprintf(to, "st.global.u32 [out], %%R2;\nret;\n}\n");
}

static uint32_t intervals_of(shape s, uint32_t n)
{
    static char text[TEXT_BYTES];
    char pass[32];
    rf_bench b;
    uint32_t count = 0;
    write_kernel(text, s);
    rf_bench_open(&b, text, strlen(text));
    snprintf(pass, sizeof pass, "ltrf(n=%u)", n);
    rf_bench_pass(&b, pass);
    for (uint32_t a = 0; a < b.kernel->annotations.count; a++)
        count += b.kernel->annotations.items[a].kind == HD_ANNOTATION_LTRF_PREFETCH;
    assert_true(rf_bench_check(&b, hd_check_ltrf));
    rf_bench_close(&b);
    return count;
}

static void sides_are_one_group(void **state)
{
    (void)state;
    for (uint32_t sides = 2; sides <= MOST_SIDES; sides++)
        for (uint32_t kind = 0; kind < 4; kind++) {
            shape s = {sides, kind & 1, kind & 2};
            if (s.parts && sides > MOST_SIDES / 2)
                continue; /* more blocks and edges than a group is tried with */
            uint32_t wide = intervals_of(s, 4), narrow = intervals_of(s, 2);
            if (wide != 1 || narrow <= 1)
                fail_msg("%u sides%s%s: %u intervals of 4 words, %u of 2", sides, s.loop ? " in a loop" : "",
                         s.parts ? " of parts" : "", wide, narrow);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sides_are_one_group)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
