/* Evaluates random programs one thread at a time. Shares no code with the interpreter: 128-bit integers, libm and the
 * host's rounding modes, 16-bit floats in fixed point. */
#include "program.h"
#include "unit.h"
#include <fenv.h>
#include <math.h>

typedef __int128 I128;

/* ---- numbers ----------------------------------------------------------------------------------------------------- */

#define S16(x) ((int16_t)(x))
#define S32(x) ((int32_t)(x))
#define S64(x) ((int64_t)(x))

static float F32(uint64_t bits)
{
    uint32_t low = (uint32_t)bits;
    float f;
    memcpy(&f, &low, 4);
    return f;
}
static double F64(uint64_t bits)
{
    double d;
    memcpy(&d, &bits, 8);
    return d;
}
static uint64_t bits32(float f)
{
    uint32_t bits;
    memcpy(&bits, &f, 4);
    return f != f ? 0x7fffffff : bits;
}
static uint64_t bits64(double d)
{
    uint64_t bits;
    memcpy(&bits, &d, 8);
    return bits;
}
static uint64_t flush(uint64_t a) { return (a & 0x7f800000) ? a : a & 0x80000000; }
static uint64_t unit(uint64_t a) { return F32(a) >= 1 ? 0x3f800000 : F32(a) > 0 ? a : 0; }

static uint64_t clamp(I128 v, uint32_t bits)
{
    I128 most = ((I128)1 << (bits - 1)) - 1;
    return (uint64_t)(v > most ? most : v < -most - 1 ? -most - 1 : v);
}
static int64_t low_signed(uint64_t v, uint32_t bits)
{
    int64_t low = (int64_t)(v % (1ull << bits));
    return low >= 1ll << (bits - 1) ? low - (1ll << bits) : low;
}
static I128 distance(I128 a, I128 b) { return a > b ? a - b : b - a; }
static uint32_t bit_length(uint64_t v)
{
    uint32_t n = 0;
    for (; v; v /= 2)
        n++;
    return n;
}
static uint32_t count_ones(uint64_t v)
{
    uint32_t n = 0;
    for (; v; v /= 2)
        n += v % 2;
    return n;
}
static uint64_t mirror(uint64_t v, uint32_t bits)
{
    uint64_t out = 0;
    for (uint32_t i = 0; i < bits; i++)
        out = out * 2 + (v >> i) % 2;
    return out;
}
/* Bit by bit, as bfe is defined; of 64 bits, as ptxas has it: position and length are not taken modulo 256. */
static uint64_t field(uint64_t v, uint64_t position, uint64_t length, uint32_t width, bool is_signed)
{
    uint64_t kept = width == 64 ? 0xffffffff : 255, at = position & kept, n = length & kept;
    uint64_t top = at + n - 1 < width - 1 ? at + n - 1 : width - 1;
    uint64_t sign = is_signed && n ? v >> top & 1 : 0, out = 0;
    for (uint32_t i = 0; i < width; i++)
        out |= (i < n && at + i < width ? v >> (at + i) & 1 : sign) << i;
    return out;
}
static uint64_t put_field(uint64_t from, uint64_t into, uint64_t position, uint32_t n, uint32_t width)
{
    uint32_t at = position & 255;
    for (uint32_t i = 0; i < n && at + i < width; i++)
        into = (into & ~(1ull << (at + i))) | (from >> i & 1) << (at + i);
    return into;
}
static uint64_t ones(uint64_t position, uint64_t length)
{
    uint64_t out = 0;
    for (uint64_t i = position; i < 32 && i - position < length; i++)
        out |= 1ull << i;
    return out;
}
static uint64_t pick_bytes(uint64_t a, uint64_t b, uint64_t selectors)
{
    unsigned char bytes[8];
    uint64_t both = b << 32 | a, out = 0;
    memcpy(bytes, &both, 8);
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t s = selectors >> (4 * i) & 15, byte = bytes[s % 8];
        out |= (uint64_t)(s < 8 ? byte : byte > 127 ? 255 : 0) << (8 * i);
    }
    return out;
}
static uint64_t dot(uint64_t a, uint64_t b, uint64_t c, uint32_t parts, bool a_signed, bool b_signed)
{
    I128 sum = (I128)c;
    uint32_t width = 32 / parts;
    for (uint32_t i = 0; i < parts; i++) {
        uint64_t x = a >> (i * width) & ((1ull << width) - 1), y = b >> (8 * i) & 255;
        sum += (a_signed ? (I128)low_signed(x, width) : (I128)x) * (b_signed ? (I128)low_signed(y, 8) : (I128)y);
    }
    return (uint64_t)sum;
}

