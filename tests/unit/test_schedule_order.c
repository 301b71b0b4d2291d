/* The order of resident warps against schedule.h's rules, followed one instruction after another, for warps that do
 * anything at all: segments of random code, with loads, calls, barriers and lanes that are not there, and any number
 * of resident and active warps.
 */
#include "unit.h"

#include "hwmodel/count/schedule.h"
#include "parser/parse.h"

enum { REGISTERS = 90, CODE = 70, WARPS = 6, CTAS = 5, MOST_WARPS = WARPS * CTAS, AT_ONCE = 16 };

typedef struct did { /* an instruction, or (from SWITCH on) that a warp comes or goes */
    uint32_t warp, function, instruction;
} did;
enum { SWITCH = 1000 };
typedef HD_ARRAY(did) story;

typedef struct step {
    hd_event event;
    uint32_t after;         /* warps of the CTA that must have this many barriers done: */
    uint32_t counts[WARPS]; /* ... by warp */
    bool begins;            /* a segment */
} step;

typedef struct script { /* what a warp does; RETURNs are left out, no order hangs on them */
    HD_ARRAY(step) steps;
    uint32_t barriers;
    uint32_t frame, frames; /* it is in; so far */
    uint32_t next;          /* instruction */
} script;

typedef struct scene {
    uint64_t random;
    hd_diagnostics diagnostics;
    hd_source source;
    hd_module *module;
    hd_rf_module *code;
    hd_segments *segments;
    uint32_t ctas, warps;             /* warps: of each */
    uint32_t gathered, counts[WARPS]; /* warps that have arrived at the CTA's barrier, and when */
    hd_recorder *recorder;
    hd_record *recorded[CTAS];
    script scripts[MOST_WARPS];
    hd_rf_residency residency;
    uint32_t turn;
} scene;

static uint32_t below(scene *s, uint32_t bound) { return (uint32_t)(unit_random(&s->random) % bound); }

/* ---- what there is to do ----------------------------------------------------------------------------------------- */

static uint32_t any_register(scene *s) { return below(s, below(s, 3) ? 6 : REGISTERS - 4); }

static char *write_instruction(scene *s, char *text, uint32_t loads)
{
    uint32_t kind = below(s, 100), to = any_register(s);
    if (kind < loads)
        return text + sprintf(text, "ld.global.u32 %%r%u, [%%rd0];\n", to);
    if (kind < loads + loads / 4)
        return text +
               sprintf(text, "ld.global.v4.u32 {%%r%u, %%r%u, %%r%u, %%r%u}, [%%rd0];\n", to, to + 1, to + 2, to + 3);
    if (kind >= 95)
        return text + sprintf(text, "%s", kind > 96 ? "bar.sync 0;\n" : "red.global.add.u32 [%rd0], %r0;\n");
    if (kind >= 90)
        return text + sprintf(text, "ld.shared.u32 %%r%u, [%%rd0];\n", to);
    return text + sprintf(text, "add.u32 %%r%u, %%r%u, %%r%u;\n", to, any_register(s), any_register(s));
}

static void open_code(scene *s)
{
    char text[16384], *at = text;
    uint32_t loads = below(s, 2) ? 5 : 40;
    at += sprintf(at, ".version 8.0\n.target sm_80\n.address_size 64\n");
    for (uint32_t f = 0; f < 2; f++) {
        at += sprintf(at, "%s\n{\n.reg .b32 %%r<%u>;\n.reg .b64 %%rd<1>;\n", f ? ".entry k()" : ".func g()", REGISTERS);
        for (uint32_t i = 0; i < CODE; i++)
            at = write_instruction(s, at, loads);
        at += sprintf(at, "ret;\n}\n");
    }
    hd_diagnostics_init(&s->diagnostics);
    hd_source_from_memory(&s->source, "k.ptx", text, (size_t)(at - text));
    s->module = hd_parse_ptx(&s->source, &(hd_parse_options){0}, &s->diagnostics);
    assert_int_equal(s->diagnostics.error_count, 0);
    s->code = hd_rf_module_new(s->module);
    s->segments = hd_segments_new(s->code);
}

static bool has_trait(const scene *s, const hd_event *e, uint8_t trait)
{
    return s->code->functions[e->function]->traits[e->instruction] & trait;
}

static void end_segment(scene *s)
{
    hd_warp_event event;
    if (hd_segments_end(s->segments, &event))
        hd_recorder_take_segment(s->recorder, &event);
}

