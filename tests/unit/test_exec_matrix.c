/* mma.sync of every shape and type, ldmatrix, stmatrix and movmatrix: fragments are filled and read by the formulas of
 * the PTX ISA, element by element; what they must hold is worked out one sum at a time (matrix_reference.h). */
#include "kernel.h"
#include "matrix_reference.h"

#include <fenv.h>
#include <math.h>

/* ---- fragments, by lane and element ------------------------------------------------------------------------------ */

typedef struct place {
    uint32_t row, column, product; /* product: of the four of m8n8k4 */
} place;
typedef place placing(uint32_t lane, uint32_t i);

#define PLACE(name, row, column)                 \
    static place name(uint32_t lane, uint32_t i) \
    {                                            \
        uint32_t g = lane >> 2, t = lane % 4;    \
        (void)g, (void)t, (void)i;               \
        return (place){(row), (column), 0};      \
    }
PLACE(a_k4, g + 8 * i, t)
PLACE(b_k4, t, g)
PLACE(a_word_k8, i == 0 || i == 2 ? g : g + 8, i < 2 ? t : t + 4)
PLACE(b_word_k8, i == 0 ? t : t + 4, g)
PLACE(a_f64_k16, i % 2 ? g + 8 : g, i % 2 ? i * 2 - 2 + t : i * 2 + t)
PLACE(b_f64_k16, t + i * 4, g)
PLACE(a_half_k8, i < 2 ? g : g + 8, t * 2 + (i & 1))
PLACE(b_half_k8, t * 2 + i, g)
PLACE(a_half_k16, i < 2 || (i >= 4 && i < 6) ? g : g + 8, t * 2 + (i & 1) + (i >= 4 ? 8 : 0))
PLACE(b_half_k16, t * 2 + (i & 1) + (i >= 2 ? 8 : 0), g)
PLACE(a_byte_m8, g, t * 4 + i)
PLACE(a_byte_k16, i < 4 ? g : g + 8, t * 4 + (i & 3))
PLACE(b_byte_k16, t * 4 + i, g)
PLACE(a_byte_k32, i < 4 || (i >= 8 && i < 12) ? g : g + 8, t * 4 + (i & 3) + (i >= 8 ? 16 : 0))
PLACE(b_byte_k32, t * 4 + (i & 3) + (i >= 4 ? 16 : 0), g)
PLACE(a_nibble_m8, g, t * 8 + i)
PLACE(a_nibble_k32, i < 8 ? g : g + 8, t * 8 + (i & 7))
PLACE(b_nibble_k32, t * 8 + i, g)
PLACE(a_nibble_k64, i < 8 || (i >= 16 && i < 24) ? g : g + 8, t * 8 + (i & 7) + (i >= 16 ? 32 : 0))
PLACE(b_nibble_k64, t * 8 + (i & 7) + (i >= 8 ? 32 : 0), g)
PLACE(a_bit_m8, g, t * 32 + i)
PLACE(a_bit_k128, i < 32 ? g : g + 8, t * 32 + (i & 31))
PLACE(b_bit_k128, t * 32 + i, g)
PLACE(a_bit_k256, i < 32 || (i >= 64 && i < 96) ? g : g + 8, t * 32 + (i & 31) + (i >= 64 ? 128 : 0))
PLACE(b_bit_k256, t * 32 + (i & 31) + (i >= 32 ? 128 : 0), g)
PLACE(c_any, i < 2 ? g : g + 8, t * 2 + (i & 1))
#undef PLACE

#define QUAD(name, r, c)                                 \
    static place name(uint32_t lane, uint32_t i)         \
    {                                                    \
        uint32_t low = lane % 4, up = lane < 16 ? 0 : 4; \
        (void)low;                                       \
        return (place){(r), (c), lane % 16 / 4};         \
    }
QUAD(a_quad_row, low + up, i)
QUAD(a_quad_column, i + up, low)
QUAD(b_quad_row, low, i + up)
QUAD(b_quad_column, i, low + up)
QUAD(c_quad_f16, low + up, i)
QUAD(c_quad_f32, (lane & 1) + (i & 2) + up, (i & 4) + (lane & 2) + (i & 1))
#undef QUAD

