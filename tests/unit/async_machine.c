/* See async_kernel.h: the machine. */
#include "tests/unit/async_kernel.h"

#include "ir/annotations.h"

#include <string.h>

enum { STEPS = 600, FLIGHTS = 256, REGISTERS = 4096, DATA = 8, BOTH = 0, FILE_ONLY = 1, WINDOW_ONLY = 2 };

typedef struct flying {
    uint32_t ordinal, group; /* group: number of the commit that closes it; 0: none has */
    uint32_t inputs[DATA];
} flying;

typedef struct machine {
    hd_function *f;
    async_run *run;
    hd_storage storage;
    uint32_t file[ASYNC_WORDS], local[ASYNC_WORDS];
    bool predicates[REGISTERS];
    uint32_t bank[REGISTERS][2]; /* by register: an operand from the constant bank, which has no words */
    flying flights[FLIGHTS];
    uint32_t flight_count, commits, garbage;
    const hd_annotation *interval;
    uint32_t window, now; /* of bow; 0: none */
    struct {
        bool is, dirty;
        uint32_t value, last;
    } entries[ASYNC_WORDS];
} machine;

static uint32_t mix(uint32_t a, uint32_t b) { return (a ^ b * 0x9e3779b1u) * 0x85ebca6bu + (a >> 13) + b; }

static uint16_t opcode_of(const machine *m, uint32_t i)
{
    return hd_insn_form(m->f, &m->f->instructions.items[i])->opcode;
}

static bool is_bank(const machine *m, uint32_t reg) { return m->storage.bank && m->storage.bank[reg]; }

/* ---- registers --------------------------------------------------------------------------------------------------- */

static uint32_t read_word(machine *m, uint32_t word)
{
    return m->entries[word].is ? m->entries[word].value : m->file[word];
}

static void write_word(machine *m, uint32_t word, uint32_t value, uint32_t tag)
{
    m->entries[word].is = m->window && tag != FILE_ONLY;
    m->entries[word].dirty = tag == BOTH;
    m->entries[word].value = value;
    m->entries[word].last = m->now;
    if (!m->entries[word].is)
        m->file[word] = value;
    else if (tag == WINDOW_ONLY)
        m->file[word] = ++m->garbage;
}

/* The next instruction moves the window on, and keeps the entries that it names, even where its guard does not hold. */
static void slide(machine *m, const hd_instruction *next)
{
    m->now++;
    for (uint32_t w = 0; m->window && w < m->storage.words; w++) {
        if (!m->entries[w].is || m->now - m->entries[w].last < m->window)
            continue;
        m->entries[w].is = false;
        if (m->entries[w].dirty)
            m->file[w] = m->entries[w].value;
    }
    HD_INSN_REGISTERS (m->f, next, o)
        HD_STORAGE_WORDS (&m->storage, o->value, word)
            m->entries[word].last = m->now;
}

/* Registers of an asynchronous instruction that are not read at issue: all of 32 bits outside of addresses. */
static uint32_t data_of(const machine *m, uint32_t ordinal, const hd_operand *data[DATA])
{
    uint32_t count = 0, address = 0;
    const hd_instruction *insn = &m->f->instructions.items[ordinal];
    for (uint32_t i = 0; i < insn->operand_count; i++) {
        const hd_operand *o = hd_insn_operands(m->f, insn) + i;
        if (o->kind == HD_OPERAND_ADDRESS)
            address = o->count + 1u;
        if (!address && o->kind == HD_OPERAND_REGISTER && m->f->registers.items[o->value].type != HD_TYPE_PRED &&
            m->storage.end[o->value] - m->storage.first[o->value] == 1)
            data[count++] = o;
        address -= address != 0;
    }
    return count;
}

static bool is_in_flight(const machine *m, uint32_t word)
{
    const hd_operand *data[DATA];
    for (uint32_t i = 0; i < m->flight_count; i++)
        for (uint32_t k = data_of(m, m->flights[i].ordinal, data); k-- > 0;)
            if (m->storage.first[data[k]->value] == word)
                return true;
    return false;
}

static void give_away(machine *m, uint32_t word, const char *fault)
{
    if (is_in_flight(m, word))
        m->run->fault = fault;
    write_word(m, word, ++m->garbage, FILE_ONLY);
}

/* ---- asynchronous instructions ----------------------------------------------------------------------------------- */