/* Does the event go on with the warp's last segment? It has `length` instructions in *parts parts. */
static bool is_more(const scene *s, const script *w, uint32_t length, uint32_t *parts, const hd_event *e)
{
    if (!w->steps.count || !length || length == 64)
        return false;
    const hd_event *last = &hd_array_last(&w->steps).event;
    bool straight = last->instruction + 1 == e->instruction && last->active == e->active;
    bool jumps = *parts < 8 && (length < 16 || e->instruction > last->instruction);
    if (last->function != e->function || last->frame != e->frame || has_trait(s, last, HD_RF_BARRIER) ||
        !(straight || jumps))
        return false;
    *parts += !straight;
    return true;
}

static void tell(scene *s, hd_event_kind kind, uint32_t cta, uint32_t warp)
{
    const hd_event e = {.kind = (uint8_t)kind, .cta = cta, .warp = warp, .reported = true};
    assert_true(hd_recorder_take(s->recorder, &e));
}

static bool keep_record(void *context, hd_record *record)
{
    scene *s = context;
    s->recorded[record->cta] = record;
    return true;
}

/* The barrier before the step opens for all that have arrived since it opened last. At times the warp only arrives. */
static void pass_barrier(scene *s, uint32_t cta, uint32_t warp, step *next)
{
    const script *w = &s->scripts[warp];
    if (!w->steps.count || !has_trait(s, &hd_array_last(&w->steps).event, HD_RF_BARRIER) || !below(s, 4))
        return;
    next->after = s->gathered;
    memcpy(next->counts, s->counts, sizeof next->counts);
    s->gathered = 0;
    tell(s, HD_EVENT_OPEN, cta, 0);
    tell(s, HD_EVENT_PASS, cta, warp);
}

static void arrive(scene *s, uint32_t cta, uint32_t warp, const hd_event *e)
{
    if (!has_trait(s, e, HD_RF_BARRIER))
        return;
    end_segment(s);
    s->gathered |= 1u << warp % s->warps;
    s->counts[warp % s->warps] = ++s->scripts[warp].barriers;
    tell(s, HD_EVENT_ARRIVE, cta, warp);
}

static void do_one(scene *s, uint32_t cta, uint32_t warp, uint32_t active, uint32_t *length, uint32_t *parts)
{
    script *w = &s->scripts[warp];
    hd_event e = {.kind = HD_EVENT_ISSUE,
                  .cta = cta,
                  .warp = warp,
                  .frame = w->frame,
                  .function = w->frame ? 0 : 1,
                  .instruction = w->next++,
                  .active = active,
                  .effective = below(s, 8) ? active : active & below(s, 2)};
    bool begins = !is_more(s, w, *length, parts, &e);
    *length = begins ? 1 : *length + 1;
    *parts = begins ? 1 : *parts;
    step done = {.event = e, .begins = begins};
    if (!hd_segments_continue(s->segments, &e))
        end_segment(s);
    pass_barrier(s, cta, warp, &done);
    hd_array_push(&w->steps, done);
    hd_segments_add(s->segments, &e);
    arrive(s, cta, warp, &e);
}

static void change_frame(scene *s, uint32_t cta, uint32_t warp)
{
    script *w = &s->scripts[warp];
    if (w->steps.count && has_trait(s, &hd_array_last(&w->steps).event, HD_RF_BARRIER))
        return; /* at least the return itself is after it */
    end_segment(s);
    if (w->frame)
        tell(s, HD_EVENT_RETURN, cta, warp);
    w->frame = w->frame ? 0 : ++w->frames;
}

/* Some instructions of one warp. */
static void do_some(scene *s, uint32_t cta, uint32_t warp)
{
    static const uint32_t lanes[] = {~0u, ~0u, 0xffff, 1};
    uint32_t count = 1 + below(s, 120), length = 0, parts = 0, active = lanes[below(s, 4)];
    if (!below(s, 5))
        change_frame(s, cta, warp);
    s->scripts[warp].next = below(s, CODE);
    for (uint32_t i = 0; i < count; i++) {
        do_one(s, cta, warp, active, &length, &parts);
        if (s->scripts[warp].next == CODE || !below(s, 20))
            s->scripts[warp].next = below(s, CODE);
        active = below(s, 20) ? active : lanes[below(s, 4)];
    }
    end_segment(s);
}

