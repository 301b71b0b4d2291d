/* Reads the sections of a listing into images and layouts (ir/machine_image.h). A section is assembled: data lines,
 * labels and their differences make its bytes, of which the attributes of .nv.info are decoded as those of the file.
 * Data lines are
 *
 *   [offset in a comment] .byte | .short | .word | .dword  values     .zero N
 *
 * A value is a number, a difference of labels (.L_2 - .L_1), index@(NAME), or a symbol as
 * ir/machine_relocations.def spells it. What is written otherwise is left out: the layout then lacks what it says, and
 * whoever needs it asks for it. A listing of several cubins has a line `.target` before each. Linear in the text, but
 * for the sorting of names.
 */
#include "parser/sass_reader.h"

#include "ir/machine_image.h"

enum { MOST_BYTES = 1u << 30 /* of a section */, INDEX = HD_MACHINE_RELOCATION_COUNT + 1 };

enum info_number {
#define HD_CUBIN_INFO(number, name, layout) INFO_##name = (number),
#include "parser/cubin_info.def"
#undef HD_CUBIN_INFO
};

typedef HD_ARRAY(unsigned char) byte_array;

typedef struct image_section {
    hd_machine_section what;
    uint32_t cursor; /* offset of the next data */
    uint32_t owner;  /* the function that its name names; HD_NONE */
    bool is_zero;    /* no byte other than 0 so far: `data` is empty */
    byte_array data;
} image_section;

typedef struct image_place { /* a label */
    hd_name name;
    uint32_t section, offset;
} image_place;

typedef struct image_reference { /* a symbol, by name */
    hd_name name;
    uint32_t section, offset;
    uint8_t kind; /* hd_machine_relocation_kind, or INDEX */
    int64_t addend;
} image_reference;

typedef struct image_difference {
    uint32_t section, offset, bytes;
    hd_name end, begin;
} image_difference;

typedef struct image_object {
    hd_name name, end; /* end: a label; HD_NO_NAME: not given */
} image_object;

typedef struct image_reader {
    hd_module *module;
    HD_ARRAY(hd_machine_image) images;
    uint32_t *next_of;  /* by function: the next of its name; HD_NONE */
    uint32_t *first_of; /* by name: the first function; HD_NONE */
    uint32_t name_count;
    uint32_t *image_of; /* by function: its image */
    hd_machine_layout **layouts;

    /* the image being read */
    uint32_t image;
    bool is_open;
    uint32_t section; /* HD_NONE: none that is kept */
    HD_ARRAY(image_section) sections;
    HD_ARRAY(image_place) labels; /* sorted at the end, by name */
    HD_ARRAY(image_reference) references;
    HD_ARRAY(image_difference) differences;
    HD_ARRAY(image_object) objects;
    HD_ARRAY(uint32_t) entries; /* functions that are kernels */
} image_reader;

typedef struct text_line {
    const char *at, *end;
} text_line;

/* ---- words of a line --------------------------------------------------------------------------------------------- */

static void skip_blanks(text_line *l)
{
    while (l->at < l->end && hd_is_blank(*l->at))
        l->at++;
}

/* Whether the text comes next; it is skipped. */
static bool take(text_line *l, const char *text)
{
    size_t length = strlen(text);
    if ((size_t)(l->end - l->at) < length || memcmp(l->at, text, length) != 0)
        return false;
    l->at += length;
    return true;
}

/* A directive, with the blanks after it. */
static bool take_word(text_line *l, const char *word)
{
    text_line before = *l;
    if (take(l, word) && l->at < l->end && hd_is_blank(*l->at)) {
        skip_blanks(l);
        return true;
    }
    *l = before;
    return false;
}

/* Up to a comma outside of parentheses, without the blanks around. */
static text_line take_item(text_line *l)
{
    uint32_t depth = 0;
    skip_blanks(l);
    text_line item = {l->at, l->at};
    for (; l->at < l->end && (depth || *l->at != ','); l->at++) {
        depth += *l->at == '(';
        depth -= *l->at == ')' && depth;
        if (!hd_is_blank(*l->at))
            item.end = l->at + 1;
    }
    l->at += l->at < l->end;
    return item;
}

static bool number_of(text_line l, uint64_t *number)
{
    char digits[24], *end;
    size_t length = (size_t)(l.end - l.at);
    if (!length || length >= sizeof digits || *l.at < '0' || *l.at > '9')
        return false;
    memcpy(digits, l.at, length);
    digits[length] = '\0';
    *number = strtoull(digits, &end, 0);
    return !*end;
}

