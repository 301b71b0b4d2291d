/* Shadow bits of registers and their propagation through instructions: see uninitialized.c. */
#include "hwmodel/exec/checks/shadow.h"
#include "hwmodel/exec/ops/alu.h"
#include "hwmodel/exec/ops/rows.h"

/* ---- rows -------------------------------------------------------------------------------------------------------- */

/* Convergence barriers begin empty. */
static void define_barriers(hd_frame *f)
{
    const hd_function *function = f->code->function;
    for (uint32_t i = 0; i < function->registers.count; i++)
        if (function->registers.items[i].type == HD_TYPE_BARRIER)
            memset(f->shadow + f->code->register_rows[i], 0, (size_t)4 * LANES);
}

void hd_checks_frame(hd_warp *w, hd_frame *f)
{
    const hd_code *code = f->code;
    size_t origins = (size_t)code->function->registers.count * sizeof(uint32_t);
    if (!w->cta->checks->uninitialized)
        return;
    if (f->shadow_capacity < code->register_bytes + origins) {
        f->shadow_capacity = (uint32_t)(code->register_bytes + origins);
        free(f->shadow);
        f->shadow = aligned_alloc(64, ((size_t)f->shadow_capacity + 127) / 64 * 64);
        if (!f->shadow)
            hd_out_of_memory(f->shadow_capacity);
    }
    if (f->shadow)
        memset(f->shadow, 0xff, code->register_bytes + origins);
    define_barriers(f);
    if (w->cta->program->independent && w->frame_count > 1)
        return; /* the stack is the caller's, too */
    if (w->shadow_local)
        memset(w->shadow_local + (size_t)f->local_base / 4 * 4 * LANES, 0xff,
               (size_t)(f->local_end - f->local_base + 3) / 4 * 4 * LANES);
}

void hd_checks_enter(hd_warp *w, const hd_frame *caller)
{
    hd_frame *f = hd_top_frame(w);
    if (w->cta->checks->uninitialized)
        memcpy(f->shadow, caller->shadow, f->code->register_bytes);
}

void hd_checks_define(hd_warp *w, hd_ref row, uint32_t lanes)
{
    if (w->cta->checks && w->cta->checks->uninitialized)
        hd_shadow_set(hd_shadow_row(w, row), 4, lanes, 0);
}

void hd_checks_grow(hd_warp *w, uint32_t capacity)
{
    if (!w->cta->checks->uninitialized)
        return;
    w->shadow_local = hd_realloc(w->shadow_local, (size_t)capacity * LANES);
    memset(w->shadow_local + (size_t)w->local_capacity * LANES, 0xff, (size_t)(capacity - w->local_capacity) * LANES);
}

void hd_uninitialized_local(hd_warp *w, uint32_t lane, uint32_t at, uint32_t bytes, bool undefined)
{
    for (uint32_t end = at + bytes; at < end; at++)
        w->shadow_local[(size_t)(at / 4) * 4 * LANES + lane * 4 + at % 4] = undefined ? 0xff : 0;
}

static size_t row_size(uint32_t bytes) { return bytes ? (size_t)bytes * LANES : 4; }

/* Lanes in which any bit of a row is undefined. */
static uint32_t undefined_lanes(const unsigned char *row, uint32_t bytes)
{
    uint32_t lanes = 0, piece = hd_min(bytes, 8);
    if (!bytes) {
        memcpy(&lanes, row, 4);
        return lanes;
    }
    for (uint32_t i = 0; i < LANES * (bytes / piece); i++) {
        uint64_t value = 0;
        memcpy(&value, row + (size_t)i * piece, piece);
        lanes |= (uint32_t)(value != 0) << i % LANES;
    }
    return lanes;
}

uint32_t hd_shadow_undefined(const hd_warp *w, hd_ref ref, uint32_t bytes)
{
    return hd_shadow_has(ref) ? undefined_lanes(hd_shadow_row(w, ref), bytes) : 0;
}

/* Lanes of `mask` in which a register is undefined. */
uint32_t hd_shadow_register(const hd_warp *w, uint32_t reg)
{
    const hd_code *code = hd_shadow_code(w);
    return hd_shadow_undefined(w, code->register_rows[reg], hd_register_lane_bytes(code->function, reg));
}

/* ---- propagation that depends on registers only ------------------------------------------------------------------ */

