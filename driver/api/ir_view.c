/* What is in a module, for users of the library (include/heddle/ir.h). Strings and lists that are not in the IR are
 * written where the structure's type has its place in the handle. Liveness is computed once a function, and the
 * registers live before its instructions once a block, so that a walk in order is linear in what it sees. */
#include "driver/api/ir.h"

#include "base/demangle.h"
#include "emitters/ir/ptx.h"
#include "ir/machine.h"
#include "ir/origins.h"
#include "ir/spell.h"
#include "passes/analysis/analyses.h"

_Static_assert(HD_IR_NONE == HD_NONE, "ids are handed out as they are");
#define SAME(name) _Static_assert((uint32_t)HD_IR_##name == (uint32_t)HD_BEHAVE_##name, "both name it")
SAME(LOAD);
SAME(STORE);
SAME(ATOMIC);
SAME(BARRIER);
SAME(WARP);
SAME(FENCE);
SAME(BRANCH);
SAME(CALL);
SAME(RETURN);
SAME(EXIT);
SAME(TRAP);
SAME(ASYNC);
SAME(TEXTURE);
enum {
    SHOWN_BEHAVIOUR = HD_IR_LOAD | HD_IR_STORE | HD_IR_ATOMIC | HD_IR_BARRIER | HD_IR_WARP | HD_IR_FENCE |
                      HD_IR_BRANCH | HD_IR_CALL | HD_IR_RETURN | HD_IR_EXIT | HD_IR_TRAP | HD_IR_ASYNC | HD_IR_TEXTURE
};

/* Copies what the caller's structure has room for, which is at least its size. */
static bool hand_out(void *to, void *own, size_t own_size)
{
    size_t size;
    memcpy(&size, to, sizeof size);
    if (size < sizeof size)
        return false;
    size = hd_min(size, own_size);
    memcpy(own, &size, sizeof size);
    memcpy(to, own, size);
    return true;
}

/* NULL: there is none. */
static hd_function *function_of(const hd_ir_module *m, uint32_t function)
{
    hd_module *module = hd_ir_now(m);
    return function < module->functions.count ? module->functions.items[function] : NULL;
}

static const hd_instruction *instruction_of(const hd_function *f, uint32_t instruction)
{
    return f && instruction < f->instructions.count ? &f->instructions.items[instruction] : NULL;
}

static hd_ir_place place_of(const hd_module *module, hd_span span)
{
    if (span.end <= span.begin)
        return (hd_ir_place){0};
    hd_position at = hd_source_position(module->source, span.begin);
    return (hd_ir_place){span.begin, span.end, at.line, at.column};
}

/* The writer's content, with a NUL that is not of it. */
static const char *end_text(hd_writer *writer)
{
    hd_write_char(writer, '\0');
    return writer->buffer.items;
}

static hd_writer *clear(hd_writer *writer)
{
    writer->buffer.count = 0;
    return writer;
}

/* ---- liveness ---------------------------------------------------------------------------------------------------- */

void hd_ir_forget(hd_ir_module *m)
{
    hd_ir_live *live = &m->live;
    if (live->function)
        hd_pass_context_free(&live->context);
    hd_arena_free(&live->arena);
    hd_live_lists_free(&live->lists);
    *live = (hd_ir_live){0};
}

static hd_ir_live *live_of(hd_ir_module *m, hd_function *f)
{
    hd_ir_live *live = &m->live;
    if (live->function == f)
        return live;
    hd_ir_forget(m);
    hd_pass_context_init(&live->context, f, &m->unseen);
    live->function = f;
    live->block = HD_NONE;
    live->liveness = hd_analysis_get(&live->context, HD_ANALYSIS_LIVENESS);
    hd_live_walk_init(&live->walk, &live->arena, f, live->liveness);
    return live;
}

static hd_register_set live_before(hd_ir_module *m, hd_function *f, uint32_t instruction)
{
    hd_ir_live *live = live_of(m, f);
    uint32_t block = hd_function_cfg(f)->block_of[instruction];
    if (live->block != block)
        hd_live_lists_fill(&live->lists, &live->walk, block);
    live->block = block;
    return hd_live_lists_before(&live->lists, instruction);
}

