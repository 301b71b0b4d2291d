/* Fuzz target of the annotation reader. The first byte says where the others go, in a small kernel:
 *
 *   0  records of the section, after a right header and function record, with a right checksum
 *   1  all bytes of the section
 *   2  comments: each line of the input after another instruction
 *   3  the extended spelling: each line a modifier, or a .heddle statement before an instruction
 *
 * Whatever is accepted must come back the same from both spellings, and taking it away must give back the kernel.
 */
#include "base/hash.h"
#include "emitters/ir/ptx.h"
#include "ir/cfg.h"
#include "ir/words/section.h"
#include "parser/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define HEAD ".version 8.0\n.target sm_80\n.visible .entry k(.param .u64 p)\n{"
static const char *const LINES[] = {
    "\n\t.reg .b32 %r<9>;\n\t.reg .v2 .b32 %v;\n\t.reg .b64 %rd1;\n\tld.param.u64",
    " %rd1, [p];",
    "\nL1:\n\tld.global.v2.u32",
    " {%r1, %r2}, [%rd1];",
    " add.s32",
    " %r3, %r1, %r2;",
    " // words\n\t{ .reg .b32 %r1; mov.u32",
    " %r1, %r3;",
    " st.global.u32",
    " [%rd1], %r1;",
    " }\n\tmov.u32",
    " %v.y, %r3;",
    "\n\tret",
    ";",
};
enum { PIECES = sizeof LINES / sizeof *LINES };

typedef struct module_text {
    hd_source source;
    hd_diagnostics diagnostics;
    hd_module *module;
    hd_function *f;
} module_text;

