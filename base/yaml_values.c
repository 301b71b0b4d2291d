/* The values of a YAML document: nodes as numbers, words and lists, with a diagnostic at the node where one is not what
 * it has to be. */
#include "base/yaml.h"
#include "base/scan.h"
#include <math.h>
#include <stdio.h>

/* ---- diagnostics ------------------------------------------------------------------------------------------------- */

static hd_diagnostic *report(hd_diagnostics *diagnostics, const hd_yaml_node *node, hd_diagnostic_kind kind,
                             const char *format, va_list list) __attribute__((format(printf, 4, 0)));
static hd_diagnostic *report(hd_diagnostics *diagnostics, const hd_yaml_node *node, hd_diagnostic_kind kind,
                             const char *format, va_list list)
{
    char message[512];
    vsnprintf(message, sizeof message, format, list);
    return hd_report(diagnostics, kind, &node->document->source, node->span, "%s", message);
}

hd_diagnostic *hd_yaml_error(const hd_yaml_node *node, hd_diagnostic_kind kind, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    hd_diagnostic *diagnostic = report(node->document->diagnostics, node, kind, format, list);
    va_end(list);
    return diagnostic;
}

hd_diagnostic *hd_yaml_report(hd_diagnostics *diagnostics, const hd_yaml_node *node, hd_diagnostic_kind kind,
                              const char *format, ...)
{
    va_list list;
    va_start(list, format);
    hd_diagnostic *diagnostic = report(diagnostics, node, kind, format, list);
    va_end(list);
    return diagnostic;
}

/* ---- kinds and keys ---------------------------------------------------------------------------------------------- */

static bool is_kind(const hd_yaml_node *node, hd_yaml_kind kind, const char *what)
{
    if (!node)
        return false;
    if (node->kind != kind)
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "%s is expected here", what);
    return node->kind == kind;
}

bool hd_yaml_mapping(const hd_yaml_node *node) { return is_kind(node, HD_YAML_MAPPING, "a mapping (key: value)"); }
bool hd_yaml_sequence(const hd_yaml_node *node) { return is_kind(node, HD_YAML_SEQUENCE, "a list ([a, b])"); }
bool hd_yaml_scalar(const hd_yaml_node *node) { return is_kind(node, HD_YAML_SCALAR, "a single value"); }

bool hd_yaml_is_word(const hd_yaml_node *node, const char *word)
{
    return node && node->kind == HD_YAML_SCALAR && node->length == strlen(word) &&
           !memcmp(node->text, word, node->length);
}

const hd_yaml_node *hd_yaml_get(const hd_yaml_node *mapping, const char *key)
{
    if (!mapping || mapping->kind != HD_YAML_MAPPING)
        return NULL;
    for (uint32_t i = 0; i < mapping->count; i++)
        if (hd_yaml_is_word(mapping->items[2 * i], key))
            return mapping->items[2 * i + 1];
    return NULL;
}

const hd_yaml_node *hd_yaml_need(const hd_yaml_node *mapping, const char *key)
{
    if (!hd_yaml_mapping(mapping))
        return NULL;
    const hd_yaml_node *value = hd_yaml_get(mapping, key);
    if (!value)
        hd_yaml_error(mapping, HD_DIAG_BAD_KEY, "key '%s' is missing", key);
    return value;
}

/* Writes "a, b, c" to a buffer, truncated if it is full. */
static void join_words(char *buffer, size_t size, const char *const *words, uint32_t count)
{
    size_t used = 0;
    buffer[0] = 0;
    for (uint32_t i = 0; i < count && used < size; i++) {
        int n = snprintf(buffer + used, size - used, "%s%s", i ? ", " : "", words[i]);
        used += n > 0 ? (size_t)n : 0;
    }
}

