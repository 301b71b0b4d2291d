/* LTRF and LTRF+: a register cache that is filled before it is read. "LTRF: Enabling High-Capacity Register Files for
 * GPUs via Hardware/Software Cooperative Register Prefetching", ASPLOS 2018, sections 3.2 and 4.
 *
 * Each active warp has a partition of n lines, a warp register each, which serves every operand and takes every result.
 * At an instruction that begins a register-interval (ltrf_prefetch), the interval's registers that the cache holds stay
 * (their valid bits are set), all others are written back to the main file, and missing registers are fetched. The
 * header of the interval that the warp is in, at the end of a loop, moves nothing. A warp that is deactivated writes
 * its registers back and frees its partition; if it is reactivated in the middle of an interval, the interval's
 * registers are refetched. There are no dirty bits.
 *
 *   dead (LTRF+)  a bit for each register says whether it is live: set by a write, cleared after a source that the
 *                 compiler marks dead (ltrf_dead). Registers that are not live are neither written back nor fetched;
 *                 they only get a line.
 *
 * The warp control block has the line of each register, or none. Lines are allocated from a queue of unused ones. An
 * access of a register without a line fails the proof. Only an instruction that accesses more than n registers (an
 * interval of its own) accesses the main file for the registers without a line; so do functions without intervals.
 *
 * A callee's first instruction begins an interval, and so does the instruction after a call: cached registers of a
 * frame that ends are dropped.
 *
 * Counted as well: the instructions that a warp issues in an interval, and, as the optimum of section 6.5, in runs that
 * end only where more than n registers would be needed. A warp's end cuts its last interval and run, which are
 * therefore never the shortest.
 *
 * Time. The crossbar between main file and cache is a quarter as wide as one without a cache (section 4.2): a register
 * takes four cycles through the port of its bank, in either direction, and registers of different banks go at one time.
 * A bank that is slower than that decides itself. Option crossbar=CYCLES; 1: as wide as without a cache.
 *
 * Allocation: the registers of resident warps in the main file, with those of all functions that the kernel calls, and
 * lines of the cache.
 *
 * Cost: O(1) an instruction and an operand, O(n) where the interval or the active warp changes.
 */
#include "hwmodel/rf/memo.h"
#include "base/bits.h"
#include "hwmodel/rf/models/ltrf_hints.h"
#include "hwmodel/rf/technique.h"
#include "target/gpu.h"

enum {
    HD_LTRF_MOST = 256,
    HD_LTRF_ACTIVE = 8,
    HD_LTRF_WARPS = 64,
    HD_LTRF_REGISTERS = 256,
    HD_LTRF_LINE_BITS = 1024,
    HD_LTRF_CROSSBAR = 4
};

typedef struct hd_ltrf_line {
    hd_owner owner;
    hd_claim claim;
} hd_ltrf_line;

typedef struct hd_ltrf_run { /* of issued instructions */
    uint32_t number, registers;
} hd_ltrf_run;
enum { HD_LTRF_INTERVAL, HD_LTRF_OPTIMUM }; /* lengths of a warp: hd_run_length */

typedef struct hd_ltrf_warp {
    uint32_t partition;               /* HD_NONE: it is not active */
    const hd_ltrf_interval *interval; /* the current one, of the frame `frame`; NULL: none */
    uint32_t frame, function;         /* function: of the frame */
    bool away;                        /* it was deactivated: the interval's registers must be refetched */
    uint32_t cached, unused_first;    /* lines in use; where the queue of unused ones begins */
    uint16_t lines[HD_LTRF_MOST];     /* those in use, in the order of allocation */
    uint16_t unused[HD_LTRF_MOST];
    uint32_t index_of[HD_LTRF_MOST], frame_of[HD_LTRF_MOST]; /* by line: the register that it is for */
    HD_ARRAY(uint16_t) line_of;                              /* by register index in the warp: 1 + line; 0: none */
    HD_ARRAY(uint8_t) live;                                  /* likewise */
    hd_u32_array wanted, stamp; /* likewise: the last change of interval that keeps it; the last run that accessed it */
    uint32_t changes;
    hd_ltrf_run run;
    hd_run_length lengths[HD_RUN_LENGTHS];
} hd_ltrf_warp;

