/* What a value at the point of maximum pressure is in the user's program: a parameter, or the expression of the source
 * line that .loc names for its definition, where the file can be read. PTX has no names of local variables: a register
 * holds one for part of its life only. Linear in the values and their lines. */
#include "driver/report/report_work.h"

#include "base/path.h"
#include "base/source_files.h"
#include <ctype.h>

enum { LONGEST = 48 /* characters of an expression that are shown */ };

/* "parameter 2" of names as compilers make them, else "parameter NAME"; NULL: the instruction loads none. */
static const char *parameter_of(const hd_report_kernel *k, const char *text, hd_arena *arena)
{
    const char *name = strncmp(text, "ld.param", strlen("ld.param")) ? NULL : strchr(text, '[');
    if (!name || k->is_machine)
        return NULL;
    size_t length = strcspn(++name, "+]"), kernel = strlen(k->name);
    static const char infix[] = "_param_";
    const char *number = name + kernel + sizeof infix - 1;
    if (length > kernel + sizeof infix - 1 && !strncmp(name, k->name, kernel) &&
        !strncmp(name + kernel, infix, sizeof infix - 1))
        return hd_arena_printf(arena, "parameter %.*s", (int)(name + length - number), number);
    return hd_arena_printf(arena, "parameter %.*s", (int)length, name);
}

static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Whether the character is an assignment of its own: not part of ==, <=, >= or !=. */
static bool is_assignment(const char *begin, const char *at, const char *end)
{
    return *at == '=' && (at + 1 == end || at[1] != '=') && (at == begin || !strchr("=<>!", at[-1]));
}

/* The expression at the column, up to the end of its statement or of the parenthesis that it is in; of an assignment,
 * its right side. */
static hd_span expression_at(const hd_source *source, hd_span line, uint32_t column)
{
    const char *text = source->text, *end = text + line.end;
    const char *begin = text + line.begin + (column && line.begin + column - 1 < line.end ? column - 1 : 0);
    while (begin > text + line.begin && is_name(*begin) && is_name(begin[-1]))
        begin--;
    while (begin < end && hd_is_blank(*begin))
        begin++;
    const char *at = begin, *value = begin;
    for (int depth = 0; at < end && *at != ';' && *at != '{' && !(at + 1 < end && at[0] == '/' && at[1] == '/'); at++) {
        depth += *at == '(' || *at == '[';
        depth -= *at == ')' || *at == ']';
        if (depth < 0 || (!depth && *at == ','))
            break;
        if (!depth && value == begin && is_assignment(begin, at, end))
            value = at + 1;
    }
    while (value < at && hd_is_blank(*value))
        value++;
    while (at > value && hd_is_blank(at[-1]))
        at--;
    return (hd_span){(uint32_t)(value - text), (uint32_t)(at - text)};
}

/* A copy that a terminal can show; what is longer ends in "...". */
static const char *shown(const hd_source *source, hd_span span, hd_arena *arena)
{
    uint32_t length = span.end - span.begin;
    char *copy = hd_arena_string(arena, source->text + span.begin, hd_min(length, LONGEST));
    for (char *c = copy; *c; c++)
        *c = *c >= 0x20 && *c < 0x7f ? *c : '?';
    return length > LONGEST ? hd_arena_printf(arena, "%s...", copy) : copy;
}

static const char *value_at(hd_source_files *files, const char *beside, const hd_report_position *p, hd_arena *arena)
{
    const char *name = hd_path_name(p->file);
    hd_source *source = hd_source_files_find(files, p->file, beside);
    hd_span span = source ? expression_at(source, hd_source_line(source, p->line), p->column) : (hd_span){0};
    if (span.begin == span.end)
        return hd_arena_printf(arena, "value at %s:%u", name, p->line);
    return hd_arena_printf(arena, "value of `%s` at %s:%u", shown(source, span, arena), name, p->line);
}

void report_value_sources(hd_source_files *files, const char *beside, hd_report_kernel *k, hd_arena *arena)
{
    for (uint32_t v = 0; v < k->value_count; v++) {
        if (k->values[v].definition == HD_REPORT_NONE)
            continue;
        const hd_report_instruction *definition = &k->instructions[k->values[v].definition];
        k->values[v].source = parameter_of(k, definition->text, arena);
        if (!k->values[v].source && definition->position.file)
            k->values[v].source = value_at(files, beside, &definition->position, arena);
    }
}
