/* Lists allocated code with the live ranges of its registers, in the style of nvdisasm: a column for each general
 * register and each predicate, `^` assigned, `v` used, `x` both, `:` live and not accessed, preceded by the number of
 * occupied registers. Instructions that exist only in the text (ir/storage.h) are omitted.
 *
 * Linear in instructions times registers; the marks of one block are in memory at a time. */
#include "emitters/ir/dump.h"
#include "emitters/ir/ptx.h"
#include "passes/analysis/liveness.h"
#include "passes/analysis/analyses.h"
#include <inttypes.h>

/* A row: general registers, predicates, and of machine code uniform registers and uniform predicates. */
enum {
    PREDICATES = HD_GENERAL_REGISTERS,
    UNIFORM = PREDICATES + HD_PREDICATE_REGISTERS,
    UNIFORM_PREDICATES = UNIFORM + HD_GENERAL_REGISTERS,
    PLACES = UNIFORM_PREDICATES + HD_PREDICATE_REGISTERS,
    TEXT_WIDTH = 64
};

typedef struct listing {
    hd_writer *out;
    hd_function *function;
    hd_architected numbers;
    uint32_t uniform_registers, uniform_predicates; /* columns of machine code */
    hd_storage storage;
    hd_live_walk walk;
    HD_ARRAY(char) marks; /* of the block's instructions, PLACES each */
} listing;

/* ---- marks ------------------------------------------------------------------------------------------------------- */

/* The place of a uniform register of machine code; PLACES: it has none. */
static uint32_t uniform_place(const hd_function *f, uint32_t reg)
{
    const hd_register *r = &f->registers.items[reg];
    if (!(r->flags & HD_REGISTER_UNIFORM))
        return PLACES;
    return r->index + (r->type == HD_TYPE_PRED ? UNIFORM_PREDICATES : UNIFORM);
}

static void mark(const listing *l, char *row, uint32_t reg, char with)
{
    hd_physical p = hd_register_physical(l->function, reg);
    uint32_t first = p.class == HD_PHYSICAL_PREDICATE ? PREDICATES + p.number : p.number;
    uint32_t count = p.class == HD_PHYSICAL_NONE ? 0 : p.class == HD_PHYSICAL_PREDICATE ? 1 : p.words;
    if (!count) {
        first = uniform_place(l->function, reg);
        count = first < PLACES;
    }
    for (uint32_t i = first; i < first + count && i < PLACES; i++) {
        bool other = row[i] && row[i] != ':' && row[i] != with;
        row[i] = with == ':' && row[i] ? row[i] : other ? 'x' : with;
    }
}

static void mark_accesses(const listing *l, char *row, const hd_instruction *insn)
{
    if (insn->guard != HD_NONE)
        mark(l, row, insn->guard, 'v');
    HD_INSN_REGISTERS (l->function, insn, o) {
        if (o->flags & HD_OPERAND_USE)
            mark(l, row, o->value, 'v');
        if (o->flags & HD_OPERAND_DEF)
            mark(l, row, o->value, '^');
    }
}

/* Registers live before or after the instruction, or accessed by it, are occupied. */
static void mark_block(listing *l, const hd_block *block, uint32_t b)
{
    uint32_t count = block->end - block->first;
    hd_array_clear(&l->marks);
    if (!count)
        return;
    memset(hd_array_extend(&l->marks, count * PLACES), 0, (size_t)count * PLACES);
    hd_live_start(&l->walk, b);
    for (uint32_t i = count; i-- > 0;) {
        char *row = l->marks.items + (size_t)i * PLACES;
        const hd_instruction *insn = &l->function->instructions.items[block->first + i];
        mark_accesses(l, row, insn);
        for (uint32_t k = 0; k < l->walk.count; k++) /* after it: written here, or live */
            mark(l, row, l->walk.members[k], ':');
        hd_live_step(&l->walk);
    }
}

/* ---- text -------------------------------------------------------------------------------------------------------- */

