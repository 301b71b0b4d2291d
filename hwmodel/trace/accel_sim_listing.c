/* The listing of a trace's code: an instruction's operands are those at the same address of the function of the same
 * name. */
#include "hwmodel/trace/accel_sim.h"

#include "ir/machine.h"

typedef struct joiner {
    hd_traced *t;
    const hd_function *f;
} joiner;

/* Addresses ascend in a function. */
static const hd_instruction *find_instruction(const hd_function *f, uint64_t address)
{
    uint32_t low = 0, high = f->instructions.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (f->machine->lines[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < f->instructions.count && f->machine->lines[low].address == address ? &f->instructions.items[low]
                                                                                    : NULL;
}

static bool is_general(const hd_function *f, const hd_operand *o)
{
    return o->kind == HD_OPERAND_REGISTER && f->registers.items[o->value].type == HD_TYPE_B32;
}

static bool names_register(const hd_function *f, const hd_instruction *insn, uint32_t number)
{
    HD_INSN_REGISTERS (f, insn, o)
        if (is_general(f, o) && f->registers.items[o->value].index == number)
            return true;
    return false;
}

/* NULL: the listing's instruction is that of the trace. */
static const char *difference(const joiner *j, const hd_traced_code *c, const hd_instruction *insn)
{
    if (!insn)
        return "no instruction at this address";
    const char *spelling = hd_names_text(&j->f->module->names, hd_insn_form(j->f, insn)->spelling);
    uint32_t length = c->opcode.end - c->opcode.begin;
    if (strlen(spelling) != length || memcmp(spelling, j->t->source->text + c->opcode.begin, length) != 0)
        return "another instruction at this address";
    for (uint32_t i = 0; i < c->list.count; i++)
        if (c->registers[i] != 255 && !names_register(j->f, insn, c->registers[i]))
            return "other registers at this address";
    return NULL;
}

static void add_operand(const joiner *j, hd_traced_code *c, const hd_operand *first, uint32_t words, uint8_t flag)
{
    uint32_t number = j->f->registers.items[first->value].index;
    if (first->flags & flag)
        c->operands[c->operand_count++] = (hd_traced_operand){(uint8_t)number, (uint8_t)words, flag == HD_OPERAND_DEF};
}

static void take_operands(const joiner *j, hd_traced_code *c, const hd_instruction *insn)
{
    const hd_operand *o = hd_insn_operands(j->f, insn), *end = o + insn->operand_count;
    c->operands = HD_ARENA_ARRAY(&j->t->arena, hd_traced_operand, 2u * insn->operand_count + 1);
    c->operand_count = 0;
    for (uint32_t words; o < end; o += words ? words : 1) {
        words = 0;
        bool several = o->kind == HD_OPERAND_VECTOR && o->count && is_general(j->f, o + 1);
        o += several;
        if (!is_general(j->f, o))
            continue;
        words = several ? o[-1].count : 1;
        add_operand(j, c, o, words, HD_OPERAND_DEF);
        add_operand(j, c, o, words, HD_OPERAND_USE);
    }
    c->slots = hd_machine_slots_of(j->f, (uint32_t)(insn - j->f->instructions.items));
}

static bool fits(const joiner *j)
{
    for (uint32_t i = 0; i < j->t->code.count; i++)
        if (difference(j, &j->t->code.items[i], find_instruction(j->f, j->t->code.items[i].pc)))
            return false;
    return true;
}

/* The function of that name, for the trace's chip; of several, one that has the trace's code. */
static const hd_function *find_function(hd_traced *t, const hd_module *listing)
{
    const hd_function *found = NULL;
    for (uint32_t i = 0; i < listing->functions.count; i++) {
        const hd_function *f = listing->functions.items[i];
        bool named = f->machine && strcmp(hd_names_text(&listing->names, f->name), t->kernel) == 0;
        if (!named || (t->sm && f->machine->sm && f->machine->sm != t->sm))
            continue;
        found = f;
        if (fits(&(joiner){t, f}))
            break;
    }
    return found;
}

void hd_traced_join(hd_traced *t, const hd_module *listing)
{
    joiner j = {.t = t, .f = find_function(t, listing)};
    if (!j.f) {
        hd_report(t->diagnostics, HD_DIAG_BAD_TRACE, NULL, (hd_span){0, 0},
                  "%s has no function '%s' for the trace's architecture (sm_%u; 0: the trace does not name it)",
                  listing->source->name, t->kernel, t->sm);
        return;
    }
    for (uint32_t i = 0; i < t->code.count && !hd_diagnostics_full(t->diagnostics); i++) {
        hd_traced_code *c = &t->code.items[i];
        const hd_instruction *insn = find_instruction(j.f, c->pc);
        const char *wrong = difference(&j, c, insn);
        if (wrong)
            hd_report(t->diagnostics, HD_DIAG_BAD_TRACE, t->source, c->line, "the listing %s has %s",
                      listing->source->name, wrong);
        else if (!(insn->flags & HD_INSN_OPAQUE) && !(hd_insn_form(j.f, insn)->behaviour & HD_BEHAVE_CALL))
            take_operands(&j, c, insn);
    }
    t->has_listing = true;
}
