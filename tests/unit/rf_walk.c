/* A small warp machine and random kernels for it: see rf_walk.h. */
#include "tests/unit/unit.h"

#include "ir/sregs.h"
#include "ir/storage.h"
#include "parser/parse.h"
#include "tests/unit/rf_walk.h"

/* ---- random kernels ---------------------------------------------------------------------------------------------- */

enum { DATA_REGISTERS = 7, WIDE_REGISTERS = 3, HALF_REGISTERS = 2, PREDICATES = 3 };

static uint32_t below(uint64_t *seed, uint32_t n) { return (uint32_t)(unit_random(seed) % n); }

static void random_guard(hd_writer *w, uint64_t *seed, uint32_t one_in)
{
    if (below(seed, one_in) == 0)
        hd_write_format(w, "@%s%%p%u ", below(seed, 2) ? "!" : "", below(seed, PREDICATES));
}

/* Between registers of 16, 32 and 64 bits: in allocated code, many of these are identities. */
static void random_width(hd_writer *w, uint64_t *seed)
{
    uint32_t r = below(seed, DATA_REGISTERS), s = below(seed, DATA_REGISTERS), d = below(seed, WIDE_REGISTERS),
             h = below(seed, HALF_REGISTERS);
    switch (below(seed, 8)) {
    case 0:
    case 1: hd_write_format(w, "mov.b64 %%d%u, {%%r%u, %%r%u};\n", d, r, s); return;
    case 2:
    case 3: hd_write_format(w, "mov.b64 {%%r%u, %%r%u}, %%d%u;\n", r, (r + 1) % DATA_REGISTERS, d); return;
    case 4: hd_write_format(w, "cvt.u32.u64 %%r%u, %%d%u;\n", r, d); return;
    case 5: hd_write_format(w, "cvt.u16.u32 %%h%u, %%r%u;\n", h, r); return;
    case 6: hd_write_format(w, "cvt.u32.u16 %%r%u, %%h%u;\n", r, h); return;
    default:
        hd_write_format(w, "add.u64 %%d%u, %%d%u, %%d%u;\n", d, below(seed, WIDE_REGISTERS),
                        below(seed, WIDE_REGISTERS));
    }
}

/* A clock's value is made zero before anything else reads it, so that it decides nothing. */
static void random_special(hd_writer *w, uint32_t d, uint32_t choice)
{
    if (choice / 3 == 3)
        hd_write_format(w, "mov.u32 %%r%u, %%clock;\n    and.b32 %%r%u, %%r%u, 0;\n", d, d, d);
    else
        hd_write_format(w, "mov.u32 %%r%u, %s;\n", d, choice % 3 ? "%laneid" : "%ctaid.x");
}

static void random_instruction(hd_writer *w, uint64_t *seed)
{
    uint32_t d = below(seed, DATA_REGISTERS), a = below(seed, DATA_REGISTERS), b = below(seed, DATA_REGISTERS);
    static const char *const spaces[] = {"param", "global.nc", "global"}, *const names[] = {"n", "in", "in"};
    hd_write_string(w, "    ");
    uint32_t kind = below(seed, 16);
    if (kind != 11)
        random_guard(w, seed, 5);
    switch (kind) {
    case 0: hd_write_format(w, "mov.u32 %%r%u, %u;\n", d, below(seed, 8)); return;
    case 1: random_special(w, d, below(seed, 12)); return;
    case 2: hd_write_format(w, "ld.%s.u32 %%r%u, [%s];\n", spaces[d % 3], d, names[d % 3]); return;
    case 3:
    case 4:
        hd_write_format(w, "setp.%s.u32 %%p%u, %%r%u, %u;\n", below(seed, 2) ? "lt" : "ne", below(seed, PREDICATES), a,
                        below(seed, 40));
        return;
    case 5: hd_write_format(w, "st.global.u32 [out], %%r%u;\n", a); return;
    case 6: hd_write_format(w, "and.b32 %%r%u, %%r%u, 31;\n", d, a); return;
    case 11: hd_write_string(w, "bar.warp.sync -1;\n"); return;
    case 12:
    case 13:
    case 14:
    case 15: random_width(w, seed); return;
    default: hd_write_format(w, "add.u32 %%r%u, %%r%u, %%r%u;\n", d, a, b);
    }
}

