/* Forms of machine code, control codes, special registers: see machine.h. Control codes are decoded from the text when
 * asked for: most users of a listing never do. */
#include "ir/machine.h"
#include "base/search.h"
#include "ir/sregs.h"

/* ---- forms ------------------------------------------------------------------------------------------------------- */

static bool opcode_is(const hd_sass_row *row, const char *const *names)
{
    for (; *names; names++)
        if (strncmp(row->opcode, *names, strlen(*names)) == 0)
            return true;
    return false;
}

/* Lanes of a warp exchange values. */
static bool is_warp_wide(const hd_sass_row *row)
{
    static const char *const names[] = {"SHFL", "VOTE", "MATCH", "REDUX", "CREDUX", "ELECT",    "MOVM", "HMMA",
                                        "IMMA", "BMMA", "DMMA",  "QMMA",  "LDSM",   "WARPSYNC", NULL};
    return row->unit == HD_SASS_UNIT_TENSOR || opcode_is(row, names);
}

/* The result differs between lanes even if all operands are equal. */
static bool is_divergent(const hd_sass_row *row)
{
    static const char *const names[] = {"SHFL", "MATCH", "LDTM",  "P2R",    "LDSM", "ELECT",
                                        "MOVM", "BMOV",  "PIXLD", "ISBERD", "IPA",  NULL};
    return row->access == HD_SASS_ACCESS_ATOMIC || (opcode_is(row, names) && row->unit != HD_SASS_UNIT_UNIFORM);
}

static uint32_t memory_behaviour(const hd_sass_row *row)
{
    uint32_t texture =
        row->space == HD_SASS_SPACE_TEXTURE || row->space == HD_SASS_SPACE_SURFACE ? HD_BEHAVE_TEXTURE : 0;
    switch ((hd_sass_access)row->access) {
    case HD_SASS_ACCESS_NONE: return 0;
    case HD_SASS_ACCESS_LOAD: return HD_BEHAVE_LOAD | texture;
    case HD_SASS_ACCESS_STORE: return HD_BEHAVE_STORE | texture;
    case HD_SASS_ACCESS_ATOMIC:
    case HD_SASS_ACCESS_REDUCE: return HD_BEHAVE_ATOMIC | texture;
    case HD_SASS_ACCESS_COPY: return HD_BEHAVE_LOAD | HD_BEHAVE_STORE | HD_BEHAVE_ASYNC;
    case HD_SASS_ACCESS_FENCE: return HD_BEHAVE_FENCE;
    case HD_SASS_ACCESS_CONTROL: return HD_BEHAVE_VOLATILE;
    }
    return 0;
}

static bool is_traced(hd_machine_variant variant)
{
    return variant == HD_MACHINE_TRACED || variant == HD_MACHINE_TRACED_JUMP;
}

static uint32_t control_behaviour(const hd_sass_row *row, hd_machine_variant variant)
{
    switch ((hd_sass_control)row->control) {
    case HD_SASS_CONTROL_NONE: return 0;
    case HD_SASS_CONTROL_BRANCH:
    case HD_SASS_CONTROL_INDIRECT:
    case HD_SASS_CONTROL_POP: return HD_BEHAVE_BRANCH;
    case HD_SASS_CONTROL_CALL:
        return variant == HD_MACHINE_LOCAL || is_traced(variant) ? HD_BEHAVE_BRANCH
                                                                 : HD_BEHAVE_CALL | HD_BEHAVE_VOLATILE;
    case HD_SASS_CONTROL_RETURN: return is_traced(variant) ? HD_BEHAVE_BRANCH : HD_BEHAVE_RETURN;
    case HD_SASS_CONTROL_EXIT:
    case HD_SASS_CONTROL_KILL: return HD_BEHAVE_EXIT;
    case HD_SASS_CONTROL_BARRIER: return HD_BEHAVE_BARRIER;
    case HD_SASS_CONTROL_YIELD: return HD_BEHAVE_VOLATILE | HD_BEHAVE_YIELD;
    case HD_SASS_CONTROL_WARP: return HD_BEHAVE_VOLATILE | HD_BEHAVE_WARP | HD_BEHAVE_MEET;
    case HD_SASS_CONTROL_TRAP:
    case HD_SASS_CONTROL_PUSH:
    case HD_SASS_CONTROL_SYNC:
        return HD_BEHAVE_VOLATILE | (variant == HD_MACHINE_MEETING ? HD_BEHAVE_WARP | HD_BEHAVE_MEET : 0);
    case HD_SASS_CONTROL_LEAVE:
    case HD_SASS_CONTROL_WAIT:
    case HD_SASS_CONTROL_OWN: return HD_BEHAVE_VOLATILE;
    }
    return 0;
}

