/* Changes of instructions in place, shared by the simplification passes. Private to passes/.
 *
 * A change that the instruction table does not allow is not made, and nothing is reported: passes may try changes.
 */
#ifndef HD_PASSES_REWRITE_H
#define HD_PASSES_REWRITE_H

#include "ir/build.h"
#include "passes/pass.h"

enum { HD_REWRITE_OPERANDS = 64 }; /* instructions with more operands (flat) are not changed */

/* The position of an operand in its instruction. */
typedef enum hd_operand_slot {
    HD_SLOT_SCALAR,  /* at top level or in a pair */
    HD_SLOT_BASE,    /* base of an address */
    HD_SLOT_ELEMENT, /* of a vector, a list, or an address (other than its base) */
    HD_SLOT_FIXED    /* must not change: component of a whole vector register, subscript */
} hd_operand_slot;
/* By flat operand of the instruction; false if it has more than HD_REWRITE_OPERANDS. */
bool hd_operand_slots(const hd_function *function, const hd_instruction *insn, uint8_t slots[HD_REWRITE_OPERANDS]);

/* Replaces opcode and operands (without implicit ones; those of the old instruction are removed). Id, origin, position
 * and guard stay. Branches must be neither created nor replaced. false: invalid, nothing changed. */
bool hd_rewrite_instruction(hd_function *function, uint32_t ordinal, const char *spelling, const hd_operand *operands,
                            uint32_t count);
/* Replaces flat operand `index` and its children; the form stays. */
bool hd_rewrite_operand(hd_function *function, uint32_t ordinal, uint32_t index, const hd_operand *with,
                        uint32_t count);

/* Whether the operand is a plain read of a register that may be replaced. */
bool hd_operand_is_reading(const hd_function *function, const hd_instruction *insn, const hd_operand *operand);
/* A literal operand for bits of that width (8 .. 64), as an integer. */
hd_operand hd_rewrite_integer(hd_module *module, uint64_t bits, uint32_t width);
/* A stem that no register name of the function begins with: "%name" or "%nameN_". In the arena. */
const char *hd_rewrite_stem(const hd_function *function, const char *name, hd_arena *arena);
/* Redeclares registers of inner scopes ({ .reg .b32 t; .. }) for the whole body under unique names, so that they may be
 * read anywhere. true if there were any. Vector registers are not moved: *vectors is set if there are any.
 */
bool hd_rewrite_hoist(hd_function *function, hd_arena *arena, bool *vectors);
/* Appends the variables of inner scopes, which cannot be named outside, except call parameters. */
void hd_scoped_variables(const hd_function *function, hd_u32_array *variables);
/* Whether one of those has the same name as the symbol, so that the name means something else elsewhere. */
bool hd_is_scoped_name(const hd_module *module, const hd_u32_array *variables, uint32_t symbol);
/* Whether the instruction only computes its destinations, so that it may be removed if they are unread, and executed
 * twice. Excludes loads that are observable by memory order or devices. */
bool hd_insn_is_removable(const hd_function *function, const hd_instruction *insn);

#endif
