/* RegMutex: base sets of each warp, and extended sets from a pool that warps share. "RegMutex: Inter-Warp GPU Register
 * Time-Sharing", sections 4.3.2 and 4.3.3.
 *
 * Each resident warp has |Bs| registers of the file; the others are the shared register pool, in sections of |Es|. A
 * bit for each warp says whether it holds a section, a bit for each section whether it is held, a table which one the
 * warp holds. An acquire gets the free section with the lowest number; if there is none the warp may not issue, and
 * tries again at its next turn. A release frees the section. An acquire by a warp that holds a section, and a release
 * by one that holds none, do nothing. Option "paired": two neighbouring warps of a CTA share one section, and need one
 * bit.
 *
 * Word n of the kernel's frame is in the base set if n < |Bs|, else it is word n - |Bs| of the section that the warp
 * holds. Callees' words are in the base set. A section has an owner and a claim for each word. Both are cleared when it
 * is released, so a word that is read without the section, or from one that another warp has held since, is not proved.
 * Words written without a section are lost.
 *
 * Acquire and release are machine instructions before the one that carries the annotation. They count as issued, also
 * where an acquire has to wait, and are executed whether or not the guard of that instruction holds.
 *
 * CTAs are launched while their base sets and at least one section fit (paired: while their pairs fit), in the GPU's
 * units of register allocation, if they are known. One CTA is always launched, and there is always one section. For a
 * kernel without an extended set, as many CTAs are resident as without RegMutex.
 *
 * No deadlock. Suppose that no resident warp can go on. A warp that is not refused an acquire goes on unless it waits
 * for other warps, and it holds no section there (passes/technique/regmutex_state.c; the checker refutes anything
 * else). So a warp that holds a section goes on, until it releases it. If no warp holds one, all sections are free, of
 * which there is at least one, and no acquire is refused. So all warps wait for other warps, and none for a section:
 * the kernel itself is deadlocked. No warp starves: warps issue in round-robin order, and a refused warp leaves the
 * front of it.
 *
 * Options "forgotten", "early" and "shared" break the model for the tests of the proof: nothing is cleared at a
 * release; a warp's section is released when another warp's acquire is refused; all warps get section 0.
 *
 * Cost: O(1) an instruction and an operand; O(|Es|) a release.
 */
#include "base/bitset.h"
#include "hwmodel/rf/memo.h"
#include "hwmodel/rf/technique.h"
#include "target/gpu.h"

enum { HD_USUAL_FILE = 1024, HD_USUAL_WARPS = 48 /* of the paper's machine: 128 KB, 48 warps */ };
enum { HD_ACQUIRES = 1, HD_RELEASES = 2 };

typedef struct hd_mutex_function {
    uint32_t base, extended; /* extended 0: all registers are in the base set */
    uint32_t places;         /* words from this number on are operands in memory, and in no set */
    uint8_t *marks;          /* by instruction */
    uint32_t *next_acquire;  /* by instruction: from it on; HD_NONE: none */
} hd_mutex_function;

typedef struct hd_mutex_word {
    hd_owner owner;
    hd_claim claim;
} hd_mutex_word;

typedef struct hd_mutex_warp {
    uint32_t section; /* held: number + 1; 0: none */
    uint32_t pair;    /* of paired warps: the section that it may hold */
    bool refused;     /* its acquire has been refused before */
} hd_mutex_warp;

typedef struct hd_mutex {
    hd_rf_model model;
    hd_rf_file file;
    hd_arena arena;
    hd_mutex_function *functions;
    const hd_mutex_function *kernel;
    hd_rf_residency residency;
    bool paired, forgotten, early, shared;
    uint32_t most_ctas, ctas, cta_warps; /* that may be resident, that are; warps of each */
    uint32_t sections, held;
    hd_bitset taken; /* by section; words in `bits` */
    HD_ARRAY(uint64_t) bits;
    HD_ARRAY(hd_mutex_word) words;  /* by section, |Es| each */
    HD_ARRAY(hd_mutex_warp) warps;  /* by slot */
    HD_ARRAY(uint32_t) first_warps; /* by place of resident CTAs: number of its first warp in the launch */
    HD_ARRAY(uint32_t) resident;    /* by place: the CTA; HD_NONE: free */
} hd_mutex;

