/* Races in shared memory: two threads of a block access a byte, at least one writes it, and nothing orders the
 * accesses.
 *
 * Logical time advances whenever something orders threads. For every byte, the last write and the last reads by two
 * threads are recorded with their times. Vector clocks: warp w's entry for warp v is a time up to which all accesses of
 * v are ordered before w's next one; a barrier joins the clocks of the arriving warps into those of the waiting ones.
 * The same holds between the lanes of a warp, whose clocks bar.warp.sync and other .sync instructions join. Before
 * sm_70 the lanes of a warp execute in lockstep, and only the writes of one instruction race with each other.
 *
 * Atomics and other strong accesses (volatile, relaxed, acquire, release) do not race with each other. A write that
 * stores the same value as another write does not race with it (threads that all set one flag). Waiting for an mbarrier
 * or a cluster orders everything before it, and so does an access with acquire semantics, or a fence after a strong
 * load or an atomic. A cp.async writes from its issue until its thread waits for it: any access to the bytes in between
 * races, also of its own thread; after the wait it is a write of that time. Each pair of instructions is reported once.
 *
 * In machine code the lanes of a group, which share a program counter, execute in lockstep: what one of them has done
 * is ordered before what any of them does next, and only lanes of different groups, and the writes of one instruction,
 * race with each other. A volatile access to shared memory is not distinguished there.
 *
 * Memory: 48 bytes per byte of shared memory. Time: a few dozen operations per byte and lane. */
#include "hwmodel/exec/checks/checks.h"
#include "hwmodel/exec/ops/access.h"
#include "hwmodel/exec/state/fault.h"
#include "ir/form.h"
#include "ir/machine.h"

enum { MOST_WARPS = 32, READERS = 2 };

typedef struct access_record {
    uint32_t when; /* 0: none */
    uint32_t ordinal;
    uint16_t code, thread;
    uint8_t value;
    bool atomic, copying; /* atomic: or another strong access (volatile, relaxed, acquire ...); copying: a cp.async
                           * whose thread has not waited for it */
} access_record;

typedef struct byte_record {
    access_record write, reads[READERS];
} byte_record;

typedef struct race_pair {
    uint32_t codes[2], ordinals[2];
} race_pair;

struct hd_races {
    byte_record *bytes;                         /* by byte of shared memory */
    uint32_t now, start;                        /* start: of the current CTA; records of earlier CTAs are ignored */
    uint32_t warps[MOST_WARPS][MOST_WARPS];     /* clock of a warp for another */
    uint32_t barriers[HD_BARRIERS][MOST_WARPS]; /* joined clocks of the warps that have arrived */
    uint32_t (*lanes)[LANES][LANES];            /* by warp: clock of a lane for another */
    HD_ARRAY(race_pair) found;
    uint32_t together[MOST_WARPS]; /* of machine code: lanes of the group that the warp has run last */
    uint32_t observed;             /* warps with a strong load or an atomic since their last fence */
    bool lockstep;
};

hd_races *hd_races_new(const hd_cta *cta)
{
    hd_races *r = hd_calloc(1, sizeof *r);
    r->bytes = hd_calloc((size_t)cta->shared_bytes + 1, sizeof *r->bytes);
    r->lanes = hd_calloc(cta->warp_count, sizeof *r->lanes);
    r->lockstep = cta->program->module->target_number < 70;
    r->now = 1;
    return r;
}

void hd_races_free(hd_races *r)
{
    if (!r)
        return;
    hd_array_free(&r->found);
    free(r->bytes);
    free(r->lanes);
    free(r);
}

uint32_t hd_races_found(const hd_races *r) { return r ? r->found.count : 0; }

/* All times of earlier CTAs count as ordered before. */
void hd_races_start(hd_cta *cta)
{
    hd_races *r = cta->checks->races;
    if (r->now > UINT32_MAX / 2) {
        memset(r->bytes, 0, cta->shared_bytes * sizeof *r->bytes);
        r->now = 1;
    }
    r->start = r->now++;
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        for (uint32_t v = 0; v < MOST_WARPS; v++)
            r->warps[w][v] = r->start;
        for (uint32_t i = 0; i < LANES * LANES; i++)
            r->lanes[w][i / LANES][i % LANES] = r->start;
    }
    memset(r->barriers, 0, sizeof r->barriers);
    memset(r->together, 0, sizeof r->together);
    r->observed = 0;
}

static void later(uint32_t *a, uint32_t b) { *a = hd_max(*a, b); }

/* ---- ordering ---------------------------------------------------------------------------------------------------- */

void hd_races_arrive(hd_warp *w, uint32_t barrier)
{
    hd_races *r = w->cta->checks->races;
    r->warps[w->index][w->index] = r->now;
    for (uint32_t v = 0; v < MOST_WARPS; v++)
        later(&r->barriers[barrier][v], r->warps[w->index][v]);
    r->now++;
}

