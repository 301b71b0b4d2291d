/* Finds uses of what was never written.
 *
 * Every bit of a register, of local and of shared memory has a shadow bit: 1 is undefined. A new frame's registers and
 * local memory and a new CTA's shared memory are undefined; all other memory is defined. What only moves bits about
 * (mov, selp, prmt, shifts, bit fields, integer conversions, shuffles, loads, stores, arguments) moves the shadow bits
 * the same way; and, or, xor and lop3 work bit by bit, so that a mask cuts undefined bits off; every other result is
 * undefined as a whole where any bit that it reads is. Nothing is reported so far: padding is copied, and values that
 * are dropped later are computed, by correct programs. A fault is
 *
 *   - a guard, a branch's index, an indirect call's target, an operand of a barrier that is undefined
 *   - an address that is
 *   - a value of 32 bits or more without one defined bit that is stored to global memory or used by an atomic
 *
 * Results of votes, matches, reductions, matrix instructions and textures are taken for defined. What writes shared
 * memory other than by a store, a matrix store or an atomic (cp.async, st.bulk) makes all of it defined. */
#include "hwmodel/exec/checks.h"
#include "hwmodel/exec/decode.h"
#include "ir/form.h"

/* ---- where ----------------------------------------------------------------------------------------------------- */

static const hd_code *code_of(const hd_warp *w) { return hd_top_frame(w)->code; }
static const hd_instruction *insn_of(const hd_op *op, const hd_code *code)
{
    return &code->function->instructions.items[op - code->ops];
}
static uint32_t *origins_of(const hd_frame *f) { return (uint32_t *)(void *)(f->shadow + f->code->register_bytes); }

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
    if (w->shadow_local)
        memset(w->shadow_local + (size_t)f->local_base / 4 * 4 * LANES, 0xff,
               (size_t)(f->local_end - f->local_base + 3) / 4 * 4 * LANES);
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

static bool is_frame(hd_ref ref) { return ref != HD_NO_REF && ref >> HD_REF_SHIFT == HD_REF_FRAME; }
static unsigned char *shadow_row(const hd_warp *w, hd_ref ref) { return hd_top_frame(w)->shadow + ref; }
static size_t row_size(uint32_t bytes) { return bytes ? (size_t)bytes * LANES : 4; }

