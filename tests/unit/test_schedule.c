/* Coupled models: the order in which they see resident warps, with a small cache that all warps share. */
#include "unit.h"

#include "hwmodel/exec/exec.h"
#include "hwmodel/count/count.h"
#include "parser/parse.h"
#include "hwmodel/count/memo/memo.h"

/* ---- the model --------------------------------------------------------------------------------------------------- */

enum { CELLS = 8, LOG = 1 << 16 };

typedef struct cell {
    hd_owner owner;
    hd_claim claim;
    bool used;
} cell;

/* A direct-mapped, write-through cache of registers beside the file, that does not distinguish warps. */
enum { DRAIN = 20 };

typedef struct cache {
    hd_rf_model model;
    hd_rf_file file;
    cell cells[CELLS];
    bool blind, stubborn; /* takes what it finds for the right one; lets nobody issue */
    uint64_t delay;       /* not 0: lets nobody issue, and says that it is to be asked again so much later */
    bool drains;          /* lets a warp issue from DRAIN instructions after it first asked on, and says so */
    uint64_t drained[4];  /* by warp: when that is; 0: it did not ask yet */
} cache;

/* What was seen, of all models of a run: the model is freed before it is looked at. */
typedef struct seen {
    uint32_t count, ctas_now, ctas_most, resident, comes, goes;
    uint16_t warp[LOG], instruction[LOG];
    bool started[4096];
} seen;
static seen *log_of_run; /* models cannot have it: `create` has only the options */

static hd_rf_model *cache_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    (void)code, (void)refusal;
    cache *c = hd_calloc(1, sizeof *c);
    c->blind = hd_rf_flag(options, "blind");
    c->stubborn = hd_rf_flag(options, "stubborn");
    c->drains = hd_rf_flag(options, "drains");
    c->delay = hd_rf_flag(options, "asks") ? 1 : hd_rf_flag(options, "late") ? UINT64_MAX / 2 : 0;
    return &c->model;
}

static void cache_destroy(hd_rf_model *model)
{
    hd_rf_file_free(&((cache *)model)->file);
    free(model);
}

static void cache_launch(hd_rf_model *model, const hd_rf_launch *launch)
{
    (void)model;
    log_of_run->resident = launch->residency.ctas;
}

static void cache_warp_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    (void)model;
    if (!log_of_run->started[warp->cta]) {
        log_of_run->started[warp->cta] = true;
        log_of_run->ctas_now++;
    }
    if (log_of_run->ctas_now > log_of_run->ctas_most)
        log_of_run->ctas_most = log_of_run->ctas_now;
}

static void cache_cta_end(hd_rf_model *model, uint32_t cta)
{
    (void)model, (void)cta;
    log_of_run->ctas_now--;
}

static void cache_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rf_file_frame_begin(&((cache *)model)->file, warp);
}

static void cache_switch(hd_rf_model *model, hd_rf_warp *out, hd_rf_warp *in, hd_access_sink *sink)
{
    (void)model, (void)sink;
    assert_true(!out != !in);
    log_of_run->comes += in != NULL;
    log_of_run->goes += out != NULL;
}

static hd_gate cache_may_issue(hd_rf_model *model, const hd_rf_step *step, uint64_t now)
{
    cache *c = (cache *)model;
    uint64_t *drained = &c->drained[step->warp->identity.warp % 4];
    if (c->delay)
        return (hd_gate){.reason = HD_STALL_ACQUIRE, .wake = now + c->delay};
    if (!c->drains)
        return (hd_gate){.ready = !c->stubborn};
    if (!*drained) {
        *drained = now + DRAIN;
        return (hd_gate){.wake = *drained};
    }
    assert_true(now >= *drained); /* it is not asked before */
    return (hd_gate){.ready = true};
}

static void log_issue(const hd_rf_step *step)
{
    assert_true(log_of_run->count < LOG);
    log_of_run->warp[log_of_run->count] = (uint16_t)step->warp->identity.warp;
    log_of_run->instruction[log_of_run->count++] = (uint16_t)step->instruction;
}

static cell *cell_of(hd_rf_model *model, uint32_t index) { return &((cache *)model)->cells[index % CELLS]; }

