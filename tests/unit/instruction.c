#include "instruction.h"

/* ---- values ------------------------------------------------------------------------------------------------------ */

static const uint64_t edges16[] = {0, 1, 2, 0x7fff, 0x8000, 0x8001, 0xffff, 0xfffe, 15, 16, 17, 0x00ff};
static const uint64_t edges32[] = {0,          1,          2,          31,         32,         33,
                                   0x7fffffff, 0x80000000, 0x80000001, 0xffffffff, 0xfffffffe, 0xffff,
                                   0x10000,    0x00ffffff, 0x01000000, 0x12345678};
static const uint64_t edges64[] = {0,
                                   1,
                                   63,
                                   64,
                                   0x7fffffffffffffff,
                                   0x8000000000000000,
                                   0xffffffffffffffff,
                                   0xfffffffffffffffe,
                                   0xffffffff,
                                   0x100000000,
                                   0x123456789abcdef0};
static const uint64_t edges_f[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000,
                                   0x7fc00000, 0xffc00001, 0x7f800001, 1,          0x80000001, 0x007fffff,
                                   0x00800000, 0x7f7fffff, 0xff7fffff, 0x3f000000, 0x40490fdb, 0x33800000,
                                   0x4b000000, 0x4effffff, 0x4f000000, 0x3fc00000};
static const uint64_t edges_d[] = {0,
                                   1ull << 63,
                                   0x3ff0000000000000,
                                   0xbff0000000000000,
                                   0x7ff0000000000000,
                                   0xfff0000000000000,
                                   0x7ff8000000000000,
                                   1,
                                   0x000fffffffffffff,
                                   0x0010000000000000,
                                   0x7fefffffffffffff,
                                   0x3fe0000000000000,
                                   0x400921fb54442d18,
                                   0x3ca0000000000000,
                                   0x41dfffffffc00000};