static uint32_t behaviour_of(const hd_machine_form *machine)
{
    const hd_sass_row *row = machine->row;
    if (machine->variant == HD_MACHINE_NEVER)
        return 0;
    uint32_t jump = machine->variant == HD_MACHINE_TRACED_JUMP ? HD_BEHAVE_BRANCH : 0;
    if (!row)
        return HD_BEHAVE_VOLATILE | jump;
    uint32_t behaviour = jump | memory_behaviour(row) | control_behaviour(row, (hd_machine_variant)machine->variant);
    if (is_warp_wide(row))
        behaviour |= HD_BEHAVE_WARP | HD_BEHAVE_MEET;
    if (is_divergent(row))
        behaviour |= HD_BEHAVE_DIVERGENT;
    if (hd_sass_form_has(machine->sass, ".S") && machine->generation < 50 &&
        !is_traced((hd_machine_variant)machine->variant))
        behaviour |= HD_BEHAVE_BRANCH;
    return behaviour;
}

static uint8_t space_of(const hd_sass_row *row)
{
    static const uint8_t spaces[] = {
        [HD_SASS_SPACE_GLOBAL] = HD_SPACE_GLOBAL, [HD_SASS_SPACE_SHARED] = HD_SPACE_SHARED,
        [HD_SASS_SPACE_LOCAL] = HD_SPACE_LOCAL,   [HD_SASS_SPACE_CONSTANT] = HD_SPACE_CONST,
        [HD_SASS_SPACE_TEXTURE] = HD_SPACE_TEX,   [HD_SASS_SPACE_TENSOR] = HD_SPACE_NONE,
    };
    return row && row->space < sizeof spaces ? spaces[row->space] : HD_SPACE_NONE;
}

static uint32_t new_form(hd_module *module, hd_name spelling, uint32_t generation, hd_machine_variant variant,
                         uint32_t next)
{
    hd_machine_form *machine = HD_ARENA_NEW(&module->arena, hd_machine_form);
    machine->sass = hd_sass_form_of(hd_names_text(&module->names, spelling), hd_names_length(&module->names, spelling),
                                    generation, &module->arena);
    machine->row = hd_sass_form_row(machine->sass);
    machine->generation = generation;
    machine->variant = (uint8_t)variant;
    machine->next = next;
    hd_form form = {.spelling = spelling, .opcode = HD_OP_MACHINE, .vector = 1, .machine = machine};
    form.flags = machine->row ? 0 : HD_FORM_UNKNOWN_OPCODE;
    form.space = space_of(machine->row);
    form.behaviour = behaviour_of(machine);
    hd_array_push(&module->forms, form);
    return module->forms.count - 1;
}

uint32_t hd_machine_form_of(hd_module *module, hd_name spelling, uint32_t generation, hd_machine_variant variant)
{
    while (module->form_of_name.count <= spelling)
        hd_array_push(&module->form_of_name, 0);
    uint32_t newest = module->form_of_name.items[spelling];
    for (uint32_t form = newest - 1; form != HD_NONE; form = module->forms.items[form].machine->next) {
        const hd_machine_form *machine = module->forms.items[form].machine;
        if (machine->generation == generation && machine->variant == variant)
            return form;
    }
    uint32_t form = new_form(module, spelling, generation, variant, newest - 1);
    module->form_of_name.items[spelling] = form + 1;
    return form;
}

