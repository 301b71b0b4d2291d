/* Modules of the program: read from its containers, linked, placed in device memory, and their kernels and variables by
 * the host addresses that stand for them.
 *
 * All binaries that register before the device is used become one module: objects of a device link (-rdc) share their
 * names, others have names apart. So a recorded run has one module, whose variables are where the replay puts them.
 * Where machine code is asked for, a binary with a cubin for the GPU is a module of its own, and the others' PTX is
 * assembled. */
#include "cudart/runtime.h"
#include "cudart/recording.h"
#include "base/origins.h"
#include "driver/report/tool.h"
#include "emitters/diagnostics.h"
#include "parser/cubin.h"
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
    hd_source_files *files = hd_source_files_new(NULL);
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

static hd_cu_unit *make_unit(void)
{
    hd_cu_unit *u = hd_calloc(1, sizeof *u);
    u->index = HD_NONE;
    hd_arena_init(&u->arena);
    hd_diagnostics_init(&u->diagnostics);
    return u;
}

static hd_cu_unit *new_unit(hd_runtime *r)
{
    hd_cu_unit *u = make_unit();
    hd_array_push(&r->units, u);
    return u;
}

static hd_cu_unit *unit_without_code(hd_runtime *r, int why, const char *cubins)
{
    hd_cu_unit *u = new_unit(r);
    u->why = why;
    u->cubins = cubins;
    return u;
}

static bool runs_machine_code(const hd_runtime *r)
{
    return r->options.code == HD_CODE_MACHINE || r->options.code == HD_CODE_AUTO;
}

/* A new text's place in the order of texts, and the name that diagnostics have for it: that of a file where there is
 * one. */
static const char *name_text(hd_runtime *r, hd_cu_unit *u, const char *place, bool is_file)
{
    bool is_cubin = u->cubin.length;
    u->index = r->modules++;
    u->file = u->index ? hd_arena_printf(&u->arena, "program%u.%s", u->index, is_cubin ? "cubin" : "ptx")
                       : (is_cubin ? HD_RUN_CUBIN_FILE : HD_RUN_PTX_FILE);
    u->is_in_file = is_file || r->options.kept_in;
    if (is_file)
        return place;
    return r->options.kept_in ? hd_arena_printf(&u->arena, "%s/%s", r->options.kept_in, u->file)
                              : hd_arena_printf(&u->arena, "%s of %s", is_cubin ? "machine code" : "PTX", place);
}

/* Places the variables of a unit's module in device memory. `good`: the text is a module. */
static void place(hd_runtime *r, hd_cu_unit *u, bool good)
{
    u->is_first = !r->memory.allocations.count;
    good = good && hd_image_load(&u->image, u->module, &r->memory, &u->diagnostics) &&
           (!u->module->is_machine || hd_machine_image_load(&u->image, &u->diagnostics));
    u->image.textures = &r->texture_set;
    u->why = good ? HD_CUDA_SUCCESS : HD_CUDA_INVALID_PTX;
    hd_cu_record_unit(r, u, hd_gpu_of(r));
    if (!good)
        hd_show_diagnostics(u, &u->diagnostics);
}

static void drop_unit(hd_cu_unit *u)
{
    hd_unit_free(u);
    free(u);
}

static hd_cu_unit *parse_cubin(const char *place, const char *bytes, size_t length)
{
    hd_cu_unit *u = make_unit();
    hd_parse_options options = {.ignore_annotations = true, .takes_listings = true};
    hd_source_from_memory(&u->cubin, place, bytes, length);
    hd_source_from_memory(&u->source, place, bytes, length);
    u->tool = hd_cubin_tool(&u->source, &u->arena);
    if (hd_disassemble(&u->source, HD_LISTING_HEX, &u->diagnostics))
        u->module = hd_parse_ptx(&u->source, &options, &u->diagnostics);
    return u;
}

static bool is_executed(hd_cu_unit *u)
{
    hd_function **kernels = HD_ARENA_ARRAY(&u->arena, hd_function *, u->module->functions.count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < u->module->functions.count; i++) {
        hd_function *f = u->module->functions.items[i];
        if (f->is_entry && f->has_body)
            kernels[count++] = f;
    }
    return hd_machine_is_executed(u->module, kernels, count, &u->diagnostics);
}

static void say_that_ptx_runs(const char *place, const hd_diagnostics *said)
{
    hd_runtime_say("the PTX of %s runs: %s", place, said->first ? said->first->message : "");
}

