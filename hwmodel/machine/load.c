/* Places what the code of a cubin addresses in device memory, and takes from its description what a program needs.
 *
 * A section of global variables, and one of a constant bank, is an allocation. Relocations in them receive the
 * addresses of symbols: of variables, where their section is; of functions, that of their code. */
#include "hwmodel/machine/decoder.h"

#include <inttypes.h>

/* ---- sections ---------------------------------------------------------------------------------------------------- */

/* Index in image->memory->allocations; HD_NONE: the section is not in memory. */
static uint32_t find_allocation(const hd_image *image, const hd_machine_section *s)
{
    for (uint32_t i = 0; i < image->sections.count; i++)
        if (image->sections.items[i].section == s)
            return image->sections.items[i].allocation;
    return HD_NONE;
}

static hd_allocation *allocation_of(const hd_image *image, const hd_machine_section *s)
{
    uint32_t at = find_allocation(image, s);
    return at == HD_NONE ? NULL : &image->memory->allocations.items[at];
}

bool hd_machine_variable_of(const hd_image *image, const hd_machine_image *of, const char *name, hd_machine_variable *v)
{
    uint32_t at = hd_machine_symbol_of(of, name, strlen(name));
    const hd_machine_symbol *symbol = at == HD_NONE ? NULL : &of->symbols[at];
    if (!symbol || symbol->section == HD_NONE)
        return false;
    *v = (hd_machine_variable){find_allocation(image, &of->sections[symbol->section]), symbol->offset, symbol->bytes};
    return v->allocation != HD_NONE;
}

static bool place(hd_image *image, const hd_machine_section *s, hd_diagnostics *diagnostics)
{
    bool constant = s->kind == HD_MACHINE_SECTION_BANK;
    if ((!constant && s->kind != HD_MACHINE_SECTION_GLOBAL) || (constant && !s->bank) ||
        find_allocation(image, s) != HD_NONE)
        return true;
    uint32_t at = hd_memory_allocate(image->memory, s->name, constant ? HD_SPACE_CONST : HD_SPACE_GLOBAL, s->bytes,
                                     s->alignment, constant);
    if (at == HD_NONE) {
        hd_report(diagnostics, HD_DIAG_UNSUPPORTED, image->module->source, (hd_span){0, 0},
                  "section %s: does not fit the address space", s->name);
        return false;
    }
    hd_array_push(&image->sections, ((hd_placed_section){s, at}));
    if (s->initial && s->bytes)
        memcpy(image->memory->allocations.items[at].bytes, s->initial, s->bytes);
    return true;
}

bool hd_machine_symbol_address(const hd_image *image, const hd_machine_image *of, uint32_t symbol, uint64_t *address)
{
    const hd_machine_symbol *s = symbol < of->symbol_count ? &of->symbols[symbol] : NULL;
    const hd_machine_section *section = s && s->section != HD_NONE ? &of->sections[s->section] : NULL;
    const hd_allocation *a = section ? allocation_of(image, section) : NULL;
    if (section && section->kind == HD_MACHINE_SECTION_CODE && s->function != HD_NONE) {
        *address = hd_machine_code_address(image->module->functions.items[s->function]);
        return true;
    }
    if (s && !section)
        return (*address = hd_machine_builtin_address(s->name)) != 0;
    if (section && section->kind == HD_MACHINE_SECTION_SHARED) {
        *address = s->offset;
        return true;
    }
    if (!a)
        return false;
    *address = a->base + s->offset;
    return true;
}

/* What nothing is known of stays 0. */
static bool relocate(const hd_image *image, const hd_machine_image *of, const hd_machine_section *s,
                     hd_diagnostics *diagnostics)
{
    hd_allocation *a = allocation_of(image, s);
    for (uint32_t i = 0; a && i < s->relocation_count; i++) {
        const hd_machine_relocation *r = &s->relocations[i];
        uint64_t address;
        bool is_data = r->kind == HD_MACHINE_RELOCATION_64 || r->kind == HD_MACHINE_RELOCATION_G64;
        if (!is_data || r->symbol == HD_NONE || r->offset + 8ull > s->bytes) {
            hd_report(diagnostics, HD_DIAG_UNSUPPORTED, image->module->source, (hd_span){0, 0},
                      "the word at 0x%" PRIx32 " of '%s' is what a relocation of an unknown kind makes of '%s'",
                      r->offset, s->name, r->symbol == HD_NONE ? "?" : of->symbols[r->symbol].name);
            return false;
        }
        if (!hd_machine_symbol_address(image, of, r->symbol, &address))
            continue;
        address += (uint64_t)r->addend;
        memcpy(a->bytes + r->offset, &address, sizeof address);
    }
    return true;
}

bool hd_machine_image_load(hd_image *image, hd_diagnostics *diagnostics)
{
    const hd_module *m = image->module;
    bool good = true;
    hd_memory_align_shared(image->memory);
    for (uint32_t f = 0; f < m->functions.count; f++) {
        const hd_machine_layout *layout = hd_machine_layout_of(m->functions.items[f]);
        const hd_machine_image *of = layout ? layout->image : NULL;
        for (uint32_t i = 0; of && i < of->section_count; i++)
            good = place(image, &of->sections[i], diagnostics) && good;
    }
    for (uint32_t f = 0; f < m->functions.count && good; f++) {
        const hd_machine_layout *layout = hd_machine_layout_of(m->functions.items[f]);
        for (uint32_t i = 0; layout && i < layout->image->section_count && good; i++)
            good = relocate(image, layout->image, &layout->image->sections[i], diagnostics);
    }
    return good;
}

/* The stack of a thread, as the toolkit knows it: not of calls that are recursive (all bits are set) or by address. */
static uint32_t stack_bytes(const hd_function *function, const hd_machine_layout *l)
{
    bool is_recursive = l->stack_bytes == UINT32_MAX;
    uint32_t known = !is_recursive && l->stack_bytes > l->frame_bytes ? l->stack_bytes : l->frame_bytes;
    bool is_open = (is_recursive || function->machine->calls_by_register) && known < HD_MACHINE_DRIVER_STACK_BYTES;
    return is_open ? HD_MACHINE_DRIVER_STACK_BYTES : known;
}

/* ---- a kernel ---------------------------------------------------------------------------------------------------- */

hd_machine_kernel hd_machine_kernel_of(const hd_function *function, const hd_image *image)
{
    const hd_machine_layout *l = hd_machine_layout_of(function);
    hd_machine_kernel k = {.sm = function->machine->sm};
    if (!l)
        return k;
    k.sm = l->image->sm ? l->image->sm : k.sm;
    k.parameter_base = l->has_parameters ? l->parameter_base : 0;
    k.parameter_bytes = l->parameter_bytes;
    k.shared_bytes = l->shared_bytes;
    if (k.sm >= HD_MACHINE_FIRST_SM_WITH_RESERVE)
        k.shared_bytes += HD_MACHINE_RESERVED_SHARED_BYTES;
    k.local_bytes = stack_bytes(function, l);
    for (uint32_t i = 1; i < HD_MACHINE_BANKS; i++) {
        const hd_allocation *a = l->banks[i] == HD_NONE ? NULL : allocation_of(image, &l->image->sections[l->banks[i]]);
        if (a)
            k.banks[i] = (hd_machine_bank){a->bytes, (uint32_t)a->size, a->base};
    }
    return k;
}
