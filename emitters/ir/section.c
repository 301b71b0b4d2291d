/* `.section .heddle`: the bytes of ir/words/section.h as `.b8` lines of 32 decimals. Linear in bytes. */
#include "emitters/ir/annotations.h"

#include "ir/words/section.h"
#include "parser/parse.h"

enum { NUMBERS_PER_LINE = 32 };

static bool has_records(const hd_function *function)
{
    if (function->annotations.count)
        return true;
    for (uint32_t i = 0; i < function->foreign_annotations.count; i++)
        if (function->foreign_annotations.items[i].kind)
            return true;
    return false;
}

static bool collect(hd_bytes *bytes, const hd_module *module)
{
    bool any = false;
    hd_section_begin(bytes);
    for (uint32_t i = 0; i < module->functions.count; i++) {
        const hd_function *function = module->functions.items[i];
        if (!function->has_body || !has_records(function))
            continue;
        hd_section_add_function(bytes, function, hd_function_hash(function));
        any = true;
    }
    return any;
}

/* A byte's decimals and a comma. */
static void write_number(hd_writer *writer, uint8_t byte)
{
    char digits[4];
    uint32_t n = 0;
    if (byte >= 100)
        digits[n++] = (char)('0' + byte / 100);
    if (byte >= 10)
        digits[n++] = (char)('0' + byte / 10 % 10);
    digits[n++] = (char)('0' + byte % 10);
    hd_write(writer, digits, n);
}

static void write_lines(hd_writer *writer, const hd_bytes *bytes, const char *line_end)
{
    for (uint32_t i = 0; i < bytes->count; i++) {
        if (i % NUMBERS_PER_LINE == 0) {
            hd_write_string(writer, line_end);
            hd_write(writer, ".b8 ", 4);
        } else {
            hd_write_char(writer, ',');
        }
        write_number(writer, bytes->items[i]);
    }
}

bool hd_emit_section(hd_writer *writer, const hd_module *module, const char *before, const char *line_end)
{
    hd_bytes bytes = {0};
    bool ok = true;
    if (collect(&bytes, module)) {
        ok = hd_section_end(&bytes);
        hd_write_string(writer, before);
        hd_write_string(writer, ".section " HD_SECTION_NAME);
        hd_write_string(writer, line_end);
        hd_write_char(writer, '{');
        write_lines(writer, &bytes, line_end);
        hd_write_string(writer, line_end);
        hd_write_char(writer, '}');
    }
    hd_array_free(&bytes);
    return ok;
}