static bool same_owner(hd_owner a, hd_owner b) { return a.warp == b.warp && a.frame == b.frame && a.index == b.index; }

static void cache_read(hd_rf_model *model, const hd_rf_step *step, uint32_t source, hd_access_sink *sink)
{
    uint32_t word = step->sources[source], index = hd_rf_index(step, word);
    cell *at = cell_of(model, index);
    hd_owner owner = hd_rf_owner(step, word);
    bool hit = at->used && (same_owner(at->owner, owner) || ((cache *)model)->blind);
    if (!hit)
        *at = (cell){owner, *hd_rf_file_at(&((cache *)model)->file, step->warp, index), true};
    hd_rf_read(sink, step, source, hit ? HD_STRUCTURE_WINDOW : HD_STRUCTURE_FILE, step->effective, at->owner,
               at->claim);
}

static void cache_write(hd_rf_model *model, const hd_rf_step *step, uint32_t destination, hd_access_sink *sink)
{
    uint32_t index = hd_rf_index(step, step->destinations[destination].word);
    hd_rf_file_write(model, &((cache *)model)->file, step, destination, sink);
    *cell_of(model, index) = (cell){hd_rf_owner(step, step->destinations[destination].word),
                                    *hd_rf_file_at(&((cache *)model)->file, step->warp, index), true};
}

static void cache_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    log_issue(step);
    for (uint32_t s = 0; s < step->source_count && step->effective; s++)
        cache_read(model, step, s, sink);
    for (uint32_t d = 0; d < step->destination_count && step->effective; d++)
        cache_write(model, step, d, sink);
}

static const hd_rf_ops cache_ops = {
    .create = cache_create,
    .destroy = cache_destroy,
    .launch = cache_launch,
    .warp_begin = cache_warp_begin,
    .cta_end = cache_cta_end,
    .frame_begin = cache_frame_begin,
    .warp_switch = cache_switch,
    .may_issue = cache_may_issue,
    .execute = cache_execute,
    .coupled = true,
};

static uint32_t cache_idle_slot(hd_rf_model *model, uint32_t units, uint64_t now, hd_access_sink *sink)
{
    (void)model, (void)now, (void)sink;
    return units;
}

/* ---- runs -------------------------------------------------------------------------------------------------------- */

typedef struct result {
    hd_exec_status status;
    uint64_t counters[HD_COUNTER_COUNT], bytes;
    uint64_t instructions;
    char message[256], note[256];
    hd_span span; /* of the message */
} result;

static hd_rf_residency sm(uint32_t ctas, uint32_t active, uint32_t latency, uint64_t bytes)
{
    return (hd_rf_residency){.ctas = ctas, .active = active, .latency = latency, .bytes = bytes};
}

