/* Annotations as text. The walk advances along the sorted list in step with the instructions, so no search is needed;
 * linear in annotations and their text. */
#include "emitters/ir/annotations.h"

#include "ir/spell.h"

/* ---- the walk ---------------------------------------------------------------------------------------------------- */

/* Whether register names may shadow each other. */
static bool has_nested_names(const hd_function *f)
{
    for (uint32_t i = 0; i < f->declarations.count; i++)
        if (f->declarations.items[i].depth != 1)
            return true;
    return false;
}

void hd_annotation_walk_start(hd_annotation_walk *walk, const hd_function *function)
{
    *walk = (hd_annotation_walk){.function = function, .wide = function->annotations.count};
    while (walk->wide > 0 && function->annotations.items[walk->wide - 1].instruction == HD_NONE)
        walk->wide--;
    walk->nested = has_nested_names(function);
    walk->ordinals = hd_declaration_ordinals(function);
    walk->foreign_wide = function->foreign_annotations.count;
    for (uint32_t i = function->foreign_annotations.count; i-- > 0;) {
        const hd_foreign_annotation *foreign = &function->foreign_annotations.items[i];
        if (foreign->kind == 0 && foreign->instruction != HD_NONE)
            break;
        walk->foreign_wide = i;
    }
}

void hd_annotation_walk_end(hd_annotation_walk *walk) { free(walk->ordinals); }

static uint32_t skip_wide_comments(const hd_annotation_walk *walk)
{
    uint32_t i = walk->foreign_wide;
    while (i < walk->function->foreign_annotations.count && walk->function->foreign_annotations.items[i].kind == 0)
        i++;
    return i;
}

hd_annotation_run hd_annotation_run_wide(const hd_annotation_walk *walk)
{
    return (hd_annotation_run){
        walk->function,           walk->wide, walk->function->annotations.count, walk->foreign_wide,
        skip_wide_comments(walk), walk};
}

uint32_t hd_annotation_walk_next(const hd_annotation_walk *walk)
{
    const hd_function *f = walk->function;
    uint32_t next = walk->at < walk->wide ? f->annotations.items[walk->at].instruction : HD_NONE;
    uint32_t foreign =
        walk->foreign_at < walk->foreign_wide ? f->foreign_annotations.items[walk->foreign_at].instruction : HD_NONE;
    return hd_min(next, foreign);
}

hd_annotation_run hd_annotation_run_of(hd_annotation_walk *walk, uint32_t instruction)
{
    const hd_function *f = walk->function;
    hd_annotation_run run = {f, walk->at, walk->at, walk->foreign_at, walk->foreign_at, walk};
    while (run.end < walk->wide && f->annotations.items[run.end].instruction == instruction)
        run.end++;
    while (run.foreign_end < walk->foreign_wide &&
           f->foreign_annotations.items[run.foreign_end].instruction == instruction)
        run.foreign_end++;
    walk->at = run.end;
    walk->foreign_at = run.foreign_end;
    return run;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void write_list(hd_writer *out, const hd_annotation_run *run, const hd_annotation *a, bool registers)
{
    const hd_function *f = run->function;
    hd_speller speller = {out, f->module, f, false};
    bool numbered = registers && run->walk->nested;
    hd_write_char(out, '(');
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t word = f->annotation_words.items[a->value + i];
        if (i)
            hd_write_char(out, ',');
        if (registers)
            hd_spell_register(&speller, word);
        else
            hd_write_u64(out, word);
        if (numbered) {
            hd_write_char(out, ':');
            uint32_t declaration = f->registers.items[word].declaration;
            hd_write_u64(out, run->walk->ordinals ? run->walk->ordinals[declaration] : declaration);
        }
    }
    hd_write_char(out, ')');
}

static void write_word(hd_writer *out, const hd_annotation_info *info, uint32_t position)
{
    size_t length;
    const char *word = hd_annotation_word(info, position, &length);
    hd_write(out, word, length);
}

static void write_value(hd_writer *out, const hd_annotation_run *run, const hd_annotation_info *info,
                        const hd_annotation *a)
{
    switch ((hd_annotation_value)info->value) {
    case HD_VALUE_FLAG: hd_write(out, "set", 3); break;
    case HD_VALUE_NUMBER: hd_write_u64(out, a->value); break;
    case HD_VALUE_CHOICE: write_word(out, info, a->value); break;
    case HD_VALUE_BITS: hd_write_format(out, "0x%x", a->value); break;
    case HD_VALUE_REGISTERS: write_list(out, run, a, true); break;
    case HD_VALUE_NUMBERS: write_list(out, run, a, false); break;
    }
}

