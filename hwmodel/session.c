/* Runs a launch file on a module: memory, symbols, kernels and their parameters, repetitions, expectations. */
#include "base/hash.h"
#include "hwmodel/launch.h"
#include "hwmodel/values.h"
#include <inttypes.h>

/* ---- opening ------------------------------------------------------------------------------------------------- */

static bool place_buffers(hd_session *s)
{
    const hd_launch_file *file = s->file;
    s->buffer_allocations = HD_ARENA_ARRAY(&s->arena, uint32_t, file->buffers.count + 1);
    for (uint32_t i = 0; i < file->buffers.count; i++) {
        const hd_launch_buffer *b = &file->buffers.items[i];
        uint32_t at = hd_memory_allocate(&s->memory, b->name, HD_SPACE_GLOBAL, b->size_bytes, 0, false);
        s->buffer_allocations[i] = at;
        if (at == HD_NONE) {
            hd_yaml_error(b->node, HD_DIAG_BAD_VALUE, "buffer '%s' does not fit the address space", b->name);
            return false;
        }
        if (b->initial)
            memcpy(s->memory.allocations.items[at].bytes, b->initial, b->size_bytes);
    }
    return true;
}

static const hd_symbol *find_variable(const hd_session *s, const char *name, uint32_t *index)
{
    const hd_module *m = s->module;
    hd_name wanted = hd_names_find(&m->names, name, strlen(name));
    for (uint32_t i = 0; i < m->symbols.count; i++)
        if (m->symbols.items[i].name == wanted && wanted != HD_NO_NAME && s->image.allocations[i] != HD_NONE) {
            *index = i;
            return &m->symbols.items[i];
        }
    return NULL;
}

static bool set_symbols(hd_session *s)
{
    bool good = true;
    for (uint32_t i = 0; i < s->file->symbols.count; i++) {
        const hd_launch_buffer *b = &s->file->symbols.items[i];
        uint32_t index;
        const hd_symbol *v = find_variable(s, b->name, &index);
        if (!v || v->size_bytes != b->size_bytes) {
            if (v)
                hd_yaml_error(b->node, HD_DIAG_BAD_VALUE, "variable '%s' has %" PRIu64 " bytes, not %" PRIu64, b->name,
                              v->size_bytes, b->size_bytes);
            else
                hd_yaml_error(b->node, HD_DIAG_BAD_VALUE, "the module has no .global or .const variable '%s'", b->name);
            good = false;
        } else if (b->initial) {
            memcpy(s->memory.allocations.items[s->image.allocations[index]].bytes, b->initial, b->size_bytes);
        }
    }
    return good;
}

/* ---- parameters ---------------------------------------------------------------------------------------------- */

static bool types_fit(const hd_symbol *p, const hd_argument *a)
{
    hd_type_class given = (hd_type_class)hd_types[a->type].class, wanted = (hd_type_class)hd_types[p->type].class;
    if (p->size_bytes != a->size_bytes)
        return false;
    return (given == HD_CLASS_FLOAT) == (wanted == HD_CLASS_FLOAT) || given == HD_CLASS_BITS || wanted == HD_CLASS_BITS;
}

static bool lay_argument(hd_session *s, const hd_launch *l, const hd_function *kernel, uint32_t k, unsigned char *block)
{
    const hd_argument *a = &l->arguments[k];
    const hd_symbol *p = &s->module->symbols.items[kernel->parameter_first + k];
    unsigned char *to = block + hd_parameter_offset(s->module, kernel, k);
    const char *name = hd_names_text(&s->module->names, p->name);
    if (a->kind == HD_ARGUMENT_BUFFER) {
        uint64_t address = s->memory.allocations.items[s->buffer_allocations[a->buffer]].base + a->offset;
        if (p->size_bytes != s->module->address_bits / 8) {
            hd_yaml_error(a->node, HD_DIAG_BAD_VALUE, "parameter %u ('%s') is no pointer: it has %" PRIu64 " bytes",
                          k + 1, name, p->size_bytes);
            return false;
        }
        memcpy(to, &address, p->size_bytes);
        return true;
    }
    if (a->kind == HD_ARGUMENT_SCALAR ? !types_fit(p, a) : p->size_bytes != a->size_bytes) {
        hd_yaml_error(a->node, HD_DIAG_BAD_VALUE,
                      "parameter %u ('%s') is .%s of %" PRIu64 " bytes; this is .%s of %" PRIu64, k + 1, name,
                      hd_types[p->type].spelling, p->size_bytes,
                      a->kind == HD_ARGUMENT_SCALAR ? hd_types[a->type].spelling : "b8", a->size_bytes);
        return false;
    }
    memcpy(to, a->bytes, a->size_bytes);
    return true;
}

