/* Memory operands (DeMO): loads whose value goes directly to a source of a later instruction, not to the register file.
 *
 * A group is a run of such loads and the instruction that directly follows the last of them, which consumes them. The
 * register named by a load exists only in the text. Code insertion keeps groups together: before the first load, or
 * after the consumer.
 */
#ifndef HD_IR_OPERAND_LOADS_H
#define HD_IR_OPERAND_LOADS_H

#include "ir/annotations.h"

enum { /* annotation kinds by their roles */
#define HD_ANNOTATION(id, number, name, technique, anchor, value, words, summary)
#define HD_ANNOTATION_ROLE(role, id) HD_##role = HD_ANNOTATION_##id,
#include "ir/annotations.def"
#undef HD_ANNOTATION
#undef HD_ANNOTATION_ROLE
};

/* O(log annotations). */
bool hd_insn_is_operand_load(const hd_function *function, uint32_t ordinal);
/* The first load of the instruction's group; the instruction itself if it is in no group. */
uint32_t hd_operand_group_first(const hd_function *function, uint32_t ordinal);
/* The consumer of the group that `load` belongs to; HD_NONE: none follows. */
uint32_t hd_operand_group_consumer(const hd_function *function, uint32_t load);

/* By register: whether it is written only by operand loads and read only by the sources that these feed. Such a
 * register needs no space in the register file. In the arena; NULL: there are no operand loads. */
bool *hd_operand_registers(const hd_function *function, hd_arena *arena);

#endif
