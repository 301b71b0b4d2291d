/* Warp-level liveness by words of the register file: see warp_words.h. */
#include "passes/analysis/warp_words.h"

static hd_register_set union_of(hd_set_union *both, hd_register_set live, hd_register_set pend, hd_arena *arena)
{
    hd_set_union_add(both, live);
    hd_set_union_add(both, pend);
    return hd_set_union_take(both, arena);
}

static void join_all(hd_pass_context *context, hd_warp_words *w, hd_arena *arena)
{
    uint32_t blocks = hd_function_cfg(context->function)->block_count;
    w->warp = hd_warp_liveness_over(context, w->thread, arena);
    hd_register_set *in = HD_ARENA_ARRAY(arena, hd_register_set, (size_t)blocks + 1);
    hd_register_set *out = HD_ARENA_ARRAY(arena, hd_register_set, (size_t)blocks + 1);
    hd_set_union both = {0};
    for (uint32_t b = 0; b < blocks; b++) {
        in[b] = union_of(&both, w->thread->live_in[b], w->warp->pend[b], arena);
        out[b] = union_of(&both, w->thread->live_out[b], w->warp->pend[b], arena);
    }
    in[blocks] = w->thread->live_in[blocks];
    hd_set_union_free(&both);
    w->in = in;
    w->out = out;
}

const hd_warp_words *hd_warp_words_build(hd_pass_context *context, hd_arena *arena)
{
    hd_warp_words *w = HD_ARENA_NEW(arena, hd_warp_words);
    w->storage = hd_storage_of(context->function, arena);
    w->thread = hd_liveness_of_words(context->function, &w->storage, arena);
    join_all(context, w, arena);
    return w;
}

hd_warp_words *hd_warp_words_of(hd_pass_context *context, hd_arena *arena)
{
    hd_warp_words *w = HD_ARENA_NEW(arena, hd_warp_words);
    w->storage = *(const hd_storage *)hd_analysis_get(context, HD_ANALYSIS_STORAGE);
    w->thread = hd_analysis_get(context, HD_ANALYSIS_LIVE_WORDS);
    join_all(context, w, arena);
    return w;
}

void hd_warp_words_walk(hd_live_walk *walk, hd_arena *arena, const hd_warp_words *words)
{
    hd_live_walk_warp(walk, arena, (hd_function *)words->storage.function, words->warp);
}
