/* RegMutex's metadata words: the sizes of the sets at the kernel's head, and acquire and release instructions, which
 * carry only a command (section 4.3.1). */
#include "ir/words/words.h"

enum { SET_BITS = 8, SET_MOST = (1 << SET_BITS) - 1 };

static bool encode_sets(const hd_function *f, const hd_annotation *note, hd_word_array *words)
{
    const uint32_t *sets = hd_array_at(&f->annotation_words, note->value);
    if (note->count != 2 || sets[0] > SET_MOST || sets[1] > SET_MOST)
        return false;
    hd_array_push(words,
                  ((hd_word){HD_NONE, hd_word_make(HD_WORD_REGMUTEX_SETS, sets[0] | (uint64_t)sets[1] << SET_BITS)}));
    return true;
}

bool hd_words_of_regmutex(const hd_function *f, hd_word_array *words, const char **refusal)
{
    const hd_annotation *sets = hd_annotation_at(f, HD_ANNOTATION_REGMUTEX, HD_NONE, 0);
    if (sets && !encode_sets(f, sets, words)) {
        *refusal = "sets of more than 255 registers, or not two of them, have no word";
        return false;
    }
    for (uint32_t a = 0; a < f->annotations.count; a++) {
        const hd_annotation *note = &f->annotations.items[a];
        bool acquires = note->kind == HD_ANNOTATION_REGMUTEX_ACQUIRE;
        if (acquires || note->kind == HD_ANNOTATION_REGMUTEX_RELEASE)
            hd_array_push(words,
                          ((hd_word){note->instruction,
                                     hd_word_make(acquires ? HD_WORD_REGMUTEX_ACQUIRE : HD_WORD_REGMUTEX_RELEASE, 0)}));
    }
    return true;
}

static bool decode_word(const hd_function *f, const hd_word *word, hd_annotation_set *set)
{
    uint64_t payload = hd_word_payload(word->bits);
    uint32_t opcode = hd_word_opcode_of(word->bits);
    if (opcode == HD_WORD_REGMUTEX_SETS) {
        if (word->instruction != HD_NONE || payload >> 2 * SET_BITS)
            return false;
        hd_array_push(
            &set->items,
            ((hd_annotation){
                .kind = HD_ANNOTATION_REGMUTEX, .instruction = HD_NONE, .value = set->words.count, .count = 2}));
        hd_array_push(&set->words, (uint32_t)(payload & SET_MOST));
        hd_array_push(&set->words, (uint32_t)(payload >> SET_BITS));
        return true;
    }
    bool acquires = opcode == HD_WORD_REGMUTEX_ACQUIRE;
    if ((!acquires && opcode != HD_WORD_REGMUTEX_RELEASE) || payload || word->instruction >= f->instructions.count)
        return false;
    uint16_t kind = acquires ? HD_ANNOTATION_REGMUTEX_ACQUIRE : HD_ANNOTATION_REGMUTEX_RELEASE;
    hd_array_push(&set->items, ((hd_annotation){.kind = kind, .instruction = word->instruction}));
    return true;
}

bool hd_words_to_regmutex(const hd_function *f, const hd_word *words, uint32_t count, hd_annotation_set *set)
{
    for (uint32_t i = 0; i < count; i++)
        if (!decode_word(f, &words[i], set))
            return false;
    return true;
}
