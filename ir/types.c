/* The tables of types and special registers, and lookup by spelling, which is linear: it runs once per distinct
 * spelling of a module. */
#include "base/search.h"
#include "ir/sregs.h"

_Static_assert(HD_TYPE_COUNT <= 64, "sets of types are 64-bit masks");

const hd_type_info hd_types[HD_TYPE_COUNT] = {
    [HD_TYPE_NONE] = {"", 0, HD_CLASS_NONE, 0, 0},
#define HD_TYPE(id, spelling, bits, class, lanes, declarable) \
    [HD_TYPE_##id] = {spelling, bits, HD_CLASS_##class, lanes, declarable},
#include "ir/types.def"
#undef HD_TYPE
    [HD_TYPE_CC] = {"cc", 1, HD_CLASS_NONE, 1, 0},
    [HD_TYPE_UNIFORM] = {"uniform", 32, HD_CLASS_NONE, 1, 0},
    [HD_TYPE_BARRIER] = {"barrier", 32, HD_CLASS_NONE, 1, 0},
};

const char *const hd_space_spellings[HD_SPACE_COUNT] = {
    [HD_SPACE_NONE] = "",
    [HD_SPACE_REG] = ".reg",
    [HD_SPACE_SREG] = ".sreg",
    [HD_SPACE_CONST] = ".const",
    [HD_SPACE_GLOBAL] = ".global",
    [HD_SPACE_LOCAL] = ".local",
    [HD_SPACE_PARAM] = ".param",
    [HD_SPACE_SHARED] = ".shared",
    [HD_SPACE_TEX] = ".tex",
    [HD_SPACE_PARAM_ENTRY] = ".param::entry",
    [HD_SPACE_PARAM_FUNC] = ".param::func",
    [HD_SPACE_SHARED_CTA] = ".shared::cta",
    [HD_SPACE_SHARED_CLUSTER] = ".shared::cluster",
};

const hd_sreg_info hd_sregs[HD_SREG_COUNT] = {
#define HD_SREG(id, spelling, type, components, varies, introduced, target) \
    [HD_SREG_##id] = {spelling, HD_TYPE_##type, components, HD_VARIES_##varies, introduced, target},
#include "ir/sregs.def"
#undef HD_SREG
};

hd_type hd_type_from_spelling(const char *text, size_t length)
{
    for (int i = HD_TYPE_NONE + 1; i < HD_TYPE_CC; i++)
        if (hd_is_name(text, length, hd_types[i].spelling))
            return (hd_type)i;
    return HD_TYPE_NONE;
}

int hd_sreg_from_spelling(const char *text, size_t length)
{
    if (length < 2 || text[0] != '%')
        return -1;
    for (int i = 0; i < HD_SREG_COUNT; i++)
        if (hd_is_name(text + 1, length - 1, hd_sregs[i].spelling))
            return i;
    return -1;
}