static void open_scene(scene *s, uint64_t seed)
{
    *s = (scene){.random = seed};
    s->ctas = 1 + below(s, CTAS);
    s->warps = 1 + below(s, WARPS);
    open_code(s);
    s->recorder = hd_recorder_new(&(hd_recorder_user){.ended = keep_record, .context = s});
    for (uint32_t c = 0; c < s->ctas; c++) {
        for (uint32_t k = 0; k < s->warps; k++)
            tell(s, HD_EVENT_WARP_START, c, c * s->warps + k);
        for (uint32_t k = below(s, 4 * s->warps); k; k--)
            do_some(s, c, c * s->warps + below(s, s->warps));
        tell(s, HD_EVENT_CTA_END, c, 0);
        s->gathered = 0;
    }
    uint32_t latency = (uint32_t[]){0, 1, 7, 64, 500}[below(s, 5)], turn = (uint32_t[]){0, 0, 0, 1, 2, 5}[below(s, 6)];
    s->turn = turn;
    s->residency = (hd_rf_residency){
        .ctas = 1 + below(s, CTAS), .active = 1 + below(s, 12), .latency = latency, .bytes = UINT64_MAX};
}

static void close_scene(scene *s)
{
    for (uint32_t c = 0; c < s->ctas; c++)
        hd_record_release(s->recorded[c]);
    for (uint32_t w = 0; w < MOST_WARPS; w++)
        hd_array_free(&s->scripts[w].steps);
    hd_recorder_free(s->recorder);
    hd_segments_free(s->segments);
    hd_rf_module_free(s->code);
    hd_module_free(s->module);
    hd_source_free(&s->source);
    hd_diagnostics_free(&s->diagnostics);
}

/* ---- the order that models see ----------------------------------------------------------------------------------- */

extern const hd_rf_ops hd_rf_baseline_ops;
static story *told; /* of the run: hooks have nothing else */

static void tell_issue(hd_rf_model *model, const hd_rf_step *now, hd_access_sink *sink)
{
    hd_rf_baseline_ops.execute(model, now, sink);
    hd_array_push(told, (did){now->warp->identity.warp, now->function, now->instruction});
}

static void tell_switch(hd_rf_model *model, hd_rf_warp *out, hd_rf_warp *in, hd_access_sink *sink)
{
    (void)model, (void)sink;
    hd_array_push(told, (did){(out ? out : in)->identity.warp, SWITCH, in != NULL});
}

/* A model that refuses every third instruction of a function every second time. */
typedef enum manner { UNASKED, AGREES, REFUSES } manner;
enum { EVERY = 3 };
static uint32_t times_asked;

static hd_gate lets_all_go(hd_rf_model *model, const hd_rf_step *now, uint64_t clock)
{
    (void)model, (void)clock;
    return (hd_gate){.ready = now->code != NULL};
}

static hd_gate lets_half_go(hd_rf_model *model, const hd_rf_step *now, uint64_t clock)
{
    (void)model, (void)clock;
    return (hd_gate){.ready = now->instruction % EVERY || times_asked++ % 2};
}

static void play(const scene *s, manner asking, story *order)
{
    hd_rf_ops ops = hd_rf_baseline_ops;
    ops.execute = tell_issue;
    ops.warp_switch = tell_switch;
    ops.may_issue = asking == UNASKED ? NULL : asking == AGREES ? lets_all_go : lets_half_go;
    ops.memo = NULL;
    times_asked = 0;
    ops.coupled = true;
    hd_rf_model_info info = {"order", "", &ops, "", "", "", NULL};
    const char *refusal = NULL;
    hd_rf_model *model = hd_rf_model_new(&info, s->code, &refusal);
    model->turn = s->turn;
    hd_walk *walk = hd_walk_new(s->code, model, NULL);
    hd_schedule *schedule = hd_schedule_new(walk);
    told = order;
    hd_schedule_launch(schedule, &s->residency, 1);
    for (uint32_t c = 0; c < s->ctas; c++)
        assert_true(hd_schedule_add(schedule, s->recorded[c]));
    assert_true(hd_schedule_drain(schedule, true));
    assert_int_equal(walk->failure.wrong, HD_RF_PROVED);
    hd_schedule_free(schedule);
    uint32_t at = 1;
    const hd_warp_event unknown = {.kind = HD_WARP_RETURNS, .warp = 1u << 20};
    assert_null(hd_walk_peek(walk, &unknown, 0).code);
    assert_true(hd_walk_take(walk, &unknown, &at));
    hd_walk_free(walk);
    hd_rf_model_free(model);
}

/* ---- the order that the rules want ------------------------------------------------------------------------------- */

