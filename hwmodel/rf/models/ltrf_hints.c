/* Intervals and dead operands from annotations: see ltrf_hints.h. O(annotations + their words). */
#include "hwmodel/rf/models/ltrf_hints.h"

#include "base/bits.h"

static uint32_t distinct_words(const hd_rf_code *code, uint32_t instruction)
{
    uint32_t count = code->source_first[instruction + 1] - code->source_first[instruction];
    for (uint32_t d = code->destination_first[instruction]; d < code->destination_first[instruction + 1]; d++) {
        bool known = false;
        for (uint32_t s = code->source_first[instruction]; s < code->source_first[instruction + 1]; s++)
            known = known || code->sources[s] == code->destinations[d].word;
        for (uint32_t e = code->destination_first[instruction]; e < d; e++)
            known = known || code->destinations[e].word == code->destinations[d].word;
        count += !known;
    }
    return count;
}

static void read_dead(const hd_rf_code *code, hd_ltrf_function *to, const hd_annotation *note)
{
    const hd_instruction *insn = &code->function->instructions.items[note->instruction];
    HD_EACH_BIT (slot, note->value) {
        uint32_t operand = hd_insn_source_slot(code->function, insn, slot);
        if (operand == HD_NONE)
            continue;
        HD_STORAGE_WORDS (&code->storage, code->function->operands.items[operand].value, word)
            for (uint32_t s = code->source_first[note->instruction]; s < code->source_first[note->instruction + 1]; s++)
                if (code->sources[s] == word)
                    to->dead[s] = 1;
    }
}

/* An instruction bypasses the cache for registers that an interval of the compiler's size, which the cache may exceed,
 * has no room for. */
static void read_interval(hd_arena *arena, const hd_rf_code *code, hd_ltrf_function *to, const hd_annotation *note,
                          uint32_t number, uint32_t size, uint32_t most)
{
    const uint32_t *words = hd_array_at(&code->function->annotation_words, note->value);
    uint32_t count = 0, *kept = hd_arena_copy(arena, words, note->count * sizeof *words);
    for (uint32_t w = 0; w < note->count; w++)
        if (words[w] < code->storage.frame)
            kept[count++] = words[w];
    to->intervals[number] = (hd_ltrf_interval){kept, hd_min(count, most)};
    to->headers[note->instruction] = number + 1;
    to->bypasses[note->instruction] =
        distinct_words(code, note->instruction) > to->intervals[number].count && count >= size;
}

bool hd_ltrf_hints_read(hd_ltrf_function *to, const hd_rf_code *code, uint32_t most, hd_arena *arena)
{
    const hd_function *f = code->function;
    uint32_t intervals = 0, size = most;
    for (uint32_t a = 0; a < f->annotations.count; a++) {
        intervals += f->annotations.items[a].kind == HD_ANNOTATION_LTRF_PREFETCH;
        if (f->annotations.items[a].kind == HD_ANNOTATION_LTRF_SIZE)
            size = f->annotations.items[a].value;
    }
    if (size > most)
        return false;
    if (!intervals)
        return true;
    to->headers = HD_ARENA_ARRAY(arena, uint32_t, code->instruction_count);
    to->bypasses = HD_ARENA_ARRAY(arena, uint8_t, code->instruction_count);
    to->dead = HD_ARENA_ARRAY(arena, uint8_t, code->source_first[code->instruction_count]);
    to->intervals = HD_ARENA_ARRAY(arena, hd_ltrf_interval, intervals);
    intervals = 0;
    for (uint32_t a = 0; a < f->annotations.count; a++) {
        const hd_annotation *note = &f->annotations.items[a];
        if (note->kind == HD_ANNOTATION_LTRF_PREFETCH)
            read_interval(arena, code, to, note, intervals++, size, most);
        else if (note->kind == HD_ANNOTATION_LTRF_DEAD)
            read_dead(code, to, note);
    }
    return true;
}
