/* See line_table.h. */
#include "parser/line_table.h"

#include "base/bytes.h"
#include "ir/ir.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    COPY = 1,
    ADVANCE_PC,
    ADVANCE_LINE,
    SET_FILE,
    CONST_ADD_PC = 8,
    FIXED_ADVANCE_PC,
    END_SEQUENCE = 1,
    SET_ADDRESS,
    DEFINE_FILE,
    INLINED_CALL =
        0x90, /* row of the call, counted from 1 in its sequence, 0: no call; place of a name in .debug_str */
    FORM_BLOCK = 0x09,
    FORM_DATA1 = 0x0b,
    FORM_DATA2 = 0x05,
    FORM_DATA4 = 0x06,
    FORM_DATA8 = 0x07,
    FORM_DATA16 = 0x1e,
    FORM_STRING = 0x08,
    FORM_STRP = 0x0e,
    FORM_LINE_STRP = 0x1f,
    FORM_UDATA = 0x0f,
    CONTENT_PATH = 1,
    CONTENT_DIRECTORY = 2,
    STANDARD_OPCODES = 256,
};

typedef struct place { /* where an address of the table is relocated */
    uint64_t offset;   /* in the section */
    const hd_elf_symbol *symbol;
    uint64_t addend; /* beside what the place holds */
    bool replaces;   /* the place holds nothing that counts */
} place;

typedef struct unit { /* of the table */
    uint64_t end, program;
    uint16_t version;
    uint8_t instruction_bytes, line_range, opcode_base;
    int8_t line_base;
    uint8_t lengths[STANDARD_OPCODES]; /* operands of standard opcodes */
    bool wide;                         /* offsets have 64 bits */
    HD_ARRAY(const char *) directories;
    HD_ARRAY(const char *) files; /* whole paths; the first is number 1, in version 5 number 0 */
} unit;

typedef struct reader {
    hd_line_table *table;
    const hd_elf *elf;
    hd_diagnostics *diagnostics;
    const hd_elf_section *section;
    HD_ARRAY(place) places;
    uint64_t at; /* offset in the file */
    bool damaged;
} reader;

/* ---- bytes ------------------------------------------------------------------------------------------------------- */

/* Reports the first thing that is wrong. Returns 0. */
static uint64_t refuse(reader *r, uint64_t at, const char *what)
{
    if (!r->damaged)
        hd_report(r->diagnostics, HD_DIAG_UNDECODED, NULL, (hd_span){0, 0},
                  "'%s': the line table is damaged at offset 0x%" PRIx64 " of '%s': %s; no source lines are shown",
                  r->elf->source->name, at - r->section->offset, r->section->name, what);
    r->damaged = true;
    return 0;
}

static bool has(reader *r, uint64_t end, uint64_t bytes)
{
    if (!r->damaged && r->at <= end && bytes <= end - r->at)
        return true;
    refuse(r, r->at, "it ends too early");
    return false;
}

static uint64_t take(reader *r, uint64_t end, uint32_t bytes)
{
    if (!has(r, end, bytes))
        return 0;
    r->at += bytes;
    return hd_load_bytes(r->elf->source->text + r->at - bytes, bytes);
}

static uint64_t take_leb(reader *r, uint64_t end, bool is_signed)
{
    uint64_t value = 0, byte = 0x80;
    uint32_t shift = 0;
    while (byte & 0x80 && has(r, end, 1)) {
        byte = (unsigned char)r->elf->source->text[r->at++];
        value |= shift < 64 ? (byte & 0x7f) << shift : 0;
        shift += 7;
    }
    return is_signed && shift < 64 && byte & 0x40 ? value | ~(uint64_t)0 << shift : value;
}

static const char *take_string(reader *r, uint64_t end)
{
    const char *text = r->elf->source->text + r->at;
    const char *stop = has(r, end, 1) ? memchr(text, '\0', end - r->at) : NULL;
    if (!stop) {
        refuse(r, r->at, "a name does not end");
        return "";
    }
    r->at += (uint64_t)(stop - text) + 1;
    return text;
}

/* A name of another section. */
static const char *string_of(reader *r, const char *section, uint64_t offset)
{
    for (uint32_t i = 0; i < r->elf->sections.count; i++) {
        const hd_elf_section *s = &r->elf->sections.items[i];
        if (s->type == SHT_PROGBITS && !strcmp(s->name, section) && offset < s->bytes &&
            memchr(r->elf->source->text + s->offset + offset, '\0', s->bytes - offset))
            return r->elf->source->text + s->offset + offset;
    }
    refuse(r, r->at, "a name is not where it should be");
    return "";
}

/* ---- relocations ------------------------------------------------------------------------------------------------- */

