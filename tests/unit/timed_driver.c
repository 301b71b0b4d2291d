/* See timed_driver.h. */
#include "tests/unit/timed_driver.h"
#include "tests/unit/unit.h"

enum { MOST_BANKS = 16, RESULT_CYCLES = 3, LONGEST_WAIT = 20000, ALL_UNITS = (1 << (HD_UNIT_CTRL + 1)) - 1 };

/* ---- state of a run ---------------------------------------------------------------------------------------------- */

typedef struct timed_warp timed_warp;

typedef struct group { /* accesses of one call of a hook */
    HD_ARRAY(hd_rf_access) accesses;
    HD_ARRAY(uint64_t) done; /* by access: when it is; 0: it waits */
    timed_warp *warp;        /* NULL: nobody waits for it */
    bool holds;              /* the warp may not issue until it is complete */
    bool is_load;
    uint64_t results_at; /* accesses of results are not before */
} group;

typedef struct pending_word {
    uint32_t frame, word;
    const group *of;
} pending_word;

struct timed_warp {
    hd_rf_warp warp; /* first */
    const timed_warp_trace *trace;
    uint32_t next; /* of its events */
    bool resident, active, prepared, refused;
    uint32_t held, in_flight; /* groups that hold it; that write words of it */
    uint32_t barriers;
    uint64_t wake, queued;
    HD_ARRAY(pending_word) pending;
};

typedef struct driver {
    timed_run *run;
    const hd_rf_ops *ops;
    hd_rf_model *model;
    timed_warp **warps; /* by slot */
    uint32_t slots, active_most, next_cta, resident_ctas, active, turn;
    HD_ARRAY(group *) groups;
    uint64_t now, moved, queue, free_at[HD_STRUCTURE_COUNT][MOST_BANKS];
    hd_access_sink sink;
    uint32_t at; /* of the log that is followed */
    uint32_t issued_units;
} driver;

static uint32_t live_warps(const driver *d, uint32_t cta)
{
    uint32_t count = 0;
    for (uint32_t s = 0; s < d->slots; s++)
        count += d->warps[s]->resident && d->warps[s]->warp.cta == cta;
    return count;
}

/* ---- accesses ---------------------------------------------------------------------------------------------------- */

static void fail_if_wrong(const driver *d, const hd_rf_step *step)
{
    if (d->sink.failure.wrong)
        fail_msg("%s: failure %u at instruction %u of warp %u, word %u, lanes %08x", d->model->info->name,
                 d->sink.failure.wrong, step->instruction, step->warp->identity.warp, d->sink.failure.word,
                 d->sink.failure.lanes);
    for (uint32_t s = 0; s < step->source_count; s++)
        if (step->effective & ~d->sink.delivered.items[s])
            fail_msg("%s: source %u of instruction %u of warp %u is not delivered", d->model->info->name, s,
                     step->instruction, step->warp->identity.warp);
}

/* What the sink has, in flight. */
static group *add_group(driver *d, timed_warp *warp, bool holds)
{
    if (!d->sink.accesses.count && (holds || !warp))
        return NULL;
    group *g = hd_calloc(1, sizeof *g);
    for (uint32_t a = 0; a < d->sink.accesses.count; a++) {
        hd_array_push(&g->accesses, d->sink.accesses.items[a]);
        hd_array_push(&g->done, 0);
    }
    g->warp = warp;
    g->holds = holds;
    if (warp && holds)
        warp->held++;
    else if (warp)
        warp->in_flight++;
    hd_array_push(&d->groups, g);
    return g;
}

static bool may_start(const driver *d, const group *g, uint32_t a)
{
    const hd_rf_access *access = &g->accesses.items[a];
    if (g->done.items[a] || (access->operand & HD_ACCESS_RESULT && d->now < g->results_at))
        return false;
    return !access->after || (g->done.items[access->after - 1] && g->done.items[access->after - 1] <= d->now);
}

