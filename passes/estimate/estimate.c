/* Estimate of ptxas' register count: features of a function, and the model over them. See passes/estimate/estimate.h
 * and docs/estimate.md. */
#include "passes/estimate/estimate_work.h"

/* ---- features ---------------------------------------------------------------------------------------------------- */

static bool lift(uint32_t *most, uint32_t value)
{
    if (value <= *most)
        return false;
    *most = value;
    return true;
}

static void measure_region(estimate_work *w, estimate_region region, uint32_t kind, hd_estimate_features *x)
{
    uint32_t copies = estimate_copies(w, region), first = w->cfg->blocks[region.first].first;
    uint32_t text = estimate_peak(w, region, ESTIMATE_ORDER_TEXT, 1),
             demand = estimate_peak(w, region, ESTIMATE_ORDER_DEMAND, 1);
    uint32_t speed = estimate_peak(w, region, ESTIMATE_ORDER_LATENCY, copies);
    if (demand > text)
        demand = text;
    if (!kind)
        x->unrolled += copies > 1;
    if (!kind) {
        uint32_t late = estimate_peak(w, region, ESTIMATE_ORDER_LATE, copies);
        lift(&x->late, hd_max(late, text));
        lift(&x->written, text);
    }
    if (lift(&x->needed[kind], demand) && !kind)
        x->needed_at = first;
    if (lift(&x->wanted[kind], hd_max(speed, text)) && !kind)
        x->wanted_at = first;
}

static void measure_regions(estimate_work *w, uint32_t kind, hd_estimate_features *x)
{
    for (uint32_t b = 0; b < w->cfg->block_count;) {
        estimate_region region = estimate_region_at(w, b);
        if (w->cfg->blocks[b].reachable)
            measure_region(w, region, kind, x);
        b = region.last + 1;
    }
}

/* Bytes of the shared-memory variables that the function names. */
static uint32_t shared_bytes(const hd_function *f)
{
    hd_u32_array seen = {0};
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < f->operands.count; i++) {
        const hd_operand *o = &f->operands.items[i];
        if (o->kind != HD_OPERAND_SYMBOL || f->module->symbols.items[o->value].space != HD_SPACE_SHARED)
            continue;
        uint32_t k = 0;
        while (k < seen.count && seen.items[k] != o->value)
            k++;
        if (k < seen.count)
            continue;
        hd_array_push(&seen, o->value);
        bytes += f->module->symbols.items[o->value].size_bytes;
    }
    hd_array_free(&seen);
    return bytes < UINT32_MAX ? (uint32_t)bytes : UINT32_MAX;
}

static void count_instructions(const estimate_work *w, hd_estimate_features *x)
{
    const hd_function *f = w->function;
    x->instructions = f->instructions.count;
    x->loops = w->cfg->loop_count;
    x->calls = estimate_count_calls(f);
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        uint32_t behaviour = hd_insn_form(f, &f->instructions.items[i])->behaviour;
        x->loads += (behaviour & HD_BEHAVE_LOAD) != 0 && !w->skip[i];
        x->barriers += (behaviour & HD_BEHAVE_BARRIER) != 0;
    }
}

/* The maximum number of words live across a call. */
static uint32_t words_over_calls(estimate_work *w)
{
    hd_live_walk walk;
    uint32_t most = 0;
    hd_live_walk_init(&walk, w->arena, w->function, w->liveness);
    for (uint32_t b = 0; b < w->cfg->block_count; b++) {
        hd_live_start(&walk, b);
        while (walk.ordinal > w->cfg->blocks[b].first) {
            const hd_instruction *insn = &w->function->instructions.items[walk.ordinal - 1];
            bool call = hd_insn_form(w->function, insn)->behaviour & HD_BEHAVE_CALL;
            uint32_t words = 0;
            for (uint32_t i = 0; call && i < walk.count; i++) {
                uint32_t reg = walk.members[i], other = w->packed[reg];
                words += other < reg && hd_live_has(&walk, other) ? 0 : w->words[reg];
            }
            lift(&most, words);
            hd_live_step(&walk);
        }
    }
    return most;
}

