/* What the sections of a listing by nvdisasm state about each function, besides its code:
 *
 *   .nv.info, .nv.info.NAME   attributes: a line `//----- nvinfo : EIATTR_X`, then data lines
 *   .nv.shared.NAME           static shared memory, as `.zero N`
 *   .text.NAME                `.other NAME,@"STO_CUDA_ENTRY ..."` of a kernel
 *
 * The attribute of a function is in the section that has its name, or names the function as index@(NAME). On
 * sm_90 and later .nv.shared.NAME begins with what the GPU reserves for each thread block, which a GPU description
 * counts on its own. Other listings have no such sections. Linear in the text.
 *
 * A listing of several cubins names functions of several architectures alike: each cubin begins with a line `.target`.
 */
#include "driver/report/report_work.h"

#include "base/scan.h"
#include "ir/machine.h"

enum { FIRST_SM_WITH_RESERVE = 90, RESERVED_BYTES = 1024 };

typedef enum section_kind { OTHER, INFO, SHARED } section_kind;
typedef enum attribute {
    NO_ATTRIBUTE,
    REGCOUNT,
    FRAME_SIZE,
    MAX_THREADS,
    REQNTID,
    NUM_BARRIERS,
    CBANK_PARAM_SIZE,
} attribute;

typedef struct section_reader {
    const hd_module *module;
    report_sections *sections;
    uint32_t *cubin_of; /* by function: `.target` lines before it */
    uint32_t *next_of;  /* by function: the next one of its name; HD_NONE */
    uint32_t *first_of; /* by name: the first function; HD_NONE */
    uint32_t cubin;     /* `.target` lines before the line that is read */
    section_kind kind;
    uint32_t owner;        /* the function that the section's name names; HD_NONE */
    uint32_t function;     /* of the attribute: the owner, or that of index@(); HD_NONE */
    uint32_t attribute;    /* being read */
    uint32_t words, bytes; /* data lines of it so far */
} section_reader;

static bool is_target(hd_scan l)
{
    hd_scan_blanks(&l);
    return hd_scan_take(&l, ".target") && l.at < l.end && hd_is_blank(*l.at);
}

/* The function of that name in the cubin being read, or HD_NONE. */
static uint32_t function_of(const section_reader *r, const char *name, size_t length)
{
    hd_name found = hd_names_find(&r->module->names, name, length);
    uint32_t function = found == HD_NO_NAME ? HD_NONE : r->first_of[found];
    while (function != HD_NONE && r->cubin_of[function] != r->cubin)
        function = r->next_of[function];
    return function;
}

static size_t name_length(const hd_scan *l)
{
    const char *at = l->at;
    while (at < l->end && *at != ',' && *at != ')' && !hd_is_blank(*at))
        at++;
    return (size_t)(at - l->at);
}

static uint64_t number_at(const hd_scan *l)
{
    char digits[24];
    size_t count = 0;
    while (l->at + count < l->end && count < sizeof digits - 1 && !hd_is_blank(l->at[count]) && l->at[count] != ',') {
        digits[count] = l->at[count];
        count++;
    }
    digits[count] = '\0';
    return strtoull(digits, NULL, 0);
}

static void begin_section(section_reader *r, hd_scan *l)
{
    static const char info[] = ".nv.info", shared[] = ".nv.shared.";
    r->kind = OTHER;
    r->owner = r->function = HD_NONE;
    r->attribute = NO_ATTRIBUTE;
    hd_scan_blanks(l);
    if (hd_scan_take(l, shared))
        r->kind = SHARED;
    else if (hd_scan_take(l, info) && (l->at == l->end || *l->at == ',' || hd_scan_take(l, ".")))
        r->kind = INFO;
    if (r->kind != OTHER)
        r->owner = r->function = function_of(r, l->at, name_length(l));
}

static void begin_attribute(section_reader *r, const hd_scan *l)
{
    static const struct {
        const char *name;
        attribute attribute;
    } names[] = {{"REGCOUNT", REGCOUNT}, {"FRAME_SIZE", FRAME_SIZE},     {"MAX_THREADS", MAX_THREADS},
                 {"REQNTID", REQNTID},   {"NUM_BARRIERS", NUM_BARRIERS}, {"CBANK_PARAM_SIZE", CBANK_PARAM_SIZE}};
    size_t length = name_length(l);
    r->attribute = NO_ATTRIBUTE;
    r->words = r->bytes = 0;
    r->function = r->owner;
    r->sections->any_info = true;
    for (uint32_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == length && memcmp(l->at, names[i].name, length) == 0)
            r->attribute = names[i].attribute;
}

static void set(section_reader *r, uint64_t wide)
{
    report_section *s = &r->sections->functions[r->function];
    uint32_t value = wide < UINT32_MAX ? (uint32_t)wide : UINT32_MAX;
    switch ((attribute)r->attribute) {
    case NO_ATTRIBUTE: break;
    case REGCOUNT: s->registers = value; break;
    case FRAME_SIZE: s->frame_bytes = value; break;
    case MAX_THREADS:
    case REQNTID:
        if (r->words < 3 && (!s->required || r->attribute == REQNTID))
            s->threads[r->words] = value;
        s->required |= r->attribute == REQNTID;
        break;
    case NUM_BARRIERS: s->barriers = value; break;
    case CBANK_PARAM_SIZE: s->parameter_bytes = value; break;
    }
}

