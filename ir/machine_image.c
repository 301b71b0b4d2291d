/* See machine_image.h. */
#include "ir/machine_image.h"

#include "ir/machine.h"

const hd_machine_layout *hd_machine_layout_of(const hd_function *function)
{
    return function->machine ? function->machine->layout : NULL;
}

static int compare(const char *name, const char *text, size_t length)
{
    int order = strncmp(name, text, length);
    return order ? order : name[length] != '\0';
}

uint32_t hd_machine_symbol_of(const hd_machine_image *image, const char *name, size_t length)
{
    for (uint32_t low = 0, high = image->symbol_count; low < high;) {
        uint32_t middle = (low + high) / 2;
        int order = compare(image->symbols[middle].name, name, length);
        if (!order)
            return middle;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return HD_NONE;
}

/* Whether the text is `before`, something, `after`: *text and *length are that then. */
static bool take_inside(const char **text, size_t *length, const char *before, const char *after)
{
    size_t head = strlen(before), tail = strlen(after);
    if (*length < head + tail || memcmp(*text, before, head) != 0 || memcmp(*text + *length - tail, after, tail) != 0)
        return false;
    *text += head;
    *length -= head + tail;
    return true;
}

bool hd_machine_sum_of(const char *text, size_t length, hd_machine_address *found)
{
    static const char plus[] = " + ";
    found->addend = 0;
    if (take_inside(&text, &length, "(", ")")) {
        const char *sum = memmem(text, length, plus, strlen(plus));
        char digits[24], *end;
        size_t count = sum ? length - (size_t)(sum - text) - strlen(plus) : 0;
        if (!count || count >= sizeof digits)
            return false;
        memcpy(digits, sum + strlen(plus), count);
        digits[count] = '\0';
        found->addend = (int64_t)strtoull(digits, &end, 0);
        if (*end)
            return false;
        length = (size_t)(sum - text);
    }
    found->name = text;
    found->length = (uint32_t)length;
    return length != 0;
}

bool hd_machine_address_of(const hd_machine_image *image, const char *text, size_t length, hd_machine_address *found)
{
    static const struct {
        const char *before, *after;
    } spellings[HD_MACHINE_RELOCATION_COUNT] = {
#define HD_MACHINE_RELOCATION(id, number, name, before, after) [HD_MACHINE_RELOCATION_##id] = {before, after},
#include "ir/machine_relocations.def"
#undef HD_MACHINE_RELOCATION
    };
    for (uint32_t kind = 0; kind < HD_MACHINE_RELOCATION_COUNT; kind++) {
        const char *inner = text;
        size_t left = length;
        if (!*spellings[kind].before || !take_inside(&inner, &left, spellings[kind].before, spellings[kind].after) ||
            !hd_machine_sum_of(inner, left, found))
            continue;
        found->kind = (uint8_t)kind;
        found->symbol = image ? hd_machine_symbol_of(image, found->name, found->length) : HD_NONE;
        return true;
    }
    return false;
}