static uint64_t pick(char kind, uint64_t *state, uint32_t edge)
{
#define FROM(list) return edge < sizeof list / sizeof *list ? list[edge] : unit_random(state)
    switch (kind) {
    case 'h': FROM(edges16) & 0xffff;
    case 'r': FROM(edges32) & 0xffffffff;
    case 'x': FROM(edges64);
    case 'f': FROM(edges_f) & 0xffffffff;
    case 'd': FROM(edges_d);
    case 'p': return unit_random(state) & 1;
    default: return 0;
    }
#undef FROM
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

enum { COUNT = 1024, EDGES = 24 };

typedef struct thread {
    values sources;
    uint64_t before; /* what D holds */
} thread;

static const char *load_text(char kind, char name)
{
    static char text[4][96];
    static uint32_t turn;
    char *t = text[turn++ % 4];
    uint32_t at = 8 * (uint32_t)(name - 'A');
    switch (kind) {
    case 'h': snprintf(t, 96, "ld.global.u16 %%h%u, [%%rd2+%u];\n", at / 8 + 1, at); break;
    case 'r': snprintf(t, 96, "ld.global.u32 %%r%u, [%%rd2+%u];\n", at / 8 + 1, at); break;
    case 'x': snprintf(t, 96, "ld.global.u64 %%rd%u, [%%rd2+%u];\n", at / 8 + 11, at); break;
    case 'f': snprintf(t, 96, "ld.global.f32 %%f%u, [%%rd2+%u];\n", at / 8 + 1, at); break;
    case 'd': snprintf(t, 96, "ld.global.f64 %%fd%u, [%%rd2+%u];\n", at / 8 + 1, at); break;
    case 'p': snprintf(t, 96, "ld.global.u32 %%r9, [%%rd2+%u];\nsetp.ne.u32 %%p%u, %%r9, 0;\n", at, at / 8 + 1); break;
    default: t[0] = 0;
    }
    return t;
}

static const char *store_text(char kind)
{
    switch (kind) {
    case 'h': return "st.global.u16 [%rd3], %h4;\n";
    case 'r': return "st.global.u32 [%rd3], %r4;\n";
    case 'x': return "st.global.u64 [%rd3], %rd14;\n";
    case 'f': return "st.global.f32 [%rd3], %f4;\n";
    case 'd': return "st.global.f64 [%rd3], %fd4;\n";
    default: return "selp.u32 %r9, 1, 0, %p4;\nst.global.u32 [%rd3], %r9;\n";
    }
}

/* D A B C to register names. */
static void name_registers(const row *r, char *text, size_t size)
{
    size_t used = 0;
    for (const char *p = r->instruction; *p && used + 8 < size; p++) {
        const char *slot = strchr("ABCD", *p);
        bool alone = slot && *p && (p[1] == ',' || p[1] == ';' || p[1] == '|' || p[1] == '}') && p[-1] == ' ';
        char kind = !alone ? 0 : *p == 'A' ? r->a : *p == 'B' ? r->b : *p == 'C' ? r->c : r->d;
        uint32_t number = alone ? (uint32_t)(slot - "ABCD") + 1 : 0;
        if (alone)
            used += (size_t)snprintf(text + used, size - used, "%%%s%u",
                                     kind == 'x'   ? "rd"
                                     : kind == 'd' ? "fd"
                                                   : (char[]){kind, 0},
                                     kind == 'x' ? number + 10 : number);
        else
            text[used++] = *p;
    }
    text[used] = 0;
}

/* Of three threads side by side the first `active` take part. */
static void check_active(const row *r, const thread *in, uint32_t active)
{
    static uint64_t out[COUNT];
    char instruction[256], body[1024], text[2048];
    memset(out, 0, sizeof out);
    name_registers(r, instruction, sizeof instruction);
    snprintf(body, sizeof body,
             "mov.u32 %%r10, %%ctaid.x;\nmad.lo.u32 %%r0, %%r10, 256, %%r0;\nmad.wide.u32 %%rd2, %%r0, 32, %%rd0;\n"
             "mad.wide.u32 %%rd3, %%r0, 8, %%rd1;\n%s%s%s%srem.u32 %%r10, %%r0, 3;\nsetp.ge.u32 %%p15, %%r10, %u;\n"
             "@%%p15 bra DONE;\n%s\nDONE: %s",
             load_text(r->a, 'A'), load_text(r->b, 'B'), load_text(r->c, 'C'), load_text(r->d, 'D'), active,
             instruction, store_text(r->d));
    kernel_run run = {.text = kernel_text(text, sizeof text, body),
                      .in = in,
                      .in_bytes = COUNT * sizeof *in,
                      .out = out,
                      .out_bytes = sizeof out,
                      .grid = COUNT / 256,
                      .block = 256};
    run_kernel(&run);
    if (run.status != HD_EXEC_DONE)
        fail_msg("%s: %s", r->instruction, run.message);
    for (uint32_t i = 0; i < COUNT; i++) {
        values v = in[i].sources;
        uint64_t expected = i % 3 < active ? r->expected(v) : in[i].before;
        if (out[i] != expected)
            fail_msg("%s of %llx, %llx, %llx in %u of 3 threads gives thread %u %llx, expected %llx", r->instruction,
                     (unsigned long long)v.a, (unsigned long long)v.b, (unsigned long long)v.c, active, i,
                     (unsigned long long)out[i], (unsigned long long)expected);
    }
}

void check_row(const row *r)
{
    static thread in[COUNT];
    uint64_t state = 42;
    for (uint32_t i = 0; i < COUNT; i++) {
        values v = {pick(r->a, &state, i % EDGES), pick(r->b, &state, i / EDGES % EDGES),
                    pick(r->c, &state, (i * 7 + i / 32) % EDGES)};
        in[i] = (thread){v, pick(r->d, &state, EDGES)};
    }
    check_active(r, in, 3);
    check_active(r, in, 1);
}
