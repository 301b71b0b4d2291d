/* Faults of lanes as text: see lane_fault.h. */
#include "hwmodel/lane_fault.h"

#include "base/scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const unit_names[HD_LANE_UNITS] = {
    [HD_LANE_SP] = "sp", [HD_LANE_SFU] = "sfu", [HD_LANE_LDST] = "ldst"};

hd_lane_unit hd_lane_unit_of(const hd_form *form)
{
    switch (hd_form_unit(form)) {
    case HD_UNIT_INT:
    case HD_UNIT_SP:
    case HD_UNIT_DP: return HD_LANE_SP;
    case HD_UNIT_SFU: return HD_LANE_SFU;
    case HD_UNIT_LDST:
    case HD_UNIT_TEX: return HD_LANE_LDST;
    case HD_UNIT_NONE:
    case HD_UNIT_TENSOR:
    case HD_UNIT_CTRL: return HD_LANE_NONE;
    }
    return HD_LANE_NONE;
}

typedef enum key { SM, LANE, UNIT, BIT, STUCK, FLIP, KEYS } key;
static const struct {
    const char *name, *takes;
    uint64_t least, most;
} keys[KEYS] = {[SM] = {"sm", "the number of an SM, from 0", 0, 1023},
                [LANE] = {"lane", "a number from 0 to 31", 0, 31},
                [UNIT] = {"unit", "sp, sfu or ldst", 0, 0},
                [BIT] = {"bit", "a number from 0 to 63", 0, 63},
                [STUCK] = {"stuck", "0 or 1", 0, 1},
                [FLIP] = {"flip", "the number of an operation, from 1", 1, 999999999999}};

static key find_key(const char *text, size_t length)
{
    uint32_t k = 0;
    while (k < KEYS && (strlen(keys[k].name) != length || strncmp(keys[k].name, text, length)))
        k++;
    return (key)k;
}

static bool read_number(const char *text, size_t length, key k, uint64_t *number)
{
    const char *end = text + length;
    return length <= 12 && hd_take_number(&text, end, 10, keys[k].most, number) && text == end &&
           *number >= keys[k].least;
}

static bool read_unit(const char *text, size_t length, uint64_t *unit)
{
    for (*unit = HD_LANE_SP; *unit < HD_LANE_UNITS; ++*unit)
        if (strlen(unit_names[*unit]) == length && !strncmp(unit_names[*unit], text, length))
            return true;
    return false;
}

static bool refuse(char *message, const char *format, int length, const char *text)
{
    snprintf(message, HD_LANE_FAULT_MESSAGE, format, hd_min(length, 60), text);
    return false;
}

/* KEY=VALUE, of this length. */
static bool read_item(const char *item, size_t length, uint64_t values[KEYS], uint32_t *given, char *message)
{
    const char *equals = memchr(item, '=', length);
    size_t name = equals ? (size_t)(equals - item) : length, value = equals ? length - name - 1 : 0;
    key k = find_key(item, name);
    if (k == KEYS)
        return refuse(message, "there is no '%.*s'; there are sm, lane, unit, bit, stuck and flip", (int)name, item);
    if (*given >> k & 1)
        return refuse(message, "'%.*s' is given twice", (int)name, item);
    *given |= 1u << k;
    if (!equals ||
        !(k == UNIT ? read_unit(equals + 1, value, &values[k]) : read_number(equals + 1, value, k, &values[k]))) {
        snprintf(message, HD_LANE_FAULT_MESSAGE, "'%s' takes %s", keys[k].name, keys[k].takes);
        return false;
    }
    return true;
}

bool hd_lane_fault_read(const char *text, hd_lane_fault *fault, char message[HD_LANE_FAULT_MESSAGE])
{
    const uint32_t needed = 1u << LANE | 1u << UNIT | 1u << BIT, kinds = 1u << STUCK | 1u << FLIP;
    uint64_t values[KEYS] = {0};
    uint32_t given = 0;
    for (const char *at = text; *at || at == text; at += *at == ',') {
        size_t length = strcspn(at, ",");
        if (!read_item(at, length, values, &given, message))
            return false;
        at += length;
    }
    for (uint32_t k = 0; k < KEYS; k++)
        if (needed >> k & ~given >> k & 1)
            return refuse(message, "'%.*s' is missing", (int)strlen(keys[k].name), keys[k].name);
    if (__builtin_popcount(given & kinds) != 1)
        return refuse(message, "a fault has either %.*s", 19, "'stuck' or 'flip'");
    *fault = (hd_lane_fault){.sm = (uint32_t)values[SM],
                             .lane = (uint32_t)values[LANE],
                             .unit = (uint8_t)values[UNIT],
                             .bit = (uint8_t)values[BIT],
                             .stuck = given >> STUCK & 1,
                             .value = (uint8_t)values[STUCK],
                             .operation = values[FLIP]};
    return true;
}
