/* Random programs, structured and not, their text and their graph (tests/unit/oracle.h). */
#include "tests/unit/oracle.h"

#include <string.h>

uint32_t oracle_next(oracle_random *random, uint32_t below)
{
    random->state += 0x9e3779b97f4a7c15u; /* splitmix64 */
    uint64_t z = random->state;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) % below);
}

/* ---- instructions ------------------------------------------------------------------------------------------------ */

static uint8_t any_word(oracle_random *r) { return (uint8_t)oracle_next(r, ORACLE_WORDS); }
static uint8_t any_predicate(oracle_random *r)
{
    return (uint8_t)(ORACLE_WORDS + oracle_next(r, ORACLE_REGISTERS - ORACLE_WORDS));
}

/* In an `even` program one word and one predicate, the last ones, differ between lanes from the start; the others hold
 * one value in all lanes until a guard or a branch by that predicate makes them differ. */
static oracle_insn random_insn(oracle_random *r, bool even)
{
    static const uint8_t all[] = {ORACLE_CONST, ORACLE_PARAM, ORACLE_LANE, ORACLE_ADD,   ORACLE_ADD,  ORACLE_ADD,
                                  ORACLE_SETP,  ORACLE_SETP,  ORACLE_SETP, ORACLE_SELP,  ORACLE_LOAD, ORACLE_LOAD2,
                                  ORACLE_STORE, ORACLE_STORE, ORACLE_PART, ORACLE_OPAQUE};
    static const uint8_t few[] = {ORACLE_CONST, ORACLE_CONST, ORACLE_CONST, ORACLE_PARAM, ORACLE_ADD,
                                  ORACLE_ADD,   ORACLE_SETP,  ORACLE_SETP,  ORACLE_SETP,  ORACLE_STORE};
    static const uint8_t def_counts[] = {1, 1, 1, 1, 1, 1, 1, 2, 0, 1, 2, 0},
                         use_counts[] = {0, 0, 0, 2, 2, 3, 0, 0, 1, 2, 0, 0};
    even &= oracle_next(r, 32) != 0;
    oracle_insn insn = {.kind = even ? few[oracle_next(r, sizeof few)] : all[oracle_next(r, sizeof all)]};
    if (insn.kind == ORACLE_OPAQUE && oracle_next(r, 3))
        insn.kind = ORACLE_ADD;
    insn.def_count = def_counts[insn.kind];
    insn.use_count = use_counts[insn.kind];
    insn.def[0] = insn.kind == ORACLE_SETP ? any_predicate(r) : any_word(r);
    insn.def[1] = (uint8_t)((insn.def[0] + 1) % ORACLE_WORDS);
    for (uint32_t i = 0; i < insn.use_count; i++)
        insn.use[i] = i == 2 ? any_predicate(r) : any_word(r);
    insn.guarded = oracle_next(r, even ? 8 : 4) == 0;
    insn.value = (uint8_t)oracle_next(r, 8);
    insn.guard = any_predicate(r);
    insn.negated = insn.guarded && oracle_next(r, 2);
    if (even) {
        uint8_t last = insn.kind == ORACLE_SETP ? ORACLE_REGISTERS - 1 : ORACLE_WORDS - 1;
        insn.def[0] -= insn.def[0] == last;
        for (uint32_t i = 0; i < insn.use_count; i++)
            insn.use[i] -= insn.use[i] == ORACLE_WORDS - 1;
    }
    return insn;
}

static void start_even(oracle_block *block)
{
    enum { WORD = ORACLE_WORDS - 1, PREDICATE = ORACLE_REGISTERS - 1 };
    block->insns[0] = (oracle_insn){.kind = ORACLE_LOAD, .def = {WORD}, .def_count = 1};
    block->insns[1] =
        (oracle_insn){.kind = ORACLE_SETP, .def = {PREDICATE}, .def_count = 1, .use = {WORD, WORD}, .use_count = 2};
    block->count = 2;
}

static void fill_block(oracle_block *block, oracle_random *r, uint32_t most, bool even)
{
    uint32_t count = block->count + oracle_next(r, most + 1);
    while (block->count < count)
        block->insns[block->count++] = random_insn(r, even);
}

/* ---- control flow ------------------------------------------------------------------------------------------------ */

typedef struct generator {
    oracle_program *p;
    oracle_random *r;
    uint32_t current;
    bool even;
} generator;