void hd_races_open(hd_cta *cta, uint32_t barrier, uint32_t waiting_warps)
{
    hd_races *r = cta->checks->races;
    for (uint32_t w = 0; w < cta->warp_count; w++) {
        if (!(waiting_warps >> w & 1))
            continue;
        for (uint32_t v = 0; v < MOST_WARPS; v++)
            later(&r->warps[w][v], r->barriers[barrier][v]);
        for (uint32_t i = 0; i < LANES * LANES; i++)
            r->lanes[w][i / LANES][i % LANES] = r->now;
    }
    memset(r->barriers[barrier], 0, sizeof r->barriers[barrier]);
    r->now++;
}

/* Orders accesses of the lanes in `members` before those of the lanes in `mask`. */
static void join_lanes(hd_races *r, uint32_t warp, uint32_t mask, uint32_t members)
{
    uint32_t joined[LANES] = {0};
    for (uint32_t m = 0; m < LANES; m++) {
        if (!(members >> m & 1))
            continue;
        r->lanes[warp][m][m] = r->now;
        for (uint32_t i = 0; i < LANES; i++)
            later(&joined[i], r->lanes[warp][m][i]);
    }
    for (uint32_t m = 0; m < LANES; m++)
        for (uint32_t i = 0; i < LANES && mask >> m & 1; i++)
            later(&r->lanes[warp][m][i], joined[i]);
    r->now++;
}

/* Orders everything so far before later accesses. */
static void join_all(hd_races *r, uint32_t warp)
{
    for (uint32_t v = 0; v < MOST_WARPS; v++)
        r->warps[warp][v] = r->now;
    for (uint32_t i = 0; i < LANES * LANES; i++)
        r->lanes[warp][i / LANES][i % LANES] = r->now;
    r->now++;
}

static bool is_ordered(const hd_races *r, const access_record *before, uint32_t thread, bool same_instruction)
{
    uint32_t warp = thread / LANES, other = before->thread / LANES;
    if (before->when <= r->start)
        return true;
    if (before->copying || before->thread == thread)
        return !before->copying;
    if (warp != other)
        return r->warps[warp][other] >= before->when;
    if (r->lockstep)
        return !same_instruction;
    return r->lanes[warp][thread % LANES][before->thread % LANES] >= before->when;
}

/* ---- accesses ---------------------------------------------------------------------------------------------------- */

typedef struct use {
    const hd_op *op;
    hd_warp *warp;
    uint32_t lane, byte;
    bool writes, reads; /* both: an atomic */
    access_record record;
} use;

static void found(hd_races *r, const use *u, const access_record *before, bool before_writes)
{
    race_pair pair = {{before->code, u->record.code}, {before->ordinal, u->record.ordinal}};
    for (uint32_t i = 0; i < r->found.count; i++) {
        const race_pair *p = &r->found.items[i];
        bool same = p->codes[0] == pair.codes[0] && p->ordinals[0] == pair.ordinals[0] &&
                    p->codes[1] == pair.codes[1] && p->ordinals[1] == pair.ordinals[1];
        bool turned = p->codes[0] == pair.codes[1] && p->ordinals[0] == pair.ordinals[1] &&
                      p->codes[1] == pair.codes[0] && p->ordinals[1] == pair.ordinals[0];
        if (same || turned)
            return;
    }
    hd_array_push(&r->found, pair);
    const char *what = !u->writes ? "read after write" : before_writes ? "write after write" : "write after read";
    hd_race race = {what,
                    u->writes ? "writes" : "reads",
                    before->copying ? "is still copying to (cp.async)"
                    : before_writes ? "writes"
                                    : "reads",
                    u->byte,
                    before->thread,
                    before->code,
                    before->ordinal};
    hd_report_race(u->op, u->warp, u->lane, &race);
}

static bool is_same_instruction(const use *u, const access_record *before)
{
    return before->when == u->record.when && before->code == u->record.code && before->ordinal == u->record.ordinal;
}

static void check_write(hd_races *r, const use *u, const access_record *before)
{
    bool harmless = (u->record.atomic && before->atomic) ||
                    (u->writes && !u->reads && !before->atomic && before->value == u->record.value);
    if (!harmless && !is_ordered(r, before, u->record.thread, is_same_instruction(u, before)))
        found(r, u, before, true);
}

static void touch(hd_races *r, const use *u)
{
    byte_record *b = &r->bytes[u->byte];
    check_write(r, u, &b->write);
    for (uint32_t i = 0; i < READERS && u->writes; i++)
        if (!(u->record.atomic && b->reads[i].atomic) &&
            !is_ordered(r, &b->reads[i], u->record.thread, is_same_instruction(u, &b->reads[i])))
            found(r, u, &b->reads[i], false);
    if (u->writes) {
        b->write = u->record;
        return;
    }
    uint32_t at = b->reads[0].thread == u->record.thread || b->reads[0].when <= r->start ? 0 : 1;
    b->reads[at] = u->record;
}