/* Four places and mostly fewer targets, the next block among them at times. */
static void random_table(hd_writer *w, uint64_t *seed, uint32_t block, uint32_t blocks)
{
    uint32_t r = below(seed, DATA_REGISTERS), next = block + 1 < blocks ? block + 1 : block;
    uint32_t pool[] = {below(seed, blocks), next, below(seed, blocks)}, kinds = 1 + below(seed, 3);
    hd_write_format(w, "    and.b32 %%r%u, %%r%u, 3;\nT%u: .branchtargets", r, r, block);
    for (uint32_t i = 0; i < 4; i++)
        hd_write_format(w, "%s L%u", i ? "," : "", pool[below(seed, kinds)]);
    hd_write_string(w, ";\n    ");
    random_guard(w, seed, 3);
    hd_write_format(w, "brx.idx %%r%u, T%u;\n", r, block);
}

static void random_end(hd_writer *w, uint64_t *seed, uint32_t block, uint32_t blocks)
{
    uint32_t to = below(seed, 3) ? block + 1 + below(seed, blocks - block) : below(seed, blocks);
    if (to >= blocks)
        to = blocks - 1;
    switch (below(seed, 9)) {
    case 0:
    case 1:
    case 2:
    case 3:
        hd_write_format(w, "    @%s%%p%u bra L%u;\n", below(seed, 2) ? "!" : "", below(seed, PREDICATES), to);
        return;
    case 4: hd_write_format(w, "    bra L%u;\n", to); return;
    case 5: hd_write_format(w, "    @%%p%u exit;\n", below(seed, PREDICATES)); return;
    case 6: hd_write_string(w, "    bar.sync 0;\n"); return;
    case 7: random_table(w, seed, block, blocks); return;
    default: return;
    }
}

void rf_random_kernel(hd_writer *w, uint64_t seed)
{
    uint32_t blocks = 3 + below(&seed, 9), length = 1 + below(&seed, 7);
    hd_write_string(w, ".version 8.0\n.target sm_80\n.address_size 32\n.global .u32 out;\n.const .u32 cin;\n.global "
                       ".u32 in;\n.entry k(.param .u32 n)\n{\n");
    hd_write_format(w, "    .reg .b32 %%r<%d>;\n    .reg .pred %%p<%d>;\n", DATA_REGISTERS, PREDICATES);
    hd_write_format(w, "    .reg .b64 %%d<%d>;\n    .reg .b16 %%h<%d>;\n", WIDE_REGISTERS, HALF_REGISTERS);
    hd_write_string(w, "    mov.u32 %r0, %laneid;\n    ld.param.u32 %r1, [n];\n");
    for (uint32_t p = 0; p < PREDICATES; p++)
        hd_write_format(w, "    setp.lt.u32 %%p%u, %%r%u, %u;\n", p, below(&seed, 2), below(&seed, 40));
    for (uint32_t b = 0; b < blocks; b++) {
        hd_write_format(w, "L%u:\n", b);
        for (uint32_t i = below(&seed, length + 1); i > 0; i--)
            random_instruction(w, &seed);
        random_end(w, &seed, b, blocks);
    }
    hd_write_string(w, "    ret;\n}\n");
}

hd_module *rf_parse(hd_source *source, const char *text, size_t length, hd_diagnostics *diagnostics)
{
    hd_source_from_memory(source, "test.ptx", text, length);
    hd_parse_options options = {0};
    hd_module *module = hd_parse_ptx(source, &options, diagnostics);
    for (const hd_diagnostic *d = diagnostics->first; d; d = d->next)
        fprintf(stderr, "%.*s\n%u: %s\n", (int)length, text, hd_source_position(d->source, d->span.begin).line,
                d->message);
    assert_int_equal(diagnostics->error_count, 0);
    return module;
}

/* ---- the machine ------------------------------------------------------------------------------------------------- */

typedef struct frame {
    uint32_t block, lanes, join;
} frame;

typedef struct machine {
    hd_function *f;
    const hd_cfg *cfg;
    hd_storage storage;
    uint64_t (*values)[32]; /* by register; predicates 0 or 1 */
    frame stack[512];
    uint32_t depth, warp, issued, limit;
    uint64_t order;
    const hd_sink *sink;
} machine;

