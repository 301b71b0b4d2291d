/* The interface of a register-file technique, and how each of the published ones uses it.
 *
 * A model is a storage model: it knows where register data lies, and moves it. It knows neither values nor cycles. The same model
 * answers two masters:
 *
 *   count mode (hwmodel/rf/count.h)   walks each warp instruction through the hooks in program order, at once
 *   the cycle-level SM (hwmodel/sm/)  calls the same hooks when the thing happens: `may_issue` and `issue` in the issue stage,
 *                                     `operand_read` when a collector wants an operand (the answer's place and bank tell it what
 *                                     to arbitrate for, `extra_cycles` what to add), `unit_result` when a unit is done, `write_back`
 *                                     when the result arrives, `complete` when the instruction leaves. Its scoreboard holds a
 *                                     register back from the next writer until all collectors that want the old value have it, so that
 *                                     the proof (identity.h) sees at each read exactly what the baseline would read. It also asks
 *                                     `may_launch_cta` and `rank_warps`.
 *
 * One warp instruction in count mode (hd_rf_step):
 *   may_issue -> issue -> operand_read for each source word -> load_address | store_address -> unit_result -> write_back for each
 *   destination word -> complete;   every answer of operand_read is proved against the baseline before the write is recorded.
 * Hooks that a model has no use for are NULL. An instruction whose guard holds in no active lane is issued and completes, but reads
 * and writes nothing, under every model alike.
 *
 * How each technique uses it (count mode unless said; C: what it takes from the compiler, as annotations of the IR)
 *
 *   baseline     operand_read and write_back go to the file. Everything is measured against it.
 *   BOW, BOW-WR  C: where each destination goes (rf, boc, both). issue: the warp's window moves on, what stayed too long leaves it, dirty
 *                lanes go to the file. operand_read: the lanes that the window holds come from it, the rest from the file.
 *                write_back by the tag. warp_end: the window is dropped. SM: a window hit asks for no bank.
 *   CORF         C: exclusive register pairs. Column WIDTHS: write_back learns what the register needs now (all 32 lanes that hold
 *                something: widths.h), takes byte slices of a physical entry, its buddy's where it fits, relocates what widens (a
 *                copy of the lanes that are not written). issue looks all sources up; two in one entry are one access: the second
 *                answer has `with` set. launch: renaming table and free map.
 *   CORF++       C: left, right, don't care. As CORF; `with` where the allocation masks do not meet.
 *   RegMutex     C: |Bs|, |Es|; acquire and release are instructions of the rewritten kernel, which issue sees. may_launch_cta by |Bs|;
 *                may_issue is false for an acquire while no section is free; operand_read maps (warp, register) to base set or section
 *                and fails the proof where a section changed hands. Rewritten code: it runs against its own baseline, and the
 *                outputs tie it to the original. Paired warps: the same with one section a pair.
 *   LARF, LAS    no C (release flags help). Columns ADDRESSES, RESULTS. load_address: a hit in the address mapping table answers
 *                instead of memory: the destination is mapped to the other warp's physical register; the model compares the 32
 *                values, and the mapping takes its own claim and the physical register's stamp. store_address evicts. rank_warps puts
 *                warps first whose next load would hit.
 *   LTRF, LTRF+  C: an interval's registers at its first instruction; dead-operand bits. issue: entering another interval writes back and
 *                prefetches (copies between file and cache). operand_read and write_back go to the cache. warp_switch: the
 *                partition is written back and given away; on return it is fetched again (LTRF+: live registers only). rank_warps:
 *                active warps first. SM: may_issue waits for the prefetch.
 *   RFV          C: pir and pbr. write_back maps a register at its first write after a release; complete releases (after all operands
 *                are collected and pending writes are in, guard or not); operand_read through the renaming table, whose entry names
 *                the owner. issue reads flag words through the release-flag cache. launch: which registers are renamed.
 *   GPU-Shrink   as RFV on half the file; may_launch_cta and may_issue keep the balance counters; warp_switch spills and fetches.
 *   DeMO         rewritten code, own baseline. write_back of a virtual-destination load keeps the value in the collector of the next
 *                instruction; its operand_read answers from there (place MEMORY).
 *   HRF          no C. write_back goes to the warp's SRAM write buffer; warp_switch drains it into STT-RAM while the other buffer fills;
 *                operand_read from buffer or STT-RAM; may_issue is false while the drain is not finished.
 *   Warped-DMR   no C; registers stay where they are. unit_result has the active and effective lanes: idle lanes of a cluster repeat active
 *                lanes' work, full warps go to the replay queue; may_issue is false for a consumer of an unverified result.
 *
 * Models that couple warps (RegMutex, LARF, LTRF, RFV, GPU-Shrink, HRF, Warped-DMR) say so (`coupled`): for them count mode interleaves the resident
 * warps' events (interleave.h tells the order), asking may_launch_cta, rank_warps, may_issue and warp_switch, without columns. Models that do not (BOW, CORF, CORF++) take events in the order of the stream.
 *
 * A model that has `carry` does with a warp what follows from what it knows of that warp alone: each stretch of instructions is walked once for each
 * state that it can be in, and looked up from then on (automaton.h). What it does besides to storage that its warps share goes through `deeds`
 * (release.c: which physical register a warp gets, but not whether it has one).
 * Such a model works on lanes as masks, and must not count lanes or prefer one (lanes.h). With a frame that is not on top it has nothing to do, but for
 * what it tells of in `carry`; nor does it matter where in the warp a frame's registers begin.
 *
 * A new technique is one file here, its rows in models.def, and rows in counters.def where it counts something new, in options.def where a
 * user may set something.
 */