/* Index of the running function in the program. */
static uint32_t code_of(const hd_warp *w)
{
    uint32_t code = 0;
    while (w->cta->program->codes.items[code] != hd_top_frame(w)->code)
        code++;
    return code;
}

void hd_races_copy(const hd_op *op, hd_warp *w, const hd_lane_async *a)
{
    hd_races *r = w->cta->checks->races;
    use u = {op, w, a->lane, a->to, true, false, {0}};
    u.record = (access_record){.when = r->now,
                               .ordinal = (uint32_t)(op - hd_top_frame(w)->code->ops),
                               .code = (uint16_t)code_of(w),
                               .thread = (uint16_t)(w->index * LANES + a->lane),
                               .copying = true};
    for (uint32_t k = 0; k < a->bytes; k++, u.byte++) {
        u.record.value = a->data[k];
        touch(r, &u);
    }
}

void hd_races_copied(hd_warp *w, const hd_lane_async *a)
{
    hd_races *r = w->cta->checks->races;
    for (uint32_t k = 0; k < a->bytes; k++) {
        access_record *write = &r->bytes[a->to + k].write;
        if (!write->copying || write->thread != w->index * LANES + a->lane)
            continue;
        write->copying = false;
        write->when = r->now;
    }
}

/* Byte k of the value that a lane stores. */
static uint8_t stored_byte(const hd_op *op, const hd_warp *w, uint32_t lane, uint32_t k)
{
    const hd_code *code = hd_top_frame(w)->code;
    uint32_t element = op->first + k / op->item_bytes, b = k % op->item_bytes;
    uint32_t width = code->widths.items[element];
    const unsigned char *row = hd_row(w, code->refs.items[element]);
    return b < width ? row[(size_t)(b / 8) * 8 * LANES + lane * hd_min(width, 8) + b % 8] : 0;
}

/* Matrix instructions: the stored values are read back from memory. */
static bool is_matrix(uint32_t opcode)
{
    return opcode == HD_OP_WMMA_LOAD || opcode == HD_OP_WMMA_STORE || opcode == HD_OP_LDMATRIX ||
           opcode == HD_OP_STMATRIX;
}

/* What an instruction does with memory. */
typedef struct sharing {
    bool loads, stores, atomic;
    bool strong;   /* atomic, volatile, relaxed, acquire, release */
    bool acquires; /* may observe what another thread released, and orders later accesses after that */
    bool fences, matrix;
} sharing;

static bool is_strong(const hd_form *form)
{
    uint16_t semantics = form->modifiers[HD_GROUP_SEM];
    return form->behaviour & HD_BEHAVE_ATOMIC || form->modifiers[HD_GROUP_VOLATILE] || form->modifiers[HD_GROUP_MMIO] ||
           (semantics && semantics != HD_MOD_SEM_WEAK);
}

static bool acquires(const hd_form *form)
{
    uint16_t semantics = form->modifiers[HD_GROUP_SEM];
    return (form->opcode == HD_OP_LD || form->opcode == HD_OP_ATOM) &&
           (semantics == HD_MOD_SEM_ACQUIRE || semantics == HD_MOD_SEM_ACQ_REL);
}

static sharing sharing_of_ptx(const hd_form *form)
{
    bool matrix = is_matrix(form->opcode);
    sharing s = {.stores = form->opcode == HD_OP_ST || (matrix && form->behaviour & HD_BEHAVE_STORE),
                 .atomic = form->opcode == HD_OP_ATOM || form->opcode == HD_OP_RED,
                 .strong = is_strong(form),
                 .acquires = acquires(form),
                 .fences = form->opcode == HD_OP_MEMBAR || form->opcode == HD_OP_FENCE,
                 .matrix = matrix};
    s.loads = form->opcode == HD_OP_LD || form->opcode == HD_OP_LDU || (matrix && !s.stores);
    return s;
}

static sharing sharing_of_machine(const hd_machine_form *form)
{
    uint8_t access = form->row ? form->row->access : HD_SASS_ACCESS_NONE;
    bool atomic = access == HD_SASS_ACCESS_ATOMIC || access == HD_SASS_ACCESS_REDUCE;
    return (sharing){.loads = access == HD_SASS_ACCESS_LOAD,
                     .stores = access == HD_SASS_ACCESS_STORE,
                     .atomic = atomic,
                     .strong = atomic || hd_sass_form_has(form->sass, ".STRONG"),
                     .acquires = atomic && strcmp(form->row->opcode, "SYNCS.PHASECHK") == 0,
                     .fences = access == HD_SASS_ACCESS_FENCE};
}