hd_cu_unit *hd_cu_unit_load_cubin(hd_runtime *r, const char *place_of, bool is_file, const char *bytes, size_t length)
{
    hd_cu_unit *u = parse_cubin(place_of, bytes, length);
    bool good = u->module && !u->diagnostics.error_count;
    bool empty = !good && u->diagnostics.first && u->diagnostics.first->kind == HD_DIAG_MISSING_CODE;
    bool prefers_ptx = r->options.code == HD_CODE_AUTO && !empty && !(good && is_executed(u));
    if (prefers_ptx)
        say_that_ptx_runs(place_of, &u->diagnostics);
    if (prefers_ptx || empty) {
        drop_unit(u);
        return NULL;
    }
    hd_array_push(&r->units, u);
    hd_source_rename(&u->source, name_text(r, u, place_of, is_file));
    place(r, u, good);
    return u;
}

hd_cu_unit *hd_cu_unit_load_container(hd_runtime *r, const char *place_of, const void *container)
{
    hd_writer cubin;
    uint32_t capability = r->gpu && r->gpu->valid ? r->gpu->compute_major * 10 + r->gpu->compute_minor : UINT32_MAX, sm;
    if (!runs_machine_code(r))
        return NULL;
    hd_writer_to_memory(&cubin);
    bool found =
        hd_fatbin_read_cubin(container, hd_readable_bytes(container), capability, HD_ASSEMBLE_OLDEST, &cubin, &sm);
    hd_cu_unit *u = found ? hd_cu_unit_load_cubin(r, place_of, false, cubin.buffer.items, cubin.buffer.count) : NULL;
    hd_writer_free(&cubin);
    return u;
}

/* NULL: the PTX is to run. */
static hd_cu_unit *load_assembled(hd_runtime *r, const char *place_of, const char *text, size_t length)
{
    hd_source source;
    hd_diagnostics said;
    hd_assembled made;
    hd_store cache;
    hd_cu_unit *u = NULL;
    uint32_t target = hd_assemble_target(text, length);
    uint32_t sm =
        r->gpu && r->gpu->valid ? hd_assemble_architecture(r->gpu, target) : hd_max(target, HD_ASSEMBLE_OLDEST);
    hd_diagnostics_init(&said);
    hd_source_from_memory(&source, place_of, text, length);
    bool good = hd_store_open(&cache, &r->arena, &said);
    if (r->options.no_cache)
        cache.folder = NULL;
    if (good && hd_assemble(&source, sm, &cache, &made, &said))
        u = hd_cu_unit_load_cubin(r, place_of, false, source.text, source.length);
    else if (r->options.code == HD_CODE_AUTO)
        say_that_ptx_runs(place_of, &said);
    else {
        hd_show_diagnostics(NULL, &said);
        bool missing = said.first && said.first->kind == HD_DIAG_MISSING_TOOL;
        if (missing)
            hd_cu_record_limit(r);
        u = unit_without_code(r, missing ? HD_CUDA_NO_KERNEL_IMAGE_FOR_DEVICE : HD_CUDA_INVALID_PTX, NULL);
    }
    hd_source_free(&source);
    hd_diagnostics_free(&said);
    return u;
}

hd_cu_unit *hd_cu_unit_load(hd_runtime *r, const char *place_of, bool is_file, const char *text, size_t length)
{
    hd_cu_unit *u = runs_machine_code(r) ? load_assembled(r, place_of, text, length) : NULL;
    if (u)
        return u;
    hd_parse_options options = {.ignore_annotations = true};
    u = new_unit(r);
    hd_source_from_memory(&u->source, name_text(r, u, place_of, is_file), text, length);
    u->module = hd_parse_ptx(&u->source, &options, &u->diagnostics);
    place(r, u, !u->diagnostics.error_count);
    return u;
}