void hd_shadow_set(unsigned char *row, uint32_t bytes, uint32_t mask, uint32_t undefined)
{
    uint32_t word, piece = hd_min(bytes, 8);
    if (!bytes) {
        memcpy(&word, row, 4);
        word = (word & ~mask) | (undefined & mask);
        memcpy(row, &word, 4);
        return;
    }
    for (uint32_t i = 0; i < LANES * (bytes / piece); i++)
        if (mask >> i % LANES & 1)
            memset(row + (size_t)i * piece, undefined >> i % LANES & 1 ? 0xff : 0, piece);
}

/* Every written register as a whole. */
void hd_shadow_written(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t undefined)
{
    const hd_code *code = hd_shadow_code(w);
    HD_INSN_REGISTERS (code->function, hd_shadow_insn(op, code), o)
        if (o->flags & HD_OPERAND_DEF)
            hd_shadow_set(hd_shadow_row(w, code->register_rows[o->value]),
                          hd_register_lane_bytes(code->function, o->value), mask, undefined);
}

/* The origin of everything written is that of the instruction's first undefined source. */
void hd_shadow_origin(const hd_op *op, hd_warp *w, uint32_t mask, bool loads)
{
    const hd_code *code = hd_shadow_code(w);
    const hd_instruction *insn = hd_shadow_insn(op, code);
    uint32_t *origins = hd_shadow_origins(hd_top_frame(w)), origin = HD_NONE, ordinal = (uint32_t)(op - code->ops);
    bool found = loads;
    HD_INSN_REGISTERS (code->function, insn, o)
        if (!found && o->flags & HD_OPERAND_USE && hd_shadow_register(w, o->value) & mask) {
            origin = origins[o->value];
            found = true;
        }
    HD_INSN_REGISTERS (code->function, insn, d)
        if (found && d->flags & HD_OPERAND_DEF)
            origins[d->value] = origin == HD_NONE ? ordinal : origin;
}

/* Lanes in which some register read by the instruction is undefined. */
static uint32_t undefined_sources(const hd_op *op, const hd_warp *w)
{
    const hd_code *code = hd_shadow_code(w);
    uint32_t lanes = 0;
    HD_INSN_REGISTERS (code->function, hd_shadow_insn(op, code), o)
        if (o->flags & HD_OPERAND_USE)
            lanes |= hd_shadow_register(w, o->value);
    return lanes;
}

/* Moves: executes the op on shadow bits. */
static void run_on_shadow(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const unsigned char *bases[4];
    hd_op plain = *op;
    memcpy(bases, w->bases, sizeof bases);
    plain.flags &= (uint16_t) ~(HD_OP_NOT_A | HD_OP_NOT_C);
    w->bases[HD_REF_FRAME] = hd_top_frame(w)->shadow;
    w->bases[HD_REF_CONSTANT] = w->bases[HD_REF_SPECIAL] = w->bases[3] = w->cta->checks->zeros;
    op->run(&plain, w, mask);
    memcpy(w->bases, bases, sizeof bases);
}

static void load_shadow(const hd_warp *w, hd_ref ref, uint32_t bytes, unsigned char *to)
{
    if (hd_shadow_has(ref))
        memcpy(to, hd_shadow_row(w, ref), row_size(bytes));
    else
        memset(to, 0, row_size(bytes));
}

/* Executes the op with shadows for operand a (and b, if `two`) and data for the others; restores the registers. */
static void run_on_data(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t bytes, bool two)
{
    hd_checks *c = w->cta->checks;
    const unsigned char *base = w->bases[3];
    hd_op mixed = *op;
    if (hd_op_meets(op)) { /* they have met */
        mixed.f = HD_NO_REF;
        mixed.flags &= ~(uint32_t)(HD_OP_MEETS | HD_OP_NAMES_LANES);
    }
    unsigned char saved[2][LANES * 16];
    load_shadow(w, op->a, bytes, c->rows[0]);
    mixed.a = HD_REF(3, 0);
    if (two) {
        load_shadow(w, op->b, bytes, c->rows[1]);
        mixed.b = HD_REF(3, sizeof c->rows[0]);
    }
    hd_ref written[2] = {op->d, op->e};
    uint32_t sizes[2] = {op->d == HD_NO_REF ? 0 : (uint32_t)row_size(bytes), op->e == HD_NO_REF ? 0 : 4};
    for (uint32_t k = 0; k < 2; k++)
        if (sizes[k])
            memcpy(saved[k], hd_row(w, written[k]), sizes[k]);
    w->bases[3] = c->rows[0];
    op->run(&mixed, w, mask);
    w->bases[3] = base;
    if (sizes[0])
        hd_merge(hd_shadow_row(w, op->d), hd_row(w, op->d), mask, bytes);
    if (sizes[1]) /* shfl: whether the source lane exists */
        hd_shadow_set(hd_shadow_row(w, op->e), 0, mask, 0);
    for (uint32_t k = 0; k < 2; k++)
        if (sizes[k])
            memcpy(hd_row_of_frame(w, written[k]), saved[k], sizes[k]);
}