/* ---- products ---------------------------------------------------------------------------------------------------- */

typedef struct mma {
    const char *instruction; /* after mma.sync.aligned. */
    uint32_t m, n, k, sm;
    kind d, a, b, c;
    placing *place_a, *place_b, *place_c, *place_d;
} mma;

#define HALF16 a_half_k16, b_half_k16, c_any, c_any
#define HALF8 a_half_k8, b_half_k8, c_any, c_any
#define BYTE16 a_byte_k16, b_byte_k16, c_any, c_any
#define BYTE32 a_byte_k32, b_byte_k32, c_any, c_any
#define NIBBLE32 a_nibble_k32, b_nibble_k32, c_any, c_any
#define NIBBLE64 a_nibble_k64, b_nibble_k64, c_any, c_any
static const mma table[] = {
    {"m16n8k16.row.col.f32.f16.f16.f32", 16, 8, 16, 80, F32, F16, F16, F32, HALF16},
    {"m16n8k16.row.col.f32.f16.f16.f32", 16, 8, 16, 90, F32, F16, F16, F32, HALF16},
    {"m16n8k16.row.col.f16.f16.f16.f16", 16, 8, 16, 80, F16, F16, F16, F16, HALF16},
    {"m16n8k16.row.col.f16.f16.f16.f16", 16, 8, 16, 90, F16, F16, F16, F16, HALF16},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", 16, 8, 16, 80, F32, BF16, BF16, F32, HALF16},
    {"m16n8k16.row.col.f32.bf16.bf16.f32", 16, 8, 16, 90, F32, BF16, BF16, F32, HALF16},
    {"m16n8k8.row.col.f32.f16.f16.f32", 16, 8, 8, 75, F32, F16, F16, F32, HALF8},
    {"m16n8k8.row.col.f16.f16.f16.f16", 16, 8, 8, 75, F16, F16, F16, F16, HALF8},
    {"m16n8k8.row.col.f32.bf16.bf16.f32", 16, 8, 8, 80, F32, BF16, BF16, F32, HALF8},
    {"m16n8k4.row.col.f32.tf32.tf32.f32", 16, 8, 4, 80, F32, TF32, TF32, F32, a_k4, b_k4, c_any, c_any},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 8, 80, F32, TF32, TF32, F32, a_word_k8, b_word_k8, c_any, c_any},
    {"m16n8k8.row.col.f32.tf32.tf32.f32", 16, 8, 8, 90, F32, TF32, TF32, F32, a_word_k8, b_word_k8, c_any, c_any},
    {"m16n8k32.row.col.f32.e4m3.e5m2.f32", 16, 8, 32, 89, F32, E4M3, E5M2, F32, BYTE32},
    {"m16n8k32.row.col.f32.e4m3.e4m3.f32", 16, 8, 32, 90, F32, E4M3, E4M3, F32, BYTE32},
    {"m16n8k32.row.col.f16.e5m2.e4m3.f16", 16, 8, 32, 89, F16, E5M2, E4M3, F16, BYTE32},
    {"m16n8k32.row.col.f16.e5m2.e5m2.f16", 16, 8, 32, 90, F16, E5M2, E5M2, F16, BYTE32},
    {"m16n8k16.row.col.f32.e5m2.e4m3.f32", 16, 8, 16, 89, F32, E5M2, E4M3, F32, BYTE16},
    {"m16n8k16.row.col.f16.e4m3.e5m2.f16", 16, 8, 16, 90, F16, E4M3, E5M2, F16, BYTE16},
    {"m8n8k4.row.col.f64.f64.f64.f64", 8, 8, 4, 80, F64, F64, F64, F64, a_k4, b_k4, c_any, c_any},
    {"m8n8k4.row.col.rz.f64.f64.f64.f64", 8, 8, 4, 80, F64, F64, F64, F64, a_k4, b_k4, c_any, c_any},
    {"m16n8k4.row.col.rm.f64.f64.f64.f64", 16, 8, 4, 90, F64, F64, F64, F64, a_k4, b_k4, c_any, c_any},
    {"m16n8k8.row.col.rp.f64.f64.f64.f64", 16, 8, 8, 90, F64, F64, F64, F64, a_word_k8, b_word_k8, c_any, c_any},
    {"m16n8k16.row.col.f64.f64.f64.f64", 16, 8, 16, 90, F64, F64, F64, F64, a_f64_k16, b_f64_k16, c_any, c_any},
    {"m8n8k16.row.col.s32.s8.u8.s32", 8, 8, 16, 75, S32, S8, U8, S32, a_byte_m8, b_byte_k16, c_any, c_any},
    {"m8n8k16.row.col.satfinite.s32.u8.u8.s32", 8, 8, 16, 75, S32, U8, U8, S32, a_byte_m8, b_byte_k16, c_any, c_any},
    {"m16n8k16.row.col.s32.u8.s8.s32", 16, 8, 16, 80, S32, U8, S8, S32, BYTE16},
    {"m16n8k32.row.col.s32.s8.s8.s32", 16, 8, 32, 80, S32, S8, S8, S32, BYTE32},
    {"m16n8k32.row.col.satfinite.s32.u8.s8.s32", 16, 8, 32, 80, S32, U8, S8, S32, BYTE32},
    {"m8n8k32.row.col.s32.s4.u4.s32", 8, 8, 32, 75, S32, S4, U4, S32, a_nibble_m8, b_nibble_k32, c_any, c_any},
    {"m16n8k32.row.col.s32.u4.s4.s32", 16, 8, 32, 80, S32, U4, S4, S32, NIBBLE32},
    {"m16n8k64.row.col.satfinite.s32.s4.s4.s32", 16, 8, 64, 80, S32, S4, S4, S32, NIBBLE64},
    {"m16n8k64.row.col.s32.u4.u4.s32", 16, 8, 64, 80, S32, U4, U4, S32, NIBBLE64},
    {"m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 8, 8, 128, 75, S32, B1, B1, S32, a_bit_m8, b_bit_k128, c_any, c_any},
    {"m16n8k128.row.col.s32.b1.b1.s32.and.popc", 16, 8, 128, 80, S32, B1, B1, S32, a_bit_k128, b_bit_k128, c_any,
     c_any},
    {"m16n8k256.row.col.s32.b1.b1.s32.xor.popc", 16, 8, 256, 80, S32, B1, B1, S32, a_bit_k256, b_bit_k256, c_any,
     c_any},
    {"m16n8k256.row.col.s32.b1.b1.s32.and.popc", 16, 8, 256, 90, S32, B1, B1, S32, a_bit_k256, b_bit_k256, c_any,
     c_any},
    {"m8n8k4.row.col.f32.f16.f16.f32", 8, 8, 4, 70, F32, F16, F16, F32, a_quad_row, b_quad_column, c_quad_f32,
     c_quad_f32},
    {"m8n8k4.col.row.f32.f16.f16.f32", 8, 8, 4, 80, F32, F16, F16, F32, a_quad_column, b_quad_row, c_quad_f32,
     c_quad_f32},
    {"m8n8k4.row.row.f16.f16.f16.f16", 8, 8, 4, 70, F16, F16, F16, F16, a_quad_row, b_quad_row, c_quad_f16, c_quad_f16},
    {"m8n8k4.col.col.f32.f16.f16.f16", 8, 8, 4, 70, F32, F16, F16, F16, a_quad_column, b_quad_column, c_quad_f16,
     c_quad_f32},
};

