/* See cubin.h. Two passes over the code: the first numbers the targets of branches in the order in which the code names
 * them, over all sections, as nvdisasm does; the second writes. What nvdisasm prints was read from its listings of CUDA
 * 13. Linear in the file.
 */
#include "parser/cubin.h"

#include "base/origins.h"
#include "ir/machine_image.h"
#include "ir/sass/decode.h"
#include "parser/elf.h"
#include "parser/line_table.h"

#include <elf.h>
#include <inttypes.h>

enum {
    SHT_CUDA_INFO = 0x70000000,
    INFO_LINK_FLAG = 0x40, /* sh_flags of sections that belong to a function */
    FIRST_ABI_OF_WIDE_FLAGS =
        8, /* the number of the architecture is in bits 8 to 15 of e_flags; before, in the low byte */
    STO_CUDA_ENTRY = 0x10,
    STT_CUDA_OBJECT = 13, /* an object of relocatable code */
    UNDECODED_LIMIT = 20, /* warnings for each function */
    MOST_TEXT = 256,      /* bytes of the listing for a byte of the file: names can be repeated without end */
};

typedef enum info_layout { WORDS, SYMBOL, PARAMETER, OFFSETS, PAIRS, BANK } info_layout;
typedef struct info_kind {
    uint8_t number;
    const char *name;
    info_layout layout;
} info_kind;
static const info_kind INFO_KINDS[] = {
#define HD_CUBIN_INFO(number, name, layout) {number, #name, layout},
#include "parser/cubin_info.def"
#undef HD_CUBIN_INFO
};

static const struct {
    uint32_t number;
    const char *before, *after; /* of the symbol */
} RELOCATIONS[] = {
#define HD_MACHINE_RELOCATION(id, number, name, before, after) [HD_MACHINE_RELOCATION_##id] = {number, before, after},
#include "ir/machine_relocations.def"
#undef HD_MACHINE_RELOCATION
};

typedef struct relocation {
    uint32_t section;
    uint64_t offset; /* in the section */
    uint32_t kind;   /* hd_machine_relocation_kind */
    uint32_t number; /* of the kind */
    const hd_elf_symbol *symbol;
    uint64_t addend; /* beside the symbol; where `is_in_place`, what the bytes hold is added */
    bool is_in_place;
} relocation;

/* The code of one section. */
typedef struct code_section {
    const hd_elf_section *section;
    uint32_t index;   /* of the section */
    uint32_t count;   /* of instructions */
    uint32_t *labels; /* number of the label before each instruction, and of that at the end; HD_NONE */
    HD_ARRAY(const hd_elf_symbol *) functions; /* by value */
} code_section;

typedef struct lister {
    hd_elf elf;
    hd_writer *to;
    hd_listing_words words;
    hd_diagnostics *diagnostics;
    uint32_t generation;
    HD_ARRAY(code_section) code;
    uint32_t labels, data_labels;     /* numbers given so far, .L_x_N and .L_N */
    HD_ARRAY(relocation) relocations; /* by section and offset */
    hd_line_table lines;
    bool in_part;
} lister;

/* ---- relocations ------------------------------------------------------------------------------------------------- */

static bool is_listed(const hd_elf_section *s);