/* Lanes in which any bit of a row is undefined. */
static uint32_t undefined_lanes(const unsigned char *row, uint32_t bytes)
{
    uint32_t lanes = 0, piece = bytes > 8 ? 8 : bytes;
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

static uint32_t undefined_in(const hd_warp *w, hd_ref ref, uint32_t bytes)
{
    return is_frame(ref) ? undefined_lanes(shadow_row(w, ref), bytes) : 0;
}

/* ---- reports --------------------------------------------------------------------------------------------------- */

static hd_step report(const hd_op *op, hd_warp *w, uint32_t lanes, uint32_t reg, const char *use)
{
    const hd_code *code = code_of(w);
    char name[128];
    uint32_t origin = origins_of(hd_top_frame(w))[reg];
    hd_register_spell(code->function, reg, name, sizeof name);
    hd_step step = hd_fault(op, w, lanes, "%s was never written and is used as %s", name, use);
    if (origin != HD_NONE)
        hd_fault_note_place(w, code, origin, "its value comes from here, where what was never written is read");
    return step;
}

/* Lanes of `mask` in which a register is undefined. */
static uint32_t undefined_register(const hd_warp *w, uint32_t reg)
{
    const hd_code *code = code_of(w);
    return undefined_in(w, code->register_rows[reg], hd_register_lane_bytes(code->function, reg));
}

hd_step hd_uninitialized_guard(const hd_op *op, hd_warp *w, uint32_t active)
{
    const hd_instruction *insn = insn_of(op, code_of(w));
    if (insn->guard == HD_NONE)
        return HD_STEP_NEXT;
    uint32_t bad = undefined_register(w, insn->guard) & active;
    return bad ? report(op, w, bad, insn->guard, "a guard") : HD_STEP_NEXT;
}

/* ---- what registers decide --------------------------------------------------------------------------------------- */

static void set_lanes(unsigned char *row, uint32_t bytes, uint32_t mask, uint32_t undefined)
{
    uint32_t word, piece = bytes > 8 ? 8 : bytes;
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
static void set_written(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t undefined)
{
    const hd_code *code = code_of(w);
    HD_INSN_REGISTERS (code->function, insn_of(op, code), o)
        if (o->flags & HD_OPERAND_DEF)
            set_lanes(shadow_row(w, code->register_rows[o->value]), hd_register_lane_bytes(code->function, o->value),
                      mask, undefined);
}

/* The first source of an instruction that is undefined gives its origin to all that is written. */
static void hand_on_origin(const hd_op *op, hd_warp *w, uint32_t mask, bool loads)
{
    const hd_code *code = code_of(w);
    const hd_instruction *insn = insn_of(op, code);
    uint32_t *origins = origins_of(hd_top_frame(w)), origin = HD_NONE, ordinal = (uint32_t)(op - code->ops);
    bool found = loads;
    HD_INSN_REGISTERS (code->function, insn, o)
        if (!found && o->flags & HD_OPERAND_USE && undefined_register(w, o->value) & mask) {
            origin = origins[o->value];
            found = true;
        }
    HD_INSN_REGISTERS (code->function, insn, d)
        if (found && d->flags & HD_OPERAND_DEF)
            origins[d->value] = origin == HD_NONE ? ordinal : origin;
}

/* Lanes for which some register that the instruction reads is undefined. */
static uint32_t undefined_sources(const hd_op *op, const hd_warp *w)
{
    const hd_code *code = code_of(w);
    uint32_t lanes = 0;
    HD_INSN_REGISTERS (code->function, insn_of(op, code), o)
        if (o->flags & HD_OPERAND_USE)
            lanes |= undefined_register(w, o->value);
    return lanes;
}

/* Moves: the op itself, on shadows. */
static void run_on_shadow(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const unsigned char *bases[4];
    hd_op plain = *op;
    memcpy(bases, w->bases, sizeof bases);
    plain.flags &= (uint16_t)~(HD_OP_NOT_A | HD_OP_NOT_C);
    w->bases[HD_REF_FRAME] = hd_top_frame(w)->shadow;
    w->bases[HD_REF_CONSTANT] = w->bases[HD_REF_SPECIAL] = w->bases[3] = w->cta->checks->zeros;
    op->run(&plain, w, mask);
    memcpy(w->bases, bases, sizeof bases);
}

static void load_shadow(const hd_warp *w, hd_ref ref, uint32_t bytes, unsigned char *to)
{
    if (is_frame(ref))
        memcpy(to, shadow_row(w, ref), row_size(bytes));
    else
        memset(to, 0, row_size(bytes));
}

/* Operands a (and b, where `two`) are shadows, the others what they are; the registers are put back. */
static void run_on_data(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t bytes, bool two)
{
    hd_checks *c = w->cta->checks;
    const unsigned char *base = w->bases[3];
    hd_op mixed = *op;
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
        hd_merge(shadow_row(w, op->d), hd_row(w, op->d), mask, bytes);
    if (sizes[1]) /* shfl: whether the lane is there */
        set_lanes(shadow_row(w, op->e), 0, mask, 0);
    for (uint32_t k = 0; k < 2; k++)
        if (sizes[k])
            memcpy(hd_row_of_frame(w, written[k]), saved[k], sizes[k]);
}

/* and, or: an operand's bit that decides the result alone makes it defined. kind as hd_op.boolean: 1 and, 2 or. */
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
        hd_merge(shadow_row(w, op->d), u, mask, bytes);
    } else {
        memcpy(&word, u, 4);
        set_lanes(shadow_row(w, op->d), 0, mask, word);
    }
}

static bool is_integer(hd_type t)
{
    return hd_types[t].class == HD_CLASS_SIGNED || hd_types[t].class == HD_CLASS_UNSIGNED;
}

/* What the shadow of a result is made of. */
typedef enum treatment { WHOLE, DEFINED, MOVED, DATA_A, DATA_AB, AND, OR, XOR } treatment;

static treatment treatment_of(const hd_op *op, const hd_form *form)
{
    switch (form->opcode) {
    case HD_OP_MOV:
        return op->run == hd_run_move || op->run == hd_run_move_pred || op->run == hd_run_pack || op->run == hd_run_unpack
                   ? MOVED
                   : DEFINED;
    case HD_OP_CVT:
        return is_integer((hd_type)form->types[0]) && is_integer((hd_type)form->types[1]) &&
                       !form->modifiers[HD_GROUP_SAT] && op->run == hd_run_convert
                   ? MOVED
                   : WHOLE;
    case HD_OP_SHL:
    case HD_OP_SHR:
    case HD_OP_BFE:
    case HD_OP_BREV:
    case HD_OP_SHFL:
        return DATA_A;
    case HD_OP_PRMT:
    case HD_OP_SHF:
    case HD_OP_BFI:
    case HD_OP_SELP:
        return DATA_AB;
    case HD_OP_AND:
        return AND;
    case HD_OP_OR:
        return OR;
    case HD_OP_XOR:
    case HD_OP_NOT:
        return XOR;
    default:
        return form->behaviour & (HD_BEHAVE_WARP | HD_BEHAVE_TEXTURE) ? DEFINED : WHOLE;
    }
}