static bool check_shape(const hd_launch *l, const hd_function *kernel)
{
    uint64_t threads = 1, most = 1;
    const hd_yaml_node *block = hd_yaml_get(l->node, "block");
    for (uint32_t i = 0; i < 3; i++) {
        threads *= l->block[i];
        most *= kernel->max_threads[i] ? kernel->max_threads[i] : 1;
        if (kernel->required_threads[0] &&
            l->block[i] != (kernel->required_threads[i] ? kernel->required_threads[i] : 1)) {
            hd_yaml_error(block, HD_DIAG_BAD_VALUE,
                          "the kernel wants blocks of exactly %u x %u x %u threads (.reqntid)",
                          kernel->required_threads[0], kernel->required_threads[1] ? kernel->required_threads[1] : 1,
                          kernel->required_threads[2] ? kernel->required_threads[2] : 1);
            return false;
        }
    }
    if (kernel->max_threads[0] && threads > most) {
        hd_yaml_error(block, HD_DIAG_BAD_VALUE, "the kernel takes blocks of at most %" PRIu64 " threads (.maxntid)",
                      most);
        return false;
    }
    return true;
}

static bool open_launch(hd_session *s, uint32_t index)
{
    const hd_launch *l = &s->file->launches.items[index];
    const hd_yaml_node *name = hd_yaml_get(l->node, "kernel");
    hd_function *kernel = hd_module_find_function(s->module, l->kernel);
    bool good = true;
    if (!kernel || !kernel->is_entry || !kernel->has_body) {
        hd_yaml_error(name, HD_DIAG_BAD_VALUE, "the module has no kernel '%s'", l->kernel);
        return false;
    }
    if (kernel->parameter_count != l->argument_count) {
        const hd_yaml_node *params = hd_yaml_get(l->node, "params");
        hd_yaml_error(params ? params : name, HD_DIAG_BAD_VALUE, "kernel '%s' takes %u parameters; %u are given",
                      l->kernel, kernel->parameter_count, l->argument_count);
        return false;
    }
    unsigned char *block = hd_arena_calloc(&s->arena, (size_t)hd_parameter_block_bytes(s->module, kernel) + 32);
    for (uint32_t k = 0; k < l->argument_count; k++)
        good = lay_argument(s, l, kernel, k, block) && good;
    s->kernels[index] = kernel;
    s->grids[index] = (hd_grid){
        {l->grid[0], l->grid[1], l->grid[2]}, {l->block[0], l->block[1], l->block[2]}, l->shared_bytes, block};
    return check_shape(l, kernel) && good;
}

/* Launches of one kernel share its program. */
static bool decode(hd_session *s, uint32_t index)
{
    for (uint32_t i = 0; i < index; i++)
        if (s->kernels[i] == s->kernels[index]) {
            s->programs[index] = s->programs[i];
            return s->programs[i] != NULL;
        }
    s->programs[index] = hd_program_new(s->module, s->kernels[index], &s->image, s->diagnostics);
    return s->programs[index] != NULL;
}