/* In turns of so many instructions; 0: of a segment. */
static result run_in_turns(uint32_t turn, const char *body, uint32_t ctas, uint32_t threads, const char *options,
                           hd_rf_residency residency, uint32_t batch, seen *log)
{
    char text[4096];
    hd_diagnostics diagnostics;
    hd_source source;
    hd_memory memory;
    hd_image image;
    const char *refusal = NULL;
    hd_exec_statistics statistics = {0};
    hd_exec_options exec = {0};
    hd_rf_ops ops = cache_ops;
    ops.idle_slot = hd_rf_flag(options, "idle") ? cache_idle_slot : NULL;
    hd_rf_model_info info = {"cache", "", &ops, "", options, "", NULL};
    result r = {0};
    snprintf(text, sizeof text,
             ".version 8.0\n.target sm_80\n.address_size 64\n.entry k(.param .u64 out)\n{\n.reg .b32 %%r<8>;\n"
             ".reg .b64 %%rd<4>;\n.reg .pred %%p<4>;\n%s}\n",
             body);
    memset(log, 0, sizeof *log);
    log_of_run = log;
    hd_diagnostics_init(&diagnostics);
    hd_source_from_memory(&source, "k.ptx", text, strlen(text));
    hd_module *module = hd_parse_ptx(&source, &(hd_parse_options){0}, &diagnostics);
    assert_int_equal(diagnostics.error_count, 0);
    hd_memory_init(&memory, 64);
    assert_true(hd_image_load(&image, module, &memory, &diagnostics));
    uint32_t at = hd_memory_allocate(&memory, "out", HD_SPACE_GLOBAL, 4096, 0, false);
    uint64_t parameter = memory.allocations.items[at].base;
    hd_program *program = hd_program_new(module, hd_module_find_function(module, "k"), &image, &diagnostics);
    assert_non_null(program);
    hd_rf_module *code = hd_rf_module_new(module);
    hd_count *count = hd_count_new(code, &diagnostics);
    hd_count_use_memo(count, &hd_memo);
    hd_count_add(count, hd_rf_model_new(hd_rf_model_find("baseline", 8), code, &refusal));
    hd_count_add(count, hd_rf_model_new(&info, code, &refusal));
    hd_count_model(count, 1)->turn = turn;
    hd_count_residency(count, &residency);
    hd_count_batches(count, batch, batch > 1 ? 2 : 1);
    hd_sink sink = hd_count_sink(count);
    hd_grid grid = {.grid = {ctas, 1, 1}, .block = {threads, 1, 1}, .parameters = (const unsigned char *)&parameter};
    r.status = hd_program_run(program, &grid, &exec, &sink, 1, &statistics, &diagnostics);
    r.instructions = statistics.warp_instructions;
    r.bytes = hd_count_record_bytes(count);
    memcpy(r.counters, hd_count_model(count, 1)->counters, sizeof r.counters);
    if (diagnostics.first) {
        snprintf(r.message, sizeof r.message, "%s", diagnostics.first->message);
        r.span = diagnostics.first->span;
        if (diagnostics.first->notes)
            snprintf(r.note, sizeof r.note, "%s", diagnostics.first->notes->message);
    }
    hd_count_free(count);
    hd_rf_module_free(code);
    hd_program_free(program);
    hd_image_free(&image);
    hd_memory_free(&memory);
    hd_module_free(module);
    hd_diagnostics_free(&diagnostics);
    return r;
}

static result run(const char *body, uint32_t ctas, uint32_t threads, const char *options, hd_rf_residency residency,
                  uint32_t batch, seen *log)
{
    return run_in_turns(1, body, ctas, threads, options, residency, batch, log);
}

static void spell(const seen *log, char *text)
{
    for (uint32_t i = 0; i < log->count; i++)
        text += sprintf(text, "%u%c ", log->warp[i], 'a' + log->instruction[i]);
}

static const char *const plain = "mov.u32 %r0, 1;\nadd.u32 %r0, %r0, 1;\nret;\n";
static const char *const loading =
    "ld.param.u64 %rd0, [out];\nld.global.u32 %r0, [%rd0];\nadd.u32 %r0, %r0, 1;\nret;\n";
static const char *const loading_twice =
    "ld.param.u64 %rd0, [out];\nld.global.u32 %r0, [%rd0];\nld.global.u32 %r1, [%rd0];\nmov.u32 %r2, 1;\n"
    "add.u32 %r2, %r2, %r0;\nadd.u32 %r2, %r2, %r1;\nret;\n";
static const char *const meeting =
    "mov.u32 %r0, %tid.x;\nsetp.lt.u32 %p0, %r0, 32;\n@%p0 bra L;\nadd.u32 %r0, %r0, 1;\nadd.u32 %r0, %r0, 2;\n"
    "L: bar.sync 0;\nadd.u32 %r0, %r0, 3;\nret;\n";
static const char *const busy =
    "ld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, %ctaid.x;\nand.b32 %r2, %r0, 7;\n"
    "M: ld.global.u32 %r3, [%rd0];\nadd.u32 %r1, %r1, %r3;\nadd.u32 %r4, %r1, %r2;\nsub.u32 %r2, %r2, 1;\nsetp.gt.s32 "
    "%p0, %r2, 0;\n"
    "@%p0 bra M;\nbar.sync 0;\nadd.u32 %r1, %r1, %r4;\nbar.sync 0;\nadd.u32 %r1, %r1, %r0;\nret;\n";

