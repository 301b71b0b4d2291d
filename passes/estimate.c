/* Estimate of ptxas' register count: features of a function, and the model over them. See passes/estimate.h and
 * docs/estimate.md. */
#include "passes/estimate_work.h"

/* ---- features ------------------------------------------------------------------------------------------------------- */

static bool raise(uint32_t *most, uint32_t value)
{
    if (value <= *most)
        return false;
    *most = value;
    return true;
}

static void measure_block(estimate_work *w, uint32_t b, uint32_t kind, hd_estimate_features *x)
{
    uint32_t text = estimate_block_peak(w, b, ESTIMATE_ORDER_TEXT, 1), demand = estimate_block_peak(w, b, ESTIMATE_ORDER_DEMAND, 1);
    uint32_t speed = estimate_block_peak(w, b, ESTIMATE_ORDER_LATENCY, estimate_copies(w, b));
    if (demand > text)
        demand = text;
    raise(&x->written[kind], text);
    if (raise(&x->needed[kind], demand) && !kind)
        x->needed_at = w->cfg->blocks[b].first;
    if (raise(&x->wanted[kind], speed > text ? speed : text) && !kind)
        x->wanted_at = w->cfg->blocks[b].first;
}

/* Bytes of the variables in shared memory that the function names. */
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
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        uint32_t behaviour = hd_insn_form(f, &f->instructions.items[i])->behaviour;
        x->loads += (behaviour & HD_BEHAVE_LOAD) != 0 && !w->skip[i];
        x->calls += (behaviour & HD_BEHAVE_CALL) != 0;
        x->barriers += (behaviour & HD_BEHAVE_BARRIER) != 0;
    }
    for (uint32_t b = 0; b < w->cfg->block_count; b++)
        x->unrolled += estimate_copies(w, b) > 1;
}

void hd_estimate_measure(hd_pass_context *context, hd_estimate_features *x)
{
    hd_arena scratch = {0};
    estimate_work w = {.function = context->function, .cfg = hd_function_cfg(context->function), .arena = &scratch};
    *x = (hd_estimate_features){.shared_bytes = shared_bytes(w.function)};
    w.liveness = hd_analysis_get(context, HD_ANALYSIS_LIVENESS);
    estimate_values_init(&w, hd_analysis_get(context, HD_ANALYSIS_UNIFORMITY));
    estimate_loops_init(&w);
    count_instructions(&w, x);
    for (uint32_t kind = 0; kind < HD_ESTIMATE_KINDS; kind++) {
        estimate_weigh(&w, kind == 0);
        for (uint32_t b = 0; b < w.cfg->block_count; b++)
            if (w.cfg->blocks[b].reachable)
                measure_block(&w, b, kind, x);
    }
    hd_arena_free(&scratch);
}

/* ---- the model ------------------------------------------------------------------------------------------------------ */

uint32_t hd_estimate_room(const hd_function *f, const hd_estimate_features *x, const hd_gpu_limits *limits, uint32_t needed)
{
    hd_occupancy_use use = {.threads = 128, .registers = needed, .shared_bytes = x->shared_bytes};
    const uint32_t *most = f->required_threads[0] ? f->required_threads : f->max_threads;
    if (most[0])
        use.threads = most[0] * (most[1] ? most[1] : 1) * (most[2] ? most[2] : 1);
    hd_occupancy_cliff cliff = hd_occupancy_loss(limits, &use);
    while (f->min_ctas && cliff.exists && cliff.then.ctas >= f->min_ctas) {
        use.registers = cliff.registers;
        cliff = hd_occupancy_loss(limits, &use);
    }
    return cliff.exists ? cliff.registers - 1 : needed;
}

/* Coefficients, fitted as docs/estimate.md says; hundredths of registers. */
enum {
    WANTED_BASE = 575,
    WANTED_ALL = 80,
    WANTED_VECTOR = 23, /* times the peak without uniform values */
    NEEDED_BASE = 500,
    NEEDED_ALL = 45,
    NEEDED_VECTOR = 45,
    SPARE = 200,        /* registers below the room from which on ptxas takes fewer than it could use .. */
    SPARE_SLOPE = 10,   /* .. namely these hundredths */
    CALLER_LEAST = 24,  /* registers that the calling convention takes */
    LEAST = 4,
};

static uint32_t room_for(const hd_function *f, const hd_estimate_features *x, const hd_gpu_limits *limits, uint32_t needed)
{
    uint32_t room = hd_estimate_room(f, x, limits, needed);
    if (room > limits->registers_per_thread && limits->registers_per_thread)
        room = limits->registers_per_thread;
    return f->max_registers && f->max_registers < room ? f->max_registers : room;
}

uint32_t hd_estimate_model(const hd_function *f, const hd_estimate_features *x, const hd_gpu_limits *limits)
{
    uint64_t needed = NEEDED_BASE + (uint64_t)NEEDED_ALL * x->needed[0] + (uint64_t)NEEDED_VECTOR * x->needed[1];
    uint64_t wanted = WANTED_BASE + (uint64_t)WANTED_ALL * x->wanted[0] + (uint64_t)WANTED_VECTOR * x->wanted[1];
    uint64_t room = 100ull * room_for(f, x, limits, (uint32_t)((needed + 50) / 100));
    if (x->calls && wanted < 100 * CALLER_LEAST)
        wanted = 100 * CALLER_LEAST;
    if (wanted + SPARE > room)
        wanted = room - SPARE + (wanted + SPARE - room) * SPARE_SLOPE / 100;
    if (wanted > room)
        wanted = room;
    return wanted < 100 * LEAST ? LEAST : (uint32_t)((wanted + 50) / 100);
}

uint32_t hd_estimate_registers(hd_pass_context *context, const hd_gpu_limits *limits)
{
    hd_estimate_features x;
    hd_estimate_measure(context, &x);
    return hd_estimate_model(context->function, &x, limits);
}