/* Results under a rounding mode; volatile keeps the operation between the two changes of the mode. */
#define ROUNDED(type, mode, expression)  \
    fesetround(mode);                    \
    volatile type result = (expression); \
    fesetround(FE_TONEAREST)
static uint64_t f32_add(uint64_t a, uint64_t b, int mode)
{
    volatile float x = F32(a), y = F32(b);
    ROUNDED(float, mode, x + y);
    return bits32(result);
}
static uint64_t f32_mul(uint64_t a, uint64_t b, int mode)
{
    volatile float x = F32(a), y = F32(b);
    ROUNDED(float, mode, x *y);
    return bits32(result);
}
static uint64_t f32_div(uint64_t a, uint64_t b, int mode)
{
    volatile float x = F32(a), y = F32(b);
    ROUNDED(float, mode, x / y);
    return bits32(result);
}
static uint64_t f32_fma(uint64_t a, uint64_t b, uint64_t c, int mode)
{
    volatile float x = F32(a), y = F32(b), z = F32(c);
    ROUNDED(float, mode, fmaf(x, y, z));
    return bits32(result);
}
/* Zero of its sign where the exact result, rounded to 24 bits, is below the smallest normal number. In double precision
 * a product is exact; a fused sum is where it is near that number. */
static uint64_t flush_result(double exact, uint64_t rounded)
{
    return fabs(exact) < 0x1.ffffffp-127 ? rounded & 0x80000000 : rounded;
}
static uint64_t f32_mul_ftz(uint64_t a, uint64_t b)
{
    return flush_result((double)F32(a) * (double)F32(b), f32_mul(a, b, FE_TONEAREST));
}
static uint64_t f32_fma_ftz(uint64_t a, uint64_t b, uint64_t c)
{
    return flush_result(fma(F32(a), F32(b), F32(c)), f32_fma(a, b, c, FE_TONEAREST));
}
static uint64_t f32_sqrt(uint64_t a, int mode)
{
    volatile float x = F32(a);
    ROUNDED(float, mode, sqrtf(x));
    return bits32(result);
}
static uint64_t f32_narrow(uint64_t a, int mode)
{
    volatile double x = F64(a);
    ROUNDED(float, mode, (float)x);
    return bits32(result);
}
static uint64_t f32_of(int64_t v, int mode)
{
    volatile int64_t x = v;
    ROUNDED(float, mode, (float)x);
    return bits32(result);
}
static uint64_t f64_of(int64_t v, int mode)
{
    volatile int64_t x = v;
    ROUNDED(double, mode, (double)x);
    return bits64(result);
}
static uint64_t f64_op(char op, uint64_t a, uint64_t b, uint64_t c, int mode)
{
    volatile double x = F64(a), y = F64(b), z = F64(c);
    ROUNDED(double, mode,
            op == '+'   ? x + y
            : op == '*' ? x * y
            : op == '/' ? x / y
            : op == 's' ? sqrt(x)
                        : fma(x, y, z));
    return bits64(result);
}
static uint64_t f32_extreme(uint64_t a, uint64_t b, bool larger)
{
    float x = F32(a), y = F32(b);
    if (x != x || y != y)
        return x != x ? bits32(y) : bits32(x);
    if (x == y)
        return larger ? a & b : a | b; /* zeros of both signs */
    return (x < y) != larger ? a : b;
}
/* A float as an integer: rounded, clamped; NaN to 0 from f32 to 32 bits, else to the number with the top bit alone. */
static uint64_t whole(double v, bool from_f64, int mode, uint32_t bits, bool is_signed)
{
    double low = is_signed ? -ldexp(1, (int)bits - 1) : 0, high = ldexp(1, (int)bits - is_signed);
    if (v != v)
        return from_f64 || bits == 64 ? 1ull << (bits - 1) : 0;
    fesetround(mode);
    volatile double x = v, rounded = nearbyint(x);
    fesetround(FE_TONEAREST);
    if (rounded >= high)
        return is_signed ? (1ull << (bits - 1)) - 1 : ~0ull;
    return rounded <= low ? (uint64_t)(I128)low : (uint64_t)(I128)rounded;
}

