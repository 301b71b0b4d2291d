/* Machine code in a session: launches are compared with what the cubin says of their kernels (ir/machine_image.h), and
 * symbols are its variables. */
#include "hwmodel/launch/launch_reader.h"
#include "hwmodel/machine/machine.h"
#include "ir/machine.h"
#include "ir/machine_image.h"

#include <inttypes.h>

static bool find_symbol(const hd_session *s, const char *name, hd_machine_variable *v)
{
    for (uint32_t i = 0; i < s->file->launches.count; i++) {
        const hd_function *kernel = hd_launch_kernel(s->module, &s->file->launches.items[i]);
        const hd_machine_layout *layout = kernel ? hd_machine_layout_of(kernel) : NULL;
        if (layout && hd_machine_variable_of(&s->image, layout->image, name, v))
            return true;
    }
    return false;
}

/* A whole section, as the record of a program has it. */
static bool find_section(const hd_session *s, const char *name, hd_machine_variable *v)
{
    for (uint32_t i = 0; i < s->image.sections.count; i++) {
        const hd_placed_section *placed = &s->image.sections.items[i];
        *v = (hd_machine_variable){placed->allocation, 0, placed->section->bytes};
        if (strcmp(placed->section->name, name) == 0)
            return true;
    }
    return false;
}

bool hd_session_machine_variable(const hd_session *s, const char *name, hd_machine_variable *v)
{
    return find_symbol(s, name, v) || find_section(s, name, v);
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

static bool uses_local_memory(const hd_module *m, const hd_function *kernel)
{
    for (uint32_t i = 0; i < kernel->instructions.count; i++) {
        const char *spelling = hd_names_text(&m->names, m->forms.items[kernel->instructions.items[i].form].spelling);
        if (strncmp(spelling, "LDL", 3) == 0 || strncmp(spelling, "STL", 3) == 0)
            return true;
    }
    return false;
}

/* A listing of the code alone leaves to the launch file what its kernel takes: parameters at their natural alignment,
 * from where the architecture has them; shared memory is all dynamic. Returns what the listing has to say, too; NULL:
 * nothing. */
static const char *assume_layout(hd_session *s, const hd_launch *l, hd_function *kernel)
{
    hd_arena *arena = &s->module->arena;
    hd_machine_function *machine = HD_ARENA_NEW(arena, hd_machine_function);
    hd_machine_image *image = HD_ARENA_NEW(arena, hd_machine_image);
    hd_machine_layout *layout = HD_ARENA_NEW(arena, hd_machine_layout);
    hd_machine_parameter *parameters = HD_ARENA_ARRAY(arena, hd_machine_parameter, l->argument_count);
    uint64_t end = 0;
    if (!kernel->machine->sm)
        return "it does not name the architecture; a line 'code for sm_90' before the code does";
    if (uses_local_memory(s->module, kernel))
        return "it does not say how much local memory its threads have";
    for (uint32_t i = 0; i < l->argument_count; i++) {
        uint32_t align;
        uint64_t bytes = hd_argument_bytes(&l->arguments[i], s->module->address_bits / 8, &align);
        end = (end + align - 1) / align * align;
        parameters[i] = (hd_machine_parameter){(uint32_t)end, (uint32_t)bytes};
        end += bytes;
    }
    *image = (hd_machine_image){.sm = kernel->machine->sm};
    *layout = (hd_machine_layout){.image = image,
                                  .is_entry = true,
                                  .has_parameters = true, /* base 0: of the architecture */
                                  .parameters = parameters,
                                  .parameter_count = l->argument_count,
                                  .parameter_bytes = (uint32_t)end,
                                  .code = HD_NONE};
    for (uint32_t i = 0; i < HD_MACHINE_BANKS; i++)
        layout->banks[i] = HD_NONE;
    *machine = *kernel->machine;
    machine->layout = layout;
    kernel->machine = machine;
    return NULL;
}

bool hd_session_check_machine(hd_session *s, const hd_launch *l, hd_function *kernel)
{
    const hd_yaml_node *name = hd_yaml_get(l->node, "kernel"), *params = hd_yaml_get(l->node, "params");
    bool alone = !hd_machine_layout_of(kernel);
    const char *missing = alone ? assume_layout(s, l, kernel) : hd_machine_missing(hd_machine_layout_of(kernel));
    if (missing) {
        hd_diagnostic *d = hd_yaml_report(s->diagnostics, name, HD_DIAG_BAD_VALUE,
                                          "the listing does not say how '%s' is launched: %s", l->kernel, missing);
        hd_note_add(s->diagnostics, d, NULL, (hd_span){0, 0},
                    "heddle dump, and nvdisasm without -c, print all sections of a cubin; a module may be the cubin");
        return false;
    }
    const hd_machine_layout *layout = hd_machine_layout_of(kernel);
    if (layout->parameter_count != l->argument_count) {
        hd_yaml_report(s->diagnostics, params ? params : name, HD_DIAG_BAD_VALUE,
                       "kernel '%s' takes %" PRIu32 " parameters, as its cubin or first launch says; %" PRIu32
                       " are given",
                       l->kernel, layout->parameter_count, l->argument_count);
        return false;
    }
    for (uint32_t i = 0; i < l->argument_count; i++) {
        uint32_t align;
        uint64_t bytes = hd_argument_bytes(&l->arguments[i], s->module->address_bits / 8, &align);
        if (bytes == layout->parameters[i].bytes)
            continue;
        hd_yaml_report(s->diagnostics, l->arguments[i].node, HD_DIAG_BAD_VALUE,
                       "parameter %" PRIu32 " of '%s' has %" PRIu32
                       " bytes, as its cubin or first launch says; this has %" PRIu64,
                       i + 1, l->kernel, layout->parameters[i].bytes, bytes);
        return false;
    }
    return true;
}

/* ---- whether it is executed -------------------------------------------------------------------------------------- */

bool hd_launch_is_executed(const hd_launch_file *file, hd_module *module, hd_diagnostics *said)
{
    hd_arena arena = {0};
    hd_function **kernels = HD_ARENA_ARRAY(&arena, hd_function *, file->launches.count);
    uint32_t count = 0;
    for (uint32_t i = 0; i < file->launches.count; i++) {
        hd_function *kernel = hd_launch_kernel(module, &file->launches.items[i]);
        uint32_t k = 0;
        while (k < count && kernels[k] != kernel)
            k++;
        if (kernel && k == count)
            kernels[count++] = kernel;
    }
    bool good = hd_machine_is_executed(module, kernels, count, said);
    hd_arena_free(&arena);
    return good;
}