bool hd_yaml_known_keys(const hd_yaml_node *mapping, const char *const *keys, uint32_t count)
{
    bool good = true;
    if (!hd_yaml_mapping(mapping))
        return false;
    for (uint32_t i = 0; i < mapping->count; i++) {
        const hd_yaml_node *key = mapping->items[2 * i];
        uint32_t k = 0;
        while (k < count && !hd_yaml_is_word(key, keys[k]))
            k++;
        if (k == count) {
            char list[256];
            join_words(list, sizeof list, keys, count);
            hd_yaml_error(key, HD_DIAG_BAD_KEY, "unknown key '%s'; known here: %s", key->text, list);
            good = false;
        }
    }
    return good;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

bool hd_yaml_is_integer(const hd_yaml_node *node, bool *negative, uint64_t *magnitude)
{
    if (!node || node->kind != HD_YAML_SCALAR || !node->plain)
        return false;
    const char *p = node->text, *end = p + node->length;
    uint32_t base = 10;
    *negative = *p == '-';
    p += *p == '-' || *p == '+';
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'b' || p[1] == 'o')) {
        base = p[1] == 'x' ? 16 : p[1] == 'b' ? 2 : 8;
        p += 2;
    }
    return hd_take_number(&p, end, base, UINT64_MAX, magnitude) && p == end;
}

static bool bad(const hd_yaml_node *node, const char *what)
{
    if (node->kind == HD_YAML_SCALAR)
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "'%s' is not %s", node->text, what);
    else
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "%s is expected here", what);
    return false;
}

bool hd_yaml_u64(const hd_yaml_node *node, uint64_t minimum, uint64_t maximum, uint64_t *value)
{
    bool negative;
    uint64_t v;
    char what[96];
    if (!node)
        return false;
    if (hd_yaml_is_integer(node, &negative, &v) && (!negative || v == 0) && v >= minimum && v <= maximum) {
        *value = v;
        return true;
    }
    snprintf(what, sizeof what, "a whole number from %llu to %llu", (unsigned long long)minimum,
             (unsigned long long)maximum);
    return bad(node, what);
}

bool hd_yaml_u32(const hd_yaml_node *node, uint32_t minimum, uint32_t maximum, uint32_t *value)
{
    uint64_t v;
    if (!hd_yaml_u64(node, minimum, maximum, &v))
        return false;
    *value = (uint32_t)v;
    return true;
}

/* strtod accepts more than YAML (blanks, "infinity", hexadecimal floats): check the first characters. */
bool hd_yaml_double(const hd_yaml_node *node, double *value)
{
    bool negative;
    uint64_t v;
    if (!node)
        return false;
    if (hd_yaml_is_integer(node, &negative, &v)) {
        *value = negative ? -(double)v : (double)v;
        return true;
    }
    if (node->kind != HD_YAML_SCALAR || !node->plain)
        return bad(node, "a number");
    const char *p = node->text;
    const char *digits = p + (*p == '-' || *p == '+');
    if (!strcmp(digits, ".inf") || !strcmp(digits, ".nan")) {
        *value = digits[1] == 'n' ? (double)NAN : *p == '-' ? -HUGE_VAL : HUGE_VAL;
        return true;
    }
    char *end;
    if (!strchr("0123456789.", *digits) || !*digits || strpbrk(p, "xXpP"))
        return bad(node, "a number");
    *value = strtod(p, &end);
    return *end ? bad(node, "a number") : true;
}

bool hd_yaml_bool(const hd_yaml_node *node, bool *value)
{
    if (!node)
        return false;
    *value = hd_yaml_is_word(node, "true");
    return *value || hd_yaml_is_word(node, "false") || bad(node, "true or false");
}

bool hd_yaml_string(const hd_yaml_node *node, const char **value)
{
    if (!hd_yaml_scalar(node))
        return false;
    if (!node->length || strlen(node->text) != node->length)
        return bad(node, "a text");
    *value = node->text;
    return true;
}

bool hd_yaml_choice(const hd_yaml_node *node, const char *const *words, uint32_t count, uint32_t *index)
{
    char list[256], what[300];
    if (!node)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (hd_yaml_is_word(node, words[i])) {
            *index = i;
            return true;
        }
    join_words(list, sizeof list, words, count);
    snprintf(what, sizeof what, "one of: %s", list);
    return bad(node, what);
}

bool hd_yaml_address_bits(const hd_yaml_node *mapping, uint32_t *bits)
{
    static const char *const words[] = {"32", "64"};
    const hd_yaml_node *node = hd_yaml_get(mapping, "address_bits");
    uint32_t index = 0;
    if (!node)
        return true;
    bool good = hd_yaml_choice(node, words, 2, &index);
    *bits = index ? 64 : 32;
    return good;
}