/* ---- modules, functions, blocks, registers ----------------------------------------------------------------------- */

bool hd_ir_get_summary(hd_ir_module *m, hd_ir_summary *summary)
{
    const hd_module *module = hd_ir_now(m);
    hd_ir_summary own = {.name = module->source->name,
                         .target = module->target ? hd_names_text(&module->names, module->target) : NULL,
                         .version_major = module->version_major,
                         .version_minor = module->version_minor,
                         .address_bits = module->address_bits,
                         .function_count = module->functions.count,
                         .is_machine_code = module->is_machine};
    return hand_out(summary, &own, sizeof own);
}

bool hd_ir_get_function(hd_ir_module *m, uint32_t function, hd_ir_function *out)
{
    hd_function *f = function_of(m, function);
    if (!f)
        return false;
    const hd_cfg *cfg = f->has_body ? hd_function_cfg(f) : NULL;
    const char *name = hd_names_text(&f->module->names, f->name);
    hd_arena_free(&m->demangled);
    hd_ir_function own = {.name = name,
                          .demangled = hd_demangle(&m->demangled, name),
                          .is_kernel = f->is_entry,
                          .has_body = f->has_body,
                          .instruction_count = f->instructions.count,
                          .block_count = cfg ? cfg->block_count : 0,
                          .loop_count = cfg ? cfg->loop_count : 0,
                          .register_count = f->registers.count,
                          .annotation_count = f->annotations.count,
                          .place = place_of(f->module, f->header_span)};
    return hand_out(out, &own, sizeof own);
}

uint32_t hd_ir_find_function(const hd_ir_module *m, const char *name)
{
    const hd_function *f = hd_module_find_function(hd_ir_now(m), name);
    return f ? f->index : HD_IR_NONE;
}

bool hd_ir_get_block(hd_ir_module *m, uint32_t function, uint32_t number, hd_ir_block *out)
{
    hd_function *f = function_of(m, function);
    const hd_cfg *cfg = f && f->has_body ? hd_function_cfg(f) : NULL;
    if (!cfg || number >= cfg->block_count)
        return false;
    const hd_block *block = &cfg->blocks[number];
    const hd_ir_live *live = live_of(m, f);
    hd_ir_block own = {.first = block->first,
                       .end = block->end,
                       .predecessors = hd_block_predecessors(cfg, number),
                       .successors = hd_block_successors(cfg, number),
                       .predecessor_count = block->pred_count,
                       .successor_count = block->succ_count,
                       .dominator = block->dominator,
                       .post_dominator = block->post_dominator,
                       .loop = block->loop,
                       .loop_depth = block->loop == HD_NONE ? 0 : cfg->loops[block->loop].depth,
                       .reachable = block->reachable,
                       .conditional = block->conditional,
                       .live_in = live->liveness->live_in[number].items,
                       .live_out = live->liveness->live_out[number].items,
                       .live_in_count = live->liveness->live_in[number].count,
                       .live_out_count = live->liveness->live_out[number].count};
    return hand_out(out, &own, sizeof own);
}

bool hd_ir_get_register(hd_ir_module *m, uint32_t function, uint32_t number, hd_ir_register *out)
{
    const hd_function *f = function_of(m, function);
    if (!f || number >= f->registers.count)
        return false;
    uint8_t type = f->registers.items[number].type;
    hd_speller speller = {clear(&m->names), f->module, f, false};
    if (type == HD_TYPE_CC)
        hd_write_string(&m->names, "%CC");
    else
        hd_spell_register(&speller, number);
    hd_ir_register own = {.name = end_text(&m->names),
                          .type = type == HD_TYPE_CC ? "cc" : hd_types[type].spelling,
                          .words = hd_register_words(f, number)};
    return hand_out(out, &own, sizeof own);
}

/* ---- instructions and operands ----------------------------------------------------------------------------------- */

static void collect_registers(hd_u32_array *list, const hd_function *f, const hd_instruction *insn, uint8_t role)
{
    hd_array_clear(list);
    if (role == HD_OPERAND_USE && insn->guard != HD_NONE)
        hd_array_push(list, insn->guard);
    HD_INSN_REGISTERS (f, insn, o) {
        if (o->flags & role)
            hd_array_push(list, o->value);
    }
}