static void complete(machine *m, uint32_t index)
{
    const hd_operand *data[DATA];
    flying f = m->flights[index];
    uint32_t count = data_of(m, f.ordinal, data), result = m->f->instructions.items[f.ordinal].id;
    for (uint32_t k = 0; k < count; k++)
        if (data[k]->flags & HD_OPERAND_USE)
            result = mix(result, m->run->late ? m->file[m->storage.first[data[k]->value]] : f.inputs[k]);
    for (uint32_t k = 0; k < count; k++)
        if (data[k]->flags & HD_OPERAND_DEF)
            m->file[m->storage.first[data[k]->value]] = mix(result, k);
    if (opcode_of(m, f.ordinal) == HD_OP_TCGEN05_ST && m->run->count < ASYNC_STORES)
        m->run->stores[m->run->count++] = result;
    m->flight_count--;
    memmove(m->flights + index, m->flights + index + 1, (m->flight_count - index) * sizeof *m->flights);
}

/* Of one accumulator, the instruction before comes first. */
static void finish_writers(machine *m, const hd_operand *const *data, uint32_t count)
{
    const hd_operand *other[DATA];
    for (uint32_t i = 0; i < m->flight_count;) {
        bool meets = false;
        for (uint32_t k = data_of(m, m->flights[i].ordinal, other); k-- > 0;)
            for (uint32_t d = 0; d < count; d++)
                meets = meets || (other[k]->flags & HD_OPERAND_DEF &&
                                  m->storage.first[other[k]->value] == m->storage.first[data[d]->value]);
        if (meets)
            complete(m, i);
        else
            i++;
    }
}

static void issue(machine *m, uint32_t ordinal)
{
    const hd_operand *data[DATA];
    flying f = {.ordinal = ordinal};
    uint32_t count = data_of(m, ordinal, data);
    finish_writers(m, data, count);
    for (uint32_t k = 0; k < count; k++) {
        uint32_t word = m->storage.first[data[k]->value];
        if (m->entries[word].is)
            m->run->fault = "a window holds what an asynchronous instruction takes";
        for (uint32_t w = 0; m->interval && w < m->interval->count; w++)
            if (m->f->annotation_words.items[m->interval->value + w] == word)
                m->run->fault = "a register cache holds what an asynchronous instruction takes";
        f.inputs[k] = m->file[word];
        if (data[k]->flags & HD_OPERAND_DEF && !m->run->late)
            m->file[word] = ++m->garbage;
    }
    if (m->flight_count < FLIGHTS)
        m->flights[m->flight_count++] = f;
}

static void wait_for(machine *m, uint16_t first, uint16_t second, bool groups, uint32_t pending)
{
    for (uint32_t i = 0; i < m->flight_count;) {
        uint16_t opcode = opcode_of(m, m->flights[i].ordinal);
        bool ours = opcode == first || opcode == second;
        if (ours && (!groups || (m->flights[i].group && m->commits - m->flights[i].group >= pending)))
            complete(m, i);
        else
            i++;
    }
}

static void commit(machine *m)
{
    m->commits++;
    for (uint32_t i = 0; i < m->flight_count; i++)
        if (!m->flights[i].group && opcode_of(m, m->flights[i].ordinal) == HD_OP_WGMMA_MMA_ASYNC)
            m->flights[i].group = m->commits;
}

/* ---- the others -------------------------------------------------------------------------------------------------- */

static uint32_t value_of(machine *m, const hd_operand *o, uint32_t part)
{
    switch ((hd_operand_kind)o->kind) {
    case HD_OPERAND_REGISTER:
        if (m->f->registers.items[o->value].type == HD_TYPE_PRED)
            return m->predicates[o->value] ^ (o->flags & HD_OPERAND_NOT ? 1 : 0);
        return is_bank(m, o->value) ? m->bank[o->value][part] : read_word(m, m->storage.first[o->value] + part);
    case HD_OPERAND_LITERAL: return (uint32_t)(m->f->module->literals.items[o->value].bits >> 32 * part);
    case HD_OPERAND_SREG: return 77;
    default: m->run->fault = "an operand that this machine does not know"; return 0;
    }
}

static uint32_t address_of(machine *m, const hd_operand *address)
{
    uint32_t base = address[1].kind == HD_OPERAND_SYMBOL ? 0 : value_of(m, &address[1], 0);
    return base + (address[1].count ? (uint32_t)m->f->module->literals.items[address[2].value].bits : 0);
}

