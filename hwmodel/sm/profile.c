/* See profile.h. */
#include "hwmodel/sm/profile.h"

typedef struct profiled { /* a launch */
    bool begun;
    hd_profile_counts **functions; /* by function, then instruction; NULL: nothing of it is executed */
    hd_profile_counts rest;        /* of no instruction */
} profiled;

struct hd_profile {
    const hd_module *module;
    HD_ARRAY(profiled) launches; /* by their number */
    profiled *now;               /* the launch in progress */
};

hd_profile *hd_profile_new(const hd_module *module)
{
    hd_profile *p = hd_calloc(1, sizeof *p);
    p->module = module;
    return p;
}

void hd_profile_free(hd_profile *p)
{
    if (!p)
        return;
    for (uint32_t l = 0; l < p->launches.count; l++) {
        for (uint32_t f = 0; p->launches.items[l].begun && f < p->module->functions.count; f++)
            free(p->launches.items[l].functions[f]);
        free(p->launches.items[l].functions);
    }
    hd_array_free(&p->launches);
    free(p);
}

static const profiled *launch_of(const hd_profile *p, uint32_t launch)
{
    return launch < p->launches.count && p->launches.items[launch].begun ? &p->launches.items[launch] : NULL;
}

const hd_profile_counts *hd_profile_of(const hd_profile *p, uint32_t launch, uint32_t function)
{
    const profiled *of = launch_of(p, launch);
    return of ? of->functions[function] : NULL;
}

const hd_profile_counts *hd_profile_rest(const hd_profile *p, uint32_t launch)
{
    const profiled *of = launch_of(p, launch);
    return of ? &of->rest : NULL;
}

/* ---- events ------------------------------------------------------------------------------------------------------ */

static void begin_launch(void *context, uint32_t launch, uint32_t function, uint64_t cycle)
{
    hd_profile *p = context;
    (void)function;
    (void)cycle;
    while (p->launches.count <= launch)
        hd_array_push(&p->launches, (profiled){.begun = false});
    p->now = &p->launches.items[launch];
    if (!p->now->begun)
        p->now->functions = hd_calloc(p->module->functions.count, sizeof(hd_profile_counts *));
    p->now->begun = true;
}

static hd_profile_counts *counts_of(hd_profile *p, const hd_sm_subject *subject)
{
    if (subject->instruction == HD_NONE)
        return &p->now->rest;
    hd_profile_counts **of = &p->now->functions[subject->function];
    if (!*of)
        *of = hd_calloc(p->module->functions.items[subject->function]->instructions.count, sizeof **of);
    return &(*of)[subject->instruction];
}

static void add_issue(void *context, const hd_sm_issue_event *e)
{
    hd_profile_counts *to = counts_of(context, &e->subject);
    to->slots[HD_SM_SLOT_ISSUED]++;
    to->warps++;
    to->active += (uint32_t)__builtin_popcount(e->subject.active);
    to->executed += (uint32_t)__builtin_popcount(e->subject.effective);
}

static void add_stall(void *context, const hd_sm_stall_event *e)
{
    counts_of(context, &e->subject)->slots[e->reason] += (e->end - e->begin) * e->slots;
}

static void add_wait(void *context, const hd_sm_wait_event *e)
{
    counts_of(context, &e->subject)->cycles[e->state] += e->end - e->begin;
}

static void add_access(void *context, const hd_sm_access_event *e)
{
    hd_profile_counts *to = counts_of(context, &e->subject);
    switch ((hd_sm_level)e->level) {
    case HD_SM_LEVEL_REQUEST:
        to->requests++;
        to->sectors += e->sectors;
        to->least_sectors += e->least_sectors;
        return;
    case HD_SM_LEVEL_SHARED:
        to->shared_accesses++;
        to->shared_passes += e->passes;
        to->least_passes += e->least_passes;
        return;
    case HD_SM_LEVEL_L1:
        to->l1_reads++;
        to->l1_hits += e->hits == e->sectors;
        return;
    case HD_SM_LEVEL_L2:
        to->l2_sectors += e->sectors;
        to->l2_hits += e->hits;
        return;
    case HD_SM_LEVEL_CONSTANT:
    case HD_SM_LEVEL_TEXTURE: return;
    }
}

hd_sm_listener hd_profile_listener(hd_profile *p)
{
    static const hd_sm_listener_ops ops = {
        .launch_begin = begin_launch, .issue = add_issue, .stall = add_stall, .wait = add_wait, .access = add_access};
    return (hd_sm_listener){&ops, p, HD_NONE};
}
