/* Text listings: tokens, the IR, liveness. Linear in the output. */
#include "emitters/ir/dump.h"

#include "emitters/ir/ptx.h"
#include "ir/spell.h"
#include "lexer/lexer.h"
#include "lexer/sass.h"
#include "passes/analysis/liveness.h"
#include "passes/analysis/analyses.h"

/* ---- tokens ------------------------------------------------------------------------------------------------------ */

void hd_emit_tokens(hd_writer *writer, hd_source *source, hd_diagnostics *diagnostics)
{
    hd_names names;
    hd_lexer lexer;
    hd_token token;
    hd_names_init(&names);
    hd_lexer_init(&lexer, source, (hd_span){0, source->length}, &names, diagnostics);
    while (hd_lexer_next(&lexer, &token) != HD_TOKEN_END) {
        hd_position position = hd_source_position(source, token.begin);
        hd_write_format(writer, "%u:%u\t%s\t", position.line, position.column,
                        hd_token_text((hd_token_kind)token.kind));
        hd_write(writer, source->text + token.begin, token.end - token.begin);
        hd_write_char(writer, '\n');
    }
    hd_names_free(&names);
}

void hd_emit_sass_tokens(hd_writer *writer, hd_source *source)
{
    hd_sass_lexer lexer;
    hd_sass_token token;
    hd_sass_lexer_init(&lexer, source, (hd_span){0, source->length});
    while (hd_sass_lexer_next(&lexer, &token) != HD_SASS_TOKEN_END) {
        hd_position position = hd_source_position(source, token.begin);
        bool is_line_end = token.kind == HD_SASS_TOKEN_LINE_END;
        hd_write_format(writer, "%u:%u\t%s\t", position.line, position.column,
                        hd_sass_token_text((hd_sass_token_kind)token.kind));
        hd_write(writer, source->text + token.begin, is_line_end ? 0 : token.end - token.begin);
        hd_write_char(writer, '\n');
        lexer.in_function |= token.kind == HD_SASS_TOKEN_FUNCTION || token.kind == HD_SASS_TOKEN_CODE_SECTION;
    }
}

/* ---- the IR ------------------------------------------------------------------------------------------------------ */

static void write_block_name(hd_writer *out, const hd_cfg *cfg, uint32_t b)
{
    if (b == cfg->block_count)
        hd_write_char(out, 'X');
    else if (b == HD_NONE)
        hd_write_char(out, '-');
    else
        hd_write_format(out, "b%u", b);
}

static void write_blocks(hd_writer *out, const hd_cfg *cfg, const char *what, const uint32_t *blocks, uint32_t count)
{
    hd_write_string(out, what);
    for (uint32_t i = 0; i < count; i++) {
        hd_write_char(out, ' ');
        write_block_name(out, cfg, blocks[i]);
    }
}

static void write_block_head(hd_writer *out, const hd_cfg *cfg, uint32_t b)
{
    const hd_block *block = &cfg->blocks[b];
    hd_write_format(out, "b%u:", b);
    write_blocks(out, cfg, " from", hd_block_predecessors(cfg, b), block->pred_count);
    write_blocks(out, cfg, " to", hd_block_successors(cfg, b), block->succ_count);
    write_blocks(out, cfg, " dominator", &block->dominator, 1);
    write_blocks(out, cfg, " post-dominator", &block->post_dominator, 1);
    if (block->loop != HD_NONE)
        hd_write_format(out, " loop %u depth %u", block->loop, cfg->loops[block->loop].depth);
    hd_write_string(out, block->reachable ? "\n" : " unreachable\n");
}

static void write_registers(hd_speller *s, const hd_instruction *insn, uint8_t role, const char *what)
{
    bool any = role == HD_OPERAND_USE && insn->guard != HD_NONE;
    hd_write_string(s->out, what);
    if (any) {
        hd_write_char(s->out, ' ');
        hd_spell_register(s, insn->guard);
    }
    HD_INSN_REGISTERS (s->function, insn, o) {
        if (!(o->flags & role))
            continue;
        hd_write_char(s->out, ' ');
        if (o->flags & HD_OPERAND_IMPLICIT)
            hd_write_string(s->out, "%CC");
        else
            hd_spell_register(s, o->value);
        any = true;
    }
    if (!any)
        hd_write_string(s->out, " -");
}

void hd_emit_ir_text(hd_writer *writer, hd_function *function)
{
    const hd_cfg *cfg = hd_function_cfg(function);
    hd_speller speller = {writer, function->module, function, false};
    hd_write_format(writer, "%s %s: %u instructions, %u registers, %u blocks, %u loops\n",
                    function->is_entry ? "entry" : "function", hd_names_text(&function->module->names, function->name),
                    function->instructions.count, function->registers.count, cfg->block_count, cfg->loop_count);
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        write_block_head(writer, cfg, b);
        for (uint32_t i = cfg->blocks[b].first; i < cfg->blocks[b].end; i++) {
            const hd_instruction *insn = &function->instructions.items[i];
            hd_write_format(writer, "%6u  ", i);
            hd_emit_instruction(writer, function, insn);
            write_registers(&speller, insn, HD_OPERAND_DEF, "   writes");
            write_registers(&speller, insn, HD_OPERAND_USE, "  reads");
            hd_write_char(writer, '\n');
        }
    }
}

/* ---- liveness ---------------------------------------------------------------------------------------------------- */

static void write_live(hd_speller *s, const hd_instruction *insn, uint32_t ordinal, const uint32_t *live,
                       uint32_t count)
{
    uint32_t words = 0;
    for (uint32_t i = 0; i < count; i++)
        words += hd_register_words(s->function, live[i]);
    hd_write_format(s->out, "%6u  %4u %4u  ", ordinal, count, words);
    hd_emit_instruction(s->out, s->function, insn);
    hd_write_string(s->out, "  {");
    for (uint32_t i = 0; i < count; i++) {
        if (i)
            hd_write_char(s->out, ' ');
        if (s->function->registers.items[live[i]].type == HD_TYPE_CC)
            hd_write_string(s->out, "%CC");
        else
            hd_spell_register(s, live[i]);
    }
    hd_write_string(s->out, "}\n");
}

static void write_block_liveness(hd_speller *s, const hd_block *block, uint32_t b, const hd_live_lists *lists)
{
    hd_write_format(s->out, "b%u:\n", b);
    for (uint32_t i = block->first; i < block->end; i++) {
        hd_register_set live = hd_live_lists_before(lists, i);
        write_live(s, &s->function->instructions.items[i], i, live.items, live.count);
    }
}

void hd_emit_liveness(hd_writer *writer, hd_function *function)
{
    hd_pass_context context;
    hd_live_walk walk;
    hd_live_lists lists = {0};
    hd_arena arena = {0};
    hd_speller speller = {writer, function->module, function, false};
    hd_pass_context_init(&context, function, function->module->diagnostics);
    const hd_cfg *cfg = hd_function_cfg(function);
    hd_live_walk_init(&walk, &arena, function, hd_analysis_get(&context, HD_ANALYSIS_LIVENESS));
    hd_write_format(writer, "%s: ordinal, live registers before, words they fill, instruction\n",
                    hd_names_text(&function->module->names, function->name));
    for (uint32_t b = 0; b < cfg->block_count; b++) {
        hd_live_lists_fill(&lists, &walk, b);
        write_block_liveness(&speller, &cfg->blocks[b], b, &lists);
    }
    hd_live_lists_free(&lists);
    hd_arena_free(&arena);
    hd_pass_context_free(&context);
}
