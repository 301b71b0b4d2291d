/* Control fields in text: see recognize_fields.h. A listing of an assembler's output reads as any other. Its source
 * may name registers: a word that is no register, space, special register, modifier or target is taken for such a
 * name, since an instruction read without one of its registers would be read wrong. */
#include "parser/recognize_fields.h"

#include "base/json_text.h"
#include "base/search.h"
#include "base/source.h"
#include "ir/sass/sass.h"

#include <ctype.h>
#include <string.h>

enum { FIELDS = 5 };

/* The length of a control field, 01:-:-:Y:5; 0: none. In KeplerAs it is -:-:D:-:04. */
static size_t field_length(const char *word, bool *kepler)
{
    static const char *const letters[FIELDS] = {"-0123456789abcdef", "-0123456789DGST", "-0123456789DGST", "-Y",
                                                "-0123456789abcdef"};
    size_t at = 0;
    *kepler = false;
    for (uint32_t i = 0; i < FIELDS; i++) {
        size_t length = strspn(word + at, letters[i]);
        if (length < 1 || length > 2 || (i + 1 < FIELDS && word[at + length] != ':'))
            return 0;
        *kepler |= (i == 0 && length != 2) || ((i == 1 || i == 2) && (length != 1 || isupper((unsigned char)word[at])));
        at += length + (i + 1 < FIELDS);
    }
    return hd_is_blank(word[at]) ? at : 0;
}

/* And comments: annotations of the function may be here. */
static const char *skip_blanks(const char *at)
{
    const char *end;
    at += strspn(at, " \t");
    while (at[0] == '/' && at[1] == '*' && (end = strstr(at + 2, "*/")) && !memchr(at, '\n', (size_t)(end - at))) {
        at = end + 2;
        at += strspn(at, " \t");
    }
    return at;
}

bool hd_begins_with_field(const char *text)
{
    bool kepler;
    const char *limit = text + strlen(text);
    while (!field_length(text, &kepler)) {
        size_t length = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_$.");
        if (!length || text[length] != ':')
            return false;
        text += length + 1;
        text += hd_json_skip(text, 0, (uint32_t)(limit - text)); /* annotations */
    }
    return true;
}

/* ---- names in place of registers --------------------------------------------------------------------------------- */

static bool is_branch(const char *opcode, size_t length)
{
    static const char *const branches[] = {"BRA",  "BRX",  "JMP",  "JMX",  "SSY", "PBK",  "PCNT", "CAL",
                                           "JCAL", "CALL", "PRET", "BSSY", "RET", "LEPC", NULL};
    size_t stem = 0;
    while (stem < length && opcode[stem] != '.')
        stem++;
    for (const char *const *b = branches; *b; b++)
        if (hd_is_name(opcode, stem, *b))
            return true;
    return false;
}

/* Whether a word of an operand is a name that the assembler replaces. */
static bool is_name(const char *word, size_t length, bool in_brackets)
{
    uint8_t class, number;
    size_t capitals = 0;
    if (hd_sass_register_of(word, length, &class, &number))
        return false;
    while (capitals < length && !islower((unsigned char)word[capitals]))
        capitals++;
    if (capitals < length) /* c[0x0][0x140] */
        return word[length] != '[' || length > 1;
    bool numbered =
        isdigit((unsigned char)word[length - 1]) && strncmp(word, "SR_", 3) != 0 && strncmp(word, "SB", 2) != 0;
    return in_brackets || numbered;
}

/* Whether operands, up to the end of the statement or the line, hold a name. */
static bool operands_name(const char *at)
{
    uint32_t depth = 0;
    while (*at && !strchr(";\r\n", *at) && !(at[0] == '/' && at[1] == '/')) {
        size_t length = 0;
        while (isalnum((unsigned char)at[length]) || at[length] == '_' || at[length] == '$')
            length++;
        if (length && !isdigit((unsigned char)*at) && is_name(at, length, depth > 0))
            return true;
        depth += *at == '[';
        depth -= *at == ']' && depth;
        at += length ? length : 1;
        if (length || at[-1] == ']')
            while (*at == '.') /* suffixes */
                at += 1 + strspn(at + 1, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_");
    }
    return false;
}

static bool statement_names(const char *at)
{
    at = skip_blanks(at);
    if (*at == '@') {
        at += 1 + (at[1] == '!');
        size_t length = strcspn(at, " \t\r\n");
        uint8_t class, number;
        if (!hd_sass_register_of(at, length, &class, &number))
            return true;
        at = skip_blanks(at + length);
    }
    size_t length = strcspn(at, " \t\r\n;");
    return !is_branch(at, length) && operands_name(at + length);
}

bool hd_is_assembler_source(const char *text)
{
    for (const char *line = text; *line; line += *line != 0) {
        bool kepler;
        const char *at = skip_blanks(line);
        size_t length = field_length(at, &kepler);
        if (*at == '<' || strncmp(at, "[+", 2) == 0 || (length && (kepler || statement_names(at + length))))
            return true;
        line = at + strcspn(at, "\n");
    }
    return false;
}
