/* Warped-DMR: execution units verify each other. H. Jeon, M. Annavaram, "Warped-DMR: Light-weight Error Detection for
 * GPGPU", MICRO 2012; H. Jeon, "Resource Underutilization Exploitation for Power Efficient and Reliable Throughput
 * Processor", chapter 4.
 *
 * Intra-warp: of an instruction in some threads of a warp, idle lanes repeat active ones of their cluster at once
 * (dmr_lanes.h). Inter-warp: one in all threads is repeated as a whole, in shuffled lanes; enhanced Warped-DMR does so
 * too where the pairing leaves an active lane out, which in clusters of four is where more than two are active. The
 * replay checker (algorithm 2) decides in the cycle after the issue:
 *
 *   nothing of its type issues     it is repeated now
 *   else, the ReplayQ holds an     that is repeated now, and the new one is queued
 *   instruction of another type
 *   else, the ReplayQ has room     it is queued
 *   else                           the next cycle issues nothing, and the instruction is repeated in it
 *
 * The types are arithmetic, memory, special functions and matrices. Instructions of control flow, and identities,
 * compute nothing in a lane, and are not verified. Of memory instructions the address is, as the paper has it, so they
 * take a cycle of their unit and none of a cache. A result that is not verified is not read: the warp waits, and the
 * next cycle issues nothing so that it can be verified. A warp ends when all its instructions are verified.
 *
 * What the paper leaves open: where several queued instructions could go, it takes one by chance, the model the oldest;
 * where nothing is to be decided and units are idle, the oldest queued instruction is repeated. An entry of the queue
 * has room for three operands and a result, each a warp register; an instruction with more takes several. On GPUs with
 * several schedulers all share a checker, and an inserted cycle repeats what it has to of each type.
 *
 * The model decides at issue; the paper, when operands are read. That is a constant number of cycles later, for the
 * instruction and those after it.
 *
 * Faults of lanes (hwmodel/lane_fault.h). Idle lanes are others than those that they repeat, and so are the lanes of a
 * repeated warp, which are shuffled: a result that is wrong differs from its repetition. So does one that is right and
 * that the faulty lane repeats. Without shuffling (section 4.3.2) a stuck bit is the same in both. When what idle lanes
 * repeat is compared is the cycle of the issue here; that of a repetition is its own.
 *
 * Proof: operands are those of the register file. A ledger apart from the queue knows what is not verified; an
 * instruction that reads it, and a warp that ends with it, fail.
 *
 * Cost: O(entries) for each operand.
 */
#include "hwmodel/rf/models/dmr_lanes.h"
#include "hwmodel/rf/technique.h"

enum {
    DMR_ENTRY_BITS = 8 * (32 * 3 * 4 + 32 * 4 + 4), /* operands, result, opcode: section 4.4.4 */
    DMR_OPERANDS = 3,                               /* of an entry, warp registers */
    DMR_NONE = 0,                                   /* type of what is not verified */
    DMR_TYPES = 4
};

static const uint32_t units_of_type[DMR_TYPES + 1] = {
    [1] = 1 << HD_UNIT_INT | 1 << HD_UNIT_SP | 1 << HD_UNIT_DP,
    [2] = 1 << HD_UNIT_LDST | 1 << HD_UNIT_TEX,
    [3] = 1 << HD_UNIT_SFU,
    [4] = 1 << HD_UNIT_TENSOR,
};

typedef struct dmr_item { /* an instruction that is to be repeated */
    const hd_rf_code *code;
    uint64_t number; /* in order of issue */
    uint64_t asked;  /* 1 + when a consumer was refused first; 0: none was */
    uint32_t type, function, instruction;
    uint64_t words;  /* hd_rf_touch of those that it writes */
    bool predicates; /* it writes some */
    uint32_t warp, frame, lanes, registers, entries;
    uint32_t cta;
    hd_lane_effect effect; /* of a faulty lane; zero: none */
    bool fresh;            /* issued in this cycle */
    bool stalled;          /* an inserted cycle repeats it */
} dmr_item;

typedef HD_ARRAY(dmr_item) dmr_items;

typedef struct hd_dmr {
    hd_rf_model model;
    hd_rf_file file;
    hd_dmr_lanes lanes;
    uint32_t entries, used; /* of the ReplayQ */
    bool enhanced, unshuffled;
    uint64_t now; /* of the last hook */
    uint64_t issued;
    dmr_items pending, queue; /* oldest first */
    dmr_items unverified;     /* the ledger */
} hd_dmr;