typedef struct hd_ltrf {
    hd_rf_model model;
    hd_rf_file file;
    uint32_t most;     /* n */
    uint32_t crossbar; /* cycles that a register takes through a port of the crossbar to the main file */
    bool plus;
    HD_ARRAY(hd_ltrf_warp *) warps; /* by slot */
    HD_ARRAY(hd_ltrf_line) lines;   /* of all partitions */
    hd_u32_array partitions;        /* free ones */
    hd_arena arena;
    hd_ltrf_function *functions;
    const hd_rf_module *code;
    uint32_t kernel_registers; /* of a thread, of the launch */
} hd_ltrf;

static void ltrf_destroy(hd_rf_model *model)
{
    hd_ltrf *ltrf = (hd_ltrf *)model;
    for (uint32_t i = 0; i < ltrf->warps.count; i++) {
        hd_ltrf_warp *w = ltrf->warps.items[i];
        hd_array_free(&w->line_of);
        hd_array_free(&w->live);
        hd_array_free(&w->wanted);
        hd_array_free(&w->stamp);
        free(w);
    }
    hd_array_free(&ltrf->warps);
    hd_array_free(&ltrf->lines);
    hd_array_free(&ltrf->partitions);
    hd_rf_file_free(&ltrf->file);
    hd_arena_free(&ltrf->arena);
    free(ltrf);
}

static hd_rf_model *ltrf_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    hd_ltrf *ltrf = hd_calloc(1, sizeof *ltrf);
    uint32_t count = code->module->functions.count;
    ltrf->code = code;
    ltrf->most = hd_rf_option(options, "n", 16);
    ltrf->crossbar = hd_rf_option(options, "crossbar", HD_LTRF_CROSSBAR);
    ltrf->plus = hd_rf_flag(options, "dead");
    ltrf->functions = HD_ARENA_ARRAY(&ltrf->arena, hd_ltrf_function, count);
    bool good = ltrf->most >= 1 && ltrf->most <= HD_LTRF_MOST;
    if (!good)
        *refusal = "a register cache of this size is not modelled";
    for (uint32_t f = 0; good && f < count; f++)
        if (code->functions[f] &&
            !hd_ltrf_hints_read(&ltrf->functions[f], code->functions[f], ltrf->most, &ltrf->arena)) {
            *refusal = "the kernel's register-intervals were made for a larger cache";
            good = false;
        }
    if (good)
        return &ltrf->model;
    ltrf_destroy(&ltrf->model);
    return NULL;
}

/* Section 4.3: a control block for every warp, with a line number and a valid bit a register, the place of the
 * partition, and the vectors; and the cache itself. */