/* warp 0 loads (e), warp 1 has other things to do (h to l) */
static const char *const one_loads =
    "ld.param.u64 %rd0, [out];\nmov.u32 %r0, %tid.x;\nsetp.lt.u32 %p0, %r0, 32;\n@!%p0 bra W;\nld.global.u32 %r1, "
    "[%rd0];\nadd.u32 %r1, %r1, 1;\nret;\n"
    "W: add.u32 %r0, %r0, 1;\nadd.u32 %r0, %r0, 1;\nadd.u32 %r0, %r0, 1;\nadd.u32 %r0, %r0, 1;\nret;\n";

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void order_is_as_told(void **state)
{
    (void)state;
    seen *log = hd_calloc(1, sizeof *log);
    char text[1024];
    /* two places: 0 and 1 in turns; who ends makes room, after who is there */
    assert_int_equal(run(plain, 2, 64, "", sm(2, 2, 4, 1000), 1, log).status, HD_EXEC_DONE);
    spell(log, text);
    assert_string_equal(text, "0a 1a 0b 1b 0c 1c 2a 3a 2b 3b 2c 3c ");
    /* one CTA after another */
    run(plain, 2, 64, "", sm(1, 4, 4, 1000), 1, log);
    spell(log, text);
    assert_string_equal(text, "0a 1a 0b 1b 0c 1c 2a 3a 2b 3b 2c 3c ");
    run(plain, 2, 64, "", sm(2, 4, 4, 1000), 1, log);
    spell(log, text);
    assert_string_equal(text, "0a 1a 2a 3a 0b 1b 2b 3b 0c 1c 2c 3c ");
    /* after its load (b) a warp makes room, and is back when 2 others have issued */
    run(loading, 2, 64, "", sm(2, 2, 2, 1000), 1, log);
    spell(log, text);
    assert_string_equal(text, "0a 1a 0b 1b 2a 3a 2b 3b 0c 1c 0d 1d 2c 3c 2d 3d ");
    /* but goes on while it needs nothing of what it loads (b, c): before e and before f */
    run(loading_twice, 1, 64, "", sm(1, 1, 3, 1000), 1, log);
    spell(log, text);
    assert_string_equal(text, "0a 0b 0c 0d 1a 1b 1c 1d 0e 0f 0g 1e 1f 1g ");
    run(loading_twice, 1, 32, "", sm(1, 1, 6, 1000), 1, log);
    spell(log, text);
    assert_string_equal(text, "0a 0b 0c 0d 0e 0f 0g ");
    assert_int_equal(log->goes, 1); /* alone, it waits for the first; then the second is there, too */
    /* not before others have issued as many */
    run(one_loads, 1, 64, "", sm(1, 2, 1, 1000), 1, log);
    spell(log, text);
    assert_string_equal(text, "0a 1a 0b 1b 0c 1c 0d 1d 0e 1h 0f 1i 0g 1j 1k 1l ");
    run(one_loads, 1, 64, "", sm(1, 2, 3, 1000), 1, log);
    spell(log, text);
    assert_string_equal(text, "0a 1a 0b 1b 0c 1c 0d 1d 0e 1h 1i 1j 0f 1k 0g 1l ");
    /* warp 0 waits at the barrier (f) for warp 1, whatever the other CTA does; who comes back is the last of the
     * round */
    run(meeting, 2, 64, "", sm(2, 4, 2, 1000), 1, log);
    spell(log, text);
    assert_string_equal(text, "0a 1a 2a 3a 0b 1b 2b 3b 0c 1c 2c 3c 0f 1d 2f 3d 1e 3e 1f 3f 0g 2g 1g 3g 0h 2h 1h 3h ");
    free(log);
}

/* Turns of several instructions: as long as nothing is waited for. */
static void turns_are_segments(void **state)
{
    (void)state;
    seen *log = hd_calloc(1, sizeof *log);
    char text[1024];
    hd_rf_residency two = sm(2, 2, 2, 1000);
    run_in_turns(2, plain, 1, 64, "", two, 1, log);
    spell(log, text);
    assert_string_equal(text, "0a 0b 1a 1b 0c 1c ");
    run_in_turns(0, plain, 2, 64, "", two, 1, log);
    spell(log, text);
    assert_string_equal(text, "0a 0b 0c 1a 1b 1c 2a 2b 2c 3a 3b 3c ");
    run_in_turns(0, loading, 2, 64, "", two, 1,
                 log); /* before c a warp leaves, and is back when 2 others have issued */
    spell(log, text);
    assert_string_equal(text, "0a 0b 1a 1b 2a 2b 3a 3b 0c 0d 1c 1d 2c 2d 3c 3d ");
    two.active = 4;
    /* c jumps to the barrier f, and the turn goes on there, or it goes straight on */
    run_in_turns(0, meeting, 1, 64, "", two, 1, log);
    spell(log, text);
    assert_string_equal(text, "0a 0b 0c 0f 1a 1b 1c 1d 1e 1f 0g 0h 1g 1h ");
    free(log);
}

