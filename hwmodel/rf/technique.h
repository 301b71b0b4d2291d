/* The interface of a register-file technique.
 *
 * A model holds the state of a technique's hardware: which structure holds which register of which warp. It computes
 * neither values nor cycles. It makes all its decisions when an instruction issues, in the program order of each warp,
 * and emits the accesses that follow from them (access.h). A driver calls the hooks of a model and does something with
 * these accesses. There are two kinds of driver:
 *
 *   count mode             completes the accesses of an instruction at once, and counts them
 *   a cycle-level SM       queues each access at the bank that it names, once the access that it names in `after` is
 *                          done; keeps the instruction in its operand collector until its reads are done, and its
 *                          consumers in the scoreboard until its writes are
 *
 * A model must not depend on which of the two drives it. Where a paper allocates or frees storage later than at issue
 * (when operands are collected, at write-back), the comment at the top of the model says what deciding at issue
 * changes.
 *
 * The hooks for one instruction, in the order in which a driver calls them
 *
 *   rank_warp  Which of several warps that could issue goes first?
 *   may_issue  May the warp issue its next instruction? If not: for what it waits, and when to ask again, if that is
 *              known. Asked until it may, and for the last time directly before `execute`. Changes no state except
 *              counts of refusals, and since when something is asked for.
 *   before     Emits what must be complete before the instruction issues: a prefetch, a refill, flag words. Called
 *              once when the instruction is the next one of its warp, and again if warp_switch was called for the warp
 *              since. Count mode calls it directly before `execute`; a cycle-level SM may call it many cycles earlier,
 *              while other warps issue. So it changes nothing that rank_warp and may_issue depend on. Of what warps
 *              share it changes only what decides how long something takes (a cache of flag words), never where a
 *              register is: storage that warps compete for is allocated by `execute`.
 *   execute    The instruction issues. The model delivers each source operand in all effective lanes (hd_rf_deliver);
 *              the driver compares what is delivered with what the baseline reads (identity.h), and stops at the first
 *              difference and at any lane that is not delivered. The model then enters the results into its
 *              structures, and emits the accesses of all this. An instruction whose guard is false in every active
 *              lane issues, but reads and writes nothing, in every model.
 *   idle_slot  Units on which nothing issues in this cycle, and which are not busy with an earlier instruction, are
 *              offered to the model. It may repeat instructions on them (hd_access_sink.repeats), open gates, and close
 *              others.
 *
 * The k-th result of an instruction has the serial step->serial + k, under both drivers.
 *
 * Hooks between instructions: `launch`; `may_launch_cta` and `cta_end`; `warp_begin` and `warp_end`; `frame_begin` and
 * `frame_end`, for calls; `warp_switch`, where warps take turns. Each is described at its declaration. `create`,
 * `destroy` and `execute` are mandatory; any other may be NULL.
 *
 * Counters of accesses are derived from the accesses, by access.def; those of operands, results and bypassed operands,
 * from the instructions. A model counts only events that are no access (hd_rf_event).
 *
 * Models that couple warps (`coupled`) have storage that several warps share, so that the order of warps matters. Count
 * mode runs them over the resident warps in turns, and calls rank_warp, may_issue, warp_switch, may_launch_cta and
 * idle_slot. All other models see the warps as they ran, and none of these hooks.
 *
 * How each technique uses it. "Compiler" is what the model takes from the compiler, as annotations of the IR.
 *
 *   baseline     execute: each source is read from the register file, each result is written to it. All other models
 *                are compared with it.
 *   ideal file   As the baseline, but its accesses name no bank (HD_RF_NO_BANK): they never conflict. may_launch_cta
 *                admits every CTA, as if the file had room for all registers.
 *   BOW, BOW-WR  Compiler: for each result, whether it goes to the register file, to the bypass window, or to both.
 *                execute: the window of the warp advances; entries that have been in it for too long leave it, and
 *                their dirty lanes are written to the file (SPILL, then WRITE). Lanes of a source that are in the
 *                window are read from it, the others from the file, which also fills the window (FILL). Results go
 *                where the compiler said.
 *   BOW + CORF   A window as of BOW in front of a file as of CORF: one model that calls the hooks of both.
 *   CORF         Compiler: exclusive register pairs. Column WIDTHS. execute: looks up all sources. Two registers in one
 *                entry are one access; the second is delivered without an access of its own. A result takes byte slices
 *                of an entry, beside its partner if it fits there, and is relocated when it widens: a READ of the lanes
 *                that are not written, then the WRITE.
 *   CORF++       Compiler: the side of its entry for each register: left, right, don't care. As CORF; two sources are
 *                one access if their allocation masks are disjoint.
 *   RegMutex     Compiler: |Bs|, |Es|, acquire and release; the code is rewritten, and has a baseline of its own.
 *                may_launch_cta: by |Bs|. may_issue: an acquire waits while no section is free. execute: maps a
 *                register to the base set or to the section of the warp; never delivers from a section that another
 *                warp has acquired since. Paired warps: the same, with one section for each pair.
 *   LTRF, LTRF+  Compiler: the working set of a register-interval at its first instruction; dead-operand bits. before:
 *                at a new interval, writes back and prefetches; after a switch, refetches. execute: every operand is in
 *                the cache. warp_switch: the partition of the outgoing warp is written back and freed.
 *   RFC          execute: results go to the cache, which displaces its oldest entry. warp_switch: the entries of the
 *                outgoing warp are written back.
 *   RFV          Compiler: pir and pbr. before: flag words. execute: operands through the renaming table (LOOKUP, then
 *                READ); pbr releases before the operands are read, pir after the results are written; a released
 *                register is mapped again at its next write. may_issue: a write waits for a free physical register.
 *   GPU-Shrink   Compiler: as RFV; the register demand of a CTA. CTAs are admitted as on the full file. may_issue:
 *                Algorithm 1: an instruction that would map a register waits while that could leave the CTA with the
 *                most registers short of them. rank_warp: that CTA goes first. execute: maps; if too few are free and
 *                the warp must go on, registers of another warp are spilled (READ, then a SPILL to MEMORY), and
 *                refilled when that warp issues again (FILL, then a WRITE); the accesses of the instruction follow them
 *                by `after`, and the warp waits for all of them (holds_warp).
 *   DeMO         The code is rewritten, and has a baseline of its own. execute: the value of an annotated load waits in
 *                the collector of the next instruction, which gets it from there (structure MEMORY).
 *   LARF, LAS    Compiler: as RFV. Columns ADDRESSES and RESULTS. execute: a global load looks up its addresses in the
 *                address mapping table (LOOKUP). On a hit its result is mapped to the physical register of the entry,
 *                nothing is written, and no memory access follows (hd_access_sink.skips_unit); the values that the
 *                entry stands for are compared with those loaded, which proves the mapping. Stores evict. rank_warp: a
 *                warp whose next load would hit goes first.
 *   HRF, HRF+PG  execute: results go to the write buffer of the active warp, those of long-latency loads to the STT-RAM
 *                file, whose writes keep their port busy (`cycles`); sources are read from the file, and lanes that the
 *                buffer has are taken from it (structure BUFFER). warp_switch: the buffer of the outgoing warp drains
 *                into the file (SPILL, then WRITE). may_issue: waits while the buffer that the incoming warp needs
 *                still drains, until a known cycle, or while gated entries wake up. rank_warp: odd after even warps.
 *                One warp is active (hd_rf_model.active_warps).
 *   Warped-DMR   execute: operands as in the baseline. Idle lanes repeat active lanes of their cluster. idle_slot: an
 *                instruction in all lanes is repeated on a free unit, or queued (structure QUEUE), or repeated in the
 *                next cycle. may_issue: waits if the instruction reads a result that is not verified yet, and in cycles
 *                that are inserted for a repetition.
 *
 * tests/unit/ideal_file.c is the ideal file. test_both_modes.c runs it and all rows of models.def in count mode and
 * under a driver with cycles, and compares the accesses.
 *
 * A new technique is one file in models/, a row in models/models.def, and rows in counters.def and access.def if it
 * counts something new, in structures.def if it has a structure that nobody had, in stalls.def if it makes warps wait,
 * in options.def if a user may set something. See docs/adding-a-technique.md.
 *
 * Count mode can memoize the effects of a model on repeated instructions: memo.h, a second and optional set of hooks. A
 * model without them is right, and only slower.
 */