/* 16-bit floats: finite values are whole multiples of 2^-24; products and sums of such, of 2^-48. */
static bool f16_special(uint64_t h) { return (h >> 10 & 31) == 31; }
static I128 f16_fixed(uint64_t h)
{
    uint32_t exponent = h >> 10 & 31, fraction = h & 0x3ff;
    I128 v = exponent ? (I128)(fraction | 0x400) << (exponent - 1) : (I128)fraction;
    return h >> 15 & 1 ? -v : v;
}
/* v * 2^-48 to nearest even; a zero has the sign given. */
static uint64_t f16_round(I128 v, bool negative_zero)
{
    uint64_t sign = v ? (v < 0) << 15 : negative_zero << 15;
    I128 magnitude = v < 0 ? -v : v;
    uint32_t shift = 24; /* so that a unit is 2^-24 */
    while (magnitude >> shift >= 2048)
        shift++;
    I128 kept = magnitude >> shift, rest = magnitude - (kept << shift), half = (I128)1 << (shift - 1);
    kept += rest > half || (rest == half && kept % 2);
    if (kept == 2048) {
        kept = 1024;
        shift++;
    }
    uint32_t exponent = shift - 24 + (kept >= 1024);
    if (exponent >= 31)
        return sign | 0x7c00;
    return sign | exponent << 10 | ((uint64_t)kept & 0x3ff);
}
static float f16_value(uint64_t h)
{
    if (!f16_special(h))
        return ldexpf((float)(h & 0x8000 ? -f16_fixed(h) : f16_fixed(h)), -24) * (h & 0x8000 ? -1.0f : 1.0f);
    return h & 0x3ff ? NAN : h & 0x8000 ? -INFINITY : INFINITY;
}
static uint64_t f16_of(float f)
{
    if (f != f)
        return 0x7fff;
    if (fabsf(f) >= 65536)
        return 0x7c00 | (f < 0) << 15;
    /* Below 2^-48 nothing but a sticky bit matters. */
    double scaled = ldexp((double)f, 48), floor_of = trunc(scaled);
    return f16_round(((I128)floor_of * 2 + (floor_of != scaled ? (f < 0 ? -1 : 1) : 0)) / 2, signbit(f) != 0);
}
static uint64_t f16_fma(uint64_t a, uint64_t b, uint64_t c)
{
    if (f16_special(a) || f16_special(b) || f16_special(c)) {
        float v = f16_value(a) * f16_value(b) + f16_value(c);
        return v != v ? 0x7fff : v < 0 ? 0xfc00 : 0x7c00;
    }
    I128 product = f16_fixed(a) * f16_fixed(b), sum = product + f16_fixed(c) * (1 << 24);
    bool product_negative = (a ^ b) >> 15 & 1, c_negative = c >> 15 & 1;
    bool both_zero = !product && !f16_fixed(c);
    return f16_round(sum, both_zero && product_negative && c_negative);
}
static uint64_t f16_mul(uint64_t a, uint64_t b)
{
    if (f16_special(a) || f16_special(b)) {
        float v = f16_value(a) * f16_value(b);
        return v != v ? 0x7fff : v < 0 ? 0xfc00 : 0x7c00;
    }
    return f16_round(f16_fixed(a) * f16_fixed(b), (a ^ b) >> 15 & 1);
}

/* ---- one thread -------------------------------------------------------------------------------------------------- */

typedef struct thread {
    uint64_t v[KINDS][16];
    uint32_t local[LOCALS];
    bool exited;
} thread;

typedef struct machine {
    const program *p;
    thread threads[96];
    uint32_t cells[CELLS];
    uint64_t slots[96]; /* through which they swap */
} machine;

typedef enum flow { GO_ON, BREAK, CONTINUE, EXIT } flow;

static uint64_t compute(uint32_t op, uint64_t a, uint64_t b, uint64_t c)
{
    (void)a, (void)b, (void)c;
    switch ((program_op)op) {
#define OP(id, opcode, suffix, D, A, B, C, expression) \
    case PROGRAM_##id:                                 \
        return (uint64_t)(expression);
#include "program_ops.def"
#undef OP
    case PROGRAM_OPS: break;
    }
    return 0;
}

static bool guarded(const thread *t, const program_node *n)
{
    return n->guard == NO_GUARD || (t->v[KIND_P][n->guard] != 0) != n->guard_not;
}

const uint64_t program_masks[KINDS] = {0, 0xffff, 0xffffffff, ~0ull, 0xffffffff, ~0ull, 1};

