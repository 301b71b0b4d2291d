/* wmma: matrices in memory in, matrix in memory out, for every shape and type, layout and several strides. Fragments
 * are opaque: nothing here knows where an element is, only that changing every register of a fragment changes every
 * element of the matrix. */
#include "kernel.h"
#include "matrix_reference.h"

#include <fenv.h>

typedef struct wmma {
    const char *shape, *types; /* types: as wmma.mma spells them */
    const char *a, *c, *d;     /* as wmma.load and wmma.store spell them */
    uint32_t m, n, k;
    kind d_kind, a_kind, c_kind;
    uint32_t a_registers, b_registers, c_registers, d_registers;
} wmma;

#define ALL_SHAPES(types, a, c, d, kinds, a0, b0, a1, b1, a2, b2, c_count, d_count) \
    {"m16n16k16", types, a, c, d, 16, 16, 16, kinds, a0, b0, c_count, d_count},     \
        {"m8n32k16", types, a, c, d, 8, 32, 16, kinds, a1, b1, c_count, d_count},   \
    {                                                                               \
        "m32n8k16", types, a, c, d, 32, 8, 16, kinds, a2, b2, c_count, d_count      \
    }
#define KINDS(d, a, c) d, a, c
static const wmma table[] = {
    ALL_SHAPES("f32.f32", "f16", "f32", "f32", KINDS(F32, F16, F32), 8, 8, 8, 8, 8, 8, 8, 8),
    ALL_SHAPES("f16.f16", "f16", "f16", "f16", KINDS(F16, F16, F16), 8, 8, 8, 8, 8, 8, 4, 4),
    ALL_SHAPES("f32.f32.satfinite", "f16", "f32", "f32", KINDS(F32, F16, F32), 8, 8, 8, 8, 8, 8, 8, 8),
    ALL_SHAPES("f16.f16.satfinite", "f16", "f16", "f16", KINDS(F16, F16, F16), 8, 8, 8, 8, 8, 8, 4, 4),
    ALL_SHAPES("f32.f16", "f16", "f16", "f32", KINDS(F32, F16, F16), 8, 8, 8, 8, 8, 8, 4, 8),
    ALL_SHAPES("f16.f32", "f16", "f32", "f16", KINDS(F16, F16, F32), 8, 8, 8, 8, 8, 8, 8, 4),
    ALL_SHAPES("f32.bf16.bf16.f32", "bf16", "f32", "f32", KINDS(F32, BF16, F32), 4, 4, 2, 8, 8, 2, 8, 8),
    ALL_SHAPES("s32.s8.s8.s32", "s8", "s32", "s32", KINDS(S32, S8, S32), 2, 2, 1, 4, 4, 1, 8, 8),
    ALL_SHAPES("s32.u8.u8.s32", "u8", "s32", "s32", KINDS(S32, U8, S32), 2, 2, 1, 4, 4, 1, 8, 8),
    ALL_SHAPES("s32.u8.u8.s32.satfinite", "u8", "s32", "s32", KINDS(S32, U8, S32), 2, 2, 1, 4, 4, 1, 8, 8),
    {"m16n16k8", "f32.tf32.tf32.f32", "tf32", "f32", "f32", 16, 16, 8, KINDS(F32, TF32, F32), 4, 4, 8, 8},
    {"m8n8k4", "f64.f64.f64.f64", "f64", "f64", "f64", 8, 8, 4, KINDS(F64, F64, F64), 1, 1, 2, 2},
    {"m8n8k4", "rm.f64.f64.f64.f64", "f64", "f64", "f64", 8, 8, 4, KINDS(F64, F64, F64), 1, 1, 2, 2},
    {"m8n8k32", "s32.s4.s4.s32", "s4", "s32", "s32", 8, 8, 32, KINDS(S32, S4, S32), 1, 1, 2, 2},
    {"m8n8k32", "s32.u4.u4.s32.satfinite", "u4", "s32", "s32", 8, 8, 32, KINDS(S32, U4, S32), 1, 1, 2, 2},
    {"m8n8k128", "xor", "b1", "s32", "s32", 8, 8, 128, KINDS(S32, B1, S32), 1, 1, 2, 2},
    {"m8n8k128", "and", "b1", "s32", "s32", 8, 8, 128, KINDS(S32, B1, S32), 1, 1, 2, 2},
};

