/* Creation, copying and destruction of modules and functions, and simple queries. The module's arena holds function
 * records and strings; growing arrays are on the heap and freed here. */
#include "base/suggest.h"
#include "ir/cfg.h"
#include "ir/form.h"

#include <stdio.h>
#include <fnmatch.h>

hd_module *hd_module_new(hd_source *source, hd_diagnostics *diagnostics)
{
    hd_module *module = hd_calloc(1, sizeof *module);
    hd_arena_init(&module->arena);
    hd_names_init(&module->names);
    module->source = source;
    module->diagnostics = diagnostics;
    module->address_bits = 64;
    return module;
}

/* All heap arrays of a function, except its CFG. */
#define FUNCTION_ARRAYS(each)                                                                                   \
    each(register_parameters) each(register_results) each(variables_before) each(statements) each(instructions) \
        each(operands) each(registers) each(declarations) each(register_groups) each(labels) each(tables)       \
            each(table_entries) each(annotations) each(annotation_words) each(foreign_annotations)              \
                each(annotation_texts)

static void free_function(hd_function *f)
{
#define FREE_ARRAY(name) hd_array_free(&f->name);
    hd_function_drop_cfg(f);
    FUNCTION_ARRAYS(FREE_ARRAY)
#undef FREE_ARRAY
}

/* `copy` holds the array of `from` (struct assignment): give it an array of its own. */
#define COPY_ARRAY(name)                                                         \
    memset(&copy->name, 0, sizeof copy->name);                                   \
    if (from->name.count)                                                        \
        memcpy(hd_array_extend(&copy->name, from->name.count), from->name.items, \
               from->name.count * sizeof *from->name.items);

static void copy_function(hd_function *copy, const hd_function *from)
{
    *copy = *from;
    copy->cfg = NULL;
    FUNCTION_ARRAYS(COPY_ARRAY)
}

hd_function *hd_function_copy(const hd_function *from)
{
    hd_function *copy = hd_calloc(1, sizeof *copy);
    copy_function(copy, from);
    return copy;
}

void hd_function_copy_free(hd_function *copy)
{
    if (copy)
        free_function(copy);
    free(copy);
}

void hd_function_restore(hd_function *f, hd_function *copy)
{
    free_function(f);
    *f = *copy;
    free(copy);
}

/* All heap arrays of a module, except its functions and names. */
#define MODULE_ARRAYS(each)                                                                                            \
    each(statements) each(symbols) each(variable_groups) each(dimensions) each(initializers) each(literals)            \
        each(locations) each(files) each(verbatims) each(tokens) each(forms) each(form_of_name) each(function_of_name) \
            each(percent_symbols)

static hd_function *copy_into(hd_module *module, const hd_function *from)
{
    hd_function *copy = HD_ARENA_NEW(&module->arena, hd_function);
    copy_function(copy, from);
    copy->module = module;
    return copy;
}

hd_module *hd_module_copy(const hd_module *from, hd_diagnostics *diagnostics)
{
    hd_module *copy = hd_calloc(1, sizeof *copy);
    *copy = *from;
    hd_arena_init(&copy->arena);
    hd_names_copy(&copy->names, &from->names);
    MODULE_ARRAYS(COPY_ARRAY)
    memset(&copy->functions, 0, sizeof copy->functions);
    for (uint32_t i = 0; i < from->functions.count; i++)
        hd_array_push(&copy->functions, copy_into(copy, from->functions.items[i]));
    copy->globals = from->globals ? copy_into(copy, from->globals) : NULL;
    copy->diagnostics = diagnostics;
    copy->is_copy = true;
    return copy;
}

void hd_module_free(hd_module *module)
{
#define FREE_ARRAY(name) hd_array_free(&module->name);
    if (!module)
        return;
    for (uint32_t i = 0; i < module->functions.count; i++)
        free_function(module->functions.items[i]);
    if (module->globals)
        free_function(module->globals);
    MODULE_ARRAYS(FREE_ARRAY)
#undef FREE_ARRAY
    hd_array_free(&module->functions);
    hd_names_free(&module->names);
    if (module->source && !module->is_copy)
        hd_source_free(module->source);
    hd_arena_free(&module->arena);
    free(module);
}

static hd_function *make_function(hd_module *module, hd_name name)
{
    hd_function *function = HD_ARENA_NEW(&module->arena, hd_function);
    function->module = module;
    function->name = name;
    function->symbol = HD_NONE;
    function->carry_register = HD_NONE;
    return function;
}

hd_function *hd_function_new(hd_module *module, hd_name name)
{
    hd_function *function = make_function(module, name);
    function->index = module->functions.count;
    hd_array_push(&module->functions, function);
    return function;
}

hd_function *hd_module_globals(hd_module *module)
{
    if (!module->globals)
        module->globals = make_function(module, HD_NO_NAME);
    return module->globals;
}

static void index_function(hd_module *module, hd_function *f)
{
    uint32_t *found = &module->function_of_name.items[f->name];
    if (!*found || (f->has_body && !module->functions.items[*found - 1]->has_body))
        *found = f->index + 1;
}

