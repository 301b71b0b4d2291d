/* The instruction table and the modifiers: rows of ir/ptx.def and ir/modifiers.def. */
#include "ir/form.h"

enum { /* short names used in the behaviour column of ir/ptx.def */
       LOAD = HD_BEHAVE_LOAD,
       STORE = HD_BEHAVE_STORE,
       ATOMIC = HD_BEHAVE_ATOMIC,
       BARRIER = HD_BEHAVE_BARRIER,
       WARP = HD_BEHAVE_WARP,
       FENCE = HD_BEHAVE_FENCE,
       BRANCH = HD_BEHAVE_BRANCH,
       CALL = HD_BEHAVE_CALL,
       RETURN = HD_BEHAVE_RETURN,
       EXIT = HD_BEHAVE_EXIT,
       TRAP = HD_BEHAVE_TRAP,
       ASYNC = HD_BEHAVE_ASYNC,
       DIVERGENT = HD_BEHAVE_DIVERGENT,
       TEXTURE = HD_BEHAVE_TEXTURE,
       VOLATILE = HD_BEHAVE_VOLATILE,
       YIELD = HD_BEHAVE_YIELD,
       MEET = HD_BEHAVE_MEET
};

const hd_opcode_info hd_opcodes[HD_OPCODE_COUNT] = {
    [HD_OP_UNKNOWN] = {"", VOLATILE, HD_UNIT_NONE, 10, 10, ""},
    [HD_OP_MACHINE] = {"", VOLATILE, HD_UNIT_NONE, 10, 10, ""},
#define HD_OPCODE(id, name, introduced, target, unit, behaviour, syntax) \
    [HD_OP_##id] = {name, behaviour, HD_UNIT_##unit, introduced, target, syntax},
#include "ir/ptx.def"
#undef HD_OPCODE
};

static const struct {
    const char *spelling;
    uint8_t group;
} modifiers[HD_MODIFIER_COUNT] = {
    [HD_MOD_NONE] = {"", 0},
#define HD_MODIFIER_GROUP(id, summary)
#define HD_MODIFIER(group, id, spelling) [HD_MOD_##group##_##id] = {spelling, HD_GROUP_##group},
#include "ir/modifiers.def"
#undef HD_MODIFIER_GROUP
#undef HD_MODIFIER
};

const char *hd_modifier_spelling(hd_modifier modifier) { return modifiers[modifier].spelling; }

hd_modifier_group hd_modifier_group_of(hd_modifier modifier) { return (hd_modifier_group)modifiers[modifier].group; }