typedef struct layout {
    bool a_column, b_column, c_column, d_column;
    uint32_t pad; /* elements between the lines of memory; 0: no stride is given */
    const char *space;
    bool flip; /* the sign of every element of A is turned over in its registers */
} layout;

enum { A_AT = 0, B_AT = 4096, C_AT = 8192, BYTES = 24576, D_AT = 0 };

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

static void vector(char *text, const char *prefix, uint32_t first, uint32_t count)
{
    size_t n = (size_t)sprintf(text, "{");
    for (uint32_t i = 0; i < count; i++)
        n += (size_t)sprintf(text + n, "%s%%%s%u", i ? "," : "", prefix, first + i);
    sprintf(text + n, "}");
}

static const char *prefix_of(kind k) { return k == F64 ? "fd" : k == F32 ? "f" : "r"; }

static size_t flips(const wmma *x, char *text)
{
    size_t n = 0;
    for (uint32_t i = 10; i < 10 + x->a_registers; i++) {
        if (x->a_kind == F64)
            n += (size_t)sprintf(text + n, "neg.f64 %%fd%u, %%fd%u;\n", i, i);
        else
            n += (size_t)sprintf(text + n, "xor.b32 %%r%u, %%r%u, 0x%x;\n", i, i,
                                 kind_bits(x->a_kind) == 16 ? 0x80008000u : 0x80000000u);
    }
    return n;
}

static uint32_t stride(uint32_t length, const layout *l) { return length + l->pad; }

static size_t transfer(char *text, const char *what, const char *column, const wmma *x, const layout *l,
                       const char *type, const char *base, uint32_t at, const char *registers, uint32_t length)
{
    char step[32] = "";
    bool load = what[5] == 'l';
    if (l->pad)
        snprintf(step, sizeof step, ", %u", stride(length, l));
    const char *address = strcmp(l->space, ".shared") ? base : l->pad == 16 ? "s" : "%rs";
    if (load)
        return (size_t)sprintf(text, "%s.sync.aligned.%s.%s%s.%s %s, [%s+%u]%s;\n", what, column, x->shape, l->space,
                               type, registers, address, at, step);
    return (size_t)sprintf(text, "%s.sync.aligned.%s.%s%s.%s [%s+%u], %s%s;\n", what, column, x->shape, l->space, type,
                           address, at, registers, step);
}