static hd_name name_of(image_reader *r, text_line l)
{
    return hd_names_add(&r->module->names, l.at, (size_t)(l.end - l.at));
}

/* "(A - B)" */
static bool split_difference(image_reader *r, text_line l, hd_name *end, hd_name *begin)
{
    static const char minus[] = " - ";
    const char *at = memmem(l.at, (size_t)(l.end - l.at), minus, strlen(minus));
    if (!at || *l.at != '(' || l.end[-1] != ')')
        return false;
    *end = name_of(r, (text_line){l.at + 1, at});
    *begin = name_of(r, (text_line){at + strlen(minus), l.end - 1});
    return true;
}

/* ---- functions --------------------------------------------------------------------------------------------------- */

static void index_functions(image_reader *r, hd_arena *arena)
{
    const hd_module *m = r->module;
    r->name_count = m->names.entries.count;
    r->next_of = HD_ARENA_ARRAY(arena, uint32_t, m->functions.count + 1);
    r->image_of = HD_ARENA_ARRAY(arena, uint32_t, m->functions.count + 1);
    r->layouts = HD_ARENA_ARRAY(arena, hd_machine_layout *, m->functions.count + 1);
    r->first_of = HD_ARENA_ARRAY(arena, uint32_t, r->name_count + 1);
    memset(r->first_of, 0xff, (r->name_count + 1) * sizeof *r->first_of);
    for (uint32_t f = m->functions.count; f-- > 0;) {
        hd_name name = m->functions.items[f]->name;
        r->next_of[f] = r->first_of[name];
        r->first_of[name] = f;
        r->image_of[f] = HD_NONE;
    }
}

/* The function of that name in the image being read, or HD_NONE. */
static uint32_t function_named(const image_reader *r, hd_name name)
{
    uint32_t function = name < r->name_count ? r->first_of[name] : HD_NONE;
    while (function != HD_NONE && r->image_of[function] != r->image)
        function = r->next_of[function];
    return function;
}

static hd_machine_layout *layout_of(image_reader *r, uint32_t function)
{
    if (!r->layouts[function]) {
        hd_machine_layout *l = r->layouts[function] = HD_ARENA_NEW(&r->module->arena, hd_machine_layout);
        l->code = HD_NONE;
        memset(l->banks, 0xff, sizeof l->banks);
    }
    return r->layouts[function];
}

/* ---- sections ---------------------------------------------------------------------------------------------------- */

static image_section *section_of(image_reader *r)
{
    return r->section == HD_NONE ? NULL : &r->sections.items[r->section];
}

/* The kind of a section; false: it is not kept. *owner: what follows in its name; empty: of all. */
static bool classify(text_line name, hd_machine_section *what, text_line *owner)
{
    static const struct {
        const char *prefix;
        uint8_t kind;
    } kinds[] = {{".text.", HD_MACHINE_SECTION_CODE},
                 {".nv.info", HD_MACHINE_SECTION_INFO},
                 {".nv.constant", HD_MACHINE_SECTION_BANK},
                 {".nv.shared.", HD_MACHINE_SECTION_SHARED},
                 {".nv.global", HD_MACHINE_SECTION_GLOBAL}};
    for (uint32_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        text_line l = name;
        if (!take(&l, kinds[i].prefix))
            continue;
        what->kind = kinds[i].kind;
        uint32_t bank = 0;
        while (what->kind == HD_MACHINE_SECTION_BANK && l.at < l.end && *l.at >= '0' && *l.at <= '9' && bank < 100)
            bank = bank * 10 + (uint32_t)(*l.at++ - '0');
        what->bank = (uint8_t)bank;
        *owner = l;
        if (what->kind == HD_MACHINE_SECTION_GLOBAL)
            owner->at = l.end;
        else if (what->kind != HD_MACHINE_SECTION_CODE && what->kind != HD_MACHINE_SECTION_SHARED && l.at < l.end)
            return take(owner, ".") && bank < HD_MACHINE_BANKS;
        return bank < HD_MACHINE_BANKS;
    }
    return false;
}