static void ltrf_launch(hd_rf_model *model, const hd_rf_launch *launch)
{
    hd_ltrf *ltrf = (hd_ltrf *)model;
    const hd_rf_residency *r = &launch->residency;
    uint32_t active = r->active ? r->active : HD_LTRF_ACTIVE, warps = r->sm_warps ? r->sm_warps : HD_LTRF_WARPS;
    uint64_t registers = r->thread_registers ? r->thread_registers + 1 : HD_LTRF_REGISTERS;
    uint64_t block = registers * (hd_bits_for(ltrf->most) + 1) + hd_bits_for(active) + registers * (ltrf->plus ? 2 : 1);
    model->storage_bits = warps * block + (uint64_t)active * ltrf->most * HD_LTRF_LINE_BITS;
    hd_array_clear(&ltrf->lines);
    memset(hd_array_extend(&ltrf->lines, active * ltrf->most), 0, (size_t)active * ltrf->most * sizeof(hd_ltrf_line));
    hd_array_clear(&ltrf->partitions);
    for (uint32_t p = 0; p < active; p++)
        hd_array_push(&ltrf->partitions, active - 1 - p);
    ltrf->model.held = 0;
    ltrf->kernel_registers = ltrf->code->functions[launch->function]->registers;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static hd_ltrf_warp *warp_of(const hd_ltrf *ltrf, const hd_rf_warp *warp) { return ltrf->warps.items[warp->slot]; }

static hd_ltrf_line *line_at(hd_ltrf *ltrf, const hd_ltrf_warp *w, uint32_t line)
{
    return &ltrf->lines.items[w->partition * ltrf->most + line];
}

static uint16_t allocate_line(hd_ltrf *ltrf, hd_ltrf_warp *w, uint32_t index, uint32_t frame)
{
    uint16_t line = w->unused[w->unused_first];
    w->unused_first = w->unused_first + 1 == ltrf->most ? 0 : w->unused_first + 1;
    w->lines[w->cached++] = line;
    w->index_of[line] = index;
    w->frame_of[line] = frame;
    w->line_of.items[index] = (uint16_t)(line + 1);
    ltrf->model.held++;
    return line;
}

/* The caller removes it from w->lines, and updates w->cached. `in_use`: lines in use, this one included. */
static void free_line(hd_ltrf *ltrf, hd_ltrf_warp *w, uint16_t line, uint32_t in_use)
{
    uint32_t end = w->unused_first + ltrf->most - in_use;
    w->unused[end >= ltrf->most ? end - ltrf->most : end] = line;
    w->line_of.items[w->index_of[line]] = 0;
    ltrf->model.held--;
}

static void fetch_register(hd_ltrf *ltrf, const hd_rf_warp *warp, uint32_t index, hd_access_cause cause,
                           hd_access_sink *sink)
{
    hd_ltrf_warp *w = warp_of(ltrf, warp);
    uint16_t number = allocate_line(ltrf, w, index, warp->identity.frame);
    hd_ltrf_line *line = line_at(ltrf, w, number);
    hd_owner owner = {warp->identity.warp, warp->identity.frame, index};
    if (ltrf->plus && !w->live.items[index]) {
        *line = (hd_ltrf_line){owner, {0, 0}};
        return;
    }
    uint16_t read = hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_FILE,
                                                 .kind = HD_RF_READ,
                                                 .cycles = (uint16_t)ltrf->crossbar,
                                                 .bank = hd_rf_index_bank(warp, index),
                                                 .lanes = UINT32_MAX});
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_CACHE,
                                 .kind = HD_RF_FILL,
                                 .cause = (uint8_t)cause,
                                 .after = read,
                                 .bank = number,
                                 .lanes = UINT32_MAX});
    if (!hd_rf_loses(&ltrf->model)) /* else the line holds what it held */
        *line = (hd_ltrf_line){owner, *hd_rf_file_at(&ltrf->file, warp, index)};
}

static void write_back_line(hd_ltrf *ltrf, const hd_rf_warp *warp, uint16_t line, hd_access_sink *sink)
{
    hd_ltrf_warp *w = warp_of(ltrf, warp);
    const hd_ltrf_line *from = line_at(ltrf, w, line);
    uint32_t index = w->index_of[line];
    if (ltrf->plus && !w->live.items[index])
        return;
    uint16_t spill = hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_CACHE,
                                                  .kind = HD_RF_SPILL,
                                                  .cause = HD_CAUSE_WRITE_BACK,
                                                  .bank = line,
                                                  .lanes = UINT32_MAX});
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_FILE,
                                 .kind = HD_RF_WRITE,
                                 .cycles = (uint16_t)ltrf->crossbar,
                                 .after = spill,
                                 .bank = hd_rf_index_bank(warp, index),
                                 .lanes = UINT32_MAX});
    if (hd_rf_loses(&ltrf->model))
        return;
    bool own =
        from->owner.index == index && from->owner.frame == w->frame_of[line] && from->owner.warp == warp->identity.warp;
    *hd_rf_file_at(&ltrf->file, warp, index) = own ? from->claim : (hd_claim){0, 0};
}

/* Writes back the lines that the interval does not keep, or all. */
static void empty_lines(hd_ltrf *ltrf, const hd_rf_warp *warp, bool all, hd_access_sink *sink)
{
    hd_ltrf_warp *w = warp_of(ltrf, warp);
    uint32_t kept = 0, in_use = w->cached;
    for (uint32_t i = 0; i < w->cached; i++) {
        uint16_t line = w->lines[i];
        if (!all && w->wanted.items[w->index_of[line]] == w->changes) {
            w->lines[kept++] = line;
            continue;
        }
        write_back_line(ltrf, warp, line, sink);
        free_line(ltrf, w, line, in_use--);
    }
    w->cached = kept;
}