static int by_place(const void *a, const void *b)
{
    const relocation *x = a, *y = b;
    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static uint32_t kind_of(uint32_t number)
{
    uint32_t kind = 0;
    while (kind < HD_MACHINE_RELOCATION_COUNT && RELOCATIONS[kind].number != number)
        kind++;
    return kind;
}

static bool is_in_data(uint32_t kind) { return kind == HD_MACHINE_RELOCATION_64 || kind == HD_MACHINE_RELOCATION_G64; }

/* Those of one section (SHT_REL, SHT_RELA) that changes one of the listing. */
static bool read_relocations(lister *l, const hd_elf_section *s)
{
    enum { INFO = 8, ADDEND = 16, WIDEST = 8 };
    const hd_elf *elf = &l->elf;
    uint32_t bytes = s->type == SHT_RELA ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
    if (s->info >= elf->sections.count || !is_listed(&elf->sections.items[s->info]))
        return true;
    const hd_elf_section *changed = &elf->sections.items[s->info];
    for (uint64_t at = s->offset; at + bytes <= s->offset + s->bytes; at += bytes) {
        uint64_t info = hd_elf_u64(elf, at + INFO), symbol = info >> 32;
        relocation r = {.section = s->info,
                        .offset = hd_elf_u64(elf, at),
                        .number = (uint32_t)info,
                        .is_in_place = s->type == SHT_REL};
        r.kind = kind_of(r.number);
        if (s->type == SHT_RELA)
            r.addend = hd_elf_u64(elf, at + ADDEND);
        if (symbol >= elf->symbols.count)
            return hd_elf_refuse(&l->elf, l->diagnostics, at, "'%s' names symbol %" PRIu64 ", which there is not",
                                 s->name, symbol);
        if (changed->type == SHT_NOBITS || changed->bytes < WIDEST || r.offset > changed->bytes - WIDEST)
            return hd_elf_refuse(&l->elf, l->diagnostics, at, "'%s' changes 0x%" PRIx64 " of '%s', which is not there",
                                 s->name, r.offset, changed->name);
        r.symbol = &elf->symbols.items[symbol];
        hd_array_push(&l->relocations, r);
    }
    return true;
}

static bool read_all_relocations(lister *l)
{
    for (uint32_t i = 0; i < l->elf.sections.count; i++) {
        const hd_elf_section *s = &l->elf.sections.items[i];
        if ((s->type == SHT_REL || s->type == SHT_RELA) && !read_relocations(l, s))
            return false;
    }
    if (l->relocations.count)
        qsort(l->relocations.items, l->relocations.count, sizeof *l->relocations.items, by_place);
    return true;
}

/* The first at or after the offset in the section; NULL: there is none. */
static const relocation *relocation_from(const lister *l, uint32_t section, uint64_t offset)
{
    uint32_t low = 0;
    for (uint32_t high = l->relocations.count; low < high;) {
        uint32_t middle = (low + high) / 2;
        const relocation *r = &l->relocations.items[middle];
        if (r->section < section || (r->section == section && r->offset < offset))
            low = middle + 1;
        else
            high = middle;
    }
    bool is_there = low < l->relocations.count && l->relocations.items[low].section == section;
    return is_there ? &l->relocations.items[low] : NULL;
}

/* A kind that is not known is named, so that whoever loads the data can refuse it. */
static void write_symbolic(lister *l, const relocation *r, uint64_t addend)
{
    bool known = r->kind < HD_MACHINE_RELOCATION_COUNT;
    if (known)
        hd_write_string(l->to, RELOCATIONS[r->kind].before);
    else
        hd_write_format(l->to, "R_CUDA_%" PRIu32 "(", r->number);
    if (addend)
        hd_write_format(l->to, "(%s + 0x%" PRIx64 ")", r->symbol->name, addend);
    else
        hd_write_string(l->to, r->symbol->name);
    hd_write_string(l->to, known ? RELOCATIONS[r->kind].after : ")");
}

/* ---- code -------------------------------------------------------------------------------------------------------- */

static bool is_too_long(const lister *l) { return l->to->buffer.count > (uint64_t)MOST_TEXT * l->elf.source->length; }

static bool is_code(const hd_elf_section *s)
{
    return s->type == SHT_PROGBITS && strncmp(s->name, ".text.", 6) == 0 && s->flags & SHF_EXECINSTR;
}

static hd_sass_word word_at(const lister *l, const code_section *c, uint32_t instruction)
{
    uint64_t offset = c->section->offset + (uint64_t)instruction * HD_SASS_WORD_BYTES;
    return (hd_sass_word){hd_elf_u64(&l->elf, offset), hd_elf_u64(&l->elf, offset + 8)};
}

static const hd_elf_symbol *function_at(const code_section *c, uint64_t address)
{
    for (uint32_t low = 0, high = c->functions.count; low < high;) {
        uint32_t middle = (low + high) / 2;
        const hd_elf_symbol *f = c->functions.items[middle];
        if (f->value == address)
            return f;
        *(f->value < address ? &low : &high) = f->value < address ? middle + 1 : middle;
    }
    return NULL;
}

static bool is_place(const code_section *c, uint64_t address)
{
    return address % HD_SASS_WORD_BYTES == 0 && address / HD_SASS_WORD_BYTES <= c->count;
}

/* Only linked code has relocations here; others of a relocatable object are for the linker. */
static const relocation *relocation_of(const lister *l, const code_section *c, uint32_t i)
{
    const relocation *r = l->relocations.count ? relocation_from(l, c->index, (uint64_t)i * HD_SASS_WORD_BYTES) : NULL;
    bool is_here = r && r->offset < (uint64_t)(i + 1) * HD_SASS_WORD_BYTES;
    return is_here && (l->elf.type != ET_REL || r->kind < HD_MACHINE_RELOCATION_COUNT) ? r : NULL;
}

static void number_target(lister *l, code_section *c, uint64_t target)
{
    uint32_t *label = is_place(c, target) && !function_at(c, target) ? &c->labels[target / HD_SASS_WORD_BYTES] : NULL;
    if (label && *label == HD_NONE)
        *label = l->labels++;
}

/* Where indirect branches of a section go: an attribute of .nv.info.NAME lists for each the offset of the branch, a
 * zero, a count and as many targets. Without a label there, what a branch goes to would not be found in the listing. */
static void number_tables(lister *l, code_section *c)
{
    enum { HEAD_BYTES = 4, INDIRECT_BRANCH_TARGETS = 0x34, LIST = 4, WORD = 4, TABLE_HEAD = 12 };
    static const char info[] = ".nv.info", text[] = ".text";
    const hd_elf *elf = &l->elf;
    for (uint32_t i = 0; i < elf->sections.count; i++) {
        const hd_elf_section *s = &elf->sections.items[i];
        if (strncmp(s->name, info, strlen(info)) != 0 || !s->name[strlen(info)] ||
            strcmp(s->name + strlen(info), c->section->name + strlen(text)) != 0)
            continue;
        for (uint64_t at = s->offset, end = s->offset + s->bytes; at + HEAD_BYTES <= end;) {
            bool list = elf->source->text[at] == LIST;
            bool tables = list && elf->source->text[at + 1] == INDIRECT_BRANCH_TARGETS;
            uint64_t next = at + HEAD_BYTES + (list ? hd_elf_u16(elf, at + 2) : 0);
            next = next < end ? next : end;
            for (at += HEAD_BYTES; tables && at + TABLE_HEAD <= next;) {
                uint32_t count = hd_elf_u32(elf, at + 2 * WORD);
                for (at += TABLE_HEAD; count && at + WORD <= next; at += WORD, count--)
                    number_target(l, c, hd_elf_u32(elf, at));
            }
            at = next;
        }
    }
}

static void number_targets(lister *l, code_section *c)
{
    hd_sass_text text;
    for (uint32_t i = 0; i < c->count; i++) {
        if (!hd_sass_decode(word_at(l, c, i), l->generation, (uint64_t)i * HD_SASS_WORD_BYTES, &text) ||
            !text.has_target || function_at(c, text.target) || !is_place(c, text.target) || relocation_of(l, c, i))
            continue;
        number_target(l, c, text.target);
    }
    number_tables(l, c);
}

/* A function ends where its symbol says, or with the section. */
static uint64_t end_of(const code_section *c, const hd_elf_symbol *function)
{
    uint64_t end = function->value + function->bytes;
    return function->bytes && is_place(c, end) ? end : (uint64_t)c->count * HD_SASS_WORD_BYTES;
}

static code_section *code_of(const lister *l, uint32_t index)
{
    for (uint32_t i = 0; i < l->code.count; i++)
        if (l->code.items[i].index == index)
            return &l->code.items[i];
    return NULL;
}

/* The ends of functions follow the targets, in the order of symbols. An end that has a label already, or where another
 * function begins, keeps its name, and its number is left out. */
static void number_end(lister *l, const hd_elf_symbol *symbol)
{
    code_section *c = symbol->type == STT_FUNC ? code_of(l, symbol->section) : NULL;
    if (!c || function_at(c, symbol->value) == NULL)
        return;
    uint64_t end = end_of(c, symbol);
    uint32_t *label = &c->labels[end / HD_SASS_WORD_BYTES];
    if (*label == HD_NONE && !function_at(c, end))
        *label = l->labels;
    l->labels++;
}

static int by_value(const void *a, const void *b)
{
    const hd_elf_symbol *const *x = a, *const *y = b;
    return ((*x)->value > (*y)->value) - ((*x)->value < (*y)->value);
}

static void add_code(lister *l, uint32_t index)
{
    const hd_elf_section *section = &l->elf.sections.items[index];
    code_section c = {.section = section, .index = index, .count = (uint32_t)(section->bytes / HD_SASS_WORD_BYTES)};
    c.labels = hd_malloc(((size_t)c.count + 1) * sizeof *c.labels);
    for (uint32_t i = 0; i <= c.count; i++)
        c.labels[i] = HD_NONE;
    for (uint32_t i = 0; i < l->elf.symbols.count; i++) {
        const hd_elf_symbol *s = &l->elf.symbols.items[i];
        if (s->type == STT_FUNC && s->section == index && s->value % HD_SASS_WORD_BYTES == 0 &&
            s->value < section->bytes)
            hd_array_push(&c.functions, s);
    }
    if (c.functions.count)
        qsort(c.functions.items, c.functions.count, sizeof *c.functions.items, by_value);
    hd_array_push(&l->code, c);
}

static void warn_undecoded(lister *l, const code_section *c, const hd_elf_symbol *function, uint32_t i, uint32_t before)
{
    hd_sass_word word = word_at(l, c, i);
    l->in_part = true;
    if (before < UNDECODED_LIMIT)
        hd_report(l->diagnostics, HD_DIAG_UNDECODED, NULL, (hd_span){0, 0},
                  "'%s': the instruction at 0x%" PRIx32 " of '%s' is not decoded: 0x%016" PRIx64 "%016" PRIx64
                  " (sm_%" PRIu32 ")",
                  l->elf.source->name, i * HD_SASS_WORD_BYTES, function ? function->name : c->section->name, word.high,
                  word.low, l->generation);
}

/* A place in the code: the function that begins there, or its label. */
static void write_place(lister *l, const code_section *c, uint64_t address)
{
    const hd_elf_symbol *function = function_at(c, address);
    if (function)
        hd_write_string(l->to, function->name);
    else
        hd_write_format(l->to, ".L_x_%" PRIu32, c->labels[address / HD_SASS_WORD_BYTES]);
}

static void write_function(lister *l, const code_section *c, const hd_elf_symbol *f)
{
    static const char *const BINDINGS[] = {[STB_GLOBAL] = "global", [STB_WEAK] = "weak"};
    if (f->binding == STB_GLOBAL || f->binding == STB_WEAK)
        hd_write_format(l->to, "        .%-15s%s\n", BINDINGS[f->binding], f->name);
    hd_write_format(l->to, "        .type           %s,@function\n", f->name);
    hd_write_format(l->to, "        .size           %s,(", f->name);
    write_place(l, c, end_of(c, f));
    hd_write_format(l->to, " - %s)\n", f->name);
    if (f->other & STO_CUDA_ENTRY)
        hd_write_format(l->to, "        .other          %s,@\"STO_CUDA_ENTRY STV_DEFAULT\"\n", f->name);
    hd_write_format(l->to, "%s:\n", f->name);
}

/* Where the number is in the text of an instruction that a relocation changes: an immediate is decoded with a number
 * that is found again; what a call goes to is last. false: it has no such operand. */
static bool find_number(lister *l, const code_section *c, uint32_t i, const relocation *r, hd_sass_text *text,
                        const char **begin)
{
    static const uint64_t marker = 0x5bd1e995;
    hd_sass_word word = word_at(l, c, i);
    bool is_immediate = r->kind == HD_MACHINE_RELOCATION_LOW || r->kind == HD_MACHINE_RELOCATION_HIGH;
    if (r->kind >= HD_MACHINE_RELOCATION_COUNT || is_in_data(r->kind))
        return false;
    if (is_immediate)
        word.low = (word.low & UINT32_MAX) | marker << 32;
    if (!hd_sass_decode(word, l->generation, (uint64_t)i * HD_SASS_WORD_BYTES, text) ||
        text->has_target == is_immediate)
        return false;
    *begin = is_immediate ? strstr(text->text, "0x5bd1e995") : text->text + strlen(text->text);
    return *begin != NULL;
}

/* What is added to the symbol: where the section does not say it (SHT_REL), what the place holds. */
static uint64_t addend_of(const lister *l, const code_section *c, uint32_t i, const relocation *r)
{
    bool is_immediate = r->kind == HD_MACHINE_RELOCATION_LOW || r->kind == HD_MACHINE_RELOCATION_HIGH;
    return r->is_in_place && is_immediate ? word_at(l, c, i).low >> 32 : r->addend;
}

/* After the instruction that began at `begin`, in a column that most instructions do not reach, and on a line of its
 * own. */
static void write_hex(lister *l, size_t begin, hd_sass_word word)
{
    enum { COLUMN = 84 };
    int columns = (int)(l->to->buffer.count - begin), blanks = columns < COLUMN ? COLUMN - columns : 1;
    hd_write_format(l->to, "%*s/* 0x%016" PRIx64 " */\n%*s/* 0x%016" PRIx64 " */", blanks, "", word.low,
                    columns + blanks, "", word.high);
}

static void write_instruction(lister *l, const code_section *c, uint32_t i, hd_sass_text *text, const relocation *r)
{
    const char *number = NULL;
    size_t begin = l->to->buffer.count;
    if (r)
        find_number(l, c, i, r, text, &number);
    bool is_uniform = text->guard[0] && strchr(text->guard, 'U');
    hd_write_format(l->to, "        /*%04" PRIx32 "*/%19s%s", i * HD_SASS_WORD_BYTES, is_uniform ? "" : text->guard,
                    is_uniform ? text->guard : "");
    if (number) {
        hd_write(l->to, text->text, (size_t)(number - text->text));
        write_symbolic(l, r, addend_of(l, c, i, r));
        hd_write_string(l->to, number + strspn(number, "0123456789abcdefx"));
    } else {
        hd_write_string(l->to, text->text);
    }
    if (text->has_target && !number) {
        if (is_place(c, text->target)) {
            hd_write_string(l->to, "`(");
            write_place(l, c, text->target);
            hd_write_string(l->to, ")");
        } else {
            hd_write_format(l->to, "0x%" PRIx64, text->target);
        }
    }
    hd_write_string(l->to, text->is_padding ? ";" : " ;");
    if (l->words == HD_LISTING_HEX)
        write_hex(l, begin, word_at(l, c, i));
    hd_write_char(l->to, '\n');
}

static void write_position(lister *l, const char *before, const hd_line_row *row)
{
    hd_write_format(l->to, "%s\"%s\", line %" PRIu32, before, row->file, row->line);
}

static const hd_line_row *caller_of(const lister *l, const hd_line_row *row)
{
    const hd_line_row *caller = row->caller == HD_NONE ? NULL : &l->lines.rows.items[row->caller];
    return caller && caller->file ? caller : NULL;
}

/* Whether code of both is of one line, and inlined at the same calls. */
static bool same_lines(const lister *l, const hd_line_row *a, const hd_line_row *b)
{
    for (uint32_t depth = 0; a && b && depth < HD_MOST_INLINED; depth++) {
        if (a->line != b->line || strcmp(a->file, b->file) != 0)
            return false;
        a = caller_of(l, a);
        b = caller_of(l, b);
    }
    return !a == !b;
}

/* Where a row of the line table begins: its source line, then those of the calls at which it was inlined. An inlined
 * line is not repeated in the row after it. `before`: the row of the last instruction that has one. */
static void write_lines(lister *l, const code_section *c, uint32_t i, const hd_line_row **before)
{
    const hd_line_row *row = hd_line_table_at(&l->lines, c->index, (uint64_t)i * HD_SASS_WORD_BYTES);
    if (!row || (*before && caller_of(l, row) && same_lines(l, *before, row)))
        return;
    *before = row;
    for (uint32_t depth = 0; row && depth < HD_MOST_INLINED && !is_too_long(l); depth++) {
        const hd_line_row *caller = caller_of(l, row);
        write_position(l, "\t//## File ", row);
        if (caller)
            write_position(l, " inlined at ", caller);
        hd_write_char(l->to, '\n');
        row = caller;
    }
}

static void write_code(lister *l, const code_section *c)
{
    const hd_elf_symbol *function = NULL;
    const hd_line_row *row = NULL;
    uint32_t undecoded = 0;
    for (uint32_t i = 0; i <= c->count; i++) {
        const hd_elf_symbol *begins = function_at(c, (uint64_t)i * HD_SASS_WORD_BYTES);
        if (c->labels[i] != HD_NONE)
            hd_write_format(l->to, ".L_x_%" PRIu32 ":\n", c->labels[i]);
        if (begins) {
            function = begins;
            undecoded = 0;
            write_function(l, c, function);
        }
        if (i == 0)
            hd_write_format(l->to, "%s:\n", c->section->name);
        if (i == c->count || is_too_long(l))
            return;
        write_lines(l, c, i, &row);
        hd_sass_text text;
        hd_sass_word word = word_at(l, c, i);
        const char *number;
        const relocation *r = relocation_of(l, c, i);
        if (hd_sass_decode(word, l->generation, (uint64_t)i * HD_SASS_WORD_BYTES, &text) &&
            (!r || find_number(l, c, i, r, &text, &number))) {
            write_instruction(l, c, i, &text, r);
        } else {
            warn_undecoded(l, c, function, i, undecoded++);
            hd_write_format(
                l->to, "        /*%04" PRIx32 "*/                   UNDECODED 0x%016" PRIx64 ", 0x%016" PRIx64 " ;\n",
                i * HD_SASS_WORD_BYTES, word.low, word.high);
        }
    }
}

/* ---- data -------------------------------------------------------------------------------------------------------- */

static bool has_prefix(const char *name, const char *prefix) { return strncmp(name, prefix, strlen(prefix)) == 0; }

static bool is_listed(const hd_elf_section *s)
{
    return is_code(s) || s->type == SHT_CUDA_INFO || has_prefix(s->name, ".nv.constant") ||
           strcmp(s->name, ".nv.global") == 0 || strcmp(s->name, ".nv.global.init") == 0 ||
           (has_prefix(s->name, ".nv.shared.") && !has_prefix(s->name, ".nv.shared.reserved."));
}

static void write_bytes(lister *l, uint64_t base, uint64_t from, uint64_t to)
{
    for (uint64_t at = from; at < to;) {
        hd_write_format(l->to, "        /*%04" PRIx64 "*/ \t.byte\t", at - base);
        for (uint64_t end = hd_min(at + 16, to); at < end; at++)
            hd_write_format(l->to, "0x%02x%s", (unsigned char)l->elf.source->text[at], at + 1 < end ? ", " : "\n");
    }
}

/* Zeros are counted, as long as there is nothing else. */
static void write_plain(lister *l, const hd_elf_section *s, uint64_t from, uint64_t to)
{
    bool is_zero = true;
    for (uint64_t at = from; s->type != SHT_NOBITS && at < to && is_zero; at++)
        is_zero = !l->elf.source->text[s->offset + at];
    if (is_zero && to > from)
        hd_write_format(l->to, "\t.zero\t\t%" PRIu64 "\n", to - from);
    else
        write_bytes(l, s->offset, s->offset + from, s->offset + to);
}

/* Around the words that relocations change. */
static void write_contents(lister *l, const hd_elf_section *s, uint32_t index, uint64_t from, uint64_t to)
{
    enum { WORD = 8 };
    for (const relocation *r;
         s->type != SHT_NOBITS && (r = relocation_from(l, index, from)) && r->offset + WORD <= to;) {
        write_plain(l, s, from, r->offset);
        hd_write_format(l->to, "\t.align\t\t8\n        /*%04" PRIx64 "*/ \t.dword\t", r->offset);
        write_symbolic(l, r, r->is_in_place ? hd_elf_u64(&l->elf, s->offset + r->offset) : r->addend);
        hd_write_string(l->to, "\n");
        from = r->offset + WORD;
    }
    write_plain(l, s, from, to);
}

static bool is_object(const lister *l, const hd_elf_symbol *symbol)
{
    return (symbol->type == STT_OBJECT || symbol->type == STT_CUDA_OBJECT) && symbol->section < l->elf.sections.count &&
           symbol->bytes && is_listed(&l->elf.sections.items[symbol->section]) &&
           symbol->value + symbol->bytes <= l->elf.sections.items[symbol->section].bytes &&
           symbol->value < symbol->bytes + symbol->value;
}

/* The ends of objects have the first labels, in the order of symbols. */
static uint32_t count_objects(const lister *l)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < l->elf.symbols.count; i++)
        count += is_object(l, &l->elf.symbols.items[i]);
    return count;
}

