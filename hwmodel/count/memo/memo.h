/* Looks up what a model did before in the same state: an optional part of a walk.
 *
 * A state is what the model knows of a warp, as its snapshot has it (hwmodel/rf/memo.h), together with which lanes of
 * which registers were written in its frames; with classes of lanes (classes.h) in place of lanes, so that warps whose
 * lanes diverge in other places are in the same state. A transition leads from a state, by an event (a segment of
 * instructions, or a part of one, and how its masks split the classes; a return; a warp's coming or leaving where
 * warps take turns; its end), to the next state. The model has walked it once, every operand was proved, and its
 * effects are kept (effects.h). Where a warp takes it again, replaying these is all there is to do: the model would do
 * the same, as it knows the same. The model is restored from the state only where the warp does something new.
 *
 * Walked every time are segments without a shape (segment.h), warps with more than HD_SNAPSHOT_FRAMES frames, and what
 * there is no room for. Neither counters nor what is found wrong depend on what was looked up; but where shared
 * storage goes wrong, the last instruction of the segment is named.
 *
 * Cost: O(effects) for an event that is looked up; else the walk, and O(registers of the warp's frames) for a snapshot.
 * Memory: HD_MEMO_TRANSITIONS, and HD_MEMO_BYTES of states and effects, at most.
 */
#ifndef HD_HWMODEL_COUNT_MEMO_MEMO_H
#define HD_HWMODEL_COUNT_MEMO_MEMO_H

#include "hwmodel/record/walk.h"

enum { HD_MEMO_TRANSITIONS = 1 << 15, HD_MEMO_BYTES = 2 << 20 };

extern const hd_walk_memo hd_memo; /* for hd_count_use_memo */

#endif
