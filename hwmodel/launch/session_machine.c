/* Machine code in a session: launches are compared with what the cubin says of their kernels (ir/machine_image.h), and
 * symbols are its variables. */
#include "hwmodel/launch/launch_reader.h"
#include "hwmodel/machine/machine.h"
#include "ir/machine_image.h"

#include <inttypes.h>

const hd_machine_symbol *hd_session_machine_variable(const hd_session *s, const char *name, uint32_t *allocation)
{
    for (uint32_t i = 0; i < s->file->launches.count; i++) {
        const hd_function *kernel = hd_launch_kernel(s->module, &s->file->launches.items[i]);
        const hd_machine_layout *layout = kernel ? hd_machine_layout_of(kernel) : NULL;
        uint32_t symbol = layout ? hd_machine_symbol_of(layout->image, name, strlen(name)) : HD_NONE;
        if (symbol == HD_NONE)
            continue;
        *allocation = hd_machine_symbol_allocation(&s->image, layout->image, symbol);
        if (*allocation != HD_NONE)
            return &layout->image->symbols[symbol];
    }
    return NULL;
}

/* ---- kernels ----------------------------------------------------------------------------------------------------- */

/* What the run of a kernel needs and the listing does not say; NULL: nothing. */
static const char *find_missing(const hd_machine_layout *l)
{
    if (!l)
        return "it has no sections beside the code";
    if (!l->image->sm)
        return "it does not name the architecture (.target)";
    if (l->image->is_relocatable)
        return "its code is relocatable (nvcc -rdc=true) and not linked: take the program, or what nvcc -dlink -cubin "
               "makes";
    if (!l->has_parameters && l->parameter_count)
        return "it does not say where the parameters are (EIATTR_PARAM_CBANK)";
    return NULL;
}

bool hd_session_check_machine(hd_session *s, const hd_launch *l, const hd_function *kernel)
{
    const hd_machine_layout *layout = hd_machine_layout_of(kernel);
    const hd_yaml_node *name = hd_yaml_get(l->node, "kernel"), *params = hd_yaml_get(l->node, "params");
    const char *missing = find_missing(layout);
    if (missing) {
        hd_diagnostic *d = hd_yaml_report(s->diagnostics, name, HD_DIAG_BAD_VALUE,
                                          "the listing does not say how '%s' is launched: %s", l->kernel, missing);
        hd_note_add(s->diagnostics, d, NULL, (hd_span){0, 0},
                    "heddle dump, and nvdisasm without -c, print all sections of a cubin; a module may be the cubin");
        return false;
    }
    if (layout->parameter_count != l->argument_count) {
        hd_yaml_report(s->diagnostics, params ? params : name, HD_DIAG_BAD_VALUE,
                       "kernel '%s' takes %" PRIu32 " parameters, as its cubin says; %" PRIu32 " are given", l->kernel,
                       layout->parameter_count, l->argument_count);
        return false;
    }
    for (uint32_t i = 0; i < l->argument_count; i++) {
        uint32_t align;
        uint64_t bytes = hd_argument_bytes(&l->arguments[i], s->module->address_bits / 8, &align);
        if (bytes == layout->parameters[i].bytes)
            continue;
        hd_yaml_report(s->diagnostics, l->arguments[i].node, HD_DIAG_BAD_VALUE,
                       "parameter %" PRIu32 " of '%s' has %" PRIu32 " bytes, as its cubin says; this has %" PRIu64,
                       i + 1, l->kernel, layout->parameters[i].bytes, bytes);
        return false;
    }
    return true;
}