/* `.word index@(NAME)`, `.word N`, `.short N`; of the barriers `.byte` twice: what it is, then the number. */
static void read_data(section_reader *r, hd_scan *l)
{
    bool is_short = hd_scan_take(l, ".short"), is_byte = !is_short && hd_scan_take(l, ".byte");
    if (!is_short && !is_byte && !hd_scan_take(l, ".word"))
        return;
    hd_scan_blanks(l);
    r->bytes += is_byte;
    if (hd_scan_take(l, "index@(")) {
        r->function = function_of(r, l->at, name_length(l));
        return;
    }
    if (r->function == HD_NONE || l->at == l->end || *l->at < '0' || *l->at > '9')
        return;
    if (is_short  ? r->attribute == CBANK_PARAM_SIZE
        : is_byte ? r->attribute == NUM_BARRIERS && r->bytes == 2
                  : r->attribute != NUM_BARRIERS) {
        set(r, number_at(l));
        r->words++;
    }
}

static void add_shared(section_reader *r, hd_scan *l)
{
    if (r->function == HD_NONE || !hd_scan_take(l, ".zero"))
        return;
    hd_scan_blanks(l);
    r->sections->functions[r->function].shared_bytes += number_at(l);
}

static void note_entry(section_reader *r, hd_scan *l)
{
    hd_scan_blanks(l);
    size_t length = name_length(l);
    uint32_t function = function_of(r, l->at, length);
    l->at += length;
    if (function == HD_NONE || !memmem(l->at, (size_t)(l->end - l->at), "STO_CUDA_ENTRY", 14))
        return;
    r->sections->any_entry = true;
    r->sections->functions[function].is_entry = true;
}

static void read_line(section_reader *r, hd_scan l)
{
    hd_scan_blanks(&l);
    if (is_target(l))
        r->cubin++;
    else if (hd_scan_take(&l, ".section") && l.at < l.end && hd_is_blank(*l.at)) {
        begin_section(r, &l);
    } else if (hd_scan_take(&l, ".other")) {
        note_entry(r, &l);
    } else if (r->kind == SHARED) {
        add_shared(r, &l);
    } else if (r->kind == INFO) {
        if (hd_scan_take(&l, "//----- nvinfo : EIATTR_")) {
            begin_attribute(r, &l);
            return;
        }
        const char *comment = hd_scan_take(&l, "/*") ? memmem(l.at, (size_t)(l.end - l.at), "*/", 2) : NULL;
        l.at = comment ? comment + 2 : l.at;
        hd_scan_blanks(&l);
        read_data(r, &l);
    }
}

static bool next_line(const char **at, const char *end, hd_scan *line)
{
    if (*at >= end)
        return false;
    const char *newline = memchr(*at, '\n', (size_t)(end - *at)), *stop = newline ? newline : end;
    *line = (hd_scan){*at, stop > *at && stop[-1] == '\r' ? stop - 1 : stop};
    *at = stop + 1;
    return true;
}

/* Functions are in the order of the text. */
static void index_functions(section_reader *r, hd_arena *arena)
{
    const hd_module *m = r->module;
    const char *at = m->source->text, *end = at + m->source->length;
    uint32_t count = m->functions.count, f = 0, cubin = 0;
    r->cubin_of = HD_ARENA_ARRAY(arena, uint32_t, count + 1);
    r->next_of = HD_ARENA_ARRAY(arena, uint32_t, count + 1);
    r->first_of = HD_ARENA_ARRAY(arena, uint32_t, m->names.entries.count + 1);
    for (hd_scan line; next_line(&at, end, &line);) {
        for (; f < count && m->functions.items[f]->header_span.begin < line.at - m->source->text; f++)
            r->cubin_of[f] = cubin;
        cubin += is_target(line);
    }
    for (; f < count; f++)
        r->cubin_of[f] = cubin;
    memset(r->first_of, 0xff, (m->names.entries.count + 1) * sizeof *r->first_of);
    while (f-- > 0) {
        hd_name name = m->functions.items[f]->name;
        r->next_of[f] = r->first_of[name];
        r->first_of[name] = f;
    }
}

report_sections report_read_sections(const hd_module *module, hd_arena *arena)
{
    report_sections sections = {.functions = HD_ARENA_ARRAY(arena, report_section, module->functions.count + 1)};
    section_reader r = {.module = module, .sections = &sections, .function = HD_NONE};
    const char *at = module->source->text, *end = at + module->source->length;
    index_functions(&r, arena);
    for (hd_scan line; next_line(&at, end, &line);)
        read_line(&r, line);
    for (uint32_t f = 0; f < module->functions.count; f++) {
        report_section *s = &sections.functions[f];
        if (module->functions.items[f]->machine->sm >= FIRST_SM_WITH_RESERVE && s->shared_bytes >= RESERVED_BYTES)
            s->shared_bytes -= RESERVED_BYTES;
    }
    return sections;
}
