/* Checks the invariants of ir/ir.h and ir/cfg.h. A violation is a bug in the code that created or changed the IR; it is
 * reported as HD_DIAG_INVALID_IR at its location in the text. Only the first violation of a function is reported,
 * because others may follow from it. Linear in the module.
 *
 * An existing CFG is compared with the instructions (blocks, edges in both directions, tree links in range); unit tests
 * check that its dominators are correct. */
#include "ir/cfg.h"
#include "base/bitset.h"
#include "ir/annotations.h"
#include "ir/sregs.h"

#include <stdio.h>

typedef struct checker {
    const hd_module *module;
    const hd_function *function;
    hd_diagnostics *diagnostics;
    hd_span span; /* location of the current item */
    bool failed;
} checker;

static void fail(checker *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void fail(checker *c, const char *format, ...)
{
    char text[160];
    va_list arguments;
    if (c->failed)
        return;
    c->failed = true;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    const char *name = c->function ? hd_names_text(&c->module->names, c->function->name) : "module";
    hd_report(c->diagnostics, HD_DIAG_INVALID_IR, c->module->source, c->span, "%s: %s", name, text);
}

#define EXPECT(c, condition, ...)   \
    do {                            \
        if (!(condition))           \
            fail((c), __VA_ARGS__); \
    } while (0)

/* ---- operands and instructions ----------------------------------------------------------------------------------- */

static bool is_aggregate(uint8_t kind) { return kind >= HD_OPERAND_VECTOR && kind <= HD_OPERAND_LIST; }

static void check_value(checker *c, const hd_operand *o)
{
    const hd_function *f = c->function;
    const hd_module *m = c->module;
    if (o->kind > HD_OPERAND_LIST) {
        fail(c, "operand of no known kind (%u)", o->kind);
        return;
    }
    switch ((hd_operand_kind)o->kind) {
    case HD_OPERAND_REGISTER:
        EXPECT(c, o->value < f->registers.count, "operand names register %u of %u", o->value, f->registers.count);
        break;
    case HD_OPERAND_LITERAL:
        EXPECT(c, o->value < m->literals.count, "operand names literal %u of %u", o->value, m->literals.count);
        break;
    case HD_OPERAND_SYMBOL:
        EXPECT(c, o->value < m->symbols.count, "operand names symbol %u of %u", o->value, m->symbols.count);
        break;
    case HD_OPERAND_SREG: EXPECT(c, o->value < HD_SREG_COUNT, "operand names special register %u", o->value); break;
    case HD_OPERAND_LABEL:
        EXPECT(c, o->value < f->labels.count, "operand names label %u of %u", o->value, f->labels.count);
        break;
    case HD_OPERAND_TABLE:
        EXPECT(c, o->value < f->tables.count, "operand names table %u of %u", o->value, f->tables.count);
        break;
    case HD_OPERAND_NAME: EXPECT(c, o->value < m->names.entries.count, "operand holds an unknown name"); break;
    case HD_OPERAND_SINK:
    case HD_OPERAND_VECTOR:
    case HD_OPERAND_ADDRESS:
    case HD_OPERAND_PAIR:
    case HD_OPERAND_LIST: break;
    }
}

static void check_roles(checker *c, const hd_instruction *insn, const hd_operand *o)
{
    bool has_role = o->flags & (HD_OPERAND_DEF | HD_OPERAND_USE);
    if (o->kind != HD_OPERAND_REGISTER)
        EXPECT(c, !has_role, "an operand that is no register is read or written");
    else if (!(insn->flags & HD_INSN_OPAQUE))
        EXPECT(c, has_role, "a register operand is neither read nor written");
    if (o->flags & HD_OPERAND_IMPLICIT)
        EXPECT(c, o->kind == HD_OPERAND_REGISTER && o->value == c->function->carry_register,
               "an implicit operand is not the carry register");
    if (o->count && o->kind <= HD_OPERAND_NAME)
        EXPECT(c, o->count == 1, "a plain operand has %u elements", o->count);
}

/* Elements must end where the instruction ends: each operand consumes one expected element and adds its own. */
static void check_operands(checker *c, const hd_instruction *insn)
{
    const hd_function *f = c->function;
    uint64_t end = (uint64_t)insn->operand_first + insn->operand_count;
    if (end > f->operands.count) {
        fail(c, "operands reach beyond the function's %u", f->operands.count);
        return;
    }
    const hd_operand *o = hd_insn_operands(f, insn);
    bool implicit = false;
    uint32_t pending = 0;
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        check_value(c, &o[i]);
        check_roles(c, insn, &o[i]);
        implicit |= (o[i].flags & HD_OPERAND_IMPLICIT) != 0;
        EXPECT(c, !implicit || o[i].flags & HD_OPERAND_IMPLICIT, "an operand follows an implicit one");
        if (is_aggregate(o[i].kind) || o[i].count)
            EXPECT(c, i + 1u + o[i].count <= insn->operand_count, "an operand's elements reach beyond its instruction");
        pending = (pending ? pending - 1 : 0) + o[i].count;
    }
    EXPECT(c, pending == 0, "elements are missing at the end of an operand list");
}

