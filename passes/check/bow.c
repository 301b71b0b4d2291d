/* Verifies the tags of bow: a destination written only to the bypass window must not be read from elsewhere.
 *
 * From each definition tagged boc, all paths are followed, with the number of issued instructions since the last
 * access, until the value is overwritten or dead. The tag is refuted if the value is read after its entry has left the
 * window; if it is live across an edge after which the warp may execute other code first, or across a call, barrier,
 * yield or return; if a guarded write reaches it while it is live; or if the definition itself is guarded, partial, or
 * of a register that other functions name. A register that returns a result is live at the function's end. The tag rf
 * is always sound, and both is unless an asynchronous instruction accesses the register (bow_flight.h). Paths are
 * followed per word of the register file (ir/storage.h): each word of the destination, whatever name reads it;
 * identities are not issued.
 *
 * Complexity: each path is followed for at most the window's length after the value's last access.
 */
#include "passes/check/bow_flight.h"
#include "passes/check/check.h"
#include "passes/check/facts.h"
#include "passes/check/waits.h"

enum { TAG_BOTH, TAG_RF, TAG_BOC, LONGEST_WINDOW = 64 };

typedef struct spot {
    uint32_t ordinal, gap; /* an instruction on the path, issued `gap` instructions after the last access */
} spot;

typedef struct bow_check {
    hd_facts facts;
    hd_waits waits;
    hd_function *function;
    hd_diagnostics *diagnostics;
    uint32_t iw;
    uint32_t *seen;    /* by instruction: number of the tag whose search visited it */
    uint8_t *seen_gap; /* ... with this gap or a smaller one */
    uint32_t searches;
    HD_ARRAY(spot) stack;
    bool only;                      /* ... the value is in the window only */
    uint32_t definition, reg, word; /* of the tag being verified; one of the register's words */
} bow_check;

static bool refute(bow_check *c, uint32_t at, const char *why)
{
    const hd_function *f = c->function;
    char name[128];
    hd_register_spell(f, c->reg, name, sizeof name);
    hd_diagnostic *d = hd_report(
        c->diagnostics, HD_DIAG_UNSOUND_ANNOTATION, f->module->source, f->instructions.items[c->definition].span,
        "'%s' goes%s to a bypass window of %u instructions, but %s", name, c->only ? " only" : "", c->iw, why);
    if (at != c->definition)
        hd_note_add(c->diagnostics, d, f->module->source, f->instructions.items[at].span, "here");
    return false;
}

static void go(bow_check *c, uint32_t ordinal, uint32_t gap)
{
    if (c->seen[ordinal] == c->searches && c->seen_gap[ordinal] >= gap)
        return;
    c->seen[ordinal] = c->searches;
    c->seen_gap[ordinal] = (uint8_t)gap;
    hd_array_push(&c->stack, (spot){ordinal, gap});
}

/* Continues at the successors of `ordinal`, where the value may be live. */
static bool go_on(bow_check *c, uint32_t ordinal, uint32_t gap)
{
    const hd_cfg *cfg = c->facts.cfg;
    const hd_block *block = &cfg->blocks[cfg->block_of[ordinal]];
    if (gap >= c->iw)
        return !hd_lives_live_after(&c->facts.words, c->word, ordinal) ||
               refute(c, ordinal, "it is live when it has been in there that long without an access");
    if (ordinal + 1 < block->end) {
        go(c, ordinal + 1, gap);
        return true;
    }
    for (uint32_t e = block->succ_first; e < block->succ_first + block->succ_count; e++) {
        uint32_t to = cfg->successors[e];
        if (to == cfg->block_count && hd_lives_leaves_with(&c->facts.words, c->word))
            return refute(c, ordinal, "it is live where the function ends");
        if (to == cfg->block_count || !hd_lives_live_into(&c->facts.words, c->word, to))
            continue;
        if (hd_bitset_has(&c->facts.cut, e))
            return refute(c, ordinal, "it is live where the warp may run other code first");
        go(c, cfg->blocks[to].first, gap);
    }
    return true;
}

static bool cuts(const bow_check *c, const hd_instruction *insn)
{
    return insn->flags & HD_INSN_OPAQUE ||
           hd_insn_form(c->function, insn)->behaviour &
               (HD_BEHAVE_CALL | HD_BEHAVE_BARRIER | HD_BEHAVE_YIELD | HD_BEHAVE_RETURN);
}