static void write_columns(const listing *l, const char *row, uint32_t first, uint32_t count)
{
    uint32_t taken = 0;
    for (uint32_t i = 0; i < count; i++)
        taken += row[first + i] != 0;
    if (taken)
        hd_write_format(l->out, " | %3" PRIu32, taken);
    else
        hd_write_string(l->out, " |    ");
    for (uint32_t i = 0; i < count; i++)
        hd_write_format(l->out, "  %c", row[first + i] ? row[first + i] : ' ');
}

static void write_instruction(const listing *l, uint32_t ordinal, const char *row)
{
    uint64_t start = l->out->written_bytes;
    hd_write_format(l->out, "%6" PRIu32 "  ", ordinal);
    hd_emit_instruction(l->out, l->function, &l->function->instructions.items[ordinal]);
    uint64_t length = l->out->written_bytes - start;
    for (; length < TEXT_WIDTH; length++)
        hd_write_char(l->out, ' ');
    hd_write_string(l->out, " //");
    write_columns(l, row, 0, l->numbers.registers);
    write_columns(l, row, PREDICATES, l->numbers.predicates);
    if (l->uniform_registers)
        write_columns(l, row, UNIFORM, l->uniform_registers);
    if (l->uniform_predicates)
        write_columns(l, row, UNIFORM_PREDICATES, l->uniform_predicates);
    hd_write_string(l->out, " |\n");
}

static void write_spaces(hd_writer *out, uint32_t count)
{
    while (count--)
        hd_write_char(out, ' ');
}

static void write_numbers(hd_writer *out, const char *name, uint32_t count)
{
    hd_write_format(out, " | %s", name);
    for (uint32_t i = 0; i < count; i++)
        hd_write_format(out, "%3" PRIu32, i);
}

/* The columns' names and numbers. */
static void write_header(const listing *l)
{
    const hd_architected *n = &l->numbers;
    hd_write_format(l->out, "%s: %" PRIu32 " general registers, %" PRIu32 " predicates\n",
                    hd_names_text(&l->function->module->names, l->function->name), n->registers, n->predicates);
    write_spaces(l->out, TEXT_WIDTH);
    hd_write_string(l->out, " //");
    write_numbers(l->out, " R ", n->registers);
    write_numbers(l->out, " P ", n->predicates);
    if (l->uniform_registers)
        write_numbers(l->out, " UR", l->uniform_registers);
    if (l->uniform_predicates)
        write_numbers(l->out, " UP", l->uniform_predicates);
    hd_write_string(l->out, " |\n");
}

static void write_block(listing *l, const hd_block *block, uint32_t b)
{
    mark_block(l, block, b);
    hd_write_format(l->out, "b%" PRIu32 ":\n", b);
    for (uint32_t i = block->first; i < block->end; i++)
        if (!hd_storage_skips(&l->storage, i))
            write_instruction(l, i, l->marks.items + (size_t)(i - block->first) * PLACES);
}

void hd_emit_live_ranges(hd_writer *writer, hd_function *function)
{
    listing l = {.out = writer, .function = function};
    hd_pass_context context;
    hd_arena arena = {0};
    if (!hd_architected_of(function, &l.numbers))
        return;
    for (uint32_t r = 0; r < function->registers.count; r++) {
        const hd_register *reg = &function->registers.items[r];
        uint32_t *most = reg->type == HD_TYPE_PRED ? &l.uniform_predicates : &l.uniform_registers;
        if (reg->flags & HD_REGISTER_UNIFORM && reg->index + 1 > *most)
            *most = reg->index + 1;
    }
    hd_pass_context_init(&context, function, function->module->diagnostics);
    const hd_cfg *cfg = hd_function_cfg(function);
    l.storage = hd_storage_of(function, &arena);
    hd_live_walk_init(&l.walk, &arena, function, hd_analysis_get(&context, HD_ANALYSIS_LIVENESS));
    write_header(&l);
    for (uint32_t b = 0; b < cfg->block_count; b++)
        write_block(&l, &cfg->blocks[b], b);
    hd_array_free(&l.marks);
    hd_arena_free(&arena);
    hd_pass_context_free(&context);
}