/* ---- what the compiler said -------------------------------------------------------------------------------------- */

static void read_function(hd_mutex *m, hd_mutex_function *to, const hd_rf_code *code)
{
    const hd_function *f = code->function;
    hd_architected numbers;
    to->marks = HD_ARENA_ARRAY(&m->arena, uint8_t, code->instruction_count + 1u);
    to->places = code->storage.physical_words;
    to->base = hd_architected_of(f, &numbers) ? numbers.registers : code->storage.frame;
    for (uint32_t a = 0; a < f->annotations.count; a++) {
        const hd_annotation *note = &f->annotations.items[a];
        if (note->kind == HD_ANNOTATION_REGMUTEX && note->count == 2) {
            to->base = f->annotation_words.items[note->value];
            to->extended = f->annotation_words.items[note->value + 1];
        } else if (note->kind == HD_ANNOTATION_REGMUTEX_ACQUIRE) {
            to->marks[note->instruction] |= HD_ACQUIRES;
        } else if (note->kind == HD_ANNOTATION_REGMUTEX_RELEASE) {
            to->marks[note->instruction] |= HD_RELEASES;
        }
    }
}

static void find_acquires(hd_mutex *m, hd_mutex_function *f, uint32_t count)
{
    uint32_t next = HD_NONE;
    f->next_acquire = HD_ARENA_ARRAY(&m->arena, uint32_t, count + 1u);
    for (uint32_t i = count + 1; i-- > 0;)
        f->next_acquire[i] = next = f->marks[i] & HD_ACQUIRES ? i : next;
}

static hd_rf_model *mutex_create(const hd_rf_module *code, const char *options, const char **refusal)
{
    hd_mutex *m = hd_calloc(1, sizeof *m);
    (void)refusal;
    m->paired = hd_rf_flag(options, "paired");
    m->forgotten = HD_PLANTED(hd_rf_flag(options, "forgotten"));
    m->early = HD_PLANTED(hd_rf_flag(options, "early"));
    m->shared = HD_PLANTED(hd_rf_flag(options, "shared"));
    m->functions = HD_ARENA_ARRAY(&m->arena, hd_mutex_function, code->module->functions.count + 1u);
    for (uint32_t f = 0; f < code->module->functions.count; f++)
        if (code->functions[f]) {
            read_function(m, &m->functions[f], code->functions[f]);
            find_acquires(m, &m->functions[f], code->functions[f]->instruction_count);
        }
    return &m->model;
}

static void mutex_destroy(hd_rf_model *model)
{
    hd_mutex *m = (hd_mutex *)model;
    hd_array_free(&m->bits);
    hd_array_free(&m->words);
    hd_array_free(&m->warps);
    hd_array_free(&m->resident);
    hd_array_free(&m->first_warps);
    hd_rf_file_free(&m->file);
    hd_arena_free(&m->arena);
    free(m);
}

/* ---- room on the SM ---------------------------------------------------------------------------------------------- */

static uint32_t pairs_of(uint32_t warps) { return (warps + 1) / 2; }

/* Registers of the base sets of resident CTAs; of pairs, with their sections. */
static uint64_t registers_of(const hd_mutex *m, uint64_t ctas)
{
    if (m->paired && m->kernel->extended)
        return ctas * pairs_of(m->cta_warps) * (2ull * m->kernel->base + m->kernel->extended);
    return ctas * m->cta_warps * m->kernel->base;
}

/* Base sets of resident CTAs, and sections that are held. */
static void count_held(hd_mutex *m)
{
    m->model.held = registers_of(m, m->ctas) + (m->paired ? 0 : (uint64_t)m->held * m->kernel->extended);
}

/* CTAs that fit with registers in units, as the pass counts them (regmutex_size.c). */
static uint64_t ctas_in_units(const hd_mutex *m, uint64_t most)
{
    hd_occupancy_use use = m->residency.use;
    if (!m->residency.limits || !m->kernel->extended)
        return most;
    use.registers = (uint32_t)((registers_of(m, 1) + m->cta_warps - 1) / m->cta_warps);
    uint64_t fit = hd_occupancy_of(m->residency.limits, &use).ctas;
    return hd_min(fit, most);
}

