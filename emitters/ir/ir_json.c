/* A function's IR as one JSON object, on one line: linear. */
#include "emitters/ir/dump.h"

#include "base/version.h"
#include "emitters/ir/ptx.h"
#include "emitters/json.h"
#include "ir/annotations.h"
#include "ir/machine.h"

/* null where there is none */
static void write_index(hd_json *j, const char *key, uint32_t index)
{
    if (index == HD_NONE)
        hd_json_null(j, key);
    else
        hd_json_number(j, key, index);
}

static void write_block_index(hd_json *j, const char *key, const hd_cfg *cfg, uint32_t b)
{
    if (b == cfg->block_count)
        hd_json_text(j, key, "exit");
    else
        write_index(j, key, b);
}

static void write_block_indices(hd_json *j, const char *key, const hd_cfg *cfg, const uint32_t *blocks, uint32_t count)
{
    hd_json_array(j, key);
    for (uint32_t i = 0; i < count; i++)
        write_block_index(j, NULL, cfg, blocks[i]);
    hd_json_end(j);
}

static void write_graph(hd_json *j, const hd_cfg *cfg)
{
    hd_json_array(j, "blocks");
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        const hd_block *block = &cfg->blocks[b];
        hd_json_object(j, NULL);
        hd_json_number(j, "first", block->first);
        hd_json_number(j, "end", block->end);
        write_block_indices(j, "predecessors", cfg, hd_block_predecessors(cfg, b), block->pred_count);
        write_block_indices(j, "successors", cfg, hd_block_successors(cfg, b), block->succ_count);
        write_block_index(j, "dominator", cfg, block->dominator);
        write_block_index(j, "post_dominator", cfg, block->post_dominator);
        write_index(j, "loop", block->loop);
        hd_json_bool(j, "reachable", block->reachable);
        hd_json_bool(j, "conditional", block->conditional);
        hd_json_end(j);
    }
    hd_json_end(j);
    hd_json_array(j, "loops");
    for (uint32_t i = 0; i < cfg->loop_count; i++) {
        const hd_loop *loop = &cfg->loops[i];
        hd_json_object(j, NULL);
        hd_json_number(j, "header", loop->header);
        write_index(j, "parent", loop->parent);
        hd_json_number(j, "depth", loop->depth);
        hd_json_bool(j, "irreducible", loop->irreducible);
        hd_json_end(j);
    }
    hd_json_end(j);
}

static void write_registers(hd_json *j, const hd_function *f)
{
    char name[1024];
    hd_json_array(j, "registers");
    for (uint32_t i = 0; i < f->registers.count; i++) {
        uint8_t type = f->registers.items[i].type;
        hd_json_object(j, NULL);
        hd_json_characters(j, "name", name, hd_register_spell(f, i, name, sizeof name));
        hd_json_text(j, "type", type == HD_TYPE_CC ? "cc" : hd_types[type].spelling);
        hd_json_end(j);
    }
    hd_json_end(j);
}

static void write_operands(hd_json *j, const char *key, const hd_function *f, const hd_instruction *insn, uint8_t role)
{
    hd_json_array(j, key);
    if (role == HD_OPERAND_USE && insn->guard != HD_NONE)
        hd_json_number(j, NULL, insn->guard);
    HD_INSN_REGISTERS (f, insn, o) {
        if (o->flags & role)
            hd_json_number(j, NULL, o->value);
    }
    hd_json_end(j);
}

static void write_annotation(hd_json *j, const char *key, const hd_function *f, const hd_annotation_info *info,
                             const hd_annotation *a)
{
    if (hd_annotation_is_list(info)) {
        hd_json_array(j, key);
        for (uint32_t i = 0; i < a->count; i++)
            hd_json_number(j, NULL, f->annotation_words.items[a->value + i]);
        hd_json_end(j);
    } else if (info->value == HD_VALUE_CHOICE) {
        size_t length;
        const char *word = hd_annotation_word(info, a->value, &length);
        hd_json_characters(j, key, word, length);
    } else if (info->value == HD_VALUE_FLAG) {
        hd_json_bool(j, key, true);
    } else {
        hd_json_number(j, key, a->value);
    }
}

/* {"bow": ["rf", "boc"], "x_number": 3}: lists by slot, null for a slot without one. Advances *at past the
 * instruction's annotations, which ascend by kind and slot. */
