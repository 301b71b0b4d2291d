/* Machine code in a session: what the cubin of a kernel says of it (ir/machine_image.h) becomes memory, the images of its
 * constant banks, and the places of its parameters. Relocations are applied here. The addresses of code are 0: no
 * instruction that would use one is executed (hwmodel/machine/machine.h).
 *
 * Variables of a cubin are placed once for a session, whatever kernels use them.
 */
#include "hwmodel/launch/launch_reader.h"
#include "ir/machine_image.h"

#include <inttypes.h>

/* The sections of an image in a session. */
struct hd_session_image {
    const hd_machine_image *image;
    uint64_t *addresses;   /* by section: GLOBAL */
    unsigned char **bytes; /* by section: GLOBAL, in memory, and BANK; NULL: none */
};

static bool place_sections(hd_session *s, hd_session_image *placed)
{
    const hd_machine_image *image = placed->image;
    placed->addresses = HD_ARENA_ARRAY(&s->arena, uint64_t, image->section_count + 1);
    placed->bytes = HD_ARENA_ARRAY(&s->arena, unsigned char *, image->section_count + 1);
    for (uint32_t i = 0; i < image->section_count; i++) {
        const hd_machine_section *section = &image->sections[i];
        if (!section->bytes)
            continue;
        if (section->kind == HD_MACHINE_SECTION_GLOBAL) {
            uint32_t at = hd_memory_allocate(&s->memory, section->name, HD_SPACE_GLOBAL, section->bytes,
                                             section->alignment, false);
            if (at == HD_NONE)
                return false;
            placed->addresses[i] = s->memory.allocations.items[at].base;
            placed->bytes[i] = s->memory.allocations.items[at].bytes;
        } else if (section->kind == HD_MACHINE_SECTION_BANK) {
            placed->bytes[i] = hd_arena_calloc(&s->arena, section->bytes);
        }
        if (section->initial && placed->bytes[i])
            memcpy(placed->bytes[i], section->initial, section->bytes);
    }
    return true;
}

static bool relocate(hd_session *s, const hd_session_image *placed, uint32_t index)
{
    const hd_machine_image *image = placed->image;
    const hd_machine_section *section = &image->sections[index];
    for (uint32_t i = 0; placed->bytes[index] && i < section->relocation_count; i++) {
        const hd_machine_relocation *r = &section->relocations[i];
        const hd_machine_symbol *symbol = r->symbol == HD_NONE ? NULL : &image->symbols[r->symbol];
        bool is_data = r->kind == HD_MACHINE_RELOCATION_64 || r->kind == HD_MACHINE_RELOCATION_G64;
        if (!is_data || !symbol) {
            hd_report(s->diagnostics, HD_DIAG_UNSUPPORTED, s->module->source, (hd_span){0, 0},
                      "the word at 0x%" PRIx32 " of '%s' is what a relocation of an unknown kind makes of '%s'",
                      r->offset, section->name, symbol ? symbol->name : "?");
            return false;
        }
        uint64_t value = symbol->section == HD_NONE || !placed->addresses[symbol->section]
                             ? 0
                             : placed->addresses[symbol->section] + symbol->offset + (uint64_t)r->addend;
        for (uint32_t k = 0; k < sizeof value && r->offset + k < section->bytes; k++)
            placed->bytes[index][r->offset + k] = (unsigned char)(value >> 8 * k);
    }
    return true;
}

static const hd_session_image *image_of(hd_session *s, const hd_machine_image *image)
{
    for (uint32_t i = 0; i < s->image_count; i++)
        if (s->images[i].image == image)
            return &s->images[i];
    if (!s->images)
        s->images = HD_ARENA_ARRAY(&s->arena, hd_session_image, s->module->image_count + 1);
    hd_session_image *placed = &s->images[s->image_count];
    placed->image = image;
    bool good = place_sections(s, placed);
    for (uint32_t i = 0; i < image->section_count && good; i++)
        good = relocate(s, placed, i);
    s->image_count += good;
    return good ? placed : NULL;
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

hd_program *hd_session_decode_machine(hd_session *s, hd_function *kernel)
{
    const hd_machine_layout *layout = hd_machine_layout_of(kernel);
    const hd_session_image *placed = image_of(s, layout->image);
    if (!placed)
        return NULL;
    hd_machine_kernel k = {
        .sm = layout->image->sm,
        .parameter_base = layout->parameter_base,
        .parameter_bytes = layout->parameter_bytes,
        .shared_bytes = layout->shared_bytes,
        .local_bytes = layout->stack_bytes > layout->frame_bytes ? layout->stack_bytes : layout->frame_bytes,
    };
    if (k.sm >= HD_MACHINE_FIRST_SM_WITH_RESERVE)
        k.shared_bytes += HD_MACHINE_RESERVED_SHARED_BYTES;
    for (uint32_t bank = 0; bank < HD_MACHINE_KERNEL_BANKS; bank++)
        if (layout->banks[bank] != HD_NONE)
            k.banks[bank] = (hd_machine_bank){placed->bytes[layout->banks[bank]],
                                              layout->image->sections[layout->banks[bank]].bytes};
    return hd_machine_program_new(s->module, kernel, &k, &s->image, s->diagnostics);
}