typedef struct coming { /* a word that was loaded */
    uint32_t frame, word;
    uint64_t there;
} coming;

typedef struct actor {
    uint32_t number, at, barriers, loading; /* loading: words, since nothing was awaited */
    uint64_t back, latest;                  /* when it may come back, and all its loads are there */
    bool done;
    HD_ARRAY(coming) loads;
} actor;

typedef struct stage {
    const scene *scene;
    story *order;
    actor actors[MOST_WARPS];
    HD_ARRAY(actor *) queue;
    HD_ARRAY(actor *) round;
    uint32_t live[CTAS], resident, next_cta, turn;
    uint64_t now;
} stage;

static const step *next_step(const stage *g, const actor *a)
{
    const script *w = &g->scene->scripts[a->number];
    return a->at < w->steps.count ? &w->steps.items[a->at] : NULL;
}

static bool is_held(const stage *g, const actor *a)
{
    uint32_t first = a->number / g->scene->warps * g->scene->warps;
    const step *next = next_step(g, a);
    for (uint32_t k = 0; k < g->scene->warps; k++)
        if (next->after >> k & 1 && !g->actors[first + k].done && g->actors[first + k].barriers < next->counts[k])
            return true;
    return false;
}

static uint64_t when_loaded(const actor *a, uint32_t frame, uint32_t word)
{
    uint64_t there = 0;
    for (uint32_t i = 0; i < a->loads.count; i++)
        if (a->loads.items[i].frame == frame && a->loads.items[i].word == word && a->loads.items[i].there > there)
            there = a->loads.items[i].there;
    return there;
}

/* All that the next instruction reads or overwrites. */
static uint64_t when_there(const stage *g, const actor *a)
{
    const hd_event *e = &next_step(g, a)->event;
    const hd_rf_code *code = g->scene->code->functions[e->function];
    uint64_t there = 0;
    for (uint32_t i = code->source_first[e->instruction]; i < code->source_first[e->instruction + 1]; i++)
        there = when_loaded(a, e->frame, code->sources[i]) > there ? when_loaded(a, e->frame, code->sources[i]) : there;
    for (uint32_t i = code->destination_first[e->instruction]; i < code->destination_first[e->instruction + 1]; i++)
        there = when_loaded(a, e->frame, code->destinations[i].word) > there
                    ? when_loaded(a, e->frame, code->destinations[i].word)
                    : there;
    return there;
}

/* false: it waits for too much. */
static bool load(stage *g, actor *a, const hd_event *e)
{
    const hd_rf_code *code = g->scene->code->functions[e->function];
    uint32_t first = code->destination_first[e->instruction], end = code->destination_first[e->instruction + 1];
    if (a->latest <= g->now)
        a->loading = 0;
    a->latest = g->now + g->scene->residency.latency;
    if (a->loading + end - first > AT_ONCE)
        return false;
    a->loading += end - first;
    for (uint32_t i = first; i < end; i++)
        hd_array_push(&a->loads, (coming){e->frame, code->destinations[i].word, a->latest});
    return true;
}

/* Says when the warp can go on, after its next instruction. */
static uint64_t issue(stage *g, actor *a)
{
    const hd_event *e = &next_step(g, a)->event;
    hd_array_push(g->order, (did){a->number, e->function, e->instruction});
    g->now++;
    a->at++;
    a->barriers += has_trait(g->scene, e, HD_RF_BARRIER);
    bool room = !(has_trait(g->scene, e, HD_RF_LONG) && e->effective) || load(g, a, e);
    return !room ? a->latest : next_step(g, a) ? when_there(g, a) : 0;
}

static void remove_active(stage *g, uint32_t at)
{
    for (g->round.count--; at < g->round.count; at++)
        g->round.items[at] = g->round.items[at + 1];
}

static void enter(stage *g, uint32_t place)
{
    actor *a = g->queue.items[place];
    for (g->queue.count--; place < g->queue.count; place++)
        g->queue.items[place] = g->queue.items[place + 1];
    g->now = a->back > g->now ? a->back : g->now;
    hd_array_push(&g->round, a);
    hd_array_push(g->order, (did){a->number, SWITCH, true});
}

static void exit_stage(stage *g, actor *a)
{
    a->done = true;
    if (!--g->live[a->number / g->scene->warps])
        g->resident--;
}

static void leave(stage *g, actor *a, uint64_t back)
{
    remove_active(g, g->turn);
    a->back = back;
    hd_array_push(g->order, (did){a->number, SWITCH, false});
    hd_array_push(&g->queue, a);
}

