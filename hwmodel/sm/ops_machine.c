/* Machine instructions, for ops.c: the class by opcode and unit, what an access is by its modifiers, control codes. */
#include "hwmodel/sm/ops.h"
#include "ir/machine.h"
#include "ir/machine_slots.h"

#include <stdlib.h>
#include <string.h>

static const struct {
    const char *opcode;
    uint8_t class;
} opcodes[] = {
#define HD_SM_MACHINE_OPCODE(opcode, class) {opcode, HD_MACHINE_CLASS_##class},
#include "hwmodel/sm/machine_opcodes.def"
};

static const struct {
    const char *opcode, *modifier;
    uint8_t early, late;
} exceptions[] = {
#define HD_SM_MACHINE_EXCEPTION(opcode, modifier, early, late) {opcode, modifier, early, late},
#include "hwmodel/sm/machine_opcodes.def"
};

static bool ends_with(const char *text, size_t length, const char *end)
{
    size_t n = strlen(end);
    return length > n && memcmp(text + length - n, end, n) == 0;
}

static uint8_t class_of_unit(const hd_sass_row *row)
{
    static const uint8_t classes[] = {
        [HD_SASS_UNIT_ALU] = HD_MACHINE_CLASS_MOVE,     [HD_SASS_UNIT_FMA] = HD_MACHINE_CLASS_FP_MAD,
        [HD_SASS_UNIT_FP64] = HD_MACHINE_CLASS_DP_MAD,  [HD_SASS_UNIT_FP16] = HD_MACHINE_CLASS_FP_MAD,
        [HD_SASS_UNIT_XU] = HD_MACHINE_CLASS_SFU,       [HD_SASS_UNIT_LSU] = HD_MACHINE_CLASS_MEMORY,
        [HD_SASS_UNIT_TEX] = HD_MACHINE_CLASS_MEMORY,   [HD_SASS_UNIT_TENSOR] = HD_MACHINE_CLASS_TENSOR,
        [HD_SASS_UNIT_UNIFORM] = HD_MACHINE_CLASS_MOVE, [HD_SASS_UNIT_BRANCH] = HD_MACHINE_CLASS_MOVE,
        [HD_SASS_UNIT_MIO] = HD_MACHINE_CLASS_MOVE,     [HD_SASS_UNIT_CONTROL] = HD_MACHINE_CLASS_MOVE,
    };
    return row->access != HD_SASS_ACCESS_NONE ? (uint8_t)HD_MACHINE_CLASS_MEMORY : classes[row->unit];
}

uint8_t hd_sm_machine_class(const hd_machine_form *form)
{
    if (!form->row || hd_sass_form_has(form->sass, ".MOV"))
        return HD_MACHINE_CLASS_MOVE;
    const char *name = form->row->opcode;
    size_t length = strcspn(name, ".");
    length -= ends_with(name, length, "32I") ? 3 : ends_with(name, length, "_32I") ? 4 : 0;
    length -= ends_with(name, length, "_") ? 1 : ends_with(name, length, "_N") ? 2 : 0;
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++)
        if (strlen(opcodes[i].opcode) == length && memcmp(opcodes[i].opcode, name, length) == 0)
            return opcodes[i].class;
    return class_of_unit(form->row);
}

static bool has(const hd_machine_form *form, const char *modifier) { return hd_sass_form_has(form->sass, modifier); }

uint16_t hd_sm_machine_bytes(const hd_machine_form *form)
{
    if (has(form, ".128") || has(form, ".U128") || has(form, ".B128"))
        return 16;
    if (has(form, ".64") || has(form, ".U64") || has(form, ".S64") || has(form, ".B64") || has(form, ".F64"))
        return 8;
    if (has(form, ".96"))
        return 12;
    if (has(form, ".U8") || has(form, ".S8") || has(form, ".8"))
        return 1;
    return has(form, ".U16") || has(form, ".S16") || has(form, ".16") ? 2 : 4;
}

uint16_t hd_sm_machine_traits(const hd_machine_form *form)
{
    const hd_sass_row *row = form->row;
    if (!row)
        return 0;
    bool bypasses = has(form, ".STRONG") || has(form, ".VOLATILE") || has(form, ".CG") || has(form, ".CV") ||
                    has(form, ".MMIO") || has(form, ".BYPASS");
    return (uint16_t)((row->access == HD_SASS_ACCESS_FENCE ? HD_SM_FENCE : 0) |
                      (row->access == HD_SASS_ACCESS_COPY ? HD_SM_LOAD : 0) | (bypasses ? HD_SM_BYPASS_L1 : 0) |
                      (has(form, ".CONSTANT") || has(form, ".CI") ? HD_SM_READ_ONLY : 0));
}

/* ---- control codes ----------------------------------------------------------------------------------------------- */

hd_machine_slots hd_sm_machine_slots(const hd_function *f, uint32_t ordinal)
{
    hd_machine_slots slots = hd_machine_slots_of(f, ordinal);
    if (hd_machine_control_of(f, ordinal).yield)
        for (uint32_t s = 0; s < HD_MACHINE_SLOTS; s++)
            slots.at[s].flagged = false;
    return slots;
}

/* DEPBAR.LE SB5, 0x3: the counter, and what it may have. */
static void read_counter(const hd_function *f, const hd_instruction *insn, hd_sm_control *to)
{
    const char *text = f->module->source->text + insn->span.begin, *counter = strstr(text, "SB");
    if (!counter || counter >= f->module->source->text + insn->span.end)
        return;
    to->counter = (uint8_t)(counter[2] - '0');
    to->most = (uint8_t)strtoul(counter + 4, NULL, 0);
}

static void find_exception(const hd_machine_form *form, hd_sm_control *to)
{
    if (!form->row)
        return;
    for (size_t i = 0; i < sizeof exceptions / sizeof *exceptions; i++) {
        size_t length = strlen(exceptions[i].opcode), own = strcspn(form->row->opcode, ".");
        if (length != own || memcmp(exceptions[i].opcode, form->row->opcode, length) != 0 ||
            (*exceptions[i].modifier && !has(form, exceptions[i].modifier)))
            continue;
        to->early = exceptions[i].early;
        to->late = exceptions[i].late;
    }
}

bool hd_sm_machine_control(const hd_function *f, uint32_t ordinal, hd_sm_control *to)
{
    const hd_instruction *insn = &f->instructions.items[ordinal];
    const hd_machine_form *form = hd_insn_machine(f, insn);
    hd_machine_control code = hd_machine_control_of(f, ordinal);
    enum { YIELD_CYCLES = 2 };
    uint8_t least = code.yield ? YIELD_CYCLES : 1;
    *to = (hd_sm_control){.gap_cycles = code.stall_cycles > least ? code.stall_cycles : least,
                          .write_counter = code.write_barrier,
                          .read_counter = code.read_barrier,
                          .wait_mask = code.wait_mask,
                          .counter = HD_SM_NO_COUNTER};
    if (form->row && strncmp(form->row->opcode, "DEPBAR", 6) == 0)
        read_counter(f, insn, to);
    find_exception(form, to);
    return code.known && f->machine->generation >= HD_MACHINE_VOLTA;
}