static void find_room(hd_mutex *m)
{
    const hd_rf_residency *r = &m->residency;
    uint64_t file = r->file_registers ? r->file_registers : HD_USUAL_FILE,
             most = r->sm_warps ? r->sm_warps : HD_USUAL_WARPS;
    uint64_t spare = m->paired ? 0 : m->kernel->extended,
             ctas = m->kernel->extended && r->most_ctas ? r->most_ctas : r->ctas;
    m->cta_warps = r->cta_warps ? r->cta_warps : 1;
    ctas = ctas_in_units(m, ctas);
    while (m->kernel->extended && ctas > 1 && (registers_of(m, ctas) + spare > file || ctas * m->cta_warps > most))
        ctas--;
    m->most_ctas = ctas ? (uint32_t)ctas : 1;
    uint64_t used = registers_of(m, m->most_ctas), warps = (uint64_t)m->most_ctas * m->cta_warps;
    uint64_t sections = m->paired              ? m->most_ctas * pairs_of(m->cta_warps)
                        : spare && file > used ? (file - used) / spare
                                               : 0;
    m->sections = !m->kernel->extended ? 0 : !sections ? 1 : sections < warps ? (uint32_t)sections : (uint32_t)warps;
    m->model.counters[HD_COUNTER_RESIDENT_WARPS] = warps;
    m->model.counters[HD_COUNTER_RESIDENT_WITHOUT] = (uint64_t)r->ctas * m->cta_warps;
    m->model.counters[HD_COUNTER_SECTIONS] = m->sections;
}

/* For each warp a bit, a bit for its section (there are at most as many), and the section's number; for each pair one
 * bit. */
static uint64_t storage_of(const hd_mutex *m)
{
    uint64_t warps = m->residency.sm_warps ? m->residency.sm_warps : HD_USUAL_WARPS, number = 0;
    while (1ull << number < warps)
        number++;
    return m->paired ? warps / 2 : warps + warps + warps * number;
}

static void mutex_launch(hd_rf_model *model, const hd_rf_launch *launch)
{
    hd_mutex *m = (hd_mutex *)model;
    m->residency = launch->residency;
    m->kernel = &m->functions[launch->function];
    m->ctas = m->held = 0;
    find_room(m);
    hd_array_clear(&m->bits);
    hd_array_clear(&m->words);
    hd_array_clear(&m->resident);
    hd_array_clear(&m->first_warps);
    uint32_t bits = hd_bitset_words(m->sections + 1), words = m->sections * m->kernel->extended;
    memset(hd_array_extend(&m->bits, bits), 0, bits * sizeof *m->bits.items);
    if (words)
        memset(hd_array_extend(&m->words, words), 0, words * sizeof *m->words.items);
    m->taken = (hd_bitset){m->bits.items, m->sections};
    model->storage_bits = storage_of(m);
    count_held(m);
}

static bool mutex_may_launch_cta(hd_rf_model *model, uint32_t cta)
{
    (void)cta;
    return ((hd_mutex *)model)->ctas < ((hd_mutex *)model)->most_ctas;
}

static bool mutex_never_refuses(const hd_rf_model *model) { return !((const hd_mutex *)model)->kernel->extended; }

static uint32_t place_of(const hd_mutex *m, uint32_t cta)
{
    uint32_t place = 0;
    while (place < m->resident.count && m->resident.items[place] != cta)
        place++;
    return place;
}

static void mutex_cta_end(hd_rf_model *model, uint32_t cta)
{
    hd_mutex *m = (hd_mutex *)model;
    uint32_t place = place_of(m, cta);
    if (place == m->resident.count)
        return;
    m->resident.items[place] = HD_NONE;
    m->ctas--;
    count_held(m);
}

/* Each resident CTA has a slot, so that its pairs have their own sections. */
static uint32_t enter_cta(hd_mutex *m, uint32_t cta, uint32_t warp)
{
    uint32_t place = place_of(m, cta);
    if (place < m->resident.count)
        return place;
    place = place_of(m, HD_NONE);
    if (place == m->resident.count) {
        hd_array_push(&m->resident, HD_NONE);
        hd_array_push(&m->first_warps, 0);
    }
    m->resident.items[place] = cta;
    m->first_warps.items[place] = warp;
    m->ctas++;
    count_held(m);
    return place;
}

