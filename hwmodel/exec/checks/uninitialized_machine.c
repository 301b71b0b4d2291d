/* Uses of uninitialized values in machine code: see uninitialized.c for the shadow bits and what is reported.
 *
 * Code of ptxas reads registers that nothing has written: the upper half of a pair, bytes that PRMT does not select, a
 * factor of zero. So a bit of a result is undefined only if it is seen to depend on undefined bits: the instruction is
 * executed several times more, with other values in their place, and the bits of the result that change are undefined.
 * This needs no rule for any opcode, and what it finds is no accident of one: but a bit that none of the values changes
 * counts as defined.
 *
 * A guard that is undefined makes the results of its instruction undefined, and is a fault of control, stores and
 * atomics. A stored value is a fault as in PTX; because ptxas scales and shifts, it counts as undefined if at least
 * three quarters of its bits are, some in each byte. Results of textures and of constant banks are defined. */
#include "hwmodel/exec/checks/shadow.h"
#include "hwmodel/exec/ops/rows.h"
#include "hwmodel/exec/state/fault.h"
#include "ir/machine.h"

enum { MOST_ROWS = 40, ROW_BYTES = 4 * LANES };

typedef struct reg_row { /* a register that an instruction reads or writes; of a predicate a word */
    hd_ref ref;
    uint32_t number, reg;
    bool is_word, reads, writes, uniform;
} reg_row;
typedef struct reg_rows {
    uint32_t count;
    bool writes; /* any */
    reg_row items[MOST_ROWS];
} reg_rows;

/* ---- registers --------------------------------------------------------------------------------------------------- */

static const hd_machine_form *form_of(const hd_op *op, const hd_warp *w)
{
    const hd_code *code = hd_shadow_code(w);
    return hd_insn_machine(code->function, hd_shadow_insn(op, code));
}

static uint32_t row_bytes(const reg_row *r) { return r->is_word ? 4 : ROW_BYTES; }

/* false: they are more than any instruction that computes has. */
static bool list_rows(const hd_op *op, const hd_warp *w, reg_rows *rows)
{
    const hd_code *code = hd_shadow_code(w);
    rows->count = 0;
    rows->writes = false;
    HD_INSN_REGISTERS (code->function, hd_shadow_insn(op, code), o) {
        const hd_register *r = &code->function->registers.items[o->value];
        hd_ref ref = code->register_rows[o->value];
        uint32_t i = 0;
        while (i < rows->count && rows->items[i].ref != ref)
            i++;
        if (i == MOST_ROWS)
            return false;
        if (i == rows->count)
            rows->items[rows->count++] = (reg_row){.ref = ref,
                                                   .number = r->index,
                                                   .reg = o->value,
                                                   .is_word = !hd_register_lane_bytes(code->function, o->value),
                                                   .uniform = r->flags & HD_REGISTER_UNIFORM};
        rows->items[i].reads |= (o->flags & HD_OPERAND_USE) != 0;
        rows->items[i].writes |= (o->flags & HD_OPERAND_DEF) != 0;
        rows->writes |= rows->items[i].writes;
    }
    return true;
}

static bool any_undefined(const hd_warp *w, const reg_rows *rows, uint32_t mask)
{
    for (uint32_t i = 0; i < rows->count; i++)
        if (rows->items[i].reads && hd_shadow_register(w, rows->items[i].reg) & mask)
            return true;
    return false;
}

/* Every written register; a uniform one is the warp's. */
static void set_written(hd_warp *w, const reg_rows *rows, uint32_t mask, uint32_t undefined)
{
    for (uint32_t i = 0; i < rows->count; i++) {
        const reg_row *r = &rows->items[i];
        if (r->writes)
            hd_shadow_set(hd_shadow_row(w, r->ref), r->is_word ? 0 : 4, r->uniform ? HD_ALL_LANES : mask,
                          r->uniform && undefined & mask ? HD_ALL_LANES : undefined);
    }
}

/* ---- results that change with undefined bits --------------------------------------------------------------------- */

enum { PLAIN_VALUES = 4, RANDOM_VALUES = 4, COPIED_VALUES = 3 };
enum { VALUES = PLAIN_VALUES + RANDOM_VALUES + COPIED_VALUES };

static uint32_t mixed(uint32_t x)
{
    x = (x ^ x >> 16) * 0x7feb352du;
    x = (x ^ x >> 15) * 0x846ca68bu;
    return x ^ x >> 16;
}

/* A whole row of operand k of the op, to compare with; NULL: there is none. */
static const uint32_t *operand_row(const hd_op *op, const hd_warp *w, uint32_t k)
{
    const hd_code *code = hd_shadow_code(w);
    hd_ref ref = k == 0 ? op->a : k == 1 ? op->b : op->c;
    const uint32_t sizes[] = {code->register_bytes, code->constant_bytes, w->cta->program->special_bytes, 0};
    uint32_t at = ref & ((1u << HD_REF_SHIFT) - 1);
    return ref != HD_NO_REF && at % 4 == 0 && (uint64_t)at + ROW_BYTES <= sizes[ref >> HD_REF_SHIFT] ? hd_row(w, ref)
                                                                                                     : NULL;
}

