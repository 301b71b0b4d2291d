/* Deeds arranged by ranks: see release_deeds.h. */
#include "hwmodel/rf/release_deeds.h"

typedef struct ranked {
    uint32_t count, moves;
    struct {
        bool held;
        uint32_t index, accesses; /* of the register that has it, or had it last */
    } ranks[HD_RELEASE_RANKS];
} ranked;

static bool is_move(const hd_shared_op *deed) { return deed->what == HD_RELEASE_TAKE || deed->what == HD_RELEASE_GIVE; }

/* The first one that is free, which may be a new one, or that of the register; ranks->count: none. */
static uint32_t rank_of(const ranked *ranks, const hd_shared_op *deed, bool robin)
{
    bool takes = deed->what == HD_RELEASE_TAKE;
    uint32_t k = takes && robin ? ranks->count : 0;
    while (k < ranks->count &&
           (takes ? ranks->ranks[k].held : !ranks->ranks[k].held || ranks->ranks[k].index != deed->index))
        k++;
    return k;
}

/* false: it is not ranked. */
static bool rank_move(ranked *ranks, const hd_shared_op *deed, uint32_t most, bool robin)
{
    bool takes = deed->what == HD_RELEASE_TAKE;
    uint32_t k = rank_of(ranks, deed, robin);
    if (k == ranks->count && (!takes || k == most))
        return false;
    if (k == ranks->count)
        ranks->ranks[ranks->count++].accesses = 0;
    ranks->ranks[k].held = takes;
    ranks->ranks[k].index = deed->index;
    ranks->ranks[k].accesses += deed->n;
    ranks->moves++;
    return true;
}

/* Of the bank that has the register `first` and those so many banks further on. */
static void rank_bank(ranked *ranks, const hd_shared_ops *deeds, uint32_t banks, uint32_t first, uint32_t most,
                      bool robin)
{
    ranks->count = ranks->moves = 0;
    for (const hd_shared_op *deed = deeds->items, *end = deed + deeds->count; deed < end; deed++)
        if (is_move(deed) && deed->index % banks == first && !rank_move(ranks, deed, most, robin))
            return;
}

/* What is ranked is no deed any more in `rest`. */
static void take_out(hd_shared_ops *rest, const ranked *ranks, uint32_t banks, uint32_t first)
{
    uint32_t moves = ranks->moves;
    for (uint32_t i = 0; moves; i++) {
        hd_shared_op *deed = &rest->items[i];
        if (!is_move(deed) || deed->index % banks != first)
            continue;
        *deed = (hd_shared_op){HD_RELEASE_ISSUE, 0, 0, deed->also};
        moves--;
    }
}

/* The bank is told by a word of these deeds: the warp is another one where they are done again. */
static void add_ranks(hd_shared_ops *plan, const ranked *ranks)
{
    hd_array_push(plan, (hd_shared_op){HD_RELEASE_BANK, 0, ranks->ranks[0].index, ranks->count});
    for (uint32_t k = 0; k < ranks->count; k++)
        hd_array_push(plan, (hd_shared_op){HD_RELEASE_RANK, ranks->ranks[k].held, ranks->ranks[k].index,
                                           ranks->ranks[k].accesses});
}

/* Moves, and the instructions that begin, these with the next move where it can tell them. */
static void add_moves(hd_shared_ops *plan, const hd_shared_ops *rest)
{
    uint32_t issues = 0;
    for (const hd_shared_op *deed = rest->items, *end = deed + rest->count; deed < end; deed++) {
        issues += deed->what == HD_RELEASE_ISSUE ? deed->n : is_move(deed) ? deed->also : 0;
        if (!is_move(deed))
            continue;
        if (issues > UINT16_MAX)
            hd_array_push(plan, (hd_shared_op){HD_RELEASE_ISSUE, 0, 0, issues});
        hd_array_push(plan,
                      (hd_shared_op){deed->what, issues > UINT16_MAX ? 0 : (uint16_t)issues, deed->index, deed->n});
        issues = 0;
    }
    if (issues)
        hd_array_push(plan, (hd_shared_op){HD_RELEASE_ISSUE, 0, 0, issues});
}

/* Those that are neither moves nor instructions first, which do not depend on these; then the plan, and all of them. */
static void put_together(hd_shared_ops *deeds, const hd_shared_ops *plan, uint32_t ranks)
{
    hd_shared_ops moves = {0};
    uint32_t others = 0, count = deeds->count;
    add_moves(&moves, deeds);
    for (uint32_t i = 0; i < deeds->count; i++) {
        hd_shared_op deed = deeds->items[i];
        if (deed.what != HD_SHARED_NONE && deed.what != HD_RELEASE_ISSUE && !is_move(&deed))
            deeds->items[others++] = deed;
    }
    deeds->count = others;
    hd_array_push(deeds, (hd_shared_op){HD_RELEASE_PLAN, 0, ranks, plan->count});
    memcpy(hd_array_extend(deeds, plan->count), plan->items, plan->count * sizeof *plan->items);
    memcpy(hd_array_extend(deeds, moves.count), moves.items, moves.count * sizeof *moves.items);
    while (deeds->count < count) /* where something was noted stays behind where the next ones are */
        hd_array_push(deeds, (hd_shared_op){HD_SHARED_NONE, 0, 0, 0});
    hd_array_free(&moves);
}

void hd_release_arrange(hd_shared_ops *deeds, uint32_t banks, bool robin)
{
    hd_shared_ops plan = {0}, rest = {0};
    uint32_t left = HD_RELEASE_RANKS;
    ranked ranks;
    for (uint32_t first = 0; first < banks; first++) {
        rank_bank(&ranks, deeds, banks, first, left, robin);
        if (ranks.moves <= ranks.count)
            continue; /* would not be quicker */
        if (!rest.count)
            memcpy(hd_array_extend(&rest, deeds->count), deeds->items, deeds->count * sizeof *deeds->items);
        take_out(&rest, &ranks, banks, first);
        add_ranks(&plan, &ranks);
        left -= ranks.count;
    }
    uint32_t count = plan.count;
    if (count) {
        add_moves(&plan, &rest);
        put_together(deeds, &plan, count);
    }
    hd_array_free(&plan);
    hd_array_free(&rest);
}