typedef struct object {
    const hd_elf_symbol *symbol;
    uint32_t label; /* of its end */
} object;

static int compare_objects(const void *a, const void *b)
{
    const object *x = a, *y = b;
    if (x->symbol->value != y->symbol->value)
        return x->symbol->value < y->symbol->value ? -1 : 1;
    return x->label < y->label ? -1 : x->label > y->label;
}

/* By address; symbols have any order. */
static void write_data(lister *l, const hd_elf_section *s, uint32_t index)
{
    uint64_t at = 0;
    uint32_t label = 0;
    HD_ARRAY(object) objects = {0};
    hd_write_format(l->to, "%s:\n", s->name);
    for (uint32_t i = 0; i < l->elf.symbols.count; i++) {
        const hd_elf_symbol *o = &l->elf.symbols.items[i];
        if (is_object(l, o) && o->section == index)
            hd_array_push(&objects, ((object){o, label}));
        label += is_object(l, o);
    }
    if (objects.count)
        qsort(objects.items, objects.count, sizeof *objects.items, compare_objects);
    for (uint32_t i = 0; i < objects.count; i++) {
        const hd_elf_symbol *o = objects.items[i].symbol;
        uint32_t own = objects.items[i].label;
        if (o->value < at || is_too_long(l))
            continue;
        write_contents(l, s, index, at, o->value);
        hd_write_format(l->to, "\t.type\t\t%s,@object\n\t.size\t\t%s,(.L_%" PRIu32 " - %s)\n%s:\n", o->name, o->name,
                        own, o->name, o->name);
        at = o->value + o->bytes;
        write_contents(l, s, index, o->value, at);
        hd_write_format(l->to, ".L_%" PRIu32 ":\n", own);
    }
    hd_array_free(&objects);
    write_contents(l, s, index, at, s->bytes);
}