static void write_kernel(const wmma *x, const layout *l, char *text)
{
    char a[256], b[256], c[256], d[256];
    const char *a_column = l->a_column ? "col" : "row", *b_column = l->b_column ? "col" : "row";
    bool old = x->a_kind == F16 && strstr(x->types, "satfinite"); /* floats saturate before version 6.5 */
    size_t n = (size_t)sprintf(
        text,
        ".version %s\n.address_size 64\n.shared .align 32 .b8 s[%u];\n"
        ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .pred %%p;\n.reg .b32 %%r<64>, %%rs, %%rt;\n"
        ".reg .f32 %%f<64>;\n.reg .f64 %%fd<64>;\n.reg .b64 %%rd<8>;\n"
        "ld.param.u64 %%rd0, [in];\nld.param.u64 %%rd1, [out];\nmov.u32 %%rs, s;\n",
        old ? "6.4\n.target sm_75" : "8.0\n.target sm_80", (unsigned)BYTES);
    if (!strcmp(l->space, ".shared"))
        n += (size_t)sprintf(text + n,
                             "mov.u32 %%rt, 0;\nL:\ncvt.u64.u32 %%rd2, %%rt;\nadd.u64 %%rd2, %%rd2, %%rd0;\n"
                             "ld.global.b32 %%r0, [%%rd2];\nadd.u32 %%r1, %%rt, %%rs;\nst.shared.b32 [%%r1], "
                             "%%r0;\nadd.u32 %%rt, %%rt, 4;\nsetp.lt.u32 %%p, %%rt, %u;\n@%%p bra L;\n",
                             (unsigned)BYTES);
    vector(a, x->a_kind == F64 ? "fd" : "r", 10, x->a_registers);
    vector(b, x->a_kind == F64 ? "fd" : "r", 20, x->b_registers);
    vector(c, prefix_of(x->c_kind), 30, x->c_registers);
    vector(d, prefix_of(x->d_kind), 40, x->d_registers);
    n += transfer(text + n, "wmma.load.a", a_column, x, l, x->a, "%rd0", A_AT, a, l->a_column ? x->m : x->k);
    n += transfer(text + n, "wmma.load.b", b_column, x, l, x->a, "%rd0", B_AT, b, l->b_column ? x->k : x->n);
    n += transfer(text + n, "wmma.load.c", l->c_column ? "col" : "row", x, l, x->c, "%rd0", C_AT, c,
                  l->c_column ? x->m : x->n);
    n += l->flip ? flips(x, text + n) : 0;
    if (x->a_kind == B1)
        n += (size_t)sprintf(text + n, "wmma.mma.%s.popc.sync.aligned.row.col.%s.s32.b1.b1.s32 %s, %s, %s, %s;\n",
                             x->types, x->shape, d, a, b, c);
    else
        n += (size_t)sprintf(text + n, "wmma.mma.sync.aligned.%s.%s.%s%s.%s %s, %s, %s, %s;\n", a_column, b_column,
                             strncmp(x->types, "rm.", 3) ? "" : "rm.", x->shape,
                             x->types + (strncmp(x->types, "rm.", 3) ? 0 : 3), d, a, b, c);
    layout store = *l;
    store.space = ".global";
    n += transfer(text + n, "wmma.store.d", l->d_column ? "col" : "row", x, &store, x->d, "%rd1", D_AT, d,
                  l->d_column ? x->m : x->n);
    sprintf(text + n, "ret;\n}\n");
}

/* ---- matrices in memory ------------------------------------------------------------------------------------------ */

/* Place of an element, in elements: of a matrix of rows x columns. */
static uint32_t at(uint32_t row, uint32_t column, bool by_column, uint32_t rows, uint32_t columns, const layout *l)
{
    return by_column ? column * stride(rows, l) + row : row * stride(columns, l) + column;
}

static product product_for(const wmma *x)
{
    product p = {.a = x->a_kind, .b = x->a_kind, .c = x->c_kind, .d = x->d_kind, .depth = x->k, .sm = 80};
    p.rounding = strstr(x->types, "rm.") ? FE_DOWNWARD : FE_TONEAREST;
    p.saturate = strstr(x->types, "satfinite") != NULL;
    p.bits_and = !strcmp(x->types, "and");
    return p;
}

static void check(const wmma *x, const layout *l, const uint8_t *in, const uint8_t *out, uint32_t round)
{
    uint32_t bits = kind_bits(x->a_kind), d_bits = kind_bits(x->d_kind);
    product p = product_for(x);
    for (uint32_t i = 0; i < x->m; i++)
        for (uint32_t j = 0; j < x->n; j++) {
            uint64_t a[128], b[128], c, got, expected;
            for (uint32_t k = 0; k < x->k; k++) {
                a[k] = field_get(in + A_AT, at(i, k, l->a_column, x->m, x->k, l), bits) ^
                       (l->flip ? 1ull << (bits - 1) : 0);
                b[k] = field_get(in + B_AT, at(k, j, l->b_column, x->k, x->n, l), bits);
            }
            c = field_get(in + C_AT, at(i, j, l->c_column, x->m, x->n, l), kind_bits(x->c_kind));
            got = field_get(out + D_AT, at(i, j, l->d_column, x->m, x->n, l), d_bits);
            expected = product_of(&p, a, b, c);
            if (got != expected)
                fail_msg("%s.%s round %u, row %u, column %u: 0x%llx, expected 0x%llx", x->shape, x->types, round, i, j,
                         (unsigned long long)got, (unsigned long long)expected);
        }
}

