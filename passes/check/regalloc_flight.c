/* The part of the verification that concerns asynchronous instructions: no other instruction may access a register in
 * flight, except those that named the same register in the original; and no inserted instruction may write a register
 * of a wgmma after the wgmma.fence that orders such writes.
 *
 * Locations are words of the register file, so that all names of a register count. Complexity: asynchronous
 * instructions times the instructions executed during their flights.
 */
#include "ir/asynchronous.h"
#include "passes/check/flights.h"
#include "passes/check/regalloc_proof.h"

typedef struct flight_check {
    hd_proof *p;
    hd_storage storage; /* of the allocated function */
    /* by word: 1 + the original register that the current asynchronous instruction has there; 0: none */
    uint32_t *taken;
} flight_check;

static const hd_instruction *original_of(const hd_proof *p, uint32_t ordinal)
{
    const hd_instruction *is = &p->allocated->instructions.items[ordinal];
    if (is->id >= p->original->next_instruction_id)
        return NULL;
    const hd_instruction *was = &p->original->instructions.items[p->ordinal_of[ordinal]];
    return was->id == is->id ? was : NULL;
}

static void mark(flight_check *c, uint32_t ordinal, bool taken)
{
    const hd_function *f = c->p->allocated;
    const hd_instruction *is = &f->instructions.items[ordinal], *was = original_of(c->p, ordinal);
    HD_ASYNC_DATA (f, is, o)
        HD_STORAGE_WORDS (&c->storage, o->value, word)
            c->taken[word] = taken ? 1 + hd_insn_operands(c->p->original, was)[o - hd_insn_operands(f, is)].value : 0;
}

static void check_instruction(flight_check *c, uint32_t ordinal)
{
    const hd_function *f = c->p->allocated;
    const hd_instruction *is = &f->instructions.items[ordinal], *was = original_of(c->p, ordinal);
    HD_INSN_REGISTERS (f, is, o)
        HD_STORAGE_WORDS (&c->storage, o->value, word) {
            if (!c->taken[word])
                continue;
            if (!was || hd_insn_operands(c->p->original, was)[o - hd_insn_operands(f, is)].value + 1 != c->taken[word])
                hd_proof_fail(c->p, is, "R%u is touched while an asynchronous instruction has it in flight", word);
        }
}

/* Checks the instructions inserted between the last wgmma.fence of the block and the instruction. */
static void check_fence(flight_check *c, uint32_t ordinal)
{
    const hd_function *f = c->p->allocated;
    uint32_t first = c->p->cfg->blocks[c->p->cfg->block_of[ordinal]].first;
    for (uint32_t i = ordinal;
         i-- > first && hd_insn_form(f, &f->instructions.items[i])->opcode != HD_OP_WGMMA_FENCE;) {
        if (original_of(c->p, i))
            continue;
        HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
            HD_STORAGE_WORDS (&c->storage, o->value, word)
                if (o->flags & HD_OPERAND_DEF && c->taken[word])
                    hd_proof_fail(c->p, &f->instructions.items[i],
                                  "R%u is written between the fence and the wgmma that puts it in flight", word);
    }
}

static void check_flight(flight_check *c, hd_flight_search *search, uint32_t ordinal)
{
    uint32_t count;
    const hd_instruction *insn = &c->p->allocated->instructions.items[ordinal];
    const hd_flight *spans = hd_flight_search_from(search, ordinal, &count);
    mark(c, ordinal, true);
    for (uint32_t s = 0; s < count; s++)
        for (uint32_t i = spans[s].first; i <= spans[s].last; i++)
            check_instruction(c, i);
    if (hd_insn_async(c->p->allocated, insn).queue == HD_ASYNC_GROUP)
        check_fence(c, ordinal);
    mark(c, ordinal, false);
}

void hd_proof_flights(hd_proof *p)
{
    const hd_function *f = p->allocated;
    if (!hd_function_has_async(f))
        return;
    flight_check c = {.p = p, .storage = hd_storage_of(f, &p->arena)};
    c.taken = HD_ARENA_ARRAY(&p->arena, uint32_t, (size_t)c.storage.words + 1);
    hd_flight_search *search = hd_flight_search_new(p->allocated, &p->arena);
    for (uint32_t i = 0; i < f->instructions.count && !p->failed; i++)
        if (hd_insn_async(f, &f->instructions.items[i]).part == HD_ASYNC_BEGIN)
            check_flight(&c, search, i);
    hd_flight_search_free(search);
}