static int by_offset(const void *a, const void *b)
{
    const place *x = a, *y = b;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static void read_places(reader *r)
{
    const hd_elf *elf = r->elf;
    uint32_t index = (uint32_t)(r->section - elf->sections.items);
    for (uint32_t i = 0; i < elf->sections.count; i++) {
        const hd_elf_section *s = &elf->sections.items[i];
        bool adds = s->type == SHT_RELA;
        uint32_t bytes = adds ? sizeof(Elf64_Rela) : sizeof(Elf64_Rel);
        if ((s->type != SHT_REL && !adds) || s->info != index)
            continue;
        for (uint64_t at = s->offset; at + bytes <= s->offset + s->bytes; at += bytes) {
            uint64_t symbol = hd_elf_u64(elf, at + offsetof(Elf64_Rela, r_info)) >> 32;
            if (symbol < elf->symbols.count)
                hd_array_push(&r->places,
                              (place){.offset = hd_elf_u64(elf, at),
                                      .symbol = &elf->symbols.items[symbol],
                                      .addend = adds ? hd_elf_u64(elf, at + offsetof(Elf64_Rela, r_addend)) : 0,
                                      .replaces = adds});
        }
    }
    if (r->places.count)
        qsort(r->places.items, r->places.count, sizeof *r->places.items, by_offset);
}

/* The only section of code, for tables without relocations; HD_NONE: there are several. */
static uint32_t only_code(const hd_elf *elf)
{
    uint32_t found = HD_NONE;
    for (uint32_t i = 0; i < elf->sections.count; i++) {
        if (!(elf->sections.items[i].flags & SHF_EXECINSTR))
            continue;
        if (found != HD_NONE)
            return HD_NONE;
        found = i;
    }
    return found;
}

/* The section and the address in it of an operand at an offset in the file; HD_NONE: not known. */
static void resolve(const reader *r, uint64_t at, uint64_t value, hd_line_row *row)
{
    const place key = {.offset = at - r->section->offset};
    const place *p =
        r->places.count ? bsearch(&key, r->places.items, r->places.count, sizeof *r->places.items, by_offset) : NULL;
    row->section = p ? p->symbol->section : only_code(r->elf);
    row->address = p ? p->symbol->value + p->addend + (p->replaces ? 0 : value) : value;
}

/* ---- headers ----------------------------------------------------------------------------------------------------- */

/* What names a file in a listing cannot have. */
static const char *path_of(reader *r, const char *directory, const char *name)
{
    bool is_whole = *name == '/' || !*directory;
    char *path = is_whole ? hd_arena_string(&r->table->arena, name, strlen(name))
                          : hd_arena_printf(&r->table->arena, "%s/%s", directory, name);
    for (char *c = path; *c; c++)
        if (*c == '"' || *c == '\n' || *c == '\r')
            *c = '?';
    return path;
}

static void add_file(reader *r, unit *u, const char *name, uint64_t directory)
{
    /* in version 5 directory 0 is listed; before, it is that of the compilation, which the table does not name */
    uint64_t index = u->version >= 5 ? directory : directory - 1;
    const char *in = index < u->directories.count ? u->directories.items[index] : "";
    hd_array_push(&u->files, path_of(r, in, name));
}

/* Versions 2 to 4. */
static void read_names(reader *r, unit *u)
{
    for (const char *name; !r->damaged && *(name = take_string(r, u->end));)
        hd_array_push(&u->directories, name);
    for (const char *name; !r->damaged && *(name = take_string(r, u->end));) {
        uint64_t directory = take_leb(r, u->end, false);
        take_leb(r, u->end, false); /* time */
        take_leb(r, u->end, false); /* length */
        add_file(r, u, name, directory);
    }
}

typedef struct entry { /* version 5: of a table of directories or files */
    const char *path;
    uint64_t directory;
} entry;

static void read_field(reader *r, const unit *u, uint64_t content, uint64_t form, entry *to)
{
    const char *text = NULL;
    uint64_t number = 0;
    switch (form) {
    case FORM_STRING: text = take_string(r, u->end); break;
    case FORM_LINE_STRP: text = string_of(r, ".debug_line_str", take(r, u->end, u->wide ? 8 : 4)); break;
    case FORM_STRP: text = string_of(r, ".debug_str", take(r, u->end, u->wide ? 8 : 4)); break;
    case FORM_UDATA: number = take_leb(r, u->end, false); break;
    case FORM_DATA1: number = take(r, u->end, 1); break;
    case FORM_DATA2: number = take(r, u->end, 2); break;
    case FORM_DATA4: number = take(r, u->end, 4); break;
    case FORM_DATA8: number = take(r, u->end, 8); break;
    case FORM_DATA16: r->at += has(r, u->end, 16) ? 16 : 0; break;
    case FORM_BLOCK:
        number = take_leb(r, u->end, false);
        r->at += has(r, u->end, number) ? number : 0;
        break;
    default: refuse(r, r->at, "a form of its names is not known"); return;
    }
    if (content == CONTENT_PATH && text)
        to->path = text;
    else if (content == CONTENT_DIRECTORY)
        to->directory = number;
}

/* One of the two tables of version 5. */
static void read_entries(reader *r, unit *u, bool files)
{
    enum { MOST_FIELDS = 255 };
    uint64_t contents[MOST_FIELDS], forms[MOST_FIELDS], fields = take(r, u->end, 1);
    for (uint64_t f = 0; f < fields && !r->damaged; f++) {
        contents[f] = take_leb(r, u->end, false);
        forms[f] = take_leb(r, u->end, false);
    }
    uint64_t count = take_leb(r, u->end, false);
    if (count > u->end - r->at) /* an entry has a byte at least */
        refuse(r, r->at, "there are more names than bytes");
    for (uint64_t i = 0; i < count && !r->damaged; i++) {
        entry e = {.path = ""};
        for (uint64_t f = 0; f < fields && !r->damaged; f++)
            read_field(r, u, contents[f], forms[f], &e);
        if (files)
            add_file(r, u, e.path, e.directory);
        else
            hd_array_push(&u->directories, e.path);
    }
}

static void read_header(reader *r, unit *u)
{
    uint64_t section_end = r->section->offset + r->section->bytes, length = take(r, section_end, 4);
    u->wide = length == UINT32_MAX;
    length = u->wide ? take(r, section_end, 8) : length;
    if (!has(r, section_end, length))
        return;
    u->end = r->at + length;
    u->version = (uint16_t)take(r, u->end, 2);
    if (!r->damaged && (u->version < 2 || u->version > 5))
        refuse(r, r->at - 2, "its version is not one from 2 to 5");
    if (u->version >= 5)
        take(r, u->end, 2); /* bytes of an address, and of a segment */
    length = take(r, u->end, u->wide ? 8 : 4);
    if (!has(r, u->end, length))
        return;
    u->program = r->at + length;
    u->instruction_bytes = (uint8_t)take(r, u->end, 1);
    if (u->version >= 4)
        take(r, u->end, 1); /* operations of an instruction, as VLIW machines have */
    take(r, u->end, 1);     /* whether rows begin a statement */
    u->line_base = (int8_t)take(r, u->end, 1);
    u->line_range = (uint8_t)take(r, u->end, 1);
    u->opcode_base = (uint8_t)take(r, u->end, 1);
    if (!r->damaged && !u->line_range)
        refuse(r, r->at - 2, "its range of lines is 0");
    for (uint32_t i = 1; i < u->opcode_base; i++)
        u->lengths[i] = (uint8_t)take(r, u->end, 1);
    if (u->version >= 5) {
        read_entries(r, u, false);
        read_entries(r, u, true);
    } else {
        read_names(r, u);
    }
    r->at = u->program;
}

/* ---- programs ---------------------------------------------------------------------------------------------------- */

typedef struct state { /* the registers of the line-number machine */
    hd_line_row row;
    uint64_t file;
    int64_t line;
    uint32_t first; /* row of the sequence */
} state;

static state begin_sequence(const reader *r)
{
    return (state){.row = {.section = HD_NONE, .caller = HD_NONE}, .file = 1, .line = 1, .first = r->table->rows.count};
}

static void add_row(reader *r, const unit *u, state *s)
{
    uint64_t index = u->version >= 5 ? s->file : s->file - 1;
    hd_line_row row = s->row;
    row.file = index < u->files.count ? u->files.items[index] : NULL;
    row.line = s->line > 0 && s->line < UINT32_MAX ? (uint32_t)s->line : 0;
    row.number = r->table->rows.count;
    hd_array_push(&r->table->rows, row);
}

static void run_extended(reader *r, const unit *u, state *s)
{
    uint64_t length = take_leb(r, u->end, false), begin = r->at;
    if (!length || !has(r, u->end, length))
        return;
    uint64_t end = begin + length, opcode = take(r, end, 1), at = r->at, number;
    switch (opcode) {
    case END_SEQUENCE: *s = begin_sequence(r); break;
    case SET_ADDRESS:
        number =
            length - 1 <= 8 ? take(r, end, (uint32_t)(length - 1)) : refuse(r, at, "an address has too many bytes");
        resolve(r, at, number, &s->row);
        break;
    case INLINED_CALL:
        number = take_leb(r, end, false);
        if (number > r->table->rows.count - s->first)
            refuse(r, at, "code is inlined at a row that is not there");
        s->row.caller = number ? s->first + (uint32_t)number - 1 : HD_NONE;
        break;
    default: break; /* DEFINE_FILE, and others that name no line: skipped */
    }
    r->at = end;
}

static void run_standard(reader *r, const unit *u, state *s, uint8_t opcode)
{
    switch (opcode) {
    case COPY: add_row(r, u, s); return;
    case ADVANCE_PC: s->row.address += take_leb(r, u->end, false) * u->instruction_bytes; return;
    case ADVANCE_LINE: s->line = (int64_t)((uint64_t)s->line + take_leb(r, u->end, true)); return;
    case SET_FILE: s->file = take_leb(r, u->end, false); return;
    case CONST_ADD_PC:
        s->row.address += (uint64_t)((255 - u->opcode_base) / u->line_range) * u->instruction_bytes;
        return;
    case FIXED_ADVANCE_PC: s->row.address += take(r, u->end, 2); return;
    default:
        for (uint32_t i = 0; i < u->lengths[opcode]; i++)
            take_leb(r, u->end, false);
    }
}

static void run(reader *r, const unit *u)
{
    state s = begin_sequence(r);
    while (!r->damaged && r->at < u->end) {
        uint8_t opcode = (uint8_t)take(r, u->end, 1);
        if (opcode >= u->opcode_base) {
            uint8_t adjusted = (uint8_t)(opcode - u->opcode_base);
            s.row.address += (uint64_t)(adjusted / u->line_range) * u->instruction_bytes;
            s.line = (int64_t)((uint64_t)s.line + (uint64_t)(int64_t)(u->line_base + adjusted % u->line_range));
            add_row(r, u, &s);
        } else if (opcode) {
            run_standard(r, u, &s, opcode);
        } else {
            run_extended(r, u, &s);
        }
    }
}

/* ---- the table --------------------------------------------------------------------------------------------------- */

static int by_address(const void *a, const void *b, void *rows)
{
    const hd_line_row *x = (const hd_line_row *)rows + *(const uint32_t *)a,
                      *y = (const hd_line_row *)rows + *(const uint32_t *)b;
    if (x->section != y->section)
        return x->section < y->section ? -1 : 1;
    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return (x->number > y->number) - (x->number < y->number);
}

/* Of several rows of one address the last one counts. */
static void sort_rows(hd_line_table *t)
{
    HD_ARRAY(uint32_t) all = {0};
    for (uint32_t i = 0; i < t->rows.count; i++)
        if (t->rows.items[i].section != HD_NONE && t->rows.items[i].file)
            hd_array_push(&all, i);
    if (all.count)
        qsort_r(all.items, all.count, sizeof *all.items, by_address, t->rows.items);
    for (uint32_t i = 0; i < all.count; i++) {
        const hd_line_row *row = &t->rows.items[all.items[i]];
        const hd_line_row *next = i + 1 < all.count ? &t->rows.items[all.items[i + 1]] : NULL;
        if (!next || next->section != row->section || next->address != row->address)
            hd_array_push(&t->by_address, all.items[i]);
    }
    hd_array_free(&all);
}

void hd_line_table_read(hd_line_table *table, const hd_elf *elf, hd_diagnostics *diagnostics)
{
    *table = (hd_line_table){.rows = {0}};
    for (uint32_t i = 0; i < elf->sections.count; i++) {
        reader r = {.table = table, .elf = elf, .diagnostics = diagnostics, .section = &elf->sections.items[i]};
        if (r.section->type != SHT_PROGBITS || strcmp(r.section->name, ".debug_line") != 0)
            continue;
        r.at = r.section->offset;
        read_places(&r);
        while (!r.damaged && r.at < r.section->offset + r.section->bytes) {
            unit u = {.wide = false};
            read_header(&r, &u);
            if (!r.damaged)
                run(&r, &u);
            r.at = u.end;
            hd_array_free(&u.directories);
            hd_array_free(&u.files);
        }
        hd_array_free(&r.places);
        if (r.damaged)
            hd_array_clear(&table->rows);
    }
    sort_rows(table);
}

void hd_line_table_free(hd_line_table *table)
{
    hd_array_free(&table->rows);
    hd_array_free(&table->by_address);
    hd_arena_free(&table->arena);
}

const hd_line_row *hd_line_table_at(const hd_line_table *t, uint32_t section, uint64_t address)
{
    uint32_t low = 0, high = t->by_address.count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        const hd_line_row *row = &t->rows.items[t->by_address.items[middle]];
        if (row->section == section && row->address == address)
            return row;
        if (row->section < section || (row->section == section && row->address < address))
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}