/* Nobody goes on after its k-th barrier before all of its CTA are at theirs; each warp keeps its own order. */
static void barriers_and_programs_keep_their_order(void **state)
{
    (void)state;
    seen *log = hd_calloc(1, sizeof *log);
    result r = run(busy, 20, 128, "", sm(3, 5, 7, 100000), 1, log);
    uint8_t arrived[80] = {0}, ended[80] = {0};
    uint32_t mixed = 0;
    assert_int_equal(r.status, HD_EXEC_DONE);
    assert_int_equal(log->count, r.instructions);
    assert_int_equal(log->resident, 3);
    assert_int_equal(log->ctas_most, 3);
    assert_true(log->comes > 80 && log->goes > 80);
    for (uint32_t i = 0; i < log->count; i++) {
        uint32_t warp = log->warp[i], at = log->instruction[i];
        for (uint32_t other = warp / 4 * 4; other < warp / 4 * 4 + 4; other++)
            assert_true(arrived[other] >= (at > 12 ? 2 : at > 10 ? 1 : 0));
        arrived[warp] += at == 10 || at == 12;
        assert_false(ended[warp]);
        ended[warp] = at == 14;
        mixed += i && log->warp[i - 1] / 4 != warp / 4;
    }
    assert_true(mixed > 100);
    free(log);
}

/* Warps 0 and 1 meet at one barrier (l), 2 and 3 at another, which warp 3 reaches last; nobody waits for strangers, and
 * a warp that only arrives at a barrier waits for nobody. */
static void barriers_hold_only_who_meets_there(void **state)
{
    static const char *const pairs =
        "mov.u32 %r0, %tid.x;\nsetp.lt.u32 %p0, %r0, 96;\n@%p0 bra L;\nadd.u32 %r2, %r0, 1;\nadd.u32 %r2, %r0, 1;\n"
        "add.u32 %r2, %r0, 1;\nadd.u32 %r2, %r0, 1;\nadd.u32 %r2, %r0, 1;\nadd.u32 %r2, %r0, 1;\n"
        "L: shr.u32 %r1, %r0, 6;\nadd.u32 %r1, %r1, 1;\nbar.sync %r1, 64;\nadd.u32 %r0, %r0, 3;\nret;\n";
    static const char *const arriving =
        "mov.u32 %r0, %tid.x;\nsetp.lt.u32 %p0, %r0, 32;\n@%p0 bra L;\nadd.u32 %r0, %r0, 1;\nadd.u32 %r0, %r0, 1;\n"
        "bar.sync 1, 64;\nret;\nL: bar.arrive 1, 64;\nadd.u32 %r0, %r0, 3;\nret;\n";
    static const uint32_t batches[] = {1, 100};
    (void)state;
    seen *log = hd_calloc(1, sizeof *log);
    char text[1024];
    for (uint32_t b = 0; b < 2; b++) {
        assert_int_equal(run(pairs, 1, 128, "", sm(1, 4, 2, 1000), batches[b], log).status, HD_EXEC_DONE);
        spell(log, text);
        assert_true(strstr(text, "0m") < strstr(text, "3l") && strstr(text, "1m") < strstr(text, "3l"));
        assert_true(strstr(text, "2m") > strstr(text, "3l"));
        run(arriving, 1, 64, "", sm(1, 2, 2, 1000), batches[b], log);
        spell(log, text);
        assert_true(strstr(text, "0i") < strstr(text, "1f") && strstr(text, "0h") < strstr(text, "0i"));
        assert_non_null(strstr(text, "1g"));
    }
    free(log);
}