static void begin_section(image_reader *r, text_line l)
{
    text_line name = take_item(&l), owner = {NULL, NULL};
    image_section s = {.owner = HD_NONE, .is_zero = true, .what.alignment = 1};
    r->section = HD_NONE;
    if (!classify(name, &s.what, &owner))
        return;
    if (owner.at < owner.end)
        s.owner = function_named(r, hd_names_find(&r->module->names, owner.at, (size_t)(owner.end - owner.at)));
    s.what.name = hd_arena_string(&r->module->arena, name.at, (size_t)(name.end - name.at));
    r->section = r->sections.count;
    hd_array_push(&r->sections, s);
}

/* Room for bytes at the cursor, all zero; NULL: it would be too much, or `zero` and none was needed so far. */
static unsigned char *add_bytes(image_section *s, uint32_t bytes, bool zero)
{
    if (bytes > MOST_BYTES - s->cursor)
        return NULL;
    s->is_zero = s->is_zero && zero;
    uint32_t at = s->cursor, before = s->data.count;
    s->cursor += bytes;
    if (s->cursor > s->what.bytes)
        s->what.bytes = s->cursor;
    if (s->is_zero)
        return NULL;
    if (s->what.bytes > before) {
        unsigned char *fresh = hd_array_extend(&s->data, s->what.bytes - before);
        memset(fresh, 0, s->what.bytes - before);
    }
    return s->data.items + at;
}

static bool read_symbolic(image_reader *r, text_line item, uint32_t width)
{
    image_section *s = section_of(r);
    image_difference d = {r->section, s->cursor, width, HD_NO_NAME, HD_NO_NAME};
    image_reference ref = {.section = r->section, .offset = s->cursor};
    text_line index = item;
    hd_machine_address address;
    if (split_difference(r, item, &d.end, &d.begin)) {
        hd_array_push(&r->differences, d);
    } else if (width == 4 && take(&index, "index@(") && index.end[-1] == ')') {
        index.end--;
        ref.kind = INDEX;
        ref.name = name_of(r, index);
        hd_array_push(&r->references, ref);
    } else if (width == 8) {
        size_t length = (size_t)(item.end - item.at);
        ref.kind = HD_MACHINE_RELOCATION_COUNT;
        if (hd_machine_address_of(NULL, item.at, length, &address))
            ref.kind = address.kind;
        else if (!hd_machine_sum_of(item.at, length, &address))
            return false;
        else if (!memchr(address.name, '(', address.length))
            ref.kind = HD_MACHINE_RELOCATION_64;
        ref.addend = address.addend;
        ref.name = name_of(r, (text_line){address.name, address.name + address.length});
        hd_array_push(&r->references, ref);
    } else {
        return false;
    }
    return add_bytes(s, width, false) != NULL;
}

static void read_values(image_reader *r, text_line l, uint32_t width)
{
    image_section *s = section_of(r);
    while (l.at < l.end) {
        text_line item = take_item(&l);
        uint64_t number;
        if (item.at == item.end)
            continue;
        if (!number_of(item, &number)) {
            if (!read_symbolic(r, item, width))
                return;
            continue;
        }
        unsigned char *to = add_bytes(s, width, number == 0);
        for (uint32_t i = 0; to && i < width; i++)
            to[i] = (unsigned char)(number >> 8 * i);
    }
}

/* Whether the line is data of the section. */
static bool read_data(image_reader *r, text_line l)
{
    static const struct {
        const char *directive;
        uint32_t width;
    } widths[] = {{".byte", 1}, {".short", 2}, {".word", 4}, {".dword", 8}};
    image_section *s = section_of(r);
    uint64_t number;
    if (take(&l, "/*")) {
        const char *close = memmem(l.at, (size_t)(l.end - l.at), "*/", 2);
        uint64_t offset = close ? strtoull(l.at, NULL, 16) : MOST_BYTES;
        if (!close)
            return false;
        if (offset > s->cursor && offset < MOST_BYTES)
            add_bytes(s, (uint32_t)offset - s->cursor, true);
        l.at = close + 2;
        skip_blanks(&l);
    }
    if (take_word(&l, ".zero")) {
        if (number_of(take_item(&l), &number) && number <= MOST_BYTES)
            add_bytes(s, (uint32_t)number, true);
        return true;
    }
    for (uint32_t i = 0; i < sizeof widths / sizeof *widths; i++)
        if (take_word(&l, widths[i].directive)) {
            read_values(r, l, widths[i].width);
            return true;
        }
    return false;
}

/* ---- lines ------------------------------------------------------------------------------------------------------- */

