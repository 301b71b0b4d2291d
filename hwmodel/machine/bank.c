/* Constant banks at a launch. Bank 0 has what the driver puts there: the shape of the grid, the stack pointer,
 * windows, and the parameters; where, by architecture, is known from code of ptxas 13.0, which was executed with all
 * else poisoned. */
#include "hwmodel/machine/decoder.h"

/* Offsets in bank 0; HD_NONE: not there. */
typedef struct layout {
    uint32_t from; /* the first architecture */
    uint32_t block, grid, stack, descriptor, shared_window, local_window, workspace, constants, parameters;
} layout;
enum { USER_BANK = 3 }; /* of __constant__ variables */
static const layout layouts[] = {
    {70, 0x0, 0xc, 0x28, HD_NONE, 0x18, 0x20, 0x8c, 0x50, 0x160},
    {80, 0x0, 0xc, 0x28, 0x118, 0x18, 0x20, 0x8c, 0x50, 0x160},
    {90, 0x0, 0xc, 0x28, 0x208, 0x18, 0x20, 0x44, 0xd0, 0x210},
    {100, 0x360, 0x370, 0x37c, 0x358, HD_NONE, 0x2f8, HD_NONE, 0x120, 0x380},
};

static const layout *layout_of(uint32_t sm)
{
    uint32_t at = sizeof layouts / sizeof *layouts - 1;
    while (at && sm < layouts[at].from)
        at--;
    return &layouts[at];
}

static uint32_t parameter_base(const hd_machine_kernel *k)
{
    return k->parameter_base ? k->parameter_base : layout_of(k->sm)->parameters;
}

static bool is_in(uint32_t at, uint32_t begin, uint32_t bytes) { return begin != HD_NONE && at - begin < bytes; }

/* A byte that the driver sets; false: it is none of these. `cta` may be NULL. */
static bool driver_byte(const hd_machine_kernel *k, const hd_cta *cta, uint32_t at, unsigned char *byte)
{
    const layout *l = layout_of(k->sm);
    uint64_t value = 0;
    uint32_t begin = 0;
    if (is_in(at, l->block, 12)) {
        begin = l->block + (at - l->block) / 4 * 4;
        value = cta ? cta->grid->block[(at - l->block) / 4] : 0;
    } else if (is_in(at, l->grid, 12)) {
        begin = l->grid + (at - l->grid) / 4 * 4;
        value = cta ? cta->grid->grid[(at - l->grid) / 4] : 0;
    } else if (is_in(at, l->stack, 4)) {
        begin = l->stack;
        value = (k->local_bytes + 15) / 16 * 16;
    } else if (is_in(at, l->descriptor, 8)) {
        begin = l->descriptor;
    } else if (is_in(at, l->shared_window, 8)) {
        begin = l->shared_window;
        value = cta ? cta->memory->shared_window : 0;
    } else if (is_in(at, l->local_window, 8)) {
        begin = l->local_window;
        value = cta ? cta->memory->local_window : 0;
    } else if (is_in(at, l->workspace, 8)) { /* %envreg1 and %envreg2: the upper half is first */
        begin = l->workspace;
        value = cta ? cta->grid->workspace << 32 | cta->grid->workspace >> 32 : 0;
    } else if (is_in(at, l->constants, 8)) { /* where generic addresses of constants count from */
        begin = l->constants;
        value = k->banks[USER_BANK].address;
    } else {
        return false;
    }
    *byte = (unsigned char)(value >> (8 * (at - begin)));
    return true;
}

static bool bank_byte(const hd_machine_kernel *k, const hd_cta *cta, uint32_t bank, uint32_t at, unsigned char *byte)
{
    uint32_t base = parameter_base(k);
    if (!bank && driver_byte(k, cta, at, byte))
        return true;
    if (!bank && is_in(at, base, (k->parameter_bytes + 3) / 4 * 4)) { /* words are read whole */
        *byte = cta && at - base < k->parameter_bytes ? cta->grid->parameters[at - base] : 0;
        return true;
    }
    const hd_machine_bank *image = bank < HD_MACHINE_BANKS ? &k->banks[bank] : NULL;
    if (!bank || !image || at >= image->size)
        return false;
    *byte = image->bytes ? image->bytes[at] : 0;
    return true;
}

bool hd_machine_bank_has(const hd_machine_kernel *kernel, uint32_t bank, int64_t offset, uint32_t bytes)
{
    unsigned char byte;
    for (uint32_t i = 0; i < bytes; i++)
        if (offset < 0 || offset > UINT16_MAX || !bank_byte(kernel, NULL, bank, (uint32_t)offset + i, &byte))
            return false;
    return true;
}

void hd_machine_read_bank(const hd_cta *cta, uint32_t bank, uint32_t offset, void *to, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        bank_byte(cta->program->machine, cta, bank, offset + i, (unsigned char *)to + i);
}
