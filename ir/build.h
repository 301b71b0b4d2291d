/* Making code in memory: registers, labels, operands, instructions; and rewriting a function's instruction array.
 *
 * Operands are made without roles; hd_make_instruction gives them theirs from the instruction table, exactly as the
 * parser does. An edit collects changes and builds the new arrays once: O(function) however many there are. Ids and
 * origins of what stays are kept; labels, statements and annotations follow.
 */
#ifndef HD_IR_BUILD_H
#define HD_IR_BUILD_H

#include "ir/cfg.h"

/* ---- names: each adds a statement that has no text (an empty span where the printer is to put it) ---------------- */

/* Declares `.reg .type name;` or `.reg .type stem<count>;` at the start of the body and makes all its registers; the
 * first id. The name must be free in the function. */
uint32_t hd_make_register(hd_function *function, const char *name, hd_type type);
uint32_t hd_make_registers(hd_function *function, const char *stem, hd_type type, uint32_t count);
/* Declares `.local .align ALIGN .b8 name[bytes];` at the start of the body: its symbol. The name gets a number where it
 * is taken. The size is given when it is known: hd_local_resize. */
uint32_t hd_make_local(hd_function *function, const char *name, uint32_t align);
void hd_local_resize(hd_module *module, uint32_t symbol, uint32_t bytes);
/* A label at the end of the body so far; hd_edit_label_before places one elsewhere. */
uint32_t hd_make_label(hd_function *function, const char *name);

/* ---- operands; an aggregate (vector, address, pair, list) is followed by its `count` elements -------------------- */
hd_operand hd_make_register_operand(uint32_t reg);
hd_operand hd_make_literal_operand(hd_module *module, uint64_t bits, hd_literal_kind kind);
/* SYMBOL, LABEL, TABLE, SREG (no component), SINK, NAME. */
hd_operand hd_make_operand(hd_operand_kind kind, uint32_t value);
hd_operand hd_make_aggregate(hd_operand_kind kind, uint32_t count);

/* An instruction of the function that is nowhere yet: its operands are appended to function->operands, its form is
 * found by spelling ("add.s32"), roles and implicit operands are given, mistakes reported (then *ok is false; ok may be
 * NULL). Its id is new, its origin itself until an edit replaces an instruction by it. */
hd_instruction hd_make_instruction(hd_function *function, const char *spelling, uint32_t guard, bool guard_not,
                                   const hd_operand *operands, uint32_t count, bool *ok);
/* Appends to the body: the instruction's ordinal. For functions that are built from nothing. */
uint32_t hd_append_instruction(hd_function *function, hd_instruction insn);

/* ---- edits ------------------------------------------------------------------------------------------------------- */

typedef enum hd_edit_kind {
    HD_EDIT_AFTER,
    HD_EDIT_LABEL,
    HD_EDIT_BEFORE,
    HD_EDIT_REPLACE,
    HD_EDIT_REMOVE
} hd_edit_kind;
typedef struct hd_edit_step {
    uint32_t at, order; /* ordinal before the edit; in order of asking */
    uint8_t kind;
    uint32_t label;
    hd_instruction insn;
} hd_edit_step;

/* Ordinals are those before the edit, all through. Steps at one place keep their order. */
typedef struct hd_edit {
    hd_function *function;
    HD_ARRAY(hd_edit_step) steps;
} hd_edit;
void hd_edit_begin(hd_edit *edit, hd_function *function);
/* After the labels there: jumps run it too. at = the instruction count: at the end. */
void hd_edit_before(hd_edit *edit, uint32_t at, hd_instruction insn);
/* In front of the next instruction's labels: jumps pass it by. */
void hd_edit_after(hd_edit *edit, uint32_t at, hd_instruction insn);
/* Takes over id, origin and location; annotations stay. */
void hd_edit_replace(hd_edit *edit, uint32_t at, hd_instruction insn);
/* With its annotations; labels go to the next instruction. */
void hd_edit_remove(hd_edit *edit, uint32_t at);
/* A new label there, in front of what is inserted before `at`. */
uint32_t hd_edit_label_before(hd_edit *edit, uint32_t at, const char *name);
/* Applies all steps, drops the CFG, marks the function changed; true where there was any step. The edit is empty and
 * freed after. */
bool hd_edit_end(hd_edit *edit);

#endif