static void fill(const wmma *x, uint8_t *in, uint64_t *state)
{
    uint32_t bits = kind_bits(x->a_kind);
    bool saturate = strstr(x->types, "satfinite") != NULL;
    int center = saturate && x->d_kind == F16 ? 6 : 0, c_center = x->c_kind == S32 || saturate ? ANY_BITS : 0;
    for (uint32_t i = 0; i < 8192 * 8 / bits; i++)
        field_set(in, i, bits, random_code(x->a_kind, center, state));
    for (uint32_t i = 0; i < (BYTES - C_AT) * 8u / kind_bits(x->c_kind); i++)
        field_set(in + C_AT, i, kind_bits(x->c_kind), random_code(x->c_kind, c_center, state));
}

static void run_product(const wmma *x, const layout *l, uint32_t round, uint64_t *state)
{
    static char text[8192];
    static uint8_t in[BYTES], out[BYTES], before[BYTES];
    fill(x, in, state);
    memset(out, 0xa5, sizeof out);
    memcpy(before, out, sizeof out);
    write_kernel(x, l, text);
    kernel_run run = {.text = text, .in = in, .in_bytes = BYTES, .out = out, .out_bytes = BYTES};
    run_kernel(&run);
    if (run.status != HD_EXEC_DONE)
        fail_msg("%s.%s: %s at line %u of\n%s", x->shape, x->types, run.message, run.line, text);
    check(x, l, in, out, round);
    uint32_t length = l->d_column ? x->m : x->n, lines = l->d_column ? x->n : x->m, bytes = kind_bits(x->d_kind) / 8;
    for (uint32_t i = 0; i < BYTES; i++) /* and nothing else was written */
        if (i / bytes % stride(length, l) >= length || i / bytes / stride(length, l) >= lines)
            assert_int_equal(out[i], before[i]);
}

static void test_products(void **unused)
{
    (void)unused;
    static const char *const spaces[] = {".global", "", ".shared"};
    uint64_t state = 3;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (uint32_t round = 0; round < 24; round++) {
            const wmma *x = &table[i];
            uint32_t bits = kind_bits(x->a_kind);
            bool fixed = bits < 8, floats = x->a_kind <= F64;
            layout l = {!fixed && round & 1, fixed || round & 2,   round & 4, round & 8, 0,
                        spaces[round % 3],   floats && round >= 16};
            l.pad = round % 5 == 0 ? 0 : bits == 1 ? 128 : bits == 4 ? 32 : 16 * (round % 5);
            run_product(x, &l, round, &state);
        }
}

/* ---- elements that a fragment holds more than once --------------------------------------------------------------- */

