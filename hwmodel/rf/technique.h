/* The interface of a register-file technique.
 *
 * A model is a storage model: it knows where register data lies, and moves it. It knows neither values nor cycles. It
 * decides at issue, in program order of each warp, and says which accesses follow (access.h); whoever drives it counts
 * or times them:
 *
 *   count mode (hwmodel/count/count.h)  takes an instruction's accesses as done at once, and counts them
 *   a cycle-level SM                 decides when each access happens: it queues it at its bank, after the access that
 *                                    it names in `after`, holds the instruction in its collector until its reads are
 *                                    done, and keeps consumers waiting until its writes are
 *
 * One warp instruction (hd_rf_step), in both:
 *
 *   may_issue  is the gate: the warp may not issue yet, for a reason, perhaps until a time. It is asked again until it
 *              may. It changes nothing but what counts refusals.
 *   before     emits what must be complete before the instruction issues: a prefetch, a refill, flag words. Once for
 *              each instruction of a warp, in program order. Must change nothing that may_issue looks at: a driver with
 *              cycles calls it when the instruction gets to the head of its warp, count mode when it issues.
 *   execute    is the whole instruction. The model delivers every source in all effective lanes (hd_rf_deliver), which
 *              proves it against what the baseline would read (identity.h); it emits its accesses, and takes up what
 *              results leave behind. A source that nothing delivers in some lane stops the replay, too. An instruction
 *              whose guard holds in no active lane is issued, but reads and writes nothing, under every model alike.
 *
 * As all of this happens at issue, in order, the k-th result of an instruction has the serial step->serial + k in both.
 * Where a paper allocates or frees storage later (when operands are collected, at write-back), the head of the model
 * says what deciding at issue changes.
 *
 * The counters of accesses derive from what is emitted, by access.def; operands, results and bypassed operands from the
 * instruction and its accesses. A model counts itself only what is no access (hd_rf_event). Hooks that a model has no
 * use for are NULL; create, destroy and execute are always there.
 *
 * How each technique uses it (C: what it takes from the compiler, as annotations of the IR)
 *
 *   baseline     execute: sources from the file, results to the file. Everything is measured against it.
 *   BOW, BOW-WR  C: where each destination goes (rf, boc, both). execute: the warp's window moves on, what stayed too
 *                long leaves it, dirty lanes go to the file (SPILL, then WRITE); a source's lanes that the window holds
 *                come from it, the others from the file, which fills it (FILL); results go where the tag says.
 *   CORF         C: exclusive register pairs. Column WIDTHS. execute: looks all sources up; two in one entry are one
 *                access, and the second has none of its own. A result takes byte slices of an entry, its partner's
 *                  where
 *                it fits, and relocates where it widens (a READ of the lanes that are not written).
 *   CORF++       C: left, right, don't care. As CORF; sources are one access where their allocation masks do not meet.
 *   RegMutex     C: |Bs|, |Es|; acquire and release. may_launch_cta by |Bs|; may_issue is not ready for an acquire
 *                while
 *                no section is free; execute maps (warp, register) to base set or section, and does not deliver from a
 *                section that changed hands. Rewritten code: it runs against its own baseline, and the outputs tie it
 *                  to
 *                the original. Paired warps: the same with one section a pair.
 *   LTRF, LTRF+  C: an interval's registers at its first instruction; dead-operand bits. before: entering another
 *                interval writes back and prefetches; a warp that comes back fetches its registers again. execute: all
 *                from and to the cache. warp_switch: the partition is written back and given away.
 *   RFC          no C. execute: results into the cache, the oldest leaves it. warp_switch: a warp that leaves writes
 *                its
 *                entries back.
 *   RFV          C: pir and pbr. before: flag words. execute: through the renaming table (LOOKUP, then the file); a
 *                register is mapped at its first write after a release; pbr before the operands, pir after the results.
 *   DeMO         rewritten code, own baseline. execute: what an annotated load loads waits in the collector of the next
 *                instruction, and is delivered from there (structure MEMORY).
 *
 * Models that couple warps (RegMutex, LTRF, RFC, RFV) say so (`coupled`): for them count mode interleaves the resident
 * warps (schedule.h has the order), asking may_launch_cta and may_issue, and calling warp_switch; there are no
 * columns then. Models that do not (BOW, CORF, DeMO) take instructions as they run.
 *
 * A new technique is one file here, its rows in models.def, and rows in counters.def and access.def where it counts
 * something new, in stalls.def where it makes warps wait, in options.def where a user may set something.
 *
 * Count mode can look up what a warp did before in the same state: memo.h, a second and optional set of hooks. A model
 * without them is right, and only slower.
 */
