/* What all models of a feeder know of a warp, written down as words that have a number, and taken up again: see
 * memo.h.
 *
 * A state is what is known of the frame on top, and of those below it that something in motion still belongs to: what
 * callers left in a window, a cache, a collector. All others rest, in parts, each with a number of its own: what models
 * know of them waits for the return, and nothing that runs meanwhile depends on it. So a function that is called from
 * many places, at any depth, is in the same states. HD_SNAPSHOT_FRAMES that do not rest, and HD_RF_FRAMES in all, at
 * most.
 *
 * The words of both are how many classes of lanes (lanes.h) there are, the function of each frame, which registers were
 * written in which classes, and of each model how many words it has, and these. A warp in a state has its own lanes in
 * these classes, and its own lengths (hd_run_length): of lengths, only whether they are 0 is part of the state.
 *
 * O(what the models hold of the warp); of the frames that rest, only where they are taken up. Memory: the states; the
 * owner bounds them.
 */
#ifndef HD_HWMODEL_COUNT_MEMO_STATES_H
#define HD_HWMODEL_COUNT_MEMO_STATES_H

#include "hwmodel/count/runner.h"
#include "hwmodel/count/memo/lanes.h"

enum { HD_RF_FRAMES = 64 };

typedef struct hd_rf_call {   /* a frame of a warp */
    uint32_t frame, function; /* its serial */
} hd_rf_call;

typedef struct hd_rf_resting { /* frames of a warp, from those of the part below up to `top` */
    uint32_t number, top;
    uint32_t registers; /* of all frames below `top` */
    hd_rf_classes classes;
} hd_rf_resting;

typedef struct hd_rf_known {     /* of a warp */
    uint32_t state;              /* HD_NONE: it is not known; then nothing rests */
    hd_rf_classes classes;       /* of the state */
    HD_ARRAY(hd_rf_call) frames; /* from the kernel's on */
    HD_ARRAY(hd_rf_resting) resting;
} hd_rf_known;

void hd_rf_known_free(hd_rf_known *k);

/* Frames, and registers below the others, that rest. */
static inline uint32_t hd_rf_resting_frames(const hd_rf_known *k)
{
    return k->resting.count ? hd_array_last(&k->resting).top : 0;
}
static inline uint32_t hd_rf_resting_registers(const hd_rf_known *k)
{
    return k->resting.count ? hd_array_last(&k->resting).registers : 0;
}

/* Is it the frame on top? Which one is it; as many as there are: none. */
static inline bool hd_rf_known_tops(const hd_rf_known *k, uint32_t frame)
{
    return k->frames.count && hd_array_last(&k->frames).frame == frame;
}
uint32_t hd_rf_known_depth(const hd_rf_known *k, uint32_t frame);
/* As the feeder does: a frame begins with its first instruction, and ends when one below goes on. */
void hd_rf_known_follow_slow(hd_rf_known *k, const hd_rf_passage *passage);
static inline void hd_rf_known_follow(hd_rf_known *k, const hd_rf_passage *p)
{
    if ((p->kind == HD_EVENT_ISSUE || p->kind == HD_EVENT_RETURN) && !hd_rf_known_tops(k, p->frame))
        hd_rf_known_follow_slow(k, p);
}

typedef struct hd_rf_states {
    hd_rf_feeder *feeder; /* its models can be carried */
    hd_sequences numbers;
    hd_u32_array words, places; /* of the one that is written down or taken up; which of them are lanes */
    uint64_t carried;           /* words so far, either way */
} hd_rf_states;

/* The state of a warp between two instructions, whose frames are known; more of them than before may rest then. false:
 * it cannot be written down, or is a new one, and not to be added. meters: HD_RUN_LENGTHS for each model, of the
 * warp. */
bool hd_rf_states_write(hd_rf_states *s, hd_rf_living *living, hd_rf_known *known, hd_run_length *meters, bool add);
/* The models know the warp as it was written down. */
void hd_rf_states_take_up(hd_rf_states *s, const hd_rf_known *known, hd_rf_living *living, hd_run_length *meters);
void hd_rf_states_free(hd_rf_states *s);

#endif