uint64_t program_compute(uint32_t op, const uint64_t s[3])
{
    return compute(op, s[0], s[1], s[2]) & program_masks[program_ops[op].d];
}

static void do_op(thread *t, const program_node *n)
{
    const program_op_info *op = &program_ops[n->op];
    uint64_t s[3] = {0};
    for (uint32_t i = 0; i < 3 && op->kinds[i]; i++)
        s[i] = n->is_immediate >> i & 1 ? n->immediate[i] : t->v[op->kinds[i]][n->s[i]];
    t->v[op->d][n->d] = program_compute(n->op, s);
}

static flow run_list(machine *m, thread *t, const program_list *list);

static flow do_loop(machine *m, thread *t, const program_node *n)
{
    uint32_t left = t->v[KIND_R][n->s[0]] & 7;
    if (n->op && !left)
        left = 1;
    for (; left; left--) {
        flow f = run_list(m, t, &n->lists[0]);
        if (f == EXIT)
            return EXIT;
        if (f == BREAK)
            break;
    }
    return GO_ON;
}

static flow do_switch(machine *m, thread *t, const program_node *n, uint32_t place)
{
    uint32_t list = n->guard == NO_GUARD || guarded(t, n) ? program_case(n, place) : 0;
    return list < 4 ? run_list(m, t, &n->lists[list]) : GO_ON;
}

static flow run_node(machine *m, thread *t, const program_node *n)
{
    uint64_t *r = t->v[KIND_R], a = r[n->s[0] % WORDS], b = r[n->s[1] % WORDS];
    switch ((program_kind)n->kind) {
    case DO_OP:
        if (guarded(t, n))
            do_op(t, n);
        return GO_ON;
    case DO_IF: return run_list(m, t, &n->lists[t->v[KIND_P][n->s[0]] ? 0 : 1]);
    case DO_LOOP: return do_loop(m, t, n);
    case DO_SWITCH: return do_switch(m, t, n, a >> 5 & 3);
    case DO_BREAK: return guarded(t, n) ? BREAK : GO_ON;
    case DO_CONTINUE: return guarded(t, n) ? CONTINUE : GO_ON;
    case DO_EXIT: t->exited = guarded(t, n); return t->exited ? EXIT : GO_ON;
    case DO_LOAD: r[n->d] = m->p->inputs[a % INPUTS]; return GO_ON;
    case DO_TIME: r[n->d] = (uint32_t)(m->p->inputs[a % INPUTS] + b); return GO_ON;
    case DO_LOCAL_STORE: t->local[a % LOCALS] = (uint32_t)b; return GO_ON;
    case DO_LOCAL_LOAD: r[n->d] = t->local[a % LOCALS]; return GO_ON;
    case DO_CALL: r[n->d] = (uint32_t)(a & 16 ? a * 5 + 3 : a ^ 0x1234567); return GO_ON;
    case DO_ADD_CELL: m->cells[a % CELLS] += (uint32_t)b; return GO_ON;
    default: fail_msg("a node for all threads is run by one"); return EXIT;
    }
}

static flow run_list(machine *m, thread *t, const program_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        flow f = run_node(m, t, &m->p->nodes[list->items[i]]);
        if (f != GO_ON)
            return f;
    }
    return GO_ON;
}

/* ---- the threads of a warp together ------------------------------------------------------------------------------ */

static uint32_t living(const thread *warp)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < 32; i++)
        lanes |= (uint32_t)!warp[i].exited << i;
    return lanes;
}

static void shuffle(thread *warp, const program_node *n)
{
    uint64_t old[32];
    int32_t by = (int32_t)n->immediate[0];
    for (uint32_t i = 0; i < 32; i++)
        old[i] = warp[i].v[KIND_R][n->s[0]];
    for (int32_t i = 0; i < 32; i++) {
        int32_t from = n->op == 0 ? i - by : n->op == 1 ? i + by : n->op == 2 ? i ^ by : by;
        bool inside = from >= 0 && from < 32;
        warp[i].v[KIND_R][n->d] = old[inside && !warp[from].exited ? from : i];
        warp[i].v[KIND_P][1] = inside;
    }
}

static void vote(thread *warp, const program_node *n)
{
    uint64_t ballot = 0, lanes = living(warp);
    for (uint32_t i = 0; i < 32; i++)
        ballot |= (lanes >> i & warp[i].v[KIND_P][n->immediate[0] % PREDICATES]) << i;
    bool all = ballot == lanes, any = ballot != 0;
    for (uint32_t i = 0; i < 32; i++) {
        if (n->op == 3)
            warp[i].v[KIND_R][n->d] = ballot;
        else
            warp[i].v[KIND_P][2] = n->op == 0 ? all : n->op == 1 ? any : all || !any;
    }
}

