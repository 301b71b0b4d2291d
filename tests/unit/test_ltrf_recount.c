/* Every counter of LTRF and LTRF+ against a recount from the annotations and the order of the instructions: sets of
 * registers in place of lines, on random programs with calls and with warps that are deactivated, in
 * caches of many sizes, with and without a line to spare. */
#include "tests/unit/program.h"
#include "tests/unit/rf_replay.h"

enum { WARPS = 16, MOST = 4096, TEXT_BYTES = 1 << 19, PROGRAMS = 150 };

typedef struct recount_warp {
    bool cached[MOST], live[MOST], in_run[MOST]; /* by register index in the warp */
    const hd_annotation *interval;
    uint32_t interval_frame;
    bool away;
    uint64_t interval_length, run_length;
    uint32_t run_registers;
} recount_warp;

typedef struct recount {
    bool plus;
    uint32_t most;
    recount_warp warps[WARPS];
    uint64_t counters[HD_COUNTER_COUNT];
    uint64_t held, kernel_registers, samples, sum, peak;
} recount;

static recount now; /* hooks of a model have no context of the test's */

static recount_warp *warp_of(const hd_rf_warp *warp)
{
    assert_true(warp->identity.warp < WARPS && warp->identity.registers.count <= MOST);
    return &now.warps[warp->identity.warp];
}

/* ---- sets of registers ------------------------------------------------------------------------------------------- */

static bool moves(const recount_warp *w, uint32_t index) { return w->live[index] || !now.plus; }

static void take_out(recount_warp *w, uint32_t index)
{
    w->cached[index] = false;
    now.held--;
    if (!moves(w, index))
        return;
    now.counters[HD_COUNTER_WRITTEN_BACK]++;
    now.counters[HD_COUNTER_CACHE_READS]++;
    now.counters[HD_COUNTER_FILE_WRITES]++;
}

static void put_in(recount_warp *w, uint32_t index, hd_counter counter)
{
    if (w->cached[index])
        return;
    w->cached[index] = true;
    now.held++;
    if (!moves(w, index))
        return;
    now.counters[counter]++;
    now.counters[HD_COUNTER_FILE_READS]++;
    now.counters[HD_COUNTER_CACHE_WRITES]++;
}

static bool is_among(const hd_rf_step *step, const hd_annotation *interval, uint32_t word)
{
    const uint32_t *words = step->code->function->annotation_words.items + interval->value;
    for (uint32_t i = 0; i < interval->count; i++)
        if (words[i] == word)
            return true;
    return false;
}

static void put_in_all(const hd_rf_step *step, const hd_annotation *interval, hd_counter counter)
{
    const uint32_t *words = step->code->function->annotation_words.items + interval->value;
    for (uint32_t i = 0; i < interval->count; i++)
        if (words[i] < step->code->storage.frame)
            put_in(warp_of(step->warp), hd_rf_index(step, words[i]), counter);
}

/* ---- intervals and runs ------------------------------------------------------------------------------------------ */

static void end_length(uint64_t *length, bool cut, hd_counter shortest, hd_counter longest)
{
    uint64_t *c = now.counters;
    if (*length > c[longest])
        c[longest] = *length;
    if (!cut && *length && (!c[shortest] || *length < c[shortest]))
        c[shortest] = *length;
    *length = 0;
}

static void enter(const hd_rf_step *step, const hd_annotation *interval)
{
    recount_warp *w = warp_of(step->warp);
    uint32_t base = step->warp->identity.base;
    for (uint32_t i = 0; i < step->warp->identity.registers.count; i++)
        if (w->cached[i] && (i < base || !is_among(step, interval, i - base)))
            take_out(w, i);
    put_in_all(step, interval, HD_COUNTER_PREFETCHED);
    now.counters[HD_COUNTER_INTERVALS]++;
    end_length(&w->interval_length, false, HD_COUNTER_INTERVAL_SHORTEST, HD_COUNTER_INTERVAL_LONGEST);
    w->interval = interval;
    w->interval_frame = step->warp->identity.frame;
    w->away = false;
}

static uint32_t add_to_run(recount_warp *w, const hd_rf_step *step)
{
    uint32_t more = 0;
    for (uint32_t k = 0; k < step->source_count + step->destination_count; k++) {
        uint32_t word = k < step->source_count ? step->sources[k] : step->destinations[k - step->source_count].word;
        more += !w->in_run[hd_rf_index(step, word)];
        w->in_run[hd_rf_index(step, word)] = true;
    }
    return more;
}

static void count_run(recount_warp *w, const hd_rf_step *step)
{
    w->run_registers += add_to_run(w, step);
    if (!w->run_length || w->run_registers > now.most) {
        end_length(&w->run_length, false, HD_COUNTER_OPTIMAL_SHORTEST, HD_COUNTER_OPTIMAL_LONGEST);
        now.counters[HD_COUNTER_OPTIMAL_INTERVALS]++;
        memset(w->in_run, 0, sizeof w->in_run);
        w->run_registers = add_to_run(w, step);
    }
    w->run_length++;
}