/* Bits of rows, by operand, that choose where the data goes. */
static uint32_t undefined_choice(const hd_op *op, const hd_warp *w, const hd_form *form)
{
    switch (form->opcode) {
    case HD_OP_SELP:
        return undefined_in(w, op->c, 0);
    case HD_OP_SHL:
    case HD_OP_SHR:
        return undefined_in(w, op->b, 4);
    case HD_OP_BFE:
    case HD_OP_SHFL:
        return undefined_in(w, op->b, 4) | undefined_in(w, op->c, 4);
    case HD_OP_BFI:
        return undefined_in(w, op->c, 4) | undefined_in(w, op->f, 4);
    case HD_OP_PRMT:
    case HD_OP_SHF:
        return undefined_in(w, op->c, 4);
    default:
        return 0;
    }
}

/* A lane of the first result that is no predicate; 0: all are. */
static uint32_t result_bytes(const hd_op *op, const hd_warp *w)
{
    const hd_code *code = code_of(w);
    HD_INSN_REGISTERS (code->function, insn_of(op, code), o)
        if (o->flags & HD_OPERAND_DEF && hd_register_lane_bytes(code->function, o->value))
            return hd_register_lane_bytes(code->function, o->value);
    return 0;
}

static void spread(const hd_op *op, hd_warp *w, uint32_t mask, const hd_form *form)
{
    uint32_t sources = undefined_sources(op, w), choice;
    uint32_t bytes = result_bytes(op, w);
    treatment t = treatment_of(op, form);
    if (sources & mask)
        hand_on_origin(op, w, mask, false);
    if (!(sources & mask) || t == DEFINED) {
        if (form->opcode != HD_OP_SHFL || !sources) /* a lane reads others */
            set_written(op, w, mask, 0);
        if (form->opcode != HD_OP_SHFL)
            return;
    }
    choice = undefined_choice(op, w, form);
    switch (t) {
    case WHOLE:
        set_written(op, w, mask, sources);
        return;
    case DEFINED:
        return;
    case MOVED:
        run_on_shadow(op, w, mask);
        return;
    case DATA_A:
        run_on_data(op, w, mask, bytes, false);
        break;
    case DATA_AB:
        run_on_data(op, w, mask, bytes, true);
        break;
    case AND:
    case OR:
        logic(op, w, mask, t == AND ? 1 : 2, bytes);
        return;
    case XOR:
        logic(op, w, mask, 3, bytes);
        return;
    }
    if (choice & mask)
        set_written(op, w, choice & mask, choice);
}

/* ---- uses ------------------------------------------------------------------------------------------------------ */

/* Registers of addresses: elements of ADDRESS operands. */
static hd_step check_addresses(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_code *code = code_of(w);
    const hd_instruction *insn = insn_of(op, code);
    const hd_operand *o = hd_insn_operands(code->function, insn), *end = o + insn->operand_count;
    for (; o < end; o += hd_operand_extent(o))
        for (const hd_operand *e = o; o->kind == HD_OPERAND_ADDRESS && e < o + hd_operand_extent(o); e++) {
            uint32_t bad = e->kind == HD_OPERAND_REGISTER ? undefined_register(w, e->value) & mask : 0;
            if (bad)
                return report(op, w, bad, e->value, "an address");
        }
    return HD_STEP_NEXT;
}

/* Every register that is read decides something. */
static hd_step check_all(const hd_op *op, hd_warp *w, uint32_t mask, const char *use)
{
    const hd_code *code = code_of(w);
    HD_INSN_REGISTERS (code->function, insn_of(op, code), o) {
        uint32_t bad = o->flags & HD_OPERAND_USE ? undefined_register(w, o->value) & mask : 0;
        if (bad)
            return report(op, w, bad, o->value, use);
    }
    return HD_STEP_NEXT;
}

static hd_step check_callee(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_code *code = code_of(w);
    const hd_call *call = op->use.detail;
    uint32_t bad = call->indirect ? undefined_in(w, op->a, op->a_bytes) & mask : 0;
    HD_INSN_REGISTERS (code->function, insn_of(op, code), o)
        if (bad && o->flags & HD_OPERAND_USE && code->register_rows[o->value] == op->a)
            return report(op, w, bad, o->value, "a function's address");
    return HD_STEP_NEXT;
}

