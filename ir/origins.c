/* See origins.h. O(n log n) in files, linear in locations and instructions. */
#include "ir/origins.h"

#include <stdlib.h>

typedef struct numbered {
    uint32_t number;
    const char *name;
} numbered;

static int compare_numbers(const void *a, const void *b)
{
    const numbered *x = a, *y = b;
    return (x->number > y->number) - (x->number < y->number);
}

/* NULL: no .file has the number. */
static const char *file_name(const numbered *files, uint32_t count, uint32_t number)
{
    const numbered key = {number, NULL};
    const numbered *found = count ? bsearch(&key, files, count, sizeof key, compare_numbers) : NULL;
    return found ? found->name : NULL;
}

/* By index of the location. */
static void add_places(hd_origins *origins, const hd_module *module)
{
    uint32_t count = module->files.count;
    numbered *files = HD_ARENA_ARRAY(&origins->arena, numbered, count);
    for (uint32_t i = 0; i < count; i++) {
        const char *name = hd_names_text(&module->names, module->files.items[i].name);
        files[i] = (numbered){module->files.items[i].number, hd_arena_string(&origins->arena, name, strlen(name))};
    }
    if (count)
        qsort(files, count, sizeof *files, compare_numbers);
    for (uint32_t i = 0; i < module->locations.count; i++) {
        const hd_location *l = &module->locations.items[i];
        hd_origin_place place = {{file_name(files, count, l->file), l->line, l->column}, {NULL, 0, 0}};
        if (!l->line)
            place.at.file = NULL; /* code without a source line */
        if (l->inlined_line)
            place.inlined = (hd_origin){file_name(files, count, l->inlined_file), l->inlined_line, l->inlined_column};
        hd_array_push(&origins->places, place);
    }
}

const hd_origin_place *hd_instruction_place(const hd_module *module, const hd_instruction *insn)
{
    static const hd_origin_place unknown;
    const hd_origins *origins = module->source->origins;
    return insn->location == HD_NONE || !origins ? &unknown : &origins->places.items[insn->location];
}

static void add_range(hd_origins *origins, uint32_t begin, uint32_t place)
{
    if (!origins->ranges.count || origins->ranges.items[origins->ranges.count - 1].place != place)
        hd_array_push(&origins->ranges, (hd_origin_range){begin, place});
}

/* The line of the function's first instruction that was not inlined, without its column. */
static uint32_t header_place(hd_origins *origins, const hd_function *f)
{
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        uint32_t location = f->instructions.items[i].location;
        if (location == HD_NONE || !origins->places.items[location].at.file ||
            origins->places.items[location].inlined.file)
            continue;
        hd_origin at = origins->places.items[location].at;
        at.column = 0;
        hd_array_push(&origins->places, (hd_origin_place){at, {NULL, 0, 0}});
        return origins->places.count - 1;
    }
    return HD_NO_ORIGIN;
}

static void add_function(hd_origins *origins, const hd_function *f)
{
    add_range(origins, f->header_span.begin, header_place(origins, f));
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        add_range(origins, insn->span.begin, insn->location == HD_NONE ? HD_NO_ORIGIN : insn->location);
    }
    add_range(origins, f->body.end, HD_NO_ORIGIN);
}

static int compare_begins(const void *a, const void *b)
{
    const hd_origin_range *x = a, *y = b;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

void hd_module_set_origins(hd_module *module)
{
    if (!module->locations.count || module->source->origins)
        return;
    hd_origins *origins = hd_calloc(1, sizeof *origins);
    module->source->origins = origins;
    origins->in_listing = module->is_machine;
    add_places(origins, module);
    for (uint32_t i = 0; i < module->functions.count; i++)
        if (module->functions.items[i]->has_body)
            add_function(origins, module->functions.items[i]);
    if (origins->ranges.count)
        qsort(origins->ranges.items, origins->ranges.count, sizeof *origins->ranges.items, compare_begins);
}