static void end_block(generator *g, uint32_t b, oracle_end end, uint32_t count, const uint32_t *targets)
{
    oracle_block *block = &g->p->blocks[b];
    oracle_insn insn = {.kind = ORACLE_BRANCH};
    block->end = (uint8_t)end;
    block->target_count = count;
    for (uint32_t t = 0; t < count; t++)
        block->target[t] = (uint8_t)targets[t];
    if (end == ORACLE_SWITCH) {
        insn.use_count = 1;
        insn.use[0] = any_word(g->r);
    }
    insn.guarded = end == ORACLE_IF || end == ORACLE_EXIT_IF ||
                   (end == ORACLE_SWITCH && oracle_next(g->r, 4) == 0 && b + 1 < g->p->count);
    if (end == ORACLE_SWITCH && insn.guarded) /* falls through where the guard is false */
        block->target[block->target_count++] = (uint8_t)(b + 1);
    insn.guard = any_predicate(g->r);
    insn.negated = insn.guarded && oracle_next(g->r, 2);
    if (end != ORACLE_FALL)
        block->insns[block->count++] = insn;
}

static uint32_t next_block(generator *g)
{
    g->current = g->p->count++;
    if (g->even && g->current == 0)
        start_even(&g->p->blocks[0]);
    fill_block(&g->p->blocks[g->current], g->r, 4, g->even);
    return g->current;
}

static void jump(generator *g, uint32_t from, uint32_t to) { end_block(g, from, ORACLE_JUMP, 1, &to); }
static void branch(generator *g, uint32_t from, uint32_t taken, uint32_t next)
{
    end_block(g, from, ORACLE_IF, 2, (uint32_t[]){taken, next});
}

static void generate_sequence(generator *g, uint32_t depth);

static void generate_if(generator *g, uint32_t depth)
{
    uint32_t head = g->current, then = next_block(g), otherwise;
    generate_sequence(g, depth);
    uint32_t then_end = g->current;
    if (oracle_next(g->r, 2)) {
        uint32_t join = next_block(g);
        jump(g, then_end, join);
        branch(g, head, join, then);
        return;
    }
    otherwise = next_block(g);
    generate_sequence(g, depth);
    uint32_t other_end = g->current, join = next_block(g);
    jump(g, then_end, join);
    jump(g, other_end, join);
    branch(g, head, otherwise, then);
}

static void generate_loop(generator *g, uint32_t depth)
{
    uint32_t before = g->current, head = next_block(g);
    jump(g, before, head);
    if (oracle_next(g->r, 2)) { /* do .. while */
        generate_sequence(g, depth);
        uint32_t last = g->current, after = next_block(g);
        branch(g, last, head, after);
        return;
    }
    uint32_t body = next_block(g);
    generate_sequence(g, depth);
    uint32_t last = g->current, after = next_block(g);
    jump(g, last, head);
    branch(g, head, after, body);
}

static void generate_switch(generator *g, uint32_t depth)
{
    uint32_t head = g->current, cases[ORACLE_TARGETS], ends[3], count = 2 + oracle_next(g->r, 2);
    for (uint32_t c = 0; c < count; c++) {
        cases[c] = next_block(g);
        if (c == 0)
            generate_sequence(g, depth);
        ends[c] = g->current;
    }
    uint32_t join = next_block(g);
    for (uint32_t c = 0; c < count; c++)
        jump(g, ends[c], join);
    while (count < ORACLE_TARGETS - 1 &&
           oracle_next(g->r, 3)) { /* a target again, or the join, at any place of the table */
        uint32_t at = oracle_next(g->r, count + 1),
                 again = oracle_next(g->r, 4) ? cases[oracle_next(g->r, count)] : join;
        memmove(cases + at + 1, cases + at, (count++ - at) * sizeof *cases);
        cases[at] = again;
    }
    end_block(g, head, ORACLE_SWITCH, count, cases);
}

static void generate_sequence(generator *g, uint32_t depth)
{
    for (uint32_t n = 1 + oracle_next(g->r, 2); n && depth && g->p->count < ORACLE_BLOCKS - 16; n--)
        switch (oracle_next(g->r, 7)) {
        case 0:
        case 1:
        case 2: generate_if(g, depth - 1); break;
        case 3:
        case 4: generate_loop(g, depth - 1); break;
        case 5: generate_switch(g, depth - 1); break;
        default: {
            uint32_t head = g->current;
            end_block(g, head, ORACLE_EXIT_IF, 1, (uint32_t[]){next_block(g)});
        }
        }
}