/* and, or: an operand bit that determines the result bit makes it defined. kind as hd_op.boolean: 1 and, 2 or. */
static void logic(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t kind, uint32_t bytes)
{
    unsigned char ua[LANES * 8], ub[LANES * 8], u[LANES * 8];
    const unsigned char *a = hd_row(w, op->a), *b = hd_row(w, op->b);
    unsigned char not_a = op->flags & HD_OP_NOT_A ? 0xff : 0, not_b = op->flags & HD_OP_NOT_C ? 0xff : 0;
    load_shadow(w, op->a, bytes, ua);
    load_shadow(w, op->b, bytes, ub);
    for (size_t i = 0; i < row_size(bytes); i++) {
        unsigned char va = (unsigned char)(a[i] ^ not_a), vb = (unsigned char)(b[i] ^ not_b);
        if (kind == 1)
            u[i] = (unsigned char)((ua[i] | ub[i]) & (va | ua[i]) & (vb | ub[i]));
        else if (kind == 2)
            u[i] = (unsigned char)((ua[i] | ub[i]) & ((unsigned char)~va | ua[i]) & ((unsigned char)~vb | ub[i]));
        else
            u[i] = ua[i] | ub[i];
    }
    uint32_t word;
    if (bytes) {
        hd_merge(hd_shadow_row(w, op->d), u, mask, bytes);
    } else {
        memcpy(&word, u, 4);
        hd_shadow_set(hd_shadow_row(w, op->d), 0, mask, word);
    }
}

/* lop3: undefined if both results are possible given the defined bits. op->offset is the table. */
static void logic3(const hd_op *op, hd_warp *w, uint32_t mask)
{
    hd_ref refs[3] = {op->a, op->b, op->c};
    uint32_t u[3][LANES], undefined[LANES];
    for (uint32_t k = 0; k < 3; k++)
        load_shadow(w, refs[k], 4, (unsigned char *)u[k]);
    for (uint32_t i = 0; i < LANES; i++) {
        uint32_t may[2] = {0, 0};
        for (uint32_t bits = 0; bits < 8; bits++) { /* a is the high bit of the table index */
            uint32_t possible = HD_ALL_LANES;
            for (uint32_t k = 0; k < 3; k++) {
                uint32_t v = ((const uint32_t *)hd_row(w, refs[k]))[i];
                possible &= (bits >> (2 - k) & 1 ? v : ~v) | u[k][i];
            }
            may[op->offset >> bits & 1] |= possible;
        }
        undefined[i] = may[0] & may[1];
    }
    if (op->d != HD_NO_REF)
        hd_merge(hd_shadow_row(w, op->d), undefined, mask, 4);
    if (op->e != HD_NO_REF) /* whether any bit is set */
        hd_shadow_set(hd_shadow_row(w, op->e), 0, mask, undefined_lanes((const unsigned char *)undefined, 4));
}

static bool is_integer(hd_type t)
{
    return hd_types[t].class == HD_CLASS_SIGNED || hd_types[t].class == HD_CLASS_UNSIGNED;
}

/* How the shadow of a result is computed. */
typedef enum treatment { WHOLE, DEFINED, PRODUCT, MOVED, DATA_A, DATA_AB, AND, OR, XOR, TABLE } treatment;

