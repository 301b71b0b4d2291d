/* One warp instruction through the hooks of a model in count mode, in the order that technique.h gives, with the proof of each operand (identity.h).
 *
 * A model whose hooks are worth it has a walk of its own (HD_RF_WALK), where the compiler sees them together: half of a walk would else be calls and what
 * is handed over in memory.
 */
#ifndef HD_HWMODEL_RF_WALK_H
#define HD_HWMODEL_RF_WALK_H

#include "hwmodel/rf/technique.h"

static inline __attribute__((always_inline)) bool hd_rf_prove(const hd_rf_step *step, uint32_t word, const hd_rf_answer *answer, hd_rf_failure *failure)
{
    uint32_t index = hd_rf_index(step, word), delivered = 0;
    for (uint32_t p = 0; p < answer->count; p++) {
        const hd_rf_piece *piece = &answer->pieces[p];
        uint32_t wrong = hd_identity_unproved(&step->warp->identity, index, piece->owner, piece->claim, piece->lanes & step->effective);
        delivered |= piece->lanes;
        if (__builtin_expect(wrong != 0, 0))
            return hd_rf_fail(failure, step, (hd_rf_failure){.wrong = HD_RF_STALE, .place = piece->place, .word = word, .lanes = wrong});
    }
    uint32_t missing = step->effective & ~delivered;
    return __builtin_expect(!missing, 1) || hd_rf_fail(failure, step, (hd_rf_failure){.wrong = HD_RF_MISSING, .word = word, .lanes = missing});
}

/* false: an operand was not proved, and what is behind it was not done. */
static inline __attribute__((always_inline)) bool hd_rf_walk(const hd_rf_ops *ops, hd_rf_model *model, const hd_rf_step *step, hd_rf_failure *failure)
{
    if (ops->issue)
        ops->issue(model, step);
    if (step->effective) {
        const uint32_t sources = step->source_count, destinations = step->destination_count;
        for (uint32_t s = 0; s < sources; s++) {
            hd_rf_answer answer;
            answer.count = answer.bank = answer.extra_cycles = answer.with = 0;
            ops->operand_read(model, step, s, &answer);
            if (!hd_rf_prove(step, step->sources[s], &answer, failure))
                return false;
        }
        if (ops->unit_result)
            ops->unit_result(model, step);
        for (uint32_t d = 0; d < destinations; d++)
            ops->write_back(model, step, d);
    }
    if (ops->complete)
        ops->complete(model, step);
    return true;
}

/* The walk `name` of a model with these operations, which are constant. */
#define HD_RF_WALK(name, ops)                                                              \
    static __attribute__((flatten)) bool name(hd_rf_model *model, const hd_rf_step *step, hd_rf_failure *failure) \
    {                                                                                      \
        return hd_rf_walk(&(ops), model, step, failure);                                   \
    }

#endif
