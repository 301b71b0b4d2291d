/* Links PTX modules: see link.h. Works on the texts: a module's statements are copied with the names that change. */
#include "parser/link.h"
#include "base/hash.h"
#include "base/index.h"
#include "base/search.h"
#include "parser/parse.h"
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

typedef struct link_module {
    hd_source source; /* a copy: the parser takes it */
    hd_module *module;
    uint32_t space, file_base; /* file_base: added to the numbers of .file */
    const char **renamed;      /* by hd_name; NULL: remains */
} link_module;

/* What a name means: one entity in the linked text. */
typedef struct link_entity {
    const char *name, *now;
    uint32_t space, owner; /* space: HD_NONE: all; owner: the module of a local name, else HD_NONE */
    uint32_t defined;      /* the first module that defines it, or HD_NONE */
    bool strong, emitted;  /* emitted: its definition, or the declaration of what nobody defines */
} link_entity;

typedef struct linker {
    link_module *modules;
    uint32_t count;
    hd_link_result *result;
    hd_diagnostics *diagnostics;
    HD_ARRAY(link_entity) entities;
    hd_index by_key, by_name; /* by_name: by name in the result */
    bool good;
} linker;

/* ---- entities ---------------------------------------------------------------------------------------------------- */

static uint64_t key_of(const char *name, uint32_t space, uint32_t owner)
{
    return hd_hash(name, strlen(name)) ^ ((uint64_t)space << 32 | owner) * 0x9e3779b97f4a7c15ull;
}

static uint32_t find_entity(const linker *l, const char *name, uint32_t space, uint32_t owner)
{
    uint64_t hash = key_of(name, space, owner);
    for (uint32_t at = hd_index_first(&l->by_key, hash); at != HD_INDEX_END; at = hd_index_next(&l->by_key, hash, at)) {
        const link_entity *e = &l->entities.items[l->by_key.slots[at].number];
        if (e->space == space && e->owner == owner && strcmp(e->name, name) == 0)
            return l->by_key.slots[at].number;
    }
    return HD_NONE;
}

static uint32_t need_entity(linker *l, const char *name, uint32_t space, uint32_t owner)
{
    uint32_t found = find_entity(l, name, space, owner);
    if (found != HD_NONE)
        return found;
    found = l->entities.count;
    name = hd_arena_string(&l->result->arena, name, strlen(name));
    hd_array_push(&l->entities, (link_entity){.name = name, .space = space, .owner = owner, .defined = HD_NONE});
    hd_index_add(&l->by_key, key_of(name, space, owner), found);
    return found;
}

static bool is_local(const hd_symbol *s)
{
    return s->linkage == HD_LINKAGE_NONE || (s->linkage == HD_LINKAGE_EXTERN && s->space == HD_SPACE_SHARED);
}

static bool defines(const hd_module *m, const hd_symbol *s)
{
    if (s->kind == HD_SYMBOL_FUNCTION)
        return s->function != HD_NONE && m->functions.items[s->function]->has_body;
    return s->linkage != HD_LINKAGE_EXTERN || s->space == HD_SPACE_SHARED;
}

static bool is_of_module(const hd_symbol *s)
{
    return s->kind == HD_SYMBOL_FUNCTION || (s->kind == HD_SYMBOL_VARIABLE && s->function == HD_NONE);
}

/* A forward declaration without linkage belongs to a definition that may have one. */
static bool is_local_in(const hd_module *m, const hd_symbol *s)
{
    const hd_function *f = s->kind == HD_SYMBOL_FUNCTION ? hd_module_function(m, s->name) : NULL;
    return f ? f->linkage == HD_LINKAGE_NONE : is_local(s);
}

static uint32_t entity_of(const linker *l, uint32_t module, const hd_symbol *s)
{
    const link_module *m = &l->modules[module];
    const char *name = hd_names_text(&m->module->names, s->name);
    if (is_local_in(m->module, s))
        return find_entity(l, name, m->space, module);
    return find_entity(l, name, m->space, HD_NONE);
}