static hd_dmr_lanes lanes_of(const char *options)
{
    return (hd_dmr_lanes){hd_rf_option(options, "cluster", 4), !hd_rf_flag(options, "inorder")};
}

static uint32_t dmr_thread_of_lane(const char *options, uint32_t lane)
{
    hd_dmr_lanes lanes = lanes_of(options);
    return hd_dmr_thread(&lanes, lane);
}

static hd_rf_model *dmr_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    hd_dmr *m = hd_calloc(1, sizeof *m);
    (void)code;
    m->lanes = lanes_of(options);
    m->entries = hd_rf_option(options, "entries", 10);
    m->enhanced = hd_rf_flag(options, "enhanced");
    m->unshuffled = hd_rf_flag(options, "unshuffled");
    m->model.turn = 1;
    if (m->lanes.cluster != 4 && m->lanes.cluster != 8) {
        *refusal = "a SIMT cluster has 4 or 8 lanes";
        free(m);
        return NULL;
    }
    return &m->model;
}

static void dmr_destroy(hd_rf_model *model)
{
    hd_dmr *m = (hd_dmr *)model;
    hd_rf_file_free(&m->file);
    hd_array_free(&m->pending);
    hd_array_free(&m->queue);
    hd_array_free(&m->unverified);
    free(m);
}