static void serve(driver *d, group *g)
{
    for (uint32_t a = 0; a < g->accesses.count; a++) {
        const hd_rf_access *access = &g->accesses.items[a];
        uint64_t *bank = &d->free_at[access->structure][access->bank % d->run->banks];
        uint32_t cycles = access->cycles ? access->cycles : 1;
        if (!may_start(d, g, a) || (access->bank != HD_RF_NO_BANK && *bank > d->now))
            continue;
        g->done.items[a] = d->now + cycles;
        if (access->bank != HD_RF_NO_BANK)
            *bank = d->now + cycles;
        d->moved = d->now;
    }
}

static bool is_complete(const driver *d, const group *g)
{
    for (uint32_t a = 0; a < g->accesses.count; a++)
        if (!g->done.items[a] || g->done.items[a] > d->now)
            return false;
    return g->results_at <= d->now;
}

static void complete(driver *d, group *g)
{
    uint32_t left = 0;
    d->moved = d->now;
    if (g->warp && g->holds)
        g->warp->held--;
    if (g->warp && !g->holds) {
        g->warp->in_flight--;
        for (uint32_t p = 0; p < g->warp->pending.count; p++)
            if (g->warp->pending.items[p].of != g)
                g->warp->pending.items[left++] = g->warp->pending.items[p];
        g->warp->pending.count = left;
    }
    hd_array_free(&g->accesses);
    hd_array_free(&g->done);
    free(g);
}

static void advance_accesses(driver *d)
{
    uint32_t left = 0;
    for (uint32_t i = 0; i < d->groups.count; i++)
        serve(d, d->groups.items[i]);
    for (uint32_t i = 0; i < d->groups.count; i++)
        if (is_complete(d, d->groups.items[i]))
            complete(d, d->groups.items[i]);
        else
            d->groups.items[left++] = d->groups.items[i];
    d->groups.count = left;
}

static void count_accesses(driver *d, uint32_t operands, uint32_t results)
{
    hd_access_count(&d->sink, operands, results, d->model->counters);
}

/* ---- frames and steps -------------------------------------------------------------------------------------------- */

static void pop_frame(driver *d, timed_warp *w)
{
    if (d->ops->frame_end)
        d->ops->frame_end(d->model, &w->warp);
    hd_identity_pop(&w->warp.identity);
}

static bool has_frame(const timed_warp *w, uint32_t frame)
{
    for (uint32_t f = 0; f < w->warp.identity.frames.count; f++)
        if (w->warp.identity.frames.items[f].frame == frame)
            return true;
    return false;
}

static void push_frame(driver *d, timed_warp *w, const timed_event *e)
{
    const hd_rf_code *code = d->run->code->functions[e->function];
    hd_identity_warp *identity = &w->warp.identity;
    hd_identity_push(identity, e->frame, code->storage.frame);
    w->warp.function = e->function;
    for (uint32_t i = 0; i < code->function->register_parameters.count && e->active; i++)
        HD_STORAGE_WORDS (&code->storage, code->function->register_parameters.items[i], word)
            hd_identity_write(identity, identity->base + word, e->active);
    if (d->ops->frame_begin)
        d->ops->frame_begin(d->model, &w->warp);
}

/* Does away with returns, and enters the frame of the next instruction. false: the warp has none. */
static bool reach_instruction(driver *d, timed_warp *w)
{
    for (; w->next < w->trace->events.count; w->next++) {
        const timed_event *e = &w->trace->events.items[w->next];
        if (has_frame(w, e->frame))
            while (w->warp.identity.frame != e->frame)
                pop_frame(d, w);
        if (e->is_return)
            continue;
        if (!w->warp.identity.frames.count || w->warp.identity.frame != e->frame)
            push_frame(d, w, e);
        return true;
    }
    return false;
}