static uint32_t loaded(machine *m, const hd_form *form, const hd_operand *address, uint32_t part)
{
    uint32_t at = address_of(m, address) + 4 * part;
    if (form->space == HD_SPACE_LOCAL)
        return m->local[at / 4 % ASYNC_WORDS];
    return mix(at, form->space == HD_SPACE_PARAM ? address[1].value : 1);
}

static uint32_t compute(machine *m, uint32_t ordinal, uint32_t part)
{
    const hd_instruction *insn = &m->f->instructions.items[ordinal];
    const hd_form *form = hd_insn_form(m->f, insn);
    const hd_operand *o = hd_insn_operands(m->f, insn);
    switch (form->opcode) {
    case HD_OP_MOV: return value_of(m, o + 1, part);
    case HD_OP_ADD: return value_of(m, o + 1, 0) + value_of(m, o + 2, 0);
    case HD_OP_XOR: return value_of(m, o + 1, 0) ^ value_of(m, o + 2, 0);
    case HD_OP_SELP: return value_of(m, o + 3, 0) ? value_of(m, o + 1, 0) : value_of(m, o + 2, 0);
    case HD_OP_LD: return loaded(m, form, o + 1, part);
    case HD_OP_SETP:
        switch (form->modifiers[HD_GROUP_COMPARE]) {
        case HD_MOD_COMPARE_LT: return value_of(m, o + 1, 0) < value_of(m, o + 2, 0);
        case HD_MOD_COMPARE_EQ: return value_of(m, o + 1, 0) == value_of(m, o + 2, 0);
        case HD_MOD_COMPARE_NE: return value_of(m, o + 1, 0) != value_of(m, o + 2, 0);
        default: break;
        }
        break;
    default: break;
    }
    m->run->fault = "an instruction that this machine does not know";
    return 0;
}

static void store(machine *m, uint32_t ordinal)
{
    const hd_instruction *insn = &m->f->instructions.items[ordinal];
    const hd_operand *address = hd_insn_operands(m->f, insn), *from = address + hd_operand_extent(address);
    uint32_t at = address_of(m, address);
    uint32_t words =
        from->kind == HD_OPERAND_REGISTER ? m->storage.end[from->value] - m->storage.first[from->value] : 1;
    if (hd_insn_form(m->f, insn)->space == HD_SPACE_LOCAL)
        for (uint32_t k = 0; k < words; k++)
            m->local[(at / 4 + k) % ASYNC_WORDS] = value_of(m, from, k);
    else if (m->run->count < ASYNC_STORES)
        m->run->stores[m->run->count++] = mix(at, value_of(m, from, 0));
}

static void define(machine *m, uint32_t ordinal)
{
    const hd_operand *to = hd_insn_operands(m->f, &m->f->instructions.items[ordinal]);
    if (m->f->registers.items[to->value].type == HD_TYPE_PRED) {
        m->predicates[to->value] = compute(m, ordinal, 0);
        return;
    }
    for (uint32_t k = 0; is_bank(m, to->value) && k < 2; k++)
        m->bank[to->value][k] = compute(m, ordinal, k);
    uint32_t first = m->storage.first[to->value], words = m->storage.end[to->value] - first, values[2];
    const hd_annotation *tag = hd_annotation_at(m->f, HD_ANNOTATION_BOW, ordinal, 0);
    for (uint32_t k = 0; k < words && k < 2; k++)
        values[k] = compute(m, ordinal, k);
    for (uint32_t k = 0; k < words && k < 2; k++)
        write_word(m, first + k, values[k], tag ? tag->value : FILE_ONLY);
}

/* ---- annotations ------------------------------------------------------------------------------------------------- */

static void annotate_before(machine *m, uint32_t ordinal)
{
    const hd_annotation *list = hd_annotation_at(m->f, HD_ANNOTATION_PBR, ordinal, 0);
    for (uint32_t w = 0; list && w < list->count; w++)
        give_away(m, m->f->annotation_words.items[list->value + w], "a register in flight is released");
    list = hd_annotation_at(m->f, HD_ANNOTATION_LTRF_PREFETCH, ordinal, 0);
    m->interval = list ? list : m->interval;
    for (uint32_t w = 0; m->interval && w < m->interval->count; w++)
        if (is_in_flight(m, m->f->annotation_words.items[m->interval->value + w]))
            m->run->fault = "a register in flight is moved between interval and file";
}

