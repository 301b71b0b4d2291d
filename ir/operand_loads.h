/* Operands in memory: loads whose value goes to a source of an instruction after them, and to no register of the file.
 *
 * A group is a run of such loads and the instruction directly after the last of them, which they feed. The register
 * that a load names is in the text only. What inserts code keeps groups together: it goes before the first load, or
 * after the instruction.
 */
#ifndef HD_IR_OPERAND_LOADS_H
#define HD_IR_OPERAND_LOADS_H

#include "ir/annotations.h"

enum { /* annotation kinds by their roles */
#define HD_ANNOTATION(id, number, name, technique, place, value, words, summary)
#define HD_ANNOTATION_ROLE(role, id) HD_##role = HD_ANNOTATION_##id,
#include "ir/annotations.def"
#undef HD_ANNOTATION
#undef HD_ANNOTATION_ROLE
};

/* O(log annotations) an instruction looked at. */
bool hd_insn_is_operand_load(const hd_function *function, uint32_t ordinal);
/* Where the group of the instruction begins; the instruction itself where it is in none. */
uint32_t hd_operand_group_first(const hd_function *function, uint32_t ordinal);
/* The instruction after the loads of the group that `load` belongs to; HD_NONE: none follows. */
uint32_t hd_operand_group_consumer(const hd_function *function, uint32_t load);

/* By register: does nothing but loads of operands write it, and nothing but the source that each feeds read it? Such a
 * register needs no place in the file. In the arena; NULL where there are no operand loads. */
bool *hd_operand_registers(const hd_function *function, hd_arena *arena);

#endif