/* What undefined bits of a lane's register are in one of the executions: extremes, that neighbours have the other way
 * round because they may be halves; random numbers; and another operand, with which it may be compared. */
static uint32_t value_of(uint32_t execution, uint32_t number, uint32_t lane, const uint32_t *other)
{
    switch (execution) {
    case 0: return 0;
    case 1: return UINT32_MAX;
    case 2: return number % 2 ? 0x7fffffffu : 0x80000000u;
    case 3: return number % 2 ? 0x80000000u : 0x7fffffffu;
    default: return other ? other[lane] : mixed(execution * 0x10001u + number * LANES + lane);
    }
}

static void put_values(hd_warp *w, const reg_row *r, uint32_t execution, const uint32_t *other)
{
    uint32_t *row = hd_row_of_frame(w, r->ref);
    const uint32_t *undefined = (const uint32_t *)(const void *)hd_shadow_row(w, r->ref);
    for (uint32_t i = 0; i < row_bytes(r) / 4; i++) {
        uint32_t value = value_of(execution, r->number, i, r->is_word ? NULL : other);
        row[i] = (row[i] & ~undefined[i]) | (value & undefined[i]);
    }
}

typedef struct saved {
    uint32_t rows[MOST_ROWS][LANES];
} saved;

static void save_rows(saved *to, const hd_warp *w, const reg_rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++)
        memcpy(to->rows[i], hd_row(w, rows->items[i].ref), row_bytes(&rows->items[i]));
}

static void restore_rows(const saved *from, hd_warp *w, const reg_rows *rows)
{
    for (uint32_t i = 0; i < rows->count; i++)
        memcpy(hd_row_of_frame(w, rows->items[i].ref), from->rows[i], row_bytes(&rows->items[i]));
}

/* Executes the op with other values of undefined bits; `changed`: bits of the rows that are not always the same. */
static hd_step try_values(const hd_op *op, hd_warp *w, uint32_t mask, const reg_rows *rows, const saved *old,
                          saved *changed)
{
    saved first;
    memset(changed, 0, sizeof *changed);
    for (uint32_t execution = 0; execution < VALUES; execution++) {
        uint32_t copied = execution - PLAIN_VALUES - RANDOM_VALUES, copy[LANES];
        const uint32_t *other = copied < COPIED_VALUES ? operand_row(op, w, copied) : NULL;
        if (other)
            other = memcpy(copy, other, sizeof copy);
        restore_rows(old, w, rows);
        for (uint32_t i = 0; i < rows->count; i++)
            if (rows->items[i].reads)
                put_values(w, &rows->items[i], execution, other);
        if (op->run(op, w, mask) != HD_STEP_NEXT)
            return HD_STEP_STOP;
        if (!execution)
            save_rows(&first, w, rows);
        for (uint32_t i = 0; i < rows->count; i++) {
            const uint32_t *row = hd_row(w, rows->items[i].ref);
            for (uint32_t k = 0; k < row_bytes(&rows->items[i]) / 4; k++)
                changed->rows[i][k] |= row[k] ^ first.rows[i][k];
        }
    }
    return HD_STEP_NEXT;
}