/* ---- .nv.info ---------------------------------------------------------------------------------------------------- */

static void write_half(lister *l, uint64_t base, uint64_t at)
{
    hd_write_format(l->to, "        /*%04" PRIx64 "*/ \t.short\t0x%04x\n", at - base, hd_elf_u16(&l->elf, at));
}

static void write_word(lister *l, uint64_t base, uint64_t at)
{
    hd_write_format(l->to, "        /*%04" PRIx64 "*/ \t.word\t0x%08" PRIx32 "\n", at - base, hd_elf_u32(&l->elf, at));
}

static void write_symbol(lister *l, uint64_t base, uint64_t at)
{
    uint32_t index = hd_elf_u32(&l->elf, at);
    if (index >= l->elf.symbols.count)
        write_word(l, base, at);
    else
        hd_write_format(l->to, "        /*%04" PRIx64 "*/ \t.word\tindex@(%s)\n", at - base,
                        l->elf.symbols.items[index].name);
}

static void write_words(lister *l, uint64_t base, uint64_t at, uint64_t end)
{
    for (; at + 4 <= end; at += 4)
        write_word(l, base, at);
    write_bytes(l, base, at, end);
}

/* The data of an attribute of format 4, after its length. `label`: of its beginning. */
static void write_info_data(lister *l, uint64_t base, uint64_t at, uint64_t end, info_layout layout, uint32_t label)
{
    uint64_t each = layout == PAIRS ? 8 : 4;
    switch (layout) {
    case OFFSETS:
    case PAIRS:
        for (uint32_t i = 0; at + each <= end; i++, at += each) {
            hd_write_format(l->to, "\n\n\t//   ....[%" PRIu32 "]....\n", i);
            if (i == 0)
                hd_write_format(l->to, ".L_%" PRIu32 ":\n", label);
            write_words(l, base, at, at + each);
        }
        break;
    case SYMBOL:
    case BANK:
        hd_write_format(l->to, "\t.align\t\t4\n.L_%" PRIu32 ":\n", label);
        if (at + 4 <= end) {
            write_symbol(l, base, at);
            at += 4;
        }
        for (; layout == BANK && at + 2 <= end; at += 2)
            write_half(l, base, at);
        break;
    case PARAMETER:
        hd_write_format(l->to, ".L_%" PRIu32 ":\n", label);
        if (at + 12 == end) {
            write_word(l, base, at);
            write_half(l, base, at + 4);
            write_half(l, base, at + 6);
            write_bytes(l, base, at + 8, end);
            at = end;
        }
        break;
    case WORDS: hd_write_format(l->to, ".L_%" PRIu32 ":\n", label); break;
    }
    write_words(l, base, at, end);
}