static void generate_soup(generator *g)
{
    uint32_t n = 2 + oracle_next(g->r, 9);
    for (uint32_t b = 0; b < n; b++)
        next_block(g);
    for (uint32_t b = 0; b < n; b++) {
        uint32_t targets[] = {oracle_next(g->r, n), oracle_next(g->r, n), oracle_next(g->r, n)},
                 kind = oracle_next(g->r, 12);
        for (uint32_t t = 1; t < 3; t++)
            if (oracle_next(g->r, 3) == 0)
                targets[t] = targets[0];
        if (b + 1 == n)
            kind = kind < 6 ? 11 : 0;
        if (kind < 2)
            jump(g, b, targets[0]);
        else if (kind < 8)
            branch(g, b, targets[0], b + 1);
        else if (kind < 9)
            end_block(g, b, ORACLE_SWITCH, 3, targets);
        else if (kind < 10)
            end_block(g, b, ORACLE_EXIT_IF, 1, (uint32_t[]){b + 1});
        else if (kind < 11)
            jump(g, b, b + 1);
        else
            end_block(g, b, ORACLE_EXIT, 0, NULL);
    }
}

/* Some jumps to the next block become a fall through: where another branch names that block, or it would be no block.
 */
static void drop_jumps(oracle_program *p, oracle_random *r)
{
    for (uint32_t b = 0; b + 1 < p->count; b++) {
        oracle_block *block = &p->blocks[b];
        bool named = false;
        for (uint32_t o = 0; o < p->count; o++)
            for (uint32_t t = 0; t < p->blocks[o].target_count; t++)
                named |= o != b && p->blocks[o].target[t] == b + 1 &&
                         (p->blocks[o].end == ORACLE_JUMP || p->blocks[o].end == ORACLE_SWITCH ||
                          (p->blocks[o].end == ORACLE_IF && t == 0));
        if (block->end != ORACLE_JUMP || block->target[0] != b + 1 || !named || block->count < 2 || oracle_next(r, 2))
            continue;
        block->end = ORACLE_FALL;
        block->count--;
    }
}