#ifndef HD_HWMODEL_RF_TECHNIQUE_H
#define HD_HWMODEL_RF_TECHNIQUE_H

#include "hwmodel/columns.h"
#include "hwmodel/rf/access.h"
#include "hwmodel/rf/code.h"
#include "hwmodel/rf/identity.h"
#include "hwmodel/rf/memo.h"
#include "hwmodel/rf/series.h"
#include "ir/form.h"
#include "target/occupancy.h"

/* Faults that tests plant in a model, to see that the proof notices them. They are constant false in the library, so
 * that it has no code for them; unit tests are linked with models of their own, compiled with HD_PLANTED_FAULTS=1. */
#ifndef HD_PLANTED_FAULTS
#define HD_PLANTED_FAULTS 0
#endif
#define HD_PLANTED(fault) (HD_PLANTED_FAULTS && (fault))

/* ---- what a hook sees -------------------------------------------------------------------------------------------- */

typedef struct hd_rf_warp {
    uint32_t slot; /* dense among the resident warps: index of what a model keeps for it */
    uint32_t cta;
    uint32_t function; /* of the frame that began last: for frame_begin */
    hd_identity_warp identity;
} hd_rf_warp;

typedef struct hd_rf_step {
    hd_rf_warp *warp;
    const hd_rf_code *code;
    const hd_instruction *insn;
    uint32_t function, instruction;
    uint32_t active, effective; /* lanes; effective: those of them whose guard is true */
    const uint32_t *sources;    /* words of the frame */
    const hd_rf_destination *destinations;
    uint32_t source_count, destination_count;
    uint32_t serial; /* of the write of the first destination; the k-th has serial + k */
    /* Columns: NULL unless the model asks for them (hd_rf_ops.columns), the instruction has some, and `effective` has
     * lanes. */
    const uint64_t *addresses; /* by lane, of a memory instruction */
    /* of the k-th destination: results[k * 32 + lane]; NULL for calls, and for what has no addresses if only
     * HD_COLUMN_LOADED is asked for */
    const uint32_t *results;
    const hd_width *widths;       /* by destination */
    const hd_lane_effect *effect; /* NULL: a faulty lane does nothing to it */
} hd_rf_step;