static const info_kind *info_of(uint8_t number)
{
    for (size_t i = 0; i < sizeof INFO_KINDS / sizeof *INFO_KINDS; i++)
        if (INFO_KINDS[i].number == number)
            return &INFO_KINDS[i];
    return NULL;
}

/* One attribute; 0: it does not end inside the section, else the offset of the next. The label of the end of the one
 * before is written inside. */
static uint64_t write_attribute(lister *l, const hd_elf_section *s, uint64_t at, uint32_t *end_label)
{
    enum { HEAD_BYTES = 4 };
    uint64_t end = s->offset + s->bytes;
    if (end - at < HEAD_BYTES)
        return 0;
    uint8_t format = (uint8_t)l->elf.source->text[at], number = (uint8_t)l->elf.source->text[at + 1];
    const info_kind *kind = info_of(number);
    uint16_t length = hd_elf_u16(&l->elf, at + 2);
    if (format == 4 && end - at - HEAD_BYTES < length)
        return 0;
    hd_write_format(l->to, kind ? "\n\n\t//----- nvinfo : EIATTR_%s\n" : "\n\n\t//----- nvinfo : %s",
                    kind ? kind->name : "");
    if (!kind)
        hd_write_format(l->to, "EIATTR_0x%02x\n", number);
    hd_write_string(l->to, "\t.align\t\t4\n");
    if (*end_label != HD_NONE)
        hd_write_format(l->to, ".L_%" PRIu32 ":\n", *end_label);
    *end_label = HD_NONE;
    write_bytes(l, s->offset, at, at + 2);
    switch (format) {
    case 4:
        hd_write_format(l->to, "        /*%04" PRIx64 "*/ \t.short\t(.L_%" PRIu32 " - .L_%" PRIu32 ")\n",
                        at + 2 - s->offset, l->data_labels + 1, l->data_labels);
        write_info_data(l, s->offset, at + HEAD_BYTES, at + HEAD_BYTES + length, kind ? kind->layout : WORDS,
                        l->data_labels);
        *end_label = l->data_labels + 1;
        l->data_labels += 2;
        return at + HEAD_BYTES + length;
    case 3: write_half(l, s->offset, at + 2); break;
    case 2:
        if (length & 0xff)
            write_bytes(l, s->offset, at + 2, at + 3);
        else
            hd_write_string(l->to, "\t.zero\t\t1\n");
        hd_write_string(l->to, "\t.zero\t\t1\n");
        break;
    default: hd_write_string(l->to, "\t.zero\t\t2\n"); break;
    }
    return at + HEAD_BYTES;
}