static void end_lives(recount_warp *w, const hd_rf_step *step, const hd_annotation *dead)
{
    const hd_function *f = step->code->function;
    for (uint32_t slot = 0; slot < 32; slot++) {
        uint32_t operand = dead->value >> slot & 1 ? hd_insn_source_slot(f, step->insn, slot) : HD_NONE;
        if (operand == HD_NONE)
            continue;
        HD_STORAGE_WORDS (&step->code->storage, f->operands.items[operand].value, word)
            for (uint32_t s = 0; s < step->source_count; s++)
                if (step->sources[s] == word)
                    w->live[hd_rf_index(step, word)] = false;
    }
}

/* ---- an instruction ---------------------------------------------------------------------------------------------- */

static bool has_intervals(const hd_function *f)
{
    for (uint32_t a = 0; a < f->annotations.count; a++)
        if (f->annotations.items[a].kind == HD_ANNOTATION_LTRF_PREFETCH)
            return true;
    return false;
}

static const hd_annotation *note_at(const hd_rf_step *step, hd_annotation_kind kind)
{
    return hd_annotation_at(step->code->function, kind, step->instruction, 0);
}

static void sample(void)
{
    now.samples++;
    now.sum += now.held;
    now.peak = now.held > now.peak ? now.held : now.peak;
}

static void access_operands(recount_warp *w, const hd_rf_step *step)
{
    uint64_t *c = now.counters;
    for (uint32_t s = 0; s < step->source_count; s++)
        c[w->cached[hd_rf_index(step, step->sources[s])] ? HD_COUNTER_CACHE_READS : HD_COUNTER_FILE_READS]++;
    for (uint32_t d = 0; d < step->destination_count; d++) {
        uint32_t index = hd_rf_index(step, step->destinations[d].word);
        c[w->cached[index] ? HD_COUNTER_CACHE_WRITES : HD_COUNTER_FILE_WRITES]++;
        w->live[index] = true;
    }
}

static void count_step(const hd_rf_step *step)
{
    recount_warp *w = warp_of(step->warp);
    const hd_annotation *begins = note_at(step, HD_ANNOTATION_LTRF_PREFETCH),
                        *dead = note_at(step, HD_ANNOTATION_LTRF_DEAD);
    bool inside = w->interval && w->interval_frame == step->warp->identity.frame;
    sample();
    if (begins && !(inside && w->interval == begins)) {
        enter(step, begins);
    } else if (inside && w->away) {
        put_in_all(step, w->interval, HD_COUNTER_REFETCHED);
        w->away = false;
    }
    if (has_intervals(step->code->function)) {
        now.counters[HD_COUNTER_INTERVAL_INSTRUCTIONS]++;
        w->interval_length++;
        count_run(w, step);
        if (dead && now.plus)
            end_lives(w, step, dead);
    }
    if (step->effective)
        access_operands(w, step);
}

/* ---- the hooks --------------------------------------------------------------------------------------------------- */

static const hd_rf_ops *real(void) { return hd_rf_model_find("ltrf", 4)->ops; }

static void before(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    count_step(step);
    real()->before(model, step, sink);
    assert_int_equal(model->held, now.held);
}

static void launch(hd_rf_model *model, const hd_rf_launch *of)
{
    real()->launch(model, of);
    now.held = 0;
}

static void warp_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    memset(warp_of(warp), 0, sizeof now.warps[0]);
    real()->warp_begin(model, warp);
}

static void warp_end(hd_rf_model *model, hd_rf_warp *warp)
{
    recount_warp *w = warp_of(warp);
    end_length(&w->interval_length, true, HD_COUNTER_INTERVAL_SHORTEST, HD_COUNTER_INTERVAL_LONGEST);
    end_length(&w->run_length, true, HD_COUNTER_OPTIMAL_SHORTEST, HD_COUNTER_OPTIMAL_LONGEST);
    real()->warp_end(model, warp);
}

static void warp_switch(hd_rf_model *model, hd_rf_warp *out, hd_rf_warp *in, hd_access_sink *sink)
{
    for (uint32_t i = 0; out && i < out->identity.registers.count; i++)
        if (warp_of(out)->cached[i])
            take_out(warp_of(out), i);
    if (out)
        warp_of(out)->away = warp_of(out)->interval != NULL;
    real()->warp_switch(model, out, in, sink);
}

static void frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    recount_warp *w = warp_of(warp);
    for (uint32_t i = warp->identity.base; i < warp->identity.registers.count; i++) {
        w->cached[i] = w->in_run[i] = false;
        w->live[i] = warp->identity.registers.items[i].ever != 0;
    }
    now.held += warp->identity.frames.count == 1 ? now.kernel_registers : 0;
    real()->frame_begin(model, warp);
}