static void note_entry(image_reader *r, text_line l)
{
    text_line name = take_item(&l);
    uint32_t function = function_named(r, hd_names_find(&r->module->names, name.at, (size_t)(name.end - name.at)));
    if (function != HD_NONE && memmem(l.at, (size_t)(l.end - l.at), "STO_CUDA_ENTRY", 14))
        hd_array_push(&r->entries, function);
}

static void note_size(image_reader *r, text_line l)
{
    hd_name name = name_of(r, take_item(&l)), begin;
    if (r->objects.count && hd_array_last(&r->objects).name == name)
        split_difference(r, take_item(&l), &hd_array_last(&r->objects).end, &begin);
}

static void note_type(image_reader *r, text_line l)
{
    hd_name name = name_of(r, take_item(&l));
    if (take(&l, "@object"))
        hd_array_push(&r->objects, (image_object){name, HD_NO_NAME});
}

static void read_section_line(image_reader *r, text_line l)
{
    image_section *s = section_of(r);
    uint64_t number;
    if (s->what.kind == HD_MACHINE_SECTION_CODE)
        return;
    if (take_word(&l, ".align")) {
        if (!s->cursor && number_of(take_item(&l), &number) && number > s->what.alignment && number <= 1u << 20)
            s->what.alignment = (uint32_t)number;
    } else if (take_word(&l, ".type")) {
        note_type(r, l);
    } else if (take_word(&l, ".size")) {
        note_size(r, l);
    } else if (!read_data(r, l) && l.end > l.at && l.end[-1] == ':') {
        hd_array_push(&r->labels, (image_place){name_of(r, (text_line){l.at, l.end - 1}), r->section, s->cursor});
    }
}

static void end_image(image_reader *r);

static void begin_image(image_reader *r, uint32_t sm)
{
    end_image(r);
    r->image = r->images.count;
    r->is_open = true;
    hd_array_push(&r->images, (hd_machine_image){.sm = sm});
}

static uint32_t target_number(text_line l)
{
    uint32_t number = 0;
    if (take(&l, "sm_"))
        while (l.at < l.end && *l.at >= '0' && *l.at <= '9' && number < 1000)
            number = number * 10 + (uint32_t)(*l.at++ - '0');
    return number;
}

/* Lines of code are most of the text. */
static void read_line(image_reader *r, text_line l)
{
    skip_blanks(&l);
    while (l.end > l.at && hd_is_blank(l.end[-1]))
        l.end--;
    if (l.at == l.end)
        return;
    bool is_code = r->section != HD_NONE && r->sections.items[r->section].what.kind == HD_MACHINE_SECTION_CODE;
    if (is_code && *l.at != '.')
        return;
    if (take_word(&l, ".target")) {
        begin_image(r, target_number(l));
        return;
    }
    if (!r->is_open)
        begin_image(r, 0);
    if (take_word(&l, ".section"))
        begin_section(r, l);
    else if (take_word(&l, ".elftype"))
        hd_array_last(&r->images).is_relocatable = memmem(l.at, (size_t)(l.end - l.at), "ET_REL", 6) != NULL;
    else if (take_word(&l, ".other"))
        note_entry(r, l);
    else if (r->section != HD_NONE)
        read_section_line(r, l);
}

