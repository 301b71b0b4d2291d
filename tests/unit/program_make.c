/* Makes random programs. Loops run at most 7 times, groups nest at most three deep, and the number of nodes is bounded,
 * so every program ends soon. */
#include "program.h"
#include "unit.h"

const program_op_info program_ops[PROGRAM_OPS] = {
#define OP(id, opcode, suffix, D, A, B, C, expression) \
    [PROGRAM_##id] = {opcode, suffix, KIND_##D, {KIND_##A, KIND_##B, KIND_##C}},
#include "program_ops.def"
#undef OP
};
const uint32_t program_registers[KINDS] = {0, HALVES, WORDS, DOUBLES, FLOATS, WIDES, PREDICATES};

typedef struct maker {
    program *p;
    uint64_t state;
    program_target target;
} maker;

static uint32_t below(maker *m, uint32_t limit) { return (uint32_t)(unit_random(&m->state) % limit); }

/* Small numbers, numbers around powers of two, extremes, and any. */
static uint64_t interesting(maker *m, uint32_t kind)
{
    static const uint32_t floats[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000,
                                      0xff800000, 0x7fc00001, 1,          0x007fffff, 0x00800000,
                                      0x7f7fffff, 0x4f000000, 0xcf000000, 0x3effffff, 0x40490fdb};
    static const uint64_t wides[] = {0,
                                     1ull << 63,
                                     0x3ff0000000000000,
                                     0x7ff0000000000000,
                                     0x7ff8000000000001,
                                     1,
                                     0x000fffffffffffff,
                                     0x7fefffffffffffff,
                                     0x41dfffffffc00000,
                                     0x36a0000000000000,
                                     0x47efffffe0000000};
    uint64_t any = unit_random(&m->state);
    if (kind == KIND_F)
        return below(m, 3) ? floats[any % (sizeof floats / sizeof *floats)] : any & 0xffffffff;
    if (kind == KIND_G)
        return below(m, 3) ? wides[any % (sizeof wides / sizeof *wides)] : any;
    uint32_t bits = kind == KIND_H ? 16 : kind == KIND_R ? 32 : 64;
    uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
    switch (below(m, 4)) {
    case 0: return any % 70;
    case 1: return ((1ull << any % bits) - below(m, 2)) & mask;
    case 2: return (0 - any % 5) & mask;
    default: return any & mask;
    }
}

static uint16_t new_node(maker *m, program_kind kind)
{
    program_node *n = &m->p->nodes[m->p->count];
    *n = (program_node){.kind = (uint8_t)kind, .guard = NO_GUARD};
    for (uint32_t i = 0; i < 3; i++)
        n->s[i] = (uint8_t)below(m, 64);
    n->d = (uint8_t)below(m, 64);
    return (uint16_t)m->p->count++;
}

static void add(program_list *list, uint16_t node) { list->items[list->count++] = node; }
static bool has_room(const maker *m) { return m->p->count + 16 < MOST_NODES; }

/* Instructions whose machine code is not decoded, or not executed yet: docs/machine.md. */
static bool is_left_out(const maker *m, uint32_t op)
{
    static const uint8_t machine[] = {PROGRAM_DP4A,   PROGRAM_DP2A, PROGRAM_SAT16, PROGRAM_SAT8,
                                      PROGRAM_ADDSAT, PROGRAM_SAD,  PROGRAM_MIN16};
    for (uint32_t i = 0; m->target != PROGRAM_ANY && i < sizeof machine; i++)
        if (machine[i] == op)
            return true;
    return false;
}

static uint16_t fill_op(maker *m, uint16_t at, uint32_t op)
{
    program_node *n = &m->p->nodes[at];
    n->op = (uint8_t)op;
    const program_op_info *o = &program_ops[n->op];
    n->d = (uint8_t)below(m, program_registers[o->d]);
    bool opposite = false; /* at most one immediate, so that a register is left */
    for (uint32_t i = 0; i < 3 && o->kinds[i]; i++) {
        n->s[i] = (uint8_t)below(m, program_registers[o->kinds[i]]);
        bool may = i && !opposite && o->kinds[i] != KIND_P && !strstr(o->opcode, "f16");
        if (may && !below(m, 3)) {
            n->is_immediate |= (uint8_t)(1u << i);
            n->immediate[i] = interesting(m, o->kinds[i]);
            if (!strncmp(o->opcode, "bf", 2)) /* the assembler takes no larger place or length of a field */
                n->immediate[i] &= 255;
            if (m->target != PROGRAM_ANY && (op == PROGRAM_SHL16 || op == PROGRAM_SHR16)) /* ptxas 13.0 takes 16 bits */
                n->immediate[i] &= 0xffff;
            opposite = true;
        }
    }
    if (!below(m, 5)) {
        n->guard = (int8_t)below(m, PREDICATES);
        n->guard_not = below(m, 2);
    }
    if (m->target != PROGRAM_ANY && op == PROGRAM_SETF) /* ptxas 13.0 converts the old value where the guard is false */
        n->guard = NO_GUARD;
    return at;
}

static uint16_t make_op(maker *m)
{
    uint16_t at = new_node(m, DO_OP);
    uint32_t op = below(m, PROGRAM_OPS);
    while (is_left_out(m, op))
        op = below(m, PROGRAM_OPS);
    return fill_op(m, at, op);
}

static void make_list(maker *m, program_list *list, uint32_t depth, bool in_loop, bool exits);

/* In half of the tables any list at any place, or none (the end); some with a guard, after which the first list comes.
 */
static void make_table(maker *m, program_node *n)
{
    bool any = below(m, 2);
    for (uint32_t i = 0; i < 4; i++)
        n->immediate[i / 2] |= (uint64_t)(any ? below(m, 5) : i) << 8 * (i % 2);
    if (!below(m, 3)) {
        n->guard = (int8_t)below(m, PREDICATES);
        n->guard_not = below(m, 2);
    }
}

static uint16_t make_group(maker *m, uint32_t depth, bool in_loop, bool exits)
{
    static const uint8_t groups[] = {DO_IF, DO_IF, DO_LOOP, DO_SWITCH};
    uint16_t at = new_node(m, (program_kind)groups[below(m, 4)]);
    uint8_t kind = m->p->nodes[at].kind;
    uint32_t lists = kind == DO_IF ? 2 : kind == DO_SWITCH ? 4 : 1;
    m->p->nodes[at].s[0] %= kind == DO_IF ? PREDICATES : WORDS;
    m->p->nodes[at].op = (uint8_t)below(m, 2);
    m->p->nodes[at].d = (uint8_t)depth; /* the loop's counter */
    if (kind == DO_SWITCH)
        make_table(m, &m->p->nodes[at]);
    for (uint32_t i = 0; i < lists; i++) {
        program_list list = {0};
        make_list(m, &list, depth + 1, in_loop || kind == DO_LOOP, exits);
        m->p->nodes[at].lists[i] = list;
    }
    return at;
}

static uint16_t make_own(maker *m, program_kind kind)
{
    if (m->target != PROGRAM_ANY && kind == DO_TIME)
        kind = DO_LOAD;
    if (m->target == PROGRAM_OLD_MACHINE && (kind == DO_REDUX || kind == DO_PARTIAL))
        kind = DO_VOTE;
    uint16_t at = new_node(m, kind);
    program_node *n = &m->p->nodes[at];
    n->d %= WORDS;
    for (uint32_t i = 0; i < 3; i++)
        n->s[i] %= WORDS;
    if (kind == DO_BREAK || kind == DO_CONTINUE || kind == DO_EXIT) {
        n->guard = (int8_t)below(m, PREDICATES);
        n->guard_not = below(m, 2);
    }
    return at;
}

/* What one thread does alone. */
static void make_list(maker *m, program_list *list, uint32_t depth, bool in_loop, bool exits)
{
    static const uint8_t own[] = {DO_LOAD, DO_TIME, DO_LOCAL_STORE, DO_LOCAL_LOAD, DO_CALL, DO_ADD_CELL};
    uint32_t count = 1 + below(m, MOST_ITEMS - 1);
    for (uint32_t i = 0; i < count && has_room(m); i++) {
        uint32_t choice = below(m, 20);
        if (choice < 3 && depth < 3)
            add(list, make_group(m, depth, in_loop, exits));
        else if (choice == 3 && in_loop)
            add(list, make_own(m, below(m, 2) ? DO_BREAK : DO_CONTINUE));
        else if (choice == 4 && exits && !below(m, 3))
            add(list, make_own(m, DO_EXIT));
        else if (choice < 8)
            add(list, make_own(m, (program_kind)own[below(m, 6)]));
        else
            add(list, make_op(m));
    }
}

/* What all do together. */
static uint16_t make_together(maker *m, uint32_t depth)
{
    static const uint8_t kinds[] = {DO_SHUFFLE, DO_VOTE, DO_MATCH, DO_REDUX, DO_SWAP, DO_PARTIAL, DO_REPEAT};
    program_kind kind = (program_kind)kinds[below(m, depth ? 6 : 7)];
    uint16_t at = make_own(m, kind);
    m->p->nodes[at].op = (uint8_t)below(m, 4);
    m->p->nodes[at].immediate[0] = kind == DO_REPEAT ? 1 + below(m, 4) : below(m, 32);
    if (kind == DO_PARTIAL)
        for (uint32_t side = 0; side < 2; side++) {
            program_list list = {0};
            make_list(m, &list, 2, false, false);
            m->p->nodes[at].s[0] %= PREDICATES;
            m->p->nodes[at].lists[side] = list;
        }
    return at;
}

/* One lane's value, of a lane that may have ended, is undefined, and ptxas takes it as the same in all lanes. */
static void take_no_ended_lane(const maker *m, program_node *n)
{
    enum { BFLY = 2, IDX = 3 };
    if (m->target != PROGRAM_ANY && n->kind == DO_SHUFFLE && n->op == IDX)
        n->op = BFLY;
}

static void make_top(maker *m, program_list *list, uint32_t depth, bool exits)
{
    for (uint32_t i = 0; i < MOST_ITEMS && has_room(m); i++) {
        uint32_t choice = below(m, 10);
        if (choice < 4) {
            uint16_t at = make_together(m, depth);
            if (exits)
                take_no_ended_lane(m, &m->p->nodes[at]);
            if (m->p->nodes[at].kind == DO_REPEAT) {
                program_list inner = {0};
                make_top(m, &inner, depth + 1, exits);
                m->p->nodes[at].lists[0] = inner;
                m->p->nodes[at].d = (uint8_t)(3 + depth);
            }
            add(list, at);
        } else if (choice < 6) {
            add(list, make_group(m, 0, false, exits));
        } else {
            add(list, exits && !below(m, 6) ? make_own(m, DO_EXIT) : make_op(m));
        }
    }
}

void program_make(program *p, uint64_t seed) { program_make_for(p, seed, PROGRAM_ANY); }

static maker start(program *p, uint64_t seed, program_target target)
{
    static const uint32_t sizes[] = {32, 64, 96};
    maker m = {p, seed * 0x2545f4914f6cdd1dull + 1, target};
    memset(p, 0, sizeof *p);
    p->threads = sizes[below(&m, 3)];
    for (uint32_t i = 0; i < INPUTS; i++)
        p->inputs[i] = (uint32_t)interesting(&m, below(&m, 2) ? KIND_R : KIND_F);
    return m;
}

void program_make_op(program *p, uint64_t seed, program_op op)
{
    maker m = start(p, seed, PROGRAM_MACHINE);
    for (uint32_t i = 0; i < MOST_ITEMS; i++)
        add(&p->top, fill_op(&m, new_node(&m, DO_OP), op));
}

void program_make_for(program *p, uint64_t seed, program_target target)
{
    maker m = start(p, seed, target);
    make_top(&m, &p->top, 0, false);
    make_list(&m, &p->tail, 0, false, true);
    if (below(&m, 2))
        make_top(&m, &p->late, 0, true);
}
