/* Iterates over an opcode's modifiers in source text. Constant time per modifier; blanks and comments may separate
 * them. */
#include "ir/opcode_text.h"

#include "base/json_text.h"

static bool is_follow(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

static uint32_t skip_follow(const char *text, uint32_t at)
{
    while (is_follow(text[at]))
        at++;
    return at;
}

void hd_opcode_text_start(hd_opcode_text *walk, const char *text, hd_span instruction)
{
    uint32_t at = instruction.begin;
    if (text[at] == '{') { /* machine code in JSON */
        at = hd_json_find_string(text, instruction, "opcode").begin;
    } else if (text[at] == '@') {
        at = hd_after_trivia(text, at + 1, instruction.end);
        if (text[at] == '!')
            at = hd_after_trivia(text, at + 1, instruction.end);
        at += text[at] == '%';
        at = hd_after_trivia(text, skip_follow(text, at), instruction.end);
    }
    at = skip_follow(text, at);
    *walk = (hd_opcode_text){text, instruction.end, at, at};
}

bool hd_opcode_text_next(hd_opcode_text *walk, hd_span *modifier)
{
    const char *text = walk->text;
    uint32_t begin = hd_after_trivia(text, walk->at, walk->end);
    if (text[begin] != '.' || !is_follow(text[begin + 1]))
        return false;
    uint32_t end = skip_follow(text, begin + 1);
    while (text[end] == ':' && text[end + 1] == ':' && is_follow(text[end + 2]))
        end = skip_follow(text, end + 2);
    /* a constant bank of old PTX */
    if (end - begin == 6 && memcmp(text + begin, ".const", 6) == 0 && text[end] == '[') {
        uint32_t close = skip_follow(text, end + 1);
        end = text[close] == ']' ? close + 1 : end;
    }
    *modifier = (hd_span){begin, end};
    walk->at = walk->opcode_end = end;
    return true;
}

const hd_annotation_info *hd_annotation_modifier(const char *text, size_t length, size_t *value)
{
    size_t end = 1;
    while (end < length && text[end] != ':')
        end++;
    if (end < length && (length - end < 2 || text[end + 1] != ':'))
        return NULL;
    *value = end < length ? end + 2 : length;
    return hd_annotation_find_name(text + 1, end - 1);
}

size_t hd_annotation_modifiers_cut(const char *spelling, size_t length, char *rest)
{
    size_t kept = 0, value;
    for (size_t begin = 0, end; begin < length; begin = end) {
        for (end = begin + 1; end < length && spelling[end] != '.'; end++)
            ;
        if (spelling[begin] == '.' && hd_annotation_modifier(spelling + begin, end - begin, &value))
            continue;
        memcpy(rest + kept, spelling + begin, end - begin);
        kept += end - begin;
    }
    return kept;
}