/* ---- intervals --------------------------------------------------------------------------------------------------- */

static void enter_interval(hd_ltrf *ltrf, const hd_rf_step *step, const hd_ltrf_interval *interval,
                           hd_access_sink *sink)
{
    const hd_rf_warp *warp = step->warp;
    hd_ltrf_warp *w = warp_of(ltrf, warp);
    uint32_t base = warp->identity.base;
    w->changes++;
    for (uint32_t i = 0; i < interval->count; i++)
        w->wanted.items[base + interval->words[i]] = w->changes;
    empty_lines(ltrf, warp, false, sink);
    for (uint32_t i = 0; i < interval->count; i++)
        if (!w->line_of.items[base + interval->words[i]])
            fetch_register(ltrf, warp, base + interval->words[i], HD_CAUSE_PREFETCH, sink);
    hd_rf_event(&ltrf->model, HD_COUNTER_INTERVALS, 1);
    hd_run_length_end(&ltrf->model, w->lengths, HD_LTRF_INTERVAL, false);
    w->interval = interval;
    w->frame = warp->identity.frame;
    w->function = step->function;
    w->away = false;
}

static void refetch_interval(hd_ltrf *ltrf, const hd_rf_warp *warp, hd_access_sink *sink)
{
    hd_ltrf_warp *w = warp_of(ltrf, warp);
    for (uint32_t i = 0; i < w->interval->count; i++)
        if (!w->line_of.items[warp->identity.base + w->interval->words[i]])
            fetch_register(ltrf, warp, warp->identity.base + w->interval->words[i], HD_CAUSE_REACTIVATION, sink);
    w->away = false;
}

static uint32_t new_to_run(hd_ltrf_warp *w, const hd_rf_step *step)
{
    uint32_t more = 0;
    for (uint32_t s = 0; s < step->source_count; s++) {
        uint32_t *stamp = &w->stamp.items[hd_rf_index(step, step->sources[s])];
        more += *stamp != w->run.number;
        *stamp = w->run.number;
    }
    for (uint32_t d = 0; d < step->destination_count; d++) {
        uint32_t *stamp = &w->stamp.items[hd_rf_index(step, step->destinations[d].word)];
        more += *stamp != w->run.number;
        *stamp = w->run.number;
    }
    return more;
}

/* The optimum: runs that end only when the registers do not suffice, whatever the control flow. */
static void count_run(hd_ltrf *ltrf, hd_ltrf_warp *w, const hd_rf_step *step)
{
    w->run.registers += new_to_run(w, step);
    if (!w->lengths[HD_LTRF_OPTIMUM].length || w->run.registers > ltrf->most) {
        hd_run_length_end(&ltrf->model, w->lengths, HD_LTRF_OPTIMUM, false);
        hd_rf_event(&ltrf->model, HD_COUNTER_OPTIMAL_INTERVALS, 1);
        w->run.number++;
        w->run.registers = new_to_run(w, step);
    }
    w->lengths[HD_LTRF_OPTIMUM].length++;
}

/* Fetches the registers of the interval that the instruction begins, or in which the warp is reactivated. */
static void ltrf_before(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    hd_ltrf *ltrf = (hd_ltrf *)model;
    hd_ltrf_warp *w = warp_of(ltrf, step->warp);
    const hd_ltrf_function *f = &ltrf->functions[step->function];
    hd_rf_record_held(model);
    if (!f->headers)
        return;
    uint32_t header = f->headers[step->instruction];
    const hd_ltrf_interval *interval = header ? &f->intervals[header - 1] : NULL;
    bool inside = w->interval && w->frame == step->warp->identity.frame;
    if (interval && !(inside && w->interval == interval))
        enter_interval(ltrf, step, interval, sink);
    else if (inside && w->away)
        refetch_interval(ltrf, step->warp, sink);
}