enum { LANE_IN = 160, LANE_OUT = 64, B_AT = 64, C_AT = 96 };

static bool is_quad(const mma *x) { return x->m == 8 && x->a == F16; }
static uint32_t elements(const mma *x, uint32_t rows, uint32_t columns)
{
    return rows * columns * (is_quad(x) ? 4 : 1) / 32;
}

/* Registers of a fragment, `first` the number of the first; loaded or stored at `at` of the lane's part. */
static size_t registers(char *text, size_t size, uint32_t first, uint32_t count, char register_kind)
{
    size_t n = (size_t)snprintf(text, size, "{");
    for (uint32_t i = 0; i < count; i++)
        n += (size_t)snprintf(text + n, size - n, "%s%%%s%u", i ? "," : "",
                              register_kind == 'd'   ? "fd"
                              : register_kind == 'f' ? "f"
                                                     : "r",
                              first + i);
    return n + (size_t)snprintf(text + n, size - n, "}");
}

static size_t moves(char *text, size_t size, bool load, uint32_t first, uint32_t count, char k, uint32_t at)
{
    size_t n = 0;
    const char *type = k == 'd' ? "f64" : k == 'f' ? "f32" : "b32", *name = k == 'd' ? "fd" : k == 'f' ? "f" : "r";
    for (uint32_t i = 0; i < count; i++) {
        uint32_t offset = at + i * (k == 'd' ? 8 : 4);
        if (load)
            n += (size_t)snprintf(text + n, size - n, "ld.global.%s %%%s%u, [%%rd2+%u];\n", type, name, first + i,
                                  offset);
        else
            n += (size_t)snprintf(text + n, size - n, "st.global.%s [%%rd3+%u], %%%s%u;\n", type, offset, name,
                                  first + i);
    }
    return n;
}