static void define(linker *l, uint32_t module, const hd_symbol *s, link_entity *e)
{
    bool strong = s->linkage == HD_LINKAGE_VISIBLE;
    if (e->defined != HD_NONE && e->defined != module && strong && e->strong) {
        hd_report(l->diagnostics, HD_DIAG_REDECLARED, NULL, (hd_span){0, 0},
                  "'%s' is defined in two of the modules that are linked", e->name);
        l->good = false;
    }
    if (e->defined == HD_NONE || (strong && !e->strong))
        e->defined = module;
    e->strong = e->strong || strong;
}

static void collect(linker *l, uint32_t module)
{
    const link_module *m = &l->modules[module];
    for (uint32_t i = 0; i < m->module->symbols.count; i++) {
        const hd_symbol *s = &m->module->symbols.items[i];
        if (!is_of_module(s))
            continue;
        uint32_t owner = is_local_in(m->module, s) ? module : HD_NONE;
        uint32_t at = need_entity(l, hd_names_text(&m->module->names, s->name), m->space, owner);
        if (defines(m->module, s))
            define(l, module, s, &l->entities.items[at]);
    }
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static uint32_t named(const linker *l, const char *name)
{
    uint64_t hash = hd_hash(name, strlen(name));
    for (uint32_t at = hd_index_first(&l->by_name, hash); at != HD_INDEX_END; at = hd_index_next(&l->by_name, hash, at))
        if (strcmp(l->entities.items[l->by_name.slots[at].number].now, name) == 0)
            return l->by_name.slots[at].number;
    return HD_NONE;
}

/* Functions that no module defines are those of the device runtime: one for all spaces. */
static bool is_of_runtime(const link_entity *e) { return e->defined == HD_NONE && e->owner == HD_NONE; }

static void name_entities(linker *l)
{
    hd_arena *arena = &l->result->arena;
    for (uint32_t i = 0; i < l->entities.count; i++) {
        link_entity *e = &l->entities.items[i];
        uint32_t other;
        e->now = e->name;
        for (uint32_t k = 2; (other = named(l, e->now)) != HD_NONE; k++) {
            if (is_of_runtime(e) && is_of_runtime(&l->entities.items[other]))
                break;
            e->now = hd_arena_printf(arena, "%s$%u", e->name, k);
        }
        if (other == HD_NONE)
            hd_index_add(&l->by_name, hd_hash(e->now, strlen(e->now)), i);
        if (strcmp(e->now, e->name) != 0)
            hd_array_push(&l->result->renamed, (hd_link_name){e->space, e->name, e->now});
    }
}

static void note_renamed(linker *l, uint32_t module)
{
    link_module *m = &l->modules[module];
    m->renamed = HD_ARENA_ARRAY(&l->result->arena, const char *, m->module->names.entries.count + 1);
    for (uint32_t i = 0; i < m->module->symbols.count; i++) {
        const hd_symbol *s = &m->module->symbols.items[i];
        if (!is_of_module(s))
            continue;
        const link_entity *e = &l->entities.items[entity_of(l, module, s)];
        m->renamed[s->name] = strcmp(e->now, e->name) ? e->now : NULL;
    }
}

const char *hd_link_find(const hd_link_result *result, uint32_t space, const char *name)
{
    for (uint32_t i = 0; i < result->renamed.count; i++)
        if (result->renamed.items[i].space == space && strcmp(result->renamed.items[i].was, name) == 0)
            return result->renamed.items[i].now;
    return name;
}

/* ---- texts ------------------------------------------------------------------------------------------------------- */

static bool is_name_character(char c) { return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '%'; }

/* After a comment or a string that starts there; else the same. */
static const char *skip(const char *at, const char *end)
{
    if (*at == '/' && at[1] == '/') {
        while (at < end && *at != '\n')
            at++;
    } else if (*at == '/' && at[1] == '*') {
        for (at += 2; at < end && !(at[-1] == '*' && *at == '/' && at[-2] != '/'); at++)
            ;
        at += at < end;
    } else if (*at == '"') {
        for (at++; at < end && *at != '"'; at++)
            at += *at == '\\';
        at += at < end;
    }
    return at < end ? at : end;
}

typedef struct copying {
    linker *linker;
    const link_module *module;
    uint32_t number; /* of the module */
    bool file_next;  /* the next number is one of a file */
    bool visible;    /* .extern is written as .visible */
} copying;

static void copy_name(copying *c, const char *name, size_t length, bool part)
{
    hd_writer *to = &c->linker->result->text;
    const hd_names *names = &c->module->module->names;
    hd_name found = part ? HD_NO_NAME : hd_names_find(names, name, length);
    static const char label[] = "$L__info_string";
    if (c->file_next && isdigit((unsigned char)*name)) {
        hd_write_u64(to, strtoull(name, NULL, 10) + c->module->file_base);
        c->file_next = false;
        return;
    }
    if (found != HD_NO_NAME && c->module->renamed[found]) {
        hd_write_string(to, c->module->renamed[found]);
        return;
    }
    hd_write(to, name, length);
    if (c->number && length >= sizeof label && memcmp(name, label, sizeof label - 1) == 0)
        hd_write_format(to, "$%u", c->number + 1);
}

static void copy_span(copying *c, hd_span span)
{
    hd_writer *to = &c->linker->result->text;
    const char *text = c->module->source.text, *at = text + span.begin, *end = text + span.end;
    while (at < end) {
        const char *after = skip(at, end);
        if (after != at) {
            hd_write(to, at, (size_t)(after - at));
        } else if (is_name_character(*at)) {
            while (after < end && is_name_character(*after))
                after++;
            size_t length = (size_t)(after - at);
            bool directive = at > text && at[-1] == '.';
            if (directive && c->visible && hd_is_name(at, length, "extern"))
                hd_write_string(to, "visible");
            else
                copy_name(c, at, length, directive || (after < end && *after == '.'));
            c->file_next = c->file_next ||
                           (directive && (hd_is_name(at, length, "loc") || hd_is_name(at, length, "file"))) ||
                           hd_is_name(at, length, "inlined_at");
        } else {
            hd_write_char(to, *at);
            after++;
        }
        at = after;
    }
    hd_write_char(to, '\n');
}

/* ---- statements -------------------------------------------------------------------------------------------------- */

static link_entity *entity_of_function(linker *l, uint32_t module, const hd_function *f)
{
    return &l->entities.items[entity_of(l, module, &l->modules[module].module->symbols.items[f->symbol])];
}

static void copy_prototype(copying *c, const hd_function *f, hd_span span)
{
    link_entity *e = entity_of_function(c->linker, c->number, f);
    if (f->has_body || (is_of_runtime(e) && e->emitted))
        return;
    if (is_of_runtime(e)) {
        uint32_t first = named(c->linker, e->now);
        if (c->linker->entities.items[first].emitted)
            return;
        e->emitted = c->linker->entities.items[first].emitted = true;
    }
    c->visible = !is_of_runtime(e);
    copy_span(c, span);
    c->visible = false;
}

static void copy_function(copying *c, const hd_function *f, hd_span span)
{
    link_entity *e = entity_of_function(c->linker, c->number, f);
    if (f->has_body && e->defined == c->number)
        copy_span(c, span);
}

static void copy_variables(copying *c, const hd_group *group, hd_span span)
{
    linker *l = c->linker;
    const hd_module *m = c->module->module;
    bool wanted = false;
    for (uint32_t i = 0; i < group->count; i++) {
        const hd_symbol *s = &m->symbols.items[group->first + i];
        link_entity *e = &l->entities.items[entity_of(l, c->number, s)];
        wanted = wanted || (e->defined == c->number && defines(m, s)) || (is_of_runtime(e) && !e->emitted);
        e->emitted = e->emitted || is_of_runtime(e);
    }
    if (wanted)
        copy_span(c, span);
}

static void copy_verbatim(copying *c, const hd_verbatim *v, hd_span span)
{
    static const char ours[] = ".heddle";
    bool header =
        v->kind == HD_VERBATIM_VERSION || v->kind == HD_VERBATIM_TARGET || v->kind == HD_VERBATIM_ADDRESS_SIZE;
    const char *section = v->kind == HD_VERBATIM_SECTION ? hd_names_text(&c->module->module->names, v->name) : "";
    if (!header && strcmp(section, ours) != 0)
        copy_span(c, span);
}

typedef enum link_phase { PROTOTYPES, VARIABLES, FUNCTIONS, LINK_PHASES } link_phase;

static void copy_statements(linker *l, uint32_t number, link_phase phase)
{
    copying c = {.linker = l, .module = &l->modules[number], .number = number};
    const hd_module *m = c.module->module;
    for (uint32_t i = 0; i < m->statements.count; i++) {
        const hd_statement *s = &m->statements.items[i];
        if (s->kind == HD_STATEMENT_FUNCTION && phase == PROTOTYPES)
            copy_prototype(&c, m->functions.items[s->index], s->span);
        else if (s->kind == HD_STATEMENT_FUNCTION && phase == FUNCTIONS)
            copy_function(&c, m->functions.items[s->index], s->span);
        else if (s->kind == HD_STATEMENT_VARIABLES && phase == VARIABLES)
            copy_variables(&c, &m->variable_groups.items[s->index], s->span);
        else if (s->kind == HD_STATEMENT_VERBATIM && phase == FUNCTIONS)
            copy_verbatim(&c, &m->verbatims.items[s->index], s->span);
    }
}

/* The lowest target of the modules of that one's space: the device runtime has PTX only for later ones than the
 * program, which runs on what all its objects were compiled for. */
static const hd_module *lowest_of_space(const linker *l, uint32_t number)
{
    const hd_module *lowest = l->modules[number].module;
    for (uint32_t i = 0; i < l->count; i++)
        if (l->modules[i].space == l->modules[number].space &&
            l->modules[i].module->target_number < lowest->target_number)
            lowest = l->modules[i].module;
    return lowest;
}

static void write_header(linker *l)
{
    const hd_module *version = l->modules[0].module, *target = lowest_of_space(l, 0);
    for (uint32_t i = 1; i < l->count; i++) {
        const hd_module *m = l->modules[i].module, *lowest = lowest_of_space(l, i);
        if (m->version_major * 100 + m->version_minor > version->version_major * 100 + version->version_minor)
            version = m;
        if (lowest->target_number > target->target_number)
            target = lowest;
    }
    hd_write_format(&l->result->text, ".version %u.%u\n.target %s\n.address_size %u\n", version->version_major,
                    version->version_minor, hd_names_text(&target->names, target->target), version->address_bits);
}

/* ---- all --------------------------------------------------------------------------------------------------------- */

static void parse(linker *l, const hd_source *sources, const uint32_t *spaces)
{
    hd_parse_options options = {.ignore_annotations = true};
    uint32_t files = 0;
    for (uint32_t i = 0; i < l->count; i++) {
        link_module *m = &l->modules[i];
        m->space = spaces[i];
        m->file_base = files;
        hd_source_from_memory(&m->source, sources[i].name, sources[i].text, sources[i].length);
        m->module = hd_parse_ptx(&m->source, &options, l->diagnostics);
        hd_array_push(&l->result->modules, m->module);
        for (uint32_t k = 0; k < m->module->files.count; k++)
            files = m->module->files.items[k].number + m->file_base > files
                        ? m->module->files.items[k].number + m->file_base
                        : files;
    }
    l->good = l->good && !l->diagnostics->error_count;
}

bool hd_link_ptx(const hd_source *sources, const uint32_t *spaces, uint32_t count, hd_link_result *result,
                 hd_diagnostics *diagnostics)
{
    linker l = {.count = count, .result = result, .diagnostics = diagnostics, .good = true};
    hd_writer_to_memory(&result->text);
    if (count == 1) {
        hd_write(&result->text, sources[0].text, sources[0].length);
        return true;
    }
    l.modules = HD_ARENA_ARRAY(&result->arena, link_module, count);
    parse(&l, sources, spaces);
    for (uint32_t i = 0; i < count && l.good; i++)
        collect(&l, i);
    if (l.good) {
        name_entities(&l);
        write_header(&l);
        for (uint32_t i = 0; i < count; i++)
            note_renamed(&l, i);
        for (uint32_t phase = 0; phase < LINK_PHASES; phase++)
            for (uint32_t i = 0; i < count; i++)
                copy_statements(&l, i, (link_phase)phase);
    }
    hd_array_free(&l.entities);
    hd_index_free(&l.by_key);
    hd_index_free(&l.by_name);
    return l.good;
}

void hd_link_free(hd_link_result *result)
{
    for (uint32_t i = 0; i < result->modules.count; i++)
        hd_module_free(result->modules.items[i]);
    hd_array_free(&result->modules);
    hd_array_free(&result->renamed);
    hd_writer_free(&result->text);
    hd_arena_free(&result->arena);
}
