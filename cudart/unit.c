/* Modules of the program: read from its containers, linked, placed in device memory, and their kernels and variables by
 * the host addresses that stand for them.
 *
 * All binaries that register before the device is used become one module: objects of a device link (-rdc) share their
 * names, others have names apart. So a recorded run has one module, whose variables are where the replay puts them. */
#include "cudart/runtime.h"
#include "cudart/recording.h"
#include "base/origins.h"
#include "emitters/diagnostics.h"
#include "parser/parse.h"
#include <stdio.h>
#include <unistd.h>

/* ---- diagnostics ------------------------------------------------------------------------------------------------- */

/* Where the PTX is in no file, or does not name lines of the source: what the user can do about it, once. */
static void explain(hd_cu_unit *u)
{
    if (u->is_explained)
        return;
    u->is_explained = true;
    if (!u->is_in_file)
        hd_runtime_say("note: heddle run --record=FOLDER keeps the %s as FOLDER/%s", u->source.name, u->file);
    if (!u->source.origins || !u->source.origins->places.count)
        hd_runtime_say("note: a program compiled with nvcc -lineinfo gets messages at lines of its source");
}

void hd_show_diagnostics(hd_cu_unit *u, const hd_diagnostics *diagnostics)
{
    hd_writer writer;
    hd_source_files *files = hd_source_files_new();
    fflush(stdout);
    hd_writer_to_descriptor(&writer, STDERR_FILENO);
    hd_emit_diagnostics(&writer, diagnostics, HD_DIAGNOSTICS_TEXT, false, files);
    hd_writer_flush(&writer);
    hd_writer_free(&writer);
    hd_source_files_free(files);
    if (u && diagnostics->first && diagnostics->first->source == &u->source)
        explain(u);
}

/* ---- modules ----------------------------------------------------------------------------------------------------- */

static hd_cu_unit *new_unit(hd_runtime *r)
{
    hd_cu_unit *u = hd_calloc(1, sizeof *u);
    u->index = HD_NONE;
    hd_arena_init(&u->arena);
    hd_diagnostics_init(&u->diagnostics);
    hd_array_push(&r->units, u);
    return u;
}

/* A new text's place in the order of texts, and the name that diagnostics have for it: that of a file where there is
 * one. */
static const char *name_text(hd_runtime *r, hd_cu_unit *u, const char *place, bool is_file)
{
    u->index = r->modules++;
    u->file = u->index ? hd_arena_printf(&u->arena, "program%u.ptx", u->index) : HD_RUN_PTX_FILE;
    u->is_in_file = is_file || r->options.kept_in;
    if (is_file)
        return place;
    return r->options.kept_in ? hd_arena_printf(&u->arena, "%s/%s", r->options.kept_in, u->file)
                              : hd_arena_printf(&u->arena, "PTX of %s", place);
}

hd_cu_unit *hd_cu_unit_load(hd_runtime *r, const char *place, bool is_file, const char *text, size_t length)
{
    hd_cu_unit *u = new_unit(r);
    hd_parse_options options = {.ignore_annotations = true};
    hd_source_from_memory(&u->source, name_text(r, u, place, is_file), text, length);
    u->module = hd_parse_ptx(&u->source, &options, &u->diagnostics);
    u->is_first = !r->memory.allocations.count;
    bool good = !u->diagnostics.error_count && hd_image_load(&u->image, u->module, &r->memory, &u->diagnostics);
    u->image.textures = &r->texture_set;
    u->why = good ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_PTX;
    hd_cu_record_unit(r, u, hd_gpu_of(r));
    if (!good)
        hd_show_diagnostics(u, &u->diagnostics);
    return u;
}

void hd_unit_free(hd_cu_unit *u)
{
    for (uint32_t i = 0; i < u->kernels.count; i++) {
        hd_program_free(u->kernels.items[i]->program);
        free(u->kernels.items[i]);
    }
    hd_array_free(&u->kernels);
    if (!u->why)
        hd_image_free(&u->image);
    hd_module_free(u->module);
    hd_link_free(&u->linked);
    hd_diagnostics_free(&u->diagnostics);
    hd_arena_free(&u->arena);
    *u = (hd_cu_unit){.why = HD_CUDA_INVALID_RESOURCE_HANDLE};
}

const hd_gpu *hd_gpu_of(hd_runtime *r)
{
    uint32_t found, target = 0;
    for (uint32_t i = 0; i < r->units.count && !target && !r->gpu; i++)
        target = r->units.items[i]->module ? r->units.items[i]->module->target_number : 0;
    target = target ? target : 80;
    if (!r->gpu) {
        const char *name = hd_gpu_name_for(target, &found);
        r->gpu = hd_gpu_load(name ? name : "sm_80", &r->diagnostics);
    }
    return r->gpu;
}