static const char prologue[] = ".version 8.7\n.target sm_%u\n.address_size 64\n"
                               ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .pred %%p<4>;\n"
                               ".reg .b32 %%r<80>;\n.reg .f32 %%f<80>;\n.reg .f64 %%fd<80>;\n.reg .b64 %%rd<8>;\n"
                               "ld.param.u64 %%rd0, [in];\nld.param.u64 %%rd1, [out];\nmov.u32 %%r79, %%tid.x;\n"
                               "mad.wide.u32 %%rd2, %%r79, %u, %%rd0;\nmad.wide.u32 %%rd3, %%r79, %u, %%rd1;\n";

static char kind_register(kind k) { return k == F64 ? 'd' : k == F32 ? 'f' : 'r'; }
static uint32_t register_count(kind k, uint32_t count)
{
    return k == F64 || k == F32 ? count : count * kind_bits(k) / 32;
}

static void write_kernel(const mma *x, char *text, size_t size)
{
    uint32_t a = register_count(x->a, elements(x, x->m, x->k)), b = register_count(x->b, elements(x, x->k, x->n));
    uint32_t c = register_count(x->c, elements(x, x->m, x->n)), d = register_count(x->d, elements(x, x->m, x->n));
    size_t n = (size_t)snprintf(text, size, prologue, x->sm, LANE_IN, LANE_OUT);
    n += moves(text + n, size - n, true, 10, a, kind_register(x->a), 0);
    n += moves(text + n, size - n, true, 20, b, kind_register(x->b), B_AT);
    n += moves(text + n, size - n, true, 30, c, kind_register(x->c), C_AT);
    n += (size_t)snprintf(text + n, size - n, "mma.sync.aligned.%s ", x->instruction);
    n += registers(text + n, size - n, 40, d, kind_register(x->d));
    n += (size_t)snprintf(text + n, size - n, ", ");
    n += registers(text + n, size - n, 10, a, kind_register(x->a));
    n += (size_t)snprintf(text + n, size - n, ", ");
    n += registers(text + n, size - n, 20, b, kind_register(x->b));
    n += (size_t)snprintf(text + n, size - n, ", ");
    n += registers(text + n, size - n, 30, c, kind_register(x->c));
    n += (size_t)snprintf(text + n, size - n, ";\n");
    n += moves(text + n, size - n, false, 40, d, kind_register(x->d), 0);
    snprintf(text + n, size - n, "ret;\n}\n");
}

static product product_for(const mma *x)
{
    product p = {.a = x->a, .b = x->b, .c = x->c, .d = x->d, .depth = x->k, .sm = x->sm, .rounding = FE_TONEAREST};
    p.saturate = strstr(x->instruction, "satfinite") != NULL;
    p.bits_and = strstr(x->instruction, ".and.") != NULL;
    if (x->a == F64)
        p.rounding = strstr(x->instruction, ".rz")   ? FE_TOWARDZERO
                     : strstr(x->instruction, ".rm") ? FE_DOWNWARD
                     : strstr(x->instruction, ".rp") ? FE_UPWARD
                                                     : FE_TONEAREST;
    return p;
}

static uint64_t mat_a[4][16][256], mat_b[4][8][256], mat_c[4][16][8]; /* a by rows, b by columns */