static bool is_access(uint32_t behaviour)
{
    return behaviour & (HD_BEHAVE_LOAD | HD_BEHAVE_STORE | HD_BEHAVE_ATOMIC);
}

hd_step hd_uninitialized_before(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_code *code = code_of(w);
    const hd_form *form = hd_insn_form(code->function, insn_of(op, code));
    if (form->behaviour & HD_BEHAVE_CALL)
        return check_callee(op, w, mask);
    if (is_access(form->behaviour) && !(form->behaviour & HD_BEHAVE_TEXTURE))
        return check_addresses(op, w, mask);
    if (form->behaviour & HD_BEHAVE_BRANCH)
        return check_all(op, w, mask, "a branch's index");
    if (form->behaviour & HD_BEHAVE_BARRIER)
        return check_all(op, w, mask, "an operand of a barrier");
    spread(op, w, mask, form);
    return HD_STEP_NEXT;
}

/* ---- memory ---------------------------------------------------------------------------------------------------- */

/* Shadow of byte `at` of a lane's region; NULL where memory is always defined. */
static unsigned char *shadow_byte(const hd_warp *w, const hd_region *r, uint64_t at, uint32_t lane)
{
    if (r->interleaved)
        return w->shadow_local + at / 4 * 4 * LANES + lane * 4 + at % 4;
    return r->bytes == w->cta->shared ? w->cta->checks->shared + at : NULL;
}

void hd_uninitialized_shared(hd_cta *cta, uint32_t at, uint32_t bytes, bool undefined)
{
    if (cta->checks && cta->checks->uninitialized)
        memset(cta->checks->shared + at, undefined ? 0xff : 0, bytes);
}

static bool region_of(const hd_op *op, hd_warp *w, uint32_t lane, hd_region *r, uint64_t *at)
{
    uint64_t address = w->cta->addresses[lane];
    bool found = hd_region_find(op, w, (hd_space)op->space, address, r);
    *at = address - r->first;
    return found && (r->interleaved || (w->cta->shared_bytes && r->bytes == w->cta->shared));
}

/* One element of a lane, as the load widened it. */
static bool load_bits(const hd_op *op, hd_warp *w, uint32_t lane, uint32_t k, const hd_region *r, uint64_t at)
{
    const hd_code *code = code_of(w);
    hd_ref ref = code->refs.items[op->first + k];
    uint32_t bytes = op->item_bytes, width = code->widths.items[op->first + k];
    unsigned char bits[16] = {0}, any = 0;
    if (ref == HD_NO_REF)
        return false;
    for (uint32_t b = 0; b < bytes && r; b++)
        any |= bits[b] = *shadow_byte(w, r, at + (uint64_t)k * bytes + b, lane);
    if (op->flags & HD_OP_SIGNED && bits[bytes - 1] & 0x80)
        memset(bits + bytes, 0xff, sizeof bits - bytes);
    for (uint32_t b = 0; b < width; b++)
        shadow_row(w, ref)[(size_t)(b / 8) * 8 * LANES + lane * (width < 8 ? width : 8) + b % 8] = bits[b];
    return any != 0;
}

static void after_load(const hd_op *op, hd_warp *w, uint32_t mask)
{
    bool any = false;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        hd_region r;
        uint64_t at;
        bool has = region_of(op, w, lane, &r, &at);
        for (uint32_t k = 0; k < op->count; k++)
            any |= load_bits(op, w, lane, k, has ? &r : NULL, at);
    }
    if (any)
        hand_on_origin(op, w, mask, true);
}

/* Bytes of element k that a lane stores; true where they are all undefined. */
static bool store_bits(const hd_op *op, const hd_warp *w, uint32_t lane, uint32_t k, unsigned char bits[16])
{
    const hd_code *code = code_of(w);
    hd_ref ref = code->refs.items[op->first + k];
    uint32_t width = code->widths.items[op->first + k];
    bool all = true;
    for (uint32_t b = 0; b < op->item_bytes; b++) {
        bits[b] = is_frame(ref) && b < width
                      ? shadow_row(w, ref)[(size_t)(b / 8) * 8 * LANES + lane * (width < 8 ? width : 8) + b % 8]
                      : 0;
        all = all && bits[b] == 0xff;
    }
    return all;
}