void hd_module_index(hd_module *module)
{
    uint32_t names = module->names.entries.count;
    hd_array_clear(&module->function_of_name);
    memset(hd_array_extend(&module->function_of_name, names), 0, names * sizeof(uint32_t));
    for (uint32_t i = 0; i < module->functions.count; i++)
        index_function(module, module->functions.items[i]);
    hd_array_clear(&module->percent_symbols);
    for (uint32_t i = 0; i < module->symbols.count; i++) {
        const hd_symbol *s = &module->symbols.items[i];
        if ((s->function == HD_NONE || s->kind == HD_SYMBOL_FUNCTION) && *hd_names_text(&module->names, s->name) == '%')
            hd_array_push(&module->percent_symbols, i);
    }
}

hd_function *hd_module_function(const hd_module *module, hd_name name)
{
    uint32_t found = name < module->function_of_name.count ? module->function_of_name.items[name] : 0;
    return found && name ? module->functions.items[found - 1] : NULL;
}

hd_function *hd_module_find_function(const hd_module *module, const char *name)
{
    return hd_module_function(module, hd_names_find(&module->names, name, strlen(name)));
}

bool hd_formals_next(hd_formals *walk, hd_formal *formal)
{
    const hd_function *f = walk->function;
    const hd_u32_array *registers = walk->results ? &f->register_results : &f->register_parameters;
    uint32_t first = walk->results ? f->result_first : f->parameter_first;
    uint32_t variables = walk->results ? f->result_count : f->parameter_count;
    bool more = walk->registers < registers->count;
    if (more && !walk->results)
        variables = f->variables_before.items[walk->registers];
    if (walk->variables < variables) {
        *formal = (hd_formal){first + walk->variables++, HD_NONE, 0};
        return true;
    }
    if (!more)
        return false;
    *formal = (hd_formal){HD_NONE, walk->registers, f->registers.items[registers->items[walk->registers]].vector};
    walk->registers += formal->components;
    return true;
}

uint32_t hd_formals_count(const hd_function *f, bool results)
{
    hd_formals walk = {.function = f, .results = results};
    hd_formal formal;
    uint32_t count = 0;
    while (hd_formals_next(&walk, &formal))
        count++;
    return count;
}

bool hd_function_selected(const hd_function *function, const char *glob)
{
    return function->has_body &&
           (!glob || fnmatch(glob, hd_names_text(&function->module->names, function->name), 0) == 0);
}

uint32_t hd_module_count_selected(const hd_module *module, const char *glob)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < module->functions.count; i++)
        count += hd_function_selected(module->functions.items[i], glob);
    return count;
}

bool hd_module_check_selection(const hd_module *module, const char *glob, hd_diagnostics *diagnostics)
{
    if (!glob || module->one_of_several || hd_module_count_selected(module, glob))
        return true;
    char phrase[HD_SUGGEST_PHRASE];
    hd_suggestion near = hd_suggest(glob);
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (hd_function_selected(module->functions.items[i], NULL))
            hd_suggest_from(&near, hd_names_text(&module->names, module->functions.items[i]->name));
    hd_report(diagnostics, HD_DIAG_UNKNOWN_KERNEL, NULL, (hd_span){0, 0},
              "'%s' has no function with a body that is named like '%s'%s", module->source->name, glob,
              hd_suggest_phrase(&near, phrase));
    return false;
}

hd_name hd_operand_selector(const hd_function *function, const hd_operand *operand)
{
    const char *text = hd_names_text(&function->module->names, operand->extra);
    return operand->kind == HD_OPERAND_REGISTER && text[0] == '.' ? operand->extra : HD_NO_NAME;
}

uint32_t hd_operand_extent(const hd_operand *operand)
{
    uint64_t pending = 1; /* operands still to skip */
    const hd_operand *o = operand;
    for (; pending; o++)
        pending = pending - 1 + o->count;
    return (uint32_t)(o - operand);
}

size_t hd_register_spell(const hd_function *function, uint32_t reg, char *buffer, size_t size)
{
    const hd_register *r = &function->registers.items[reg];
    const char *text = r->type == HD_TYPE_CC ? "%CC" : hd_names_text(&function->module->names, r->name);
    char index[16] = "", component[4] = "";
    if (r->index != HD_NONE)
        snprintf(index, sizeof index, "%u", r->index);
    if (r->vector > 1)
        snprintf(component, sizeof component, ".%c", "xyzw"[r->component & 3]);
    int length = snprintf(buffer, size, "%s%s%s", text, index, component);
    return length < 0 ? 0 : (size_t)length < size ? (size_t)length : size ? size - 1 : 0;
}

uint32_t hd_module_literal(hd_module *module, uint64_t bits, hd_literal_kind kind)
{
    hd_array_push(&module->literals, (hd_literal){.bits = bits, .kind = (uint8_t)kind});
    return module->literals.count - 1;
}
