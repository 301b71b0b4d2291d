/* Builds code in memory: registers, operands, instructions; and edits of a function's instruction array.
 *
 * Operands are created without roles; hd_make_instruction assigns roles from the instruction table, exactly as the
 * parser does. An edit collects changes and rebuilds the arrays once: O(function) for any number of changes. Ids and
 * origins of remaining instructions are kept; labels, statements and annotations are updated.
 */
#ifndef HD_IR_BUILD_H
#define HD_IR_BUILD_H

#include "ir/cfg.h"

/* ---- names: each adds a statement without text (an empty span at the position where the printer inserts it)
 * ------- */

/* Declares `.reg .type stem<count>;` at the start of the body and creates its registers; returns the id of the first.
 * The names must be unused in the function. */
uint32_t hd_make_registers(hd_function *function, const char *stem, hd_type type, uint32_t count);
/* Declares `.local .align ALIGN .b8 name[bytes];` at the start of the body and returns its symbol. A number is appended
 * to the name if it is in use. The size is set later: hd_local_resize. */
uint32_t hd_make_local(hd_function *function, const char *name, uint32_t align);
void hd_local_resize(hd_module *module, uint32_t symbol, uint32_t bytes);

/* ---- operands; an aggregate (vector, address, pair, list) is followed by its `count` elements -------------------- */
hd_operand hd_make_register_operand(uint32_t reg);
hd_operand hd_make_literal_operand(hd_module *module, uint64_t bits, hd_literal_kind kind);
/* SYMBOL, LABEL, TABLE, SREG (no component), SINK, NAME. */
hd_operand hd_make_operand(hd_operand_kind kind, uint32_t value);
hd_operand hd_make_aggregate(hd_operand_kind kind, uint32_t count);

/* An instruction of the function that is not yet in a body: appends its operands to function->operands, finds its form
 * by spelling ("add.s32"), assigns roles and implicit operands, and reports errors (*ok becomes false; ok may be NULL).
 * Its id is new; its origin is itself until an edit replaces an instruction by it. */
hd_instruction hd_make_instruction(hd_function *function, const char *spelling, uint32_t guard, bool guard_not,
                                   const hd_operand *operands, uint32_t count, bool *ok);

/* ---- edits ------------------------------------------------------------------------------------------------------- */

typedef enum hd_edit_kind { HD_EDIT_AFTER, HD_EDIT_BEFORE, HD_EDIT_REPLACE, HD_EDIT_REMOVE } hd_edit_kind;
typedef struct hd_edit_step {
    uint32_t at, order; /* ordinal before the edit; order in which steps were requested */
    uint8_t kind;
    hd_instruction insn;
} hd_edit_step;

/* All ordinals are those before the edit. Steps at one position are applied in the order requested. */
typedef struct hd_edit {
    hd_function *function;
    HD_ARRAY(hd_edit_step) steps;
} hd_edit;
void hd_edit_begin(hd_edit *edit, hd_function *function);
/* Inserts after the labels at `at`, so that jumps to them execute it. at = the instruction count: at the end. */
void hd_edit_before(hd_edit *edit, uint32_t at, hd_instruction insn);
/* Inserts before the labels of the next instruction, so that jumps to them skip it. */
void hd_edit_after(hd_edit *edit, uint32_t at, hd_instruction insn);
/* The new instruction takes over id, origin, location and annotations. */
void hd_edit_replace(hd_edit *edit, uint32_t at, hd_instruction insn);
/* Removes the instruction and its annotations; its labels move to the next instruction. */
void hd_edit_remove(hd_edit *edit, uint32_t at);
/* Applies all steps, drops the CFG and marks the function changed; returns true if there was any step. The edit is then
 * empty and freed. */
bool hd_edit_end(hd_edit *edit);

#endif