/* Wild: infinities, NaNs, limits. Every third round: exponents anywhere, so that sums underflow and overflow. */
static int center_of(uint32_t round, bool wild, bool wide, uint64_t *state)
{
    int spread = wide && round % 2 ? 250 : 31;
    return wild ? ANY_BITS : round % 3 == 1 ? (int)(unit_random(state) % (uint32_t)spread) - spread / 2 - 1 : 0;
}

/* Sums of f16: 2 units of the last subnormal place, half a unit, and a product so small that it is cut only because
 * subnormal accumulators count with the exponent of normal ones. */
static void set_subnormal_tie(void)
{
    memset(mat_a, 0, sizeof mat_a);
    memset(mat_b, 0, sizeof mat_b);
    for (uint32_t q = 0; q < 4; q++)
        for (uint32_t i = 0; i < 16 * 8; i++) {
            mat_a[q][i / 8][0] = 0x0c00; /* 2^-12 */
            mat_b[q][i % 8][0] = 0x0800; /* 2^-13 */
            mat_a[q][i / 8][1] = 0x0010; /* 2^-20 */
            mat_b[q][i % 8][1] = 0x0008; /* 2^-21 */
            mat_c[q][i / 8][i % 8] = 2;
        }
}

static void scatter(const mma *x, uint8_t in[32][LANE_IN], uint32_t round, uint64_t *state)
{
    bool wild = round % 3 == 2;
    bool wide = x->a == BF16 || x->a == TF32;
    int a = center_of(round, false, wide, state), b = center_of(round, false, wide, state);
    int c = center_of(round, wild, wide, state);
    if (round % 6 == 4 || (round % 3 == 1 && wide && c & 1))
        c = a + b + 2;
    for (uint32_t q = 0; q < 4; q++) {
        for (uint32_t i = 0; i < 16 * 256; i++)
            mat_a[q][i / 256][i % 256] = random_code(x->a, wild && i % 7 == 0 ? ANY_BITS : a, state);
        for (uint32_t i = 0; i < 8 * 256; i++)
            mat_b[q][i / 256][i % 256] = random_code(x->b, wild && i % 5 == 0 ? ANY_BITS : b, state);
        for (uint32_t i = 0; i < 16 * 8; i++)
            mat_c[q][i / 8][i % 8] = random_code(x->c, c, state);
    }
    if (round == 35 && x->a == F16 && x->d == F16)
        set_subnormal_tie();
    for (uint32_t lane = 0; lane < 32; lane++) {
        for (uint32_t i = 0; i < elements(x, x->m, x->k); i++) {
            place at = x->place_a(lane, i);
            field_set(in[lane], i, kind_bits(x->a), mat_a[at.product][at.row][at.column]);
        }
        for (uint32_t i = 0; i < elements(x, x->k, x->n); i++) {
            place at = x->place_b(lane, i);
            field_set(in[lane] + B_AT, i, kind_bits(x->b), mat_b[at.product][at.column][at.row]);
        }
        for (uint32_t i = 0; i < elements(x, x->m, x->n); i++) {
            place at = x->place_c(lane, i);
            field_set(in[lane] + C_AT, i, kind_bits(x->c), mat_c[at.product][at.row][at.column]);
        }
    }
}

static void compare(const mma *x, uint8_t out[32][LANE_OUT], uint32_t wild)
{
    product p = product_for(x);
    for (uint32_t lane = 0; lane < 32; lane++)
        for (uint32_t i = 0; i < elements(x, x->m, x->n); i++) {
            place at = x->place_d(lane, i);
            const uint64_t *a = mat_a[at.product][at.row], *b = mat_b[at.product][at.column];
            uint64_t c = mat_c[at.product][at.row][at.column];
            uint64_t got = field_get(out[lane], i, kind_bits(x->d)), expected = product_of(&p, a, b, c);
            if (got != expected)
                fail_msg("%s sm_%u, lane %u element %u (row %u, column %u)%s: 0x%llx, expected 0x%llx", x->instruction,
                         x->sm, lane, i, at.row, at.column, wild ? " wild" : "", (unsigned long long)got,
                         (unsigned long long)expected);
            if (wild || x->a > E5M2)
                continue;
            double exact, bound = product_bound(&p, a, b, c, &exact);
            if (fabs(kind_value(x->d, got) - exact) > bound)
                fail_msg("%s sm_%u: %g is more than %g from %g", x->instruction, x->sm, kind_value(x->d, got), bound,
                         exact);
        }
}