#ifndef HD_HWMODEL_RF_TECHNIQUE_H
#define HD_HWMODEL_RF_TECHNIQUE_H

#include "hwmodel/rf/code.h"
#include "hwmodel/rf/identity.h"
#include "hwmodel/rf/series.h"
#include "hwmodel/stream.h"
#include "target/occupancy.h"

typedef enum hd_counter {
#define HD_COUNTER(id, group, key, energy, title) HD_COUNTER_##id,
#include "hwmodel/rf/counters.def"
#undef HD_COUNTER
    HD_COUNTER_COUNT
} hd_counter;

typedef enum hd_counter_group {
    HD_COUNTS_FILE, HD_COUNTS_NEAR, HD_COUNTS_PART, HD_COUNTS_CLASS, HD_COUNTS_LEAST, HD_COUNTS_MOST
} hd_counter_group;
typedef struct hd_counter_info {
    const char *key, *title;
    uint8_t group, energy; /* hd_counter_group; hd_energy of target/gpu.h */
} hd_counter_info;
extern const hd_counter_info hd_counters[HD_COUNTER_COUNT];
/* Takes what another launch counted into the counters of those before. */
void hd_counters_join(uint64_t into[HD_COUNTER_COUNT], const uint64_t from[HD_COUNTER_COUNT]);
/* What was counted `times` times. */
void hd_counter_add(uint64_t counters[HD_COUNTER_COUNT], hd_counter counter, uint64_t n, uint64_t times);

/* ---- what a hook sees ---------------------------------------------------------------------------------------------- */

typedef struct hd_rf_warp {
    uint32_t slot; /* dense among the warps that live now: index of a model's state of it */
    uint32_t cta;
    uint32_t function; /* of the frame that began last: what frame_start may ask */
    hd_identity_warp identity;
} hd_rf_warp;

typedef struct hd_rf_step {
    hd_rf_warp *warp;
    const hd_rf_code *code;
    const hd_instruction *insn;
    uint32_t function, instruction;
    uint32_t active, effective;         /* lanes; effective is 0 where the guard holds in none */
    const uint32_t *sources;            /* words */
    const hd_rf_destination *destinations;
    uint32_t source_count, destination_count;
    uint32_t serial;                    /* of the first destination's write; the k-th has serial + k */
    const uint64_t *addresses;          /* columns that the model asked for, else NULL */
    const uint32_t *results;            /* of the k-th destination: results[k * 32 + lane]; of calls NULL */
    const hd_width *widths;          /* likewise, by destination */
} hd_rf_step;

