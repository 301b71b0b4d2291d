/* Names in a listing, and the labels of a function by their names: see sass_reader.h. */
#include "parser/sass_reader.h"

/* A character of a name in JSON that \u and four digits stand for; any other is a question mark. */
static char escaped(const char *digits)
{
    char four[5] = {digits[0], digits[1], digits[2], digits[3], 0}, *end;
    unsigned long code = strtoul(four, &end, 16);
    return end == four + 4 && code > ' ' && code < 0x7f ? (char)code : '?';
}

hd_name hd_sass_name(hd_sass_reader *b, uint32_t begin, uint32_t end)
{
    const char *text = b->module->source->text + begin;
    size_t length = end - begin, count = 0;
    if ((!b->lexer.dot && !b->lexer.json) || !memchr(text, '\\', length))
        return hd_names_add_padded(&b->module->names, text, length);
    char *plain = hd_malloc(length + 1);
    for (size_t i = 0; i < length; i++) {
        bool numbered = b->lexer.json && text[i] == '\\' && i + 5 < length && text[i + 1] == 'u';
        if (numbered)
            plain[count++] = escaped(text + i + 2);
        i += numbered ? 5 : text[i] == '\\' && b->lexer.json;
        if (!numbered && i < length && (b->lexer.json || text[i] != '\\'))
            plain[count++] = text[i];
    }
    hd_name name = hd_names_add(&b->module->names, plain, count);
    free(plain);
    return name;
}

uint32_t hd_sass_label_find(const hd_sass_reader *b, hd_name name)
{
    if (name >= b->label_stamp.count || b->label_stamp.items[name] != b->function_stamp)
        return HD_NONE;
    return b->label_of_name.items[name];
}

uint32_t hd_sass_label_new(hd_sass_reader *b, hd_name name, uint32_t instruction, hd_span span)
{
    uint32_t label = b->function->labels.count;
    hd_array_push(&b->function->labels, (hd_label){name, instruction, span});
    while (b->label_stamp.count <= name) {
        hd_array_push(&b->label_stamp, 0);
        hd_array_push(&b->label_of_name, 0);
    }
    b->label_stamp.items[name] = b->function_stamp;
    b->label_of_name.items[name] = label;
    return label;
}
