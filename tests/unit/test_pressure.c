/* Random kernels with many live values, of all widths, in tuples, loops and sides, on few registers: the same is stored
 * after allocation and after the passes of techniques, and what is left of the code and annotated is held against
 * tests/numbers/pressure.txt. BLESS=1 (make bless) writes the file anew. */
#include "golden_kernels.h"

enum { OUT_BYTES = 1536 * GOLDEN_KERNEL_THREADS, MOST = 7, ROOM = GOLDEN_KERNEL_BYTES };

typedef struct maker {
    char *text;
    size_t used;
    uint64_t state;
    uint32_t labels, depth, each; /* live registers of each width */
    bool meets;                   /* lanes wait for each other: what is live there is in the base set */
} maker;

static uint32_t below(maker *m, uint32_t n) { return (uint32_t)(unit_random(&m->state) >> 20) % n; }

__attribute__((format(printf, 2, 3))) static void line(maker *m, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    m->used += (size_t)vsnprintf(m->text + m->used, ROOM - m->used, format, list);
    va_end(list);
    assert_true(m->used < ROOM - 1);
}

static uint32_t any(maker *m) { return 10 + below(m, m->each); }

static void make_line(maker *m)
{
    static const char *const guards[] = {"", "", "", "", "", "@%p1 ", "@!%p1 ", "@%p2 "};
    const char *guard = guards[below(m, 8)];
    uint32_t a = any(m), b = any(m), c = any(m), d = any(m), at = 16 * below(m, 8);
    /* the last two load into tuples that other instructions do not form */
    switch (below(m, m->each < MOST ? 16 : 18)) {
    case 0: line(m, "%sadd.u32 %%r%u, %%r%u, %%r%u;\n", guard, a, b, c); break;
    case 1: line(m, "%smad.lo.u32 %%r%u, %%r%u, %%r%u, %%r%u;\n", guard, a, b, c, d); break;
    case 2: line(m, "%sxor.b32 %%r%u, %%r%u, 0x%x;\n", guard, a, b, below(m, 1 << 20)); break;
    case 3: line(m, "%sadd.u64 %%rd%u, %%rd%u, %%rd%u;\n", guard, a, b, c); break;
    case 4: line(m, "%smul.wide.u32 %%rd%u, %%r%u, %%r%u;\n", guard, a, b, c); break;
    case 5: line(m, "%smov.b64 %%rd%u, {%%r%u, %%r%u};\n", guard, a, b, c); break;
    case 6: line(m, "%smov.b64 {%%r%u, %%r%u}, %%rd%u;\n", guard, a, a == 10 ? 11 : a - 1, c); break;
    case 7: line(m, "%sadd.u16 %%h%u, %%h%u, %%h%u;\n", guard, a, b, c); break;
    case 8: line(m, "%scvt.u32.u16 %%r%u, %%h%u;\n", guard, a, b); break;
    case 9: line(m, "%scvt.u16.u32 %%h%u, %%r%u;\n", guard, a, b); break;
    case 10:
        line(m, "%sshfl.sync.idx.b32 %%r%u, %%r%u, 3, 31, 0xffff;\n", m->depth || !m->meets ? "// " : "", a, b);
        break;
    case 11: line(m, "%sld.global.u64 %%rd%u, [%%rd2+%u];\n", guard, a, at); break;
    case 12: line(m, "%sst.global.v4.u32 [%%rd2+%u], {%%r%u, %%r%u, %%r%u, %%r%u};\n", guard, at, a, b, c, d); break;
    case 13: line(m, "%sst.global.v2.u64 [%%rd2+%u], {%%rd%u, %%rd%u};\n", guard, at, a, b); break;
    case 14: line(m, "setp.lt.u32 %%p%u, %%r%u, %%r%u;\n", 1 + below(m, 2), a, b); break;
    case 15: line(m, "%sselp.u64 %%rd%u, %%rd%u, %%rd%u, %%p2;\n", guard, a, b, c); break;
    case 16: line(m, "%sld.global.v2.u32 {%%r%u, %%r%u}, [%%rd2+%u];\n", guard, 10 + a % 3, 13 + b % 3, at); break;
    default:
        line(m, "%sld.global.v4.u32 {%%r10, %%r%u, %%r14, %%r%u}, [%%rd2+%u];\n", guard, 11 + a % 3, 15 + b % 2, at);
        break;
    }
}