static void it_is_the_same_each_time(void **state)
{
    (void)state;
    seen *one = hd_calloc(1, sizeof *one), *two = hd_calloc(1, sizeof *two);
    result a = run(busy, 20, 128, "", sm(3, 5, 7, 100000), 1, one);
    result b = run(busy, 20, 128, "", sm(3, 5, 7, 100000), 100, two);
    assert_memory_equal(one, two, sizeof *one);
    assert_memory_equal(a.counters, b.counters, sizeof a.counters);
    result c = run(busy, 20, 128, "", sm(1, 1, 7, 100000), 1, two);
    /* alone, a warp finds its own */
    assert_true(c.counters[HD_COUNTER_WINDOW_READS] > a.counters[HD_COUNTER_WINDOW_READS]);
    free(one);
    free(two);
}

static void memory_is_bounded(void **state)
{
    (void)state;
    seen *log = hd_calloc(1, sizeof *log);
    result whole = run(busy, 40, 128, "", sm(4, 8, 7, 100000), 1, log);
    assert_int_equal(log->ctas_most, 4);
    result longer = run(busy, 80, 128, "", sm(4, 8, 7, 100000), 1, log);
    assert_int_equal(whole.bytes, longer.bytes); /* of what is resident, not of the grid */
    assert_true(whole.bytes * 80 < 4 * 8 * whole.instructions);
    result less = run(busy, 40, 128, "", sm(4, 8, 7, whole.bytes / 2 + 1), 1, log);
    assert_int_equal(less.status, HD_EXEC_DONE);
    assert_true(less.bytes <= whole.bytes / 2 + 1 && log->ctas_most < 4);
    result none = run(busy, 40, 128, "", sm(4, 8, 7, 10), 1, log);
    assert_int_equal(none.status, HD_EXEC_STOPPED);
    assert_non_null(strstr(none.message, "so many instructions"));
    assert_int_equal(none.span.begin + none.span.end, 0); /* of no place in the text */
    free(log);
}

static void what_another_warp_left_is_no_proof(void **state)
{
    (void)state;
    seen *log = hd_calloc(1, sizeof *log);
    result r = run(busy, 4, 64, "blind", sm(2, 4, 7, 100000), 1, log);
    assert_int_equal(r.status, HD_EXEC_STOPPED);
    assert_non_null(strstr(r.message, "cache delivers another value of"));
    r = run(busy, 4, 64, "stubborn", sm(2, 4, 7, 100000), 64, log);
    assert_int_equal(r.status, HD_EXEC_STOPPED);
    assert_non_null(strstr(r.message, "lets none of the resident warps go on"));
    free(log);
}

/* Gates that never open end the run, whenever they ask to be asked again; each warp is listed with its reason. */
static void gates_that_never_open_end_the_run(void **state)
{
    static const char *const kinds[] = {"asks", "late", "asks,idle", "late,idle", "stubborn,idle"};
    (void)state;
    seen *log = hd_calloc(1, sizeof *log);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        result r = run(plain, 2, 64, kinds[i], sm(2, 2, 4, 1000), 1, log);
        assert_int_equal(r.status, HD_EXEC_STOPPED);
        assert_non_null(strstr(r.message, "none of the resident warps"));
        assert_non_null(strstr(r.note, " waits for "));
        assert_non_null(strstr(r.note, *kinds[i] == 's' ? "its turn" : hd_stall_texts[HD_STALL_ACQUIRE]));
    }
    free(log);
}

/* A gate that says when to ask again is not asked before, and everything is issued then. */
static void gates_wake(void **state)
{
    (void)state;
    seen *log = hd_calloc(1, sizeof *log);
    assert_int_equal(run(plain, 2, 64, "", sm(2, 2, 4, 1000), 1, log).status, HD_EXEC_DONE);
    uint32_t count = log->count;
    memset(log, 0, sizeof *log);
    assert_int_equal(run(plain, 2, 64, "drains", sm(2, 2, 4, 1000), 1, log).status, HD_EXEC_DONE);
    assert_int_equal(log->count, count);
    free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_as_told),
        cmocka_unit_test(turns_are_segments),
        cmocka_unit_test(barriers_and_programs_keep_their_order),
        cmocka_unit_test(gates_that_never_open_end_the_run),
        cmocka_unit_test(gates_wake),
        cmocka_unit_test(barriers_hold_only_who_meets_there),
        cmocka_unit_test(it_is_the_same_each_time),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(what_another_warp_left_is_no_proof),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
