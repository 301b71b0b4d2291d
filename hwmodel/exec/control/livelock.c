/* Detects CTAs that run forever: for example, a lane that spins on a lock held by a lane of its own warp, or a wait for
 * a later CTA.
 *
 * The interpreter is deterministic. If all ready warps of a CTA return to an earlier state (registers, stacks, local
 * memory), and shared and global memory is unchanged, they will do so again and again. States are compared by their
 * hash at the end of rounds in which every ready warp used its whole turn; the reference state is replaced after 1, 2,
 * 4, 8 .. rounds (Brent), so that any period is found. One hash per turn. Changes of memory are counted: an atomic that
 * leaves the value is no change; a store is one, but after many rounds a store of equal bytes is not.
 *
 * A loop that counts its attempts never returns to the same state. Therefore, at intervals (after 64, 128, 256 ..
 * rounds, for an eighth of them), the executed instructions are recorded. A register is relevant if one of them that
 * does more than compute reads it (a branch, an access, a vote ...), if it is the guard of such an instruction, or if
 * one of them reads it to compute a relevant register. If the relevant registers return to an earlier state, and no
 * other instruction executed in between, the same instructions will execute again and again, whatever the other
 * registers hold.
 *
 * If warps yield early, states are compared only once per as many instructions as a turn may have.
 *
 * A loop that waits for a clock never returns to the same state. */
#include "hwmodel/exec/control/livelock.h"
#include "base/hash.h"
#include "hwmodel/exec/control/events.h"
#include "ir/form.h"

enum { CAREFUL_ROUNDS = 16, TRACED_FROM = 64, TRACED_PART = 8 };

struct hd_trace {
    unsigned char **executed; /* by code, by op */
    bool **matters;           /* by code, by register */
    uint32_t count, seen;     /* ops executed in the window; their number at the reference state */
    uint32_t known;           /* number of ops for which `matters` is computed */
    uint64_t state, rounds;   /* of the window */
    bool kept;
};

/* ---- relevant registers ------------------------------------------------------------------------------------------ */

static uint32_t index_of(const hd_program *p, const hd_code *code)
{
    uint32_t i = 0;
    while (p->codes.items[i] != code)
        i++;
    return i;
}

void hd_livelock_trace(const hd_op *op, hd_warp *w)
{
    const hd_code *code = hd_top_frame(w)->code;
    unsigned char *executed = w->cta->trace->executed[index_of(w->cta->program, code)];
    w->cta->trace->count += !executed[op - code->ops];
    executed[op - code->ops] = 1;
}

static hd_trace *new_trace(const hd_program *p)
{
    hd_trace *t = hd_calloc(1, sizeof *t);
    t->executed = hd_calloc(p->codes.count, sizeof *t->executed);
    t->matters = hd_calloc(p->codes.count, sizeof *t->matters);
    for (uint32_t i = 0; i < p->codes.count; i++) {
        t->executed[i] = hd_calloc((size_t)p->codes.items[i]->op_count + 1, 1);
        t->matters[i] = hd_calloc((size_t)p->codes.items[i]->function->registers.count + 1, sizeof(bool));
    }
    return t;
}

void hd_livelock_free(hd_cta *cta)
{
    hd_trace *t = cta->trace;
    for (uint32_t i = 0; t && i < cta->program->codes.count; i++) {
        free(t->executed[i]);
        free(t->matters[i]);
    }
    if (t) {
        free(t->executed);
        free(t->matters);
    }
    free(t);
    cta->trace = NULL;
}

static bool mark(bool *matters, uint32_t reg)
{
    bool is_new = !matters[reg];
    matters[reg] = true;
    return is_new;
}

/* Processes one executed instruction; true if another register became relevant. */
static bool spread(const hd_function *f, const hd_instruction *insn, bool *matters)
{
    bool needed = hd_insn_form(f, insn)->behaviour & ~(uint32_t)HD_BEHAVE_DIVERGENT, more = false;
    HD_INSN_REGISTERS (f, insn, d)
        needed = needed || (d->flags & HD_OPERAND_DEF && matters[d->value]);
    HD_INSN_REGISTERS (f, insn, o)
        if (needed && o->flags & HD_OPERAND_USE)
            more |= mark(matters, o->value);
    if (needed && insn->guard != HD_NONE)
        more |= mark(matters, insn->guard);
    return more;
}

static void find_what_matters(const hd_program *p, hd_trace *t)
{
    for (uint32_t c = 0; c < p->codes.count; c++) {
        const hd_function *f = p->codes.items[c]->function;
        bool more = true;
        memset(t->matters[c], 0, f->registers.count * sizeof(bool));
        while (more) {
            more = false;
            for (uint32_t i = f->instructions.count; i-- > 0;)
                more |= t->executed[c][i] && spread(f, &f->instructions.items[i], t->matters[c]);
        }
    }
}

/* ---- states ------------------------------------------------------------------------------------------------------ */

