/* cvt and cvt.pack against a reference of its own (formats.h). Sources of 8 and 16 bits are tested whole, others at
 * edges, around midpoints and at random. */
#include "formats.h"
#include "kernel.h"

#include "hwmodel/exec/ops/number.h"

#include <math.h>

/* ---- running ----------------------------------------------------------------------------------------------------- */

enum { MOST = 65536, SLOTS = 5 };
typedef struct inputs {
    uint64_t slots[SLOTS]; /* the sources, then the random bits */
} inputs;
static inputs in[MOST];
static uint64_t out[MOST];

static const char *register_name(char kind, uint32_t number)
{
    static char names[16][16];
    static uint32_t turn;
    char *name = names[turn++ % 16];
    snprintf(name, 16, "%%%s%u", kind == 'x' ? "rd" : kind == 'd' ? "fd" : (char[]){kind, 0}, number);
    return name;
}
static int register_bits(char kind)
{
    return kind == 'c' ? 8 : kind == 'h' ? 16 : kind == 'x' || kind == 'd' ? 64 : 32;
}

/* A module whose kernel converts slots 0.. of element i to out[i]. `sources` are register kinds. */
static const char *module_text(const char *instruction, char d, const char *sources)
{
    static char text[2048];
    char loads[512] = "";
    size_t used = 0;
    for (uint32_t k = 0; sources[k]; k++)
        used += (size_t)snprintf(loads + used, sizeof loads - used, "ld.global.b%d %s, [%%rd2+%u];\n",
                                 register_bits(sources[k]), register_name(sources[k], k + 5), 8 * k);
    snprintf(text, sizeof text,
             ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
             ".reg .b8 %%c<16>;\n.reg .b16 %%h<16>;\n.reg .b32 %%r<16>;\n.reg .b64 %%rd<16>;\n.reg .f32 %%f<16>;\n"
             ".reg .f64 %%fd<16>;\nld.param.u64 %%rd0, [in];\nld.param.u64 %%rd1, [out];\nmov.u32 %%r0, %%tid.x;\n"
             "mov.u32 %%r1, %%ctaid.x;\nmad.lo.u32 %%r0, %%r1, 256, %%r0;\nmad.wide.u32 %%rd2, %%r0, %u, %%rd0;\n"
             "mad.wide.u32 %%rd3, %%r0, 8, %%rd1;\n%s%s\nst.global.b%d [%%rd3], %s;\nret;\n}\n",
             (unsigned)sizeof(inputs), loads, instruction, register_bits(d), register_name(d, 4));
    return text;
}

static void run(const char *instruction, char d, const char *sources, uint32_t count)
{
    memset(out, 0, count * sizeof *out);
    kernel_run r = {.text = module_text(instruction, d, sources),
                    .in = in,
                    .in_bytes = count * sizeof *in,
                    .out = out,
                    .out_bytes = count * sizeof *out,
                    .grid = count / 256,
                    .block = 256};
    run_kernel(&r);
    if (r.status != HD_EXEC_DONE)
        fail_msg("%s: %s", instruction, r.message);
}

static uint64_t cut(uint64_t bits, char kind) { return bits & (~0ull >> (64 - register_bits(kind))); }