static void demand(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static void read_module(module_text *m, const hd_writer *text, bool locate)
{
    hd_parse_options options = {.locate_annotations = locate};
    hd_source_from_memory(&m->source, "fuzz.ptx", text->buffer.items, text->buffer.count);
    hd_diagnostics_init(&m->diagnostics);
    m->module = hd_parse_ptx(&m->source, &options, &m->diagnostics);
    m->f = m->module->functions.count ? m->module->functions.items[0] : NULL;
}

static void free_module(module_text *m)
{
    hd_module_free(m->module);
    hd_diagnostics_free(&m->diagnostics);
}

static void write_kernel(hd_writer *out)
{
    hd_write_string(out, HEAD);
    for (uint32_t i = 0; i < PIECES; i++)
        hd_write_string(out, LINES[i]);
    hd_write_string(out, "\n}\n");
}

/* ---- inputs ------------------------------------------------------------------------------------------------------ */

static uint64_t kernel_hash(void)
{
    hd_writer text;
    module_text m;
    hd_writer_to_memory(&text);
    write_kernel(&text);
    read_module(&m, &text, false);
    demand(m.diagnostics.error_count == 0 && m.diagnostics.warning_count == 0);
    uint64_t hash = hd_function_hash(m.f);
    free_module(&m);
    hd_writer_free(&text);
    return hash;
}

static void push_number(hd_bytes *bytes, uint64_t value, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        hd_array_push(bytes, (uint8_t)(value >> 8 * i));
}

static void write_section(hd_writer *out, const hd_bytes *bytes)
{
    hd_write_string(out, ".section .heddle {.b8 ");
    for (uint32_t i = 0; i < bytes->count; i++)
        hd_write_format(out, i ? ",%u" : "%u", bytes->items[i]);
    hd_write_string(out, "}\n");
}

static void make_section(hd_writer *out, const uint8_t *data, size_t size, bool whole)
{
    hd_bytes bytes = {0};
    if (!whole) {
        hd_section_begin(&bytes);
        push_number(&bytes, HD_RECORD_FUNCTION, 2);
        push_number(&bytes, 9, 4);
        push_number(&bytes, kernel_hash(), 8);
        push_number(&bytes, 'k', 1);
    }
    if (size)
        memcpy(hd_array_extend(&bytes, size), data, size);
    demand(whole || hd_section_end(&bytes));
    write_kernel(out);
    write_section(out, &bytes);
    hd_array_free(&bytes);
}

/* The next line of the input, as far as it may stand in a comment or statement. */
static uint32_t write_line(hd_writer *out, const char **at, const char *end)
{
    const char *begin = *at;
    uint32_t written = 0;
    while (*at < end && **at != '\n')
        ++*at;
    for (const char *c = begin; c < *at; c++) {
        bool closes = c + 1 < *at && c[0] == '*' && c[1] == '/';
        if (*c >= ' ' && *c < 0x7f && !closes && ++written)
            hd_write_char(out, *c);
    }
    *at += *at < end;
    return written;
}

static void make_comments(hd_writer *out, const char *at, const char *end)
{
    hd_write_string(out, HEAD " /*@");
    write_line(out, &at, end);
    hd_write_string(out, "*/");
    for (uint32_t i = 0; i < PIECES; i++) {
        hd_write_string(out, LINES[i]);
        if (at >= end || i % 2 == 0)
            continue;
        hd_write_string(out, " /*@");
        write_line(out, &at, end);
        hd_write_string(out, "*/");
    }
    hd_write_string(out, "\n}\n");
}

static void make_extended(hd_writer *out, const char *at, const char *end)
{
    hd_write_string(out, HEAD);
    for (uint32_t i = 0; i < PIECES; i++) {
        hd_write_string(out, LINES[i]);
        if (at >= end)
            continue;
        if (*at == '.' && i % 2 == 0) {
            write_line(out, &at, end);
        } else if (i % 2 && i + 1 < PIECES) {
            hd_write_string(out, " .heddle ");
            write_line(out, &at, end);
            hd_write_string(out, ";");
        }
    }
    hd_write_string(out, "\n}\n");
}

/* ---- what must hold ---------------------------------------------------------------------------------------------- */

static void demand_same(const hd_function *x, const hd_function *y)
{
    demand(x->annotations.count == y->annotations.count);
    for (uint32_t i = 0; i < x->annotations.count; i++) {
        const hd_annotation *a = &x->annotations.items[i], *b = &y->annotations.items[i];
        demand(a->kind == b->kind && a->slot == b->slot && a->instruction == b->instruction && a->count == b->count);
        bool list = hd_annotation_is_list(hd_annotation_find(a->kind));
        demand(list || a->value == b->value);
        demand(!list || !a->count ||
               !memcmp(x->annotation_words.items + a->value, y->annotation_words.items + b->value,
                       a->count * sizeof(uint32_t)));
    }
}

static void strip(hd_writer *out, const hd_writer *text)
{
    module_text m;
    read_module(&m, text, true);
    demand(hd_emit_ptx(out, m.module, &(hd_emit_options){.no_annotations = true}));
    free_module(&m);
}

/* Without annotations both are the same text. */
static void demand_strips_alike(const hd_writer *x, const hd_writer *y)
{
    hd_writer left, right;
    hd_writer_to_memory(&left);
    hd_writer_to_memory(&right);
    strip(&left, x);
    strip(&right, y);
    demand(left.buffer.count == right.buffer.count &&
           memcmp(left.buffer.items, right.buffer.items, left.buffer.count) == 0);
    hd_writer_free(&left);
    hd_writer_free(&right);
}

static void demand_reads_back(const module_text *m, const hd_writer *input, hd_emit_options options)
{
    hd_writer text;
    module_text again;
    hd_writer_to_memory(&text);
    m->f->annotations_changed = true;
    demand(hd_emit_ptx(&text, m->module, &options));
    read_module(&again, &text, false);
    demand(again.diagnostics.error_count == 0);
    demand_same(m->f, again.f);
    if (m->diagnostics.warning_count == 0 && !options.canonical)
        demand_strips_alike(&text, input);
    free_module(&again);
    hd_writer_free(&text);
}

static void check(const hd_writer *input)
{
    module_text m;
    read_module(&m, input, false);
    if (m.diagnostics.error_count == 0) {
        demand(hd_ir_validate(m.module));
        demand_reads_back(&m, input, (hd_emit_options){0});
        demand_reads_back(&m, input, (hd_emit_options){.no_section = true});
        demand_reads_back(&m, input, (hd_emit_options){.spelling = HD_SPELLING_EXTENDED});
        demand_reads_back(&m, input, (hd_emit_options){.canonical = true});
    }
    free_module(&m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hd_writer text;
    if (size < 1)
        return 0;
    hd_writer_to_memory(&text);
    const char *at = (const char *)data + 1, *end = (const char *)data + size;
    switch (data[0] % 4) {
    case 0: make_section(&text, data + 1, size - 1, false); break;
    case 1: make_section(&text, data + 1, size - 1, true); break;
    case 2: make_comments(&text, at, end); break;
    case 3: make_extended(&text, at, end); break;
    }
    check(&text);
    hd_writer_free(&text);
    return 0;
}