static bool open_launches(hd_session *s, bool *unsupported)
{
    uint32_t count = s->file->launches.count;
    bool good = true;
    s->kernels = HD_ARENA_ARRAY(&s->arena, hd_function *, count);
    s->programs = HD_ARENA_ARRAY(&s->arena, hd_program *, count);
    s->grids = HD_ARENA_ARRAY(&s->arena, hd_grid, count);
    for (uint32_t i = 0; i < count; i++)
        good = open_launch(s, i) && good;
    if (!good)
        return false;
    for (uint32_t i = 0; i < count; i++)
        good = decode(s, i) && good;
    *unsupported = !good;
    return good;
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
    hd_arena_init(&s->arena);
    hd_memory_init(&s->memory, module->address_bits);
    bool good = hd_image_load(&s->image, module, &s->memory, diagnostics);
    *unsupported = !good;
    good = good && place_buffers(s) && set_symbols(s) && open_launches(s, unsupported);
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

/* ---- running ------------------------------------------------------------------------------------------------- */

const unsigned char *hd_session_bytes(const hd_session *session, uint32_t index)
{
    return session->memory.allocations.items[session->buffer_allocations[index]].bytes;
}

static bool condition_holds(const hd_session *s, const hd_launch *l)
{
    uint32_t size = hd_value_bytes(s->file->buffers.items[l->until_buffer].type);
    return !memcmp(hd_session_bytes(s, l->until_buffer) + l->until_index * size, l->until_equals, size);
}

hd_exec_status hd_session_launch(hd_session *session, uint32_t index, const hd_sink *sinks, uint32_t sink_count,
                                 hd_exec_statistics *statistics)
{
    const hd_launch *l = &session->file->launches.items[index];
    bool until = l->until_buffer != HD_NONE;
    uint32_t most = until ? l->until_at_most : l->repeat;
    for (uint32_t i = 0; i < most; i++) {
        hd_exec_status status = hd_program_run(session->programs[index], &session->grids[index], &session->options,
                                               sinks, sink_count, statistics, session->diagnostics);
        if (status != HD_EXEC_DONE || (until && condition_holds(session, l)))
            return status;
    }
    if (!until)
        return HD_EXEC_DONE;
    hd_yaml_error(hd_yaml_get(l->node, "until"), HD_DIAG_KERNEL_FAULT, "'%s' did not take the value within %u launches",
                  session->file->buffers.items[l->until_buffer].name, most);
    return HD_EXEC_FAULT;
}

/* ---- checking ------------------------------------------------------------------------------------------------ */

static bool check_hash(hd_session *s, const hd_launch_buffer *b, const unsigned char *got)
{
    uint64_t hash = hd_hash(got, b->size_bytes);
    if (hash == b->expect.hash)
        return true;
    hd_report(s->diagnostics, HD_DIAG_WRONG_OUTPUT, &b->node->document->source, b->expect.node->span,
              "'%s' has XXH3 %016" PRIx64 ", expected %016" PRIx64, b->name, hash, b->expect.hash);
    return false;
}

static bool check_elements(hd_session *s, const hd_launch_buffer *b, const unsigned char *got)
{
    hd_value_rule rule = {b->expect.tolerant, b->expect.from_values, b->expect.absolute, b->expect.relative};
    uint32_t size = hd_value_bytes(b->type);
    uint64_t wrong = 0, first = 0;
    for (uint64_t i = 0; i < b->count; i++)
        if (!hd_value_matches(b->type, got + i * size, b->expect.bytes + i * size, &rule) && !wrong++)
            first = i;
    if (!wrong)
        return true;
    char is[64], should[64];
    hd_value_print(b->type, got + first * size, is, sizeof is);
    hd_value_print(b->type, b->expect.bytes + first * size, should, sizeof should);
    hd_report(s->diagnostics, HD_DIAG_WRONG_OUTPUT, &b->node->document->source, b->expect.node->span,
              "'%s' differs in %" PRIu64 " of %" PRIu64 " elements; the first is element %" PRIu64 ": %s, expected %s",
              b->name, wrong, b->count, first, is, should);
    return false;
}

static bool check_one(hd_session *s, const hd_launch_buffer *b, const unsigned char *got)
{
    if (!b->expect.given)
        return true;
    return b->expect.is_hash ? check_hash(s, b, got) : check_elements(s, b, got);
}

bool hd_session_check(hd_session *session)
{
    const hd_launch_file *file = session->file;
    bool good = true;
    for (uint32_t i = 0; i < file->buffers.count; i++)
        good = check_one(session, &file->buffers.items[i], hd_session_bytes(session, i)) && good;
    for (uint32_t i = 0; i < file->symbols.count; i++) {
        uint32_t index;
        if (find_variable(session, file->symbols.items[i].name, &index))
            good = check_one(session, &file->symbols.items[i],
                             session->memory.allocations.items[session->image.allocations[index]].bytes) &&
                   good;
    }
    return good;
}

bool hd_session_compare(const hd_session *original, const hd_session *rewritten, hd_diagnostics *diagnostics)
{
    for (uint32_t i = 0; i < original->memory.allocations.count; i++) {
        const hd_allocation *a = &original->memory.allocations.items[i],
                            *b = hd_memory_find_name(&rewritten->memory, a->name);
        uint64_t at = 0;
        while (b && b->size == a->size && at < a->size && a->bytes[at] == b->bytes[at])
            at++;
        if (b && b->size == a->size && at == a->size)
            continue;
        hd_report(diagnostics, HD_DIAG_WRONG_OUTPUT, NULL, (hd_span){0, 0},
                  "'%s' differs from what the original kernel leaves, first at byte %" PRIu64, a->name, at);
        return false;
    }
    return true;
}