void hd_unit_free(hd_cu_unit *u)
{
    for (uint32_t i = 0; i < u->kernels.count; i++) {
        hd_program_free(u->kernels.items[i]->program);
        free(u->kernels.items[i]);
    }
    hd_array_free(&u->kernels);
    hd_image_free(&u->image);
    hd_module_free(u->module);
    hd_source_free(&u->cubin);
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

/* The texts of one binary; of a device link: of all its objects. A binary without a text has a unit without code. */
static void read_binary(hd_runtime *r, hd_cu_binary *b, reading *all)
{
    const hd_fatbin_wrapper *w = b->wrapper;
    const char *has = NULL;
    uint32_t before = all->texts.count, capability = capability_asked(r);
    if ((b->unit = hd_cu_unit_load_container(r, hd_object_of(w), w->data)))
        return;
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
    hd_machine_variable v;
    for (uint32_t i = r->bound; i < r->entities.count; i++) {
        const hd_cu_entity *e = &r->entities.items[i];
        if (e->kind != HD_ENTITY_MANAGED || hd_variable_of(r, e->host, &v))
            continue;
        bool is_mapped = r->memory.allocations.items[v.allocation].borrowed; /* with others of its section */
        if (is_mapped || hd_cu_block_map(r, v.allocation)) {
            *(void **)(uintptr_t)e->host =
                (void *)(uintptr_t)(r->memory.allocations.items[v.allocation].base + v.offset);
            if (!is_mapped)
                hd_cu_record_mapped(r, v.allocation);
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

static bool find_in_cubin(const hd_cu_unit *u, const char *name, hd_machine_variable *v)
{
    bool found = false;
    for (uint32_t i = 0; i < u->module->functions.count && !found; i++) {
        const hd_machine_layout *l = hd_machine_layout_of(u->module->functions.items[i]);
        found = l && hd_machine_variable_of(&u->image, l->image, name, v);
    }
    return found;
}

bool hd_unit_variable(const hd_cu_unit *u, const char *name, hd_machine_variable *v)
{
    if (u->why)
        return false;
    if (u->module->is_machine)
        return find_in_cubin(u, name, v);
    hd_name wanted = hd_names_find(&u->module->names, name, strlen(name));
    for (uint32_t i = 0; i < u->module->symbols.count && wanted != HD_NO_NAME; i++)
        if (u->module->symbols.items[i].name == wanted && u->image.allocations[i] != HD_NONE) {
            uint32_t allocation = u->image.allocations[i];
            *v = (hd_machine_variable){allocation, 0, u->image.memory->allocations.items[allocation].size};
            return true;
        }
    return false;
}

/* NULL (reported): it is not executed. */
static hd_program *decode(const hd_cu_kernel *k, hd_diagnostics *said)
{
    hd_cu_unit *u = k->unit;
    const char *missing = k->function->machine ? hd_machine_missing(hd_machine_layout_of(k->function)) : NULL;
    if (missing)
        hd_report(said, HD_DIAG_UNSUPPORTED, NULL, (hd_span){0, 0}, "the cubin does not say how '%s' is launched: %s",
                  k->name, missing);
    return missing                ? NULL
           : k->function->machine ? hd_machine_program_of(u->module, k->function, &u->image, said)
                                  : hd_program_new(u->module, k->function, &u->image, said);
}

int hd_kernel_prepare(hd_runtime *r, hd_cu_kernel *k)
{
    hd_cu_unit *u = k->unit;
    if (k->program || k->why)
        return k->why;
    hd_diagnostics diagnostics;
    hd_diagnostics_init(&diagnostics);
    k->program = decode(k, &diagnostics);
    if (!k->program) {
        hd_show_diagnostics(u, &diagnostics);
        k->why = HD_CUDA_NOT_SUPPORTED;
    }
    hd_diagnostics_free(&diagnostics);
    r->texture_set.items = r->textures.items;
    return k->why;
}

uint64_t hd_kernel_shared_bytes(const hd_cu_kernel *k)
{
    const hd_machine_layout *l = hd_machine_layout_of(k->function);
    return l ? l->shared_bytes : hd_program_describe(k->program).static_shared_bytes;
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
static int why_not(hd_runtime *r, const hd_cu_entity *e)
{
    hd_cu_unit *u = e->binary->unit;
    const hd_gpu *gpu = hd_gpu_of(r);
    const char *object = hd_object_of(e->binary->wrapper);
    if (u->cubins && runs_machine_code(r))
        hd_runtime_say("%s holds machine code for %s, of which none runs on %s (sm_%u), and no PTX of %s", object,
                       u->cubins, gpu->name, gpu->compute_major * 10 + gpu->compute_minor, e->name);
    else if (u->cubins)
        hd_runtime_say("%s holds machine code for %s and no PTX of %s: --code=machine runs it; nvcc embeds both with "
                       "-arch=sm_NN, and with -gencode where code=[sm_NN,compute_NN] asks for both",
                       object, u->cubins, e->name);
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
        return why_not(r, e);
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

int hd_variable_of(hd_runtime *r, const void *host, hd_machine_variable *variable)
{
    hd_cu_entity *e = find_entity(r, host, false);
    if (!e)
        return HD_CUDA_INVALID_SYMBOL;
    if (e->binary->unit->why)
        return why_not(r, e);
    hd_cu_unit *u = e->binary->unit;
    return hd_unit_variable(u, hd_link_find(&u->linked, e->binary->space, e->name), variable) ? HD_CUDA_SUCCESS
                                                                                              : HD_CUDA_INVALID_SYMBOL;
}