static void dmr_launch(hd_rf_model *model, const hd_rf_launch *launch)
{
    hd_dmr *m = (hd_dmr *)model;
    (void)launch;
    hd_array_clear(&m->pending);
    hd_array_clear(&m->queue);
    hd_array_clear(&m->unverified);
    m->used = 0;
    model->storage_bits = (uint64_t)m->entries * DMR_ENTRY_BITS;
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static const hd_form *form_of(const hd_rf_step *step) { return hd_insn_form(step->code->function, step->insn); }

static uint32_t type_of(const hd_rf_step *step)
{
    uint32_t unit = 1u << hd_form_unit(form_of(step));
    for (uint32_t type = 1; type <= DMR_TYPES; type++)
        if (units_of_type[type] & unit)
            return type;
    return DMR_NONE;
}

static bool ends_warp(const hd_rf_step *step)
{
    uint32_t behaviour = form_of(step)->behaviour;
    return behaviour & HD_BEHAVE_EXIT || (behaviour & HD_BEHAVE_RETURN && step->warp->identity.frames.count == 1);
}

/* Words of the register that holds the address: what is verified of a memory instruction. */
static uint32_t address_words(const hd_rf_step *step)
{
    HD_INSN_REGISTERS (step->code->function, step->insn, o)
        if (o->flags & HD_OPERAND_OFFSET)
            return hd_register_words(step->code->function, o->value);
    return 1;
}

static uint64_t written_words(const hd_rf_step *step)
{
    uint64_t words = 0;
    for (uint32_t d = 0; d < step->destination_count; d++)
        words |= hd_rf_touch(step->destinations[d].word);
    return words;
}

static bool writes_predicates(const hd_rf_step *step)
{
    HD_INSN_REGISTERS (step->code->function, step->insn, o)
        if (o->flags & HD_OPERAND_DEF && !hd_register_words(step->code->function, o->value))
            return true;
    return false;
}

static dmr_item item_of(hd_dmr *m, const hd_rf_step *step, uint32_t type)
{
    bool memory = type == 2;
    uint32_t address = memory ? hd_max(address_words(step), 1) : 0;
    uint32_t operands = memory ? address : step->source_count, results = memory ? address : step->destination_count;
    return (dmr_item){.code = step->code,
                      .number = ++m->issued,
                      .type = type,
                      .function = step->function,
                      .instruction = step->instruction,
                      .words = written_words(step),
                      .predicates = writes_predicates(step),
                      .warp = step->warp->identity.warp,
                      .cta = step->warp->cta,
                      .effect = step->effect ? *step->effect : (hd_lane_effect){0},
                      .frame = step->warp->identity.frame,
                      .lanes = step->effective,
                      .registers = operands + results,
                      .entries = hd_max(hd_max((operands + DMR_OPERANDS - 1) / DMR_OPERANDS, results), 1),
                      .fresh = true};
}

static bool writes_word(const dmr_item *item, uint32_t word)
{
    const hd_rf_code *code = item->code;
    for (uint32_t d = code->destination_first[item->instruction]; d < code->destination_first[item->instruction + 1];
         d++)
        if (code->destinations[d].word == word)
            return true;
    return false;
}

static bool writes_predicate(const dmr_item *item, uint32_t value)
{
    const hd_function *f = item->code->function;
    HD_INSN_REGISTERS (f, &f->instructions.items[item->instruction], o)
        if (o->flags & HD_OPERAND_DEF && o->value == value)
            return true;
    return false;
}

static bool reads(const hd_rf_step *step, const dmr_item *item)
{
    const hd_function *f = step->code->function;
    if (item->warp != step->warp->identity.warp || item->frame != step->warp->identity.frame)
        return false;
    bool touched = step->code->touches[step->instruction] & item->words;
    for (uint32_t s = 0; touched && s < step->source_count; s++)
        if (writes_word(item, step->sources[s]))
            return true;
    if (!item->predicates)
        return false;
    if (step->insn->guard != HD_NONE && writes_predicate(item, step->insn->guard))
        return true;
    HD_INSN_REGISTERS (f, step->insn, o)
        if (o->flags & HD_OPERAND_USE && !hd_register_words(f, o->value) && writes_predicate(item, o->value))
            return true;
    return false;
}

/* ---- verification ------------------------------------------------------------------------------------------------ */

/* Comparisons of these threads differ. */
static void notice(hd_dmr *m, const dmr_item *item, uint32_t threads)
{
    m->model.detection.caught += (threads & item->effect.wrong) != 0;
    HD_EACH_BIT (thread, threads)
        hd_rf_difference(&m->model.detection, &(hd_rf_detected){.at = m->now,
                                                                .warp = item->warp,
                                                                .cta = item->cta,
                                                                .function = item->function,
                                                                .instruction = item->instruction,
                                                                .thread = thread});
}

/* The whole warp is repeated: the thread that the faulty lane had goes to another lane, and it gets another one. */
static void compare_repetition(hd_dmr *m, const dmr_item *item)
{
    uint32_t lane = item->effect.lane, own = item->effect.wrong,
             from = m->unshuffled ? lane : hd_dmr_unshuffled(&m->lanes, lane),
             repeated = 1u << hd_dmr_thread(&m->lanes, from) & item->lanes & item->effect.sensitive;
    if (own | repeated)
        notice(m, item, own ^ repeated);
}

/* Idle lanes repeat the threads `paired`; if the faulty one is idle, one of them is its. */
static void compare_pairs(hd_dmr *m, const hd_rf_step *step, uint32_t paired)
{
    const dmr_item item = item_of(m, step, type_of(step));
    uint32_t own = item.effect.wrong & paired,
             repeated = hd_dmr_repeated(&m->lanes, step->effective, item.effect.lane) & item.effect.sensitive;
    if (own | repeated)
        notice(m, &item, own ^ repeated);
}

static void verify(hd_dmr *m, const dmr_item *item, hd_access_sink *sink)
{
    uint32_t lanes = (uint32_t)__builtin_popcount(item->lanes), at = 0;
    while (m->unverified.items[at].number != item->number)
        at++;
    hd_array_remove(&m->unverified, at);
    compare_repetition(m, item);
    hd_rf_event(&m->model, HD_COUNTER_DMR_VERIFIED, lanes);
    hd_rf_event(&m->model, HD_COUNTER_DMR_REDUNDANT, lanes);
    hd_rf_event(&m->model, HD_COUNTER_DMR_REPEATED, 1);
    hd_rf_event(&m->model, HD_COUNTER_DMR_WHOLE, 1);
    if (sink)
        hd_array_push(&sink->repeats, (hd_rf_repeat){item->function, item->instruction});
}

static void access_queue(const dmr_item *item, hd_access_kind kind, hd_access_sink *sink)
{
    for (uint32_t r = 0; r < item->registers; r++)
        hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_QUEUE,
                                     .kind = (uint8_t)kind,
                                     .bank = HD_RF_NO_BANK,
                                     .lanes = item->lanes});
}

static void enqueue(hd_dmr *m, dmr_item item, hd_access_sink *sink)
{
    access_queue(&item, HD_RF_WRITE, sink);
    hd_rf_event(&m->model, HD_COUNTER_DMR_QUEUED, 1);
    if (hd_rf_loses(&m->model))
        return;
    m->used += item.entries;
    hd_array_push(&m->queue, item);
}