/* Flags release renamed words only. */
static bool is_renamed(const machine *m, uint32_t word)
{
    const hd_annotation *list = hd_annotation_at(m->f, HD_ANNOTATION_RELEASE_RENAMED, HD_NONE, 0);
    for (uint32_t w = 0; list && w < list->count; w++)
        if (m->f->annotation_words.items[list->value + w] == word)
            return true;
    return false;
}

static void annotate_after(machine *m, uint32_t ordinal, uint16_t kind, const char *fault)
{
    const hd_annotation *bits = hd_annotation_at(m->f, kind, ordinal, 0);
    const hd_instruction *insn = &m->f->instructions.items[ordinal];
    for (uint32_t slot = 0; bits && slot < 32; slot++) {
        uint32_t operand = bits->value >> slot & 1 ? hd_insn_source_slot(m->f, insn, slot) : HD_NONE;
        if (operand != HD_NONE)
            HD_STORAGE_WORDS (&m->storage, m->f->operands.items[operand].value, word)
                if (kind != HD_ANNOTATION_PIR || is_renamed(m, word))
                    give_away(m, word, fault);
    }
}

/* ---- the run ----------------------------------------------------------------------------------------------------- */

static uint32_t target_of(const machine *m, uint32_t ordinal)
{
    const hd_operand *o = hd_insn_operands(m->f, &m->f->instructions.items[ordinal]);
    return m->f->labels.items[o->value].instruction;
}

/* The next instruction. */
static uint32_t execute(machine *m, uint32_t i)
{
    switch (opcode_of(m, i)) {
    case HD_OP_WGMMA_MMA_ASYNC:
    case HD_OP_TCGEN05_LD:
    case HD_OP_TCGEN05_ST: issue(m, i); break;
    case HD_OP_WGMMA_FENCE: break;
    case HD_OP_WGMMA_COMMIT_GROUP: commit(m); break;
    case HD_OP_WGMMA_WAIT_GROUP:
        wait_for(m, HD_OP_WGMMA_MMA_ASYNC, HD_OP_WGMMA_MMA_ASYNC, true,
                 value_of(m, hd_insn_operands(m->f, &m->f->instructions.items[i]), 0));
        break;
    case HD_OP_TCGEN05_WAIT_LD: wait_for(m, HD_OP_TCGEN05_LD, HD_OP_TCGEN05_LD, false, 0); break;
    case HD_OP_TCGEN05_WAIT_ST: wait_for(m, HD_OP_TCGEN05_ST, HD_OP_TCGEN05_ST, false, 0); break;
    case HD_OP_ST: store(m, i); break;
    case HD_OP_BRA: return target_of(m, i);
    default: define(m, i); break;
    }
    return i + 1;
}

void async_kernel_run(hd_function *f, async_run *run)
{
    static machine m;
    hd_arena arena = {0};
    memset(&m, 0, sizeof m);
    m.f = f;
    m.run = run;
    m.storage = hd_storage_of(f, &arena);
    m.garbage = 0xdead0000;
    const hd_annotation *window = hd_annotation_at(f, HD_ANNOTATION_BOW_WINDOW, HD_NONE, 0);
    m.window = window ? window->value : 0;
    *run = (async_run){.late = run->late};
    uint32_t i = 0;
    for (uint32_t step = 0; step < STEPS && !run->fault && i < f->instructions.count; step++) {
        const hd_instruction *insn = &f->instructions.items[i];
        if (opcode_of(&m, i) == HD_OP_RET) {
            run->done = true;
            break;
        }
        bool skips = insn->guard != HD_NONE && m.predicates[insn->guard] == !!(insn->flags & HD_INSN_GUARD_NOT);
        if (!hd_storage_skips(&m.storage, i))
            slide(&m, insn);
        annotate_before(&m, i);
        uint32_t next = skips ? i + 1 : execute(&m, i);
        annotate_after(&m, i, HD_ANNOTATION_PIR, "a register in flight is released");
        annotate_after(&m, i, HD_ANNOTATION_LTRF_DEAD, "a register in flight is called dead");
        i = next;
    }
    hd_arena_free(&arena);
}
