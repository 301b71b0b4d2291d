/* Count mode: see count.h. A few dozen operations a model, instruction and operand; memory for the warps that live at the same time. */
#include "hwmodel/rf/count.h"
#include "base/bitset.h"
#include <stdio.h>

typedef struct hd_count_warp {
    hd_rf_warp warp; /* first: models keep its address while the warp lives */
    bool alive;
    uint32_t number;
    uint32_t branch_lanes, branch, branch_function, branch_frame; /* lanes at a branch that is called uniform; 0 = none pending */
} hd_count_warp;

struct hd_count {
    const hd_rf_module *code;
    hd_diagnostics *diagnostics;
    HD_ARRAY(hd_rf_model *) models;
    HD_ARRAY(hd_count_warp *) warps; /* by slot */
    hd_count_warp *latest;
    hd_arena arena;
    hd_bitset *uniform;              /* by function, by instruction; words NULL where nothing is expected */
    uint32_t failed;
};

hd_count *hd_count_new(const hd_rf_module *code, hd_diagnostics *diagnostics)
{
    hd_count *c = hd_calloc(1, sizeof *c);
    c->code = code;
    c->diagnostics = diagnostics;
    c->failed = HD_NONE;
    c->uniform = HD_ARENA_ARRAY(&c->arena, hd_bitset, code->module->functions.count);
    return c;
}

void hd_count_free(hd_count *c)
{
    if (!c)
        return;
    for (uint32_t m = 0; m < c->models.count; m++)
        hd_rf_model_free(c->models.items[m]);
    for (uint32_t w = 0; w < c->warps.count; w++) {
        hd_identity_free(&c->warps.items[w]->warp.identity);
        free(c->warps.items[w]);
    }
    hd_array_free(&c->models);
    hd_array_free(&c->warps);
    hd_arena_free(&c->arena);
    free(c);
}

void hd_count_add(hd_count *c, hd_rf_model *model)
{
    hd_array_push(&c->models, model);
}

uint32_t hd_count_models(const hd_count *c)
{
    return c->models.count;
}

hd_rf_model *hd_count_model(const hd_count *c, uint32_t i)
{
    return c->models.items[i];
}

void hd_count_reset(hd_count *c)
{
    for (uint32_t m = 0; m < c->models.count; m++)
        memset(c->models.items[m]->counters, 0, sizeof c->models.items[m]->counters);
}

void hd_count_expect_uniform(hd_count *c, uint32_t function, uint32_t instruction)
{
    hd_bitset *set = &c->uniform[function];
    if (!set->words)
        *set = hd_bitset_new(&c->arena, c->code->functions[function]->instruction_count);
    hd_bitset_add(set, instruction);
}

uint32_t hd_count_failed(const hd_count *c)
{
    return c->failed;
}

hd_sink hd_count_sink(hd_count *c)
{
    hd_sink sink = {hd_count_take, c, 0};
    for (uint32_t m = 0; m < c->models.count; m++)
        sink.columns |= c->models.items[m]->info->ops->columns;
    return sink;
}

/* ---- warps --------------------------------------------------------------------------------------------------------- */

static hd_count_warp *find_warp(hd_count *c, uint32_t number)
{
    if (c->latest && c->latest->alive && c->latest->number == number)
        return c->latest;
    for (uint32_t i = 0; i < c->warps.count; i++)
        if (c->warps.items[i]->alive && c->warps.items[i]->number == number)
            return c->latest = c->warps.items[i];
    return NULL;
}

static hd_count_warp *free_slot(hd_count *c)
{
    for (uint32_t i = 0; i < c->warps.count; i++)
        if (!c->warps.items[i]->alive)
            return c->warps.items[i];
    hd_count_warp *w = hd_calloc(1, sizeof *w);
    w->warp.slot = c->warps.count;
    hd_array_push(&c->warps, w);
    return w;
}

#define EACH_MODEL(c, hook, ...)                                       \
    for (uint32_t m_ = 0; m_ < (c)->models.count; m_++)                \
        if ((c)->models.items[m_]->info->ops->hook)                    \
            (c)->models.items[m_]->info->ops->hook((c)->models.items[m_], __VA_ARGS__)

/* Parameters in registers were written by the call, for the lanes that it took along. */
static void write_parameters(hd_count_warp *w, const hd_rf_code *code, uint32_t lanes)
{
    hd_identity_warp *identity = &w->warp.identity;
    for (uint32_t i = 0; i < code->function->register_parameters.count && lanes; i++) {
        HD_STORAGE_WORDS (&code->storage, code->function->register_parameters.items[i], word)
            hd_identity_write(identity, identity->base + word, lanes);
    }
}