#ifndef HD_HWMODEL_RF_TECHNIQUE_H
#define HD_HWMODEL_RF_TECHNIQUE_H

#include "hwmodel/rf/access.h"
#include "hwmodel/rf/code.h"
#include "hwmodel/rf/identity.h"
#include "hwmodel/rf/memo.h"
#include "hwmodel/rf/series.h"
#include "hwmodel/stream.h"
#include "target/occupancy.h"

/* ---- what a hook sees -------------------------------------------------------------------------------------------- */

typedef struct hd_rf_warp {
    uint32_t slot; /* dense among the warps that live now: index of a model's state of it */
    uint32_t cta;
    uint32_t function; /* of the frame that began last: what frame_begin may ask */
    hd_identity_warp identity;
} hd_rf_warp;

typedef struct hd_rf_step {
    hd_rf_warp *warp;
    const hd_rf_code *code;
    const hd_instruction *insn;
    uint32_t function, instruction;
    uint32_t active, effective; /* lanes; effective is 0 where the guard holds in none */
    const uint32_t *sources;    /* words */
    const hd_rf_destination *destinations;
    uint32_t source_count, destination_count;
    uint32_t serial;           /* of the first destination's write; the k-th has serial + k */
    const uint64_t *addresses; /* columns that the model asked for, else NULL */
    const uint32_t *results;   /* of the k-th destination: results[k * 32 + lane]; of calls NULL */
    const hd_width *widths;    /* likewise, by destination */
} hd_rf_step;

/* Index of a source's or destination's word in the warp, and its owner. */
static inline uint32_t hd_rf_index(const hd_rf_step *step, uint32_t word) { return step->warp->identity.base + word; }
static inline hd_owner hd_rf_owner(const hd_rf_step *step, uint32_t word)
{
    return (hd_owner){step->warp->identity.warp, step->warp->identity.frame, hd_rf_index(step, word)};
}

/* The bank of the register file that the register of that index has without renaming; the word. */
static inline uint16_t hd_rf_index_bank(const hd_rf_warp *warp, uint32_t index)
{
    return (uint16_t)(index + warp->slot);
}
static inline uint16_t hd_rf_bank(const hd_rf_step *step, uint32_t word)
{
    return hd_rf_index_bank(step->warp, hd_rf_index(step, word));
}

/* ---- what goes wrong --------------------------------------------------------------------------------------------- */

/* What is wrong, with where the step is, unless something was wrong before. */
void hd_rf_fail(hd_rf_failure *failure, const hd_rf_step *step, hd_rf_failure what);

/* The structure holds (owner, claim), and delivers these lanes of the source from there: they are proved. Lanes that
 * nothing delivers are not, which the driver sees. */
static inline void hd_rf_deliver(hd_access_sink *sink, const hd_rf_step *step, uint32_t source, hd_structure structure,
                                 uint32_t lanes, hd_owner owner, hd_claim claim)
{
    uint32_t word = step->sources[source], wrong;
    sink->delivered.items[source] |= lanes;
    wrong = hd_identity_unproved(&step->warp->identity, hd_rf_index(step, word), owner, claim, lanes & step->effective);
    if (__builtin_expect(wrong != 0, 0))
        hd_rf_fail(&sink->failure, step,
                   (hd_rf_failure){.wrong = HD_RF_STALE, .structure = structure, .word = word, .lanes = wrong});
}

/* ... with an access for it. Says which one, as `after` of others has it. */
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

/* A result is written to the structure: its access, and nothing besides. */
static inline uint16_t hd_rf_write(hd_access_sink *sink, const hd_rf_step *step, uint32_t destination,
                                   hd_structure structure)
{
    return hd_emit(sink, (hd_rf_access){.structure = (uint8_t)structure,
                                        .kind = HD_RF_WRITE,
                                        .operand = hd_access_result(destination),
                                        .bank = hd_rf_bank(step, step->destinations[destination].word),
                                        .lanes = step->effective});
}

/* What a claim becomes with the result: its lanes that are not written stay as fresh as they are. */
static inline hd_claim hd_rf_written(const hd_rf_step *step, uint32_t destination, hd_claim old)
{
    return hd_identity_merge(&step->warp->identity, hd_rf_index(step, step->destinations[destination].word), old,
                             step->serial + destination, step->effective);
}

