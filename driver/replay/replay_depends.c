/* Kernels whose results may depend on when warps do what, and on clocks.
 *
 * The interpreter decides the order of warps, and cycles are those of what it did. Static: what the kernel contains,
 * and if it calls, all that may be called. Whether a run comes to it is not asked, and of what an atomic returns only
 * whether some instruction reads its register. Loads that wait for stores of other blocks are not found.
 * O(instructions) for each atomic.
 *
 * A clock may decide what a kernel leaves where its value, or one computed from it, reaches memory, an address, a call,
 * a barrier or a branch. By register, wherever it is written. O(instructions) for each register on the longest chain
 * from a clock.
 */
#include "driver/replay/replay_work.h"

#include "base/bitset.h"
#include "ir/form.h"
#include "ir/sregs.h"

/* ---- the order of warps ------------------------------------------------------------------------------------------ */

static bool reads_time(const hd_function *f)
{
    for (uint32_t o = 0; o < f->operands.count; o++)
        if (f->operands.items[o].kind == HD_OPERAND_SREG &&
            hd_sregs[f->operands.items[o].value].varies == HD_VARIES_TIME)
            return true;
    return false;
}

static bool is_read(const hd_function *f, uint32_t reg)
{
    for (uint32_t i = 0; i < f->instructions.count; i++)
        HD_INSN_REGISTERS (f, &f->instructions.items[i], o)
            if (o->flags & HD_OPERAND_USE && o->value == reg)
                return true;
    return false;
}

static const char *order_in(const hd_function *f, bool *calls)
{
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        const hd_form *form = hd_insn_form(f, insn);
        *calls = *calls || form->behaviour & HD_BEHAVE_CALL;
        if (form->opcode != HD_OP_ATOM && form->opcode != HD_OP_RED)
            continue;
        HD_INSN_REGISTERS (f, insn, o)
            if (o->flags & HD_OPERAND_DEF && is_read(f, o->value))
                return "what its atomics return";
        if (form->type_count && hd_types[form->types[0]].class == HD_CLASS_FLOAT)
            return "floats that it adds atomically";
    }
    return reads_time(f) ? "clocks that it reads" : NULL;
}

/* ---- what clocks decide ------------------------------------------------------------------------------------------ */

static bool takes_time(const hd_function *f, const hd_instruction *insn, const hd_bitset *timed)
{
    const hd_operand *o = hd_insn_operands(f, insn), *end = o + insn->operand_count;
    bool found = insn->guard != HD_NONE && hd_bitset_has(timed, insn->guard);
    for (; o < end && !found; o++)
        found = (o->kind == HD_OPERAND_SREG && hd_sregs[o->value].varies == HD_VARIES_TIME) ||
                (o->kind == HD_OPERAND_REGISTER && o->flags & HD_OPERAND_USE && hd_bitset_has(timed, o->value));
    return found;
}

/* Marks what the instruction computes from a clock; true: there it decides what is left. */
static bool spread(const hd_function *f, const hd_instruction *insn, hd_bitset *timed, bool *more)
{
    const uint32_t deciding = HD_BEHAVE_LOAD | HD_BEHAVE_STORE | HD_BEHAVE_ATOMIC | HD_BEHAVE_BARRIER |
                              HD_BEHAVE_BRANCH | HD_BEHAVE_CALL | HD_BEHAVE_RETURN | HD_BEHAVE_EXIT | HD_BEHAVE_TRAP |
                              HD_BEHAVE_ASYNC | HD_BEHAVE_TEXTURE;
    bool decides = insn->flags & HD_INSN_OPAQUE || hd_insn_form(f, insn)->behaviour & deciding;
    HD_INSN_REGISTERS (f, insn, o) {
        if (!(o->flags & HD_OPERAND_DEF))
            continue;
        bool is_of_module = f->declarations.items[f->registers.items[o->value].declaration].depth == 0;
        decides = decides || is_of_module;
        *more = *more || !hd_bitset_has(timed, o->value);
        hd_bitset_add(timed, o->value);
    }
    return decides;
}

static bool shows_time(const hd_function *f)
{
    hd_arena scratch = {0};
    hd_bitset timed = hd_bitset_new(&scratch, f->registers.count + 1);
    bool shown = false;
    for (bool more = reads_time(f); more && !shown;) {
        more = false;
        for (uint32_t i = 0; i < f->instructions.count && !shown; i++)
            shown =
                takes_time(f, &f->instructions.items[i], &timed) && spread(f, &f->instructions.items[i], &timed, &more);
    }
    for (uint32_t r = 0; r < f->register_results.count && !shown; r++) /* they are left to the caller */
        shown = hd_bitset_has(&timed, f->register_results.items[r]);
    hd_arena_free(&scratch);
    return shown;
}

static bool has_calls(const hd_function *f)
{
    for (uint32_t i = 0; i < f->instructions.count; i++)
        if (hd_insn_form(f, &f->instructions.items[i])->behaviour & HD_BEHAVE_CALL)
            return true;
    return false;
}

static bool clock_decides(const hd_module *module, const char *kernel)
{
    const hd_function *f = hd_module_find_function(module, kernel);
    bool shown = f && shows_time(f), calls = f && !shown && has_calls(f);
    for (uint32_t i = 0; i < module->functions.count && calls && !shown; i++)
        shown = !module->functions.items[i]->is_entry && shows_time(module->functions.items[i]);
    return shown;
}

/* ---- by launch --------------------------------------------------------------------------------------------------- */

static const char *order_of(const hd_module *module, const char *kernel)
{
    const hd_function *f = hd_module_find_function(module, kernel);
    bool calls = false;
    const char *order = f ? order_in(f, &calls) : NULL;
    for (uint32_t i = 0; i < module->functions.count && calls && !order; i++)
        if (!module->functions.items[i]->is_entry)
            order = order_in(module->functions.items[i], &calls);
    return order;
}

const replay_dependence *replay_find_dependences(replay_part *p)
{
    const hd_launch_file *launch = p->in.launch;
    replay_dependence *found = HD_ARENA_ARRAY(&p->arena, replay_dependence, launch->launches.count + 1);
    for (uint32_t k = 0; k < launch->launches.count && !p->in.traced; k++) {
        const char *kernel = launch->launches.items[k].kernel;
        found[k].clock = clock_decides(p->in.module, kernel);
        if (p->plan->options->time)
            found[k].order = order_of(p->in.module, kernel);
    }
    return found;
}