static void test_products(void **unused)
{
    (void)unused;
    static char text[16384];
    static uint8_t in[32][LANE_IN], out[32][LANE_OUT];
    uint64_t state = 7;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        for (uint32_t round = 0; round < 60; round++) {
            const mma *x = &table[i];
            scatter(x, in, round, &state);
            write_kernel(x, text, sizeof text);
            kernel_run run = {.text = text, .in = in, .in_bytes = sizeof in, .out = out, .out_bytes = sizeof out};
            run_kernel(&run);
            if (run.status != HD_EXEC_DONE)
                fail_msg("%s: %s", x->instruction, run.message);
            compare(x, out, round % 3);
        }
}

/* ---- ldmatrix, stmatrix, movmatrix ------------------------------------------------------------------------------- */

/* The first 2048 bytes of `in` go to shared memory; lane i's row is at 16 * its number in `order`. */
static const char rows_kernel[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n.shared .align 16 .b8 s[2048];\n"
    ".visible .entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b32 %%r<20>;\n.reg .b64 %%rd<8>;\n"
    "ld.param.u64 %%rd0, [in];\nld.param.u64 %%rd1, [out];\nmov.u32 %%r0, %%tid.x;\n"
    "mad.wide.u32 %%rd2, %%r0, 64, %%rd0;\nmov.u32 %%r1, s;\nmad.lo.u32 %%r2, %%r0, 64, %%r1;\n"
    "ld.global.v4.b32 {%%r3,%%r4,%%r5,%%r6}, [%%rd2];\nst.shared.v4.b32 [%%r2], {%%r3,%%r4,%%r5,%%r6};\n"
    "ld.global.v4.b32 {%%r3,%%r4,%%r5,%%r6}, [%%rd2+16];\nst.shared.v4.b32 [%%r2+16], {%%r3,%%r4,%%r5,%%r6};\n"
    "ld.global.v4.b32 {%%r3,%%r4,%%r5,%%r6}, [%%rd2+32];\nst.shared.v4.b32 [%%r2+32], {%%r3,%%r4,%%r5,%%r6};\n"
    "ld.global.v4.b32 {%%r3,%%r4,%%r5,%%r6}, [%%rd2+48];\nst.shared.v4.b32 [%%r2+48], {%%r3,%%r4,%%r5,%%r6};\n"
    "bar.sync 0;\nmad.lo.u32 %%r7, %%r0, 5, 3;\nand.b32 %%r7, %%r7, 31;\nmad.lo.u32 %%r7, %%r7, 16, %%r1;\n"
    "mad.wide.u32 %%rd3, %%r0, 16, %%rd1;\nmov.b32 %%r3, 0;\nmov.b32 %%r4, 0;\nmov.b32 %%r5, 0;\nmov.b32 %%r6, 0;\n"
    "%s\n"
    "ret;\n}\n";
static uint32_t row_of_lane(uint32_t lane) { return (lane * 5 + 3) & 31; }

static void run_rows(const char *body, const void *in, void *out)
{
    static char text[8192];
    snprintf(text, sizeof text, rows_kernel, body);
    kernel_run run = {.text = text, .in = in, .in_bytes = 2048, .out = out, .out_bytes = 2048};
    run_kernel(&run);
    if (run.status != HD_EXEC_DONE)
        fail_msg("%s: %s", body, run.message);
}

static void test_rows_load(void **unused)
{
    (void)unused;
    static const char *const vectors[] = {"{%r3}", "{%r3,%r4}", "{%r3,%r4,%r5,%r6}"};
    uint16_t in[1024], out[1024];
    char body[256];
    for (uint32_t i = 0; i < 1024; i++)
        in[i] = (uint16_t)(i * 31 + 5);
    for (uint32_t form = 0; form < 12; form++) {
        uint32_t matrices = 1u << form % 3, transposed = form / 3 % 2;
        const char *space = form / 6 ? "" : ".shared";
        snprintf(body, sizeof body,
                 "%sldmatrix.sync.aligned.m8n8.x%u%s%s.b16 %s, [%s];\nst.global.v4.b32 [%%rd3], {%%r3,%%r4,%%r5,%%r6};",
                 form / 6 ? "cvt.u64.u32 %rd4, %r7;\ncvta.shared.u64 %rd4, %rd4;\n" : "", matrices,
                 transposed ? ".trans" : "", space, vectors[form % 3], form / 6 ? "%rd4" : "%r7");
        run_rows(body, in, out);
        for (uint32_t lane = 0; lane < 32; lane++)
            for (uint32_t i = 0; i < 8; i++) {
                uint32_t matrix = i / 2, row = lane / 4, column = lane % 4 * 2 + i % 2;
                uint32_t r = transposed ? column : row, c = transposed ? row : column;
                uint16_t expected = matrix < matrices ? in[row_of_lane(matrix * 8 + r) * 8 + c] : 0;
                if (out[lane * 8 + i] != expected)
                    fail_msg("%s: lane %u element %u is 0x%x, not 0x%x", body, lane, i, out[lane * 8 + i], expected);
            }
    }
}

static void test_rows_store(void **unused)
{
    (void)unused;
    static const char *const vectors[] = {"{%r3}", "{%r3,%r4}", "{%r3,%r4,%r5,%r6}"};
    uint16_t in[1024], out[1024];
    char body[512];
    for (uint32_t i = 0; i < 1024; i++)
        in[i] = (uint16_t)(i * 77 + 1);
    for (uint32_t form = 0; form < 6; form++) {
        uint32_t matrices = 1u << form % 3, transposed = form / 3;
        snprintf(body, sizeof body,
                 "mad.lo.u32 %%r8, %%r0, 16, %%r1;\nld.shared.v4.b32 {%%r3,%%r4,%%r5,%%r6}, [%%r8];\n"
                 "st.shared.b32 [%%r8], 0;\nst.shared.v4.b32 [%%r8], {%%r1,%%r1,%%r1,%%r1};\nbar.sync 0;\n"
                 "stmatrix.sync.aligned.m8n8.x%u%s.shared.b16 [%%r7], %s;\nbar.sync 0;\n"
                 "ld.shared.v4.b32 {%%r3,%%r4,%%r5,%%r6}, [%%r8];\nst.global.v4.b32 [%%rd3], {%%r3,%%r4,%%r5,%%r6};",
                 matrices, transposed ? ".trans" : "", vectors[form % 3]);
        run_rows(body, in, out);
        for (uint32_t lane = 0; lane < 8 * matrices; lane++)
            for (uint32_t c = 0; c < 8; c++) {
                uint32_t r = lane % 8, row = transposed ? c : r, column = transposed ? r : c;
                uint16_t expected = in[(row * 4 + column / 2) * 8 + lane / 8 * 2 + column % 2];
                uint16_t got = out[row_of_lane(lane) * 8 + c];
                if (got != expected)
                    fail_msg("%s: row of lane %u, element %u is 0x%x, not 0x%x", body, lane, c, got, expected);
            }
    }
}

static void test_transpose(void **unused)
{
    (void)unused;
    uint16_t in[1024], out[1024];
    for (uint32_t i = 0; i < 1024; i++)
        in[i] = (uint16_t)(i * 13 + 3);
    run_rows("mad.lo.u32 %r8, %r0, 4, %r1;\nld.shared.b32 %r9, [%r8];\n"
             "movmatrix.sync.aligned.m8n8.trans.b16 %r10, %r9;\nst.global.b32 [%rd3], %r10;",
             in, out);
    for (uint32_t lane = 0; lane < 32; lane++)
        for (uint32_t i = 0; i < 2; i++)
            assert_int_equal(out[lane * 8 + i], in[(lane % 4 * 2 + i) * 8 + lane / 4]);
}

/* ---- what must not run ------------------------------------------------------------------------------------------- */

typedef struct refusal {
    const char *body, *slug, *words;
    uint32_t sm, block;
} refusal;

static const refusal refusals[] = {
    {"setp.lt.u32 %p0, %r79, 16;\n@%p0 movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;", "kernel-fault",
     "only 16 of the 32 lanes", 80, 32},
    {"movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;", "kernel-fault", "only 20 of the 32 lanes", 80, 20},
    {"mov.b32 %r1, 0;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1+8];", "kernel-fault", "misaligned", 80, 32},
    {"mov.b32 %r1, 4096;\nldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r2}, [%r1];", "kernel-fault", "out-of-bounds", 80,
     32},
    {"ldmatrix.sync.aligned.m8n8.x1.b16 {%r2}, [%rd0];", "kernel-fault", "outside shared memory", 80, 32},
    {"mov.b32 %r1, 4096;\nstmatrix.sync.aligned.m8n8.x1.shared.b16 [%r1], {%r2};", "kernel-fault", "out-of-bounds", 90,
     32},
    {"mma.sp.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32 {%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5,%r6,%r7},"
     "{%f4,%f5,%f6,%f7},%r8,0x0;",
     "unsupported", "mma.sp.sync.aligned.m16n8k32", 80, 32},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e2m1.e2m1.f32 {%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},"
     "{%f4,%f5,%f6,%f7};",
     "unsupported", "kind::f8f6f4", 120, 32},
    {"mma.sync.aligned.m16n8k32.row.col.kind::f8f6f4.f32.e4m3.e2m1.f32 {%f0,%f1,%f2,%f3},{%r0,%r1,%r2,%r3},{%r4,%r5},"
     "{%f4,%f5,%f6,%f7};",
     "unsupported", "kind::f8f6f4", 120, 32},
    {"ldmatrix.sync.aligned.m8n16.x1.shared.b8x16.b4x16_p64 {%r0},[%r1];", "unsupported", "b4x16_p64", 100, 32},
    {"stmatrix.sync.aligned.m16n8.x1.trans.shared.b8 [%r0],{%r1};", "unsupported", "m16n8", 100, 32},
    {"wgmma.fence.sync.aligned;", "unsupported", "wgmma.fence", 90, 32},
};