static void check_instruction(checker *c, const hd_instruction *insn)
{
    const hd_function *f = c->function;
    EXPECT(c, insn->form < c->module->forms.count, "instruction names form %u of %u", insn->form,
           c->module->forms.count);
    EXPECT(c, insn->id < f->next_instruction_id, "instruction id %u is not below %u", insn->id, f->next_instruction_id);
    EXPECT(c, insn->origin < f->next_instruction_id, "origin %u is not below %u", insn->origin, f->next_instruction_id);
    EXPECT(c, insn->location == HD_NONE || insn->location < c->module->locations.count,
           "instruction names no location");
    EXPECT(c, insn->span.begin <= insn->span.end, "an instruction's text ends before it begins");
    if (insn->guard != HD_NONE)
        EXPECT(c, insn->guard < f->registers.count && f->registers.items[insn->guard].type == HD_TYPE_PRED,
               "a guard is no predicate register");
    check_operands(c, insn);
}

static void check_ids(checker *c)
{
    const hd_function *f = c->function;
    hd_arena scratch = {0};
    hd_bitset seen = hd_bitset_new(&scratch, f->next_instruction_id);
    for (uint32_t i = 0; i < f->instructions.count && !c->failed; i++) {
        c->span = f->instructions.items[i].span;
        EXPECT(c, !hd_bitset_has(&seen, f->instructions.items[i].id), "two instructions have id %u",
               f->instructions.items[i].id);
        hd_bitset_add(&seen, f->instructions.items[i].id);
    }
    hd_arena_free(&scratch);
}

/* ---- names and statements ---------------------------------------------------------------------------------------- */

static void check_names(checker *c)
{
    const hd_function *f = c->function;
    for (uint32_t i = 0; i < f->labels.count; i++)
        EXPECT(c, f->labels.items[i].instruction <= f->instructions.count, "label %u is after the last instruction", i);
    for (uint32_t i = 0; i < f->registers.count; i++) {
        const hd_register *r = &f->registers.items[i];
        EXPECT(c, r->type > HD_TYPE_NONE && r->type < HD_TYPE_COUNT, "register %u has no type", i);
        EXPECT(c, r->component < (r->vector ? r->vector : 1),
               "register %u is a component that its vector does not have", i);
    }
    for (uint32_t i = 0; i < f->tables.count; i++) {
        const hd_table *t = &f->tables.items[i];
        EXPECT(c, (uint64_t)t->first + t->count <= f->table_entries.count, "table %u reaches beyond the entries", i);
        for (uint32_t k = 0; k < t->count && !c->failed; k++) {
            uint32_t entry = f->table_entries.items[t->first + k];
            EXPECT(c, entry < (t->kind == HD_TABLE_BRANCH_TARGETS ? f->labels.count : c->module->symbols.count),
                   "table %u has a bad entry", i);
        }
    }
    for (uint32_t i = 0; i < f->register_parameters.count; i++)
        EXPECT(c, f->register_parameters.items[i] < f->registers.count, "register parameter %u is no register", i);
    for (uint32_t i = 0; i < f->register_results.count; i++)
        EXPECT(c, f->register_results.items[i] < f->registers.count, "register result %u is no register", i);
}

static uint32_t index_limit(const checker *c, uint32_t kind)
{
    const hd_function *f = c->function;
    switch ((hd_statement_kind)kind) {
    case HD_STATEMENT_INSTRUCTION: return f->instructions.count;
    case HD_STATEMENT_LABEL: return f->labels.count;
    case HD_STATEMENT_LOCATION: return c->module->locations.count;
    case HD_STATEMENT_TABLE: return f->tables.count;
    case HD_STATEMENT_REGISTERS: return f->register_groups.count;
    case HD_STATEMENT_VARIABLES: return c->module->variable_groups.count;
    case HD_STATEMENT_VERBATIM: return c->module->verbatims.count;
    case HD_STATEMENT_SCOPE_OPEN:
    case HD_STATEMENT_SCOPE_CLOSE: return HD_NONE;
    case HD_STATEMENT_FUNCTION: return 0; /* not in a body */
    }
    return 0;
}

