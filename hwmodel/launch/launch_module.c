/* The module of a launch file: its text, and kernels by their names in C++. */
#include "base/demangle.h"
#include "base/suggest.h"
#include "hwmodel/launch/launch_reader.h"
#include "parser/link.h"
#include <errno.h>
#include <string.h>

/* ---- text -------------------------------------------------------------------------------------------------------- */

static bool read_text(const hd_launch_file *file, uint32_t index, hd_source *source, hd_diagnostics *diagnostics)
{
    const hd_yaml_node *node = file->module->kind == HD_YAML_SEQUENCE ? file->module->items[index] : file->module;
    if (hd_given_read(file->yaml->given, file->module_paths[index], source))
        return true;
    hd_yaml_report(diagnostics, node, HD_DIAG_UNREADABLE, "cannot read the module %s: %s", file->module_paths[index],
                   hd_source_why(errno));
    return false;
}

bool hd_launch_read_module(const hd_launch_file *file, hd_source *source, hd_link_result *linked,
                           hd_diagnostics *diagnostics)
{
    if (file->module_count == 1)
        return read_text(file, 0, source, diagnostics);
    hd_source *parts = hd_calloc(file->module_count, sizeof *parts);
    uint32_t *spaces = hd_calloc(file->module_count, sizeof *spaces), count = 0;
    while (count < file->module_count && read_text(file, count, &parts[count], diagnostics))
        count++;
    bool good = count == file->module_count && hd_link_ptx(parts, spaces, count, linked, diagnostics);
    if (good)
        hd_source_from_memory(source, file->module_paths[0], linked->text.buffer.items, linked->text.buffer.count);
    for (uint32_t i = 0; i < count; i++)
        hd_source_free(&parts[i]);
    free(parts);
    free(spaces);
    return good;
}