hd_unit hd_machine_form_unit(const hd_machine_form *form)
{
    static const uint8_t units[] = {
        [HD_SASS_UNIT_ALU] = HD_UNIT_INT,     [HD_SASS_UNIT_FMA] = HD_UNIT_SP,
        [HD_SASS_UNIT_FP64] = HD_UNIT_DP,     [HD_SASS_UNIT_FP16] = HD_UNIT_SP,
        [HD_SASS_UNIT_XU] = HD_UNIT_SFU,      [HD_SASS_UNIT_LSU] = HD_UNIT_LDST,
        [HD_SASS_UNIT_TEX] = HD_UNIT_TEX,     [HD_SASS_UNIT_TENSOR] = HD_UNIT_TENSOR,
        [HD_SASS_UNIT_UNIFORM] = HD_UNIT_INT, [HD_SASS_UNIT_BRANCH] = HD_UNIT_CTRL,
        [HD_SASS_UNIT_MIO] = HD_UNIT_LDST,    [HD_SASS_UNIT_CONTROL] = HD_UNIT_CTRL,
    };
    return form->row ? (hd_unit)units[form->row->unit] : HD_UNIT_NONE;
}

bool hd_machine_is_plain_load(const hd_form *form)
{
    const hd_machine_form *m = form->machine;
    bool loads = m && m->row && m->row->access == HD_SASS_ACCESS_LOAD && m->row->unit == HD_SASS_UNIT_LSU;
    return loads && form->behaviour == HD_BEHAVE_LOAD && !hd_sass_form_has(m->sass, ".STRONG") &&
           !hd_sass_form_has(m->sass, ".VOLATILE") && !hd_sass_form_has(m->sass, ".MMIO") &&
           !hd_sass_form_has(m->sass, ".CV") && m->row->control == HD_SASS_CONTROL_NONE;
}

bool hd_machine_loads_read_only(const hd_machine_form *m)
{
    if (!m->row || m->row->access != HD_SASS_ACCESS_LOAD)
        return false;
    return m->row->space == HD_SASS_SPACE_TEXTURE ||
           (strcmp(m->row->opcode, "LDG") == 0 &&
            (hd_sass_form_has(m->sass, ".CONSTANT") || hd_sass_form_has(m->sass, ".CI")));
}

bool hd_machine_is_move(const hd_form *form)
{
    const hd_machine_form *m = form->machine;
    if (!m || !m->row)
        return false;
    const char *opcode = m->row->opcode;
    return strncmp(opcode, "MOV", 3) == 0 || strncmp(opcode, "UMOV", 4) == 0 || hd_sass_form_has(m->sass, ".MOV");
}

bool hd_machine_waits_for_others(const hd_machine_form *m)
{
    if (!m->row || m->variant == HD_MACHINE_NEVER)
        return false;
    return m->row->control == HD_SASS_CONTROL_WAIT || m->row->control == HD_SASS_CONTROL_TRAP ||
           strcmp(m->row->opcode, "WARPGROUP") == 0;
}

const char *hd_machine_obstacle(const hd_function *f, uint32_t *ordinal)
{
    const hd_machine_function *machine = f->machine;
    uint32_t at = machine->unknown_target ? machine->unknown_target
                  : machine->unknown_form ? machine->unknown_form
                                          : machine->cut;
    *ordinal = at ? at - 1 : 0;
    if (machine->unknown_target)
        return "has targets that this listing does not contain (of tables, nvdisasm prints labels)";
    if (machine->unknown_form)
        return "is not in the instruction table, and may access registers that it does not name";
    return machine->cut ? "is at an end of the listing, which is cut: code before or after it is missing" : NULL;
}

/* ---- control codes ----------------------------------------------------------------------------------------------- */

/* The 21 bits of Maxwell and later. */
static hd_machine_control decode_control(uint32_t bits)
{
    return (hd_machine_control){.known = true,
                                .stall_cycles = bits & 15,
                                .yield = !(bits >> 4 & 1),
                                .write_barrier = bits >> 5 & 7,
                                .read_barrier = bits >> 8 & 7,
                                .wait_mask = bits >> 11 & 63,
                                .reuse = bits >> 17 & 15};
}

static uint64_t hexadecimal(const char *text)
{
    uint64_t value = 0;
    for (; (*text >= '0' && *text <= '9') || (*text >= 'a' && *text <= 'f'); text++)
        value = value << 4 | (uint64_t)(*text <= '9' ? *text - '0' : *text - 'a' + 10);
    return value;
}