/* Runs `modifiers`.to.from on the first `count` inputs and compares. */
static void check_registers(const format *to, const format *from, const char *modifiers, const how *h, uint32_t count,
                            char d, char a)
{
    char instruction[160], sources[8] = {a};
    bool packed = from->count > 1, random = h->rounding == 'S';
    uint32_t n = packed ? 1 : (uint32_t)to->count;
    memset(sources, a, n);
    if (random)
        sources[n] = 'r';
    const char *r = random ? ", %r" : "", *last = random ? (n == 4 ? "9" : n == 2 ? "7" : "6") : "";
    int used = snprintf(instruction, sizeof instruction, "cvt%s.%s.%s %s, %s%s", modifiers, to->name, from->name,
                        register_name(d, 4), n == 4 ? "{" : "", register_name(a, 5));
    for (uint32_t k = 1; k < n; k++)
        used += snprintf(instruction + used, sizeof instruction - (size_t)used, ", %s", register_name(a, 5 + k));
    snprintf(instruction + used, sizeof instruction - (size_t)used, "%s%s%s;", n == 4 ? "}" : "", r, last);
    run(instruction, d, sources, count);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t expected = 0;
        for (int k = 0; k < to->count; k++) {
            int after = to->count - 1 - k;
            how part = *h;
            uint64_t bits = packed ? in[i].slots[0] >> (after * from->spacing) : cut(in[i].slots[k], a);
            part.random =
                (uint32_t)(k < to->count / 2 ? in[i].slots[n] >> 16 : in[i].slots[n]) & ((1u << h->random_bits) - 1);
            expected |= convert(bits, from, to, &part) << (after * to->spacing);
        }
        if (out[i] != cut(expected, d))
            fail_msg("%s of %llx %llx %llx %llx, %llx gives %llx, expected %llx", instruction,
                     (unsigned long long)in[i].slots[0], (unsigned long long)in[i].slots[1],
                     (unsigned long long)in[i].slots[2], (unsigned long long)in[i].slots[3],
                     (unsigned long long)in[i].slots[n], (unsigned long long)out[i],
                     (unsigned long long)cut(expected, d));
    }
}

static void check(int to, int from, const char *modifiers, const how *h, uint32_t count)
{
    check_registers(&formats[to], &formats[from], modifiers, h, count, formats[to].reg, formats[from].reg);
}

/* ---- sources ----------------------------------------------------------------------------------------------------- */

/* Every pattern of the low 16 bits in the first slot; of 8 bits in 256 inputs. */
static uint32_t all_8(void)
{
    for (uint32_t i = 0; i < 256; i++)
        in[i] = (inputs){{i | (uint64_t)(i * 40503u) << 8, 0, 0, 0, 0}};
    return 256;
}

/* Every pattern of 16 bits. */
static uint32_t all_16(void)
{
    for (uint32_t i = 0; i < MOST; i++)
        in[i] = (inputs){{(uint16_t)(i * 40503u), 0, 0, 0, 0}}; /* any part of them is spread over all */
    return MOST;
}

static uint64_t of_real(real x, const format *f)
{
    how nearest = {.rounding = 'N'};
    value v = {0, signbit(x), fabsl(x), 0};
    return encode(v, f, &nearest);
}

/* Patterns of `from` that are hard for `to`: special values, values of `to` and midpoints with their neighbours, random
 * bits, random values in the range of `to`. */
static uint64_t hard_float(const format *from, const format *to, uint32_t turn, uint64_t *state)
{
    static const uint64_t edges[] = {0, 1, 2, 3};
    uint64_t random = unit_random(state), sign = (random >> 62 & 1) << (from->bits - 1);
    uint64_t top = ((1ull << from->exponent) - 1) << from->fraction;
    if (turn < 24)
        return ((turn & 4    ? top
                 : turn & 8  ? 1ull << from->fraction
                 : turn & 16 ? top >> 1
                             : 0) +
                edges[turn & 3] - 1) ^
               (turn & 1 ? sign : 0);
    if (turn % 4 == 0)
        return random;
    if (to->special == '#') { /* around halves, up to beyond the range */
        if (turn % 8 == 3) {  /* where ranges end */
            int power = random & 2 ? to->bits - (int)(random & 1) : (int)(random % 66);
            return (of_real(ldexpl(1, power), from) + turn / 8 % 3 - 1) | sign;
        }
        real whole = floorl(ldexpl((real)(random >> 1), -(int)(unit_random(state) % 66)));
        return (of_real(whole + 0.5L * (real)(turn % 3), from) + turn / 4 % 3 - 1) | sign;
    }
    uint64_t largest = largest_of(to), pattern = turn % 4 == 1 ? largest - random % 8 : random % (largest + 1);
    if (turn % 4 == 2)
        pattern = random % (1ull << (to->fraction + 3)); /* around the subnormals */
    real low = magnitude_of(pattern, to), high = magnitude_of(pattern + 1, to);
    real parts[] = {low, (low + high) / 2, low + (high - low) * 0.3L};
    return (of_real(parts[turn / 4 % 3], from) + turn / 12 % 3 - 1) | sign;
}