/* The index in the warp of a source's or destination's word, and its owner. */
static inline uint32_t hd_rf_index(const hd_rf_step *step, uint32_t word) { return step->warp->identity.base + word; }
static inline hd_owner hd_rf_owner(const hd_rf_step *step, uint32_t word)
{
    return (hd_owner){step->warp->identity.warp, step->warp->identity.frame, hd_rf_index(step, word)};
}

/* The bank of the register file that a register has without renaming: by its index in the warp; by its word. */
static inline uint16_t hd_rf_index_bank(const hd_rf_warp *warp, uint32_t index)
{
    return (uint16_t)(index + warp->slot);
}
static inline uint16_t hd_rf_bank(const hd_rf_step *step, uint32_t word)
{
    return hd_rf_index_bank(step->warp, hd_rf_index(step, word));
}

/* ---- what goes wrong --------------------------------------------------------------------------------------------- */

/* Records the first failure of an instruction, with the position of the step. */
void hd_rf_fail(hd_rf_failure *failure, const hd_rf_step *step, hd_rf_failure what);
/* Records that these lanes of the source were delivered by what is not its value: which of the rules that breaks. */
void hd_rf_fail_delivery(hd_access_sink *sink, const hd_rf_step *step, uint32_t source, hd_structure structure,
                         uint32_t lanes, hd_owner owner, hd_claim claim);

/* Delivers these lanes of the source from a structure that holds (owner, claim), and proves them. The driver reports
 * lanes that are not delivered at all. */
static inline void hd_rf_deliver(hd_access_sink *sink, const hd_rf_step *step, uint32_t source, hd_structure structure,
                                 uint32_t lanes, hd_owner owner, hd_claim claim)
{
    uint32_t word = step->sources[source], wrong;
    sink->delivered.items[source] |= lanes;
    wrong = hd_identity_unproved(&step->warp->identity, hd_rf_index(step, word), owner, claim, lanes & step->effective);
    if (__builtin_expect(wrong != 0, 0))
        hd_rf_fail_delivery(sink, step, source, structure, wrong, owner, claim);
}

