/* Branches that a pass took for uniform: each must send all lanes of its warp the same way. The next instruction of the
 * warp's frame has all of them, then, or none. O(1) an instruction that is looked at; 16 bytes a warp of the launch
 * where anything is expected. */
#ifndef HD_HWMODEL_COUNT_UNIFORM_H
#define HD_HWMODEL_COUNT_UNIFORM_H

#include "base/bitset.h"
#include "hwmodel/rf/code.h"
#include "hwmodel/record/event.h"

typedef struct hd_rf_branch {
    uint32_t lanes, instruction, function, frame; /* lanes at it */
} hd_rf_branch;

typedef struct hd_rf_uniform hd_rf_uniform;
hd_rf_uniform *hd_rf_uniform_new(const hd_rf_module *code);
void hd_rf_uniform_free(hd_rf_uniform *u);
void hd_rf_uniform_expect(hd_rf_uniform *u, uint32_t function, uint32_t instruction); /* a branch or guarded exit */

/* A warp begins. */
void hd_rf_uniform_start(hd_rf_uniform *u, uint32_t warp);
/* What the warp has issued last. */
void hd_rf_uniform_record(hd_rf_uniform *u, uint32_t warp, hd_rf_branch last);
/* An ISSUE event. The branch before it that has split the warp, until another one is recorded; NULL: none. */
const hd_rf_branch *hd_rf_uniform_split(hd_rf_uniform *u, const hd_event *event);
/* The same for all events of a segment, which are recorded: within a part, all lanes go the same way. *part: the part
 * that the branch split. */
const hd_rf_branch *hd_rf_uniform_split_in(hd_rf_uniform *u, const hd_segment_event *segment, uint32_t *part);

#endif