/* The shadows of results that depend on registers only. */
static hd_step spread(const hd_op *op, hd_warp *w, uint32_t mask, const reg_rows *rows)
{
    saved old, changed;
    if (!rows->writes)
        return HD_STEP_NEXT;
    if (!any_undefined(w, rows, mask)) {
        set_written(w, rows, mask, 0);
        return HD_STEP_NEXT;
    }
    save_rows(&old, w, rows);
    hd_step step = try_values(op, w, mask, rows, &old, &changed);
    restore_rows(&old, w, rows);
    if (step == HD_STEP_STOP)
        return step;
    hd_shadow_origin(op, w, mask, false);
    for (uint32_t i = 0; i < rows->count; i++) {
        const reg_row *r = &rows->items[i];
        uint32_t lanes = r->uniform ? HD_ALL_LANES : mask;
        if (r->writes && r->is_word)
            hd_shadow_set(hd_shadow_row(w, r->ref), 0, lanes, changed.rows[i][0]);
        else if (r->writes)
            hd_merge(hd_shadow_row(w, r->ref), changed.rows[i], lanes, 4);
    }
    return HD_STEP_NEXT;
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static uint8_t access_of(const hd_machine_form *form) { return form->row ? form->row->access : HD_SASS_ACCESS_NONE; }

/* The memory is addressed, and has shadows or always a value. */
static bool is_memory(const hd_op *op, const hd_machine_form *form)
{
    return op->flags & HD_OP_MEMORY && access_of(form) != HD_SASS_ACCESS_NONE;
}

static bool changes_memory(const hd_machine_form *form)
{
    uint8_t access = access_of(form);
    return access == HD_SASS_ACCESS_STORE || access == HD_SASS_ACCESS_ATOMIC || access == HD_SASS_ACCESS_REDUCE ||
           access == HD_SASS_ACCESS_COPY;
}

static bool is_barrier(const hd_machine_form *form)
{
    return form->row && (form->row->control == HD_SASS_CONTROL_BARRIER || form->row->control == HD_SASS_CONTROL_WARP);
}

/* Calls and returns list what is passed among their operands; where they go to is checked when they do. */
static bool passes_registers(const hd_machine_form *form)
{
    return form->row && (form->row->control == HD_SASS_CONTROL_CALL || form->row->control == HD_SASS_CONTROL_RETURN);
}

/* Lanes whose guard is undefined. */
static uint32_t unguarded(const hd_op *op, const hd_warp *w, uint32_t active)
{
    uint32_t guard = hd_shadow_insn(op, hd_shadow_code(w))->guard;
    return guard == HD_NONE ? 0 : hd_shadow_register(w, guard) & active;
}

static bool is_matrix_load(const hd_machine_form *form)
{
    return access_of(form) == HD_SASS_ACCESS_LOAD && strcmp(form->row->opcode, "LDSM") == 0;
}

static hd_step before(const hd_op *op, hd_warp *w, uint32_t mask, const hd_machine_form *form)
{
    reg_rows rows;
    uint8_t access = access_of(form);
    if (passes_registers(form))
        return HD_STEP_NEXT;
    if (is_barrier(form) && op->flags & (HD_OP_CONTROL | HD_OP_RETRY))
        return hd_uninitialized_all(op, w, mask, "an operand of a barrier");
    if (op->flags & HD_OP_CONTROL)
        return hd_uninitialized_all(op, w, mask, "the condition or target of a branch");
    if (hd_uninitialized_addresses(op, w, mask) == HD_STEP_STOP)
        return HD_STEP_STOP;
    if (is_memory(op, form))
        return is_matrix_load(form) && mask == HD_ALL_LANES ? hd_shadow_matrix_load(op, w, mask) : HD_STEP_NEXT;
    if (!list_rows(op, w, &rows))
        return HD_STEP_NEXT;
    if (access == HD_SASS_ACCESS_NONE && (mask == HD_ALL_LANES || form->row->unit != HD_SASS_UNIT_TENSOR))
        return spread(op, w, mask, &rows);
    set_written(w, &rows, mask, 0);
    return HD_STEP_NEXT;
}

hd_step hd_uninitialized_machine_before(const hd_op *op, hd_warp *w, uint32_t active, uint32_t mask)
{
    const hd_machine_form *form = form_of(op, w);
    uint32_t bad = unguarded(op, w, active);
    reg_rows rows;
    if (bad && (op->flags & (HD_OP_CONTROL | HD_OP_RETRY) || changes_memory(form)))
        return hd_uninitialized_report(op, w, bad, hd_shadow_insn(op, hd_shadow_code(w))->guard, "a guard");
    hd_step step = mask ? before(op, w, mask, form) : HD_STEP_NEXT;
    if (bad && step == HD_STEP_NEXT && list_rows(op, w, &rows))
        set_written(w, &rows, bad, bad);
    return step;
}

/* Operands of atomics besides their addresses, which are defined. */
static hd_step after_atomic(const hd_op *op, hd_warp *w, uint32_t mask)
{
    reg_rows rows;
    if (!list_rows(op, w, &rows))
        return HD_STEP_NEXT;
    for (uint32_t i = 0; i < rows.count; i++) {
        const reg_row *r = &rows.items[i];
        const unsigned char *shadow = hd_shadow_row(w, r->ref);
        HD_EACH_BIT (lane, r->reads && !r->writes && !r->is_word ? mask : 0)
            if (hd_shadow_has_no_value(w, shadow + (size_t)lane * 4, 4))
                return hd_uninitialized_report(op, w, 1u << lane, r->reg, "an operand of an atomic");
    }
    set_written(w, &rows, mask, 0);
    hd_shadow_define_bytes(op, w, mask);
    return HD_STEP_NEXT;
}

hd_step hd_uninitialized_machine_after(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_machine_form *form = form_of(op, w);
    reg_rows rows;
    if (!is_memory(op, form) || is_matrix_load(form))
        return HD_STEP_NEXT;
    switch (access_of(form)) {
    case HD_SASS_ACCESS_LOAD: {
        uint32_t bad = unguarded(op, w, mask);
        hd_shadow_load(op, w, mask);
        if (bad && list_rows(op, w, &rows))
            set_written(w, &rows, bad, bad);
        return HD_STEP_NEXT;
    }
    case HD_SASS_ACCESS_STORE:
        if (strcmp(form->row->opcode, "STSM") != 0)
            return hd_shadow_store(op, w, mask);
        hd_shadow_define_bytes(op, w, mask);
        return HD_STEP_NEXT;
    case HD_SASS_ACCESS_ATOMIC:
    case HD_SASS_ACCESS_REDUCE: return after_atomic(op, w, mask);
    default: return HD_STEP_NEXT;
    }
}