static void frame_end(hd_rf_model *model, hd_rf_warp *warp)
{
    recount_warp *w = warp_of(warp);
    for (uint32_t i = warp->identity.base; i < warp->identity.registers.count; i++) {
        now.held -= w->cached[i];
        w->cached[i] = false;
    }
    if (w->interval_frame == warp->identity.frame)
        w->interval = NULL;
    now.held -= warp->identity.frames.count == 1 ? now.kernel_registers : 0;
    real()->frame_end(model, warp);
}

/* Notes the registers per thread that the allocator reports, in the name of the kernel. */
static void note_registers(rf_replay *r, hd_module *module)
{
    hd_rf_module *code = hd_rf_module_new(module);
    (void)r;
    for (uint32_t f = 0; f < module->functions.count; f++)
        if (module->functions.items[f]->is_entry && code->functions[f])
            now.kernel_registers = code->functions[f]->registers;
    hd_rf_module_free(code);
}

/* ---- random programs --------------------------------------------------------------------------------------------- */

static void compare(const rf_replay_result *got, uint64_t seed)
{
    static const hd_counter all[] = {
        HD_COUNTER_FILE_READS,        HD_COUNTER_FILE_WRITES,      HD_COUNTER_CACHE_READS,
        HD_COUNTER_CACHE_WRITES,      HD_COUNTER_PREFETCHED,       HD_COUNTER_REFETCHED,
        HD_COUNTER_WRITTEN_BACK,      HD_COUNTER_INTERVALS,        HD_COUNTER_INTERVAL_INSTRUCTIONS,
        HD_COUNTER_INTERVAL_SHORTEST, HD_COUNTER_INTERVAL_LONGEST, HD_COUNTER_OPTIMAL_INTERVALS,
        HD_COUNTER_OPTIMAL_SHORTEST,  HD_COUNTER_OPTIMAL_LONGEST};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (got->counters[all[k]] != now.counters[all[k]])
            fail_msg("seed %llu: %s: %llu, not %llu", (unsigned long long)seed, hd_counters[all[k]].key,
                     (unsigned long long)got->counters[all[k]], (unsigned long long)now.counters[all[k]]);
    uint64_t sum = 0;
    for (uint32_t b = 0; b < HD_RF_BUCKETS; b++)
        sum += got->allocation.sums[b];
    assert_int_equal(got->allocation.samples, now.samples);
    assert_int_equal(got->allocation.peak, now.peak);
    assert_int_equal(sum, now.sum);
}

static void replay(uint64_t seed, program *p, char *text)
{
    static uint32_t out[96 * RESULT_WORDS];
    static hd_rf_ops ops;
    char passes[64], options[24];
    bool plus = seed / 2 % 2;
    uint32_t n = 3 + (uint32_t)(seed / 4 % 20), room = seed % 3 == 0;
    hd_rf_model_info info = *hd_rf_model_find(plus ? "ltrf+" : "ltrf", plus ? 5 : 4);
    ops = *real();
    ops.before = before, ops.launch = launch, ops.warp_begin = warp_begin, ops.warp_end = warp_end;
    ops.warp_switch = warp_switch, ops.frame_begin = frame_begin, ops.frame_end = frame_end;
    ops.memo = NULL; /* every step is seen */
    snprintf(passes, sizeof passes, "%sltrf(n=%u,dead)", seed % 2 ? "select,regalloc," : "", n);
    snprintf(options, sizeof options, "n=%u%s", n + room, plus ? ",dead" : "");
    info.ops = &ops, info.options = options;
    now = (recount){.plus = plus, .most = n + room};
    program_make(p, seed);
    program_print(p, text, TEXT_BYTES);
    rf_replay r = {.run = {.text = text,
                           .in = p->inputs,
                           .in_bytes = sizeof p->inputs,
                           .out = out,
                           .out_bytes = sizeof *out * RESULT_WORDS * p->threads,
                           .block = p->threads,
                           .options.instruction_limit = 10000000,
                           .passes = passes},
                   .models = &info,
                   .model_count = 1,
                   .annotate = note_registers,
                   .residency = {.ctas = 4,
                                 .active = 1 + (uint32_t)(seed % 3),
                                 .latency = 10,
                                 .bytes = 1 << 24,
                                 .cta_warps = 1,
                                 .sm_warps = 64,
                                 .thread_registers = 255}};
    rf_replay_run(&r);
    assert_null(r.results[0].refusal);
    assert_true(r.proved);
    compare(&r.results[0], seed);
}

static void counters_are_those_of_a_recount(void **state)
{
    static program p;
    char *text = hd_malloc(TEXT_BYTES);
    uint64_t refetched = 0, prefetched = 0;
    (void)state;
    for (uint64_t seed = 1; seed <= PROGRAMS; seed++) {
        replay(seed, &p, text);
        refetched += now.counters[HD_COUNTER_REFETCHED];
        prefetched += now.counters[HD_COUNTER_PREFETCHED];
    }
    free(text);
    assert_true(refetched > 100 && prefetched > 10000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(counters_are_those_of_a_recount)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