static hd_rf_step step_of(const driver *d, timed_warp *w)
{
    const timed_event *e = &w->trace->events.items[w->next];
    const timed_trace *t = d->run->trace;
    const hd_rf_code *code = d->run->code->functions[e->function];
    uint32_t i = e->instruction, columns = d->ops->columns;
    return (hd_rf_step){
        .warp = &w->warp,
        .code = code,
        .insn = &code->function->instructions.items[i],
        .function = e->function,
        .instruction = i,
        .active = e->active,
        .effective = e->effective,
        .sources = code->sources + code->source_first[i],
        .source_count = code->source_first[i + 1] - code->source_first[i],
        .destinations = code->destinations + code->destination_first[i],
        .destination_count = code->destination_first[i + 1] - code->destination_first[i],
        .serial = w->warp.identity.serial + 1,
        .addresses = e->addresses && columns & HD_COLUMN_ADDRESSES ? t->addresses.items + e->addresses - 1 : NULL,
        .results = e->results && columns & HD_COLUMN_RESULTS ? t->results.items + e->results - 1 : NULL,
        .widths = e->widths && columns & HD_COLUMN_WIDTHS ? t->widths.items + e->widths - 1 : NULL,
    };
}

/* ---- what a warp waits for --------------------------------------------------------------------------------------- */

static bool is_pending(const timed_warp *w, uint32_t word, bool loads)
{
    for (uint32_t p = 0; p < w->pending.count; p++) {
        const pending_word *pending = &w->pending.items[p];
        if (pending->frame == w->warp.identity.frame && pending->word == word && (!loads || pending->of->is_load))
            return true;
    }
    return false;
}

/* A word that the instruction reads or writes is not there yet; loads: because of a long-latency load. */
static bool waits_for_words(const timed_warp *w, const hd_rf_step *step, bool loads)
{
    for (uint32_t s = 0; s < step->source_count; s++)
        if (is_pending(w, step->sources[s], loads))
            return true;
    for (uint32_t k = 0; k < step->destination_count; k++)
        if (is_pending(w, step->destinations[k].word, loads))
            return true;
    return false;
}

/* Others of its CTA have not come to the barrier that it issued last. */
static bool waits_at_barrier(const driver *d, const timed_warp *w)
{
    for (uint32_t s = 0; s < d->slots; s++) {
        const timed_warp *other = d->warps[s];
        if (other->resident && other->warp.cta == w->warp.cta && other->barriers < w->barriers)
            return true;
    }
    return false;
}

static bool waits_long(const driver *d, timed_warp *w)
{
    hd_rf_step step = step_of(d, w);
    return waits_at_barrier(d, w) || waits_for_words(w, &step, true);
}

/* ---- warps come and go ------------------------------------------------------------------------------------------- */

static void switch_warp(driver *d, timed_warp *w, bool in)
{
    hd_access_sink_begin(&d->sink, 0);
    d->sink.now = d->now;
    w->active = in;
    w->prepared = w->refused = false;
    w->queued = ++d->queue;
    d->active += in ? 1 : UINT32_MAX;
    d->moved = d->now;
    if (!d->ops->warp_switch)
        return;
    d->ops->warp_switch(d->model, in ? NULL : &w->warp, in ? &w->warp : NULL, &d->sink);
    count_accesses(d, 0, 0);
    add_group(d, in ? w : NULL, in);
}

static void begin_warp(driver *d, uint32_t number)
{
    uint32_t slot = 0;
    while (d->warps[slot]->resident)
        slot++;
    timed_warp *w = d->warps[slot];
    w->trace = &d->run->trace->warps.items[number];
    w->resident = true;
    w->active = w->prepared = w->refused = false;
    w->next = w->barriers = 0;
    w->wake = 0;
    w->queued = ++d->queue;
    w->warp.cta = w->trace->cta;
    hd_identity_start(&w->warp.identity, number);
    d->ops->warp_begin(d->model, &w->warp);
}

static void end_warp(driver *d, timed_warp *w)
{
    uint32_t cta = w->warp.cta;
    while (w->warp.identity.frames.count)
        pop_frame(d, w);
    d->ops->warp_end(d->model, &w->warp);
    w->resident = false;
    d->active -= w->active;
    d->moved = d->now;
    if (live_warps(d, cta))
        return;
    d->ops->cta_end(d->model, cta);
    d->resident_ctas--;
}

