/* Kernels of machine code by what their cubin says: whether they can be launched and are executed; and parameters and
 * blocks of kernels in either code, for those who launch them. */
#include "hwmodel/machine/machine.h"

hd_program *hd_machine_program_of(hd_module *module, hd_function *function, const hd_image *image,
                                  hd_diagnostics *diagnostics)
{
    hd_machine_kernel kernel = hd_machine_kernel_of(function, image);
    return hd_machine_program_new(module, function, &kernel, image, diagnostics);
}

const char *hd_machine_missing(const hd_machine_layout *l)
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

bool hd_machine_is_executed(hd_module *module, hd_function *const *kernels, uint32_t count, hd_diagnostics *said)
{
    hd_memory memory;
    hd_image image;
    hd_memory_init(&memory, module->address_bits);
    bool good = hd_image_load(&image, module, &memory, said) && hd_machine_image_load(&image, said);
    for (uint32_t i = 0; i < count && good; i++) {
        hd_program *program = kernels[i]->machine ? hd_machine_program_of(module, kernels[i], &image, said) : NULL;
        good = program || !kernels[i]->machine;
        hd_program_free(program);
    }
    hd_image_free(&image);
    hd_memory_free(&memory);
    return good;
}

/* ---- parameters -------------------------------------------------------------------------------------------------- */

uint32_t hd_kernel_parameters(const hd_function *kernel)
{
    const hd_machine_layout *l = hd_machine_layout_of(kernel);
    return l ? l->parameter_count : kernel->parameter_count;
}

uint32_t hd_kernel_parameter_offset(const hd_module *module, const hd_function *kernel, uint32_t i)
{
    const hd_machine_layout *l = hd_machine_layout_of(kernel);
    return l ? l->parameters[i].offset : hd_parameter_offset(module, kernel, i);
}

uint64_t hd_kernel_parameter_bytes(const hd_module *module, const hd_function *kernel, uint32_t i)
{
    const hd_machine_layout *l = hd_machine_layout_of(kernel);
    return l ? l->parameters[i].bytes : module->symbols.items[kernel->parameter_first + i].size_bytes;
}

uint32_t hd_kernel_block_bytes(const hd_module *module, const hd_function *kernel)
{
    const hd_machine_layout *l = hd_machine_layout_of(kernel);
    return l ? l->parameter_bytes : hd_parameter_block_bytes(module, kernel);
}

const uint32_t *hd_kernel_required_threads(const hd_function *kernel)
{
    static const uint32_t any[3];
    const hd_machine_layout *l = hd_machine_layout_of(kernel);
    return !l ? kernel->required_threads : l->requires_threads ? l->threads : any;
}

uint64_t hd_kernel_most_threads(const hd_function *kernel)
{
    const hd_machine_layout *l = hd_machine_layout_of(kernel);
    const uint32_t *limit = l ? l->threads : kernel->max_threads;
    uint64_t most = 1;
    for (uint32_t i = 0; i < 3; i++)
        most *= limit[i] ? limit[i] : 1;
    return limit[0] && !(l && l->requires_threads) ? most : 0;
}