static void match(thread *warp, const program_node *n)
{
    uint64_t key[32], lanes = living(warp);
    for (uint32_t i = 0; i < 32; i++)
        key[i] = warp[i].v[KIND_R][n->s[0]] & 3;
    for (uint32_t i = 0; i < 32; i++) {
        uint64_t same = 0;
        for (uint32_t k = 0; k < 32; k++)
            same |= (uint64_t)(key[k] == key[i] && !warp[k].exited) << k;
        if (n->op & 1) {
            warp[i].v[KIND_R][n->d] = same == lanes ? same : 0;
            warp[i].v[KIND_P][3] = same == lanes;
        } else {
            warp[i].v[KIND_R][n->d] = same;
        }
    }
}

static void reduce(thread *warp, const program_node *n)
{
    uint64_t out = 0;
    bool any = false;
    for (uint32_t i = 0; i < 32; i++) {
        uint64_t b = warp[i].v[KIND_R][n->s[0]];
        if (warp[i].exited)
            continue;
        if (!any)
            out = b;
        else
            out = n->op == 0   ? out + b
                  : n->op == 1 ? (S32(b) < S32(out) ? b : out)
                  : n->op == 2 ? (b > out ? b : out)
                               : out ^ b;
        any = true;
    }
    for (uint32_t i = 0; i < 32; i++)
        warp[i].v[KIND_R][n->d] = (uint32_t)out;
}

static void swap(machine *m, const program_node *n)
{
    for (uint32_t t = 0; t < m->p->threads; t++)
        if (!m->threads[t].exited)
            m->slots[t] = m->threads[t].v[KIND_R][n->s[0]];
    for (uint32_t t = 0; t < m->p->threads; t++)
        m->threads[t].v[KIND_R][n->d] = m->slots[(t * 5 + n->immediate[0]) % m->p->threads];
}

/* The lanes of one side: a sum, a vote, and the value of the lowest lane, added up. */
static void exchange_side(thread *warp, const program_node *n, uint32_t named)
{
    uint32_t lanes = named & living(warp);
    uint32_t sum = 0, ballot = 0, first = 0;
    for (uint32_t i = 0; i < 32; i++)
        sum += lanes >> i & 1 ? (uint32_t)warp[i].v[KIND_R][n->s[1]] : 0;
    for (uint32_t i = 0; i < 32; i++)
        ballot |= (lanes >> i & 1 & (uint32_t)warp[i].v[KIND_P][0]) << i;
    for (uint32_t i = 0; i < 32; i++)
        if (lanes >> i & 1)
            warp[i].v[KIND_R][n->d] = (uint32_t)((warp[i].v[KIND_R][n->d] ^ sum) + ballot);
    uint64_t value[32];
    while (!(named >> first & 1))
        first++;
    for (uint32_t i = 0; i < 32; i++)
        value[i] = warp[warp[first].exited ? i : first].v[KIND_R][n->s[1]];
    for (uint32_t i = 0; i < 32; i++)
        if (lanes >> i & 1)
            warp[i].v[KIND_R][n->d] = (uint32_t)(warp[i].v[KIND_R][n->d] + value[i]);
}

static void partial(machine *m, thread *warp, const program_node *n)
{
    uint32_t chosen = 0;
    for (uint32_t i = 0; i < 32; i++)
        chosen |= (uint32_t)(warp[i].v[KIND_P][n->s[0]] && !warp[i].exited) << i;
    for (uint32_t side = 0; side < 2; side++) {
        uint32_t lanes = side ? ~chosen : chosen;
        for (uint32_t i = 0; i < 32; i++)
            if (lanes >> i & 1 && !warp[i].exited)
                run_list(m, &warp[i], &n->lists[side]);
        if (lanes & living(warp))
            exchange_side(warp, n, lanes);
    }
}

static void run_together(machine *m, const program_list *list);