static void check_statements(checker *c)
{
    const hd_function *f = c->function;
    uint32_t next = 0, depth = 0;
    for (uint32_t i = 0; i < f->statements.count && !c->failed; i++) {
        hd_statement s = f->statements.items[i];
        c->span = s.span;
        EXPECT(c, s.index < index_limit(c, s.kind) || index_limit(c, s.kind) == HD_NONE, "statement %u names nothing",
               i);
        depth += s.kind == HD_STATEMENT_SCOPE_OPEN;
        EXPECT(c, s.kind != HD_STATEMENT_SCOPE_CLOSE || depth, "a scope closes that is not open");
        depth -= s.kind == HD_STATEMENT_SCOPE_CLOSE && depth;
        if (s.kind == HD_STATEMENT_INSTRUCTION)
            EXPECT(c, s.index == next, "instruction %u is where %u should be", s.index, next);
        next += s.kind == HD_STATEMENT_INSTRUCTION;
        if (s.kind == HD_STATEMENT_LABEL && !c->failed)
            EXPECT(c, f->labels.items[s.index].instruction == next, "label %u is before instruction %u, not %u",
                   s.index, next, f->labels.items[s.index].instruction);
    }
    c->span = f->body;
    EXPECT(c, next == f->instructions.count, "%u of %u instructions are in the body", next, f->instructions.count);
    EXPECT(c, depth == 0, "a scope is not closed");
}

static void check_annotations(checker *c)
{
    const hd_function *f = c->function;
    const hd_annotation *before = NULL;
    for (uint32_t i = 0; i < f->annotations.count && !c->failed; i++) {
        const hd_annotation *a = &f->annotations.items[i];
        EXPECT(c, a->instruction == HD_NONE || a->instruction < f->instructions.count,
               "annotation %u is at no instruction", i);
        EXPECT(c, !a->count || (uint64_t)a->value + a->count <= f->annotation_words.count,
               "annotation %u has a list out of range", i);
        if (before && before->instruction == a->instruction)
            EXPECT(c, before->kind < a->kind || (before->kind == a->kind && before->slot < a->slot),
                   "annotation %u is out of order", i);
        else
            EXPECT(c, !before || before->instruction < a->instruction, "annotation %u is out of order", i);
        before = a;
    }
}

/* ---- control flow ------------------------------------------------------------------------------------------------ */

static uint32_t count_of(const uint32_t *items, uint32_t count, uint32_t value)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < count; i++)
        found += items[i] == value;
    return found;
}

static void check_block(checker *c, const hd_cfg *cfg, uint32_t b)
{
    const hd_function *f = c->function;
    const hd_block *block = &cfg->blocks[b];
    uint32_t exit = cfg->block_count;
    EXPECT(c, block->first < block->end || !f->instructions.count, "block %u is empty", b);
    EXPECT(c, block->first == (b ? cfg->blocks[b - 1].end : 0), "block %u does not follow the one before", b);
    EXPECT(c, block->post_dominator <= exit, "block %u has no post-dominator", b);
    EXPECT(c, block->reachable == (block->dominator != HD_NONE || b == 0),
           "block %u: dominator and reachability disagree", b);
    EXPECT(c, block->succ_count, "block %u leads nowhere", b);
    for (uint32_t i = block->first; i < block->end && !c->failed; i++) {
        EXPECT(c, cfg->block_of[i] == b, "instruction %u is not of block %u", i, b);
        EXPECT(c, i + 1 == block->end || hd_insn_flow(f, &f->instructions.items[i]) == HD_FLOW_NEXT,
               "block %u continues after a branch", b);
    }
    for (uint32_t e = 0; e < block->succ_count && !c->failed; e++) {
        uint32_t to = hd_block_successors(cfg, b)[e];
        EXPECT(c, to <= exit, "block %u leads to no block", b);
        EXPECT(c, count_of(hd_block_successors(cfg, b), e, to) == 0 || e > 64, "block %u has an edge twice", b);
    }
}

/* Edges in both directions are compared by the sum and product of their ends, so that joins with many predecessors cost
 * no more than others. */