static treatment treatment_of(const hd_op *op, const hd_form *form)
{
    switch (form->opcode) {
    case HD_OP_MOV:
        return op->run == hd_run_move || op->run == hd_run_move_pred || op->run == hd_run_pack ||
                       op->run == hd_run_unpack
                   ? MOVED
                   : DEFINED;
    case HD_OP_CVT:
        return is_integer((hd_type)form->types[0]) && is_integer((hd_type)form->types[1]) &&
                       !form->modifiers[HD_GROUP_SAT]
                   ? MOVED
                   : WHOLE;
    case HD_OP_SHL:
    case HD_OP_SHR:
    case HD_OP_BFE:
    case HD_OP_BREV:
    case HD_OP_SHFL: return DATA_A;
    case HD_OP_PRMT:
    case HD_OP_SHF:
    case HD_OP_BFI:
    case HD_OP_SELP: return DATA_AB;
    case HD_OP_LOP3: return TABLE;
    case HD_OP_AND: return AND;
    case HD_OP_OR: return OR;
    case HD_OP_XOR:
    case HD_OP_NOT: return XOR;
    case HD_OP_MOVMATRIX: return MOVED;
    case HD_OP_MMA:
    case HD_OP_WMMA_MMA: return PRODUCT;
    default: return form->behaviour & (HD_BEHAVE_WARP | HD_BEHAVE_TEXTURE) ? DEFINED : WHOLE;
    }
}

/* Lanes in which an operand that selects the data is undefined. */
static uint32_t undefined_choice(const hd_op *op, const hd_warp *w, const hd_form *form)
{
    switch (form->opcode) {
    case HD_OP_SELP: return hd_shadow_undefined(w, op->c, 0);
    case HD_OP_SHL:
    case HD_OP_SHR: return hd_shadow_undefined(w, op->b, 4);
    case HD_OP_BFE:
    case HD_OP_SHFL: return hd_shadow_undefined(w, op->b, 4) | hd_shadow_undefined(w, op->c, 4);
    case HD_OP_BFI: return hd_shadow_undefined(w, op->c, 4) | hd_shadow_undefined(w, op->f, 4);
    case HD_OP_PRMT:
    case HD_OP_SHF: return hd_shadow_undefined(w, op->c, 4);
    default: return 0;
    }
}

/* Bytes per lane of the first result that is not a predicate; 0: all are predicates. */
static uint32_t result_bytes(const hd_op *op, const hd_warp *w)
{
    const hd_code *code = hd_shadow_code(w);
    HD_INSN_REGISTERS (code->function, hd_shadow_insn(op, code), o)
        if (o->flags & HD_OPERAND_DEF && hd_register_lane_bytes(code->function, o->value))
            return hd_register_lane_bytes(code->function, o->value);
    return 0;
}

/* Results from a lane that does not take part are undefined. */
static void mark_absent(const hd_op *op, hd_warp *w, uint32_t mask)
{
    uint32_t absent = w->cta->checks->absent & mask;
    if (!absent)
        return;
    hd_shadow_origin(op, w, absent, true);
    hd_shadow_written(op, w, absent, absent);
    if (op->e != HD_NO_REF)
        hd_shadow_set(hd_shadow_row(w, op->e), 0, absent, 0); /* whether it is in the segment */
}

void hd_shadow_spread(const hd_op *op, hd_warp *w, uint32_t mask, const hd_form *form)
{
    uint32_t sources = undefined_sources(op, w), choice;
    uint32_t bytes = result_bytes(op, w);
    treatment t = treatment_of(op, form);
    if (sources & mask)
        hd_shadow_origin(op, w, mask, false);
    if (t == PRODUCT && mask != HD_ALL_LANES) /* a fault */
        return;
    if (!(sources & mask) || t == DEFINED) {
        if (form->opcode != HD_OP_SHFL || !sources) /* each lane reads other lanes */
            hd_shadow_written(op, w, mask, 0);
        if (form->opcode != HD_OP_SHFL)
            return;
    }
    choice = undefined_choice(op, w, form);
    switch (t) {
    case WHOLE: hd_shadow_written(op, w, mask, sources); return;
    case DEFINED: return;
    case PRODUCT: hd_shadow_matrix_product(op, w); return;
    case MOVED: run_on_shadow(op, w, mask); return;
    case DATA_A: run_on_data(op, w, mask, bytes, false); break;
    case DATA_AB: run_on_data(op, w, mask, bytes, true); break;
    case AND:
    case OR: logic(op, w, mask, t == AND ? 1 : 2, bytes); return;
    case TABLE: logic3(op, w, mask); return;
    case XOR: logic(op, w, mask, 3, bytes); return;
    }
    if (form->opcode == HD_OP_SHFL)
        mark_absent(op, w, mask);
    if (choice & mask)
        hd_shadow_written(op, w, choice & mask, choice);
}