static const struct copies {
    const char *load;
    uint32_t elements, registers;
} copies[] = {
    {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16", 256, 8},
    {"wmma.load.b.sync.aligned.col.m16n16k16.global.f16", 256, 8},
    {"wmma.load.a.sync.aligned.row.m8n32k16.global.f16", 128, 8},
    {"wmma.load.b.sync.aligned.row.m8n32k16.global.f16", 512, 8},
    {"wmma.load.a.sync.aligned.col.m32n8k16.global.f16", 512, 8},
    {"wmma.load.b.sync.aligned.row.m32n8k16.global.f16", 128, 8},
    {"wmma.load.a.sync.aligned.row.m16n16k16.global.bf16", 256, 4},
    {"wmma.load.c.sync.aligned.row.m16n16k16.global.f16", 256, 4},
};

static void test_copies(void **unused)
{
    (void)unused;
    uint16_t in[512], out[512];
    char text[2048];
    for (uint32_t i = 0; i < 512; i++)
        in[i] = (uint16_t)i;
    for (size_t i = 0; i < sizeof copies / sizeof *copies; i++) {
        uint32_t counts[512] = {0};
        char list[128];
        vector(list, "r", 10, copies[i].registers);
        size_t n = (size_t)snprintf(
            text, sizeof text,
            ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
            ".reg .b32 %%r<64>;\n.reg .b64 %%rd<8>;\nld.param.u64 %%rd0, [in];\nld.param.u64 %%rd1, [out];\n"
            "mov.u32 %%r0, %%tid.x;\nmad.wide.u32 %%rd1, %%r0, %u, %%rd1;\n%s %s, [%%rd0];\n",
            4 * copies[i].registers, copies[i].load, list);
        for (uint32_t k = 0; k < copies[i].registers; k++)
            n += (size_t)snprintf(text + n, sizeof text - n, "st.global.b32 [%%rd1+%u], %%r%u;\n", 4 * k, 10 + k);
        snprintf(text + n, sizeof text - n, "ret;\n}\n");
        kernel_run run = {.text = text, .in = in, .in_bytes = sizeof in, .out = out, .out_bytes = sizeof out};
        run_kernel(&run);
        assert_int_equal(run.status, HD_EXEC_DONE);
        for (uint32_t k = 0; k < copies[i].registers * 64; k++)
            counts[out[k]]++;
        for (uint32_t k = 0; k < copies[i].elements; k++)
            if (counts[k] != copies[i].registers * 64 / copies[i].elements)
                fail_msg("%s: element %u is there %u times", copies[i].load, k, counts[k]);
    }
}

/* ---- races ------------------------------------------------------------------------------------------------------- */

static bool races(const char *body)
{
    char text[2048];
    uint8_t bytes[64] = {0};
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 32 .b8 s[2048];\n"
             ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .pred %%p;\n.reg .b32 %%r<64>;\n"
             ".reg .f32 %%f<64>;\nmov.u32 %%r63, %%tid.x;\nsetp.lt.u32 %%p, %%r63, 32;\nmov.u32 %%r9, s;\n"
             "mad.lo.u32 %%r8, %%r63, 16, %%r9;\nmov.f32 %%f0, 0f3f800000;\n%s\nret;\n}\n",
             body);
    kernel_run run = {.text = text,
                      .in = bytes,
                      .in_bytes = 8,
                      .out = bytes,
                      .out_bytes = 8,
                      .block = 64,
                      .options.check_races = true};
    run_kernel(&run);
    if (run.status != HD_EXEC_DONE && !strstr(run.message, "race"))
        fail_msg("%s: %s", body, run.message);
    return strstr(run.message, "race") != NULL;
}

#define STORE "@%p wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [s], {%f0,%f0,%f0,%f0,%f0,%f0,%f0,%f0};\n"
#define LOAD "@!%p wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {%f8,%f9,%f1,%f2,%f3,%f4,%f5,%f6}, [s];\n"
static void test_races(void **unused)
{
    (void)unused;
    assert_true(races(STORE LOAD));
    assert_false(races(STORE "bar.sync 0;\n" LOAD));
    assert_true(races("@%p st.shared.f32 [%r8], %f0;\n@!%p ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
                      "{%r0,%r1,%r2,%r3}, [%r8+-512];"));
    assert_false(races("@%p st.shared.f32 [%r8], %f0;\n@!%p ldmatrix.sync.aligned.m8n8.x4.shared.b16 "
                       "{%r0,%r1,%r2,%r3}, [%r8];"));
    assert_true(races("mov.b32 %r1, %r63;\nstmatrix.sync.aligned.m8n8.x1.shared.b16 [s], {%r1};"));
    assert_false(races("mov.b32 %r1, 7;\nstmatrix.sync.aligned.m8n8.x1.shared.b16 [s], {%r1};"));
}

/* ---- what a store defines ---------------------------------------------------------------------------------------- */

static bool undefined(const char *body)
{
    char text[2048];
    uint8_t bytes[64] = {0};
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 32 .b8 s[2048];\n"
             ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %%r<64>;\n.reg .b64 %%rd<4>;\n"
             ".reg .f32 %%f<64>;\nld.param.u64 %%rd0, [out];\nmov.u32 %%r63, %%tid.x;\nmov.u32 %%r9, s;\n"
             "mad.lo.u32 %%r8, %%r63, 16, %%r9;\nmov.f32 %%f0, 0f3f800000;\nmov.b32 %%r0, 1;\n%s\n"
             "st.global.b32 [%%rd0], %%r1;\nret;\n}\n",
             body);
    kernel_run run = {
        .text = text, .in = bytes, .in_bytes = 8, .out = bytes, .out_bytes = 8, .options.check_uninitialized = true};
    run_kernel(&run);
    return run.status == HD_EXEC_FAULT;
}