/* For drivers, after `execute`: each source must have been delivered in all lanes that read it. */
static inline void hd_rf_prove_delivered(hd_access_sink *sink, const hd_rf_step *step)
{
    for (uint32_t s = 0; s < step->source_count; s++) {
        uint32_t missing = step->effective & ~sink->delivered.items[s];
        if (__builtin_expect(missing != 0, 0))
            hd_rf_fail(&sink->failure, step,
                       (hd_rf_failure){.wrong = HD_RF_MISSING, .word = step->sources[s], .lanes = missing});
    }
}

/* hd_rf_deliver, with a READ for it. Returns 1 + the access, as other accesses name it in `after`. */
static inline uint16_t hd_rf_read(hd_access_sink *sink, const hd_rf_step *step, uint32_t source, hd_structure structure,
                                  uint32_t lanes, hd_owner owner, hd_claim claim)
{
    hd_rf_deliver(sink, step, source, structure, lanes, owner, claim);
    return hd_emit(sink, (hd_rf_access){.structure = (uint8_t)structure,
                                        .kind = HD_RF_READ,
                                        .operand = hd_access_source(source),
                                        .bank = hd_rf_bank(step, step->sources[source]),
                                        .lanes = lanes});
}

/* Emits the WRITE of a result to the structure, and nothing else. */
static inline uint16_t hd_rf_write(hd_access_sink *sink, const hd_rf_step *step, uint32_t destination,
                                   hd_structure structure)
{
    return hd_emit(sink, (hd_rf_access){.structure = (uint8_t)structure,
                                        .kind = HD_RF_WRITE,
                                        .operand = hd_access_result(destination),
                                        .bank = hd_rf_bank(step, step->destinations[destination].word),
                                        .lanes = step->effective});
}

/* The claim after the result is written: lanes that are not written stay as fresh as they are. */
static inline hd_claim hd_rf_written(const hd_rf_step *step, uint32_t destination, hd_claim old)
{
    return hd_identity_merge(&step->warp->identity, hd_rf_index(step, step->destinations[destination].word), old,
                             step->serial + destination, step->effective);
}

/* ---- gates ------------------------------------------------------------------------------------------------------- */

typedef enum hd_stall { /* why a warp must wait */
                        HD_STALL_NONE,
#define HD_STALL(id, key, text) HD_STALL_##id,
#include "hwmodel/rf/stalls.def"
#undef HD_STALL
                        HD_STALL_COUNT
} hd_stall;
extern const char *const hd_stall_texts[HD_STALL_COUNT]; /* "a free register": what the warp waits for; NULL for NONE */

typedef struct hd_gate {
    bool ready;
    uint8_t reason; /* hd_stall, if it is not */
    uint64_t wake;  /* if it is not: the driver's clock at which to ask again; 0: not known */
} hd_gate;
/* A gate opens sooner: where nothing else happens for so many cycles, it never does. */
enum { HD_RF_IDLE_CYCLES = 1 << 20 };

/* ---- a model ----------------------------------------------------------------------------------------------------- */

typedef struct hd_rf_residency { /* of coupled models: hwmodel/count/schedule.h */
    uint32_t ctas, active;       /* resident CTAs; warps that take turns */
    uint32_t latency;            /* instructions that other warps issue until a long-latency load returns */
    uint64_t bytes;              /* most memory for the recorded instructions of resident CTAs */
    uint32_t most_ctas;          /* CTAs that fit if registers were unlimited, for may_launch_cta; 0: as ctas */
    uint32_t cta_warps;          /* warps of a CTA; 0: not known */
    uint32_t sm_warps;           /* most resident warps of the SM; 0: not known */
    uint32_t file_registers;     /* warp registers (32 lanes of 32 bits) of the SM's register file; 0: not known */
    uint32_t registers;          /* of a thread, as the kernel is allocated; 0: virtual */
    uint32_t banks;              /* of the register file; 0: not known */
    uint32_t thread_registers;   /* most that a thread of this GPU may have; 0: not known */
    const hd_gpu_limits *limits; /* from which a model that changes the registers per thread computes its occupancy;
                                    NULL: not known */
    hd_occupancy_use use;        /* of a CTA, except registers */
} hd_rf_residency;