/* The register of element k, for the report. */
static hd_step report_stored(const hd_op *op, hd_warp *w, uint32_t lane, hd_ref ref)
{
    const hd_code *code = code_of(w);
    HD_INSN_REGISTERS (code->function, insn_of(op, code), o)
        if (o->flags & HD_OPERAND_USE && code->register_rows[o->value] == ref)
            return report(op, w, 1u << lane, o->value, "a value in global memory");
    return HD_STEP_NEXT;
}

static hd_step after_store(const hd_op *op, hd_warp *w, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        hd_region r;
        uint64_t at;
        bool has = region_of(op, w, lane, &r, &at);
        for (uint32_t k = 0; k < op->count; k++) {
            unsigned char bits[16];
            bool undefined = store_bits(op, w, lane, k, bits);
            for (uint32_t b = 0; b < op->item_bytes && has; b++)
                *shadow_byte(w, &r, at + (uint64_t)k * op->item_bytes + b, lane) = bits[b];
            if (!has && undefined && op->item_bytes >= 4)
                return report_stored(op, w, lane, code_of(w)->refs.items[op->first + k]);
        }
    }
    return HD_STEP_NEXT;
}

static void define_bytes(const hd_op *op, hd_warp *w, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        uint32_t lane = (uint32_t)__builtin_ctz(rest);
        hd_region r;
        uint64_t at;
        for (uint32_t b = 0; region_of(op, w, lane, &r, &at) && b < op->item_bytes; b++)
            *shadow_byte(w, &r, at + b, lane) = 0;
    }
}

static hd_step after_atomic(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_code *code = code_of(w);
    set_written(op, w, mask, 0);
    HD_INSN_REGISTERS (code->function, insn_of(op, code), o) {
        uint32_t bad = o->flags & HD_OPERAND_USE ? undefined_register(w, o->value) & mask : 0;
        if (bad)
            return report(op, w, bad, o->value, "an operand of an atomic");
    }
    define_bytes(op, w, mask);
    return HD_STEP_NEXT;
}

/* Results of the device runtime. */
static void after_builtin(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_call *call = op->use.detail;
    for (uint32_t i = 0; i < call->results; i++) {
        const hd_copy *c = &code_of(w)->copies.items[op->first + call->arguments + i];
        if (c->row != HD_NO_REF)
            set_lanes(shadow_row(w, c->row), c->row_bytes, mask, 0);
        for (uint32_t rest = c->row == HD_NO_REF ? mask : 0; rest; rest &= rest - 1)
            hd_uninitialized_local(w, (uint32_t)__builtin_ctz(rest), hd_top_frame(w)->local_base + c->local, c->bytes,
                                   false);
    }
}

hd_step hd_uninitialized_after(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_code *code = code_of(w);
    const hd_form *form = hd_insn_form(code->function, insn_of(op, code));
    switch (form->opcode) {
    case HD_OP_LD:
    case HD_OP_LDU:
        after_load(op, w, mask);
        return HD_STEP_NEXT;
    case HD_OP_ST:
        return after_store(op, w, mask);
    case HD_OP_ATOM:
    case HD_OP_RED:
        return after_atomic(op, w, mask);
    case HD_OP_CALL:
        after_builtin(op, w, mask);
        return HD_STEP_NEXT;
    case HD_OP_WMMA_STORE:
    case HD_OP_STMATRIX:
        define_bytes(op, w, mask);
        return HD_STEP_NEXT;
    case HD_OP_CP_ASYNC: /* these say themselves what of shared memory they define */
    case HD_OP_CP_ASYNC_MBARRIER_ARRIVE:
    case HD_OP_MBARRIER_INIT:
    case HD_OP_MBARRIER_INVAL:
    case HD_OP_MBARRIER_EXPECT_TX:
    case HD_OP_MBARRIER_COMPLETE_TX:
    case HD_OP_MBARRIER_ARRIVE:
    case HD_OP_MBARRIER_ARRIVE_DROP:
    case HD_OP_MBARRIER_TEST_WAIT:
    case HD_OP_MBARRIER_TRY_WAIT:
    case HD_OP_ST_BULK:
    case HD_OP_DISCARD:
        set_written(op, w, mask, 0);
        return HD_STEP_NEXT;
    default:
        break;
    }
    if (is_access(form->behaviour) || form->behaviour & (HD_BEHAVE_BARRIER | HD_BEHAVE_ASYNC))
        set_written(op, w, mask, 0);
    if (form->behaviour & (HD_BEHAVE_STORE | HD_BEHAVE_ATOMIC | HD_BEHAVE_ASYNC))
        memset(w->cta->checks->shared, 0, w->cta->shared_bytes);
    return HD_STEP_NEXT;
}