static uint64_t value_of(const machine *m, const hd_operand *o, uint32_t lane)
{
    switch (o->kind) {
    case HD_OPERAND_REGISTER: return m->values[o->value][lane];
    case HD_OPERAND_LITERAL: return (uint32_t)m->f->module->literals.items[o->value].bits;
    case HD_OPERAND_SREG: return o->value == HD_SREG_LANEID ? lane : o->value == HD_SREG_CLOCK ? m->issued : m->warp;
    default: fail_msg("operand kind %u", o->kind);
    }
    return 0;
}

/* The low bits of the result; the register's width tells how many. */
static uint64_t compute(const machine *m, const hd_instruction *insn, uint32_t lane)
{
    const hd_form *form = hd_insn_form(m->f, insn);
    const hd_operand *o = hd_insn_operands(m->f, insn);
    switch (form->opcode) {
    case HD_OP_MOV:
        return o[1].kind == HD_OPERAND_VECTOR ? value_of(m, o + 2, lane) | value_of(m, o + 3, lane) << 32
                                              : value_of(m, o + 1, lane);
    case HD_OP_CVT: return value_of(m, o + 1, lane);
    case HD_OP_LD: return 5; /* whatever the space */
    case HD_OP_ADD: return value_of(m, o + 1, lane) + value_of(m, o + 2, lane);
    case HD_OP_AND: return value_of(m, o + 1, lane) & value_of(m, o + 2, lane);
    case HD_OP_SETP:
        return form->modifiers[HD_GROUP_COMPARE] == HD_MOD_COMPARE_LT
                   ? value_of(m, o + 1, lane) < value_of(m, o + 2, lane)
                   : value_of(m, o + 1, lane) != value_of(m, o + 2, lane);
    default: fail_msg("opcode %u", form->opcode);
    }
    return 0;
}

static uint32_t guard_lanes(const machine *m, const hd_instruction *insn, uint32_t active)
{
    uint32_t lanes = 0;
    for (uint32_t l = 0; l < 32 && insn->guard != HD_NONE; l++)
        lanes |= (uint32_t)((m->values[insn->guard][l] != 0) != ((insn->flags & HD_INSN_GUARD_NOT) != 0)) << l;
    return insn->guard == HD_NONE ? active : active & lanes;
}

static void execute(machine *m, const hd_instruction *insn, uint32_t lanes)
{
    const hd_operand *o = hd_insn_operands(m->f, insn);
    if (insn->operand_count == 4 && o->kind == HD_OPERAND_VECTOR && hd_insn_form(m->f, insn)->opcode == HD_OP_MOV) {
        for (uint32_t l = 0; l < 32; l++)
            if (lanes >> l & 1) {
                uint64_t whole = value_of(m, o + 3, l);
                for (uint32_t i = 0; i < 2; i++)
                    if (o[1 + i].kind == HD_OPERAND_REGISTER)
                        m->values[o[1 + i].value][l] = (uint32_t)(whole >> 32 * i);
            }
        return;
    }
    if (!insn->operand_count || o->kind != HD_OPERAND_REGISTER || !(o->flags & HD_OPERAND_DEF))
        return;
    uint32_t bits = hd_types[m->f->registers.items[o->value].type].bits;
    for (uint32_t l = 0; l < 32; l++)
        if (lanes >> l & 1)
            m->values[o->value][l] = compute(m, insn, l) & (bits < 64 ? (1ull << bits) - 1 : UINT64_MAX);
}

static void leave(machine *m, uint32_t lanes)
{
    for (uint32_t d = 0; d < m->depth; d++)
        m->stack[d].lanes &= ~lanes;
}

/* The block that a lane goes to which takes the branch. */
static uint32_t target_of(const machine *m, const hd_instruction *last, uint32_t lane)
{
    const hd_operand *o = hd_insn_operands(m->f, last);
    uint32_t label = o->value;
    if (hd_insn_form(m->f, last)->opcode == HD_OP_BRX_IDX)
        label = m->f->table_entries.items[m->f->tables.items[o[1].value].first + (uint32_t)value_of(m, o, lane)];
    uint32_t at = m->f->labels.items[label].instruction;
    return at < m->f->instructions.count ? m->cfg->block_of[at] : m->cfg->block_count;
}

typedef struct side {
    uint32_t block, lanes;
} side;