void hd_launch_list_files(const hd_launch_file *file, bool saves, hd_file_list *list)
{
    hd_file_list_add(list, file->path, false, NULL);
    for (uint32_t i = 0; i < file->module_count; i++)
        hd_file_list_add(list, file->module_paths[i], false, NULL);
    for (uint32_t i = 0; i < file->yaml->files.count; i++)
        hd_file_list_add(list, file->yaml->files.items[i], false, NULL);
    for (uint32_t i = 0; i < file->buffers.count && saves; i++)
        if (file->buffers.items[i].save)
            hd_file_list_add(list, file->buffers.items[i].save, true, file->buffers.items[i].node);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* Where the parameters of a demangled name begin: at the parenthesis of its last closing one. */
static size_t parameters_at(const char *name)
{
    size_t at = strlen(name);
    uint32_t depth = 0;
    if (!at || name[at - 1] != ')')
        return at;
    while (at-- > 0) {
        depth += name[at] == ')';
        depth -= name[at] == '(';
        if (!depth)
            return at;
    }
    return strlen(name);
}

/* "scale" of "void ns::scale<float>(float*, int)". */
static const char *plain_name(hd_arena *arena, const char *demangled)
{
    size_t end = parameters_at(demangled), begin;
    const char *template = memchr(demangled, '<', end);
    if (template)
        end = (size_t)(template - demangled);
    for (begin = end; begin > 0 && demangled[begin - 1] != ' ' && demangled[begin - 1] != ':';)
        begin--;
    return hd_arena_string(arena, demangled + begin, end - begin);
}

/* "void ns::scale<float>(float*, int)" is meant by itself, ns::scale<float>, ns::scale, scale<float> and scale. */
static bool is_meant(const char *demangled, const char *wanted)
{
    size_t end = parameters_at(demangled), begin = 0, template = end, length = strlen(wanted);
    uint32_t depth = 0;
    if (strcmp(demangled, wanted) == 0)
        return true;
    for (size_t i = 0; i < end; i++) {
        if (demangled[i] == '<' && !depth++)
            template = i;
        if (demangled[i] == '>')
            depth--;
        if (depth)
            continue;
        if (demangled[i] == ' ')
            begin = i + 1; /* the result's type is before */
        if (demangled[i] == ' ' || demangled[i] == ':')
            template = end;
    }
    for (size_t at = begin; at < end; at++) {
        bool starts = at == begin || (at >= begin + 2 && at <= template && !memcmp(demangled + at - 2, "::", 2));
        if (starts && !strncmp(demangled + at, wanted, length) &&
            (at + length == end || at + length == template || at + length == strlen(demangled)))
            return true;
    }
    return false;
}

static bool is_kernel(const hd_function *f) { return f && f->is_entry && f->has_body; }

hd_function *hd_launch_kernel(const hd_module *module, const hd_launch *launch)
{
    hd_function *f = hd_module_find_function(module, launch->kernel);
    return is_kernel(f) ? f : NULL;
}

static const char *join(hd_arena *arena, const char *list, const char *name)
{
    return list ? hd_arena_printf(arena, "%s, %s", list, name) : name;
}

void hd_launch_report_no_kernel(const hd_module *module, const hd_launch *launch, hd_arena *arena,
                                hd_diagnostics *diagnostics)
{
    enum { MOST_NAMES = 16 };
    const hd_yaml_node *node = hd_yaml_get(launch->node, "kernel");
    const char *wanted = launch->kernel, *known = NULL, *meant = NULL;
    uint32_t count = 0, meant_count = 0;
    hd_suggestion near = hd_suggest(wanted);
    char phrase[HD_SUGGEST_PHRASE];
    for (uint32_t i = 0; i < module->functions.count; i++) {
        const hd_function *f = module->functions.items[i];
        const char *name = hd_names_text(&module->names, f->name);
        if (!is_kernel(f))
            continue;
        const char *demangled = hd_demangle(arena, name);
        hd_suggest_from(&near, name);
        hd_suggest_from(&near, demangled);
        hd_suggest_from(&near, plain_name(arena, demangled));
        if (count++ <= MOST_NAMES)
            known = join(arena, known, count <= MOST_NAMES ? name : "...");
        if (is_meant(demangled, wanted) && meant_count++ <= MOST_NAMES)
            meant = join(arena, meant, meant_count <= MOST_NAMES ? name : "...");
    }
    if (meant_count > 1) {
        hd_yaml_report(diagnostics, node, HD_DIAG_BAD_VALUE, "'%s' may be %u kernels of the module: %s", wanted,
                       meant_count, meant);
        return;
    }
    const hd_function *other = hd_module_find_function(module, wanted);
    hd_diagnostic *d =
        hd_yaml_report(diagnostics, node, HD_DIAG_BAD_VALUE,
                       other ? "'%s' of the module is %s%s" : "the module has no kernel '%s'%s%s", wanted,
                       !other            ? ""
                       : other->is_entry ? "a kernel without a body"
                                         : "a function, no kernel",
                       other ? "" : hd_suggest_phrase(&near, phrase));
    if (known)
        hd_note_add(diagnostics, d, NULL, (hd_span){0, 0}, "it has %s", known);
}

/* The kernel's name; NULL: none or several. */
static const char *find_meant(const hd_module *module, const char *wanted, hd_arena *arena)
{
    const char *found = NULL;
    for (uint32_t i = 0; i < module->functions.count; i++) {
        const hd_function *f = module->functions.items[i];
        const char *name = hd_names_text(&module->names, f->name);
        if (!is_kernel(f) || !is_meant(hd_demangle(arena, name), wanted))
            continue;
        if (found && strcmp(found, name) != 0)
            return NULL;
        found = name;
    }
    return found;
}

bool hd_launch_find_kernels(hd_launch_file *file, const hd_module *module, hd_diagnostics *diagnostics)
{
    bool good = true;
    for (uint32_t i = 0; i < file->launches.count; i++) {
        hd_launch *l = &file->launches.items[i];
        const char *found =
            hd_module_find_function(module, l->kernel) ? NULL : find_meant(module, l->kernel, &file->arena);
        if (found)
            l->kernel = hd_arena_string(&file->arena, found, strlen(found));
        if (!hd_launch_kernel(module, l)) {
            hd_launch_report_no_kernel(module, l, &file->arena, diagnostics);
            good = false;
        }
    }
    return good;
}