static bool write_info(lister *l, const hd_elf_section *s)
{
    uint32_t end_label = HD_NONE;
    for (uint64_t at = s->offset; at < s->offset + s->bytes;) {
        uint64_t next = write_attribute(l, s, at, &end_label);
        if (is_too_long(l))
            return true;
        if (!next)
            return hd_elf_refuse(&l->elf, l->diagnostics, at, "an attribute of '%s' does not end inside it", s->name);
        at = next;
    }
    if (end_label != HD_NONE)
        hd_write_format(l->to, ".L_%" PRIu32 ":\n", end_label);
    return true;
}

/* ---- the listing ------------------------------------------------------------------------------------------------- */

static void write_heading(lister *l, const hd_elf_section *s)
{
    bool is_info = s->type == SHT_CUDA_INFO, is_shared = s->type == SHT_NOBITS;
    hd_write_format(l->to, "//--------------------- %-25s --------------------------\n", s->name);
    hd_write_format(l->to, "\t.section\t%s,\"%s%s%s\",%s\n", s->name, s->flags & SHF_ALLOC ? "a" : "",
                    s->flags & SHF_WRITE ? "w" : "", s->flags & SHF_EXECINSTR ? "x" : "",
                    is_info     ? "@\"SHT_CUDA_INFO\""
                    : is_shared ? "@nobits"
                                : "@progbits");
    if (s->flags & INFO_LINK_FLAG)
        hd_write_string(l->to, "\t.sectionflags\t@\"\"\n");
    if (is_code(s) && s->info >> 24)
        hd_write_format(l->to, "\t.sectioninfo\t@\"SHI_REGISTERS=%" PRIu32 "\"\n", s->info >> 24);
    hd_write_format(l->to, "\t.align\t%" PRIu64 "\n", s->alignment);
}