/* ---- binaries ---------------------------------------------------------------------------------------------------- */

/* 0: not asked for. */
static uint32_t capability_asked(const hd_runtime *r)
{
    return r->options.gpu && r->gpu->valid ? r->gpu->compute_major * 10 + r->gpu->compute_minor : UINT32_MAX;
}

typedef struct reading {
    hd_sources texts;
    hd_u32_array spaces;
} reading;

/* The architecture that all objects of a device link have PTX for, as the program's objects were compiled: the device
 * runtime's have more. */
static uint32_t capability_of_link(const void *const *part, uint32_t capability)
{
    for (; *part; part++) {
        uint32_t one = hd_fatbin_architecture(*part, hd_readable_bytes(*part), capability);
        capability = one && one < capability ? one : capability;
    }
    return capability;
}

static void read_container(hd_runtime *r, const void *container, uint32_t capability, reading *all, const char **has)
{
    hd_fatbin_read(container, hd_readable_bytes(container), capability, &r->arena, &all->texts, has);
}

static hd_cu_unit *unit_without_code(hd_runtime *r, int why, const char *cubins)
{
    hd_cu_unit *u = new_unit(r);
    u->why = why;
    u->cubins = cubins;
    return u;
}

/* The texts of one binary; of a device link: of all its objects. A binary without a text has a unit without code. */
static void read_binary(hd_runtime *r, hd_cu_binary *b, reading *all)
{
    const hd_fatbin_wrapper *w = b->wrapper;
    const char *has = NULL;
    uint32_t before = all->texts.count, capability = capability_asked(r);
    if (w->version == 2 && w->linked) {
        capability = capability_of_link(w->linked, capability);
        for (const void *const *part = w->linked; *part; part++)
            read_container(r, *part, capability, all, &has);
    }
    if (all->texts.count == before)
        read_container(r, w->data, capability, all, &has);
    if (all->texts.count == before)
        b->unit = unit_without_code(r, HD_CUDA_NO_KERNEL_IMAGE_FOR_DEVICE, has);
    for (uint32_t i = before; i < all->texts.count; i++)
        hd_array_push(&all->spaces, b->space);
}

static hd_cu_unit *link_binaries(hd_runtime *r, reading *all)
{
    hd_cu_unit *u;
    hd_diagnostics diagnostics;
    hd_link_result linked = {0};
    if (!all->texts.count)
        return NULL;
    hd_diagnostics_init(&diagnostics);
    if (hd_link_ptx(all->texts.items, all->spaces.items, all->texts.count, &linked, &diagnostics)) {
        u = hd_cu_unit_load(r, hd_object_of(r->binaries.items[r->loaded - 1]->wrapper), false, linked.text.buffer.items,
                            linked.text.buffer.count);
    } else {
        hd_show_diagnostics(NULL, &diagnostics);
        u = unit_without_code(r, HD_CUDA_INVALID_PTX, NULL);
    }
    u->linked = linked;
    hd_diagnostics_free(&diagnostics);
    return u;
}

/* Managed variables: the program reads their addresses from its own. */
static void bind_managed(hd_runtime *r)
{
    uint32_t index;
    for (uint32_t i = r->bound; i < r->entities.count; i++) {
        const hd_cu_entity *e = &r->entities.items[i];
        if (e->kind == HD_ENTITY_MANAGED && !hd_variable_of(r, e->host, &index) && hd_cu_block_map(r, index)) {
            *(void **)(uintptr_t)e->host = (void *)(uintptr_t)r->memory.allocations.items[index].base;
            hd_cu_record_mapped(r, index);
        }
    }
    r->bound = r->entities.count;
}

void hd_load_binaries(hd_runtime *r)
{
    reading all = {0};
    uint32_t first = r->loaded;
    if (first == r->binaries.count)
        return;
    r->loaded = r->binaries.count;
    for (uint32_t i = first; i < r->binaries.count; i++) {
        r->binaries.items[i]->space = i;
        read_binary(r, r->binaries.items[i], &all);
    }
    hd_cu_unit *u = link_binaries(r, &all);
    for (uint32_t i = first; i < r->binaries.count; i++)
        if (!r->binaries.items[i]->unit)
            r->binaries.items[i]->unit = u;
    for (uint32_t i = 0; i < all.texts.count; i++)
        hd_source_free(&all.texts.items[i]);
    hd_array_free(&all.texts);
    hd_array_free(&all.spaces);
    bind_managed(r);
}

/* ---- kernels and variables --------------------------------------------------------------------------------------- */