static void write_annotations(hd_json *j, const hd_function *f, uint32_t instruction, uint32_t *at)
{
    const hd_annotation *items = f->annotations.items;
    const uint32_t count = f->annotations.count;
    hd_json_object(j, "annotations");
    while (*at < count && items[*at].instruction == instruction) {
        const hd_annotation_info *info = hd_annotation_find(items[*at].kind);
        if (!hd_annotation_has_slots(info)) {
            write_annotation(j, info->name, f, info, &items[(*at)++]);
            continue;
        }
        hd_json_array(j, info->name);
        uint32_t slot = 0;
        for (uint16_t kind = items[*at].kind;
             *at < count && items[*at].instruction == instruction && items[*at].kind == kind; ++*at) {
            for (; slot < items[*at].slot; slot++)
                hd_json_null(j, NULL);
            write_annotation(j, NULL, f, info, &items[*at]);
            slot++;
        }
        hd_json_end(j);
    }
    hd_json_end(j);
}

static void write_barrier(hd_json *j, const char *key, uint8_t barrier)
{
    enum { NONE = 7 };
    write_index(j, key, barrier == NONE ? HD_NONE : barrier);
}

/* Of an instruction of machine code whose control code the listing has. */
static void write_control(hd_json *j, const hd_machine_control *c)
{
    hd_json_object(j, "control");
    hd_json_number(j, "stall", c->stall_cycles);
    hd_json_bool(j, "yield", c->yield);
    write_barrier(j, "write_barrier", c->write_barrier);
    write_barrier(j, "read_barrier", c->read_barrier);
    hd_json_number(j, "wait_mask", c->wait_mask);
    hd_json_number(j, "reuse", c->reuse);
    hd_json_end(j);
}

static void write_instructions(hd_json *j, const hd_function *f, uint32_t *annotation)
{
    hd_writer text;
    hd_writer_to_memory(&text);
    hd_json_array(j, "instructions");
    for (uint32_t i = 0; i < f->instructions.count; i++) {
        const hd_instruction *insn = &f->instructions.items[i];
        bool has_text = insn->span.end > insn->span.begin;
        hd_position position = has_text ? hd_source_position(f->module->source, insn->span.begin) : (hd_position){0, 0};
        text.buffer.count = 0;
        hd_emit_instruction(&text, f, insn);
        hd_json_object(j, NULL);
        hd_json_number(j, "id", insn->id);
        hd_json_number(j, "origin", insn->origin);
        hd_json_number(j, "line", position.line);
        hd_json_number(j, "column", position.column);
        hd_json_characters(j, "text", text.buffer.items, text.buffer.count);
        write_operands(j, "reads", f, insn, HD_OPERAND_USE);
        write_operands(j, "writes", f, insn, HD_OPERAND_DEF);
        write_annotations(j, f, i, annotation);
        hd_machine_control control = {0};
        if (f->machine)
            control = hd_machine_control_of(f, i);
        if (control.known)
            write_control(j, &control);
        hd_json_end(j);
    }
    hd_json_end(j);
    hd_writer_free(&text);
}

void hd_emit_ir_json(hd_writer *writer, hd_function *f)
{
    const hd_cfg *cfg = hd_function_cfg(f);
    uint32_t annotation = 0, wide = f->annotations.count; /* the function's own come last */
    while (wide && f->annotations.items[wide - 1].instruction == HD_NONE)
        wide--;
    hd_json json = {.out = writer, .dense = true};
    hd_json_compact_object(&json, NULL);
    hd_json_text(&json, "file", f->module->source->name);
    hd_json_text(&json, "name", hd_names_text(&f->module->names, f->name));
    hd_json_bool(&json, "entry", f->is_entry);
    write_annotations(&json, f, HD_NONE, &wide);
    write_registers(&json, f);
    write_graph(&json, cfg);
    write_instructions(&json, f, &annotation);
    hd_json_end(&json);
}

void hd_emit_ir_json_begin(hd_writer *writer)
{
    hd_write_string(writer, "{\"heddle\":\"" HD_VERSION "\",\"schema\":1,\"functions\":[");
}

void hd_emit_ir_json_end(hd_writer *writer) { hd_write_string(writer, "]}\n"); }
