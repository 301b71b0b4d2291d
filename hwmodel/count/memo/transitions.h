/* Models are automata, one for each warp: what they do with a stretch of its instructions follows from the stretch and
 * from what they know of the warp. Each pair of these is worked through once, and looked up from then on. What they do
 * to storage that warps share (`share` of memo.h) is noted there, and done again.
 *
 * A state is what all models of a feeder know of a warp, as states.h writes it down; the first one is that of a warp
 * before its first instruction. A transition leads from a state by a stretch, by a part of one, by a return, by a
 * warp's coming or leaving where warps take turns, or by its end, to the next state; the models have walked it once,
 * every operand was proved, and it keeps what they counted and told, and their deeds (effects.h). Where a warp takes it
 * again, that is all there is to do: the models would count the same, and deliver the same, as they know the same. So a
 * warp is with its models only while it does something new; else the automaton knows where it is.
 *
 * States and stretches do not tell which lanes they mean, only how these differ (lanes.h): a state has classes of
 * lanes, and each warp in it its own lanes in each of them. A stretch splits classes into parts, and the transition
 * keeps which of these its end unites to classes again.
 *
 * Calls. A stretch tells of which frame it is, as how many below it do not rest (states.h), and so whether it begins
 * one. Frames that a transition leaves behind rest from then on, with their own classes; each warp has those that rest
 * in it, one upon another. A return to them is looked up by the state, by what rests on top, and by how its classes and
 * the state's split each other. So automata have a stack, and functions, recursion too, are walked once for each state
 * at their call, wherever that is.
 *
 * Walked every time are stretches without a number, what happens with more frames than states.h takes, the end of a
 * warp where frames rest, and what there is no room for; and for a while all that is new, where writing it down has
 * cost more than it spared. Neither counters nor what is found wrong depend on what was looked up.
 *
 * Memory: HD_RF_TRANSITIONS, HD_RF_STATE_BYTES of states and of what transitions keep, and HD_RF_SPLITS of how masks
 * split classes (lanes.h), at most. Cost: O(1) a stretch that is looked up; else the walk, and the writing down of the
 * state.
 */
#ifndef HD_HWMODEL_COUNT_MEMO_TRANSITIONS_H
#define HD_HWMODEL_COUNT_MEMO_TRANSITIONS_H

#include "hwmodel/count/runner.h"
#include "hwmodel/count/segment.h"

enum { HD_RF_TRANSITIONS = 1 << 18, HD_RF_STATE_BYTES = 16 << 20 };

extern const hd_runner_memo hd_rf_automaton_memo; /* for hd_count_use_memo */

#endif