static void start_frame(hd_count *c, hd_count_warp *w, const hd_event *event)
{
    const hd_rf_code *code = c->code->functions[event->function];
    hd_identity_push(&w->warp.identity, event->frame, code->storage.words);
    write_parameters(w, code, event->active);
    EACH_MODEL(c, frame_start, &w->warp);
}

static void end_frame(hd_count *c, hd_count_warp *w)
{
    EACH_MODEL(c, frame_end, &w->warp);
    hd_identity_pop(&w->warp.identity);
}

static void start_warp(hd_count *c, const hd_event *event)
{
    hd_count_warp *w = free_slot(c);
    w->alive = true;
    w->number = event->warp;
    w->branch_lanes = 0;
    w->warp.cta = event->cta;
    hd_identity_start(&w->warp.identity, event->warp);
    EACH_MODEL(c, warp_start, &w->warp);
}

static void end_warp(hd_count *c, const hd_event *event)
{
    hd_count_warp *w = find_warp(c, event->warp);
    if (!w)
        return;
    while (w->warp.identity.frames.count)
        end_frame(c, w);
    EACH_MODEL(c, warp_end, &w->warp);
    w->alive = false;
}

/* Frames begin with their first instruction, which all lanes of the call reach, and end when one below goes on. */
static void enter_frame(hd_count *c, hd_count_warp *w, const hd_event *event)
{
    hd_identity_warp *identity = &w->warp.identity;
    if (identity->frames.count && identity->frame == event->frame)
        return;
    for (uint32_t i = identity->frames.count; i-- > 0;)
        if (identity->frames.items[i].frame == event->frame) {
            while (identity->frames.count > i + 1)
                end_frame(c, w);
            return;
        }
    start_frame(c, w, event);
}

static void return_to_frame(hd_count *c, const hd_event *event)
{
    hd_count_warp *w = find_warp(c, event->warp);
    for (uint32_t i = 0; w && i < w->warp.identity.frames.count; i++)
        if (w->warp.identity.frames.items[i].frame == event->frame)
            enter_frame(c, w, event);
}

/* ---- what goes wrong ----------------------------------------------------------------------------------------------- */

static const char *const place_names[] = {"the register file", "the structure beside the register file", "the load unit"};

static void note_warp(hd_count *c, hd_diagnostic *d, const hd_count_warp *w)
{
    hd_note_add(c->diagnostics, d, NULL, (hd_span){0, 0}, "in warp %u of the launch (block %u)", w->number, w->warp.cta);
}

static bool fail_operand(hd_count *c, hd_count_warp *w, uint32_t model, const hd_rf_step *step, uint32_t word, uint32_t lanes, const char *why)
{
    char name[160];
    hd_storage_spell(&step->code->storage, word, name, sizeof name);
    c->failed = model;
    hd_diagnostic *d = hd_report(c->diagnostics, HD_DIAG_PROOF_FAILED, c->code->module->source, step->insn->span,
                                 "%s delivers another value of %s than the baseline reads: %s (lanes 0x%08x)",
                                 c->models.items[model]->info->name, name, why, lanes);
    note_warp(c, d, w);
    return false;
}

/* ---- one instruction ----------------------------------------------------------------------------------------------- */

static bool prove(hd_count *c, hd_count_warp *w, uint32_t model, const hd_rf_step *step, uint32_t word, const hd_rf_answer *answer)
{
    uint32_t index = hd_rf_index(step, word), delivered = 0;
    for (uint32_t p = 0; p < answer->count; p++) {
        const hd_rf_piece *piece = &answer->pieces[p];
        uint32_t lanes = piece->lanes & step->effective;
        uint32_t wrong = hd_identity_unproved(&w->warp.identity, index, piece->owner, piece->claim, lanes);
        delivered |= piece->lanes;
        if (wrong) {
            char why[128];
            snprintf(why, sizeof why, "%s holds an older one", place_names[piece->place]);
            return fail_operand(c, w, model, step, word, wrong, why);
        }
    }
    uint32_t missing = step->effective & ~delivered;
    return !missing || fail_operand(c, w, model, step, word, missing, "no structure delivers it");
}