static void run_for_all(machine *m, const program_node *n)
{
    if (n->kind == DO_SWAP) {
        swap(m, n);
        return;
    }
    for (uint64_t i = 0; n->kind == DO_REPEAT && i < n->immediate[0]; i++)
        run_together(m, &n->lists[0]);
    for (uint32_t first = 0; first < m->p->threads && n->kind != DO_REPEAT; first += 32) {
        thread *warp = &m->threads[first];
        if (n->kind == DO_SHUFFLE)
            shuffle(warp, n);
        else if (n->kind == DO_VOTE)
            vote(warp, n);
        else if (n->kind == DO_MATCH)
            match(warp, n);
        else if (n->kind == DO_REDUX)
            reduce(warp, n);
        else
            partial(m, warp, n);
    }
}

static void run_together(machine *m, const program_list *list)
{
    for (uint32_t i = 0; i < list->count; i++) {
        const program_node *n = &m->p->nodes[list->items[i]];
        if (n->kind >= DO_REPEAT) {
            run_for_all(m, n);
            continue;
        }
        for (uint32_t t = 0; t < m->p->threads; t++)
            if (!m->threads[t].exited)
                run_node(m, &m->threads[t], n);
    }
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void start(machine *m)
{
    for (uint32_t i = 0; i < CELLS; i++)
        m->cells[i] = i;
    for (uint32_t k = 0; k < m->p->threads; k++) {
        thread *t = &m->threads[k];
        uint64_t *r = t->v[KIND_R];
        for (uint32_t i = 0; i < LOCALS; i++)
            t->local[i] = k;
        for (uint32_t i = 0; i < WORDS; i++)
            r[i] = m->p->inputs[(k * (2 * i + 1) + i * 37) % INPUTS];
        for (uint32_t i = 0; i < HALVES; i++)
            t->v[KIND_H][i] = r[i] & 0xffff;
        for (uint32_t i = 0; i < DOUBLES; i++) {
            t->v[KIND_D][i] = r[i] | r[i + 1] << 32;
            t->v[KIND_G][i] = r[i + 2] | r[i + 3] << 32;
        }
        for (uint32_t i = 0; i < FLOATS; i++)
            t->v[KIND_F][i] = r[i];
        for (uint32_t i = 0; i < PREDICATES; i++)
            t->v[KIND_P][i] = r[i] >> i & 1;
    }
}

static void keep(const thread *t, uint32_t *to)
{
    for (uint32_t i = 0; i < HALVES; i++)
        *to++ = (uint32_t)t->v[KIND_H][i];
    for (uint32_t i = 0; i < WORDS; i++)
        *to++ = (uint32_t)t->v[KIND_R][i];
    for (uint32_t i = 0; i < FLOATS; i++)
        *to++ = (uint32_t)t->v[KIND_F][i];
    *to = 0;
    for (uint32_t i = 0; i < PREDICATES; i++)
        *to |= (uint32_t)t->v[KIND_P][i] << i;
    to++;
    for (uint32_t i = 0; i < DOUBLES + WIDES; i++, to += 2)
        memcpy(to, i < DOUBLES ? &t->v[KIND_D][i] : &t->v[KIND_G][i - DOUBLES], 8);
}

void program_evaluate(const program *p, uint32_t *results)
{
    machine *m = calloc(1, sizeof *m);
    uint32_t sum = 0;
    assert_non_null(m);
    m->p = p;
    start(m);
    run_together(m, &p->top);
    for (uint32_t i = 0; i < CELLS; i++)
        sum = sum * 31 + m->cells[i];
    memset(results, 0, sizeof *results * RESULT_WORDS * p->threads);
    for (uint32_t t = 0; t < p->threads; t++) {
        m->threads[t].v[KIND_R][0] ^= sum;
        run_list(m, &m->threads[t], &p->tail);
    }
    run_together(m, &p->late);
    for (uint32_t t = 0; t < p->threads; t++)
        if (!m->threads[t].exited)
            keep(&m->threads[t], results + t * RESULT_WORDS);
    free(m);
    program_plain(p, results);
}

void program_plain(const program *p, uint32_t *results)
{
    for (uint32_t t = 0; t < p->threads; t++) {
        uint32_t *floats = results + t * RESULT_WORDS + HALVES + WORDS, *wides = floats + FLOATS + 1 + 2 * DOUBLES;
        for (uint32_t i = 0; i < FLOATS; i++)
            floats[i] = (floats[i] & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : floats[i];
        for (uint32_t i = 0; i < WIDES; i++)
            if ((wides[2 * i + 1] & 0x7fffffff) > 0x7ff00000 ||
                ((wides[2 * i + 1] & 0x7fffffff) == 0x7ff00000 && wides[2 * i]))
                wides[2 * i] = wides[2 * i + 1] = 0x7fffffff;
    }
}