/* ---- the end of an image ----------------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const image_place *x = a, *y = b;
    return (x->name > y->name) - (x->name < y->name);
}

static const image_place *label_named(const image_reader *r, hd_name name)
{
    image_place key = {.name = name};
    return r->labels.count ? bsearch(&key, r->labels.items, r->labels.count, sizeof key, by_name) : NULL;
}

static void resolve_differences(image_reader *r)
{
    for (uint32_t i = 0; i < r->differences.count; i++) {
        const image_difference *d = &r->differences.items[i];
        const image_place *end = label_named(r, d->end), *begin = label_named(r, d->begin);
        image_section *s = &r->sections.items[d->section];
        for (uint32_t k = 0; end && begin && k < d->bytes && d->offset + k < s->data.count; k++)
            s->data.items[d->offset + k] = (unsigned char)((end->offset - begin->offset) >> 8 * k);
    }
}

static int by_text(const void *a, const void *b)
{
    const hd_machine_symbol *x = a, *y = b;
    return strcmp(x->name, y->name);
}

static void add_symbol(image_reader *r, hd_machine_symbol *symbols, uint32_t *count, hd_name name, hd_name end)
{
    const image_place *place = label_named(r, name), *stop = end == HD_NO_NAME ? NULL : label_named(r, end);
    hd_machine_symbol s = {
        .name = hd_names_text(&r->module->names, name), .section = HD_NONE, .function = function_named(r, name)};
    if (s.function != HD_NONE) {
        s.section = layout_of(r, s.function)->code;
    } else if (place) {
        s.section = place->section;
        s.offset = place->offset;
        s.bytes =
            stop && stop->section == place->section && stop->offset > place->offset ? stop->offset - place->offset : 0;
    }
    symbols[(*count)++] = s;
}

/* Objects first: they have a size; then all functions, which code refers to. The first of a name is kept. */
static void make_symbols(image_reader *r, hd_machine_image *image)
{
    const hd_module *m = r->module;
    hd_machine_symbol *all = HD_ARENA_ARRAY(&r->module->arena, hd_machine_symbol,
                                            r->objects.count + m->functions.count + r->references.count + 1);
    uint32_t count = 0, kept = 0;
    for (uint32_t i = 0; i < r->objects.count; i++)
        add_symbol(r, all, &count, r->objects.items[i].name, r->objects.items[i].end);
    for (uint32_t i = 0; i < m->functions.count; i++)
        if (r->image_of[i] == r->image)
            add_symbol(r, all, &count, m->functions.items[i]->name, HD_NO_NAME);
    for (uint32_t i = 0; i < r->references.count; i++)
        if (r->references.items[i].kind != INDEX)
            add_symbol(r, all, &count, r->references.items[i].name, HD_NO_NAME);
    if (count)
        qsort(all, count, sizeof *all, by_text);
    for (uint32_t i = 0; i < count; i++)
        if (!kept || strcmp(all[kept - 1].name, all[i].name) != 0)
            all[kept++] = all[i];
        else if (all[i].bytes)
            all[kept - 1] = all[i];
    image->symbols = all;
    image->symbol_count = kept;
}

/* References are in the order of the text, so those of a section are together, by offset. */
static void make_sections(image_reader *r, hd_machine_image *image)
{
    hd_arena *arena = &r->module->arena;
    hd_machine_section *sections = HD_ARENA_ARRAY(arena, hd_machine_section, r->sections.count + 1);
    hd_machine_relocation *relocations = HD_ARENA_ARRAY(arena, hd_machine_relocation, r->references.count + 1);
    uint32_t at = 0, count = 0;
    for (uint32_t i = 0; i < r->sections.count; i++) {
        image_section *s = &r->sections.items[i];
        sections[i] = s->what;
        if (s->data.count && s->what.kind != HD_MACHINE_SECTION_INFO)
            sections[i].initial = hd_arena_copy(arena, s->data.items, s->what.bytes);
        sections[i].relocations = relocations + count;
        for (; at < r->references.count && r->references.items[at].section == i; at++) {
            const image_reference *ref = &r->references.items[at];
            const char *name = hd_names_text(&r->module->names, ref->name);
            if (ref->kind == INDEX)
                continue;
            relocations[count++] = (hd_machine_relocation){
                .kind = ref->kind,
                .offset = ref->offset,
                .symbol = hd_machine_symbol_of(image, name, strlen(name)),
                .addend = ref->addend,
            };
        }
        sections[i].relocation_count = (uint32_t)(relocations + count - sections[i].relocations);
    }
    image->sections = sections;
    image->section_count = r->sections.count;
}

/* ---- attributes -------------------------------------------------------------------------------------------------- */

typedef struct info_reader {
    image_reader *r;
    const image_section *section;
    uint32_t index;     /* of the section */
    uint32_t reference; /* the next in r->references: they and the sections are in the order of the text */
} info_reader;

static uint32_t word_at(const image_section *s, uint32_t at, uint32_t bytes)
{
    uint32_t word = 0;
    for (uint32_t i = 0; i < bytes && at + i < s->data.count; i++)
        word |= (uint32_t)s->data.items[at + i] << 8 * i;
    return word;
}

/* The function that index@() at this offset names, or the section's owner. */
static uint32_t function_at(info_reader *i, uint32_t at)
{
    const image_reader *r = i->r;
    for (; i->reference < r->references.count; i->reference++) {
        const image_reference *ref = &r->references.items[i->reference];
        if (ref->section > i->index || (ref->section == i->index && ref->offset > at))
            break;
        if (ref->section == i->index && ref->offset == at)
            return function_named(r, ref->name);
    }
    return HD_NONE;
}