/* The values of one kind at one anchor: items [first, end). */
static void write_values(hd_writer *out, const hd_annotation_run *run, const hd_annotation_info *info, uint32_t first,
                         uint32_t end, char separator)
{
    const hd_annotation *items = run->function->annotations.items;
    if (!hd_annotation_has_slots(info)) {
        write_value(out, run, info, &items[first]);
        return;
    }
    for (uint32_t slot = 0; first < end; slot++) {
        if (slot)
            hd_write_char(out, separator);
        if (items[first].slot == slot)
            write_value(out, run, info, &items[first++]);
        else
            hd_write(out, "none", 4);
    }
}

static bool has_values(const hd_annotation_info *info)
{
    return info->value != HD_VALUE_FLAG || hd_annotation_has_slots(info);
}

/* End of the items of the kind that starts at `first`. */
static uint32_t kind_end(const hd_annotation_run *run, uint32_t first)
{
    const hd_annotation *items = run->function->annotations.items;
    uint32_t end = first + 1;
    while (end < run->end && items[end].kind == items[first].kind)
        end++;
    return end;
}

/* ---- spellings --------------------------------------------------------------------------------------------------- */

static void write_words(hd_writer *out, const hd_annotation_info *info, const hd_annotation_run *run, uint32_t first,
                        uint32_t end)
{
    hd_write_string(out, info->name);
    if (has_values(info)) {
        hd_write_char(out, ' ');
        write_values(out, run, info, first, end, ',');
    }
}

static void write_foreign(hd_writer *out, const hd_annotation_run *run, bool first)
{
    for (uint32_t i = run->foreign_first; i < run->foreign_end; i++) {
        const hd_foreign_annotation *foreign = &run->function->foreign_annotations.items[i];
        if (!first)
            hd_write(out, "; ", 2);
        hd_write(out, foreign->bytes, foreign->length);
        first = false;
    }
}

void hd_emit_comment(hd_writer *writer, const hd_annotation_run *run, bool to_line_end)
{
    if (hd_annotation_run_empty(run))
        return;
    hd_write(writer, to_line_end ? " //@" : " /*@", 4);
    for (uint32_t first = run->first, end; first < run->end; first = end) {
        end = kind_end(run, first);
        if (first != run->first)
            hd_write(writer, "; ", 2);
        write_words(writer, hd_annotation_find(run->function->annotations.items[first].kind), run, first, end);
    }
    write_foreign(writer, run, run->first == run->end);
    if (!to_line_end)
        hd_write(writer, "*/", 2);
}

static bool is_modifier(const hd_annotation_info *info)
{
    return info->anchor != HD_ANCHOR_FUNCTION && info->anchor != HD_ANCHOR_BLOCK && !hd_annotation_is_list(info);
}

void hd_emit_modifiers(hd_writer *writer, const hd_annotation_run *run)
{
    for (uint32_t first = run->first, end; first < run->end; first = end) {
        const hd_annotation_info *info = hd_annotation_find(run->function->annotations.items[first].kind);
        end = kind_end(run, first);
        if (!is_modifier(info))
            continue;
        hd_write_char(writer, '.');
        hd_write_string(writer, info->name);
        if (has_values(info)) {
            hd_write(writer, "::", 2);
            write_values(writer, run, info, first, end, '_');
        }
    }
}

bool hd_annotation_run_has_statements(const hd_annotation_run *run)
{
    for (uint32_t i = run->first; i < run->end; i++)
        if (!is_modifier(hd_annotation_find(run->function->annotations.items[i].kind)))
            return true;
    return false;
}

void hd_emit_heddle_statements(hd_writer *writer, const hd_annotation_run *run, const char *line_end)
{
    for (uint32_t first = run->first, end; first < run->end; first = end) {
        const hd_annotation_info *info = hd_annotation_find(run->function->annotations.items[first].kind);
        end = kind_end(run, first);
        if (is_modifier(info))
            continue;
        hd_write_string(writer, line_end);
        hd_write(writer, "\t.heddle ", 9);
        write_words(writer, info, run, first, end);
        hd_write_char(writer, ';');
    }
}
