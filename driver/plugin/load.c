/* Loads a shared object, looks at all that it wants to register, and registers it, or nothing of it. */
#include "driver/plugin/load.h"
#include "base/hash.h"
#include "base/loaded.h"
#include "base/search.h"
#include "ir/form.h"

#include <ctype.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_PLUGINS = 16 };
static const hd_plugin *loaded[MOST_PLUGINS];
static uint32_t loaded_count;

typedef struct loading {
    const char *path;
    const hd_plugin *plugin;
    hd_diagnostics *diagnostics;
    bool refused;
} loading;

__attribute__((format(printf, 2, 3))) static void refuse(loading *l, const char *format, ...)
{
    char text[1 << 12];
    va_list list;
    if (l->refused)
        return;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    hd_report(l->diagnostics, HD_DIAG_BAD_PLUGIN, NULL, (hd_span){0, 0}, "plug-in '%s': %s", l->path, text);
    l->refused = true;
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

const char *hd_plugin_folder(hd_arena *arena)
{
    const char *given = getenv("HEDDLE_PLUGINS");
    char self[PATH_MAX];
    if (given && *given)
        return given;
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length < 0 ? 0 : length] = '\0';
    char *slash = strrchr(self, '/');
    return slash ? hd_arena_printf(arena, "%.*s/../lib/heddle/plugins", (int)(slash - self), self) : "plugins";
}

const char *hd_plugin_file(hd_arena *arena, const char *name)
{
    size_t length = strlen(name);
    bool is_file = strchr(name, '/') || (length > 3 && strcmp(name + length - 3, ".so") == 0);
    return is_file ? name : hd_arena_printf(arena, "%s/%s.so", hd_plugin_folder(arena), name);
}

/* dlopen looks for a name without '/' elsewhere. */
static void *open_object(loading *l, hd_arena *arena)
{
    const char *path = strchr(l->path, '/') ? l->path : hd_arena_printf(arena, "./%s", l->path);
    if (access(path, R_OK) != 0) {
        refuse(l, "the file cannot be read: %s", strerror(errno));
        return NULL;
    }
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!object)
        refuse(l, "it cannot be loaded: %s", dlerror());
    return object;
}

