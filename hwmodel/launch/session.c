/* Runs a launch file on a module: memory, symbols, textures, kernels and their parameters, steps. */
#include "hwmodel/launch/launch_reader.h"
#include "hwmodel/machine/machine.h"
#include <inttypes.h>

/* ---- values ------------------------------------------------------------------------------------------------------ */

static unsigned char *bytes_of(const hd_session *s, uint32_t buffer)
{
    return s->memory.allocations.items[s->buffer_allocations[buffer]].bytes + s->buffer_offsets[buffer];
}

const unsigned char *hd_session_bytes(const hd_session *session, uint32_t index) { return bytes_of(session, index); }

static uint32_t address_bytes(const hd_session *s) { return s->module->address_bits / 8; }

/* Stands for what is the same in all repetitions. */
static const hd_iteration outside = {0, NULL};

/* ---- memory ------------------------------------------------------------------------------------------------------ */

static bool place_buffer(hd_session *s, uint32_t index)
{
    const hd_launch_buffer *b = &s->file->buffers.items[index];
    uint32_t at = b->address ? hd_memory_place(&s->memory, b->name, b->address, b->size_bytes, NULL)
                             : hd_memory_allocate(&s->memory, b->name, HD_SPACE_GLOBAL, b->size_bytes, 0, false);
    s->buffer_allocations[index] = at;
    if (at == HD_NONE)
        hd_yaml_report(s->diagnostics, b->node, HD_DIAG_BAD_VALUE, "buffer '%s' does not fit %s", b->name,
                       b->address ? "at its address" : "the address space");
    return at != HD_NONE;
}

/* Index of a .global or .const variable among the module's symbols, or HD_NONE. */
static uint32_t find_variable(const hd_session *s, const char *name)
{
    const hd_module *m = s->module;
    hd_name wanted = hd_names_find(&m->names, name, strlen(name));
    for (uint32_t i = 0; i < m->symbols.count; i++)
        if (m->symbols.items[i].name == wanted && wanted != HD_NO_NAME && s->image.allocations[i] != HD_NONE)
            return i;
    return HD_NONE;
}

static bool place_symbol(hd_session *s, uint32_t index)
{
    const hd_launch_buffer *b = &s->file->buffers.items[index];
    uint64_t size;
    uint32_t variable = s->module->is_machine ? HD_NONE : find_variable(s, b->name);
    hd_machine_variable of_cubin;
    if (s->module->is_machine && hd_session_machine_variable(s, b->name, &of_cubin)) {
        s->buffer_allocations[index] = of_cubin.allocation;
        s->buffer_offsets[index] = of_cubin.offset;
        size = of_cubin.bytes;
    } else if (variable != HD_NONE) {
        s->buffer_allocations[index] = s->image.allocations[variable];
        size = s->module->symbols.items[variable].size_bytes;
    } else {
        hd_yaml_report(s->diagnostics, b->node, HD_DIAG_BAD_VALUE, "the module has no .global or .const variable '%s'",
                       b->name);
        return false;
    }
    if (size == b->size_bytes)
        return true;
    hd_yaml_report(s->diagnostics, b->node, HD_DIAG_BAD_VALUE, "variable '%s' has %" PRIu64 " bytes, not %" PRIu64,
                   b->name, size, b->size_bytes);
    return false;
}

static bool links_fit(const hd_session *s, const hd_launch_buffer *b)
{
    for (uint32_t i = 0; i < b->link_count; i++) {
        const hd_argument *a = &b->links[i].value;
        uint32_t align, size = a->kind == HD_ARGUMENT_TEXTURE ? 8 : address_bytes(s);
        if (a->kind == HD_ARGUMENT_STRUCT ? hd_argument_bytes(a, address_bytes(s), &align) == b->size_bytes
                                          : hd_value_bytes(b->type) == size)
            continue;
        hd_yaml_report(s->diagnostics, a->node, HD_DIAG_BAD_VALUE,
                       "this does not fit: an address of the module has %u bytes", address_bytes(s));
        return false;
    }
    return true;
}

/* Sets the initial content. A symbol without one keeps the module's; new memory is zero. */
static bool fill_buffer(const hd_session *s, uint32_t index, bool is_new)
{
    const hd_launch_buffer *b = &s->file->buffers.items[index];
    unsigned char *bytes = bytes_of(s, index);
    if (b->initial)
        memcpy(bytes, b->initial, b->size_bytes);
    else if (!b->is_symbol && !is_new)
        memset(bytes, 0, b->size_bytes);
    for (uint32_t i = 0; i < b->link_count; i++)
        if (!hd_argument_lay(&b->links[i].value, &outside, &s->addresses, bytes + b->links[i].at))
            return false;
    return true;
}