static void count_instruction(hd_ltrf *ltrf, hd_ltrf_warp *w, const hd_rf_step *step)
{
    hd_rf_event(&ltrf->model, HD_COUNTER_INTERVAL_INSTRUCTIONS, 1);
    w->lengths[HD_LTRF_INTERVAL].length++;
    count_run(ltrf, w, step);
}

static void end_lives(const hd_ltrf_function *f, hd_ltrf_warp *w, const hd_rf_step *step)
{
    const uint8_t *dead = f->dead + (step->sources - step->code->sources);
    for (uint32_t s = 0; s < step->source_count; s++)
        if (dead[s])
            w->live.items[hd_rf_index(step, step->sources[s])] = 0;
}

/* ---- operands and results ---------------------------------------------------------------------------------------- */

static bool may_bypass(const hd_ltrf *ltrf, const hd_rf_step *step)
{
    const hd_ltrf_function *f = &ltrf->functions[step->function];
    return !f->headers || f->bypasses[step->instruction];
}

static void read_operand(hd_ltrf *ltrf, const hd_rf_step *step, uint32_t source, hd_access_sink *sink)
{
    hd_ltrf_warp *w = warp_of(ltrf, step->warp);
    uint32_t line = w->line_of.items[hd_rf_index(step, step->sources[source])];
    if (line) {
        const hd_ltrf_line *from = line_at(ltrf, w, line - 1);
        hd_rf_read(sink, step, source, HD_STRUCTURE_CACHE, step->effective, from->owner, from->claim);
    } else if (may_bypass(ltrf, step)) {
        hd_rf_file_read(&ltrf->file, step, source, sink);
    }
}

/* The claim of the line, which belongs to the result from now on. */
static hd_claim *claim_line(hd_ltrf_line *line, hd_owner owner)
{
    if (line->owner.index != owner.index || line->owner.warp != owner.warp || line->owner.frame != owner.frame)
        *line = (hd_ltrf_line){owner, {0, 0}};
    return &line->claim;
}

static void write_result(hd_ltrf *ltrf, const hd_rf_step *step, uint32_t destination, hd_access_sink *sink)
{
    hd_ltrf_warp *w = warp_of(ltrf, step->warp);
    uint32_t word = step->destinations[destination].word, index = hd_rf_index(step, word);
    uint32_t line = w->line_of.items[index];
    w->live.items[index] = 1;
    if (!line) {
        if (may_bypass(ltrf, step))
            hd_rf_file_write(&ltrf->model, &ltrf->file, step, destination, sink);
        return;
    }
    hd_rf_write(sink, step, destination, HD_STRUCTURE_CACHE);
    if (hd_rf_loses(&ltrf->model))
        return;
    hd_claim *claim = claim_line(line_at(ltrf, w, line - 1), hd_rf_owner(step, word));
    *claim = hd_rf_written(step, destination, *claim);
}

static void ltrf_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    hd_ltrf *ltrf = (hd_ltrf *)model;
    hd_ltrf_warp *w = warp_of(ltrf, step->warp);
    const hd_ltrf_function *f = &ltrf->functions[step->function];
    if (f->headers)
        count_instruction(ltrf, w, step);
    if (f->headers && ltrf->plus)
        end_lives(f, w, step);
    if (!step->effective)
        return;
    for (uint32_t s = 0; s < step->source_count; s++)
        read_operand(ltrf, step, s, sink);
    for (uint32_t d = 0; d < step->destination_count; d++)
        write_result(ltrf, step, d, sink);
}

/* ---- lives of warps and frames ----------------------------------------------------------------------------------- */