/* What a model that compares the results of lanes sees of a faulty one. */
typedef struct hd_rf_detected {
    uint64_t at;        /* the driver's clock when they are compared */
    uint32_t warp, cta; /* of the launch */
    uint32_t function, instruction, thread;
} hd_rf_detected;
typedef struct hd_rf_detection {
    uint64_t wrong, caught; /* results of the program that are wrong; of these, those that a comparison shows */
    uint64_t differences;   /* comparisons that differ: also where the faulty lane repeats what another one did right */
    hd_rf_detected first;   /* with differences */
} hd_rf_detection;
void hd_rf_detection_join(hd_rf_detection *into, const hd_rf_detection *from);
void hd_rf_difference(hd_rf_detection *detection, const hd_rf_detected *what);

typedef struct hd_rf_launch {
    uint32_t function; /* the kernel */
    hd_rf_residency residency;
} hd_rf_launch;

typedef struct hd_rf_model {
    const struct hd_rf_model_info *info;
    uint64_t counters[HD_COUNTER_COUNT]; /* since the launch began */
    /* Warp registers of the SM that hold a value or are reserved for one, recorded once for each instruction
     * (hd_rf_record_held); empty: the model does not record them. */
    hd_rf_series allocation;
    uint64_t held; /* their number now, which hd_rf_record_held records */
    uint64_t recorded,
        recorded_times;    /* the last one recorded, and how often; not in `allocation` yet: hd_rf_record_rest */
    uint64_t storage_bits; /* that the technique adds to one SM, by its paper's arithmetic; set by `launch` */
    uint32_t table_bytes;  /* of its renaming table; set by `launch`; 0: as in the GPU description */
    uint32_t file_reduction_percent; /* percent of the GPU's register file that it lacks; set by `launch` */
    uint32_t turn; /* set by `create`; most instructions of a turn; 0: a segment, or one if the model ranks warps */
    uint32_t active_warps; /* set by `create`; not 0: most warps that take turns */
    uint32_t fault;        /* planted: the fault-th move of data inside the model is lost (0: none); see hd_rf_loses */
    hd_memo_state memo;    /* of count mode's memoization: memo.h */
    hd_rf_detection detection;
} hd_rf_model;