/* [B0-2---:R-:W1:Y:S04], after an optional reuse field. */
static hd_machine_control read_field(const char *text)
{
    hd_machine_control c = {.known = true, .write_barrier = 7, .read_barrier = 7};
    const char *at = text + 1;
    if (*at != 'B') {
        for (uint32_t i = 0; i < 4; i++)
            c.reuse |= (uint8_t)((at[i] == 'R') << i);
        at += 5;
    }
    for (uint32_t i = 0; i < 6; i++)
        c.wait_mask |= (uint8_t)((at[1 + i] != '-') << i);
    at += 9; /* B, six places, :R */
    c.read_barrier = *at == '-' ? 7 : (uint8_t)(*at - '0');
    c.write_barrier = at[3] == '-' ? 7 : (uint8_t)(at[3] - '0');
    c.yield = at[5] == 'Y';
    c.stall_cycles = (uint8_t)((at[8] - '0') * 10 + at[9] - '0');
    return c;
}

/* 02:1:-:Y:d of maxas and TuringAs: barriers waited for as a mask, read and write barrier, counted from 1, the hint to
 * yield, stall cycles. */
static hd_machine_control read_short_field(const char *text)
{
    hd_machine_control c = {.known = true, .write_barrier = 7, .read_barrier = 7};
    c.wait_mask = *text == '-' ? 0 : (uint8_t)(hexadecimal(text) & 0x3f);
    c.read_barrier = text[3] >= '1' && text[3] <= '6' ? (uint8_t)(text[3] - '1') : 7;
    c.write_barrier = text[5] >= '1' && text[5] <= '6' ? (uint8_t)(text[5] - '1') : 7;
    c.yield = text[7] == 'Y';
    c.stall_cycles = (uint8_t)(hexadecimal(text + 9) & 15);
    return c;
}

hd_machine_control hd_machine_control_of(const hd_function *f, uint32_t ordinal)
{
    const hd_machine_line *line = &f->machine->lines[ordinal];
    const char *text = f->module->source->text + (line->control == HD_NONE ? 0 : line->control);
    if (line->control == HD_NONE)
        return (hd_machine_control){.write_barrier = 7, .read_barrier = 7};
    if (*text == '[')
        return read_field(text);
    if (f->machine->encoding == HD_MACHINE_FIELD)
        return read_short_field(text);
    uint64_t word = hexadecimal(strchr(text, 'x') + 1);
    if (f->machine->generation >= 70)
        return decode_control((uint32_t)(word >> 41) & 0x1fffff);
    return decode_control((uint32_t)(word >> 21 * ((line->address >> 3 & 3) - 1)) & 0x1fffff);
}

bool hd_machine_word_of(const hd_function *f, uint32_t ordinal, uint64_t *word)
{
    static const char before[] = "/* 0x";
    const char *text = f->module->source->text + f->instructions.items[ordinal].span.end;
    const char *at = memmem(text, strcspn(text, "\n"), before, strlen(before));
    if (f->machine->generation < 70 || !at)
        return false;
    *word = hexadecimal(at + strlen(before));
    return true;
}

/* ---- special registers ------------------------------------------------------------------------------------------- */

int hd_machine_special(const char *text, size_t length, uint32_t *component)
{
    static const struct {
        const char *machine, *ptx;
    } names[] = {
        {"SR_TID", "%tid"},
        {"SR_CTAID", "%ctaid"},
        {"SR_NTID", "%ntid"},
        {"SR_LANEID", "%laneid"},
        {"SR_EQMASK", "%lanemask_eq"},
        {"SR_LTMASK", "%lanemask_lt"},
        {"SR_LEMASK", "%lanemask_le"},
        {"SR_GTMASK", "%lanemask_gt"},
        {"SR_GEMASK", "%lanemask_ge"},
        {"SR_CLOCKLO", "%clock"},
        {"SR_CLOCKHI", "%clock_hi"},
        {"SR_VIRTUALSMID", "%smid"},
        {"SR_SMEMSZ", "%total_smem_size"},
        {"SR_GLOBALTIMERLO", "%globaltimer_lo"},
        {"SR_GLOBALTIMERHI", "%globaltimer_hi"},
        {"SR_CgaCtaId", "%cluster_ctarank"},
    };
    size_t stem = length > 2 && text[length - 2] == '.' && text[length - 1] >= 'X' && text[length - 1] <= 'Z'
                      ? length - 2
                      : length;
    *component = stem < length ? (uint32_t)(text[length - 1] - 'X') : HD_NONE;
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        if (hd_is_name(text, stem, names[i].machine))
            return hd_sreg_from_spelling(names[i].ptx, strlen(names[i].ptx));
    return -1;
}