static void set_parameter(image_reader *r, hd_machine_layout *l, const image_section *s, uint32_t at)
{
    enum { BYTES_SHIFT = 18, MOST_PARAMETERS = 8192 };
    uint32_t ordinal = word_at(s, at + 4, 2);
    if (ordinal >= MOST_PARAMETERS)
        return;
    if (ordinal >= l->parameter_count) { /* they begin with the last one */
        hd_machine_parameter *more = HD_ARENA_ARRAY(&r->module->arena, hd_machine_parameter, ordinal + 1);
        if (l->parameter_count)
            memcpy(more, l->parameters, l->parameter_count * sizeof *more);
        l->parameters = more;
        l->parameter_count = ordinal + 1;
    }
    ((hd_machine_parameter *)(uintptr_t)l->parameters)[ordinal] =
        (hd_machine_parameter){word_at(s, at + 6, 2), word_at(s, at + 8, 4) >> BYTES_SHIFT};
}

/* An attribute of a function. `at`: of its value, after the head; of format 4 a list of `bytes`. */
static void set_attribute(info_reader *i, uint8_t number, uint32_t at, uint32_t bytes)
{
    image_reader *r = i->r;
    const image_section *s = i->section;
    bool names = number == INFO_REGCOUNT || number == INFO_FRAME_SIZE || number == INFO_MIN_STACK_SIZE;
    uint32_t function = names ? function_at(i, at) : s->owner;
    if (function == HD_NONE)
        return;
    hd_machine_layout *l = layout_of(r, function);
    switch (number) {
    case INFO_REGCOUNT:
        l->has_registers = true;
        l->registers = word_at(s, at + 4, 4);
        break;
    case INFO_FRAME_SIZE:
        l->has_frame = true;
        l->frame_bytes = word_at(s, at + 4, 4);
        break;
    case INFO_MIN_STACK_SIZE: l->stack_bytes = word_at(s, at + 4, 4); break;
    case INFO_MAX_THREADS:
    case INFO_REQNTID:
        for (uint32_t k = 0; k < 3 && 4 * k < bytes && (number == INFO_REQNTID || !l->requires_threads); k++)
            l->threads[k] = word_at(s, at + 4 * k, 4);
        l->requires_threads = l->requires_threads || number == INFO_REQNTID;
        break;
    case INFO_NUM_BARRIERS: l->barriers = word_at(s, at, 1); break;
    case INFO_KPARAM_INFO: set_parameter(r, l, s, at); break;
    case INFO_CBANK_PARAM_SIZE: l->parameter_bytes = word_at(s, at, 2); break;
    case INFO_PARAM_CBANK:
        l->has_parameters = true;
        l->parameter_base = word_at(s, at + 4, 2);
        l->parameter_bytes = word_at(s, at + 6, 2);
        break;
    default: break;
    }
}

static void read_attributes(info_reader *info, uint32_t index)
{
    enum { HEAD_BYTES = 4, LIST = 4 };
    const image_section *s = info->section = &info->r->sections.items[index];
    info->index = index;
    if (s->what.kind != HD_MACHINE_SECTION_INFO)
        return;
    for (uint32_t at = 0; at + HEAD_BYTES <= s->what.bytes && at + HEAD_BYTES <= s->data.count;) {
        uint32_t format = s->data.items[at], length = format == LIST ? word_at(s, at + 2, 2) : 0;
        if (length > s->what.bytes - at - HEAD_BYTES)
            return;
        set_attribute(info, s->data.items[at + 1], at + (format == LIST ? HEAD_BYTES : 2), length);
        at += HEAD_BYTES + length;
    }
}

/* ---- layouts ----------------------------------------------------------------------------------------------------- */

static void place_section(image_reader *r, uint32_t index)
{
    const image_section *s = &r->sections.items[index];
    if (s->owner == HD_NONE)
        return;
    hd_machine_layout *l = layout_of(r, s->owner);
    if (s->what.kind == HD_MACHINE_SECTION_CODE) {
        l->code = index;
    } else if (s->what.kind == HD_MACHINE_SECTION_BANK) {
        l->banks[s->what.bank] = index;
    } else if (s->what.kind == HD_MACHINE_SECTION_SHARED) {
        l->shared_bytes = s->what.bytes;
        if (r->images.items[r->image].sm >= HD_MACHINE_FIRST_SM_WITH_RESERVE &&
            s->what.bytes >= HD_MACHINE_RESERVED_SHARED_BYTES)
            l->shared_bytes -= HD_MACHINE_RESERVED_SHARED_BYTES;
    }
}