static void make_block(maker *m, uint32_t lines)
{
    for (uint32_t i = 0; i < lines; i++)
        if (m->depth == 2 || below(m, 9)) {
            make_line(m);
        } else if (below(m, 2)) { /* lanes leave the loop one after another, or together */
            uint32_t label = m->labels++, counter = 40 + m->depth, turns = 1 + below(m, 3);
            line(m, "%s.u32 %%r%u, %%r0, %u;\nL%u:\n", below(m, 2) ? "min" : "max", counter, turns, label);
            m->depth++;
            make_block(m, 2 + below(m, 5));
            m->depth--;
            line(m, "sub.u32 %%r%u, %%r%u, 1;\nsetp.gt.s32 %%p4, %%r%u, 0;\n@%%p4 bra L%u;\n", counter, counter,
                 counter, label);
        } else {
            uint32_t label = m->labels++, other = below(m, 2), compared = below(m, 2) ? 0 : any(m);
            line(m, "setp.ne.u32 %%p3, %%r%u, %u;\n@%%p3 bra E%u;\n", compared, below(m, 16), label);
            m->depth++;
            make_block(m, 2 + below(m, 5));
            if (other)
                line(m, "bra.uni J%u;\n", label);
            line(m, "E%u:\n", label);
            if (other) {
                make_block(m, 2 + below(m, 5));
                line(m, "J%u:\n", label);
            }
            m->depth--;
        }
}

/* Parts with more and fewer values, so that the sets of RegMutex come and go. */
static void make_part(maker *m, uint32_t lines)
{
    m->each = 2 + below(m, MOST - 1);
    for (uint32_t k = 10; k < 10 + m->each; k++)
        line(m, "mad.lo.u32 %%r%u, %%r0, 0x%x, 99;\nmul.wide.u32 %%rd%u, %%r%u, 77777;\ncvt.u16.u32 %%h%u, %%r%u;\n", k,
             below(m, 1 << 16), k, k, k, k);
    make_block(m, lines);
    for (uint32_t k = 10; k < 10 + m->each; k++) {
        uint32_t at = 128 + 32 * (k - 10);
        line(m,
             "st.global.u32 [%%rd2+%u], %%r%u;\nst.global.u64 [%%rd2+%u], %%rd%u;\nst.global.u16 [%%rd2+%u], %%h%u;\n",
             at, k, at + 8, k, at + 16, k);
    }
    line(m, "add.u64 %%rd2, %%rd2, 512;\n");
}

static void pressure_lines(char *text, uint64_t seed)
{
    maker m = {.text = text, .state = seed * 7919 + 1, .meets = seed % 4 == 0};
    line(&m, "mad.wide.u32 %%rd2, %%r0, 1536, %%rd1;\nsetp.lt.u32 %%p1, %%r0, 9;\nsetp.ne.u32 %%p2, %%r0, 3;\n");
    for (uint32_t part = 0; part < 3; part++)
        make_part(&m, 10);
}

static void sum_left(golden_sums *s, const hd_function *f)
{
    golden_add_annotations(s, f);
    golden_add_instructions(s, f);
}

static void kernels_on_few_registers(void **state)
{
    static const char *const passes[] = {"regalloc",
                                         "regalloc,regmutex(es=2)",
                                         "select,regalloc,regmutex(es=4)",
                                         "regalloc,regmutex(es=6)",
                                         "select,regalloc,regmutex(es=8,paired)",
                                         "regalloc(max=24),regmutex(es=4)",
                                         "regalloc(max=28,banks=4)",
                                         "select,regalloc(max=20)",
                                         "regalloc(max=16)",
                                         "regalloc,release",
                                         "regalloc(max=32),bow(iw=4)",
                                         "regalloc,ltrf(dead)",
                                         "corf++",
                                         "select,regalloc,demo"};
    const golden_kernels kernels = {.make = pressure_lines,
                                    .sum = sum_left,
                                    .passes = passes,
                                    .lists = sizeof passes / sizeof *passes,
                                    .count = 280,
                                    .out_bytes = OUT_BYTES};
    hd_writer writer;
    (void)state;
    golden_kernels_run(&kernels, &writer);
    golden_expect("pressure.txt", &writer);
    hd_writer_free(&writer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_on_few_registers)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