/* Index of a source's or destination's word in the warp, and its owner. */
static inline uint32_t hd_rf_index(const hd_rf_step *step, uint32_t word) { return step->warp->identity.base + word; }
static inline hd_owner hd_rf_owner(const hd_rf_step *step, uint32_t word)
{
    return (hd_owner){step->warp->identity.warp, step->warp->identity.frame, hd_rf_index(step, word)};
}

typedef enum hd_rf_place {
    HD_RF_FILE,    /* the main register file: needs its bank */
    HD_RF_NEAR,    /* a structure beside it (window, cache, write buffer) */
    HD_RF_MEMORY,  /* the load unit */
} hd_rf_place;

/* Where an operand comes from: one piece, or two where its lanes come from different places. */
typedef struct hd_rf_piece {
    uint32_t lanes;
    uint8_t place;
    hd_owner owner; /* as the structure has it, not as the reader wants it */
    hd_claim claim;
} hd_rf_piece;
typedef struct hd_rf_answer {
    hd_rf_piece pieces[2];
    uint32_t count;
    uint32_t bank, extra_cycles; /* for the SM */
    uint32_t with;               /* 1 + the source whose access brings this one too; 0 = an access of its own */
} hd_rf_answer;

/* ---- what goes wrong ----------------------------------------------------------------------------------------------- */

typedef enum hd_rf_wrong {
    HD_RF_PROVED,
    HD_RF_STALE,    /* a structure holds an older value */
    HD_RF_MISSING,  /* no structure delivers it */
    HD_RF_SHARED,   /* the storage of a register was given to another one */
    HD_RF_FULL,     /* the register file has no free register, and the warp cannot wait for one */
    HD_RF_OVERFLOW, /* a warp wrote more often than serials can tell */
} hd_rf_wrong;

typedef struct hd_rf_failure {
    hd_rf_wrong wrong;
    uint8_t place;       /* hd_rf_place, of a stale value */
    uint32_t warp, cta;  /* of the launch */
    uint32_t function, instruction, word, lanes;
} hd_rf_failure;

/* What is wrong, with where the step is. false, always. */
bool hd_rf_fail(hd_rf_failure *failure, const hd_rf_step *step, hd_rf_failure what);

/* ---- lengths ------------------------------------------------------------------------------------------------------- */

/* A length in instructions that begins again and again in a warp, of which the least and the greatest are counted. It may become longer than
 * anything that is written down of the warp (carry.h): what walks the warp keeps it, and notes where the first one ends. */
enum { HD_RF_METERS = 2 };
typedef struct hd_rf_meter {
    uint64_t length; /* so far */
    uint16_t shortest, longest; /* hd_counter */
    bool noting, noted, cut;    /* noted: the first one since `noting` began has ended, after `head`; it is not counted yet */
    uint64_t head;
} hd_rf_meter;

typedef struct hd_rf_lapse { /* how it went on from what it was, or where it ended first and what it had afterwards */
    bool ended, cut;
    uint16_t shortest, longest;
    uint32_t head, rest;
} hd_rf_lapse;

/* ---- a model ------------------------------------------------------------------------------------------------------- */

typedef struct hd_rf_residency { /* for coupled models: interleave.h */
    uint32_t ctas, active;  /* resident CTAs; warps that take turns */
    uint32_t latency;       /* instructions that others issue before a warp behind a long-latency load comes back */
    uint64_t bytes;         /* most that streams of resident CTAs may take */
    uint32_t most_ctas;     /* that would fit if registers were without limit: for models with may_launch_cta; 0: as ctas */
    uint32_t cta_warps;     /* warps of a CTA; 0: not known */
    uint32_t sm_warps;      /* most resident warps of the SM; 0: not known */
    uint32_t file_registers; /* warp registers (32 lanes of 32 bits) of the SM's register file; 0: not known */
    uint32_t registers;     /* of a thread, as the kernel is allocated; 0: virtual */
    uint32_t thread_registers; /* most that a thread of this GPU may have; 0: not known */
    const hd_gpu_limits *limits; /* what decides how many CTAs fit, and how: for models that change the registers of a thread; NULL: by their number alone */
    hd_occupancy_use use;        /* of a CTA; but for registers */
    uint32_t turn;          /* instructions of a turn at most; 0: a stretch */
} hd_rf_residency;