static void ltrf_warp_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_ltrf *ltrf = (hd_ltrf *)model;
    while (ltrf->warps.count <= warp->slot)
        hd_array_push(&ltrf->warps, hd_calloc(1, sizeof(hd_ltrf_warp)));
    hd_ltrf_warp *w = warp_of(ltrf, warp);
    w->partition = HD_NONE;
    w->interval = NULL;
    w->away = false;
    w->cached = w->unused_first = w->changes = 0;
    for (uint32_t line = 0; line < ltrf->most; line++)
        w->unused[line] = (uint16_t)line;
    hd_array_clear(&w->line_of);
    hd_array_clear(&w->live);
    hd_array_clear(&w->wanted);
    hd_array_clear(&w->stamp);
    w->run = (hd_ltrf_run){.number = 1};
    w->lengths[HD_LTRF_INTERVAL] =
        (hd_run_length){.shortest = HD_COUNTER_INTERVAL_SHORTEST, .longest = HD_COUNTER_INTERVAL_LONGEST};
    w->lengths[HD_LTRF_OPTIMUM] =
        (hd_run_length){.shortest = HD_COUNTER_OPTIMAL_SHORTEST, .longest = HD_COUNTER_OPTIMAL_LONGEST};
}

static void ltrf_warp_end(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_ltrf *ltrf = (hd_ltrf *)model;
    hd_ltrf_warp *w = warp_of(ltrf, warp);
    for (uint32_t k = 0; k < HD_RUN_LENGTHS; k++)
        hd_run_length_end(model, w->lengths, k, true);
    if (w->partition != HD_NONE)
        hd_array_push(&ltrf->partitions, w->partition);
}

static uint32_t take_partition(hd_ltrf *ltrf)
{
    if (!ltrf->partitions.count) { /* more are active than `launch` said */
        hd_array_push(&ltrf->partitions, ltrf->lines.count / ltrf->most);
        memset(hd_array_extend(&ltrf->lines, ltrf->most), 0, ltrf->most * sizeof(hd_ltrf_line));
    }
    return hd_array_pop(&ltrf->partitions);
}

static void ltrf_switch(hd_rf_model *model, hd_rf_warp *out, hd_rf_warp *in, hd_access_sink *sink)
{
    hd_ltrf *ltrf = (hd_ltrf *)model;
    if (out) {
        hd_ltrf_warp *w = warp_of(ltrf, out);
        empty_lines(ltrf, out, true, sink);
        hd_array_push(&ltrf->partitions, w->partition);
        w->partition = HD_NONE;
        w->away = w->interval != NULL;
    }
    if (in)
        warp_of(ltrf, in)->partition = take_partition(ltrf);
}

/* Parameters in registers were written by the call: they are live. */
static void ltrf_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_ltrf *ltrf = (hd_ltrf *)model;
    hd_ltrf_warp *w = warp_of(ltrf, warp);
    uint32_t base = warp->identity.base, words = warp->identity.registers.count - base;
    hd_rf_file_frame_begin(&ltrf->file, warp);
    ltrf->model.held += warp->identity.frames.count == 1 ? ltrf->kernel_registers : 0;
    if (!words)
        return;
    memset(hd_array_extend(&w->line_of, words), 0, words * sizeof *w->line_of.items);
    memset(hd_array_extend(&w->wanted, words), 0, words * sizeof *w->wanted.items);
    memset(hd_array_extend(&w->stamp, words), 0, words * sizeof *w->stamp.items);
    (void)hd_array_extend(&w->live, words);
    for (uint32_t i = base; i < w->live.count; i++)
        w->live.items[i] = warp->identity.registers.items[i].ever != 0;
}

static void ltrf_frame_end(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_ltrf *ltrf = (hd_ltrf *)model;
    hd_ltrf_warp *w = warp_of(ltrf, warp);
    uint32_t base = warp->identity.base, kept = 0, in_use = w->cached;
    for (uint32_t i = 0; i < w->cached; i++) {
        uint16_t line = w->lines[i];
        if (w->index_of[line] < base)
            w->lines[kept++] = line;
        else
            free_line(ltrf, w, line, in_use--);
    }
    w->cached = kept;
    if (w->interval && w->frame == warp->identity.frame)
        w->interval = NULL;
    ltrf->model.held -= warp->identity.frames.count == 1 ? ltrf->kernel_registers : 0;
    w->line_of.count = w->live.count = w->wanted.count = w->stamp.count = base;
}

/* ---- what is known of a warp ------------------------------------------------------------------------------------- */

static hd_run_length *ltrf_lengths(hd_rf_model *model, const hd_rf_warp *warp)
{
    return warp_of((hd_ltrf *)model, warp)->lengths;
}