typedef struct hd_rf_ops {
    /* Reads what the compiler decided, from the module's annotations, which may be gone afterwards. NULL with *refusal
     * (static text) if the annotations do not fit the options. */
    hd_rf_model *(*create)(const hd_rf_module *code, const char *options, const char **refusal);
    void (*destroy)(hd_rf_model *model);
    void (*launch)(hd_rf_model *model, const hd_rf_launch *launch);
    /* May another CTA become resident? Asked until it may. Changes nothing. */
    bool (*may_launch_cta)(hd_rf_model *model, uint32_t cta);
    void (*cta_end)(hd_rf_model *model, uint32_t cta);
    void (*warp_begin)(hd_rf_model *model, hd_rf_warp *warp);
    void (*warp_end)(hd_rf_model *model, hd_rf_warp *warp);
    /* The new frame is on top. Of its registers, the call has written those of parameters, into the register file. */
    void (*frame_begin)(hd_rf_model *model, hd_rf_warp *warp);
    void (*frame_end)(hd_rf_model *model, hd_rf_warp *warp); /* it is still on top */
    /* A warp stops (out) or starts (in) to take turns; the other one is NULL. Accesses for a warp that starts must be
     * complete before it issues; nobody waits for those of a warp that stops. */
    void (*warp_switch)(hd_rf_model *model, hd_rf_warp *out, hd_rf_warp *in, hd_access_sink *sink);
    /* The warp with the highest rank goes first: among those that take turns, to issue; among those that wait, to take
     * turns. Warps of equal rank are in the driver's own order. `next` is the warp's next instruction.
     * Changes nothing. Count mode asks when a turn ends. */
    uint32_t (*rank_warp)(hd_rf_model *model, const hd_rf_step *next, uint64_t now);
    hd_gate (*may_issue)(hd_rf_model *model, const hd_rf_step *step, uint64_t now);
    void (*before)(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink);
    void (*execute)(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink);
    /* Nothing issues on these units at `now` (a bit 1 << hd_unit each). Returns those that the model uses itself: for
     * as long as an instruction that it repeats occupies them, else for a cycle. Called at most once for each time
     * `now`; in count mode one instruction issues at a time. */
    uint32_t (*idle_slot)(hd_rf_model *model, uint32_t units, uint64_t now, hd_access_sink *sink);
    uint32_t columns; /* HD_COLUMN_*, of hd_rf_step */
    bool coupled;
    bool needs_flags; /* .reuse, of machine code (hd_machine_function.slots) */
    /* What it does depends on the cycle in which things happen: on idle units, drained buffers, loads in flight. Count
     * mode only imitates that, instruction by instruction, ten times as long and more. */
    bool timed;
    /* Warp registers of the register file that have power now; NULL: all have. */
    uint64_t (*powered)(const hd_rf_model *model);
    uint8_t storage; /* hd_energy: the structure of hd_rf_model.storage_bits, for its leakage */
    uint8_t file;    /* hd_energy: of the register file, for its leakage; 0: REGISTER_BANK */
    /* Bits of the storage behind power gates, which leak as `gates` where they have no power; those that have it are
     * counted in BUFFER_POWERED. NULL: none. */
    uint64_t (*gated_bits)(const struct hd_rf_model_info *info);
    uint8_t gates; /* hd_energy */
    /* With these options, the thread of a warp that a lane of the hardware executes. NULL: threads are mapped in order,
     * and the model does not compare what lanes compute. */
    uint32_t (*thread_of_lane)(const char *options, uint32_t lane);
    void (*finalize)(hd_rf_model *model); /* a launch has ended: counts what is not counted yet */
    const hd_memo_ops *memo;              /* what makes count mode faster: memo.h */
} hd_rf_ops;

typedef enum hd_rf_headline_kind {
    HD_HEADLINE_SHARE,
    HD_HEADLINE_REST,
    HD_HEADLINE_CHANGE,
    HD_HEADLINE_QUOTIENT,
    HD_HEADLINE_VARIATION
} hd_rf_headline_kind;
typedef struct hd_rf_headline_info { /* a row of headlines.def */
    const char *title, *meaning;
    const char *otherwise;       /* why there is none if `needs` is 0 */
    uint8_t kind;                /* hd_rf_headline_kind */
    uint16_t part, whole, needs; /* counters */
} hd_rf_headline_info;

typedef struct hd_rf_model_info {
    const char *name, *technique; /* technique: its spelling in ir/techniques.def, "" for the baseline */
    const hd_rf_ops *ops;
    const char *pass;    /* what must have annotated the module, as -p takes it: "bow(iw=3)"; "" for nothing */
    const char *options; /* "iw=3,entries=12" */
    const char *summary;
    const hd_rf_headline_info *headline; /* NULL: none */
} hd_rf_model_info;
extern const hd_rf_model_info *const hd_rf_models;
extern uint32_t hd_rf_model_count;
/* Of a plug-in; false: there is no room. The title makes it a standard configuration (models.def); NULL: it is none. */
bool hd_rf_model_add(const hd_rf_model_info *row, const char *standard_title);
const hd_rf_model_info *hd_rf_model_find(const char *name, size_t length);

typedef struct hd_rf_option_info { /* what a user may set, for all models with these operations */
    const hd_rf_ops *ops;
    const char *name, *summary;
    const char *pass;     /* that must be given the same number if the model needs that pass; "" for none */
    uint32_t least, most; /* of the number; most 0: a word without a number */
} hd_rf_option_info;
extern const hd_rf_option_info *const hd_rf_options;
extern uint32_t hd_rf_option_count;
bool hd_rf_option_add(const hd_rf_option_info *row); /* of a plug-in; false: there is no room */