static bool place_memory(hd_session *s)
{
    uint32_t count = s->file->buffers.count;
    uint64_t *addresses = HD_ARENA_ARRAY(&s->arena, uint64_t, count + 1);
    bool good = true;
    s->buffer_allocations = HD_ARENA_ARRAY(&s->arena, uint32_t, count + 1);
    s->buffer_offsets = HD_ARENA_ARRAY(&s->arena, uint64_t, count + 1);
    hd_ordering order;
    for (uint32_t i = 0; i < count; i++)
        if (s->file->buffers.items[i].address)
            good = place_buffer(s, i) && good;
    hd_ordering_read(s->file->buffer_order, &order);
    for (uint32_t place = 0; place < count; place++) {
        uint32_t i = hd_ordering_at(order, count, place);
        if (!s->file->buffers.items[i].address)
            good = (s->file->buffers.items[i].is_symbol ? place_symbol(s, i) : place_buffer(s, i)) && good;
    }
    for (uint32_t i = 0; i < count && good; i++)
        addresses[i] = s->memory.allocations.items[s->buffer_allocations[i]].base + s->buffer_offsets[i];
    s->addresses = (hd_addresses){addresses, s->file->textures.items, address_bytes(s), s->diagnostics};
    for (uint32_t i = 0; i < count && good; i++)
        good = links_fit(s, &s->file->buffers.items[i]) && fill_buffer(s, i, true);
    return good;
}

/* Binds the module's variable to a texture. */
static bool bind_symbol(const hd_session *s, hd_texture *t)
{
    uint32_t variable = find_variable(s, t->symbol);
    hd_type wanted = t->kind == HD_TEXTURE_SAMPLER ? HD_TYPE_SAMPLERREF : t->surface ? HD_TYPE_SURFREF : HD_TYPE_TEXREF;
    if (variable != HD_NONE && s->module->symbols.items[variable].type == wanted &&
        s->module->symbols.items[variable].space == HD_SPACE_GLOBAL) {
        t->symbol_address = s->image.addresses[variable];
        return true;
    }
    hd_yaml_report(s->diagnostics, t->node, HD_DIAG_BAD_VALUE, "the module has no variable '%s' of type .%s", t->symbol,
                   hd_types[wanted].spelling);
    return false;
}

static void place_texels(const hd_session *s, hd_texture *t)
{
    t->bytes = bytes_of(s, t->buffer) + t->offset;
    t->texel_address = s->memory.allocations.items[s->buffer_allocations[t->buffer]].base + t->offset;
}