static void access_lane(const hd_op *op, hd_warp *w, uint32_t lane, const sharing *s)
{
    hd_cta *cta = w->cta;
    hd_region region;
    uint64_t address = cta->addresses[lane];
    uint32_t bytes = op->item_bytes * (op->count ? op->count : 1);
    if (!hd_region_find(op, w, (hd_space)op->space, address, &region) || region.interleaved ||
        region.bytes != cta->shared)
        return;
    use u = {op, w, lane, (uint32_t)(address - region.first), s->stores || s->atomic, !s->stores, {0}};
    u.record = (access_record){cta->checks->races->now,
                               (uint32_t)(op - hd_top_frame(w)->code->ops),
                               (uint16_t)code_of(w),
                               (uint16_t)(w->index * LANES + lane),
                               0,
                               s->strong,
                               false};
    for (uint32_t k = 0; k < bytes && u.byte < cta->shared_bytes; k++, u.byte++) {
        u.record.value = !s->stores ? 0 : s->matrix ? region.bytes[u.byte] : stored_byte(op, w, lane, k);
        touch(cta->checks->races, &u);
    }
}

/* Lanes that name the same members meet; other lanes of the instruction form another group. `elsewhere`: named lanes
 * take part wherever they are. */
static void join_groups(hd_warp *w, uint32_t mask, const uint32_t *named, bool elsewhere)
{
    while (mask) {
        uint32_t members = named[__builtin_ctz(mask)], group = 0;
        HD_EACH_BIT (lane, mask)
            group |= (uint32_t)(named[lane] == members) << lane;
        join_lanes(w->cta->checks->races, w->index, group, elsewhere ? group | (members & w->lanes) : group);
        mask &= ~group;
    }
}

static void order(const hd_op *op, hd_warp *w, uint32_t mask, uint32_t opcode)
{
    hd_races *r = w->cta->checks->races;
    switch (opcode) {
    case HD_OP_BAR_WARP_SYNC: join_groups(w, mask, hd_row(w, op->f), true); break;
    case HD_OP_SHFL:
    case HD_OP_VOTE:
    case HD_OP_MATCH:
    case HD_OP_REDUX:
    case HD_OP_ELECT:
        if (op->f != HD_NO_REF) /* otherwise without .sync, so no lane waits */
            join_groups(w, mask, hd_row(w, op->f), false);
        break;
    case HD_OP_MBARRIER_TEST_WAIT:
    case HD_OP_MBARRIER_TRY_WAIT:
    case HD_OP_BARRIER_CLUSTER: join_all(r, w->index); break;
    default: join_lanes(r, w->index, mask, mask);
    }
}

void hd_races_together(hd_warp *w, uint32_t lanes)
{
    hd_races *r = w->cta->checks->races;
    if (r->together[w->index] != lanes)
        join_lanes(r, w->index, lanes, lanes);
    r->together[w->index] = lanes;
}

static void access(const hd_op *op, hd_warp *w, uint32_t mask, const sharing *s)
{
    hd_races *r = w->cta->checks->races;
    if (s->fences) {
        if (r->observed >> w->index & 1)
            join_all(r, w->index);
        r->observed &= ~(1u << w->index);
    }
    if (!(op->flags & HD_OP_MEMORY) || !(s->stores || s->loads || s->atomic))
        return;
    if (!s->stores && s->strong)
        r->observed |= 1u << w->index;
    HD_EACH_BIT (lane, mask)
        access_lane(op, w, lane, s);
    if (s->acquires)
        join_all(r, w->index);
}

void hd_races_access(const hd_op *op, hd_warp *w, uint32_t mask)
{
    const hd_code *code = hd_top_frame(w)->code;
    const hd_instruction *insn = &code->function->instructions.items[op - code->ops];
    if (w->cta->program->independent) {
        const sharing s = sharing_of_machine(hd_insn_machine(code->function, insn));
        uint32_t lanes = w->cta->checks->races->together[w->index];
        access(op, w, mask, &s);
        if (s.stores || s.loads || s.atomic)
            join_lanes(w->cta->checks->races, w->index, lanes, lanes);
        return;
    }
    const hd_form *form = hd_insn_form(code->function, insn);
    const sharing s = sharing_of_ptx(form);
    if (form->behaviour & HD_BEHAVE_WARP || form->opcode == HD_OP_MBARRIER_TEST_WAIT ||
        form->opcode == HD_OP_MBARRIER_TRY_WAIT || form->opcode == HD_OP_BARRIER_CLUSTER) {
        order(op, w, mask, form->opcode);
        if (!s.matrix)
            return;
    }
    access(op, w, mask, &s);
    if (s.matrix) /* fragment layouts do not follow threads */
        order(op, w, mask, form->opcode);
}