typedef struct hd_rf_launch {
    uint32_t function; /* the kernel */
    hd_rf_residency residency;
} hd_rf_launch;

typedef struct hd_rf_run { /* of instructions with the same number of registers */
    uint64_t held, times;
} hd_rf_run;
typedef HD_ARRAY(hd_rf_run) hd_rf_runs;

/* Something that a model does to storage which its warps share, noted while it walks a warp, and done afterwards, in order: so that it can be done
 * again where the warp is looked up. What it means is the model's; it may depend on the warp, but must not change what the model knows of it. */
enum { HD_RF_NO_DEED = 0 };
typedef struct hd_rf_deed {
    uint16_t what, also; /* what: one of the model's, or HD_RF_NO_DEED; also: what it means is the model's */
    uint32_t index, n; /* what they mean is the model's */
} hd_rf_deed;
typedef HD_ARRAY(hd_rf_deed) hd_rf_deeds;

typedef struct hd_rf_model {
    const struct hd_rf_model_info *info;
    uint64_t counters[HD_COUNTER_COUNT]; /* since the launch began */
    hd_rf_series allocation;   /* warp registers of the SM that hold a value or are kept for one, told once an issued instruction; empty: not told */
    uint64_t held;             /* of them, now: what hd_rf_tell tells */
    uint64_t told, told_times; /* the last of it, not in `allocation` yet: hd_rf_tell_rest */
    hd_rf_runs *runs;          /* where it is told too; NULL: nowhere */
    hd_rf_deeds deeds;         /* that are still to be done */
    uint64_t deeds_done;       /* or dropped, before these */
    uint64_t storage_bits;     /* of what the technique adds to one SM (tables, tags, caches), by its paper's arithmetic; known from `launch` on */
    bool full;      /* it found no free register */
    bool shares;    /* warps have storage in common, though the model's `carry` is for those that do not */
    uint32_t turn;  /* where not 0: it has an order of warps of its own, in turns of at most so many instructions */
    bool follows;   /* its hooks that steer have nothing to say for this code, and are not asked: as many CTAs are resident as for other models */
    bool releases;  /* what a warp holds changes not with what it writes alone: registers are given back where flags say so */
    bool forgets;   /* for tests: nothing that was walked is looked up, and warps are taken up anew for each stretch */
    uint32_t fault; /* for tests: the fault-th move of data inside the model is lost (0 = none); see hd_rf_loses */
} hd_rf_model;