static bool write_section(lister *l, uint32_t index)
{
    const hd_elf_section *s = &l->elf.sections.items[index];
    write_heading(l, s);
    if (s->type == SHT_CUDA_INFO) {
        if (!write_info(l, s))
            return false;
    } else if (is_code(s)) {
        write_code(l, code_of(l, index));
    } else {
        write_data(l, s, index);
    }
    hd_write_string(l->to, "\n\n");
    return true;
}

static bool write_listing(lister *l)
{
    static const char *const TYPES[] = {[ET_REL] = "ET_REL", [ET_EXEC] = "ET_EXEC"};
    for (uint32_t i = 0; i < l->elf.sections.count; i++) {
        const hd_elf_section *s = &l->elf.sections.items[i];
        if (is_code(s) && s->bytes % HD_SASS_WORD_BYTES)
            return hd_elf_refuse(&l->elf, l->diagnostics, s->offset, "the code of '%s' is no multiple of 16 bytes",
                                 s->name);
        if (is_code(s))
            add_code(l, i);
    }
    if (!read_all_relocations(l))
        return false;
    hd_line_table_read(&l->lines, &l->elf, l->diagnostics);
    for (uint32_t i = 0; i < l->code.count; i++)
        number_targets(l, &l->code.items[i]);
    for (uint32_t i = 0; i < l->elf.symbols.count; i++)
        number_end(l, &l->elf.symbols.items[i]);
    l->data_labels = count_objects(l);
    hd_write_format(l->to, "\t.target\tsm_%" PRIu32 "\n\n\t.elftype\t@\"%s\"\n\n\n", l->generation,
                    l->elf.type == ET_REL ? TYPES[ET_REL] : TYPES[ET_EXEC]);
    for (uint32_t i = 0; i < l->elf.sections.count; i++)
        if (is_listed(&l->elf.sections.items[i]) && !write_section(l, i))
            return false;
    return !is_too_long(l) || hd_elf_refuse(&l->elf, l->diagnostics, 0,
                                            "its listing has more than %d bytes for each byte of the file", MOST_TEXT);
}