/* Text, opcode and modifiers, one after the other in the writer. */
static void spell(hd_writer *to, const hd_function *f, const hd_instruction *insn, hd_ir_instruction *own)
{
    const char *spelling = hd_names_text(&f->module->names, hd_insn_form(f, insn)->spelling);
    size_t opcode = strcspn(spelling, ".");
    hd_emit_instruction(clear(to), f, insn);
    hd_write_char(to, '\0');
    uint32_t opcode_at = to->buffer.count;
    hd_write(to, spelling, opcode);
    hd_write_char(to, '\0');
    uint32_t modifiers_at = to->buffer.count;
    hd_write_string(to, spelling + opcode + (spelling[opcode] == '.'));
    own->text = end_text(to);
    own->opcode = own->text + opcode_at;
    own->modifiers = own->text + modifiers_at;
}

static uint32_t barrier_of(uint8_t barrier)
{
    enum { NO_BARRIER = 7 };
    return barrier == NO_BARRIER ? HD_IR_NONE : barrier;
}

static hd_ir_control control_of(const hd_function *f, uint32_t instruction)
{
    hd_machine_control c = {0};
    if (f->machine)
        c = hd_machine_control_of(f, instruction);
    if (!c.known)
        return (hd_ir_control){0};
    return (hd_ir_control){
        true, c.yield, c.stall_cycles, barrier_of(c.write_barrier), barrier_of(c.read_barrier), c.wait_mask, c.reuse};
}