static bool run_model(hd_count *c, hd_count_warp *w, uint32_t m, const hd_rf_step *step)
{
    hd_rf_model *model = c->models.items[m];
    const hd_rf_ops *ops = model->info->ops;
    if (ops->issue)
        ops->issue(model, step);
    if (step->effective) {
        for (uint32_t s = 0; s < step->source_count; s++) {
            hd_rf_answer answer = {0};
            ops->operand_read(model, step, s, &answer);
            if (!prove(c, w, m, step, step->sources[s], &answer))
                return false;
        }
        if (ops->unit_result)
            ops->unit_result(model, step);
        for (uint32_t d = 0; d < step->destination_count; d++)
            ops->write_back(model, step, d);
    }
    if (ops->complete)
        ops->complete(model, step);
    return true;
}

/* A branch that is called uniform sends all its lanes the same way: the next instruction of the frame has all of them or none. */
static bool check_uniform(hd_count *c, hd_count_warp *w, const hd_event *event)
{
    if (w->branch_lanes && w->branch_frame == event->frame) {
        uint32_t stayed = w->branch_lanes & event->active;
        if (stayed && stayed != w->branch_lanes) {
            const hd_function *f = c->code->functions[w->branch_function]->function;
            c->failed = c->models.count;
            hd_diagnostic *d = hd_report(c->diagnostics, HD_DIAG_NOT_UNIFORM, c->code->module->source,
                                         f->instructions.items[w->branch].span,
                                         "this branch was taken for uniform, but splits its warp (lanes 0x%08x of 0x%08x go one way)",
                                         stayed, w->branch_lanes);
            note_warp(c, d, w);
            return false;
        }
        w->branch_lanes = 0;
    }
    const hd_bitset *set = &c->uniform[event->function];
    if (set->words && hd_bitset_has(set, event->instruction)) {
        w->branch_lanes = event->active;
        w->branch = event->instruction;
        w->branch_function = event->function;
        w->branch_frame = event->frame;
    }
    return true;
}

static hd_rf_step step_of(const hd_count *c, hd_count_warp *w, const hd_event *event)
{
    const hd_rf_code *code = c->code->functions[event->function];
    uint32_t i = event->instruction;
    return (hd_rf_step){
        .warp = &w->warp,
        .code = code,
        .insn = &code->function->instructions.items[i],
        .function = event->function,
        .instruction = i,
        .active = event->active,
        .effective = event->effective,
        .sources = code->sources + code->source_first[i],
        .source_count = code->source_first[i + 1] - code->source_first[i],
        .destinations = code->destinations + code->destination_first[i],
        .destination_count = code->destination_first[i + 1] - code->destination_first[i],
        .serial = w->warp.identity.serial + 1,
        .addresses = event->addresses,
        .results = event->results,
    };
}

static bool issue(hd_count *c, const hd_event *event)
{
    hd_count_warp *w = find_warp(c, event->warp);
    if (!w)
        return true; /* begun before this count was attached */
    if (!check_uniform(c, w, event))
        return false;
    enter_frame(c, w, event);
    hd_rf_step step = step_of(c, w, event);
    for (uint32_t m = 0; m < c->models.count; m++)
        if (!run_model(c, w, m, &step))
            return false;
    for (uint32_t d = 0; d < step.destination_count && step.effective; d++)
        hd_identity_write(&w->warp.identity, hd_rf_index(&step, step.destinations[d].word), step.effective);
    if (w->warp.identity.serial < UINT32_MAX - 4096)
        return true;
    hd_report(c->diagnostics, HD_DIAG_UNSUPPORTED, c->code->module->source, step.insn->span,
              "a warp that writes registers more than 4,290,000,000 times cannot be proved");
    return false;
}

bool hd_count_take(void *count, const hd_event *event)
{
    hd_count *c = count;
    switch ((hd_event_kind)event->kind) {
    case HD_EVENT_LAUNCH: {
        hd_rf_launch launch = {event->function};
        EACH_MODEL(c, launch, &launch);
        return true;
    }
    case HD_EVENT_WARP_START:
        start_warp(c, event);
        return true;
    case HD_EVENT_ISSUE:
        return issue(c, event);
    case HD_EVENT_WARP_END:
        end_warp(c, event);
        return true;
    case HD_EVENT_CTA_END:
        EACH_MODEL(c, cta_end, event->cta);
        return true;
    case HD_EVENT_RETURN: /* before the caller goes on, the same call may start another function */
        return_to_frame(c, event);
        return true;
    case HD_EVENT_CALL: /* the frame begins with its first instruction */
    case HD_EVENT_CTA_START:
    case HD_EVENT_LAUNCH_END:
        return true;
    }
    return true;
}