static void dequeue(hd_dmr *m, uint32_t at, hd_access_sink *sink)
{
    const dmr_item *item = &m->queue.items[at];
    access_queue(item, HD_RF_READ, sink);
    verify(m, item, sink);
    m->used -= item->entries;
    hd_array_remove(&m->queue, at);
}

/* The oldest queued instruction of a free type; asked: that a consumer waits for. HD_NONE: there is none. */
static uint32_t oldest(const hd_dmr *m, uint32_t free, bool asked)
{
    for (uint32_t q = 0; q < m->queue.count; q++)
        if (free >> m->queue.items[q].type & 1 && (!asked || m->queue.items[q].asked))
            return q;
    return HD_NONE;
}

/* Algorithm 2 for the pending instruction. Returns whether it has left. */
static bool check_pending(hd_dmr *m, uint32_t at, uint32_t *free, hd_access_sink *sink)
{
    dmr_item item = m->pending.items[at];
    uint32_t other = HD_NONE;
    if (*free >> item.type & 1) {
        *free &= ~(1u << item.type);
        verify(m, &item, sink);
        return true;
    }
    other = oldest(m, *free, false);
    if (other != HD_NONE) {
        *free &= ~(1u << m->queue.items[other].type);
        dequeue(m, other, sink);
    }
    if (m->used + item.entries <= m->entries) {
        enqueue(m, item, sink);
        return true;
    }
    if (!item.stalled)
        hd_rf_event(&m->model, HD_COUNTER_DMR_STALLS, 1);
    m->pending.items[at].stalled = true;
    return false;
}

/* The types on whose units nothing issues. */
static uint32_t free_types(uint32_t units)
{
    uint32_t free = 0;
    for (uint32_t type = 1; type <= DMR_TYPES; type++)
        free |= (units & units_of_type[type]) == units_of_type[type] ? 1u << type : 0;
    return free;
}

static void repeat_stalled(hd_dmr *m, uint32_t *free, hd_access_sink *sink)
{
    uint32_t used = 0;
    for (uint32_t p = 0; p < m->pending.count;) {
        dmr_item item = m->pending.items[p];
        if (!item.stalled || !(*free >> item.type & 1)) {
            p++;
            continue;
        }
        used |= 1u << item.type;
        verify(m, &item, sink);
        hd_array_remove(&m->pending, p);
    }
    *free &= ~used;
}

static void repeat_asked(hd_dmr *m, uint32_t *free, hd_access_sink *sink)
{
    for (uint32_t at = oldest(m, *free, true); at != HD_NONE; at = oldest(m, *free, true)) {
        *free &= ~(1u << m->queue.items[at].type);
        dequeue(m, at, sink);
    }
}

static uint32_t dmr_idle_slot(hd_rf_model *model, uint32_t units, uint64_t now, hd_access_sink *sink)
{
    hd_dmr *m = (hd_dmr *)model;
    uint32_t offered = free_types(units), free = offered, decided = 0, used = 0;
    m->now = now;
    repeat_stalled(m, &free, sink);
    repeat_asked(m, &free, sink);
    for (uint32_t p = 0; p < m->pending.count;) {
        dmr_item *item = &m->pending.items[p];
        bool held = (offered & ~free) >> item->type & 1; /* what was asked for, or stalled, comes first */
        if (item->fresh || item->stalled || (held && !decided)) {
            item->fresh = false;
            p++;
            continue;
        }
        decided++;
        if (check_pending(m, p, &free, sink))
            hd_array_remove(&m->pending, p);
        else
            p++;
    }
    uint32_t rest = decided || free != offered ? HD_NONE : oldest(m, free, false);
    if (rest != HD_NONE) {
        free &= ~(1u << m->queue.items[rest].type);
        dequeue(m, rest, sink);
    }
    for (uint32_t type = 1; type <= DMR_TYPES; type++)
        used |= (offered & ~free) >> type & 1 ? units_of_type[type] : 0;
    return used;
}

/* ---- hooks of instructions --------------------------------------------------------------------------------------- */

typedef struct wait {
    bool consumer, stall;
} wait;