static bool pass_instruction(bow_check *c, spot at)
{
    const hd_instruction *insn = &c->function->instructions.items[at.ordinal];
    const hd_lives *words = &c->facts.words;
    if (hd_storage_skips(&c->facts.storage, at.ordinal))
        return go_on(c, at.ordinal, at.gap);
    uint32_t a = hd_lives_access_from(words, c->word, at.ordinal);
    bool accessed = a < words->access_first[c->word + 1] && words->accesses[a].ordinal == at.ordinal;
    uint8_t kinds = accessed ? words->accesses[a].kinds & ~HD_ACCESS_HELD : 0;
    bool meets = hd_waits_meet(&c->waits, at.ordinal);
    if (meets && kinds & HD_ACCESS_READ)
        return refute(c, at.ordinal, "it is read where the warp may run other code first");
    if (kinds & HD_ACCESS_KILL) /* a read precedes it, because `gap` is less than the window; checked in go_on() */
        return true;
    bool checked = kinds & HD_ACCESS_WEAK || meets || cuts(c, insn);
    if (checked && !hd_lives_live_after(&c->facts.words, c->word, at.ordinal))
        return true;
    if (checked)
        return refute(c, at.ordinal,
                      kinds & HD_ACCESS_WEAK ? "it is written again, not in all lanes, while it is live"
                                             : "it is live across a call, barrier, yield or return");
    return go_on(c, at.ordinal, kinds ? 1 : at.gap + 1);
}

static bool check_word(bow_check *c)
{
    const hd_instruction *insn = &c->function->instructions.items[c->definition];
    uint32_t a = hd_lives_access_from(&c->facts.words, c->word, c->definition);
    if (!(c->facts.words.accesses[a].kinds & HD_ACCESS_KILL))
        return refute(c, c->definition, "it is not written in all lanes, or not as a whole");
    if (hd_insn_form(c->function, insn)->behaviour & HD_BEHAVE_CALL)
        return refute(c, c->definition, "it is the result of a call");
    if (hd_bitset_has(&c->facts.words.module_wide, c->word))
        return refute(c, c->definition, "other functions may read it");
    c->searches++;
    hd_array_clear(&c->stack);
    bool good = go_on(c, c->definition, 1);
    while (good && c->stack.count)
        good = pass_instruction(c, hd_array_pop(&c->stack));
    return good;
}

static bool check_transient(bow_check *c)
{
    bool good = true;
    HD_STORAGE_WORDS (&c->facts.storage, c->reg, word) {
        c->word = word;
        good = good && check_word(c);
    }
    return good;
}

static bool check_tag(bow_check *c, const hd_annotation *tag)
{
    const hd_function *f = c->function;
    const hd_instruction *insn = &f->instructions.items[tag->instruction];
    uint32_t operand = hd_insn_destination_slot(f, insn, tag->slot);
    if (operand == HD_NONE || tag->value > TAG_BOC || hd_storage_skips(&c->facts.storage, tag->instruction)) {
        hd_report(c->diagnostics, HD_DIAG_UNSOUND_ANNOTATION, f->module->source, insn->span,
                  "this bow tag has no destination, or no meaning");
        return false;
    }
    if (tag->value == TAG_RF || !c->facts.cfg->blocks[c->facts.cfg->block_of[tag->instruction]].reachable)
        return true;
    uint32_t at;
    c->definition = tag->instruction;
    c->reg = f->operands.items[operand].value;
    c->only = tag->value == TAG_BOC;
    const char *why = hd_check_bow_flight(&c->facts, c->iw, c->definition, c->reg, &at);
    return why ? refute(c, at, why) : !c->only || check_transient(c);
}

/* The window length of the tags, 0 (reported) if it is missing or invalid. *tags: whether there are any. */
static uint32_t window_of(const hd_function *f, hd_diagnostics *diagnostics, bool *tags)
{
    uint32_t window = 0;
    *tags = false;
    for (uint32_t a = 0; a < f->annotations.count; a++) {
        *tags = *tags || f->annotations.items[a].kind == HD_ANNOTATION_BOW;
        if (f->annotations.items[a].kind == HD_ANNOTATION_BOW_WINDOW)
            window = f->annotations.items[a].value;
    }
    if (*tags && (window < 1 || window > LONGEST_WINDOW)) {
        hd_report(diagnostics, HD_DIAG_UNSOUND_ANNOTATION, f->module->source, f->header_span,
                  "bow tags need a bow_window from 1 to %d on their function", LONGEST_WINDOW);
        return 0;
    }
    return window;
}

bool hd_check_bow(hd_function *function, hd_diagnostics *diagnostics, uint64_t *count)
{
    bool tags, good = true;
    bow_check c = {.function = function, .diagnostics = diagnostics, .iw = window_of(function, diagnostics, &tags)};
    if (!tags || !c.iw)
        return !tags;
    hd_facts_build(&c.facts, function);
    hd_waits_find(&c.waits, &c.facts);
    c.seen = HD_ARENA_ARRAY(&c.facts.arena, uint32_t, function->instructions.count);
    c.seen_gap = HD_ARENA_ARRAY(&c.facts.arena, uint8_t, function->instructions.count);
    for (uint32_t a = 0; a < function->annotations.count; a++) {
        if (function->annotations.items[a].kind != HD_ANNOTATION_BOW)
            continue;
        good = check_tag(&c, &function->annotations.items[a]) && good;
        ++*count;
    }
    hd_array_free(&c.stack);
    hd_waits_free(&c.waits);
    hd_facts_free(&c.facts);
    return good;
}
