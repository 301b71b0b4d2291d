/* The bytes that registers need: see widths.h. O(1) a destination. */
#include "hwmodel/rf/widths.h"

typedef struct reach { /* lanes of a register that need more than 1, 2, 3 bytes */
    uint32_t over[HD_WIDTH_MASKS];
} reach;

typedef struct width_frame {
    uint32_t frame, base; /* its serial; its registers are those from base on */
} width_frame;

typedef struct width_warp {
    bool alive;
    uint32_t number;
    HD_ARRAY(width_frame) frames;
    HD_ARRAY(reach) registers;
} width_warp;

struct hd_rf_widths {
    const hd_rf_module *code;
    HD_ARRAY(width_warp) warps;
    uint32_t latest;
    HD_ARRAY(hd_rf_width) answer;
};

hd_rf_widths *hd_rf_widths_new(const hd_rf_module *code)
{
    hd_rf_widths *w = hd_calloc(1, sizeof *w);
    w->code = code;
    return w;
}

void hd_rf_widths_free(hd_rf_widths *w)
{
    if (!w)
        return;
    for (uint32_t i = 0; i < w->warps.count; i++) {
        hd_array_free(&w->warps.items[i].frames);
        hd_array_free(&w->warps.items[i].registers);
    }
    hd_array_free(&w->warps);
    hd_array_free(&w->answer);
    free(w);
}

static width_warp *find_warp(hd_rf_widths *w, uint32_t number)
{
    if (w->latest < w->warps.count && w->warps.items[w->latest].alive && w->warps.items[w->latest].number == number)
        return &w->warps.items[w->latest];
    for (uint32_t i = 0; i < w->warps.count; i++)
        if (w->warps.items[i].alive && w->warps.items[i].number == number)
            return &w->warps.items[w->latest = i];
    return NULL;
}

static void start_warp(hd_rf_widths *w, uint32_t number)
{
    uint32_t at = 0;
    while (at < w->warps.count && w->warps.items[at].alive)
        at++;
    if (at == w->warps.count)
        hd_array_push(&w->warps, (width_warp){0});
    width_warp *warp = &w->warps.items[at];
    warp->alive = true;
    warp->number = number;
    hd_array_clear(&warp->frames);
    hd_array_clear(&warp->registers);
}

/* false: it does not live any more. */
static bool return_to_frame(width_warp *warp, uint32_t frame)
{
    for (uint32_t i = warp->frames.count; i-- > 0;)
        if (warp->frames.items[i].frame == frame) {
            if (i + 1 < warp->frames.count)
                warp->registers.count = warp->frames.items[i + 1].base;
            warp->frames.count = i + 1;
            return true;
        }
    return false;
}

/* Parameters in registers were written by the call. */
static void start_frame(const hd_rf_widths *w, width_warp *warp, const hd_event *event)
{
    const hd_rf_code *code = w->code->functions[event->function];
    uint32_t base = warp->registers.count;
    hd_array_push(&warp->frames, (width_frame){event->frame, base});
    reach *fresh = hd_array_extend(&warp->registers, code->storage.frame);
    if (code->storage.frame)
        memset(fresh, 0, code->storage.frame * sizeof *fresh);
    for (uint32_t i = 0; i < code->function->register_parameters.count; i++)
        HD_STORAGE_WORDS (&code->storage, code->function->register_parameters.items[i], word)
            for (uint32_t k = 0; k < HD_WIDTH_MASKS; k++)
                fresh[word].over[k] = event->active;
}

static hd_rf_width measure(reach *r, const uint32_t *widths, uint32_t lanes)
{
    hd_rf_width width = {1, 1};
    for (uint32_t k = 0; k < HD_WIDTH_MASKS; k++) {
        uint32_t over = widths ? widths[k] & lanes : lanes;
        r->over[k] = (r->over[k] & ~lanes) | over;
        width.written += over != 0;
        width.held += r->over[k] != 0;
    }
    return width;
}

static const hd_rf_width *take_issue(hd_rf_widths *w, const hd_event *event)
{
    const hd_rf_code *code = w->code->functions[event->function];
    uint32_t first = code->destination_first[event->instruction], count = code->destination_first[event->instruction + 1] - first;
    width_warp *warp = find_warp(w, event->warp);
    if (!warp)
        return NULL; /* begun before this was attached */
    if ((!warp->frames.count || hd_array_last(&warp->frames).frame != event->frame) && !return_to_frame(warp, event->frame))
        start_frame(w, warp, event);
    if (!count || !event->effective)
        return NULL;
    hd_array_reserve(&w->answer, count);
    reach *registers = warp->registers.items + hd_array_last(&warp->frames).base;
    for (uint32_t d = 0; d < count; d++)
        w->answer.items[d] = measure(&registers[code->destinations[first + d].word], event->widths ? event->widths + (size_t)d * HD_WIDTH_MASKS : NULL,
                                     event->effective);
    return w->answer.items;
}

const hd_rf_width *hd_rf_widths_take(hd_rf_widths *w, const hd_event *event)
{
    width_warp *warp = NULL;
    switch ((hd_event_kind)event->kind) {
    case HD_EVENT_LAUNCH:
        for (uint32_t i = 0; i < w->warps.count; i++)
            w->warps.items[i].alive = false;
        return NULL;
    case HD_EVENT_WARP_START:
        start_warp(w, event->warp);
        return NULL;
    case HD_EVENT_ISSUE:
        return take_issue(w, event);
    case HD_EVENT_RETURN:
    case HD_EVENT_WARP_END:
        warp = find_warp(w, event->warp);
        if (warp && event->kind == HD_EVENT_RETURN)
            return_to_frame(warp, event->frame);
        else if (warp)
            warp->alive = false;
        return NULL;
    case HD_EVENT_CALL:
    case HD_EVENT_CTA_START:
    case HD_EVENT_CTA_END:
    case HD_EVENT_LAUNCH_END:
        return NULL;
    }
    return NULL;
}
