/* Changing instructions in place: what the simplification passes share. Private to passes/.
 *
 * A change that the instruction table does not allow is not made, and nothing is reported: the passes try.
 */
#ifndef HD_PASSES_REWRITE_H
#define HD_PASSES_REWRITE_H

#include "ir/build.h"
#include "passes/pass.h"

enum { HD_REWRITE_OPERANDS = 64 }; /* instructions with more operands (flat) are left alone */

/* How an operand is in its instruction. */
typedef enum hd_operand_place {
    HD_PLACE_SCALAR,  /* on its own at top level, or in a pair */
    HD_PLACE_BASE,    /* base of an address */
    HD_PLACE_ELEMENT, /* of a vector, a list, or what else an address holds */
    HD_PLACE_FIXED    /* may not be changed: component of a whole vector register, subscript */
} hd_operand_place;
/* By flat operand of the instruction; false where it has more than HD_REWRITE_OPERANDS. */
bool hd_operand_places(const hd_function *function, const hd_instruction *insn, uint8_t places[HD_REWRITE_OPERANDS]);

/* Another opcode and other operands (without implicit ones; those of the old instruction go). Id, origin, place and
 * guard stay; a branch must not be made or replaced. false: does not fit, nothing changed. */
bool hd_rewrite_instruction(hd_function *function, uint32_t ordinal, const char *spelling, const hd_operand *operands,
                            uint32_t count);
/* Replaces flat operand `index` and what follows it down to its next sibling by others; the form stays. */
bool hd_rewrite_operand(hd_function *function, uint32_t ordinal, uint32_t index, const hd_operand *with,
                        uint32_t count);

/* Registers read only by this operand: a plain reading that may be replaced. */
bool hd_operand_is_reading(const hd_function *function, const hd_instruction *insn, const hd_operand *operand);
/* A literal operand for bits of that width (8 .. 64), as an integer. */
hd_operand hd_rewrite_integer(hd_module *module, uint64_t bits, uint32_t width);
/* A stem that no register name of the function begins with: "%name" or "%nameN_". In the arena. */
const char *hd_rewrite_stem(const hd_function *function, const char *name, hd_arena *arena);
/* Declares registers of inner scopes ({ .reg .b32 t; .. }) anew for the whole body, under names of their own, so that
 * they may be read anywhere and hide nothing. true where there were any. Vector registers stay: *vectors reports of
 * them.
 */
bool hd_rewrite_hoist(hd_function *function, hd_arena *arena, bool *vectors);
/* Appends the variables of inner scopes, which cannot be named outside, but for parameters of calls. */
void hd_scoped_variables(const hd_function *function, hd_u32_array *variables);
/* Whether one of those has the name of that symbol: it stands for something else, or nothing, somewhere else. */
bool hd_is_scoped_name(const hd_module *module, const hd_u32_array *variables, uint32_t symbol);
/* Whether the instruction only computes its destinations: it may go where they are not read, and be done twice. Loads
 * that memory order or a device may see are not among them. */
bool hd_insn_is_removable(const hd_function *function, const hd_instruction *insn);

#endif