void oracle_generate(oracle_program *program, uint64_t seed)
{
    oracle_random random = {seed * 0x2545f4914f6cdd1du + 1};
    generator g = {program, &random, 0, oracle_next(&random, 2)};
    memset(program, 0, sizeof *program);
    program->is_device = oracle_next(&random, 4) == 0;
    if (oracle_next(&random, 3) == 0) {
        generate_soup(&g);
    } else {
        next_block(&g);
        generate_sequence(&g, 3);
        end_block(&g, g.current, ORACLE_EXIT, 0, NULL);
    }
    drop_jumps(program, &random);
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void print_register(hd_writer *w, uint32_t reg)
{
    hd_write_format(w, reg < ORACLE_WORDS ? "%%r%u" : "%%p%u", reg < ORACLE_WORDS ? reg : reg - ORACLE_WORDS);
}

/* $d, $e: definitions; $u, $v, $w: uses. */
static void print_shape(hd_writer *w, const char *shape, const oracle_insn *insn)
{
    for (; *shape; shape++) {
        if (*shape != '$') {
            hd_write_char(w, *shape);
            continue;
        }
        shape++;
        print_register(w, *shape <= 'e' ? insn->def[*shape - 'd'] : insn->use[*shape - 'u']);
    }
}

static void print_branch(const oracle_program *p, const oracle_block *block, uint32_t b, hd_writer *w)
{
    switch ((oracle_end)block->end) {
    case ORACLE_FALL: break;
    case ORACLE_JUMP: hd_write_format(w, "bra.uni L%u", block->target[0]); break;
    case ORACLE_IF: hd_write_format(w, "bra L%u", block->target[0]); break;
    case ORACLE_SWITCH:
        print_shape(w, "brx.idx $u, ", &block->insns[block->count - 1]);
        hd_write_format(w, "T%u", b);
        break;
    case ORACLE_EXIT:
    case ORACLE_EXIT_IF: hd_write_string(w, p->is_device || b % 2 ? "ret" : "exit"); break;
    }
}

static void print_insn(const oracle_program *p, const oracle_block *block, uint32_t i, uint32_t b, hd_writer *w)
{
    static const char *const shapes[] = {"mov.u32 $d, ",
                                         "ld.param.u32 $d, [value]",
                                         "mov.u32 $d, %tid.x",
                                         "add.u32 $d, $u, $v",
                                         "setp.lt.u32 $d, $u, $v",
                                         "selp.u32 $d, $u, $v, $w",
                                         "ld.global.u32 $d, [%rd1]",
                                         "ld.global.v2.u32 {$d, $e}, [%rd1]",
                                         "st.global.u32 [%rd1], $u",
                                         "vadd.s32.s32.s32 $d.b0, $u, $v, $u",
                                         "frobnicate.b32 $d, $e"};
    const oracle_insn *insn = &block->insns[i];
    hd_write_string(w, "    ");
    if (insn->guarded) {
        hd_write_string(w, insn->negated ? "@!" : "@");
        print_register(w, insn->guard);
        hd_write_char(w, ' ');
    }
    if (insn->kind == ORACLE_BRANCH)
        print_branch(p, block, b, w);
    else
        print_shape(w, insn->kind == ORACLE_PARAM && p->is_device ? "mov.u32 $d, %ctaid.x" : shapes[insn->kind], insn);
    if (insn->kind == ORACLE_CONST)
        hd_write_format(w, "%u", insn->value);
    hd_write_string(w, ";\n");
}

void oracle_print(const oracle_program *p, hd_writer *w)
{
    hd_write_string(w, ".version 8.0\n.target sm_80\n.address_size 64\n");
    if (p->is_device)
        hd_write_string(w, ".visible .func (.reg .u32 %r0) f (.reg .u32 %r1)\n{\n.reg .u32 %r2, %r3, %r4;\n");
    else
        hd_write_string(w, ".visible .entry f (.param .u32 value)\n{\n.reg .u32 %r<5>;\n");
    hd_write_string(w, ".reg .pred %p<3>;\n.reg .b64 %rd<2>;\n");
    for (uint32_t b = 0; b < p->count; b++) {
        const oracle_block *block = &p->blocks[b];
        hd_write_format(w, "L%u:\n", b);
        for (uint32_t i = 0; i < block->count; i++) {
            if (block->insns[i].kind == ORACLE_BRANCH && block->end == ORACLE_SWITCH) {
                hd_write_format(w, "T%u: .branchtargets", b);
                for (uint32_t t = 0; t < block->target_count - block->insns[i].guarded; t++)
                    hd_write_format(w, "%s L%u", t ? "," : "", block->target[t]);
                hd_write_string(w, ";\n");
            }
            print_insn(p, block, i, b, w);
        }
    }
    hd_write_string(w, "}\n");
}

/* ---- graph ------------------------------------------------------------------------------------------------------- */

uint32_t oracle_successors(const oracle_program *p, uint32_t block, uint32_t *to)
{
    const oracle_block *b = &p->blocks[block];
    uint32_t count = 0;
    if (b->end == ORACLE_EXIT || b->end == ORACLE_EXIT_IF)
        to[count++] = p->count;
    for (uint32_t t = 0; t < b->target_count; t++) {
        bool seen = false;
        for (uint32_t k = 0; k < count; k++)
            seen |= to[k] == b->target[t];
        if (!seen)
            to[count++] = b->target[t];
    }
    return count;
}

uint64_t oracle_reach(const oracle_program *p, uint32_t from, uint64_t without)
{
    uint64_t reached = (1ull << from) & ~without, before = 0;
    while (reached != before) {
        before = reached;
        for (uint32_t b = 0; b < p->count; b++) {
            uint32_t to[ORACLE_TARGETS + 1], count = reached >> b & 1 ? oracle_successors(p, b, to) : 0;
            for (uint32_t e = 0; e < count; e++)
                reached |= (1ull << to[e]) & ~without;
        }
    }
    return reached;
}

bool oracle_dominates(const oracle_program *p, uint32_t a, uint32_t b)
{
    return a == b || a == 0 || !(oracle_reach(p, 0, 1ull << a) >> b & 1);
}

/* Every way from b to X goes through a. A block that cannot reach X at all has an edge of its own to X. */
bool oracle_post_dominates(const oracle_program *p, uint32_t a, uint32_t b)
{
    if (a == b || a == p->count)
        return true;
    uint64_t around = oracle_reach(p, b, 1ull << a);
    if (around >> p->count & 1)
        return false;
    for (uint32_t q = 0; q < p->count; q++)
        if (around >> q & 1 && !(oracle_reach(p, q, 0) >> p->count & 1))
            return false;
    return true;
}

uint32_t oracle_join(const oracle_program *p, uint32_t block)
{
    for (uint32_t d = 0; d <= p->count; d++) {
        if (d == block || !oracle_post_dominates(p, d, block))
            continue;
        bool nearest = true;
        for (uint32_t e = 0; e <= p->count && nearest; e++)
            if (e != block && e != d && oracle_post_dominates(p, e, block))
                nearest = d != p->count && oracle_post_dominates(p, e, d);
        if (nearest)
            return d;
    }
    return p->count;
}
