/* The table of exec.def's rows, and its linear search, which runs once per distinct spelling. */
#include "hwmodel/exec/ops/lanes.h"
#include "hwmodel/exec/ops/scalar.h"

#define ROW(op, type_, mods, sources_, D, kind_) \
    {HD_LANES_NAME(op, type_, mods), HD_OP_##op, {HD_MODS_##mods}, HD_TYPE_##type_, sources_, sizeof(D), kind_},
#define HD_INT1(op, type, mods, D, A, expression) ROW(op, type, mods, 1, D, HD_LANES_INT)
#define HD_INT2(op, type, mods, D, A, B, expression) ROW(op, type, mods, 2, D, HD_LANES_INT)
#define HD_INT3(op, type, mods, D, A, B, C, expression) ROW(op, type, mods, 3, D, HD_LANES_INT)
#define HD_FLOAT1(op, type, mods, D, A, expression) ROW(op, type, mods, 1, D, HD_LANES_FLOAT)
#define HD_FLOAT2(op, type, mods, D, A, B, expression) ROW(op, type, mods, 2, D, HD_LANES_FLOAT)
#define HD_FLOAT3(op, type, mods, D, A, B, C, expression) ROW(op, type, mods, 3, D, HD_LANES_FLOAT)
#define HD_HALF1(op, type, mods, D, A, expression) ROW(op, type, mods, 1, D, HD_LANES_HALF)
#define HD_HALF2(op, type, mods, D, A, B, expression) ROW(op, type, mods, 2, D, HD_LANES_HALF)
#define HD_HALF3(op, type, mods, D, A, B, C, expression) ROW(op, type, mods, 3, D, HD_LANES_HALF)
static const hd_lanes_row lanes_rows[] = {
#include "hwmodel/exec/ops/exec.def"
};

static const struct compare_row {
    hd_compare *compare;
    uint16_t comparison;
    uint8_t type;
} compare_rows[] = {
#define HD_COMPARE(type, comparison, T, expression) \
    {HD_COMPARE_NAME(type, comparison), HD_MOD_COMPARE_##comparison, HD_TYPE_##type},
#include "hwmodel/exec/ops/exec.def"
};

static const struct combine_row {
    hd_combine *combine;
    uint16_t operation;
    uint8_t type;
} combine_rows[] = {
#define HD_COMBINE(operation, type, T, expression) \
    {HD_COMBINE_NAME(operation, type), HD_MOD_OP_##operation, HD_TYPE_##type},
#include "hwmodel/exec/ops/exec.def"
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

bool hd_modifier_is_hint(hd_modifier_group group)
{
    static const uint8_t hints[] = {HD_GROUP_CACHE,    HD_GROUP_L1,    HD_GROUP_L2,      HD_GROUP_HINT,
                                    HD_GROUP_PREFETCH, HD_GROUP_UNI,   HD_GROUP_ALIGNED, HD_GROUP_VOLATILE,
                                    HD_GROUP_SEM,      HD_GROUP_SCOPE, HD_GROUP_NC,      HD_GROUP_MMIO};
    for (uint32_t i = 0; i < COUNT(hints); i++)
        if (hints[i] == group)
            return true;
    return false;
}

/* Whether the modifier group is handled around rows of this kind. */
static bool is_around(const hd_lanes_row *row, const hd_form *form, uint32_t group)
{
    uint16_t present = form->modifiers[group];
    if (row->kind == HD_LANES_INT)
        return false;
    if (group == HD_GROUP_ROUND)
        return row->kind == HD_LANES_FLOAT || present == HD_MOD_ROUND_RN;
    return group == HD_GROUP_FTZ || group == HD_GROUP_APPROX || present == HD_MOD_SAT_SAT;
}

static bool names_modifier(const hd_lanes_row *row, uint16_t modifier)
{
    return modifier == row->modifiers[0] || modifier == row->modifiers[1] || modifier == row->modifiers[2];
}

static bool row_matches(const hd_lanes_row *row, const hd_form *form, uint32_t sources)
{
    uint32_t wanted = 0, found = 0;
    if (row->opcode != form->opcode || row->sources != sources || form->type_count != 1 ||
        row->type != hd_lanes_element((hd_type)form->types[0]))
        return false;
    for (uint32_t k = 0; k < COUNT(row->modifiers); k++)
        wanted += row->modifiers[k] != HD_MOD_NONE;
    for (uint32_t g = 0; g < HD_MODIFIER_GROUP_COUNT; g++) {
        uint16_t present = form->modifiers[g];
        if (!present || hd_modifier_is_hint((hd_modifier_group)g))
            continue;
        bool named = names_modifier(row, present);
        if (!named && !is_around(row, form, g))
            return false;
        found += named;
    }
    return found == wanted;
}

hd_type hd_lanes_element(hd_type type)
{
    switch (type) {
    case HD_TYPE_F16X2: return HD_TYPE_F16;
    case HD_TYPE_BF16X2: return HD_TYPE_BF16;
    case HD_TYPE_F32X2: return HD_TYPE_F32;
    case HD_TYPE_U16X2: return HD_TYPE_U16;
    case HD_TYPE_S16X2: return HD_TYPE_S16;
    default: return type;
    }
}

const hd_lanes_row *hd_lanes_find(const hd_form *form, uint32_t sources)
{
    for (uint32_t i = 0; i < COUNT(lanes_rows); i++)
        if (row_matches(&lanes_rows[i], form, sources))
            return &lanes_rows[i];
    return NULL;
}

hd_compare *hd_compare_find(hd_type type, uint32_t comparison)
{
    for (uint32_t i = 0; i < COUNT(compare_rows); i++)
        if (compare_rows[i].type == type && compare_rows[i].comparison == comparison)
            return compare_rows[i].compare;
    return NULL;
}

hd_combine *hd_combine_find(uint32_t operation, hd_type type)
{
    for (uint32_t i = 0; i < COUNT(combine_rows); i++)
        if (combine_rows[i].type == type && combine_rows[i].operation == operation)
            return combine_rows[i].combine;
    return NULL;
}