/* Lanes that go to one block are one side; those that the guard leaves come last. */
static uint32_t find_sides(const machine *m, uint32_t from, uint32_t taken, uint32_t active, side *sides)
{
    const hd_instruction *last = &m->f->instructions.items[m->cfg->blocks[from].end - 1];
    uint32_t count = 0;
    for (uint32_t part = 0; part < 2; part++)
        for (uint32_t l = 0; l < 32; l++) {
            if (!((part ? active & ~taken : taken) >> l & 1))
                continue;
            uint32_t to = part ? from + 1 : target_of(m, last, l), k = 0;
            while (k < count && sides[k].block != to)
                k++;
            if (k == count)
                sides[count++] = (side){to, 0};
            sides[k].lanes |= 1u << l;
        }
    return count;
}

static void branch(machine *m, uint32_t from, uint32_t taken, uint32_t active)
{
    const hd_block *block = &m->cfg->blocks[from];
    hd_flow flow = hd_insn_flow(m->f, &m->f->instructions.items[block->end - 1]);
    frame *top = &m->stack[m->depth - 1];
    side sides[32];
    if (flow == HD_FLOW_LEAVE) {
        leave(m, taken);
        active &= ~taken;
    }
    if (flow != HD_FLOW_BRANCH)
        taken = 0;
    uint32_t count = find_sides(m, from, taken, active, sides), join = block->post_dominator;
    /* where it splits, what is left of it waits at the join */
    top->block = count == 1 ? sides[0].block : count ? join : from + 1;
    for (uint32_t k = count; m->order && k > 1; k--) {
        uint32_t other = (uint32_t)(unit_random(&m->order) % k);
        side s = sides[other];
        sides[other] = sides[k - 1];
        sides[k - 1] = s;
    }
    for (uint32_t k = count; count > 1 && k-- > 0;)
        if (sides[k].block != join)
            m->stack[m->depth++] = (frame){sides[k].block, sides[k].lanes, join};
}

static bool tell(const machine *m, uint8_t kind, uint32_t instruction, uint32_t active, uint32_t effective)
{
    hd_event event = {.kind = kind,
                      .cta = m->warp,
                      .warp = m->warp,
                      .instruction = instruction,
                      .active = active,
                      .effective = effective};
    while (m->f->module->functions.items[event.function] != m->f)
        event.function++;
    return m->sink->take(m->sink->context, &event);
}

static bool run_block(machine *m, uint32_t b, uint32_t active)
{
    uint32_t taken = active;
    for (uint32_t i = m->cfg->blocks[b].first; i < m->cfg->blocks[b].end; i++, m->issued++) {
        const hd_instruction *insn = &m->f->instructions.items[i];
        taken = guard_lanes(m, insn, active);
        if (!hd_storage_skips(&m->storage, i) && !tell(m, HD_EVENT_ISSUE, i, active, taken))
            return false;
        execute(m, insn, taken);
    }
    branch(m, b, taken, active);
    return true;
}

static bool run_warp(machine *m)
{
    if (!tell(m, HD_EVENT_WARP_START, 0, UINT32_MAX, UINT32_MAX))
        return false;
    m->stack[0] = (frame){0, UINT32_MAX, m->cfg->block_count};
    m->depth = 1;
    m->issued = 0;
    while (m->depth && m->issued < m->limit && m->depth < 500) {
        frame *top = &m->stack[m->depth - 1];
        if (!top->lanes || top->block == m->cfg->block_count || (m->depth > 1 && top->block == top->join))
            m->depth--;
        else if (!run_block(m, top->block, top->lanes))
            return false;
    }
    return tell(m, HD_EVENT_WARP_END, 0, 0, 0);
}

bool rf_walk(hd_function *kernel, uint32_t warps, uint32_t limit, const hd_sink *sink)
{
    return rf_walk_sides(kernel, warps, limit, 0, sink);
}

bool rf_walk_sides(hd_function *kernel, uint32_t warps, uint32_t limit, uint64_t order, const hd_sink *sink)
{
    machine *m = hd_calloc(1, sizeof *m);
    hd_arena arena = {0};
    *m = (machine){.f = kernel,
                   .cfg = hd_function_cfg(kernel),
                   .storage = hd_storage_of(kernel, &arena),
                   .limit = limit,
                   .order = order,
                   .sink = sink};
    bool good = true;
    for (m->warp = 0; good && m->warp < warps; m->warp++) {
        m->values = hd_calloc((size_t)kernel->registers.count + 1, sizeof *m->values);
        good = run_warp(m);
        free(m->values);
    }
    hd_arena_free(&arena);
    free(m);
    return good;
}