struct hd_rf_carrier;
typedef struct hd_rf_ops {
    /* A model reads what the compiler decided from the module's annotations here, once; they may be gone afterwards. NULL with
     * *refusal = why (static text) where the annotations do not fit the options. */
    hd_rf_model *(*create)(const hd_rf_module *code, const char *options, const char **refusal);
    void (*destroy)(hd_rf_model *model);
    void (*launch)(hd_rf_model *model, const hd_rf_launch *launch);
    bool (*may_launch_cta)(hd_rf_model *model, uint32_t cta);
    void (*cta_end)(hd_rf_model *model, uint32_t cta);
    void (*warp_start)(hd_rf_model *model, hd_rf_warp *warp);
    void (*warp_end)(hd_rf_model *model, hd_rf_warp *warp);
    void (*frame_start)(hd_rf_model *model, hd_rf_warp *warp); /* the new frame is on top; of its registers only parameters are written, by the call: the file holds them */
    void (*frame_end)(hd_rf_model *model, hd_rf_warp *warp);   /* it still is on top */
    void (*rank_warps)(hd_rf_model *model, hd_rf_warp **warps, uint32_t count); /* reorders, best first */
    void (*warp_switch)(hd_rf_model *model, hd_rf_warp *out, hd_rf_warp *in); /* count mode: one of them is NULL */
    bool (*may_issue)(hd_rf_model *model, const hd_rf_step *step);
    /* The first instruction of a function, from `from` on, of which may_issue may be false; HD_NONE: none. NULL: of each. */
    uint32_t (*next_asked)(const hd_rf_model *model, uint32_t function, uint32_t from);
    void (*issue)(hd_rf_model *model, const hd_rf_step *step);
    void (*operand_read)(hd_rf_model *model, const hd_rf_step *step, uint32_t source, hd_rf_answer *answer);
    bool (*load_address)(hd_rf_model *model, const hd_rf_step *step); /* true: answered instead of memory */
    void (*store_address)(hd_rf_model *model, const hd_rf_step *step);
    void (*unit_result)(hd_rf_model *model, const hd_rf_step *step);
    void (*write_back)(hd_rf_model *model, const hd_rf_step *step, uint32_t destination);
    void (*complete)(hd_rf_model *model, const hd_rf_step *step);
    /* In count mode, the hooks from `issue` on for one instruction, as walk.h goes through them and proves what is read (HD_RF_WALK makes it from them);
     * false: *failure says what is not proved. NULL: they are called one after another, which is slower. */
    bool (*walk)(hd_rf_model *model, const hd_rf_step *step, hd_rf_failure *failure);
    uint32_t columns; /* HD_COLUMN_* */
    bool coupled;
    /* What the model knows of a warp: carry.h. NULL: it is walked through every instruction. */
    void (*carry)(hd_rf_model *model, hd_rf_warp *warp, struct hd_rf_carrier *carrier);
    hd_rf_meter *(*meters)(hd_rf_model *model, const hd_rf_warp *warp); /* HD_RF_METERS of the warp; NULL: none */
    /* Does deeds of the warp. HD_NONE, or the word of the frame on top that got storage which another one has, or none (hd_rf_model.full). */
    uint32_t (*deeds)(hd_rf_model *model, hd_rf_warp *warp, const hd_rf_deed *deeds, uint32_t count);
    const char *waits_for; /* what warps that may not issue wait for; NULL: nothing */
    bool on_demand;        /* registers of the file are taken when they are written: see hd_rf_model_crowd */
    /* Whether the other one, which has the same hooks and annotations, does all that the model would do, so that it need see nothing itself: count_like then
     * counts, at the end, from what the other one has counted. NULL: no. */
    bool (*like)(const hd_rf_model *model, const hd_rf_model *other);
    void (*count_like)(hd_rf_model *model, const hd_rf_model *other);
    void (*settle)(hd_rf_model *model);  /* counts what is not counted yet: of what the warps share, it may be quicker to count what has become of it. NULL: nothing */
    void (*arrange)(hd_rf_model *model); /* makes those that are noted quicker to do, again and again; not fewer. NULL: they stay as they are */
} hd_rf_ops;

typedef struct hd_rf_model_info {
    const char *name, *technique; /* technique: spelling of ir/techniques.def, "" for the baseline */
    const hd_rf_ops *ops;
    const char *pass;    /* what must have annotated the module, as -p takes it: "bow(iw=3)"; "" for nothing */
    const char *options; /* "iw=3,entries=12" */
    const char *summary;
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
    const char *name, *model; /* model: that stands for them, whose options may be others */
} hd_rf_family_info;
extern const hd_rf_family_info hd_rf_families[];
extern const uint32_t hd_rf_family_count;

hd_rf_model *hd_rf_model_new(const hd_rf_model_info *info, const hd_rf_module *code, const char **refusal);
/* Before the first event, of a model with `on_demand`: one block may need more registers than the file has, so that its warps may have to wait
 * for free ones. */
void hd_rf_model_crowd(hd_rf_model *model);
void hd_rf_model_free(hd_rf_model *model);

/* Of the warp; NULL: none. */
static inline hd_rf_meter *hd_rf_meters(hd_rf_model *model, const hd_rf_warp *warp)
{
    return model->info->ops->meters ? model->info->ops->meters(model, warp) : NULL;
}

/* Number behind the last "name=" in an option text, or `otherwise`. */
uint32_t hd_rf_option(const char *options, const char *name, uint32_t otherwise);
/* Is the word in the option text? */
bool hd_rf_flag(const char *options, const char *name);