void hd_estimate_measure(hd_pass_context *context, hd_estimate_features *x)
{
    hd_arena scratch = {0};
    estimate_work w = {.function = context->function, .cfg = hd_function_cfg(context->function), .arena = &scratch};
    *x = (hd_estimate_features){.shared_bytes = shared_bytes(w.function)};
    w.liveness = hd_analysis_get(context, HD_ANALYSIS_LIVENESS);
    estimate_values_init(&w, hd_analysis_get(context, HD_ANALYSIS_UNIFORMITY));
    estimate_loops_init(&w);
    w.join = HD_ARENA_ARRAY(&scratch, uint32_t, w.cfg->block_count);
    w.guard = HD_ARENA_ARRAY(&scratch, uint32_t, w.cfg->block_count);
    count_instructions(&w, x);
    for (uint32_t kind = 0; kind < HD_ESTIMATE_KINDS; kind++) {
        estimate_weigh(&w, kind == 0);
        if (kind == 0 && x->calls)
            x->over_calls = words_over_calls(&w);
        measure_regions(&w, kind, x);
    }
    x->loop = estimate_loop(&w);
    hd_arena_free(&scratch);
}

/* ---- the model --------------------------------------------------------------------------------------------------- */

hd_register_cap hd_estimate_cap(const hd_function *f, const hd_gpu_limits *limits, uint32_t option)
{
    const uint32_t *sizes = f->required_threads[0] ? f->required_threads : f->max_threads;
    uint64_t threads = (uint64_t)sizes[0] * (sizes[1] ? sizes[1] : 1) * (sizes[2] ? sizes[2] : 1);
    hd_launch_bounds bounds = {threads < UINT32_MAX ? (uint32_t)threads : UINT32_MAX, f->min_ctas, f->max_registers};
    return hd_register_cap_of(limits, &bounds, option);
}

/* Whether .minnctapersm gives the number of resident blocks, whose register limit is then the cap. */
static bool has_ctas(const hd_function *f, const hd_gpu_limits *limits)
{
    return f->min_ctas && !hd_estimate_cap(f, limits, 0).ctas_ignored;
}

uint32_t hd_estimate_room(const hd_function *f, const hd_estimate_features *x, const hd_gpu_limits *limits,
                          uint32_t needed)
{
    hd_register_cap cap = hd_estimate_cap(f, limits, 0);
    hd_occupancy_use use = {.threads = 128, .registers = needed, .shared_bytes = x->shared_bytes};
    const uint32_t *most = f->required_threads[0] ? f->required_threads : f->max_threads;
    if (most[0])
        use.threads = most[0] * (most[1] ? most[1] : 1) * (most[2] ? most[2] : 1);
    if (has_ctas(f, limits))
        return cap.registers;
    hd_occupancy_cliff cliff = hd_occupancy_loss(limits, &use);
    uint32_t room = cliff.exists ? cliff.registers - 1 : needed;
    return hd_min(room, cap.registers);
}

/* Coefficients, fitted as described in docs/estimate.md; in hundredths of registers. */
enum {
    EXCESS = 26,      /* of each register wanted for speed beyond those needed, this part is allocated .. */
    EXCESS_MOST = 50, /* .. up to this maximum */
    WANTED_BASE = 516,
    WANTED_EARLY = 51,
    WANTED_VECTOR = 23,
    WANTED_LATE = 28,
    WANTED_HOPPER = 109,  /* from sm_90 on */
    WANTED_DOUBLING = 29, /* for each doubling of the instruction count, from 64 on */
    WANTED_CTAS = 507,    /* beyond what both orders want, with .minnctapersm */
    WORDS_MOST = 300,     /* maximum words of an order that count */
    SPARE = 274,          /* with more registers below the limit than this, ptxas uses fewer than it could .. */
    SPARE_SLOPE = 11,     /* .. by these hundredths per register */
    CALLER_LEAST = 24,    /* registers reserved by the calling convention .. */
    CALLEE_SAVED = 8,     /* .. of which these are preserved across calls */
    STACK_POINTER = 100,  /* machine code reserves one register */
    LEAST = 4,
};