/* Sets the address of textures' texels, and of the variables bound to them. */
static bool place_textures(hd_session *s)
{
    uint32_t count = s->file->textures.count;
    hd_texture *textures = HD_ARENA_ARRAY(&s->arena, hd_texture, count + 1);
    bool good = true;
    for (uint32_t i = 0; i < count; i++) {
        textures[i] = s->file->textures.items[i];
        if (textures[i].buffer != HD_NONE)
            place_texels(s, &textures[i]);
        good = (!textures[i].symbol || bind_symbol(s, &textures[i])) && good;
    }
    s->textures = (hd_texture_set){textures, count};
    s->image.textures = &s->textures;
    return good;
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

static bool types_fit(const hd_symbol *p, const hd_argument *a)
{
    hd_type_class given = (hd_type_class)hd_types[a->type].class, wanted = (hd_type_class)hd_types[p->type].class;
    return a->elements != 1 || (given == HD_CLASS_FLOAT) == (wanted == HD_CLASS_FLOAT) || given == HD_CLASS_BITS ||
           wanted == HD_CLASS_BITS;
}

static const char *kind_text(const hd_argument *a)
{
    switch ((hd_argument_kind)a->kind) {
    case HD_ARGUMENT_BUFFER: return "the address of a buffer";
    case HD_ARGUMENT_TEXTURE: return "the handle of a texture";
    case HD_ARGUMENT_NUMBER:
    case HD_ARGUMENT_IOTA:
    case HD_ARGUMENT_FORMULA: return a->elements == 1 ? hd_types[a->type].spelling : "a list";
    case HD_ARGUMENT_BYTES: return "a list of bytes";
    case HD_ARGUMENT_STRUCT: return "a struct";
    case HD_ARGUMENT_COLUMN:
    case HD_ARGUMENT_PAD: break;
    }
    return "";
}

static bool check_argument(const hd_session *s, const hd_launch *l, const hd_function *kernel, uint32_t k)
{
    const hd_argument *a = &l->arguments[k];
    const hd_symbol *p = &s->module->symbols.items[kernel->parameter_first + k];
    const char *name = hd_names_text(&s->module->names, p->name);
    uint32_t align;
    uint64_t bytes = hd_argument_bytes(a, address_bytes(s), &align);
    bool number = a->kind == HD_ARGUMENT_NUMBER || a->kind == HD_ARGUMENT_IOTA || a->kind == HD_ARGUMENT_FORMULA;
    if (bytes == p->size_bytes && (!number || types_fit(p, a)))
        return true;
    hd_diagnostic *d;
    if (a->kind == HD_ARGUMENT_BUFFER)
        d = hd_yaml_report(s->diagnostics, a->node, HD_DIAG_BAD_VALUE,
                           "parameter %u ('%s') is no pointer: it has %" PRIu64 " bytes", k + 1, name, p->size_bytes);
    else
        d = hd_yaml_report(s->diagnostics, a->node, HD_DIAG_BAD_VALUE,
                           "parameter %u ('%s') is .%s of %" PRIu64 " bytes; this is %s%s of %" PRIu64, k + 1, name,
                           hd_types[p->type].spelling, p->size_bytes, number && a->elements == 1 ? "." : "",
                           kind_text(a), bytes);
    hd_note_add(s->diagnostics, d, s->module->source, p->span, "the kernel declares it here");
    return false;
}

/* Checks that the kernel accepts this block shape. */
static bool check_shape(const hd_session *s, const hd_launch *l, const hd_function *kernel, const uint32_t block[3])
{
    uint64_t threads = 1, most = hd_kernel_most_threads(kernel);
    const hd_yaml_node *node = hd_yaml_get(l->node, "block");
    const uint32_t *required = hd_kernel_required_threads(kernel);
    for (uint32_t i = 0; i < 3; i++) {
        threads *= block[i];
        if (required[0] && block[i] != (required[i] ? required[i] : 1)) {
            hd_yaml_report(s->diagnostics, node, HD_DIAG_BAD_VALUE,
                           "the kernel wants blocks of exactly %u x %u x %u threads (.reqntid)", required[0],
                           required[1] ? required[1] : 1, required[2] ? required[2] : 1);
            return false;
        }
    }
    if (most && threads > most) {
        hd_yaml_report(s->diagnostics, node, HD_DIAG_BAD_VALUE,
                       "the kernel takes blocks of at most %" PRIu64 " threads (.maxntid)", most);
        return false;
    }
    return true;
}

static bool is_resident(const hd_session *s, const hd_launch *l, const hd_grid *grid)
{
    if (!l->cooperative || hd_grid_ctas(grid) <= HD_MOST_COOPERATIVE)
        return true;
    hd_yaml_report(s->diagnostics, hd_yaml_get(l->node, "cooperative"), HD_DIAG_BAD_VALUE,
                   "a cooperative grid has at most %d CTAs; this one has %" PRIu64, HD_MOST_COOPERATIVE,
                   hd_grid_ctas(grid));
    return false;
}

/* Grid and parameters of a repetition. */
static bool prepare(hd_session *s, uint32_t index, const hd_iteration *at)
{
    const hd_launch *l = &s->file->launches.items[index];
    const hd_function *kernel = s->kernels[index];
    hd_grid *grid = &s->grids[index];
    if (!hd_launch_shape(l, at, grid->grid, grid->block, &grid->dynamic_shared_bytes, s->diagnostics) ||
        !check_shape(s, l, kernel, grid->block) || !is_resident(s, l, grid))
        return false;
    for (uint32_t i = 0; i < l->argument_count; i++)
        if (!hd_argument_lay(&l->arguments[i], at, &s->addresses,
                             s->parameters[index] + hd_kernel_parameter_offset(s->module, kernel, i)))
            return false;
    return true;
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

static bool open_launch(hd_session *s, uint32_t index)
{
    const hd_launch *l = &s->file->launches.items[index];
    const hd_yaml_node *name = hd_yaml_get(l->node, "kernel"), *params = hd_yaml_get(l->node, "params");
    hd_function *kernel = hd_launch_kernel(s->module, l);
    bool good = true;
    if (!kernel) {
        hd_launch_report_no_kernel(s->module, l, &s->arena, s->diagnostics);
        return false;
    }
    if (kernel->machine && !hd_session_check_machine(s, l, kernel))
        return false;
    if (!kernel->machine && kernel->parameter_count != l->argument_count) {
        hd_diagnostic *d = hd_yaml_report(s->diagnostics, params ? params : name, HD_DIAG_BAD_VALUE,
                                          "kernel '%s' takes %u parameters; %u are given", l->kernel,
                                          kernel->parameter_count, l->argument_count);
        hd_note_add(s->diagnostics, d, s->module->source, kernel->header_span, "the kernel begins here");
        return false;
    }
    for (uint32_t k = 0; k < l->argument_count && !kernel->machine; k++)
        good = check_argument(s, l, kernel, k) && good;
    s->kernels[index] = kernel;
    s->parameters[index] = hd_arena_calloc(&s->arena, (size_t)hd_kernel_block_bytes(s->module, kernel) + 32);
    s->grids[index].parameters = s->parameters[index];
    s->grids[index].cooperative = l->cooperative;
    s->grids[index].workspace = s->workspace;
    return good && prepare(s, index, &l->first);
}

/* Launches of one kernel share its program. */
static bool decode(hd_session *s, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (s->kernels[i] == s->kernels[index]) {
            s->programs[index] = s->programs[i];
            return s->programs[i] != NULL;
        }
    s->programs[index] = s->kernels[index]->machine
                             ? hd_machine_program_of(s->module, s->kernels[index], &s->image, s->diagnostics)
                             : hd_program_new(s->module, s->kernels[index], &s->image, s->diagnostics);
    return s->programs[index] != NULL;
}

static bool shared_fits(const hd_session *s, uint32_t index)
{
    const hd_launch *l = &s->file->launches.items[index];
    uint64_t own = hd_program_describe(s->programs[index]).static_shared_bytes;
    uint32_t most = s->file->gpu ? s->file->gpu_shared_bytes : HD_LARGEST_SHARED_BYTES;
    uint64_t needed = own + s->grids[index].dynamic_shared_bytes;
    if (needed <= most)
        return true;
    hd_yaml_report(s->diagnostics, hd_yaml_get(l->node, l->shared_bytes ? "shared" : "kernel"), HD_DIAG_BAD_VALUE,
                   "a block of '%s' needs %" PRIu64 " bytes of shared memory, %" PRIu64
                   " of them its own, and may have %u on %s",
                   l->kernel, needed, own, most, s->file->gpu ? s->file->gpu : "any GPU");
    return false;
}

static bool open_launches(hd_session *s, bool *unsupported)
{
    uint32_t count = s->file->launches.count;
    bool good = true;
    s->kernels = HD_ARENA_ARRAY(&s->arena, hd_function *, count + 1);
    s->programs = HD_ARENA_ARRAY(&s->arena, hd_program *, count + 1);
    s->grids = HD_ARENA_ARRAY(&s->arena, hd_grid, count + 1);
    s->parameters = HD_ARENA_ARRAY(&s->arena, unsigned char *, count + 1);
    for (uint32_t i = 0; i < count; i++)
        good = open_launch(s, i) && good;
    if (!good)
        return false;
    for (uint32_t i = 0; i < count; i++)
        good = decode(s, i) && good;
    *unsupported = !good;
    for (uint32_t i = 0; i < count && !*unsupported; i++)
        good = shared_fits(s, i) && good;
    return good;
}

/* The workspace that the device runtime needs for a cooperative grid. */
static bool place_workspace(hd_session *s)
{
    bool any = false;
    for (uint32_t i = 0; i < s->file->launches.count; i++)
        any = any || s->file->launches.items[i].cooperative;
    if (!any)
        return true;
    uint32_t at = hd_memory_allocate(&s->memory, "workspace of cooperative launches", HD_SPACE_GLOBAL,
                                     HD_WORKSPACE_BYTES, 16, false);
    if (at != HD_NONE)
        s->workspace = s->memory.allocations.items[at].base;
    return at != HD_NONE;
}

static void clear_workspace(hd_session *s)
{
    hd_allocation *a = (hd_allocation *)(uintptr_t)hd_memory_find(&s->memory, s->workspace, HD_WORKSPACE_BYTES);
    if (a)
        memset(a->bytes, 0, HD_WORKSPACE_BYTES);
}

hd_session *hd_session_open(const hd_launch_file *file, hd_module *module, hd_diagnostics *diagnostics,
                            bool *unsupported)
{
    hd_session *s = hd_calloc(1, sizeof *s);
    bool ignored;
    unsupported = unsupported ? unsupported : &ignored;
    *unsupported = false;
    s->file = file;
    s->module = module;
    s->diagnostics = diagnostics;
    s->options.instruction_limit = HD_INSTRUCTION_LIMIT;
    hd_ordering_read(file->block_order, &s->options.block_order);
    hd_arena_init(&s->arena);
    hd_memory_init(&s->memory, file->address_bits == 32 ? 32 : module->address_bits);
    if (file->memory_base)
        hd_memory_move(&s->memory, file->memory_base);
    bool good = hd_image_load(&s->image, module, &s->memory, diagnostics);
    good = good && (!module->is_machine || hd_machine_image_load(&s->image, diagnostics));
    *unsupported = !good;
    good = good && place_memory(s) && place_textures(s) && place_workspace(s) && open_launches(s, unsupported);
    if (good)
        return s;
    hd_session_close(s);
    return NULL;
}

void hd_session_close(hd_session *session)
{
    if (!session)
        return;
    for (uint32_t i = 0; session->programs && i < session->file->launches.count; i++) {
        bool first = true;
        for (uint32_t k = 0; k < i; k++)
            first = first && session->programs[k] != session->programs[i];
        if (first)
            hd_program_free(session->programs[i]);
    }
    hd_image_free(&session->image);
    hd_memory_free(&session->memory);
    hd_arena_free(&session->arena);
    free(session);
}

/* ---- running ----------------------------------------------------------------------------------------------------- */

static hd_exec_status launch_once(hd_session *s, uint32_t index, const hd_iteration *at, const hd_session_watch *watch,
                                  hd_exec_statistics *statistics)
{
    static const hd_session_watch nobody;
    hd_exec_statistics own = {0};
    watch = watch ? watch : &nobody;
    const hd_launch *l = &s->file->launches.items[index];
    if ((hd_launch_varies(l) && !prepare(s, index, at)) || (l->shared_varies && !shared_fits(s, index))) {
        s->rejected = true;
        return HD_EXEC_FAULT;
    }
    if (watch->starts)
        watch->starts(watch->context, index, &s->grids[index]);
    if (s->grids[index].cooperative)
        clear_workspace(s);
    hd_exec_status status = hd_program_run(s->programs[index], &s->grids[index], &s->options, watch->sinks,
                                           watch->sink_count, &own, s->diagnostics);
    hd_exec_statistics_add(statistics, &own);
    if (watch->ran)
        watch->ran(watch->context, index, status, &own);
    return status;
}

typedef struct session_run {
    hd_session *session;
    const hd_session_watch *watch;
    hd_exec_statistics *statistics;
    hd_exec_status status;
} session_run;

static bool run_launch(void *context, uint32_t launch, const hd_iteration *at)
{
    session_run *r = context;
    r->status = launch_once(r->session, launch, at, r->watch, r->statistics);
    return r->status == HD_EXEC_DONE;
}

static bool run_set(void *context, const hd_launch_step *step, const hd_iteration *at)
{
    hd_session *s = ((session_run *)context)->session;
    bool good = step->first_content ? fill_buffer(s, step->buffer, false)
                                    : hd_launch_set_bytes(s->file, step, at, s->diagnostics, bytes_of(s, step->buffer));
    s->rejected = s->rejected || !good;
    return good;
}

static bool run_copy(void *context, const hd_launch_step *step, const hd_iteration *at)
{
    hd_session *s = ((session_run *)context)->session;
    hd_launch_copy range;
    if (!hd_launch_copy_range(s->file, step, at, s->diagnostics, &range)) {
        s->rejected = true;
        return false;
    }
    memmove(bytes_of(s, step->to) + range.to, bytes_of(s, step->buffer) + range.from, range.bytes);
    return true;
}

static const unsigned char *run_read(void *context, uint32_t buffer)
{
    return bytes_of(((session_run *)context)->session, buffer);
}

hd_exec_status hd_session_run(hd_session *session, const hd_session_watch *watch, hd_exec_statistics *statistics)
{
    session_run r = {session, watch, statistics, HD_EXEC_DONE};
    hd_launch_walker walker = {&r, run_launch, run_set, run_copy, run_read, session->diagnostics};
    hd_walk_end end = hd_launch_walk(session->file, &walker);
    session->rejected = session->rejected || end == HD_WALK_WRONG;
    if (end == HD_WALK_DONE)
        return HD_EXEC_DONE;
    return r.status == HD_EXEC_DONE ? HD_EXEC_FAULT : r.status;
}