typedef struct hd_rf_family_info { /* a name for all models that differ only in their options */
    const char *name, *model;      /* model: one of them, whose options may be replaced */
} hd_rf_family_info;
extern const hd_rf_family_info hd_rf_families[];
extern const uint32_t hd_rf_family_count;
typedef struct hd_rf_combination_info { /* a row of combinations.def */
    const char *one, *other;            /* spellings of techniques */
    const char *model;                  /* "": they are refused, for the reason */
    const char *reason;
} hd_rf_combination_info;
extern const hd_rf_combination_info hd_rf_combinations[];
extern const uint32_t hd_rf_combination_count;
/* If the model is a standard configuration of its technique: what the paper calls it, or its name if it has no title.
 * Else NULL. */
const char *hd_rf_standard_title(const hd_rf_model_info *model);
/* Does it ask for addresses or values? Then count mode walks it, and all other models, through single instructions:
 * ten times as long and more. */
static inline bool hd_rf_asks_for_values(const hd_rf_model_info *model)
{
    return model->ops->columns & (HD_COLUMN_ADDRESSES | HD_COLUMN_RESULTS | HD_COLUMN_LOADED);
}

hd_rf_model *hd_rf_model_new(const hd_rf_model_info *info, const hd_rf_module *code, const char **refusal);
void hd_rf_model_free(hd_rf_model *model);

/* The number after the last "name=" in an option text, or `otherwise`. */
uint32_t hd_rf_option(const char *options, const char *name, uint32_t otherwise);
/* Is the word in the option text? */
bool hd_rf_flag(const char *options, const char *name);

/* Records the registers that are held, once for each instruction. Equal numbers in a row enter the series together. */
void hd_rf_record_rest(hd_rf_model *model);
static inline void hd_rf_record_held_times(hd_rf_model *model, uint64_t held, uint64_t times)
{
    if (held != model->recorded) {
        hd_rf_record_rest(model);
        model->recorded = held;
    }
    model->recorded_times += times;
}
static inline void hd_rf_record_held(hd_rf_model *model)
{
    hd_rf_record_held_times(model, model->held, 1);
    if (model->memo.effects)
        hd_array_push(model->memo.effects,
                      (hd_effect){HD_EFFECT_HELD, 0, (uint32_t)(model->held - model->memo.held), 1});
}

/* Counts an event that is no access. */
static inline void hd_rf_event(hd_rf_model *model, hd_counter counter, uint64_t n)
{
    assert(!hd_counter_derives(counter));
    model->counters[counter] += n;
}
/* Models ask this before each move of data between their structures. True once, at the fault-th, in tests that break
 * the model. */
static inline bool hd_rf_loses(hd_rf_model *model) { return HD_PLANTED(model->fault && --model->fault == 0); }

/* ---- the main register file, as most models have it: one claim for each register, by its index in the warp ------- */

typedef HD_ARRAY(hd_claim) hd_rf_warp_file;
typedef struct hd_rf_file {
    HD_ARRAY(hd_rf_warp_file) warps; /* by slot */
} hd_rf_file;

void hd_rf_file_frame_begin(hd_rf_file *file, const hd_rf_warp *warp);
void hd_rf_file_free(hd_rf_file *file);
void hd_rf_file_snapshot(hd_rf_file *file, const hd_rf_warp *warp, hd_snapshot *snapshot); /* memo.h */
static inline hd_claim *hd_rf_file_at(hd_rf_file *file, const hd_rf_warp *warp, uint32_t index)
{
    return &file->warps.items[warp->slot].items[index];
}
/* Reads the source from the file; writes the result to it. */
static inline void hd_rf_file_read(hd_rf_file *file, const hd_rf_step *step, uint32_t source, hd_access_sink *sink)
{
    uint32_t word = step->sources[source];
    hd_claim claim = *hd_rf_file_at(file, step->warp, hd_rf_index(step, word));
    hd_rf_read(sink, step, source, HD_STRUCTURE_FILE, step->effective, hd_rf_owner(step, word), claim);
}
static inline void hd_rf_file_write(hd_rf_model *model, hd_rf_file *file, const hd_rf_step *step, uint32_t destination,
                                    hd_access_sink *sink)
{
    hd_rf_write(sink, step, destination, HD_STRUCTURE_FILE);
    if (hd_rf_loses(model))
        return;
    hd_claim *claim = hd_rf_file_at(file, step->warp, hd_rf_index(step, step->destinations[destination].word));
    *claim = hd_rf_written(step, destination, *claim);
}

