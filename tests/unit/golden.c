#include "golden.h"

#include "async_kernel.h"
#include "call_module.h"
#include "program.h"

#include "ir/annotations.h"
#include "ir/architected.h"

enum { TEXT_BYTES = 1 << 19, STRUCTURED = 15, UNSTRUCTURED = 60, ASYNCHRONOUS = 30, CALLS = 12 };

/* ---- sums -------------------------------------------------------------------------------------------------------- */

void golden_add(golden_sums *s, const char *name, uint64_t value)
{
    for (uint32_t i = 0; i < s->items.count; i++)
        if (!strcmp(s->items.items[i].name, name)) {
            s->items.items[i].value += value;
            return;
        }
    hd_array_push(&s->items, ((golden_sum){name, value}));
}

void golden_write(golden_sums *s, hd_writer *writer, const char *head)
{
    hd_write_format(writer, "%s:\n", head);
    for (uint32_t i = 0; i < s->items.count; i++) {
        const golden_sum *x = &s->items.items[i];
        if (x->value)
            hd_write_format(writer, "  %s=%llu\n", x->name, (unsigned long long)x->value);
    }
    hd_array_clear(&s->items);
}

void golden_add_instructions(golden_sums *s, const hd_function *f)
{
    for (uint32_t i = 0; i < f->instructions.count; i++)
        golden_add(s, hd_opcodes[hd_insn_form(f, &f->instructions.items[i])->opcode].name, 1);
    for (uint32_t i = 0; i < f->instructions.count; i++)
        HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
            golden_add(s, "sum of register numbers", hd_register_physical(f, o->value).number);
}

void golden_add_annotations(golden_sums *s, const hd_function *f)
{
    for (uint32_t a = 0; a < f->annotations.count; a++) {
        const hd_annotation *annotation = &f->annotations.items[a];
        const hd_annotation_info *info = hd_annotation_find(annotation->kind);
        uint64_t value = annotation->instruction == HD_NONE ? 1 : 1 + annotation->instruction;
        if (!hd_annotation_is_list(info))
            value += annotation->value;
        for (uint32_t w = 0; w < annotation->count; w++)
            value += f->annotation_words.items[annotation->value + w];
        golden_add(s, info->name, value);
    }
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

static void open_structured(rf_bench *b, uint64_t seed)
{
    static char text[TEXT_BYTES];
    static program p;
    program_make(&p, seed);
    program_print(&p, text, sizeof text);
    rf_bench_open(b, text, (uint32_t)strlen(text));
}

static void open_asynchronous(rf_bench *b, uint64_t seed)
{
    static char text[1 << 15];
    uint32_t length = async_kernel_print(seed, text, sizeof text);
    rf_bench_open(b, text, length);
}

static void open_calls(rf_bench *b, uint64_t seed)
{
    char *text = call_module_make(seed, 2 + (uint32_t)seed % 2);
    rf_bench_open(b, text, strlen(text));
    free(text);
}

const golden_source golden_sources[GOLDEN_SOURCES] = {{"structured", open_structured, STRUCTURED, false},
                                                      {"unstructured", rf_bench_open_random, UNSTRUCTURED, true},
                                                      {"asynchronous", open_asynchronous, ASYNCHRONOUS, false},
                                                      {"calls", open_calls, CALLS, false}};

uint32_t golden_passes(const char **lists)
{
    static const char *const others[] = {"select",           "regalloc",
                                         "regalloc(max=12)", "select,regalloc(max=24,banks=4)",
                                         "regmutex(es=4)",   "regmutex(es=8,paired)",
                                         "bow(iw=15)",       "ltrf(n=8)",
                                         "ltrf(n=24,dead)",  "corf(exact)",
                                         "demo(operands=1)"};
    uint32_t count = 0;
    for (uint32_t i = 0; i < sizeof others / sizeof *others; i++)
        lists[count++] = others[i];
    for (uint32_t m = 0; m < hd_rf_model_count; m++) {
        bool had = !*hd_rf_models[m].pass;
        for (uint32_t i = 0; i < count; i++)
            had = had || !strcmp(lists[i], hd_rf_models[m].pass);
        if (!had)
            lists[count++] = hd_rf_models[m].pass;
    }
    assert_true(count <= GOLDEN_MOST_LISTS);
    return count;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

void golden_expect(const char *name, const hd_writer *got)
{
    const char *top = getenv("TOP");
    char path[4096];
    snprintf(path, sizeof path, "%s/tests/numbers/%s", top ? top : ".", name);
    hd_source known;
    if (getenv("BLESS")) {
        FILE *file = fopen(path, "wb");
        assert_non_null(file);
        assert_int_equal(fwrite(got->buffer.items, 1, got->buffer.count, file), got->buffer.count);
        assert_int_equal(fclose(file), 0);
    }
    if (!hd_source_read(&known, path))
        fail_msg("%s is missing; make bless writes it", path);
    uint32_t line = 1, at = 0;
    while (at < known.length && at < got->buffer.count && known.text[at] == got->buffer.items[at])
        line += known.text[at++] == '\n';
    bool same = at == known.length && at == got->buffer.count;
    hd_source_free(&known);
    if (!same)
        fail_msg("%s: line %u differs", path, line);
}
