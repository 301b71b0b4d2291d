/* Registers per thread of machine code: see machine.h. A listing states them as SHI_REGISTERS, EIATTR_REGCOUNT or REG:,
 * or not at all. ptxas gives a kernel the registers that its code names and, since Volta, two more: so in all 172
 * functions since sm_70, and all 46 up to sm_61, of which both were compared, and in those of the tests' listings. */
#include "ir/machine.h"

#include "ir/architected.h"
#include "ir/machine_slots.h"

/* Whether it takes or returns registers while it runs: its number at launch is another than that of its names. */
static bool changes_number(const hd_function *f)
{
    static const char opcode[] = "USETMAXREG";
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const char *spelling = hd_names_text(&f->module->names, hd_insn_form(f, &f->instructions.items[i])->spelling);
        if (strncmp(spelling, opcode, strlen(opcode)) == 0)
            return true;
    }
    return false;
}

static const char *why_not_derived(const hd_function *f)
{
    const hd_machine_function *m = f->machine;
    if (m->traced)
        return "a trace shows only what was executed";
    if (!m->generation)
        return "the listing does not say for which architecture it is";
    if (m->cut)
        return "the listing lacks a part of the code";
    if (m->calls_out)
        return "it calls code that the listing does not hold";
    if (m->unknown_form)
        return "an instruction is not in the table, and may access registers that it does not name";
    return changes_number(f) ? "the code changes their number (USETMAXREG)" : NULL;
}

hd_machine_count hd_machine_count_of(const hd_function *f, uint32_t stated)
{
    enum { SINCE_VOLTA = 2 };
    const hd_machine_function *m = f->machine;
    hd_machine_count count = {.number = f->module->given_registers, .from = HD_MACHINE_COUNT_GIVEN};
    if (count.number)
        return count;
    stated = stated ? stated : m->allocated;
    if (stated)
        return (hd_machine_count){.number = stated, .from = HD_MACHINE_COUNT_STATED};
    const char *why = why_not_derived(f);
    if (why)
        return (hd_machine_count){.unknown = why};
    count.number = m->registers + (m->generation >= HD_MACHINE_VOLTA ? SINCE_VOLTA : 0);
    if (count.number > HD_GENERAL_REGISTERS)
        count.number = HD_GENERAL_REGISTERS;
    count.from = HD_MACHINE_COUNT_DERIVED;
    return count;
}

void hd_machine_check_given(const hd_function *f)
{
    hd_module *m = f->module;
    if (!m->given_registers || f->machine->registers <= m->given_registers || changes_number(f))
        return;
    hd_report(m->diagnostics, HD_DIAG_TOO_FEW_REGISTERS, m->source, f->header_span,
              "--registers=%u: the code of '%s' names %u registers", m->given_registers,
              hd_names_text(&m->names, f->name), f->machine->registers);
}

void hd_machine_assume(hd_function *f, uint32_t sm)
{
    if (f->machine->generation)
        return;
    hd_machine_function *known = hd_arena_copy(&f->module->arena, f->machine, sizeof *known);
    known->generation = hd_sass_generation(sm);
    f->machine = known;
}