static void check_edges(checker *c, const hd_cfg *cfg)
{
    uint64_t forward = 0, backward = 0, forward_count = 0, backward_count = cfg->exit_predecessor_count,
             exit = cfg->block_count;
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        forward_count += cfg->blocks[b].succ_count;
        backward_count += cfg->blocks[b].pred_count;
        for (uint32_t e = 0; e < cfg->blocks[b].succ_count; e++)
            forward += ((uint64_t)b + 1) * 0x9e3779b97f4a7c15u ^
                       ((uint64_t)hd_block_successors(cfg, b)[e] + 1) * 0xc2b2ae3d27d4eb4fu;
        for (uint32_t e = 0; e < cfg->blocks[b].pred_count; e++)
            backward += ((uint64_t)hd_block_predecessors(cfg, b)[e] + 1) * 0x9e3779b97f4a7c15u ^
                        ((uint64_t)b + 1) * 0xc2b2ae3d27d4eb4fu;
    }
    for (uint32_t e = 0; e < cfg->exit_predecessor_count; e++)
        backward += ((uint64_t)cfg->exit_predecessors[e] + 1) * 0x9e3779b97f4a7c15u ^ (exit + 1) * 0xc2b2ae3d27d4eb4fu;
    EXPECT(c, forward_count == backward_count && forward == backward, "successors and predecessors disagree");
}

static void check_cfg(checker *c, const hd_cfg *cfg)
{
    const hd_function *f = c->function;
    c->span = f->body;
    EXPECT(c, cfg->block_count && cfg->blocks[cfg->block_count - 1].end == f->instructions.count,
           "the blocks do not end where the body ends");
    for (uint32_t b = 0; b < cfg->block_count && !c->failed; b++)
        check_block(c, cfg, b);
    if (c->failed)
        return;
    check_edges(c, cfg);
    for (uint32_t b = 0; b < cfg->block_count && !c->failed; b++)
        EXPECT(c, cfg->blocks[b].loop == HD_NONE || cfg->blocks[b].loop < cfg->loop_count,
               "block %u is in no loop there is", b);
    for (uint32_t l = 0; l < cfg->loop_count && !c->failed; l++) {
        uint32_t parent = cfg->loops[l].parent;
        EXPECT(c, cfg->loops[l].header < cfg->block_count && (parent == HD_NONE || parent < l),
               "loop %u is out of order", l);
    }
}

/* ---- entry points ------------------------------------------------------------------------------------------------ */

bool hd_ir_validate_function(hd_function *function, hd_diagnostics *diagnostics)
{
    checker c = {
        .module = function->module, .function = function, .diagnostics = diagnostics, .span = function->header_span};
    check_names(&c);
    for (uint32_t i = 0; i < function->instructions.count && !c.failed; i++) {
        c.span = function->instructions.items[i].span;
        check_instruction(&c, &function->instructions.items[i]);
    }
    if (!c.failed)
        check_ids(&c);
    if (!c.failed)
        check_statements(&c);
    if (!c.failed)
        check_annotations(&c);
    if (!c.failed && function->cfg)
        check_cfg(&c, function->cfg);
    return !c.failed;
}

static void check_module(checker *c)
{
    const hd_module *m = c->module;
    for (uint32_t i = 0; i < m->symbols.count; i++) {
        const hd_symbol *s = &m->symbols.items[i];
        c->span = s->span;
        EXPECT(c, s->function == HD_NONE || s->function < m->functions.count, "symbol %u names no function", i);
        EXPECT(c, (uint64_t)s->dimension_first + s->dimension_count <= m->dimensions.count,
               "symbol %u has bad dimensions", i);
        EXPECT(c, (uint64_t)s->initializer_first + s->initializer_count <= m->initializers.count,
               "symbol %u has a bad initializer", i);
    }
    for (uint32_t i = 0; i < m->statements.count && !c->failed; i++) {
        hd_statement s = m->statements.items[i];
        c->span = s.span;
        if (s.kind == HD_STATEMENT_FUNCTION)
            EXPECT(c, s.index < m->functions.count, "statement %u names no function", i);
        if (s.kind == HD_STATEMENT_VARIABLES)
            EXPECT(c, s.index < m->variable_groups.count, "statement %u names no variables", i);
        if (s.kind == HD_STATEMENT_VERBATIM)
            EXPECT(c, s.index < m->verbatims.count, "statement %u names nothing", i);
    }
}

bool hd_ir_validate(hd_module *module)
{
    checker c = {.module = module, .diagnostics = module->diagnostics};
    check_module(&c);
    bool fine = !c.failed;
    for (uint32_t i = 0; i < module->functions.count; i++)
        fine &= hd_ir_validate_function(module->functions.items[i], module->diagnostics);
    return fine;
}