hd_cu_kernel *hd_unit_kernel(hd_cu_unit *u, const char *name)
{
    hd_function *f = u->why ? NULL : hd_module_find_function(u->module, name);
    if (!f || !f->is_entry || !f->has_body)
        return NULL;
    for (uint32_t i = 0; i < u->kernels.count; i++)
        if (u->kernels.items[i]->function == f)
            return u->kernels.items[i];
    hd_cu_kernel *k = hd_calloc(1, sizeof *k);
    *k = (hd_cu_kernel){.unit = u, .function = f, .name = hd_names_text(&u->module->names, f->name), .carveout = -1};
    hd_array_push(&u->kernels, k);
    return k;
}

uint32_t hd_unit_variable(const hd_cu_unit *u, const char *name)
{
    if (u->why)
        return HD_NONE;
    hd_name wanted = hd_names_find(&u->module->names, name, strlen(name));
    for (uint32_t i = 0; i < u->module->symbols.count && wanted != HD_NO_NAME; i++)
        if (u->module->symbols.items[i].name == wanted && u->image.allocations[i] != HD_NONE)
            return u->image.allocations[i];
    return HD_NONE;
}

int hd_kernel_prepare(hd_runtime *r, hd_cu_kernel *k)
{
    hd_cu_unit *u = k->unit;
    if (k->program || k->why)
        return k->why;
    hd_diagnostics diagnostics;
    hd_diagnostics_init(&diagnostics);
    k->program = hd_program_new(u->module, k->function, &u->image, &diagnostics);
    if (!k->program) {
        hd_show_diagnostics(u, &diagnostics);
        k->why = HD_CUDA_NOT_SUPPORTED;
    }
    hd_diagnostics_free(&diagnostics);
    r->texture_set.items = r->textures.items;
    return k->why;
}

/* ---- host addresses ---------------------------------------------------------------------------------------------- */

static uint64_t hash_of(const void *host) { return (uint64_t)(uintptr_t)host * 0x9e3779b97f4a7c15ull >> 7; }

void hd_cu_entity_add(hd_runtime *r, hd_cu_entity entity)
{
    hd_index_add(&r->entity_index, hash_of(entity.host), r->entities.count);
    hd_array_push(&r->entities, entity);
}

static hd_cu_entity *find_entity(hd_runtime *r, const void *host, bool function)
{
    const hd_index *index = &r->entity_index;
    uint64_t hash = hash_of(host);
    for (uint32_t at = hd_index_first(index, hash); at != HD_INDEX_END; at = hd_index_next(index, hash, at)) {
        hd_cu_entity *e = &r->entities.items[index->slots[at].number];
        if (e->host == host && (e->kind == HD_ENTITY_FUNCTION) == function && !e->binary->unregistered)
            return e;
    }
    return NULL;
}

/* The error of a use of what has no code. */
static int why_not(const hd_cu_entity *e)
{
    hd_cu_unit *u = e->binary->unit;
    if (u->cubins)
        hd_runtime_say("%s holds machine code for %s and no PTX of %s: nvcc embeds both with -arch=sm_NN, and with "
                       "-gencode where code=[sm_NN,compute_NN] asks for both",
                       hd_object_of(e->binary->wrapper), u->cubins, e->name);
    u->cubins = NULL;
    return u->why;
}

int hd_kernel_of(hd_runtime *r, const void *host, hd_cu_kernel **kernel)
{
    hd_cu_entity *e = find_entity(r, host, true);
    *kernel = NULL;
    if (!e)
        return hd_kernel_of_handle(r, host, kernel);
    hd_cu_unit *u = e->binary->unit;
    if (u->why == HD_CUDA_NO_KERNEL_IMAGE_FOR_DEVICE)
        hd_cu_record_limit(r);
    if (u->why)
        return why_not(e);
    if (!e->kernel)
        e->kernel = hd_unit_kernel(u, hd_link_find(&u->linked, e->binary->space, e->name));
    *kernel = e->kernel;
    return e->kernel ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_DEVICE_FUNCTION;
}

int hd_kernel_of_handle(hd_runtime *r, const void *handle, hd_cu_kernel **kernel)
{
    for (uint32_t i = 0; i < r->units.count; i++)
        for (uint32_t k = 0; k < r->units.items[i]->kernels.count; k++)
            if (r->units.items[i]->kernels.items[k] == handle) {
                *kernel = r->units.items[i]->kernels.items[k];
                return HD_CUDA_SUCCESS;
            }
    return HD_CUDA_INVALID_DEVICE_FUNCTION;
}

int hd_variable_of(hd_runtime *r, const void *host, uint32_t *allocation)
{
    hd_cu_entity *e = find_entity(r, host, false);
    if (!e)
        return HD_CUDA_INVALID_SYMBOL;
    if (e->binary->unit->why)
        return why_not(e);
    hd_cu_unit *u = e->binary->unit;
    *allocation = hd_unit_variable(u, hd_link_find(&u->linked, e->binary->space, e->name));
    return *allocation == HD_NONE ? HD_CUDA_INVALID_SYMBOL : HD_CUDA_SUCCESS;
}