/* ---- gates ------------------------------------------------------------------------------------------------------- */

typedef enum hd_stall { /* why a warp may not issue */
                        HD_STALL_NONE,
#define HD_STALL(id, text) HD_STALL_##id,
#include "hwmodel/rf/stalls.def"
#undef HD_STALL
                        HD_STALL_COUNT
} hd_stall;
extern const char *const hd_stall_texts[HD_STALL_COUNT]; /* "a free register": what the warp waits for; NULL: of none */

typedef struct hd_gate {
    bool ready;
    uint8_t reason; /* hd_stall, where it is not */
    uint64_t wake;  /* the driver's clock when it is worth while to ask again; 0: it is not known */
} hd_gate;

/* ---- a model ----------------------------------------------------------------------------------------------------- */

typedef struct hd_rf_residency { /* for coupled models: hwmodel/count/schedule.h */
    uint32_t ctas, active;       /* resident CTAs; warps that take turns */
    uint32_t latency; /* instructions that others issue before a warp behind a long-latency load comes back */
    uint64_t bytes;   /* most that streams of resident CTAs may take */
    /* that would fit if registers were without limit: for models with may_launch_cta; 0: as ctas */
    uint32_t most_ctas;
    uint32_t cta_warps;        /* warps of a CTA; 0: not known */
    uint32_t sm_warps;         /* most resident warps of the SM; 0: not known */
    uint32_t file_registers;   /* warp registers (32 lanes of 32 bits) of the SM's register file; 0: not known */
    uint32_t registers;        /* of a thread, as the kernel is allocated; 0: virtual */
    uint32_t thread_registers; /* most that a thread of this GPU may have; 0: not known */
    /* what decides how many CTAs fit, and how: for models that change the registers of a thread; NULL: by their number
     * alone */
    const hd_gpu_limits *limits;
    hd_occupancy_use use; /* of a CTA; but for registers */
    uint32_t turn;        /* instructions of a turn at most; 0: a stretch */
} hd_rf_residency;

typedef struct hd_rf_launch {
    uint32_t function; /* the kernel */
    hd_rf_residency residency;
} hd_rf_launch;

typedef struct hd_rf_model {
    const struct hd_rf_model_info *info;
    uint64_t counters[HD_COUNTER_COUNT]; /* since the launch began */
    /* warp registers of the SM that hold a value or are kept for one, told once an issued instruction; empty: not
     * told */
    hd_rf_series allocation;
    uint64_t held;             /* of them, now: what hd_rf_tell tells */
    uint64_t told, told_times; /* the last of it, not in `allocation` yet: hd_rf_tell_rest */
    /* of what the technique adds to one SM (tables, tags, caches), by its paper's arithmetic; known from `launch` on */
    uint64_t storage_bits;
    uint32_t turn; /* where not 0: it has an order of warps of its own, in turns of at most so many instructions */
    /* its hooks that steer have nothing to say for this code, and are not asked: as many CTAs are resident as for other
     * models */
    bool follows;
    uint32_t fault;     /* for tests: the fault-th move of data inside the model is lost (0 = none); see hd_rf_loses */
    hd_memo_state memo; /* of count mode's memoization: memo.h */
} hd_rf_model;

typedef struct hd_rf_ops {
    /* A model reads what the compiler decided from the module's annotations here, once; they may be gone afterwards.
     * NULL with *refusal = why (static text) where the annotations do not fit the options. */
    hd_rf_model *(*create)(const hd_rf_module *code, const char *options, const char **refusal);
    void (*destroy)(hd_rf_model *model);
    void (*launch)(hd_rf_model *model, const hd_rf_launch *launch);
    bool (*may_launch_cta)(hd_rf_model *model, uint32_t cta);
    void (*cta_end)(hd_rf_model *model, uint32_t cta);
    void (*warp_begin)(hd_rf_model *model, hd_rf_warp *warp);
    void (*warp_end)(hd_rf_model *model, hd_rf_warp *warp);
    /* the new frame is on top; of its registers only parameters are written, by the call: the file holds them */
    void (*frame_begin)(hd_rf_model *model, hd_rf_warp *warp);
    void (*frame_end)(hd_rf_model *model, hd_rf_warp *warp); /* it still is on top */
    /* A warp leaves those that take turns (out), or comes to them (in); the other one is NULL. */
    void (*warp_switch)(hd_rf_model *model, hd_rf_warp *out, hd_rf_warp *in, hd_access_sink *sink);
    /* May the warp issue the instruction now? Asked again and again until it may. */
    hd_gate (*may_issue)(hd_rf_model *model, const hd_rf_step *step, uint64_t now);
    /* What must be complete before the instruction may issue: once for each instruction. */
    void (*before)(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink);
    /* The whole instruction: its operands are delivered, and so proved; its accesses are emitted. */
    void (*execute)(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink);
    uint32_t columns; /* HD_COLUMN_* */
    bool coupled;
    bool on_demand; /* registers of the file are taken when they are written: see hd_rf_model_crowd */
    /* A launch has ended: counts what is not counted yet. NULL: nothing */
    void (*finalize)(hd_rf_model *model);
    const hd_memo_ops *memo; /* what makes count mode quicker: memo.h; NULL: nothing */
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
    const char *otherwise;       /* why there is none where `needs` is 0 */
    uint8_t kind;                /* hd_rf_headline_kind */
    uint16_t part, whole, needs; /* counters */
} hd_rf_headline_info;