/* The length ends, and the next one begins. cut: it could have been longer, and is no shortest one. */
static inline void hd_rf_count_length(hd_rf_model *model, const hd_rf_meter *meter, uint64_t length, bool cut)
{
    uint64_t *longest = &model->counters[meter->longest], *shortest = &model->counters[meter->shortest]; /* as hd_counter_add has them */
    *longest = length > *longest ? length : *longest;
    if (!cut && length && (!*shortest || length < *shortest))
        *shortest = length;
}
static inline void hd_rf_meter_end(hd_rf_model *model, hd_rf_meter *meter, bool cut)
{
    if (meter->noting && !meter->noted) {
        meter->noted = true;
        meter->head = meter->length;
        meter->cut = cut;
    } else {
        hd_rf_count_length(model, meter, meter->length, cut);
    }
    meter->length = 0;
}

/* What was noted since the length was `before`; nothing more is noted. */
hd_rf_lapse hd_rf_meter_noted(hd_rf_meter *meter, uint64_t before);
/* The same again, from another length on. */
static inline void hd_rf_meter_again(hd_rf_model *model, hd_rf_meter *meter, const hd_rf_lapse *lapse)
{
    meter->shortest = lapse->shortest; /* not known yet where the warp begins */
    meter->longest = lapse->longest;
    if (lapse->ended)
        hd_rf_count_length(model, meter, meter->length + lapse->head, lapse->cut);
    meter->length = lapse->ended ? lapse->rest : meter->length + lapse->rest;
}

/* Tells the registers that are held now, once an instruction. Numbers that stay the same go into the series together. */
void hd_rf_tell_rest(hd_rf_model *model);
static inline void hd_rf_tell_times(hd_rf_model *model, uint64_t held, uint64_t times)
{
    if (held != model->told) {
        hd_rf_tell_rest(model);
        model->told = held;
    }
    model->told_times += times;
}
/* ... for instructions with different numbers, by their sum and the greatest of them: see hd_rf_series_add_sum. */
static inline bool hd_rf_tell_sum(hd_rf_model *model, uint64_t sum, uint64_t times, uint64_t greatest)
{
    if (model->runs)
        return false;
    if (model->told_times)
        hd_rf_tell_rest(model);
    return hd_rf_series_add_sum(&model->allocation, sum, times, greatest);
}
static inline void hd_rf_tell(hd_rf_model *model) { hd_rf_tell_times(model, model->held, 1); }

static inline void hd_rf_add(hd_rf_model *model, hd_counter counter, uint64_t n) { model->counters[counter] += n; }
/* Models ask this before each move of data between their structures; true once, at the fault-th, when a test broke the model. */
static inline bool hd_rf_loses(hd_rf_model *model) { return model->fault && --model->fault == 0; }

static inline void hd_rf_deeds_drop(hd_rf_model *model)
{
    model->deeds_done += model->deeds.count;
    hd_array_clear(&model->deeds);
}

/* ---- the main register file, as most models have it: one claim a register, indexed as identity.h does ------------------ */

typedef HD_ARRAY(hd_claim) hd_rf_warp_file;
typedef struct hd_rf_file {
    HD_ARRAY(hd_rf_warp_file) warps; /* by slot */
} hd_rf_file;

void hd_rf_file_frame_start(hd_rf_file *file, const hd_rf_warp *warp);
void hd_rf_file_free(hd_rf_file *file);
void hd_rf_file_carry(hd_rf_file *file, const hd_rf_warp *warp, struct hd_rf_carrier *carrier);
static inline hd_claim *hd_rf_file_at(hd_rf_file *file, const hd_rf_warp *warp, uint32_t index)
{
    return &file->warps.items[warp->slot].items[index];
}

/* ---- energy -------------------------------------------------------------------------------------------------------- */

struct hd_gpu;
/* Dynamic energy of the counted accesses in pJ; false where the GPU's description lacks a figure that is needed. */
bool hd_rf_dynamic_energy(const uint64_t counters[HD_COUNTER_COUNT], const struct hd_gpu *gpu, double *energy_pj);

#endif