/* Banks of the whole image are those of each of its functions that has none of its own. */
static void share_banks(image_reader *r)
{
    for (uint32_t i = 0; i < r->sections.count; i++) {
        const image_section *s = &r->sections.items[i];
        bool is_shared = s->what.kind == HD_MACHINE_SECTION_BANK && s->owner == HD_NONE &&
                         strchr(s->what.name + strlen(".nv.constant"), '.') == NULL;
        for (uint32_t f = 0; is_shared && f < r->module->functions.count; f++)
            if (r->image_of[f] == r->image && r->layouts[f] && r->layouts[f]->banks[s->what.bank] == HD_NONE)
                r->layouts[f]->banks[s->what.bank] = i;
    }
}

static void clear(image_reader *r)
{
    for (uint32_t i = 0; i < r->sections.count; i++)
        hd_array_free(&r->sections.items[i].data);
    r->sections.count = r->labels.count = r->references.count = r->differences.count = r->objects.count = 0;
    r->entries.count = 0;
    r->section = HD_NONE;
    r->is_open = false;
}

static void end_image(image_reader *r)
{
    if (!r->is_open)
        return;
    hd_machine_image *image = &hd_array_last(&r->images);
    if (r->labels.count)
        qsort(r->labels.items, r->labels.count, sizeof *r->labels.items, by_name);
    resolve_differences(r);
    for (uint32_t i = 0; i < r->sections.count; i++)
        place_section(r, i);
    info_reader info = {.r = r};
    for (uint32_t i = 0; i < r->sections.count; i++)
        read_attributes(&info, i);
    for (uint32_t i = 0; i < r->entries.count; i++)
        layout_of(r, r->entries.items[i])->is_entry = true;
    share_banks(r);
    make_symbols(r, image);
    make_sections(r, image);
    clear(r);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

static bool next_line(const char **at, const char *end, text_line *line)
{
    if (*at >= end)
        return false;
    const char *newline = memchr(*at, '\n', (size_t)(end - *at)), *stop = newline ? newline : end;
    *line = (text_line){*at, stop > *at && stop[-1] == '\r' ? stop - 1 : stop};
    *at = stop + 1;
    return true;
}

static bool is_target(text_line l)
{
    skip_blanks(&l);
    return take_word(&l, ".target");
}

/* Images are counted as read_line() counts them: a listing that does not begin with a target has one without. */
static void number_images(image_reader *r)
{
    const hd_module *m = r->module;
    const char *at = m->source->text, *end = at + m->source->length;
    uint32_t f = 0, targets = 0, first = 0;
    for (text_line line; f < m->functions.count && next_line(&at, end, &line);) {
        targets += is_target(line);
        skip_blanks(&line);
        first += !targets && !first && line.at < line.end;
        for (; f < m->functions.count && m->functions.items[f]->header_span.begin < at - m->source->text; f++)
            r->image_of[f] = targets + first - 1;
    }
}

void hd_sass_read_images(hd_module *module)
{
    const hd_source *source = module->source;
    image_reader r = {.module = module, .section = HD_NONE};
    hd_arena arena;
    const char *at = source->text, *end = at + source->length;
    if (!memmem(source->text, source->length, ".section", 8))
        return;
    hd_arena_init(&arena);
    index_functions(&r, &arena);
    number_images(&r);
    for (text_line line; next_line(&at, end, &line);)
        read_line(&r, line);
    end_image(&r);
    module->images = hd_arena_copy(&module->arena, r.images.items, r.images.count * sizeof *r.images.items);
    module->image_count = r.images.count;
    for (uint32_t f = 0; f < module->functions.count; f++) {
        hd_machine_function *machine = (hd_machine_function *)(uintptr_t)module->functions.items[f]->machine;
        if (r.layouts[f] && r.image_of[f] < r.images.count)
            r.layouts[f]->image = &module->images[r.image_of[f]];
        machine->layout = r.layouts[f];
    }
    clear(&r);
    hd_array_free(&r.images);
    hd_array_free(&r.sections);
    hd_array_free(&r.labels);
    hd_array_free(&r.references);
    hd_array_free(&r.differences);
    hd_array_free(&r.objects);
    hd_array_free(&r.entries);
    hd_arena_free(&arena);
}