typedef struct hd_rf_model_info {
    const char *name, *technique; /* technique: spelling of ir/techniques.def, "" for the baseline */
    const hd_rf_ops *ops;
    const char *pass;    /* what must have annotated the module, as -p takes it: "bow(iw=3)"; "" for nothing */
    const char *options; /* "iw=3,entries=12" */
    const char *summary;
    const hd_rf_headline_info *headline; /* NULL: none */
} hd_rf_model_info;
extern const hd_rf_model_info hd_rf_models[];
extern const uint32_t hd_rf_model_count;
const hd_rf_model_info *hd_rf_model_find(const char *name, size_t length);

typedef struct hd_rf_option_info { /* what a user may set of all models with these operations */
    const hd_rf_ops *ops;
    const char *name, *summary;
    const char *pass;     /* that must get the same number, where the model needs it; "" for none */
    uint32_t least, most; /* of the number; most 0: a word alone */
} hd_rf_option_info;
extern const hd_rf_option_info hd_rf_options[];
extern const uint32_t hd_rf_option_count;

typedef struct hd_rf_family_info { /* models that differ in their options: a name for all of them */
    const char *name, *model;      /* model: that stands for them, whose options may be others */
} hd_rf_family_info;
extern const hd_rf_family_info hd_rf_families[];
extern const uint32_t hd_rf_family_count;
/* What the paper calls the technique of which this is a standard configuration; the model's name where it has no title;
 * NULL: it is no standard configuration. */
const char *hd_rf_standard_title(const hd_rf_model_info *model);

hd_rf_model *hd_rf_model_new(const hd_rf_model_info *info, const hd_rf_module *code, const char **refusal);
/* Before the first event, of a model with `on_demand`: one block may need more registers than the file has, so that its
 * warps may have to wait for free ones. */
void hd_rf_model_crowd(hd_rf_model *model);
void hd_rf_model_free(hd_rf_model *model);

/* Number behind the last "name=" in an option text, or `otherwise`. */
uint32_t hd_rf_option(const char *options, const char *name, uint32_t otherwise);
/* Is the word in the option text? */
bool hd_rf_flag(const char *options, const char *name);

/* Tells the registers that are held now, once an instruction. Numbers that stay the same go into the series
 * together. */
void hd_rf_tell_rest(hd_rf_model *model);
static inline void hd_rf_tell_times(hd_rf_model *model, uint64_t held, uint64_t times)
{
    if (held != model->told) {
        hd_rf_tell_rest(model);
        model->told = held;
    }
    model->told_times += times;
}
static inline void hd_rf_tell(hd_rf_model *model)
{
    hd_rf_tell_times(model, model->held, 1);
    if (model->memo.effects)
        hd_array_push(model->memo.effects,
                      (hd_effect){HD_EFFECT_HELD, 0, (uint32_t)(model->held - model->memo.held), 1});
}

/* Something that is no access happened n times. */
static inline void hd_rf_event(hd_rf_model *model, hd_counter counter, uint64_t n)
{
    assert(!hd_counter_derives(counter));
    model->counters[counter] += n;
}
/* Models ask this before each move of data between their structures; true once, at the fault-th, when a test broke the
 * model. */
static inline bool hd_rf_loses(hd_rf_model *model) { return model->fault && --model->fault == 0; }

/* ---- the main register file, as most models have it: one claim a register, indexed as identity.h does ------------ */

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
/* The source, from the file; the result, into it. */
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

#endif