/* Consumers ask for what they wait for; from the next cycle on nothing issues until it is verified. */
static void wait_for(dmr_items *items, const hd_rf_step *step, bool ends, uint64_t now, wait *w)
{
    for (uint32_t k = 0; k < items->count; k++) {
        dmr_item *item = &items->items[k];
        bool awaited = reads(step, item);
        w->stall = w->stall || item->stalled || (item->asked && item->asked <= now);
        w->consumer = w->consumer || awaited || (ends && item->warp == step->warp->identity.warp);
        item->asked = awaited && !item->asked ? now + 1 : item->asked;
    }
}

static hd_gate dmr_may_issue(hd_rf_model *model, const hd_rf_step *step, uint64_t now)
{
    hd_dmr *m = (hd_dmr *)model;
    wait w = {false, false};
    bool ends = ends_warp(step);
    wait_for(&m->pending, step, ends, now, &w);
    wait_for(&m->queue, step, ends, now, &w);
    if (!w.consumer && !w.stall)
        return (hd_gate){.ready = true};
    return (hd_gate){.reason = w.consumer ? HD_STALL_VERIFICATION : HD_STALL_REPLAY, .wake = now + 1};
}

static void prove_verified(const hd_dmr *m, const hd_rf_step *step, hd_access_sink *sink)
{
    bool ends = ends_warp(step);
    for (uint32_t k = 0; k < m->unverified.count; k++) {
        const dmr_item *item = &m->unverified.items[k];
        if (reads(step, item) || (ends && item->warp == step->warp->identity.warp))
            hd_rf_fail(&sink->failure, step, (hd_rf_failure){.wrong = HD_RF_UNVERIFIED, .lanes = item->lanes});
    }
}

static void dmr_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    hd_dmr *m = (hd_dmr *)model;
    uint32_t type = type_of(step), redundant, paired;
    m->now = sink->now;
    prove_verified(m, step, sink);
    if (!step->effective)
        return;
    for (uint32_t s = 0; s < step->source_count; s++)
        hd_rf_file_read(&m->file, step, s, sink);
    for (uint32_t d = 0; d < step->destination_count; d++)
        hd_rf_file_write(model, &m->file, step, d, sink);
    if (type == DMR_NONE)
        return;
    hd_rf_event(model, HD_COUNTER_DMR_INSTRUCTIONS, 1);
    hd_rf_event(model, HD_COUNTER_DMR_LANES, (uint32_t)__builtin_popcount(step->effective));
    m->model.detection.wrong += step->effect && step->effect->wrong;
    paired = hd_dmr_paired(&m->lanes, step->effective, &redundant);
    if (step->effective == UINT32_MAX || (m->enhanced && paired != step->effective)) {
        dmr_item item = item_of(m, step, type);
        hd_array_push(&m->pending, item);
        hd_array_push(&m->unverified, item);
        return;
    }
    hd_rf_event(model, HD_COUNTER_DMR_VERIFIED, (uint32_t)__builtin_popcount(paired));
    hd_rf_event(model, HD_COUNTER_DMR_PAIRED, (uint32_t)__builtin_popcount(paired));
    hd_rf_event(model, HD_COUNTER_DMR_REDUNDANT, redundant);
    hd_rf_event(model, HD_COUNTER_DMR_WHOLE, paired == step->effective);
    if (step->effect)
        compare_pairs(m, step, paired);
}

static void dmr_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rf_file_frame_begin(&((hd_dmr *)model)->file, warp);
}

/* What a warp left that ended without an instruction of its own. */
static void dmr_finalize(hd_rf_model *model)
{
    hd_dmr *m = (hd_dmr *)model;
    for (; m->pending.count; m->pending.count--)
        verify(m, &m->pending.items[m->pending.count - 1], NULL);
    for (; m->queue.count; m->queue.count--)
        verify(m, &m->queue.items[m->queue.count - 1], NULL);
    m->used = 0;
}

const hd_rf_ops hd_rf_warped_dmr_ops = {
    .create = dmr_create,
    .destroy = dmr_destroy,
    .launch = dmr_launch,
    .frame_begin = dmr_frame_begin,
    .may_issue = dmr_may_issue,
    .execute = dmr_execute,
    .idle_slot = dmr_idle_slot,
    .finalize = dmr_finalize,
    .thread_of_lane = dmr_thread_of_lane,
    .storage = HD_ENERGY_REGISTER_CACHE,
    .columns = HD_COLUMN_LANES,
    .coupled = true,
    .timed = true,
};