static void pass_interval(const hd_ltrf *ltrf, const hd_rf_warp *warp, hd_snapshot *c)
{
    hd_ltrf_warp *w = warp_of(ltrf, warp);
    bool inside = hd_snapshot_word(c, w->interval != NULL);
    w->away = hd_snapshot_word(c, w->away);
    if (inside) {
        w->frame = hd_snapshot_owner(c, (hd_owner){warp->identity.warp, w->frame, 0}).frame;
        w->function = hd_snapshot_word(c, w->function);
    }
    const hd_ltrf_interval *intervals = inside ? ltrf->functions[w->function].intervals : NULL;
    uint32_t number = inside ? hd_snapshot_word(c, c->out ? (uint32_t)(w->interval - intervals) : 0) : 0;
    w->interval = inside ? &intervals[number] : NULL;
}

static void pass_partition(hd_ltrf *ltrf, hd_ltrf_warp *w, hd_snapshot *c)
{
    bool active = hd_snapshot_word(c, w->partition != HD_NONE);
    if (active == (w->partition != HD_NONE))
        return;
    if (!active)
        hd_array_push(&ltrf->partitions, w->partition);
    w->partition = active ? take_partition(ltrf) : HD_NONE;
}

/* The contents of a register's line; the number of the line makes no difference. */
static void pass_line(hd_ltrf *ltrf, hd_ltrf_warp *w, uint32_t index, hd_snapshot *c)
{
    if (!c->out)
        allocate_line(ltrf, w, index, hd_identity_frame_at(c->identity, index));
    hd_ltrf_line *line = line_at(ltrf, w, w->line_of.items[index] - 1u);
    line->owner = hd_snapshot_owner(c, line->owner);
    line->claim = hd_snapshot_claim(c, index, line->claim);
}

/* Except its contents. */
static void pass_cache(hd_ltrf *ltrf, const hd_rf_warp *warp, hd_snapshot *c)
{
    hd_ltrf_warp *w = warp_of(ltrf, warp);
    pass_interval(ltrf, warp, c);
    pass_partition(ltrf, w, c);
    w->run.registers = hd_snapshot_word(c, w->run.registers);
    if (c->out)
        return;
    w->cached = w->unused_first = 0;
    for (uint32_t line = 0; line < ltrf->most; line++)
        w->unused[line] = (uint16_t)line;
}

enum { HAS_LINE = 1, IS_LIVE = 2, IN_RUN = 4 };

static void ltrf_snapshot(hd_rf_model *model, hd_rf_warp *warp, hd_snapshot *c)
{
    hd_ltrf *ltrf = (hd_ltrf *)model;
    hd_ltrf_warp *w = warp_of(ltrf, warp);
    hd_rf_file_snapshot(&ltrf->file, warp, c);
    pass_cache(ltrf, warp, c);
    for (uint32_t i = 0; i < c->end; i++) {
        uint32_t marks = hd_snapshot_word(c, (w->line_of.items[i] ? HAS_LINE : 0) | (w->live.items[i] ? IS_LIVE : 0) |
                                                 (w->stamp.items[i] == w->run.number ? IN_RUN : 0));
        w->live.items[i] = (marks & IS_LIVE) != 0;
        if (!c->out) {
            w->line_of.items[i] = 0;
            w->stamp.items[i] = marks & IN_RUN ? w->run.number : w->run.number - 1;
        }
        if (marks & HAS_LINE)
            pass_line(ltrf, w, i, c);
    }
}

const hd_rf_ops hd_rf_ltrf_ops = {
    .create = ltrf_create,
    .destroy = ltrf_destroy,
    .launch = ltrf_launch,
    .warp_begin = ltrf_warp_begin,
    .warp_end = ltrf_warp_end,
    .warp_switch = ltrf_switch,
    .frame_begin = ltrf_frame_begin,
    .frame_end = ltrf_frame_end,
    .before = ltrf_before,
    .storage = HD_ENERGY_REGISTER_CACHE,
    .execute = ltrf_execute,
    .coupled = true,
    .memo = &(const hd_memo_ops){.snapshot = ltrf_snapshot, .lengths = ltrf_lengths},
};