static uint64_t hard_integer(const format *from, uint32_t turn, uint64_t *state)
{
    uint64_t random = unit_random(state), bit = 1ull << (unit_random(state) % (uint32_t)from->bits);
    if (turn < 2)
        return turn - 1;
    return turn % 4 == 0 ? random : turn % 4 == 1 ? bit + (random % 5) - 2 : random >> (unit_random(state) % 64);
}

static uint32_t hard(int to, int from, uint32_t count)
{
    uint64_t state = (uint64_t)(to * 100 + from);
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t k = 0; k < 4; k++)
            in[i].slots[k] = formats[from].special == '#'
                                 ? hard_integer(&formats[from], (i + 7 * k) % count, &state)
                                 : hard_float(&formats[from], &formats[to], (i + 7 * k) % count, &state);
        in[i].slots[4] = unit_random(&state);
        uint32_t sources = (uint32_t)(formats[from].count > 1 ? 1 : formats[to].count);
        in[i].slots[sources] = sources < 4 && i % 8 == 0 ? 0xffffffff : in[i].slots[4];
    }
    return count;
}

static uint32_t sources_of(int to, int from, uint32_t count)
{
    int bits = formats[from].bits * formats[from].count;
    return bits <= 8 ? all_8() : bits <= 16 ? all_16() : hard(to, from, count);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static const char *const plain_roundings[] = {".rn", ".rz", ".rm", ".rp"};
static const char *const whole_roundings[] = {".rni", ".rzi", ".rmi", ".rpi"};
static const char letters[] = "NZMP";

/* Every pair of types in every pair of register widths that they fit. */
static void integers_to_integers(void **state)
{
    (void)state;
    for (int to = U8; to < INTEGERS; to++)
        for (int from = U8; from < INTEGERS; from++) {
            uint32_t count = sources_of(to, from, 256);
            for (const char *d = "hrx"; *d; d++)
                for (const char *a = "hrx"; *a; a++)
                    if (register_bits(*d) >= formats[to].bits && register_bits(*a) >= formats[from].bits)
                        check_registers(&formats[to], &formats[from], "", &(how){.rounding = 'N'},
                                        count > 1024 ? 1024 : count, *d, *a);
            value most = decode(~0ull >> (64 - formats[from].bits + formats[from].fraction), &formats[from]);
            value bound = decode(~0ull >> (64 - formats[to].bits + formats[to].fraction), &formats[to]);
            bool signs = formats[from].fraction && !formats[to].fraction;
            if (most.magnitude > bound.magnitude || signs)
                check(to, from, ".sat", &(how){.rounding = 'N', .sat = true}, count);
        }
}

static void integers_to_floats(void **state)
{
    (void)state;
    for (int to = F16; to <= F64; to++)
        for (int from = U8; from < INTEGERS; from++)
            for (int mode = 0; mode < 4; mode++)
                for (int sat = 0; sat < (to == BF16 ? 1 : 2); sat++) {
                    char modifiers[16];
                    how h = {.rounding = letters[mode], .sat = sat};
                    snprintf(modifiers, sizeof modifiers, "%s%s", plain_roundings[mode], sat ? ".sat" : "");
                    uint32_t count = sources_of(to, from, 1024);
                    bool narrow = to == BF16 && formats[from].bits == 8; /* takes registers of 8 bits only */
                    check_registers(&formats[to], &formats[from], modifiers, &h, count, formats[to].reg,
                                    narrow ? 'c' : formats[from].reg);
                }
}

static void floats_to_integers(void **state)
{
    (void)state;
    for (int from = F16; from <= F64; from++)
        for (int to = U8; to < INTEGERS; to++)
            for (int mode = 0; mode < 4; mode++)
                for (int ftz = 0; ftz < (from == F32 ? 2 : 1); ftz++) {
                    char modifiers[16];
                    how h = {.rounding = 'N', .whole = letters[mode], .ftz = ftz, .sat = true};
                    snprintf(modifiers, sizeof modifiers, "%s%s", whole_roundings[mode], ftz ? ".ftz" : "");
                    format wide = formats[to];
                    if (from == BF16 && wide.bits == 8)
                        continue; /* takes registers of 8 bits only: below */
                    check_registers(&wide, &formats[from], modifiers, &h, sources_of(to, from, 2048), wide.reg,
                                    formats[from].reg);
                }
    check_registers(&formats[S8], &formats[BF16], ".rni", &(how){.rounding = 'N', .whole = 'N'}, all_16(), 'c', 'h');
    check_registers(&formats[U8], &formats[BF16], ".rpi", &(how){.rounding = 'N', .whole = 'P'}, all_16(), 'c', 'h');
    check(S32, F32, ".rni.sat", &(how){.rounding = 'N', .whole = 'N'}, hard(S32, F32, 2048));
}

/* Same type: rounded to whole numbers, saturated, flushed. */
static void floats_to_themselves(void **state)
{
    (void)state;
    for (int t = F16; t <= F64; t++)
        for (int mode = 0; mode < 4; mode++)
            for (int sat = 0; sat < (t == BF16 ? 1 : 2); sat++)
                for (int ftz = 0; ftz < (t == F32 ? 2 : 1); ftz++) {
                    char modifiers[24];
                    how h = {.rounding = 'N', .whole = letters[mode], .sat = sat, .ftz = ftz};
                    snprintf(modifiers, sizeof modifiers, "%s%s%s", whole_roundings[mode], ftz ? ".ftz" : "",
                             sat ? ".sat" : "");
                    check(t, t, modifiers, &h, t <= BF16 ? all_16() : hard(S64, t, 2048));
                }
    check(F16, F16, "", &(how){.rounding = 'N'}, all_16());
    check(BF16, BF16, "", &(how){.rounding = 'N'}, all_16());
    check(F16, F16, ".sat", &(how){.rounding = 'N', .sat = true}, all_16());
    check(F32, F32, ".ftz", &(how){.rounding = 'N', .ftz = true}, hard(F32, F32, 4096));
    check(F32, F32, ".sat", &(how){.rounding = 'N', .sat = true}, hard(F16, F32, 4096));
    check(F32, F32, ".ftz.sat", &(how){.rounding = 'N', .ftz = true, .sat = true}, hard(F16, F32, 4096));
    check(F64, F64, ".sat", &(how){.rounding = 'N', .sat = true}, hard(F32, F64, 4096));
}

/* Without modifiers between registers of one type nothing changes, not even a NaN; bf16 to f32 only moves. */
static void moves(void **state)
{
    (void)state;
    uint32_t count = hard(F16, F32, 4096);
    run("cvt.f32.f32 %f4, %f5;", 'f', "f", count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(out[i], in[i].slots[0] & 0xffffffff);
    count = hard(F16, F64, 4096);
    run("cvt.f64.f64 %fd4, %fd5;", 'd', "d", count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(out[i], in[i].slots[0]);
    count = all_16();
    run("cvt.f32.bf16 %f4, %h5;", 'f', "h", count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(out[i], in[i].slots[0] << 16);
}

static void floats_to_wider(void **state)
{
    (void)state;
    for (int sat = 0; sat < 2; sat++) {
        const char *s = sat ? ".sat" : "";
        how h = {.rounding = 'N', .sat = sat}, ftz = {.rounding = 'N', .sat = sat, .ftz = true};
        check(F32, F16, s, &h, all_16());
        check(F32, F16, sat ? ".ftz.sat" : ".ftz", &ftz, all_16());
        check(F64, F16, s, &h, all_16());
        check(F64, F32, s, &h, hard(F16, F32, 8192));
        check(F64, F32, sat ? ".ftz.sat" : ".ftz", &ftz, hard(BF16, F32, 8192));
    }
    check(F64, BF16, "", &(how){.rounding = 'N'}, all_16());
    check(F32, BF16, ".ftz", &(how){.rounding = 'N', .ftz = true}, all_16());
}

static void floats_to_narrower(void **state)
{
    (void)state;
    static const int pairs[][2] = {{F16, F32},  {F16, F64},  {F32, F64}, {BF16, F32},
                                   {BF16, F64}, {BF16, F16}, {F16, BF16}};
    for (uint32_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (int mode = 0; mode < 4; mode++)
            for (int sat = 0; sat < 2; sat++)
                for (int ftz = 0; ftz < 2; ftz++) {
                    int to = pairs[i][0], from = pairs[i][1];
                    bool single = to == F32 || from == F32, brain = to == BF16 || from == BF16;
                    if ((ftz && !single) || (sat && brain))
                        continue;
                    char modifiers[24];
                    how h = {.rounding = letters[mode], .sat = sat, .ftz = ftz};
                    snprintf(modifiers, sizeof modifiers, "%s%s%s", plain_roundings[mode], ftz ? ".ftz" : "",
                             sat ? ".sat" : "");
                    check(to, from, modifiers, &h, sources_of(to, from, 8192));
                }
    check(BF16, F16, "", &(how){.rounding = 'N'}, all_16());
    check(F16, BF16, "", &(how){.rounding = 'N'}, all_16());
}

/* .relu and .satfinite, on single values and pairs. */
static void limited(void **state)
{
    (void)state;
    static const int targets[] = {F16, BF16, TF32, F16X2, BF16X2};
    for (uint32_t i = 0; i < 5; i++)
        for (int mode = 0; mode < 2; mode++)
            for (int extra = 0; extra < 4; extra++) {
                char modifiers[32];
                how h = {.rounding = letters[mode], .finite = extra & 1, .relu = extra & 2};
                snprintf(modifiers, sizeof modifiers, "%s%s%s", plain_roundings[mode], extra & 2 ? ".relu" : "",
                         extra & 1 ? ".satfinite" : "");
                check(targets[i], F32, modifiers, &h, hard(targets[i], F32, 8192));
            }
    check(TF32, F32, ".rna", &(how){.rounding = 'A'}, hard(TF32, F32, 8192));
    check(TF32, F32, ".rna.satfinite", &(how){.rounding = 'A', .finite = true}, hard(TF32, F32, 8192));
}

/* Frequent pairs of formats have loops, which do not ask for all of it. */
static void formats_are_those_of_the_reference(void **state)
{
    uint32_t found = 0;
    (void)state;
    for (uint32_t type = 0; type < HD_TYPE_COUNT; type++)
        for (uint32_t i = INTEGERS; i < FORMATS; i++) {
            const format *f = &formats[i];
            if (strcmp(hd_types[type].spelling, f->name))
                continue;
            const hd_format got = hd_format_of((hd_type)type);
            assert_int_equal(got.exponent_bits, f->exponent);
            assert_int_equal(got.fraction_bits, f->fraction);
            assert_int_equal(got.low_zeros, f->zeros);
            assert_int_equal(got.bits, f->bits);
            assert_int_equal(got.count, f->count);
            assert_int_equal(got.spacing, f->spacing);
            assert_int_equal(got.nan, f->nan);
            found++;
        }
    assert_int_equal(found, FORMATS - INTEGERS);
}

/* Formats with bits that are always zero, without the loop that instructions have for them. */
static void numbers_with_low_zeros(void **state)
{
    (void)state;
    const hd_format single = hd_format_of(HD_TYPE_F32), tensor = hd_format_of(HD_TYPE_TF32);
    for (uint32_t i = 0, count = hard(TF32, F32, 8192); i < count; i++) {
        uint64_t bits = (uint32_t)in[i].slots[0];
        hd_number n = hd_number_load(bits, &single);
        uint64_t nearest = hd_number_store(n, &tensor, HD_ROUND_NEAREST_EVEN, (hd_random){0, 0}, false);
        uint64_t away = hd_number_store(n, &tensor, HD_ROUND_NEAREST_AWAY, (hd_random){0, 0}, true);
        assert_int_equal(nearest, convert(bits, &formats[F32], &formats[TF32], &(how){.rounding = 'N'}));
        assert_int_equal(away, convert(bits, &formats[F32], &formats[TF32], &(how){.rounding = 'A', .finite = true}));
        hd_number again = hd_number_load(nearest, &tensor); /* they are numbers of f32, too */
        assert_int_equal(again.kind, hd_number_load(nearest, &single).kind);
        if (n.kind != HD_NUMBER_NAN)
            assert_int_equal(hd_number_store(again, &single, HD_ROUND_ZERO, (hd_random){0, 0}, false), nearest);
    }
}

static void small_formats(void **state)
{
    (void)state;
    for (int relu = 0; relu < 2; relu++) {
        how h = {.rounding = 'N', .finite = true, .relu = relu};
        const char *modifiers = relu ? ".rn.satfinite.relu" : ".rn.satfinite";
        for (int to = E4M3X2; to <= E2M1X2; to++) {
            check(to, F32, modifiers, &h, hard(to, F32, 8192));
            if (to <= E5M2X2 || to == E2M1X2) { /* each half through all values */
                uint32_t count = all_16();
                for (uint32_t i = 0; i < count; i++)
                    in[i].slots[0] = i | (uint64_t)(uint16_t)(i * 40503u) << 16;
                check(to, F16X2, modifiers, &h, count);
            }
            check(F16X2, to, relu ? ".rn.relu" : ".rn", &(how){.rounding = 'N', .relu = relu}, all_16());
        }
    }
}

static void scales(void **state)
{
    (void)state;
    for (int finite = 0; finite < 2; finite++)
        for (int up = 0; up < 2; up++) {
            how h = {.rounding = up ? 'P' : 'Z', .finite = finite};
            char modifiers[24];
            snprintf(modifiers, sizeof modifiers, "%s%s", up ? ".rp" : ".rz", finite ? ".satfinite" : "");
            check(UE8M0X2, F32, modifiers, &h, hard(UE8M0X2, F32, 4096));
            uint32_t count = all_16();
            for (uint32_t i = 0; i < count; i++)
                in[i].slots[0] = i | (uint64_t)(uint16_t)(i * 40503u) << 16;
            check(UE8M0X2, BF16X2, modifiers, &h, count);
        }
    check(BF16X2, UE8M0X2, ".rn", &(how){.rounding = 'N'}, all_16());
}

static void random_rounding(void **state)
{
    (void)state;
    static const int targets[] = {F16X2, BF16X2, E4M3X4, E5M2X4, E2M3X4, E3M2X4};
    for (uint32_t i = 0; i < 6; i++)
        for (int extra = 0; extra < 4; extra++) {
            char modifiers[32];
            how h = {.rounding = 'S', .finite = extra & 1, .relu = extra & 2, .random_bits = i ? 16 : 13};
            if (i > 1 && !h.finite)
                continue;
            snprintf(modifiers, sizeof modifiers, ".rs%s%s", extra & 2 ? ".relu" : "", extra & 1 ? ".satfinite" : "");
            check(targets[i], F32, modifiers, &h, hard(targets[i], F32, 8192));
        }
}

static void packing(void **state)
{
    (void)state;
    static const struct {
        const char *type;
        uint32_t width;
        bool is_signed;
    } rows[] = {{"u16", 16, 0}, {"s16", 16, 1}, {"u8", 8, 0}, {"s8", 8, 1},
                {"u4", 4, 0},   {"s4", 4, 1},   {"u2", 2, 0}, {"s2", 2, 1}};
    for (uint32_t i = 0; i < 8; i++) {
        char instruction[96];
        bool three = rows[i].width < 16;
        uint32_t count = hard(rows[i].is_signed ? S8 : U8, S32, 4096), width = rows[i].width;
        int64_t most = (1ll << (width - rows[i].is_signed)) - 1, least = rows[i].is_signed ? -most - 1 : 0;
        snprintf(instruction, sizeof instruction, "cvt.pack.sat.%s.s32%s %%r4, %%r5, %%r6%s;", rows[i].type,
                 three ? ".b32" : "", three ? ", %r7" : "");
        run(instruction, 'r', three ? "rrr" : "rr", count);
        for (uint32_t k = 0; k < count; k++) {
            int64_t a = (int32_t)in[k].slots[0], b = (int32_t)in[k].slots[1];
            uint64_t high = (uint64_t)(a < least ? least : a > most ? most : a) & ((1u << width) - 1);
            uint64_t low = (uint64_t)(b < least ? least : b > most ? most : b) & ((1u << width) - 1);
            uint64_t rest = three ? in[k].slots[2] << (2 * width) : 0;
            assert_int_equal(out[k], (rest | high << width | low) & 0xffffffff);
        }
    }
}

/* Lanes whose guard does not hold keep what they had, in loops over rows and lane by lane. */
static void guarded(void **state)
{
    (void)state;
    static const char *const instructions[] = {"cvt.rn.f16x2.f32", "cvt.rz.f16x2.f32"};
    for (uint32_t i = 0; i < 2; i++) {
        char body[256];
        uint32_t count = hard(F16X2, F32, 256);
        snprintf(body, sizeof body,
                 ".reg .pred %%p<2>;\nmov.u32 %%r4, 77;\nand.b32 %%r2, %%r0, 5;\nsetp.eq.u32 %%p1, %%r2, 5;\n@%%p1 %s "
                 "%%r4, %%f5, 0f40490fdb;",
                 instructions[i]);
        run(body, 'r', "f", count);
        how h = {.rounding = i ? 'Z' : 'N'};
        for (uint32_t k = 0; k < count; k++) {
            uint64_t converted = convert(in[k].slots[0], &formats[F32], &formats[F16], &h) << 16 | 0x4248;
            assert_int_equal(out[k], (k & 5) == 5 ? converted : 77);
        }
    }
}

/* Subnormals on targets before sm_20: zero, but not to or from 64 bits in PTX up to 1.4. */
static void old_targets(void **state)
{
    (void)state;
    static const struct {
        const char *version, *instruction;
        char d;
        uint64_t subnormal;
    } rows[] = {{"1.3", "cvt.f32.f32 %f4, %f5;", 'f', 0},      {"1.5", "cvt.f32.f32 %f4, %f5;", 'f', 0},
                {"1.4", "cvt.rpi.s32.f32 %r4, %f5;", 'r', 0},  {"1.4", "cvt.rpi.s64.f32 %rd4, %f5;", 'x', 1},
                {"1.5", "cvt.rpi.s64.f32 %rd4, %f5;", 'x', 0}, {"1.4", "cvt.f64.f32 %fd4, %f5;", 'd', 0x36a0ull << 48},
                {"1.5", "cvt.f64.f32 %fd4, %f5;", 'd', 0},     {"1.4", "cvt.rpi.s64.ftz.f32 %rd4, %f5;", 'x', 0},
                {"2.0", "cvt.rp.f16.f32 %h4, %f5;", 'h', 0}};
    for (uint32_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 ".version %s\n.target sm_13\n.entry k(.param .u64 in, .param .u64 out)\n{\n.reg .b16 %%h<8>;\n"
                 ".reg .b32 %%r<8>;\n.reg .b64 %%rd<8>;\n.reg .f32 %%f<8>;\n.reg .f64 %%fd<8>;\n"
                 "ld.param.u64 %%rd1, [out];\nmov.b32 %%f5, 1;\n%s\nst.global.b%d [%%rd1], %s;\nret;\n}\n",
                 rows[i].version, rows[i].instruction, register_bits(rows[i].d), register_name(rows[i].d, 4));
        out[0] = 0;
        kernel_run r = {.text = text, .in = in, .in_bytes = 8, .out = out, .out_bytes = 8, .block = 1};
        run_kernel(&r);
        if (r.status != HD_EXEC_DONE || out[0] != rows[i].subnormal)
            fail_msg("PTX %s: %s gives %llx; %s", rows[i].version, rows[i].instruction, (unsigned long long)out[0],
                     r.message);
    }
}

/* What nobody documents is refused by name, not guessed. */
static void refused(void **state)
{
    (void)state;
    kernel_run r = {.text = module_text("cvt.rs.satfinite.e2m1x4.f32 %h4, {%f5, %f6, %f7, %f8}, %r5;", 'h', "ffff"),
                    .in = in,
                    .in_bytes = sizeof in,
                    .out = out,
                    .out_bytes = sizeof out};
    run_kernel(&r);
    assert_int_equal(r.status, HD_EXEC_UNSUPPORTED);
    assert_non_null(strstr(r.message, "cvt.rs.satfinite.e2m1x4.f32"));
    assert_non_null(strstr(r.message, "random bits"));
}

/* ---- wider registers --------------------------------------------------------------------------------------------- */

static uint64_t extended(uint64_t bits, uint32_t width, bool is_signed)
{
    uint32_t unused = 64 - width;
    return is_signed ? (uint64_t)((int64_t)(bits << unused) >> unused) : bits << unused >> unused;
}

/* All integer types into registers of at least their width, up to 128 bits: the result is extended as its type says. */
static void integers_into_wider_registers(void **state)
{
    enum { PAIRS = 8 * 8 * 4, LANES = 32 };
    static char text[PAIRS * 128];
    static uint64_t values[LANES], wide[PAIRS][LANES][2];
    uint64_t random = 5;
    size_t used = (size_t)snprintf(
        text, sizeof text,
        ".version 8.8\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 in, .param .u64 out)\n{\n"
        ".reg .b16 %%h0;\n.reg .b32 %%w0;\n.reg .b64 %%x0;\n.reg .b128 %%q0;\n.reg .b32 %%r0;\n.reg .b64 %%rd<9>;\n"
        "ld.param.u64 %%rd0, [in];\nld.param.u64 %%rd1, [out];\nmov.u32 %%r0, %%tid.x;\n"
        "mad.wide.u32 %%rd2, %%r0, 8, %%rd0;\nmad.wide.u32 %%rd3, %%r0, 16, %%rd1;\nld.global.b64 %%rd4, [%%rd2];\n");
    (void)state;
    for (uint32_t i = 0; i < LANES; i++) { /* edges of 8, 16, 32 and 64 bits, and others */
        uint64_t bit = 1ull << (i % 4 == 3 ? 63 : (8u << i % 4) - 1);
        values[i] = i < 4 ? bit : i < 8 ? bit - 1 : i < 12 ? ~bit : i == 12 ? ~0ull : unit_random(&random) >> i;
    }
    for (uint32_t k = 0; k < PAIRS; k++) {
        uint32_t to = 8u << k % 4, from = 8u << k / 8 % 4, at = k * LANES * 16, width = 16u << k / 64;
        if (width >= to)
            used += (size_t)snprintf(text + used, sizeof text - used,
                                     "cvt.%c%u.%c%u %%%c0, %%rd4;\n%sst.global.%s [%%rd3+%u], %s;\n", k & 4 ? 's' : 'u',
                                     to, k & 32 ? 's' : 'u', from, "hwxq"[k / 64],
                                     width == 128 ? "mov.b128 {%rd5, %rd6}, %q0;\n" : "",
                                     (const char *[]){"b16", "b32", "b64", "v2.b64"}[k / 64], at,
                                     (const char *[]){"%h0", "%w0", "%x0", "{%rd5, %rd6}"}[k / 64]);
    }
    snprintf(text + used, sizeof text - used, "ret;\n}\n");
    kernel_run r = {.text = text,
                    .in = values,
                    .in_bytes = sizeof values,
                    .out = wide,
                    .out_bytes = sizeof wide,
                    .grid = 1,
                    .block = LANES};
    run_kernel(&r);
    if (r.status != HD_EXEC_DONE)
        fail_msg("line %u: %s", r.line, r.message);
    for (uint32_t k = 0; k < PAIRS; k++)
        for (uint32_t i = 0; i < LANES; i++) {
            uint32_t to = 8u << k % 4, width = 16u << k / 64;
            uint64_t result = extended(extended(values[i], 8u << k / 8 % 4, k & 32), to, k & 4);
            uint64_t low = width < 64 ? extended(result, width, false) : result;
            if (width >= to &&
                (wide[k][i][0] != low || wide[k][i][1] != (width == 128 && k & 4 ? 0 - (result >> 63) : 0)))
                fail_msg("conversion %u of %llx gives %llx, %llx", k, (unsigned long long)values[i],
                         (unsigned long long)wide[k][i][0], (unsigned long long)wide[k][i][1]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(integers_to_integers),
        cmocka_unit_test(integers_into_wider_registers),
        cmocka_unit_test(integers_to_floats),
        cmocka_unit_test(floats_to_integers),
        cmocka_unit_test(floats_to_themselves),
        cmocka_unit_test(moves),
        cmocka_unit_test(floats_to_wider),
        cmocka_unit_test(floats_to_narrower),
        cmocka_unit_test(limited),
        cmocka_unit_test(formats_are_those_of_the_reference),
        cmocka_unit_test(numbers_with_low_zeros),
        cmocka_unit_test(small_formats),
        cmocka_unit_test(scales),
        cmocka_unit_test(random_rounding),
        cmocka_unit_test(packing),
        cmocka_unit_test(guarded),
        cmocka_unit_test(old_targets),
        cmocka_unit_test(refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