static hd_mutex_warp *warp_of(hd_mutex *m, const hd_rf_warp *warp) { return &m->warps.items[warp->slot]; }

static void mutex_warp_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_mutex *m = (hd_mutex *)model;
    uint32_t place = enter_cta(m, warp->cta, warp->identity.warp);
    uint32_t index = warp->identity.warp - m->first_warps.items[place];
    while (m->warps.count <= warp->slot)
        hd_array_push(&m->warps, ((hd_mutex_warp){0}));
    *warp_of(m, warp) =
        (hd_mutex_warp){.pair = m->sections ? (place * pairs_of(m->cta_warps) + index / 2) % m->sections : 0};
}

/* ---- sections ---------------------------------------------------------------------------------------------------- */

/* The section that the warp would get; m->sections: none. */
static uint32_t free_section(const hd_mutex *m, const hd_mutex_warp *w)
{
    if (HD_PLANTED(m->shared) && m->sections)
        return 0;
    if (m->paired)
        return m->sections && !hd_bitset_has(&m->taken, w->pair) ? w->pair : m->sections;
    for (uint32_t k = 0; k < m->bits.count; k++)
        if (~m->bits.items[k]) {
            uint32_t section = 64 * k + (uint32_t)__builtin_ctzll(~m->bits.items[k]);
            return hd_min(section, m->sections);
        }
    return m->sections;
}

static hd_mutex_word *section_words(hd_mutex *m, uint32_t section)
{
    return m->words.items + (size_t)section * m->kernel->extended;
}

static void release_section(hd_mutex *m, hd_mutex_warp *w)
{
    if (!w->section)
        return;
    hd_bitset_remove(&m->taken, w->section - 1);
    if (!HD_PLANTED(m->forgotten))
        memset(section_words(m, w->section - 1), 0, m->kernel->extended * sizeof(hd_mutex_word));
    w->section = 0;
    m->held--;
    count_held(m);
}

static void acquire(hd_mutex *m, hd_mutex_warp *w)
{
    uint32_t section = w->section ? m->sections : free_section(m, w);
    if (section == m->sections)
        return;
    hd_bitset_add(&m->taken, section);
    w->section = section + 1;
    m->held++;
    count_held(m);
}

static void mutex_warp_end(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_mutex *m = (hd_mutex *)model;
    release_section(m, warp_of(m, warp));
}

static uint8_t marks_of(const hd_mutex *m, const hd_rf_step *step)
{
    return m->kernel->extended ? m->functions[step->function].marks[step->instruction] : 0;
}

/* A broken machine: a warp loses its section to another one that acquires. */
static void take_away(hd_mutex *m)
{
    for (uint32_t i = 0; HD_PLANTED(m->early) && i < m->warps.count; i++)
        if (m->warps.items[i].section) {
            release_section(m, &m->warps.items[i]);
            return;
        }
}

static hd_gate mutex_may_issue(hd_rf_model *model, const hd_rf_step *step, uint64_t now)
{
    hd_mutex *m = (hd_mutex *)model;
    hd_mutex_warp *w = warp_of(m, step->warp);
    (void)now;
    if (!(marks_of(m, step) & HD_ACQUIRES) || w->section || free_section(m, w) != m->sections)
        return (hd_gate){.ready = true};
    hd_rf_event(model, HD_COUNTER_ACQUIRE_WAITS, 1);
    w->refused = true;
    take_away(m);
    return (hd_gate){.reason = HD_STALL_ACQUIRE};
}

static void acquire_and_release(hd_mutex *m, hd_mutex_warp *w, uint8_t marks, hd_access_sink *sink)
{
    sink->slots = marks == (HD_ACQUIRES | HD_RELEASES) ? 2 : 1;
    sink->slots_reason = HD_STALL_ACQUIRE;
    hd_rf_event(&m->model, HD_COUNTER_EXTRA_INSTRUCTIONS, sink->slots);
    if (marks & HD_RELEASES)
        release_section(m, w);
    if (marks & HD_ACQUIRES) {
        hd_rf_event(&m->model, HD_COUNTER_ACQUIRES, 1);
        hd_rf_event(&m->model, HD_COUNTER_ACQUIRED_AT_ONCE, !w->refused);
        acquire(m, w);
        w->refused = false;
    }
}

/* ---- operands and results ---------------------------------------------------------------------------------------- */

