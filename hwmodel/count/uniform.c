/* Uniform branches: see uniform.h. */
#include "hwmodel/count/uniform.h"

struct hd_rf_uniform {
    const hd_rf_module *code;
    hd_arena arena;
    bool any;            /* is expected */
    hd_bitset *expected; /* by function, by instruction; words NULL where nothing is */
    /* by warp of the launch: the last that is called uniform; no lanes: none, or it was looked at */
    HD_ARRAY(hd_rf_branch) branches;
};

hd_rf_uniform *hd_rf_uniform_new(const hd_rf_module *code)
{
    hd_rf_uniform *u = hd_calloc(1, sizeof *u);
    u->code = code;
    u->expected = HD_ARENA_ARRAY(&u->arena, hd_bitset, code->module->functions.count);
    return u;
}

void hd_rf_uniform_free(hd_rf_uniform *u)
{
    hd_array_free(&u->branches);
    hd_arena_free(&u->arena);
    free(u);
}

void hd_rf_uniform_expect(hd_rf_uniform *u, uint32_t function, uint32_t instruction)
{
    hd_bitset *set = &u->expected[function];
    if (!set->words)
        *set = hd_bitset_new(&u->arena, u->code->functions[function]->instruction_count);
    hd_bitset_add(set, instruction);
    u->any = true;
}

static hd_rf_branch *branch_of(hd_rf_uniform *u, uint32_t warp)
{
    if (warp >= u->branches.count) {
        uint32_t more = warp + 1 - u->branches.count;
        memset(hd_array_extend(&u->branches, more), 0, more * sizeof *u->branches.items);
    }
    return &u->branches.items[warp];
}

void hd_rf_uniform_start(hd_rf_uniform *u, uint32_t warp)
{
    if (u->any)
        branch_of(u, warp)->lanes = 0;
}

void hd_rf_uniform_record(hd_rf_uniform *u, uint32_t warp, hd_rf_branch last)
{
    const hd_bitset *set = &u->expected[last.function];
    if (set->words && hd_bitset_has(set, last.instruction))
        *branch_of(u, warp) = last;
}

const hd_rf_branch *hd_rf_uniform_split(hd_rf_uniform *u, const hd_event *event)
{
    if (!u->any)
        return NULL;
    hd_rf_branch *b = branch_of(u, event->warp);
    if (!b->lanes || b->frame != event->frame)
        return NULL;
    uint32_t stayed = b->lanes & event->active;
    if (stayed && stayed != b->lanes)
        return b;
    b->lanes = 0;
    return NULL;
}

const hd_rf_branch *hd_rf_uniform_split_in(hd_rf_uniform *u, const hd_segment_event *s, uint32_t *part)
{
    if (!u->any)
        return NULL;
    for (uint32_t k = 0; k < s->part_count; k++) {
        const hd_segment_part *p = &s->parts[k];
        uint32_t end = k + 1 < s->part_count ? p[1].at : s->count;
        const hd_rf_branch *b =
            hd_rf_uniform_split(u, &(hd_event){.warp = s->warp, .frame = s->frame, .active = s->masks[p->active]});
        *part = k;
        if (b)
            return b;
        hd_rf_uniform_record(u, s->warp,
                             (hd_rf_branch){s->masks[p->active], p->first + (end - p->at) - 1, s->function, s->frame});
    }
    return NULL;
}