static void test_defined(void **unused)
{
    (void)unused;
#define WMMA "wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [s], {%f0,%f0,%f0,%f0,%f0,%f0,%f0,%f0}, 20;\n"
    assert_true(undefined("ld.shared.b32 %r1, [s];"));
    assert_false(undefined(WMMA "ld.shared.b32 %r1, [s+60];"));
    assert_true(undefined(WMMA "ld.shared.b32 %r1, [s+64];"));
    assert_false(undefined(WMMA "ld.shared.b32 %r1, [s+80];"));
    assert_false(undefined("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r8], {%r0,%r0};\nld.shared.b32 %r1, [s+252];"));
    assert_true(undefined("stmatrix.sync.aligned.m8n8.x2.shared.b16 [%r8], {%r0,%r0};\nld.shared.b32 %r1, [s+256];"));
}

/* ---- what must not run ------------------------------------------------------------------------------------------- */

static const struct refusal {
    const char *body, *words;
} refusals[] = {
    {"add.u64 %rd0, %rd0, 4;\nwmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, "
     "[%rd0];",
     "misaligned access of 16 bytes"},
    {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r0,%r1,%r2,%r3,%r4,%r5,%r6,%r7}, [%rd0], 20;",
     "misaligned access of 16 bytes"},
    {"wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7}, [%rd0];", "out-of-bounds"},
    {"wmma.load.c.sync.aligned.col.m8n8k4.global.f64 {%fd0,%fd1}, [%rd0+16];", "out-of-bounds"},
    {"wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd0], {%f0,%f1,%f2,%f3,%f4,%f5,%f6,%f7};", "out-of-bounds"},
    {"cvt.u64.u32 %rd2, %r63;\nmad.lo.u64 %rd0, %rd2, 32, %rd0;\n"
     "wmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%r0,%r1}, [%rd0];",
     "differs between the lanes"},
    {"add.u32 %r62, %r63, 16;\nwmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%r0,%r1}, [%rd0], %r62;",
     "differs between the lanes"},
    {"mov.u64 %rd0, l;\ncvta.local.u64 %rd0, %rd0;\nwmma.load.a.sync.aligned.row.m16n16k16.s8 {%r0,%r1}, [%rd0];",
     "local memory"},
    {"setp.gt.u32 %p, %r63, 3;\n@%p bra L;\nwmma.load.a.sync.aligned.row.m16n16k16.global.s8 {%r0,%r1}, [%rd0];\nL:",
     "only 4 of the 32 lanes"},
};

static void test_refusals(void **unused)
{
    (void)unused;
    char text[2048];
    uint8_t bytes[512] = {0};
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        snprintf(text, sizeof text,
                 ".version 8.0\n.target sm_80\n.address_size 64\n"
                 ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .pred %%p;\n.reg .b32 %%r<64>;\n"
                 ".reg .f32 %%f<64>;\n.reg .f64 %%fd<64>;\n.reg .b64 %%rd<8>;\n.local .align 16 .b8 l[512];\n"
                 "ld.param.u64 %%rd0, [in];\nmov.u32 %%r63, %%tid.x;\n%s\nret;\n}\n",
                 refusals[i].body);
        kernel_run run = {.text = text, .in = bytes, .in_bytes = sizeof bytes, .out = bytes, .out_bytes = 8};
        run_kernel(&run);
        if (run.status != HD_EXEC_FAULT || !strstr(run.message, refusals[i].words))
            fail_msg("%s: status %d, [%s] %s", refusals[i].body, run.status, run.slug, run.message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_products), cmocka_unit_test(test_copies),
                                       cmocka_unit_test(test_races), cmocka_unit_test(test_defined),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
