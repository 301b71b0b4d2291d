/* Turns: which warps issue, and which of them goes first. Both drivers of models (technique.h) decide it so.
 *
 *   blocks    One more becomes resident while there are fewer than hd_turn_ctas, and the model's may_launch_cta agrees.
 *   active    At most hd_turn_active warps take turns. The others wait in a queue, in the order in which they came.
 *   leaving   A warp goes to the end of the queue when its next instruction would wait long, as for memory.
 *   joining   A place that is free goes to a warp of the queue that would not.
 *   first     Of several warps that could join, and of several active ones that could issue, the one with the highest
 *             rank_warp of the model goes first; of equals, the first in an order: of the queue, to join.
 *   switch    The model's warp_switch is called for each warp that leaves or joins.
 *
 * The drivers differ in what their clock counts, and so in what waiting long is, in the order of equals that could
 * issue, and in the length of a turn: docs/architecture.md compares them.
 */
#ifndef HD_HWMODEL_RF_TURNS_H
#define HD_HWMODEL_RF_TURNS_H

#include "base/minmax.h"
#include "hwmodel/rf/technique.h"

/* The warp that goes first of all that claimed the turn. Begins as HD_TURN_UNCLAIMED. */
typedef struct hd_turn {
    uint32_t warp; /* number that the driver gives it; HD_NONE: no warp claimed it */
    uint32_t rank;
    uint64_t order;
} hd_turn;
#define HD_TURN_UNCLAIMED ((hd_turn){.warp = HD_NONE})

/* Of equal rank and order, the warp that claimed it first keeps it. */
static inline void hd_turn_claim(hd_turn *turn, uint32_t warp, uint32_t rank, uint64_t order)
{
    if (turn->warp == HD_NONE || rank > turn->rank || (rank == turn->rank && order < turn->order))
        *turn = (hd_turn){warp, rank, order};
}

/* The most active warps, where the driver's policy has `most`. */
static inline uint32_t hd_turn_active(const hd_rf_model *model, uint32_t most)
{
    return model->active_warps ? hd_min(model->active_warps, most) : most;
}

/* The most resident blocks. ops: of the model, or none of its hooks where it steers nothing. */
static inline uint32_t hd_turn_ctas(const hd_rf_ops *ops, const hd_rf_residency *residency)
{
    return ops->may_launch_cta && residency->most_ctas ? residency->most_ctas : residency->ctas;
}

/* May the block become resident, beside so many? */
static inline bool hd_turn_admits(const hd_rf_ops *ops, hd_rf_model *model, const hd_rf_residency *residency,
                                  uint32_t resident, uint32_t cta)
{
    return resident < hd_turn_ctas(ops, residency) && (!ops->may_launch_cta || ops->may_launch_cta(model, cta));
}

#endif
