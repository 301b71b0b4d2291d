/* Shadow bits of matrix instructions. Instructions that move elements (loads, stores, movmatrix) are executed a second
 * time on shadow bits, of registers and of shared memory. An element of a product is undefined if an element of A or B
 * in its sum, or its own element of C, has an undefined bit. To find these without knowledge of the layout, products
 * are computed with zeros and ones (undefined) for A and ones for B, and vice versa. Global memory is always defined.
 *
 * If A, B and C share registers, the whole result is undefined if anything is. */
#include "hwmodel/exec/checks/shadow.h"
#include "hwmodel/exec/ops/access.h"
#include "hwmodel/exec/ops/matrix.h"

enum { MOST_ROWS = 64, ROW = LANES * 8 };

/* Rows of the call frame, to be restored. */
typedef struct saved_rows {
    uint32_t count;
    hd_ref refs[MOST_ROWS];
    uint8_t units[MOST_ROWS];
    unsigned char bytes[MOST_ROWS][ROW];
} saved_rows;

static void save(saved_rows *s, const hd_warp *w, hd_ref ref, uint32_t unit)
{
    if (!hd_shadow_has(ref) || s->count == MOST_ROWS)
        return;
    s->refs[s->count] = ref;
    s->units[s->count] = (uint8_t)unit;
    memcpy(s->bytes[s->count++], hd_row(w, ref), (size_t)unit * LANES);
}

static void restore(const saved_rows *s, hd_warp *w)
{
    for (uint32_t i = 0; i < s->count; i++)
        memcpy(hd_row_of_frame(w, s->refs[i]), s->bytes[i], (size_t)s->units[i] * LANES);
}

/* Registers that are written, or (stores) whose values are written. */
static void save_registers(saved_rows *s, const hd_op *op, const hd_warp *w, bool written)
{
    const hd_code *code = hd_shadow_code(w);
    const hd_instruction *insn = hd_shadow_insn(op, code);
    const hd_operand *o = hd_insn_operands(code->function, insn), *end = o + insn->operand_count;
    for (; o < end; o += hd_operand_extent(o))
        for (const hd_operand *e = o; e < o + hd_operand_extent(o); e++)
            if (e->kind == HD_OPERAND_REGISTER && o->kind != HD_OPERAND_ADDRESS &&
                (written ? e->flags & HD_OPERAND_DEF : o->kind == HD_OPERAND_VECTOR))
                save(s, w, code->register_rows[e->value], hd_register_lane_bytes(code->function, e->value));
}

/* Executes the op with the shadow of shared memory in its place. */
static hd_step run_on_shared_shadow(const hd_op *op, hd_warp *w, uint32_t mask)
{
    unsigned char *shared = w->cta->shared;
    w->cta->shared = w->cta->checks->shared;
    hd_step step = op->run(op, w, mask);
    w->cta->shared = shared;
    return step;
}

static bool goes_to_shared(const hd_op *op, hd_warp *w)
{
    hd_region r;
    hd_lane_addresses(op, w, HD_ALL_LANES);
    return hd_region_find(op, w, (hd_space)op->space, w->cta->addresses[0], &r) && !r.interleaved &&
           r.bytes == w->cta->shared;
}

/* ---- memory ------------------------------------------------------------------------------------------------------ */

hd_step hd_shadow_matrix_load(const hd_op *op, hd_warp *w, uint32_t mask)
{
    saved_rows old = {0};
    unsigned char any = 0;
    if (mask != HD_ALL_LANES || !goes_to_shared(op, w)) {
        hd_shadow_written(op, w, mask, 0);
        return HD_STEP_NEXT;
    }
    save_registers(&old, op, w, true);
    if (run_on_shared_shadow(op, w, mask) == HD_STEP_STOP)
        return HD_STEP_STOP;
    for (uint32_t i = 0; i < old.count; i++) {
        size_t bytes = (size_t)old.units[i] * LANES;
        const unsigned char *row = hd_row(w, old.refs[i]);
        memcpy(hd_shadow_row(w, old.refs[i]), row, bytes);
        for (size_t b = 0; b < bytes; b++)
            any |= row[b];
    }
    restore(&old, w);
    if (any)
        hd_shadow_origin(op, w, mask, true);
    return HD_STEP_NEXT;
}

hd_step hd_shadow_matrix_store(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t *bad)
{
    saved_rows old = {0};
    *bad = HD_NO_REF;
    if (mask != HD_ALL_LANES)
        return HD_STEP_NEXT; /* the op reports the error */
    save_registers(&old, op, w, false);
    if (!goes_to_shared(op, w)) {
        for (uint32_t i = 0; i < old.count && *bad == HD_NO_REF; i++)
            for (uint32_t k = 0, all = 0xff; k < LANES && *bad == HD_NO_REF; k++, all = 0xff) {
                for (uint32_t b = 0; b < old.units[i]; b++)
                    all &= hd_shadow_row(w, old.refs[i])[k * old.units[i] + b];
                *bad = all == 0xff ? old.refs[i] : HD_NO_REF;
            }
        return HD_STEP_NEXT;
    }
    for (uint32_t i = 0; i < old.count; i++)
        memcpy(hd_row_of_frame(w, old.refs[i]), hd_shadow_row(w, old.refs[i]), (size_t)old.units[i] * LANES);
    hd_step step = run_on_shared_shadow(op, w, mask);
    restore(&old, w);
    return step;
}

/* ---- products ---------------------------------------------------------------------------------------------------- */