static void read_head(loading *l, void *object)
{
    const hd_plugin *p = l->plugin = dlsym(object, "heddle_plugin");
    if (!p)
        refuse(l, "it is a library, but no plug-in of heddle: it does not define 'heddle_plugin'");
    else if (p->abi != HD_PLUGIN_ABI)
        refuse(l, "it has version %" PRIu32 " of the interface of plug-ins, and this heddle has version %d", p->abi,
               HD_PLUGIN_ABI);
    else if (p->size != sizeof *p || p->headers != HD_PLUGIN_HEADERS)
        refuse(l, "it was compiled with the headers of another heddle: compile it anew");
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static bool is_name(const char *text)
{
    const char *c = text;
    while (c && (isalnum((unsigned char)*c) || (*c && strchr("-+_", *c))))
        c++;
    return c && c != text && !*c;
}

/* A name that the table and the rows before it have not. `what` is what it names. */
static void need_name(loading *l, const char *what, const char *name, bool taken)
{
    if (!is_name(name))
        refuse(l, "'%s' is no name of %s: it takes letters, digits, '-', '+' and '_'", name ? name : "", what);
    else if (taken)
        refuse(l, "%s named '%s' is there already", what, name);
}

/* Whether one of the first `count` rows, of which each begins with its name, has the name. */
#define IS_AMONG(rows, count, name) (hd_find_row(rows, sizeof *(rows), count, name, strlen(name)) < (count))

static bool has_technique(const hd_plugin *p, const char *spelling)
{
    return IS_AMONG(p->techniques, p->technique_count, spelling) || hd_technique_find(spelling, strlen(spelling)) >= 0;
}

/* Also of what the command line takes for a technique. */
static bool names_model(const char *name)
{
    bool found = hd_rf_model_find(name, strlen(name)) != NULL;
    for (uint32_t i = 0; i < hd_rf_family_count; i++)
        found = found || strcmp(hd_rf_families[i].name, name) == 0;
    return found;
}

static void look_at_techniques(loading *l)
{
    const hd_plugin *p = l->plugin;
    for (uint32_t i = 0; i < p->technique_count && !l->refused; i++) {
        const hd_technique_info *t = &p->techniques[i];
        need_name(l, "a technique", t->spelling,
                  t->spelling && (IS_AMONG(p->techniques, i, t->spelling) || names_model(t->spelling) ||
                                  hd_technique_find(t->spelling, strlen(t->spelling)) >= 0));
        if (!l->refused && (!t->name || !t->paper || !t->pass || !t->summary || !t->paper->authors ||
                            !t->paper->title || !t->paper->venue))
            refuse(l,
                   "technique '%s' lacks a column: name, paper, pass and summary are texts, \"\" where there is none",
                   t->spelling);
        if (!l->refused && *t->pass && !IS_AMONG(p->passes, p->pass_count, t->pass) &&
            !hd_pass_find(t->pass, strlen(t->pass)))
            refuse(l, "technique '%s' names the pass '%s', which is nowhere", t->spelling, t->pass);
    }
}

/* In the extended spelling, annotations are modifiers beside those of PTX, and types. */
static bool is_word_of_ptx(const char *name)
{
    for (int m = HD_MOD_NONE + 1; m < HD_MODIFIER_COUNT; m++)
        if (strcmp(hd_modifier_spelling((hd_modifier)m), name) == 0)
            return true;
    return hd_type_from_spelling(name, strlen(name)) != HD_TYPE_NONE;
}

/* As its spelling in the text needs it. */
static bool is_annotation_name(const char *name) { return isalpha((unsigned char)*name) && !strpbrk(name, "-+"); }

static void look_at_annotations(loading *l)
{
    const hd_plugin *p = l->plugin;
    for (uint32_t i = 0; i < p->annotation_count && !l->refused; i++) {
        const hd_annotation_info *a = &p->annotations[i];
        bool taken = a->name && hd_annotation_find_name(a->name, strlen(a->name));
        const hd_annotation_info *same = hd_annotation_find(a->number);
        for (uint32_t k = 0; k < i; k++) {
            taken = taken || strcmp(p->annotations[k].name, a->name) == 0;
            same = p->annotations[k].number == a->number ? &p->annotations[k] : same;
        }
        need_name(l, "an annotation", a->name, taken);
        if (l->refused)
            break;
        if (!is_annotation_name(a->name))
            refuse(l, "'%s' is no name of an annotation: it takes a letter, then letters, digits and '_'", a->name);
        else if (is_word_of_ptx(a->name))
            refuse(l,
                   "annotation '%s' has the name of a modifier or a type of PTX, which '.%s' in the extended spelling "
                   "would mean: choose another name",
                   a->name, a->name);
        else if (a->number < HD_ANNOTATION_PLUGINS || a->number >= HD_ANNOTATION_PLUGINS_END)
            refuse(l, "annotation '%s' has the number %u: those of plug-ins are %d to %d", a->name, a->number,
                   HD_ANNOTATION_PLUGINS, HD_ANNOTATION_PLUGINS_END - 1);
        else if (same)
            refuse(l, "annotation '%s' has the number %u, which '%s' has already", a->name, a->number, same->name);
        else if (!a->technique || !has_technique(p, a->technique))
            refuse(l, "annotation '%s' is of no technique", a->name);
        else if (a->anchor > HD_ANCHOR_SOURCE || a->value > HD_VALUE_NUMBERS || !a->words || !a->summary ||
                 (a->value == HD_VALUE_CHOICE) != (*a->words != '\0'))
            refuse(l, "annotation '%s' has a column with a wrong value: anchor, value, words or summary", a->name);
    }
}

static void look_at_passes(loading *l)
{
    const hd_plugin *p = l->plugin;
    for (uint32_t i = 0; i < p->pass_count && !l->refused; i++) {
        const hd_pass_info *pass = &p->passes[i];
        bool taken = pass->name && (IS_AMONG(p->passes, i, pass->name) || hd_pass_find(pass->name, strlen(pass->name)));
        for (uint32_t k = 0; k < hd_pass_alias_count && pass->name; k++)
            taken = taken || strcmp(hd_pass_aliases[k].name, pass->name) == 0;
        need_name(l, "a pass", pass->name, taken);
        if (!l->refused && (!pass->run || !pass->summary || !pass->options))
            refuse(l, "pass '%s' lacks a column: run, summary or options", pass->name);
    }
    for (uint32_t i = 0; i < p->checker_count && !l->refused; i++)
        if (!p->checkers[i].run || !p->checkers[i].technique || !has_technique(p, p->checkers[i].technique))
            refuse(l, "a checker lacks its function, or is of no technique");
}

static void look_at_counters(loading *l)
{
    const hd_plugin *p = l->plugin;
    if (p->counter_count && !p->first_counter)
        refuse(l, "it has counters, and no 'first_counter' to learn their numbers");
    for (uint32_t i = 0; i < p->counter_count && !l->refused; i++) {
        const hd_counter_info *c = &p->counters[i];
        need_name(l, "a counter", c->key,
                  c->key && (IS_AMONG(p->counters, i, c->key) || IS_AMONG(hd_counters, hd_counter_count, c->key)));
        if (!l->refused && (!c->title || c->group > HD_COUNTS_MOST || c->energy >= HD_ENERGY_COUNT))
            refuse(l, "counter '%s' has a column with a wrong value: title, group or energy", c->key);
    }
}

static bool fits_headline(const hd_plugin *p, const hd_rf_headline_info *h)
{
    const uint16_t counters[] = {h->part, h->whole, h->needs};
    bool fits = h->title && h->meaning && h->otherwise && h->kind <= HD_HEADLINE_VARIATION;
    for (uint32_t i = 0; i < sizeof counters / sizeof *counters; i++)
        fits = fits &&
               (counters[i] & 0x8000 ? (counters[i] & 0x7fff) < p->counter_count : counters[i] < HD_COUNTER_BUILT_IN);
    return fits;
}

static void look_at_models(loading *l)
{
    const hd_plugin *p = l->plugin;
    for (uint32_t i = 0; i < p->model_count && !l->refused; i++) {
        const hd_rf_model_info *m = &p->models[i].row;
        bool taken = m->name && names_model(m->name);
        for (uint32_t k = 0; k < i; k++)
            taken = taken || strcmp(p->models[k].row.name, m->name) == 0;
        need_name(l, "a model", m->name, taken);
        if (l->refused)
            break;
        if (!m->ops || !m->ops->create || !m->ops->destroy || !m->ops->execute)
            refuse(l, "model '%s' has no 'create', 'destroy' or 'execute'", m->name);
        else if (!m->pass || !m->options || !m->summary)
            refuse(l, "model '%s' lacks a column: pass, options or summary, \"\" where there is none", m->name);
        else if (!m->technique || !has_technique(p, m->technique))
            refuse(l, "model '%s' is of no technique", m->name);
        else if (m->headline && !fits_headline(p, m->headline))
            refuse(l, "the headline of model '%s' lacks a text, or names a counter that there is not", m->name);
    }
    for (uint32_t i = 0; i < p->option_count && !l->refused; i++) {
        const hd_rf_option_info *o = &p->options[i];
        need_name(l, "an option", o->name, false);
        if (!l->refused && (!o->ops || !o->summary || !o->pass || o->least > o->most))
            refuse(l, "option '%s' has a column with a wrong value: ops, least, most, pass or summary", o->name);
    }
}

static void look_at(loading *l)
{
    const hd_plugin *p = l->plugin;
    bool taken = false;
    for (uint32_t i = 0; i < loaded_count && p->name; i++)
        taken = taken || strcmp(loaded[i]->name, p->name) == 0;
    need_name(l, "a plug-in", p->name, taken);
    if (!l->refused && (!p->version || !p->license))
        refuse(l, "it does not say its version, or its licence");
    look_at_techniques(l);
    look_at_annotations(l);
    look_at_passes(l);
    look_at_counters(l);
    look_at_models(l);
}

/* ---- the rows ---------------------------------------------------------------------------------------------------- */

/* What a headline names is a counter of its own, or one that all have. */
static uint16_t counter_of(uint16_t named, uint32_t first) { return named & 0x8000 ? (named & 0x7fff) + first : named; }

static const hd_rf_headline_info *own_headline(const hd_rf_headline_info *headline, uint32_t first)
{
    static hd_rf_headline_info headlines[HD_PLUGIN_ROWS];
    static uint32_t count;
    if (!headline || count == HD_PLUGIN_ROWS)
        return NULL;
    hd_rf_headline_info *own = &headlines[count++];
    *own = *headline;
    own->part = counter_of(own->part, first);
    own->whole = counter_of(own->whole, first);
    own->needs = counter_of(own->needs, first);
    return own;
}

static bool add_models(const hd_plugin *p, uint32_t first_counter)
{
    bool fits = true;
    for (uint32_t i = 0; i < p->model_count && fits; i++) {
        hd_rf_model_info row = p->models[i].row;
        row.headline = own_headline(row.headline, first_counter);
        fits = hd_rf_model_add(&row, p->models[i].standard_title);
    }
    for (uint32_t i = 0; i < p->option_count && fits; i++)
        fits = hd_rf_option_add(&p->options[i]);
    return fits;
}

/* false: some table has no room. */
static bool add_rows(const hd_plugin *p)
{
    uint32_t first_counter = hd_counter_count;
    bool fits = loaded_count < MOST_PLUGINS;
    for (uint32_t i = 0; i < p->technique_count && fits; i++)
        fits = hd_technique_add(&p->techniques[i]);
    for (uint32_t i = 0; i < p->annotation_count && fits; i++)
        fits = hd_annotation_add(&p->annotations[i]);
    for (uint32_t i = 0; i < p->pass_count && fits; i++)
        fits = hd_pass_add(&p->passes[i]);
    for (uint32_t i = 0; i < p->checker_count && fits; i++)
        fits = hd_checker_add(&p->checkers[i]);
    for (uint32_t i = 0; i < p->counter_count && fits; i++)
        fits = hd_counter_add_row(&p->counters[i]);
    if (p->counter_count)
        *p->first_counter = (hd_counter)first_counter;
    fits = fits && add_models(p, first_counter);
    if (fits)
        loaded[loaded_count++] = p;
    return fits;
}

/* Results say what was loaded, and whether it was another version: by the content of the file. */
static void say_loaded(const loading *l)
{
    hd_source file;
    uint64_t hash = 0;
    if (hd_source_read(&file, l->path)) {
        hash = hd_hash(file.text, file.length);
        hd_source_free(&file);
    }
    hd_loaded_add(l->plugin->name, l->plugin->version, hash);
}

const hd_plugin *hd_plugin_load(const char *name, hd_diagnostics *diagnostics)
{
    hd_arena arena;
    hd_arena_init(&arena);
    loading l = {.path = hd_plugin_file(&arena, name), .diagnostics = diagnostics};
    void *object = open_object(&l, &arena);
    if (object)
        read_head(&l, object);
    if (!l.refused)
        look_at(&l);
    if (!l.refused && !add_rows(l.plugin))
        refuse(&l, "there is no room for its rows: all plug-ins together have at most %d of a kind", HD_PLUGIN_ROWS);
    if (!l.refused)
        say_loaded(&l);
    hd_arena_free(&arena);
    return l.refused ? NULL : l.plugin;
}