/* Hashes all registers, or the relevant ones. A function without executed instructions counts with all. */
static void add_registers(hd_hasher *hasher, const hd_frame *f, const bool *matters)
{
    const hd_function *function = f->code->function;
    if (!matters) {
        hd_hasher_add(hasher, f->registers, f->code->register_bytes);
        return;
    }
    for (uint32_t r = 0; r < function->registers.count; r++) {
        uint32_t bytes = hd_register_lane_bytes(function, r);
        if (matters[r])
            hd_hasher_add(hasher, f->registers + f->code->register_rows[r], bytes ? (size_t)bytes * LANES : 4);
    }
}

static bool runs(const hd_trace *t, uint32_t code, uint32_t ops) { return memchr(t->executed[code], 1, ops) != NULL; }

static void add_warp(hd_hasher *hasher, const hd_warp *w, const hd_trace *t)
{
    const hd_frame *top = hd_top_frame(w);
    for (uint32_t i = 0; i < w->frame_count; i++) {
        const hd_frame *f = &w->frames.items[i];
        uint32_t code = t ? index_of(w->cta->program, f->code) : 0;
        hd_hasher_add(hasher, &f->call, sizeof f->call);
        hd_hasher_add(hasher, &f->callee, sizeof f->callee);
        hd_hasher_add(hasher, &f->rest, sizeof f->rest);
        if (f->has_tops)
            hd_hasher_add(hasher, f->tops, LANES * sizeof *f->tops);
        add_registers(hasher, f, t && runs(t, code, f->code->op_count) ? t->matters[code] : NULL);
    }
    const uint32_t lanes[] = {w->parked, w->passed, w->cluster_arrived, w->cluster_open, w->yields % HD_YIELDS_OF_SIDE};
    hd_hasher_add(hasher, lanes, sizeof lanes);
    hd_hasher_add(hasher, w->met_row, sizeof w->met_row);
    hd_hasher_add(hasher, &w->met_word, sizeof w->met_word);
    hd_hasher_add(hasher, w->stack.items, w->stack.count * sizeof *w->stack.items);
    hd_hasher_add(hasher, w->splits.items, w->splits.count * sizeof *w->splits.items);
    hd_hasher_add(hasher, w->local, (size_t)top->local_end * LANES);
}

static uint64_t state_of(const hd_cta *cta, const hd_trace *t)
{
    hd_hasher *hasher = hd_hasher_new();
    for (uint32_t i = 0; i < cta->warp_count; i++)
        if (cta->warps[i].state == HD_WARP_READY)
            add_warp(hasher, &cta->warps[i], t);
    uint64_t value = hd_hasher_value(hasher);
    hd_hasher_free(hasher);
    return value;
}

/* ---- windows in which instructions are recorded ------------------------------------------------------------------ */

static void stop_trace(hd_cta *cta)
{
    hd_livelock_free(cta);
    hd_watch(cta);
}

/* After a recorded round: whether the state equals an earlier one of this window. */
static bool comes_back(hd_cta *cta)
{
    hd_trace *t = cta->trace;
    if (t->known != t->count) {
        find_what_matters(cta->program, t);
        t->known = t->count;
    }
    uint64_t state = state_of(cta, t);
    if (t->kept && t->seen == t->count && t->state == state)
        return true;
    t->rounds++;
    if (!t->kept || t->seen != t->count || !(t->rounds & (t->rounds - 1))) {
        t->kept = true;
        t->seen = t->count;
        t->state = state;
    }
    return false;
}

static bool check_window(hd_cta *cta, uint64_t rounds)
{
    bool power = rounds >= TRACED_FROM && !(rounds & (rounds - 1));
    if (cta->trace && comes_back(cta))
        return true;
    if (cta->trace && cta->trace->rounds > rounds / TRACED_PART)
        stop_trace(cta);
    if (power && !cta->trace) {
        cta->trace = new_trace(cta->program);
        hd_watch(cta);
    }
    return false;
}

bool hd_livelock_check(hd_cta *cta, bool all_spun)
{
    hd_livelock *l = &cta->livelock;
    uint64_t spun = all_spun ? l->spun + 1 : 0;
    if (!all_spun || cta->writes != l->writes) {
        *l = (hd_livelock){.writes = cta->writes,
                           .spun = spun,
                           .careful = spun > CAREFUL_ROUNDS,
                           .issued = cta->statistics->warp_instructions};
        if (cta->trace)
            stop_trace(cta);
        return false;
    }
    l->spun = spun;
    l->careful = spun > CAREFUL_ROUNDS;
    uint64_t issued = cta->statistics->warp_instructions;
    if (issued - l->issued < HD_EXEC_QUANTUM) /* turns end early: no hash for each of them */
        return false;
    l->issued = issued;
    uint64_t state = state_of(cta, NULL);
    if (l->rounds && state == l->state)
        return true;
    l->rounds++;
    if (!(l->rounds & (l->rounds - 1)))
        l->state = state;
    return check_window(cta, l->rounds);
}