static bool has_code(const hd_elf *elf)
{
    for (uint32_t i = 0; i < elf->sections.count; i++)
        if (is_code(&elf->sections.items[i]))
            return true;
    return false;
}

static void free_code(lister *l)
{
    for (uint32_t i = 0; i < l->code.count; i++) {
        free(l->code.items[i].labels);
        hd_array_free(&l->code.items[i].functions);
    }
    hd_array_free(&l->code);
}

hd_cubin_outcome hd_cubin_list(hd_source *cubin, hd_listing_words words, hd_writer *listing, uint32_t *generation,
                               hd_diagnostics *diagnostics)
{
    lister l = {.to = listing, .words = words, .diagnostics = diagnostics};
    hd_cubin_outcome outcome = HD_CUBIN_DAMAGED;
    *generation = 0;
    if (hd_elf_read(&l.elf, cubin, diagnostics)) {
        bool has_wide_flags = l.elf.abi_version >= FIRST_ABI_OF_WIDE_FLAGS;
        *generation = l.generation = (has_wide_flags ? l.elf.flags >> 8 : l.elf.flags) & 0xff;
        if (has_code(&l.elf) && !hd_sass_decodes(l.generation))
            outcome = HD_CUBIN_OTHER_CODE;
        else if (write_listing(&l))
            outcome = l.in_part ? HD_CUBIN_IN_PART : l.code.count ? HD_CUBIN_LISTED : HD_CUBIN_EMPTY;
    }
    free_code(&l);
    hd_array_free(&l.relocations);
    hd_line_table_free(&l.lines);
    hd_elf_free(&l.elf);
    return outcome;
}
