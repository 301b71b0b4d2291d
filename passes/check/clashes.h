/* Instructions that a load must not be moved across, for checkers: counted while a block is walked in text order.
 *
 *   ordering   barriers, fences, atomics, calls, exchanges within the warp, volatile, ordered and unknown instructions,
 *              reads of a clock
 *   stores     that may write the loaded bytes: in the same space, and at generic addresses. A load at a generic
 *              address may read anything except variables that are only accessed by name. Loads of constants,
 *              parameters and read-only memory may be moved across stores to other spaces
 *
 * Constant time per step and query, except for the search among local variables.
 */
#ifndef HD_PASSES_CHECK_CLASHES_H
#define HD_PASSES_CHECK_CLASHES_H

#include "base/array.h"
#include "ir/form.h"

typedef enum hd_clash_class {
    HD_CLASH_ORDERING,
    HD_CLASH_ANYWHERE,
    HD_CLASH_GLOBAL,
    HD_CLASH_SHARED,
    HD_CLASH_LOCAL,
    HD_CLASH_PARAM,
    HD_CLASH_CLASSES
} hd_clash_class;

typedef struct hd_clash_count {
    uint32_t count, last; /* last: ordinal */
} hd_clash_count;

typedef struct hd_private_variable { /* a local variable used only as the base of accesses */
    uint32_t symbol;
    hd_clash_count stores;
} hd_private_variable;

typedef struct hd_clashes {
    const hd_function *function;
    hd_clash_count counts[HD_CLASH_CLASSES];
    HD_ARRAY(hd_private_variable) variables; /* ascending */
} hd_clashes;

void hd_clashes_init(hd_clashes *clashes, const hd_function *function);
void hd_clashes_free(hd_clashes *clashes);
void hd_clashes_begin_block(hd_clashes *clashes);
void hd_clashes_step(hd_clashes *clashes, uint32_t ordinal); /* advances past this instruction of the block */
/* The number of instructions so far that the load must not cross; *last: the last of them, if any. */
uint32_t hd_clashes_with(hd_clashes *clashes, const hd_instruction *load, uint32_t *last);
/* Whether the load must not cross this instruction, regardless of its position. */
bool hd_clashes_at(hd_clashes *clashes, const hd_instruction *load, uint32_t ordinal);

#endif