/* ---- places: storage beside the file, with claims of what was moved there and of nothing else -------------------- */

/* A place for one register in a structure of the model: an entry of a cache, a latch. The functions below emit the
 * access that moves data, and what they take into the claim are the lanes of that access. So what a model has in places
 * cannot claim a lane that was not moved there, or that its warp did not execute, whatever lanes the model asks for.
 *
 * Hardware finds a register by its number: `owner.index` and `lanes` are the tag, which the model may clear or forget
 * to clear; whether the tag is right is what the proof looks at. */
typedef struct hd_rf_place {
    hd_owner owner;
    uint32_t lanes; /* that the hardware takes for valid; 0: it is empty */
    hd_claim claim;
} hd_rf_place;

static inline void hd_rf_place_clear(hd_rf_place *place) { place->lanes = 0; }

/* The frame ends, and its registers are no more: the next call's have the same numbers. */
static inline void hd_rf_place_frame_end(hd_rf_place *place, const hd_rf_warp *warp)
{
    if (place->owner.index >= warp->identity.base)
        place->lanes = 0;
}

/* What hd_rf_place_read and its like have moved: for them alone. */
void hd_rf_place_take(hd_rf_model *model, hd_rf_place *place, const hd_rf_step *step, uint32_t word, uint32_t lanes,
                      hd_claim from);

/* Delivers what the place has of the source, with a READ. Returns the lanes. */
static inline uint32_t hd_rf_place_read(const hd_rf_place *place, const hd_rf_step *step, uint32_t source,
                                        hd_structure structure, hd_access_sink *sink)
{
    bool has = place->owner.index == hd_rf_index(step, step->sources[source]);
    uint32_t lanes = has ? place->lanes & step->effective : 0;
    if (lanes)
        hd_rf_read(sink, step, source, structure, lanes, place->owner, place->claim);
    return lanes;
}

/* Delivers these of the effective lanes of the source from the file. Returns 1 + the READ; 0: there are none. */
static inline uint16_t hd_rf_file_read_lanes(hd_rf_file *file, const hd_rf_step *step, uint32_t source, uint32_t lanes,
                                             hd_access_sink *sink)
{
    uint32_t word = step->sources[source];
    lanes &= step->effective;
    return lanes ? hd_rf_read(sink, step, source, HD_STRUCTURE_FILE, lanes, hd_rf_owner(step, word),
                              *hd_rf_file_at(file, step->warp, hd_rf_index(step, word)))
                 : 0;
}

/* The same, and what was read goes to the place, with a FILL. A place that has another register loses it. */
static inline void hd_rf_place_fill(hd_rf_model *model, hd_rf_file *file, hd_rf_place *place, const hd_rf_step *step,
                                    uint32_t source, hd_structure structure, uint32_t lanes, hd_access_sink *sink)
{
    uint32_t word = step->sources[source];
    uint16_t read = hd_rf_file_read_lanes(file, step, source, lanes, sink);
    if (!read)
        return;
    lanes &= step->effective;
    hd_emit(sink, (hd_rf_access){.structure = (uint8_t)structure, .kind = HD_RF_FILL, .after = read, .lanes = lanes});
    hd_rf_place_take(model, place, step, word, lanes, *hd_rf_file_at(file, step->warp, hd_rf_index(step, word)));
}

/* The result goes to the place, with a WRITE. */
static inline void hd_rf_place_write(hd_rf_model *model, hd_rf_place *place, const hd_rf_step *step,
                                     uint32_t destination, hd_structure structure, hd_access_sink *sink)
{
    hd_rf_write(sink, step, destination, structure);
    hd_rf_place_take(model, place, step, step->destinations[destination].word, step->effective,
                     hd_rf_written(step, destination, (hd_claim){0, 0}));
}

void hd_rf_place_snapshot(hd_rf_place *place, hd_snapshot *snapshot); /* memo.h */

#endif
