/* A function's IR as one JSON object (jansson). Linear in instructions; the tree of one function is in memory at a
 * time. */
#include "emitters/ir/dump.h"

#include "emitters/ir/ptx.h"
#include "ir/annotations.h"

#include "emitters/jansson.h"

static json_t *block_number(const hd_cfg *cfg, uint32_t b)
{
    return b == HD_NONE ? json_null() : b == cfg->block_count ? json_string("exit") : json_integer(b);
}

static json_t *block_numbers(const hd_cfg *cfg, const uint32_t *blocks, uint32_t count)
{
    json_t *list = json_array();
    for (uint32_t i = 0; i < count; i++)
        json_array_append_new(list, block_number(cfg, blocks[i]));
    return list;
}

static json_t *block_object(const hd_cfg *cfg, uint32_t b)
{
    const hd_block *block = &cfg->blocks[b];
    return json_pack("{s:i, s:i, s:o, s:o, s:o, s:o, s:o, s:b, s:b}", "first", (int)block->first, "end",
                     (int)block->end, "predecessors",
                     block_numbers(cfg, hd_block_predecessors(cfg, b), block->pred_count), "successors",
                     block_numbers(cfg, hd_block_successors(cfg, b), block->succ_count), "dominator",
                     block_number(cfg, block->dominator), "post_dominator", block_number(cfg, block->post_dominator),
                     "loop", block->loop == HD_NONE ? json_null() : json_integer(block->loop), "reachable",
                     block->reachable, "conditional", block->conditional);
}

static json_t *loop_object(const hd_loop *loop)
{
    return json_pack("{s:i, s:o, s:i, s:b}", "header", (int)loop->header, "parent",
                     loop->parent == HD_NONE ? json_null() : json_integer(loop->parent), "depth", (int)loop->depth,
                     "irreducible", loop->irreducible);
}

static json_t *register_name(const hd_function *f, uint32_t reg)
{
    char name[1024];
    return json_stringn(name, hd_register_spell(f, reg, name, sizeof name));
}

static json_t *register_object(const hd_function *f, uint32_t reg)
{
    uint8_t type = f->registers.items[reg].type;
    return json_pack("{s:o, s:s}", "name", register_name(f, reg), "type",
                     type == HD_TYPE_CC ? "cc" : hd_types[type].spelling);
}

static json_t *registers_of(const hd_function *f, const hd_instruction *insn, uint8_t role)
{
    json_t *list = json_array();
    if (role == HD_OPERAND_USE && insn->guard != HD_NONE)
        json_array_append_new(list, json_integer(insn->guard));
    HD_INSN_REGISTERS (f, insn, o) {
        if (o->flags & role)
            json_array_append_new(list, json_integer(o->value));
    }
    return list;
}

static json_t *annotation_value(const hd_function *f, const hd_annotation_info *info, const hd_annotation *a)
{
    size_t length;
    if (hd_annotation_is_list(info)) {
        json_t *list = json_array();
        for (uint32_t i = 0; i < a->count; i++)
            json_array_append_new(list, json_integer(f->annotation_words.items[a->value + i]));
        return list;
    }
    if (info->value == HD_VALUE_CHOICE) {
        const char *word = hd_annotation_word(info, a->value, &length);
        return json_stringn(word, length);
    }
    return info->value == HD_VALUE_FLAG ? json_true() : json_integer(a->value);
}

/* {"bow": ["rf", "boc"], "x_number": 3}: lists by slot, null for a slot without one. Advances *at past the
 * instruction's annotations. */
static json_t *annotations_of(const hd_function *f, uint32_t instruction, uint32_t *at)
{
    json_t *object = json_object();
    for (; *at < f->annotations.count && f->annotations.items[*at].instruction == instruction; ++*at) {
        const hd_annotation *a = &f->annotations.items[*at];
        const hd_annotation_info *info = hd_annotation_find(a->kind);
        if (!hd_annotation_has_slots(info)) {
            json_object_set_new(object, info->name, annotation_value(f, info, a));
            continue;
        }
        json_t *slots = json_object_get(object, info->name);
        if (!slots)
            json_object_set_new(object, info->name, slots = json_array());
        while (json_array_size(slots) < a->slot)
            json_array_append_new(slots, json_null());
        json_array_append_new(slots, annotation_value(f, info, a));
    }
    return object;
}

static json_t *instruction_object(const hd_function *f, uint32_t ordinal, hd_writer *text, uint32_t *annotation)
{
    const hd_instruction *insn = &f->instructions.items[ordinal];
    bool has_text = insn->span.end > insn->span.begin;
    hd_position position = has_text ? hd_source_position(f->module->source, insn->span.begin) : (hd_position){0, 0};
    text->buffer.count = 0;
    hd_emit_instruction(text, f, insn);
    return json_pack("{s:i, s:i, s:i, s:i, s:o, s:o, s:o, s:o}", "id", (int)insn->id, "origin", (int)insn->origin,
                     "line", (int)position.line, "column", (int)position.column, "text",
                     json_stringn(text->buffer.items, text->buffer.count), "reads",
                     registers_of(f, insn, HD_OPERAND_USE), "writes", registers_of(f, insn, HD_OPERAND_DEF),
                     "annotations", annotations_of(f, ordinal, annotation));
}

static json_t *function_object(hd_function *f)
{
    const hd_cfg *cfg = hd_function_cfg(f);
    uint32_t annotation = 0;
    json_t *registers = json_array(), *blocks = json_array(), *loops = json_array(), *instructions = json_array();
    hd_writer text;
    hd_writer_to_memory(&text);
    for (uint32_t i = 0; i < f->registers.count; i++)
        json_array_append_new(registers, register_object(f, i));
    for (uint32_t i = 0; i < cfg->block_count; i++)
        json_array_append_new(blocks, block_object(cfg, i));
    for (uint32_t i = 0; i < cfg->loop_count; i++)
        json_array_append_new(loops, loop_object(&cfg->loops[i]));
    for (uint32_t i = 0; i < f->instructions.count; i++)
        json_array_append_new(instructions, instruction_object(f, i, &text, &annotation));
    hd_writer_free(&text);
    return json_pack("{s:o, s:s, s:b, s:o, s:o, s:o, s:o, s:o}", "file", hd_json_string(f->module->source->name),
                     "name", hd_names_text(&f->module->names, f->name), "entry", f->is_entry, "annotations",
                     annotations_of(f, HD_NONE, &annotation), "registers", registers, "blocks", blocks, "loops", loops,
                     "instructions", instructions);
}

void hd_emit_ir_json(hd_writer *writer, hd_function *function)
{
    json_t *object = function_object(function);
    json_dump_callback(object, hd_json_put, writer, JSON_COMPACT);
    json_decref(object);
}