static bool is_extended(const hd_mutex *m, const hd_rf_step *step, uint32_t word)
{
    return word >= m->kernel->base && word < m->kernel->places && m->kernel->extended &&
           step->warp->identity.frames.count == 1;
}

/* NULL: the warp holds no section, or none with that word. */
static hd_mutex_word *extended_word(hd_mutex *m, const hd_rf_step *step, uint32_t word)
{
    const hd_mutex_warp *w = warp_of(m, step->warp);
    uint32_t at = word - m->kernel->base;
    return w->section && at < m->kernel->extended ? section_words(m, w->section - 1) + at : NULL;
}

static void read_extended(hd_mutex *m, const hd_rf_step *step, uint32_t source, hd_access_sink *sink)
{
    uint32_t word = step->sources[source];
    const hd_mutex_word *at = extended_word(m, step, word);
    hd_rf_deliver(sink, step, source, HD_STRUCTURE_FILE, step->effective,
                  at && at->claim.lanes ? at->owner : hd_rf_owner(step, word), at ? at->claim : (hd_claim){0, 0});
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_FILE,
                                 .kind = HD_RF_READ,
                                 .cause = HD_CAUSE_EXTENDED_SET,
                                 .operand = hd_access_source(source),
                                 .bank = hd_rf_bank(step, word),
                                 .lanes = step->effective});
}

static void write_extended(hd_mutex *m, const hd_rf_step *step, uint32_t destination, hd_access_sink *sink)
{
    uint32_t word = step->destinations[destination].word;
    hd_mutex_word *at = extended_word(m, step, word);
    hd_owner owner = hd_rf_owner(step, word);
    hd_emit(sink, (hd_rf_access){.structure = HD_STRUCTURE_FILE,
                                 .kind = HD_RF_WRITE,
                                 .cause = HD_CAUSE_EXTENDED_SET,
                                 .operand = hd_access_result(destination),
                                 .bank = hd_rf_bank(step, word),
                                 .lanes = step->effective});
    if (!at || hd_rf_loses(&m->model))
        return;
    bool same = at->owner.warp == owner.warp && at->owner.frame == owner.frame && at->owner.index == owner.index;
    at->claim = hd_rf_written(step, destination, same ? at->claim : (hd_claim){0, 0});
    at->owner = owner;
}

static void mutex_execute(hd_rf_model *model, const hd_rf_step *step, hd_access_sink *sink)
{
    hd_mutex *m = (hd_mutex *)model;
    uint8_t marks = marks_of(m, step);
    if (marks)
        acquire_and_release(m, warp_of(m, step->warp), marks, sink);
    hd_rf_record_held(model);
    for (uint32_t s = 0; s < step->source_count && step->effective; s++)
        if (is_extended(m, step, step->sources[s]))
            read_extended(m, step, s, sink);
        else
            hd_rf_file_read(&m->file, step, s, sink);
    for (uint32_t d = 0; d < step->destination_count && step->effective; d++)
        if (is_extended(m, step, step->destinations[d].word))
            write_extended(m, step, d, sink);
        else
            hd_rf_file_write(model, &m->file, step, d, sink);
}

static void mutex_frame_begin(hd_rf_model *model, hd_rf_warp *warp)
{
    hd_rf_file_frame_begin(&((hd_mutex *)model)->file, warp);
}

/* Without sections: only such launches are looked up. */
static void mutex_snapshot(hd_rf_model *model, hd_rf_warp *warp, hd_snapshot *c)
{
    hd_rf_file_snapshot(&((hd_mutex *)model)->file, warp, c);
}

const hd_rf_ops hd_rf_regmutex_ops = {
    .create = mutex_create,
    .destroy = mutex_destroy,
    .launch = mutex_launch,
    .may_launch_cta = mutex_may_launch_cta,
    .cta_end = mutex_cta_end,
    .warp_begin = mutex_warp_begin,
    .warp_end = mutex_warp_end,
    .frame_begin = mutex_frame_begin,
    .may_issue = mutex_may_issue,
    .storage = HD_ENERGY_RENAMING_TABLE,
    .execute = mutex_execute,
    .coupled = true,
    .memo = &(const hd_memo_ops){.snapshot = mutex_snapshot, .never_refuses = mutex_never_refuses},
};
