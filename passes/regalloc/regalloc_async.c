/* Registers of asynchronous instructions (ir/asynchronous.def): which of them can be spilled, and where they need a
 * register nevertheless.
 *
 * Nothing may access a register in flight, so spill code surrounds the whole span, called a pin: from the first
 * asynchronous instruction that takes the register to the wait that covers the last one, in one block, without other
 * accesses in between. The value is loaded before it (for wgmma, before the preceding wgmma.fence that orders register
 * writes) and stored after the wait. A register with any other span in flight is not spilled.
 *
 * Linear in operands, and in the registers in flight at each commit and wait.
 */
#include "passes/regalloc/regalloc_work.h"
#include "base/search.h"

#include "ir/asynchronous.h"

enum { NO_PIN = HD_NONE };

typedef struct finder {
    hd_regalloc *ra;
    const hd_function *f;
    uint32_t *open;      /* by register: index of its pin, or NO_PIN */
    uint32_t *touched;   /* by register: 1 + the last instruction that names it */
    hd_u32_array flying; /* registers with an open pin */
    hd_u32_array ages;   /* by pin: commits after its last instruction */
    uint32_t fence;      /* 1 + the last wgmma.fence of the block */
} finder;

static void forbid_spill(finder *s, uint32_t reg) { s->ra->flags.items[reg] = HD_NO_SPILL; }

static uint8_t queue_at(const finder *s, uint32_t ordinal)
{
    return hd_insn_async(s->f, &s->f->instructions.items[ordinal]).queue;
}

/* The instruction puts the operand in flight. */
static void put_in_flight(finder *s, uint32_t ordinal, const hd_operand *o, uint8_t queue)
{
    const hd_instruction *insn = &s->f->instructions.items[ordinal];
    uint32_t reg = o->value, at = s->open[reg];
    if (insn->guard != HD_NONE || insn->flags & HD_INSN_OPAQUE || hd_operand_is_part(s->f, o))
        forbid_spill(s, reg);
    if (at == NO_PIN) {
        uint32_t begin = queue == HD_ASYNC_GROUP ? s->fence : ordinal + 1;
        if (!begin || s->touched[reg] > begin)
            forbid_spill(s, reg);
        at = s->open[reg] = s->ra->pins.count;
        hd_array_push(&s->ra->pins, (hd_ra_pin){.reg = reg,
                                                .begin = begin ? begin - 1 : ordinal,
                                                .first = ordinal,
                                                .temporary = HD_NONE,
                                                .reads = o->flags & HD_OPERAND_USE});
        hd_array_push(&s->ages, 0u);
        hd_array_push(&s->flying, reg);
    } else if (queue_at(s, s->ra->pins.items[at].first) != queue) {
        forbid_spill(s, reg);
    }
    s->ages.items[at] = 0;
    s->ra->pins.items[at].writes |= (o->flags & HD_OPERAND_DEF) != 0;
}

static void end_pins(finder *s, uint32_t ordinal, hd_async wait)
{
    uint32_t kept = 0;
    for (uint32_t i = 0; i < s->flying.count; i++) {
        uint32_t reg = s->flying.items[i], at = s->open[reg];
        hd_ra_pin *pin = &s->ra->pins.items[at];
        if (queue_at(s, pin->first) != wait.queue ||
            (wait.queue == HD_ASYNC_GROUP && s->ages.items[at] <= wait.pending)) {
            s->flying.items[kept++] = reg;
            continue;
        }
        pin->last = ordinal;
        s->open[reg] = NO_PIN;
    }
    s->flying.count = kept;
}

static void commit(finder *s)
{
    for (uint32_t i = 0; i < s->flying.count; i++)
        s->ages.items[s->open[s->flying.items[i]]]++; /* other queues do not count commits */
}

static void look_at(finder *s, uint32_t ordinal)
{
    const hd_instruction *insn = &s->f->instructions.items[ordinal];
    hd_async what = hd_insn_async(s->f, insn);
    if (hd_insn_form(s->f, insn)->opcode == HD_OP_WGMMA_FENCE && insn->guard == HD_NONE)
        s->fence = ordinal + 1;
    if (what.part == HD_ASYNC_BEGIN) {
        HD_ASYNC_DATA (s->f, insn, o)
            put_in_flight(s, ordinal, o, what.queue);
    } else if (what.part == HD_ASYNC_COMMIT) {
        commit(s);
    } else if (what.part == HD_ASYNC_WAIT) {
        end_pins(s, ordinal, what);
    } else {
        HD_INSN_REGISTERS (s->f, insn, o)
            if (s->open[o->value] != NO_PIN)
                forbid_spill(s, o->value);
    }
    HD_INSN_REGISTERS (s->f, insn, o)
        s->touched[o->value] = ordinal + 1;
}

static int compare_pins(const void *left, const void *right)
{
    const hd_ra_pin *a = left, *b = right;
    if (a->reg != b->reg)
        return a->reg < b->reg ? -1 : 1;
    return (a->first > b->first) - (a->first < b->first);
}

void hd_regalloc_pins(hd_regalloc *ra)
{
    const hd_function *f = ra->function;
    finder s = {.ra = ra, .f = f};
    hd_array_clear(&ra->pins);
    if (!ra->liveness->spans)
        return;
    s.open = hd_arena_alloc(ra->arena, ((size_t)f->registers.count + 1) * sizeof(uint32_t));
    memset(s.open, 0xff, f->registers.count * sizeof(uint32_t));
    s.touched = HD_ARENA_ARRAY(ra->arena, uint32_t, (size_t)f->registers.count + 1);
    for (uint32_t b = 0; b < ra->cfg->block_count; b++) {
        s.fence = 0;
        for (uint32_t i = ra->cfg->blocks[b].first; i < ra->cfg->blocks[b].end; i++)
            look_at(&s, i);
        while (s.flying.count) {
            uint32_t reg = hd_array_pop(&s.flying);
            forbid_spill(&s, reg);
            s.open[reg] = NO_PIN;
        }
    }
    hd_array_free(&s.flying);
    hd_array_free(&s.ages);
    if (ra->pins.count)
        qsort(ra->pins.items, ra->pins.count, sizeof *ra->pins.items, compare_pins);
}

uint32_t hd_regalloc_pin_from(const hd_regalloc *ra, uint32_t reg, uint32_t ordinal)
{
    uint32_t low = 0, high = ra->pins.count;
    HD_SEARCH(low, high, at,
              ra->pins.items[at].reg < reg || (ra->pins.items[at].reg == reg && ra->pins.items[at].last < ordinal));
    return low;
}