static uint64_t one_of(hd_type type)
{
    switch (type) {
    case HD_TYPE_F16: return 0x3c00;
    case HD_TYPE_BF16: return 0x3f80;
    case HD_TYPE_TF32:
    case HD_TYPE_F32: return 0x3f800000;
    case HD_TYPE_F64: return 0x3ff0000000000000;
    case HD_TYPE_E4M3: return 0x38;
    case HD_TYPE_E5M2: return 0x3c;
    default: /* integers */ return 1;
    }
}

/* In one register's row, sets undefined elements to `yes` and others to `no`. */
static void replace(unsigned char *row, const unsigned char *shadow, const hd_fragment *f, uint64_t yes, uint64_t no)
{
    uint32_t bits = hd_matrix_types[f->type].bits, size = (uint32_t)f->unit * LANES;
    if (bits >= 8) {
        for (uint32_t at = 0; at < size; at += bits / 8) {
            unsigned char any = 0;
            for (uint32_t b = 0; b < bits / 8; b++)
                any |= shadow ? shadow[at + b] : 0;
            memcpy(row + at, any ? &yes : &no, bits / 8);
        }
        return;
    }
    for (uint32_t at = 0; at < size; at++) {
        uint32_t value = 0, ones = (1u << bits) - 1;
        for (uint32_t b = 0; b < 8; b += bits)
            value |= (uint32_t)(shadow && shadow[at] >> b & ones ? yes : no) << b;
        row[at] = (unsigned char)value;
    }
}

typedef enum filling { UNDEFINED, ALL, NOTHING } filling;

static void fill(const hd_fragment *f, hd_warp *w, filling how)
{
    uint64_t one = one_of((hd_type)f->type);
    for (uint32_t i = 0; i < f->count; i++) {
        hd_ref ref = hd_shadow_code(w)->refs.items[f->first + i];
        if (hd_shadow_has(ref))
            replace(hd_row_of_frame(w, ref), hd_shadow_row(w, ref), f, how == NOTHING ? 0 : one, how == ALL ? one : 0);
    }
}

/* Non-zero elements of the result are undefined. */
static void collect(const hd_fragment *d, hd_warp *w, bool more)
{
    uint32_t bytes = hd_matrix_types[d->type].bits / 8;
    for (uint32_t i = 0; i < d->count; i++) {
        hd_ref ref = hd_shadow_code(w)->refs.items[d->first + i];
        if (!hd_shadow_has(ref))
            continue;
        const unsigned char *row = hd_row(w, ref);
        unsigned char *shadow = hd_shadow_row(w, ref);
        for (uint32_t at = 0; at < (uint32_t)d->unit * LANES; at += bytes) {
            unsigned char any = more ? shadow[at] : 0;
            for (uint32_t b = 0; b < bytes; b++)
                any |= row[at + b];
            memset(shadow + at, any ? 0xff : 0, bytes);
        }
    }
}

static bool share_rows(const hd_code *code, const hd_fragment *x, const hd_fragment *y)
{
    for (uint32_t i = 0; i < x->count; i++)
        for (uint32_t k = 0; k < y->count; k++)
            if (code->refs.items[x->first + i] == code->refs.items[y->first + k] &&
                hd_shadow_has(code->refs.items[x->first + i]))
                return true;
    return false;
}

/* An operand that is no register: a constant row, which cannot be replaced. */
static bool has_constants(const hd_code *code, const hd_fragment *f)
{
    for (uint32_t i = 0; i < f->count; i++)
        if (!hd_shadow_has(code->refs.items[f->first + i]))
            return true;
    return false;
}

void hd_shadow_matrix_product(const hd_op *op, hd_warp *w)
{
    const hd_matrix *x = op->use.detail;
    const hd_code *code = hd_shadow_code(w);
    const hd_fragment *all[] = {&x->a, &x->b, &x->c, &x->d};
    saved_rows old = {0};
    if (share_rows(code, &x->a, &x->b) || share_rows(code, &x->a, &x->c) || share_rows(code, &x->b, &x->c) ||
        has_constants(code, &x->a) || has_constants(code, &x->b) || has_constants(code, &x->c) ||
        x->a.count + x->b.count + x->c.count + x->d.count > MOST_ROWS) {
        hd_shadow_written(op, w, HD_ALL_LANES, HD_ALL_LANES);
        return;
    }
    for (uint32_t k = 0; k < 4; k++)
        for (uint32_t i = 0; i < all[k]->count; i++)
            save(&old, w, code->refs.items[all[k]->first + i], all[k]->unit);
    /* shadows of C, which may be the same registers as D */
    unsigned char kept[MOST_ROWS][ROW];
    filling other = x->kind == HD_MATRIX_BITS && !x->is_and ? NOTHING : ALL; /* exclusive or: with zeros */
    fill(&x->a, w, UNDEFINED);
    fill(&x->b, w, other);
    fill(&x->c, w, UNDEFINED);
    op->run(op, w, HD_ALL_LANES);
    for (uint32_t i = 0; i < x->d.count; i++)
        if (hd_shadow_has(code->refs.items[x->d.first + i]))
            memcpy(kept[i], hd_row(w, code->refs.items[x->d.first + i]), (size_t)x->d.unit * LANES);
    fill(&x->a, w, other);
    fill(&x->b, w, UNDEFINED);
    fill(&x->c, w, NOTHING);
    op->run(op, w, HD_ALL_LANES);
    collect(&x->d, w, false);
    for (uint32_t i = 0; i < x->d.count; i++)
        if (hd_shadow_has(code->refs.items[x->d.first + i]))
            memcpy(hd_row_of_frame(w, code->refs.items[x->d.first + i]), kept[i], (size_t)x->d.unit * LANES);
    collect(&x->d, w, true);
    restore(&old, w);
}
