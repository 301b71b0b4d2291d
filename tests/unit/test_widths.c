/* The column WIDTHS against its definition (hwmodel/record/event.h), lane by lane, from the results themselves: random
 * programs with virtual and with allocated registers, whose names share places, and calls by hand. */
#include "kernel.h"
#include "ptx_file.h"
#include "tests/unit/program.h"

#include "hwmodel/rf/code.h"

enum { WORDS_MOST = 512, FRAMES = 40, WARPS = 4, TEXT_BYTES = 1 << 19 };

typedef struct frame {
    uint32_t serial;
    uint8_t bytes[WORDS_MOST][32]; /* that a lane needs; 0: it was never written */
} frame;

typedef struct lookout {
    hd_rf_module *code;
    hd_sink sink;
    struct {
        frame frames[FRAMES];
        uint32_t count;
    } warps[WARPS];
    uint64_t words, unequal; /* reported; of these, those where written and held widths differ */
} lookout;

static uint8_t bytes_of(uint32_t word)
{
    int64_t value = (int32_t)word;
    for (uint8_t bytes = 1; bytes < 4; bytes++)
        if (value >= -(1ll << (8 * bytes - 1)) && value < 1ll << (8 * bytes - 1))
            return bytes;
    return 4;
}

static frame *frame_of(lookout *l, const hd_event *e)
{
    frame *frames = l->warps[e->warp].frames;
    uint32_t *count = &l->warps[e->warp].count;
    const hd_rf_code *code = l->code->functions[e->function];
    for (uint32_t i = *count; i-- > 0;)
        if (frames[i].serial == e->frame) {
            *count = i + 1;
            return &frames[i];
        }
    assert_true(*count < FRAMES && code->storage.frame <= WORDS_MOST);
    frame *f = &frames[(*count)++];
    *f = (frame){.serial = e->frame};
    for (uint32_t i = 0; i < code->function->register_parameters.count; i++)
        HD_STORAGE_WORDS (&code->storage, code->function->register_parameters.items[i], word)
            for (uint32_t lane = 0; lane < 32; lane++)
                f->bytes[word][lane] = e->active >> lane & 1 ? 4 : 0;
    return f;
}

static void look_at_word(lookout *l, const hd_event *e, uint8_t *lanes, uint32_t d)
{
    hd_width width = {0, 0};
    for (uint32_t lane = 0; lane < 32; lane++) {
        bool written = e->effective >> lane & 1;
        if (written)
            lanes[lane] = e->results ? bytes_of(e->results[d * 32 + lane]) : 4;
        width.held = lanes[lane] > width.held ? lanes[lane] : width.held;
        if (written && lanes[lane] > width.written)
            width.written = lanes[lane];
    }
    l->words++;
    l->unequal += width.written != width.held;
    if (width.written != e->widths[d].written || width.held != e->widths[d].held)
        fail_msg("word %u of instruction %u under %08x: %u %u, not %u %u", d, e->instruction, e->effective,
                 e->widths[d].written, e->widths[d].held, width.written, width.held);
}

static bool look(void *context, const hd_event *e)
{
    lookout *l = context;
    if (e->kind == HD_EVENT_WARP_START)
        l->warps[e->warp % WARPS].count = 0;
    if (e->kind != HD_EVENT_ISSUE)
        return true;
    const hd_rf_code *code = l->code->functions[e->function];
    uint32_t first = code->destination_first[e->instruction],
             count = code->destination_first[e->instruction + 1] - first;
    hd_event at = *e;
    at.warp %= WARPS;
    frame *f = frame_of(l, &at);
    if (!count || !e->effective) {
        assert_null(e->widths);
        return true;
    }
    assert_non_null(e->widths);
    assert_int_equal(e->width_words, count);
    for (uint32_t d = 0; d < count; d++)
        look_at_word(l, e, f->bytes[code->destinations[first + d].word], d);
    return true;
}

static void open_code(kernel_run *run, hd_module *module)
{
    lookout *l = run->context;
    l->code = hd_rf_module_new(module);
    l->sink = (hd_sink){look, l, HD_COLUMN_RESULTS | HD_COLUMN_WIDTHS, NULL};
    run->sink = &l->sink;
}

static void close_code(kernel_run *run) { hd_rf_module_free(((lookout *)run->context)->code); }

static void look_out(lookout *l, kernel_run run)
{
    run.opened = open_code;
    run.closing = close_code;
    run.context = l;
    run_kernel(&run);
    if (run.status != HD_EXEC_DONE)
        fail_msg("%s", run.message);
}

static void random_programs(void **state)
{
    static program p;
    static lookout l[2];
    static uint32_t out[96 * RESULT_WORDS];
    char *text = malloc(TEXT_BYTES);
    (void)state;
    for (uint64_t seed = 1; seed <= 300; seed++) {
        program_make(&p, seed);
        program_print(&p, text, TEXT_BYTES);
        look_out(&l[seed % 2], (kernel_run){.text = text,
                                            .in = p.inputs,
                                            .in_bytes = sizeof p.inputs,
                                            .out = out,
                                            .block = p.threads,
                                            .out_bytes = sizeof *out * RESULT_WORDS * p.threads,
                                            .options.instruction_limit = 10000000,
                                            .passes = seed % 2 ? "select,regalloc" : NULL});
    }
    free(text);
    for (uint32_t k = 0; k < 2; k++)
        assert_true(l[k].words > 100000 && l[k].unequal > 1000);
}

/* Registers of calls: parameters and results count as 4 bytes in the lanes that were called, whatever they are; a
 * function that recurs, and one whose frames are used again. Blocks of 32 and of fewer threads. */
static void calls(void **state)
{
    const char *text = ptx_file("widths-calls");
    static const uint32_t blocks[] = {32, 9, 64, 33};
    static lookout l;
    (void)state;
    for (uint32_t i = 0; i < 8; i++)
        look_out(&l, (kernel_run){
                         .text = text, .block = blocks[i % 4], .grid = 2, .passes = i < 4 ? NULL : "select,regalloc"});
    assert_true(l.unequal > 30);
}

/* One place under several names: R2 is the low word of RD2, and RH2 its low half. What other names have left in lanes
 * that are not written counts, what this name had there before does not. */
static void names_of_one_register(void **state)
{
    const char *text = ptx_file("widths-names_of_one_register");
    static lookout l;
    (void)state;
    look_out(&l, (kernel_run){.text = text});
    look_out(&l, (kernel_run){.text = text, .block = 20});
    assert_true(l.unequal >= 8);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_programs),
        cmocka_unit_test(calls),
        cmocka_unit_test(names_of_one_register),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