static void take_turn(stage *g)
{
    actor *a = g->round.items[g->turn];
    uint32_t issued = 0, most = g->scene->turn;
    uint64_t ready;
    do {
        ready = issue(g, a);
        issued++;
    } while (ready <= g->now && next_step(g, a) && !next_step(g, a)->begins && issued != most);
    if (!next_step(g, a)) {
        remove_active(g, g->turn);
        exit_stage(g, a);
    } else if (ready > g->now) {
        leave(g, a, ready);
    } else if (is_held(g, a)) {
        leave(g, a, g->now);
    } else {
        g->turn++;
    }
}

static void start_ctas(stage *g)
{
    uint32_t warps = g->scene->warps;
    while (g->next_cta < g->scene->ctas && g->resident < g->scene->residency.ctas) {
        g->live[g->next_cta] = warps;
        g->resident++;
        for (uint32_t k = g->next_cta * warps; k < (g->next_cta + 1) * warps; k++) {
            g->actors[k].number = k;
            if (next_step(g, &g->actors[k]))
                hd_array_push(&g->queue, &g->actors[k]);
            else
                exit_stage(g, &g->actors[k]);
        }
        g->next_cta++;
    }
}

/* The first in the queue that can go on now; `later`: the one that can first. */
static uint32_t who_comes(const stage *g, bool later)
{
    uint32_t who = HD_NONE;
    for (uint32_t k = 0; k < g->queue.count; k++)
        if (!is_held(g, g->queue.items[k]) && (later || g->queue.items[k]->back <= g->now) &&
            (who == HD_NONE || (later && g->queue.items[k]->back < g->queue.items[who]->back)))
            who = k;
    return who;
}

static void follow_rules(const scene *s, story *order)
{
    stage *g = hd_calloc(1, sizeof *g);
    g->scene = s;
    g->order = order;
    for (start_ctas(g); g->round.count || g->queue.count; start_ctas(g)) {
        for (uint32_t who; g->round.count < s->residency.active && (who = who_comes(g, false)) != HD_NONE;)
            enter(g, who);
        if (!g->round.count)
            enter(g, who_comes(g, true));
        else {
            g->turn = g->turn < g->round.count ? g->turn : 0;
            take_turn(g);
        }
    }
    for (uint32_t w = 0; w < MOST_WARPS; w++)
        hd_array_free(&g->actors[w].loads);
    hd_array_free(&g->queue);
    hd_array_free(&g->round);
    free(g);
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void compare(const story *wanted, const story *got, uint64_t seed, bool asks)
{
    uint32_t count = wanted->count < got->count ? wanted->count : got->count;
    for (uint32_t i = 0; i < count; i++)
        if (memcmp(&wanted->items[i], &got->items[i], sizeof(did)))
            fail_msg("seed %u, asks %d: at %u of %u warp %u does %u:%u, and should be %u with %u:%u", (unsigned)seed,
                     asks, i, count, got->items[i].warp, got->items[i].function, got->items[i].instruction,
                     wanted->items[i].warp, wanted->items[i].function, wanted->items[i].instruction);
    assert_int_equal(got->count, wanted->count);
}

static uint32_t issues_of(const story *s)
{
    uint32_t issues = 0;
    for (uint32_t i = 0; i < s->count; i++)
        issues += s->items[i].function != SWITCH;
    return issues;
}

static void any_order_is_by_the_rules(void **state)
{
    (void)state;
    scene *s = hd_calloc(1, sizeof *s);
    uint64_t instructions = 0, refusals = 0;
    for (uint64_t seed = 1; seed <= 1000; seed++) {
        story wanted = {0}, got = {0}, asked = {0}, refused = {0};
        open_scene(s, seed);
        follow_rules(s, &wanted);
        play(s, UNASKED, &got);
        compare(&wanted, &got, seed, false);
        play(s, AGREES, &asked);
        compare(&wanted, &asked, seed, true);
        play(s, REFUSES, &refused);
        assert_int_equal(issues_of(&refused), issues_of(&wanted)); /* in another order */
        refusals += times_asked / 2;
        instructions += wanted.count;
        hd_array_free(&wanted);
        hd_array_free(&got);
        hd_array_free(&asked);
        hd_array_free(&refused);
        close_scene(s);
    }
    assert_true(instructions > 250000 && refusals > 50000);
    free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_order_is_by_the_rules),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