static void start_ctas(driver *d)
{
    const hd_rf_residency *r = &d->run->residency;
    uint32_t most = d->ops->may_launch_cta && r->most_ctas ? r->most_ctas : r->ctas;
    while (d->next_cta < d->run->trace->ctas && d->resident_ctas < most &&
           (!d->ops->may_launch_cta || d->ops->may_launch_cta(d->model, d->next_cta))) {
        for (uint32_t w = 0; w < d->run->trace->warps.count; w++)
            if (d->run->trace->warps.items[w].cta == d->next_cta)
                begin_warp(d, w);
        d->next_cta++;
        d->resident_ctas++;
        if (d->resident_ctas > d->run->most_ctas)
            d->run->most_ctas = d->resident_ctas;
    }
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static void prepare(driver *d, timed_warp *w)
{
    hd_rf_step step = step_of(d, w);
    w->prepared = true;
    if (!d->ops->before)
        return;
    hd_access_sink_begin(&d->sink, step.source_count);
    d->sink.now = d->now;
    d->ops->before(d->model, &step, &d->sink);
    if (d->sink.failure.wrong)
        fail_if_wrong(d, &step);
    count_accesses(d, 0, 0);
    add_group(d, w, true);
}

/* The gate answers the same when it is asked again, and not before its time. */
static bool gate_is_open(driver *d, timed_warp *w)
{
    hd_rf_step step = step_of(d, w);
    w->refused = false;
    if (!d->ops->may_issue)
        return true;
    if (w->wake > d->now)
        return false;
    hd_gate gate = d->ops->may_issue(d->model, &step, d->now), again = d->ops->may_issue(d->model, &step, d->now);
    assert_true(gate.ready == again.ready && gate.wake == again.wake && gate.reason == again.reason);
    assert_true(gate.ready || (gate.reason != HD_STALL_NONE && (!gate.wake || gate.wake > d->now)));
    w->wake = gate.ready ? 0 : gate.wake;
    w->refused = !gate.ready && !gate.wake;
    return gate.ready;
}

static bool can_issue(const driver *d, timed_warp *w)
{
    hd_rf_step step = step_of(d, w);
    return w->prepared && !w->held && !waits_at_barrier(d, w) && !waits_for_words(w, &step, false);
}

static void issue(driver *d, timed_warp *w)
{
    hd_rf_step step = step_of(d, w);
    bool runs = step.effective != 0, is_load = runs && step.code->traits[step.instruction] & HD_RF_LONG;
    hd_access_sink_begin(&d->sink, step.source_count);
    d->sink.now = d->now;
    d->ops->execute(d->model, &step, &d->sink);
    fail_if_wrong(d, &step);
    count_accesses(d, runs ? step.source_count : 0, runs ? step.destination_count : 0);
    group *g = add_group(d, w, false);
    g->is_load = is_load && !d->sink.skips_unit;
    g->results_at = d->now + (g->is_load ? d->run->load_cycles : RESULT_CYCLES);
    for (uint32_t k = 0; k < step.destination_count && runs; k++) {
        uint32_t word = step.destinations[k].word;
        hd_identity_write(&w->warp.identity, hd_rf_index(&step, word), step.effective);
        hd_array_push(&w->pending, (pending_word){w->warp.identity.frame, word, g});
    }
    w->barriers += runs && step.code->traits[step.instruction] & HD_RF_BARRIER;
    w->next++;
    w->prepared = false;
    d->issued_units = 1u << hd_form_unit(hd_insn_form(step.code->function, step.insn));
    d->moved = d->now;
    d->run->issued++;
}

static void offer_idle_units(driver *d)
{
    uint32_t units = ALL_UNITS & ~d->issued_units;
    if (!d->ops->idle_slot)
        return;
    hd_access_sink_begin(&d->sink, 0);
    d->sink.now = d->now;
    uint32_t used = d->ops->idle_slot(d->model, units, d->now, &d->sink);
    assert_int_equal(used & ~units, 0);
    d->run->idle_units += (uint32_t)__builtin_popcount(used);
    count_accesses(d, 0, 0);
    add_group(d, NULL, false);
}

/* ---- free runs --------------------------------------------------------------------------------------------------- */

static uint32_t rank_of(const driver *d, timed_warp *w)
{
    hd_rf_step step = step_of(d, w);
    return d->ops->rank_warp ? d->ops->rank_warp(d->model, &step, d->now) : 0;
}

/* Of the warps that wait and could go on, the highest rank; of these, the first that came. */
static timed_warp *choose_waiting(driver *d)
{
    timed_warp *best = NULL;
    for (uint32_t s = 0; s < d->slots; s++) {
        timed_warp *w = d->warps[s];
        if (!w->resident || w->active || !reach_instruction(d, w) || waits_long(d, w))
            continue;
        uint32_t rank = rank_of(d, w), most = best ? rank_of(d, best) : 0;
        if (!best || rank > most || (rank == most && w->queued < best->queued))
            best = w;
    }
    return best;
}

static void let_warps_leave(driver *d, bool issued)
{
    bool crowded = !issued && d->active == d->active_most;
    for (uint32_t s = 0; s < d->slots; s++) {
        timed_warp *w = d->warps[s];
        if (!w->resident || !w->active || w->held || !reach_instruction(d, w))
            continue;
        bool by_chance = d->run->seed && unit_random(&d->run->seed) % 16 == 0;
        bool gives_way = crowded && w->refused && choose_waiting(d);
        if (waits_long(d, w) || by_chance || gives_way)
            switch_warp(d, w, false);
        crowded = crowded && !gives_way;
    }
}

static void fill_active(driver *d)
{
    timed_warp *w;
    while (d->active < d->active_most && (w = choose_waiting(d)))
        switch_warp(d, w, true);
}

/* Round robin from the warp after the last one that issued, highest rank first. */
static timed_warp *choose_issuer(driver *d)
{
    timed_warp *best = NULL;
    for (uint32_t k = 1; k <= d->slots; k++) {
        timed_warp *w = d->warps[(d->turn + k) % d->slots];
        if (!w->resident || !w->active || !reach_instruction(d, w))
            continue;
        if (!w->prepared && !waits_long(d, w))
            prepare(d, w);
        if (!can_issue(d, w) || (best && rank_of(d, w) <= rank_of(d, best)) || !gate_is_open(d, w))
            continue;
        best = w;
    }
    return best;
}

static bool end_warps(driver *d)
{
    bool left = d->next_cta < d->run->trace->ctas;
    for (uint32_t s = 0; s < d->slots; s++) {
        timed_warp *w = d->warps[s];
        if (w->resident && !reach_instruction(d, w) && !w->in_flight)
            end_warp(d, w);
        left = left || w->resident;
    }
    return left;
}

static bool free_cycle(driver *d)
{
    start_ctas(d);
    fill_active(d);
    timed_warp *w = choose_issuer(d);
    d->issued_units = 0;
    if (w) {
        issue(d, w);
        d->turn = w->warp.slot;
    }
    let_warps_leave(d, w != NULL);
    return end_warps(d);
}

/* ---- runs that follow a log -------------------------------------------------------------------------------------- */

static timed_warp *warp_numbered(const driver *d, uint32_t number)
{
    for (uint32_t s = 0; s < d->slots; s++)
        if (d->warps[s]->resident && d->warps[s]->warp.identity.warp == number)
            return d->warps[s];
    fail_msg("warp %u is not resident", number);
    return NULL;
}

/* The next thing that the log says of the warp is that it issues. */
static bool issues_next(const driver *d, uint32_t number)
{
    const timed_log *log = d->run->order;
    for (uint32_t c = d->at; c < log->calls.count; c++) {
        const timed_call *call = &log->calls.items[c];
        if (call->warp == number && call->hook != TIMED_BEFORE && call->hook != TIMED_CTA_END)
            return call->hook == TIMED_EXECUTE;
    }
    return false;
}

static bool follow_issue(driver *d, timed_warp *w, const timed_call *call)
{
    assert_true(reach_instruction(d, w));
    if (!can_issue(d, w) || !gate_is_open(d, w))
        return false;
    hd_rf_step step = step_of(d, w);
    assert_int_equal(step.instruction, call->instruction);
    assert_int_equal(step.effective, call->effective);
    issue(d, w);
    return true;
}

/* false: what the log says next cannot be done yet. */
static bool follow(driver *d, const timed_call *call)
{
    if (call->hook == TIMED_CTA_END || call->hook == TIMED_BEFORE)
        return true;
    if (call->hook == TIMED_BEGIN) {
        begin_warp(d, call->warp);
        d->resident_ctas += live_warps(d, d->run->trace->warps.items[call->warp].cta) == 1;
        return true;
    }
    timed_warp *w = warp_numbered(d, call->warp);
    if (call->hook == TIMED_EXECUTE)
        return follow_issue(d, w, call);
    if (call->hook == TIMED_END) {
        assert_false(reach_instruction(d, w));
        if (w->in_flight)
            return false;
        end_warp(d, w);
    } else {
        if (w->held)
            return false;
        switch_warp(d, w, call->hook == TIMED_IN);
    }
    return true;
}

static bool followed_cycle(driver *d)
{
    const timed_log *log = d->run->order;
    d->issued_units = 0;
    for (uint32_t s = 0; s < d->slots; s++) {
        timed_warp *w = d->warps[s];
        if (w->resident && !w->prepared && reach_instruction(d, w) && issues_next(d, w->warp.identity.warp) &&
            !waits_long(d, w))
            prepare(d, w);
    }
    while (d->at < log->calls.count && !d->issued_units && follow(d, &log->calls.items[d->at]))
        d->at++;
    return d->at < log->calls.count;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

static void open_driver(driver *d, timed_run *run)
{
    uint32_t most = run->residency.active ? run->residency.active : 1;
    *d = (driver){.run = run, .model = run->model, .ops = run->model->info->ops, .slots = run->trace->warps.count};
    d->active_most = run->model->active_warps && run->model->active_warps < most ? run->model->active_warps : most;
    d->warps = hd_calloc(d->slots, sizeof(timed_warp *));
    for (uint32_t s = 0; s < d->slots; s++) {
        d->warps[s] = hd_calloc(1, sizeof(timed_warp));
        d->warps[s]->warp.slot = s;
    }
    assert_true(run->banks <= MOST_BANKS);
    hd_rf_launch launch = {run->trace->kernel, run->residency};
    launch.residency.active = d->active_most;
    if (d->ops->launch)
        d->ops->launch(d->model, &launch);
}

static void close_driver(driver *d)
{
    for (uint32_t s = 0; s < d->slots; s++) {
        hd_identity_free(&d->warps[s]->warp.identity);
        hd_array_free(&d->warps[s]->pending);
        free(d->warps[s]);
    }
    free(d->warps);
    hd_array_free(&d->groups);
    hd_access_sink_free(&d->sink);
}

void timed_run_all(timed_run *run)
{
    driver d;
    open_driver(&d, run);
    for (bool left = true; left || d.groups.count; d.now++) {
        advance_accesses(&d);
        left = left && (run->order ? followed_cycle(&d) : free_cycle(&d));
        offer_idle_units(&d);
        if (d.now - d.moved > LONGEST_WAIT)
            fail_msg("%s: nothing moves after cycle %llu", d.model->info->name, (unsigned long long)d.moved);
    }
    run->cycles = d.now;
    if (d.ops->finalize)
        d.ops->finalize(d.model);
    close_driver(&d);
}
