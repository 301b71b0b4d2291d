/* The control-flow graph in the DOT language. Linear in instructions and edges, in text order. */
#include "emitters/ir/dump.h"

#include "emitters/ir/ptx.h"

/* A part of a label: quotes, backslashes and line ends are escaped. */
static void write_escaped(hd_writer *out, const char *text, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        char c = text[i];
        if (c == '"' || c == '\\')
            hd_write_char(out, '\\');
        hd_write_char(out, c == '\n' || c == '\r' ? ' ' : c);
    }
}

static void write_node(hd_writer *out, hd_writer *line, const hd_function *f, const hd_cfg *cfg, uint32_t b,
                       uint32_t limit)
{
    const hd_block *block = &cfg->blocks[b];
    uint32_t end = limit && block->end - block->first > limit ? block->first + limit : block->end;
    hd_write_format(out, "  b%u [label=\"b%u", b, b);
    if (block->loop != HD_NONE)
        hd_write_format(out, " loop %u depth %u", block->loop, cfg->loops[block->loop].depth);
    hd_write_string(out, block->reachable ? "\\l" : " unreachable\\l");
    for (uint32_t i = block->first; i < end; i++) {
        line->buffer.count = 0;
        hd_emit_instruction(line, f, &f->instructions.items[i]);
        hd_write_format(out, "%u: ", i);
        write_escaped(out, line->buffer.items, line->buffer.count);
        hd_write_string(out, "\\l");
    }
    if (end < block->end)
        hd_write_format(out, "%u more\\l", block->end - end);
    hd_write_string(out, "\"];\n");
}

static void write_target(hd_writer *out, const hd_cfg *cfg, uint32_t b)
{
    if (b == cfg->block_count)
        hd_write_char(out, 'X');
    else
        hd_write_format(out, "b%u", b);
}

static void write_edges(hd_writer *out, const hd_cfg *cfg, uint32_t b)
{
    const hd_block *block = &cfg->blocks[b];
    for (uint32_t i = 0; i < block->succ_count; i++) {
        uint32_t to = hd_block_successors(cfg, b)[i];
        hd_write_format(out, "  b%u -> ", b);
        write_target(out, cfg, to);
        hd_write_string(out, to == b + 1 && to < cfg->block_count && i + 1 == block->succ_count ? " [style=dashed];\n"
                                                                                                : ";\n");
    }
    if (block->conditional && block->post_dominator != HD_NONE) {
        hd_write_format(out, "  b%u -> ", b);
        write_target(out, cfg, block->post_dominator);
        hd_write_string(out, " [style=dotted, constraint=false, arrowhead=none];\n");
    }
}

void hd_emit_cfg_dot(hd_writer *writer, hd_function *function, uint32_t instructions)
{
    const hd_cfg *cfg = hd_function_cfg(function);
    const hd_names *names = &function->module->names;
    hd_writer line;
    hd_writer_to_memory(&line);
    hd_write_string(writer, "digraph \"");
    write_escaped(writer, hd_names_text(names, function->name), hd_names_length(names, function->name));
    hd_write_string(writer, "\" {\n  node [shape=box, fontname=\"monospace\"];\n");
    for (uint32_t b = 0; b < cfg->block_count; b++)
        write_node(writer, &line, function, cfg, b, instructions);
    hd_write_string(writer, "  X [label=\"exit\", shape=ellipse];\n");
    for (uint32_t b = 0; b < cfg->block_count; b++)
        write_edges(writer, cfg, b);
    hd_write_string(writer, "}\n");
    hd_writer_free(&line);
}