static void test_refusals(void **unused)
{
    (void)unused;
    char text[4096];
    uint64_t word = 0;
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const refusal *x = &refusals[i];
        size_t n = (size_t)snprintf(text, sizeof text, prologue, x->sm, 0u, 0u);
        snprintf(text + n, sizeof text - n, "%s\nst.global.b32 [%%rd1], %%r2;\nret;\n}\n", x->body);
        kernel_run run = {.text = text, .in = &word, .in_bytes = 8, .out = &word, .out_bytes = 8, .block = x->block};
        run_kernel(&run);
        if (strcmp(run.slug, x->slug) || !strstr(run.message, x->words))
            fail_msg("%s: [%s] %s", x->body, run.slug, run.message);
    }
}

/* Where lanes of the warp are missing, the note says whether they can still come. */
static void test_missing_lanes(void **unused)
{
#define TRANSPOSE "movmatrix.sync.aligned.m8n8.trans.b16 %r1, %r2;"
    static const struct {
        const char *body, *note;
        uint32_t block;
    } cases[] = {
        {"setp.lt.u32 %p0, %r79, 16;\n@%p0 " TRANSPOSE, "the lanes 0xffff0000 of the warp have not ended", 32},
        {"setp.lt.u32 %p0, %r79, 9;\n@%p0 exit;\n" TRANSPOSE, "the others have ended", 32},
        {TRANSPOSE, "the others have ended or were never there (a block of 20 threads)", 20},
    };
    (void)unused;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[4096];
        uint64_t word = 0;
        size_t n = (size_t)snprintf(text, sizeof text, prologue, 80, 0u, 0u);
        snprintf(text + n, sizeof text - n, "%s\nret;\n}\n", cases[i].body);
        kernel_run run = {
            .text = text, .in = &word, .in_bytes = 8, .out = &word, .out_bytes = 8, .block = cases[i].block};
        run_kernel(&run);
        if (run.status != HD_EXEC_FAULT || !strstr(run.notes, cases[i].note))
            fail_msg("%s: %s; %s", cases[i].body, run.message, run.notes);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_products),  cmocka_unit_test(test_rows_load), cmocka_unit_test(test_rows_store),
        cmocka_unit_test(test_transpose), cmocka_unit_test(test_refusals),  cmocka_unit_test(test_missing_lanes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