static int64_t at_most(uint32_t words, uint32_t most) { return hd_min(words, most); }

static int64_t room_for(const hd_function *f, const hd_estimate_features *x, const hd_gpu_limits *limits,
                        int64_t needed)
{
    return 100ll * hd_estimate_room(f, x, limits, needed > 0 ? (uint32_t)((needed + 50) / 100) : 0);
}

/* Binary logarithm in hundredths, linear between powers of two. */
static int64_t logarithm(uint32_t n)
{
    uint32_t whole = 0;
    while (n >> whole > 1)
        whole++;
    return n ? 100ll * whole + 100ll * (n - (1ll << whole)) / (1ll << whole) : 0;
}

/* Registers that must fit, or occupancy decreases. */
static int64_t needed_by(const hd_estimate_features *x)
{
    uint32_t excess = x->wanted[0] > x->needed[0] ? x->wanted[0] - x->needed[0] : 0;
    int64_t needed = 100ll * x->needed[1] + EXCESS * at_most(excess, EXCESS_MOST);
    return hd_max(needed, 100ll * x->needed[1] + STACK_POINTER);
}

static int64_t wanted_by(const hd_function *f, const hd_estimate_features *x, const hd_gpu_limits *limits)
{
    int64_t wanted = WANTED_BASE + WANTED_EARLY * at_most(x->wanted[0], WORDS_MOST) +
                     WANTED_VECTOR * at_most(x->wanted[1], WORDS_MOST) + WANTED_LATE * at_most(x->late, WORDS_MOST) +
                     WANTED_DOUBLING * (logarithm(x->instructions) - 600) / 100;
    if (f->module->target_number >= 90)
        wanted += WANTED_HOPPER;
    if (has_ctas(f, limits)) /* the limit is given, so speed alone decides */
        wanted = 100 * at_most(x->wanted[0], x->late) + WANTED_CTAS;
    int64_t calling = CALLER_LEAST + (x->over_calls > CALLEE_SAVED ? x->over_calls - CALLEE_SAVED : 0);
    return x->calls && wanted < 100 * calling ? 100 * calling : wanted;
}

uint32_t hd_estimate_model(const hd_function *f, const hd_estimate_features *x, const hd_gpu_limits *limits)
{
    int64_t wanted = wanted_by(f, x, limits), least = 100ll * x->needed[1] + STACK_POINTER;
    int64_t room = room_for(f, x, limits, needed_by(x));
    if (wanted > room - SPARE)
        wanted = room - SPARE + (wanted + SPARE - room) * SPARE_SLOPE / 100;
    if (wanted < least)
        wanted = least;
    if (wanted > room)
        wanted = room;
    return wanted < 100 * LEAST ? LEAST : (uint32_t)((wanted + 50) / 100);
}

/* For estimates below `below`: the 5th and the 95th percentile of ptxas' counts, in percent of the estimate, and how
 * many of the kernels of files left out lie between such percentiles. `bench/estimate --fit` prints them. */
static const struct {
    uint32_t below, low, high, coverage_percent;
} errors[] = {{32, 80, 128, 96}, {64, 78, 133, 88}, {UINT32_MAX, 29, 160, 84}};

hd_estimate_interval hd_estimate_around(uint32_t estimate, uint32_t cap)
{
    uint32_t e = 0;
    while (estimate >= errors[e].below)
        e++;
    uint32_t low = estimate * errors[e].low / 100, high = (estimate * errors[e].high + 99) / 100;
    return (hd_estimate_interval){hd_max(low, LEAST), hd_min(high, cap), errors[e].coverage_percent};
}

uint32_t hd_estimate_registers(hd_pass_context *context, const hd_gpu_limits *limits)
{
    hd_estimate_features x;
    hd_estimate_measure(context, &x);
    return hd_estimate_model(context->function, &x, limits);
}
