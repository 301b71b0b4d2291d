/* The metadata words of a function's annotations, and their positions among its instructions: see ir/words/words.h. */
#include "emitters/ir/dump.h"
#include "emitters/ir/ptx.h"
#include "ir/words/words.h"

/* *raw: number of following words without opcode that belong to the previous one (a prefetch's vector). */
static void write_word(hd_writer *w, const hd_function *f, const hd_word *word, uint64_t *raw)
{
    const hd_word_info *info = *raw ? NULL : hd_word_find(hd_word_opcode_of(word->bits));
    hd_write_format(w, "  0x%016llx  %-20s", (unsigned long long)word->bits, info ? info->name : "");
    if (*raw)
        --*raw;
    else if (info && info->raw)
        *raw = hd_word_payload(word->bits);
    if (word->instruction == HD_NONE) {
        hd_write_string(w, "  at the head\n");
        return;
    }
    hd_write_format(w, "  %6u  ", word->instruction);
    hd_emit_instruction(w, f, &f->instructions.items[word->instruction]);
    hd_write_char(w, '\n');
}

static void write_technique(hd_writer *w, const hd_function *f, const hd_word_code *code)
{
    hd_word_array words = {0};
    hd_word_size size;
    const char *refusal = NULL;
    uint64_t raw = 0;
    hd_words_size(f, code->technique, &size);
    hd_write_format(w, "%s: %llu words, %.2f %% of the code; %llu bits in instructions\n", code->technique,
                    (unsigned long long)size.words, size.percent, (unsigned long long)size.bits);
    if (code->encode && !code->encode(f, &words, &refusal))
        hd_write_format(w, "  %s\n", refusal ? refusal : "no words can say this");
    for (uint32_t i = 0; i < words.count; i++)
        write_word(w, f, &words.items[i], &raw);
    hd_array_free(&words);
}

void hd_emit_words(hd_writer *w, const hd_function *f)
{
    const hd_names *names = &f->module->names;
    hd_write_format(w, "%s\n", hd_names_text(names, f->name));
    for (uint32_t c = 0; c < hd_word_code_count; c++)
        if (hd_annotations_count(f, hd_word_codes[c].technique))
            write_technique(w, f, &hd_word_codes[c]);
}