/* The number of annotations before those of the instruction. */
static uint32_t annotations_before(const hd_function *f, uint32_t instruction)
{
    uint32_t low = 0, high = f->annotations.count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (f->annotations.items[middle].instruction < instruction)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

bool hd_ir_get_instruction(hd_ir_module *m, uint32_t function, uint32_t instruction, hd_ir_instruction *out)
{
    hd_function *f = function_of(m, function);
    const hd_instruction *insn = instruction_of(f, instruction);
    if (!insn)
        return false;
    hd_register_set live = live_before(m, f, instruction);
    const hd_origin_place *origin = hd_instruction_place(f->module, insn);
    collect_registers(&m->reads, f, insn, HD_OPERAND_USE);
    collect_registers(&m->writes, f, insn, HD_OPERAND_DEF);
    hd_ir_instruction own = {.id = insn->id,
                             .origin = insn->origin,
                             .block = hd_function_cfg(f)->block_of[instruction],
                             .predicate = insn->guard,
                             .predicate_negated = insn->flags & HD_INSN_GUARD_NOT,
                             .unknown = insn->flags & HD_INSN_OPAQUE,
                             .behaviour = hd_insn_form(f, insn)->behaviour & SHOWN_BEHAVIOUR,
                             .operand_count = insn->operand_count,
                             .reads = m->reads.items,
                             .writes = m->writes.items,
                             .read_count = m->reads.count,
                             .write_count = m->writes.count,
                             .live = live.items,
                             .live_count = live.count,
                             .annotation_first = annotations_before(f, instruction),
                             .place = place_of(f->module, insn->span),
                             .source_file = origin->at.file,
                             .source_line = origin->at.file ? origin->at.line : 0,
                             .source_column = origin->at.file ? origin->at.column : 0,
                             .control = control_of(f, instruction)};
    own.annotation_count = annotations_before(f, instruction + 1) - own.annotation_first;
    for (uint32_t i = 0; i < live.count; i++)
        own.live_words += hd_register_words(f, live.items[i]);
    spell(&m->spelling, f, insn, &own);
    return hand_out(out, &own, sizeof own);
}

static hd_ir_operand_kind kind_of(hd_operand_kind kind)
{
    switch (kind) {
    case HD_OPERAND_REGISTER: return HD_IR_REGISTER;
    case HD_OPERAND_LITERAL: return HD_IR_IMMEDIATE;
    case HD_OPERAND_SYMBOL: return HD_IR_SYMBOL;
    case HD_OPERAND_SREG: return HD_IR_SPECIAL_REGISTER;
    case HD_OPERAND_LABEL: return HD_IR_LABEL;
    case HD_OPERAND_TABLE: return HD_IR_TABLE;
    case HD_OPERAND_SINK: return HD_IR_SINK;
    case HD_OPERAND_NAME: return HD_IR_NAME;
    case HD_OPERAND_VECTOR: return HD_IR_VECTOR;
    case HD_OPERAND_ADDRESS: return HD_IR_ADDRESS;
    case HD_OPERAND_PAIR: return HD_IR_PAIR;
    case HD_OPERAND_LIST: return HD_IR_LIST;
    }
    return HD_IR_NAME;
}

bool hd_ir_get_operand(hd_ir_module *m, uint32_t function, uint32_t instruction, uint32_t operand, hd_ir_operand *out)
{
    const hd_function *f = function_of(m, function);
    const hd_instruction *insn = instruction_of(f, instruction);
    if (!insn || operand >= insn->operand_count)
        return false;
    const hd_operand *o = hd_insn_operands(f, insn) + operand;
    hd_speller speller = {clear(&m->operands), f->module, f, false};
    if (o->flags & HD_OPERAND_IMPLICIT)
        hd_write_string(&m->operands, "%CC");
    else
        hd_spell_operand(&speller, o);
    hd_ir_operand own = {.kind = kind_of((hd_operand_kind)o->kind),
                         .text = end_text(&m->operands),
                         .children = o->count,
                         .number = o->kind == HD_OPERAND_REGISTER ? o->value : HD_IR_NONE,
                         .read = o->kind == HD_OPERAND_REGISTER && o->flags & HD_OPERAND_USE,
                         .written = o->kind == HD_OPERAND_REGISTER && o->flags & HD_OPERAND_DEF,
                         .negated = o->flags & (HD_OPERAND_NOT | HD_OPERAND_MINUS),
                         .implicit = o->flags & HD_OPERAND_IMPLICIT,
                         .begin = o->begin};
    if (o->kind == HD_OPERAND_LITERAL) {
        const hd_literal *literal = &f->module->literals.items[o->value];
        own.is_float = literal->kind >= HD_LITERAL_F32_BITS;
        own.bits = literal->kind == HD_LITERAL_F32_BITS ? 32 : 64;
        own.value = literal->bits;
    }
    return hand_out(out, &own, sizeof own);
}

/* ---- annotations ------------------------------------------------------------------------------------------------- */

static hd_ir_value value_of(const hd_annotation_info *info)
{
    switch ((hd_annotation_value)info->value) {
    case HD_VALUE_FLAG: return HD_IR_VALUE_FLAG;
    case HD_VALUE_NUMBER: return HD_IR_VALUE_NUMBER;
    case HD_VALUE_CHOICE: return HD_IR_VALUE_WORD;
    case HD_VALUE_BITS: return HD_IR_VALUE_BITS;
    case HD_VALUE_REGISTERS: return HD_IR_VALUE_REGISTERS;
    case HD_VALUE_NUMBERS: return HD_IR_VALUE_NUMBERS;
    }
    return HD_IR_VALUE_FLAG;
}

bool hd_ir_get_annotation(hd_ir_module *m, uint32_t function, uint32_t annotation, hd_ir_annotation *out)
{
    const hd_function *f = function_of(m, function);
    if (!f || annotation >= f->annotations.count)
        return false;
    const hd_annotation *a = &f->annotations.items[annotation];
    const hd_annotation_info *info = hd_annotation_find(a->kind);
    bool is_list = hd_annotation_is_list(info);
    hd_ir_annotation own = {.kind = info->name,
                            .technique = info->technique,
                            .instruction = a->instruction,
                            .slot = hd_annotation_has_slots(info) ? a->slot : HD_IR_NONE,
                            .is_source = info->anchor == HD_ANCHOR_SOURCE,
                            .value = value_of(info),
                            .list = is_list && a->count ? f->annotation_words.items + a->value : NULL,
                            .count = is_list ? a->count : 0};
    if (info->value == HD_VALUE_NUMBER || info->value == HD_VALUE_BITS)
        own.number = a->value;
    if (info->value == HD_VALUE_CHOICE) {
        size_t length;
        const char *word = hd_annotation_word(info, a->value, &length);
        hd_write(clear(&m->words), word, length);
        own.word = end_text(&m->words);
    }
    return hand_out(out, &own, sizeof own);
}
