/* Parses a pass list: NAME [ '(' KEY ['=' VALUE] { ',' KEY ['=' VALUE] } ')' ] { ',' NAME ... }.
 *
 * A NAME may also be an alias of passes/aliases.def, which expands to its passes.
 *
 * Names and option kinds are checked against passes/passes.def, so that a misspelt pass or option is reported with its
 * location in the list before any file is modified. */
#include "passes/manager/pipeline.h"
#include "base/option_list.h"
#include "base/search.h"

#include "base/suggest.h"

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>

enum {
#define HD_PASS(name, run, needs, keeps, options, summary) PASS_##run,
#include "passes/passes.def"
#undef HD_PASS
    PASSES
};
static hd_pass_info rows[PASSES + HD_PLUGIN_ROWS] = {
#define HD_PASS(name, run, needs, keeps, options, summary) {name, summary, options, run, needs, keeps},
#include "passes/passes.def"
#undef HD_PASS
};
const hd_pass_info *const hd_passes = rows;
uint32_t hd_pass_count = PASSES;

bool hd_pass_add(const hd_pass_info *row) { return HD_ADD_ROW(rows, hd_pass_count, row); }

const hd_pass_alias hd_pass_aliases[] = {
#define HD_PASS_ALIAS(name, passes, summary) {name, passes, summary},
#include "passes/aliases.def"
#undef HD_PASS_ALIAS
};
const uint32_t hd_pass_alias_count = sizeof hd_pass_aliases / sizeof *hd_pass_aliases;

typedef struct composition {
    const char *first, *second, *reason;
    bool excludes;
} composition;
static const composition compositions[] = {
#define HD_ORDER(first, second, reason) {first, second, reason, false},
#define HD_EXCLUDE(one, other, reason) {one, other, reason, true},
#include "passes/composition.def"
#undef HD_ORDER
#undef HD_EXCLUDE
};

typedef struct reader {
    hd_pipeline *pipeline;
    hd_diagnostics *diagnostics;
    hd_option_cursor in;
    bool failed;
    const hd_span *alias; /* for the list of an alias: the alias's name in the user's list */
} reader;

const hd_pass_info *hd_pass_find(const char *name, size_t length)
{
    uint32_t found = HD_FIND_ROW(hd_passes, hd_pass_count, name, name, length);
    return found < hd_pass_count ? &hd_passes[found] : NULL;
}

/* By its name, or by what a paper calls its technique, in upper or lower case: "RFV" is `release`. */
static const hd_pass_info *find_meant(const char *name)
{
    const hd_pass_info *pass = hd_pass_find(name, strlen(name));
    for (uint32_t t = 0; t < hd_technique_count && !pass; t++)
        if (strcasecmp(hd_techniques[t].name, name) == 0)
            pass = hd_pass_find(hd_techniques[t].pass, strlen(hd_techniques[t].pass));
    return pass;
}

/* All names, for the message; the name nearest to a misspelt one in `near`. */
static const char *all_pass_names(hd_arena *arena, hd_suggestion *near)
{
    const char *list = "";
    for (uint32_t i = 0; i < hd_pass_count + hd_pass_alias_count; i++) {
        const char *name = i < hd_pass_count ? hd_passes[i].name : hd_pass_aliases[i - hd_pass_count].name;
        list = hd_arena_printf(arena, "%s%s%s", list, i ? ", " : "", name);
        hd_suggest_from(near, name);
    }
    return list;
}

/* The kind of option `key` in a row's "key=KIND,key=KIND" list: its text and length, or NULL if the pass has no such
 * option. */
static const char *option_kind(const char *list, const char *key, size_t *length)
{
    const char *kind = hd_option_find(list, key);
    *length = kind ? strcspn(kind + 1, ",") : 0;
    return kind ? kind + 1 : NULL;
}

/* Parses a kind "from..to". */
static bool is_range(const char *kind, size_t length, uint64_t *from, uint64_t *to)
{
    char *dots;
    *from = strtoull(kind, &dots, 10);
    if (dots == kind || strncmp(dots, "..", 2) != 0)
        return false;
    *to = strtoull(dots + 2, &dots, 10);
    assert(dots == kind + length);
    return true;
}

static bool value_fits(const char *kind, size_t length, const char *value)
{
    uint64_t from, to;
    if (length == 4 && strncmp(kind, "FLAG", 4) == 0)
        return *value == '\0';
    if (is_range(kind, length, &from, &to)) {
        uint64_t number = strtoull(value, NULL, 10); /* saturates if it is too large */
        return *value && value[strspn(value, "0123456789")] == '\0' && number >= from && number <= to;
    }
    for (const char *p = kind; p < kind + length; p++) {
        size_t choice = strcspn(p, "|,");
        if (strlen(value) == choice && strncmp(p, value, choice) == 0)
            return true;
        p += choice;
    }
    return false;
}

/* Describes what the option accepts, and what was given. */
static const char *describe(hd_arena *arena, const char *kind, size_t length, const char *value)
{
    uint64_t from, to;
    const char *takes = length == 4 && strncmp(kind, "FLAG", 4) == 0
                            ? "takes no value"
                            : hd_arena_printf(arena, "takes %.*s", (int)length, kind);
    if (is_range(kind, length, &from, &to))
        takes = hd_arena_printf(arena, "takes a number from %" PRIu64 " to %" PRIu64, from, to);
    return *value ? hd_arena_printf(arena, "%s, not '%s'", takes, value)
                  : hd_arena_printf(arena, "%s, and has no value", takes);
}

static void refuse_name(reader *r, const char *name, const char *begin)
{
    char phrase[HD_SUGGEST_PHRASE];
    hd_suggestion near = hd_suggest(name);
    const char *names = all_pass_names(&r->pipeline->arena, &near);
    hd_diagnostic *d = hd_report(r->diagnostics, HD_DIAG_BAD_PASS, r->in.text, hd_option_span(&r->in, begin),
                                 "no pass is named '%s'%s", name, hd_suggest_phrase(&near, phrase));
    hd_note_add(r->diagnostics, d, NULL, (hd_span){0, 0}, "there are: %s", names);
    r->failed = true;
}

static void refuse_option(reader *r, const hd_pass_info *pass, const char *name, const char *begin)
{
    char phrase[HD_SUGGEST_PHRASE];
    hd_suggestion near = hd_suggest(name);
    for (const char *p = pass->options; *p; p += strcspn(p, ","), p += *p == ',')
        hd_suggest_from(&near, hd_arena_string(&r->pipeline->arena, p, strcspn(p, "=")));
    hd_report(r->diagnostics, HD_DIAG_BAD_PASS, r->in.text, hd_option_span(&r->in, begin),
              "pass '%s' has no option '%s'%s%s%s", pass->name, name, hd_suggest_phrase(&near, phrase),
              *pass->options ? "; it has: " : "", pass->options);
    r->failed = true;
}

static void check_option(reader *r, const hd_pass_info *pass, const hd_option *option, const char *begin)
{
    size_t length = 0;
    const char *kind = option_kind(pass->options, option->name, &length);
    if (!kind) {
        refuse_option(r, pass, option->name, begin);
    } else if (!value_fits(kind, length, option->value)) {
        hd_report(r->diagnostics, HD_DIAG_BAD_PASS, r->in.text, hd_option_span(&r->in, begin),
                  "option '%s' of pass '%s' %s", option->name, pass->name,
                  describe(&r->pipeline->arena, kind, length, option->value));
        r->failed = true;
    }
}

static void syntax(reader *r, const char *begin, const char *expected)
{
    if (!r->failed)
        hd_report(r->diagnostics, HD_DIAG_BAD_PASS, r->in.text, hd_option_span(&r->in, begin),
                  "expected %s in the pass list", expected);
    r->failed = true;
}

static void give_twice(reader *r, const hd_option *option, const char *begin)
{
    hd_report(r->diagnostics, HD_DIAG_BAD_PASS, r->in.text, hd_option_span(&r->in, begin), "option '%s' is given twice",
              option->name);
    r->failed = true;
}

static void read_options(reader *r, hd_pipeline_step *step)
{
    HD_ARRAY(hd_option) options = {0};
    do {
        hd_option_item item = hd_option_read(&r->in, &r->pipeline->arena);
        hd_option option = {item.name, item.value ? item.value : ""};
        if (!*option.name)
            syntax(r, item.begin, "an option name");
        else if (step->pass)
            check_option(r, step->pass, &option, item.begin);
        for (uint32_t i = 0; i < options.count && !r->failed; i++)
            if (strcmp(options.items[i].name, option.name) == 0)
                give_twice(r, &option, item.begin);
        hd_array_push(&options, option);
    } while (!r->failed && hd_option_take(&r->in, ','));
    if (!hd_option_take(&r->in, ')'))
        syntax(r, r->in.at, "')'");
    step->option_count = options.count;
    step->options = hd_arena_copy(&r->pipeline->arena, options.items, options.count * sizeof *options.items);
    hd_array_free(&options);
}

static void read_steps(reader *r);

/* Reads an alias as the passes that it expands to; false if the name is none. */
static bool read_alias(reader *r, const char *name, hd_span span)
{
    for (uint32_t i = 0; i < hd_pass_alias_count; i++)
        if (strcasecmp(hd_pass_aliases[i].name, name) == 0) {
            reader inner = *r;
            inner.alias = r->alias ? r->alias : &span;
            inner.in.at = hd_pass_aliases[i].passes;
            read_steps(&inner);
            r->failed |= inner.failed;
            return true;
        }
    return false;
}

static void read_step(reader *r)
{
    const char *begin, *name = hd_option_word(&r->in, &r->pipeline->arena, &begin);
    if (!*name) {
        syntax(r, begin, "the name of a pass");
        return;
    }
    hd_span span = r->alias ? *r->alias : hd_option_span(&r->in, begin);
    if (read_alias(r, name, span))
        return;
    hd_pipeline_step step = {.pass = find_meant(name), .span = span};
    if (strcmp(name, "all") == 0) {
        hd_report(r->diagnostics, HD_DIAG_BAD_PASS, r->in.text, span,
                  "'all' runs each technique on a copy of its own, and must be the only pass");
        r->failed = true;
    } else if (!step.pass) {
        refuse_name(r, name, begin);
    }
    if (hd_option_take(&r->in, '('))
        read_options(r, &step);
    hd_array_push(&r->pipeline->steps, step);
}

static void read_steps(reader *r)
{
    do
        read_step(r);
    while (!r->failed && hd_option_take(&r->in, ','));
}

/* ---- compatibility of passes ------------------------------------------------------------------------------------- */

/* Whether the alias's list contains the pass. */
static bool alias_has(const char *name, const char *pass)
{
    for (uint32_t i = 0; i < hd_pass_alias_count; i++)
        for (const char *at = hd_pass_aliases[i].passes; strcmp(hd_pass_aliases[i].name, name) == 0 && *at;
             at += strcspn(at, ","), at += *at == ',') {
            size_t length = strcspn(at, "(,");
            if (hd_is_name(at, length, pass))
                return true;
        }
    return false;
}

static bool is_meant(const char *name, const hd_pass_info *pass)
{
    if (strcmp(name, "rewrites") == 0)
        return pass->keeps != HD_KEEPS_ALL;
    if (strcmp(name, "annotates") == 0)
        return pass->keeps == HD_KEEPS_ALL;
    return strcmp(name, pass->name) == 0 || alias_has(name, pass->name);
}

/* The rule that forbids `late` after `early`; NULL: none. */
static const composition *against(const hd_pass_info *early, const hd_pass_info *late)
{
    for (uint32_t c = 0; c < sizeof compositions / sizeof *compositions; c++) {
        const composition *rule = &compositions[c];
        bool reversed = is_meant(rule->first, late) && is_meant(rule->second, early);
        bool both = reversed || (is_meant(rule->first, early) && is_meant(rule->second, late));
        if (rule->excludes ? both : reversed)
            return rule;
    }
    return NULL;
}

static bool check_two(reader *r, const hd_pipeline_step *early, const hd_pipeline_step *late)
{
    const composition *rule = against(early->pass, late->pass);
    if (rule)
        hd_report(r->diagnostics, HD_DIAG_BAD_PASS, r->in.text, late->span,
                  rule->excludes ? "'%s' and '%s' do not go together: %s" : "'%s' cannot follow '%s': %s",
                  late->pass->name, early->pass->name, rule->reason);
    return !rule;
}

static bool check_composition(reader *r)
{
    const hd_pipeline *p = r->pipeline;
    for (uint32_t late = 1; late < p->steps.count; late++)
        for (uint32_t early = 0; early < late; early++)
            if (!check_two(r, &p->steps.items[early], &p->steps.items[late]))
                return false;
    return true;
}

bool hd_pass_is_of_technique(const hd_pass_info *pass)
{
    for (uint32_t t = 0; t < hd_technique_count; t++)
        if (strcmp(hd_techniques[t].pass, pass->name) == 0)
            return true;
    return false;
}

/* The same for existing annotations. A pass of no technique drops those it invalidates, and so do passes of techniques
 * that change code with passes that only annotate. */
static const composition *against_brought(const hd_pass_info *early, const hd_pass_info *late)
{
    const composition *rule = early && early != late ? against(early, late) : NULL;
    bool dropped = !hd_pass_is_of_technique(late) || (early && early->keeps == HD_KEEPS_ALL);
    return rule && (rule->excludes || !dropped) ? rule : NULL;
}

bool hd_pass_goes_with(const hd_pass_info *pass, const hd_function *f, hd_technique technique,
                       hd_diagnostics *diagnostics)
{
    const char *owner = hd_techniques[technique].pass;
    const composition *rule = against_brought(hd_pass_find(owner, strlen(owner)), pass);
    if (!rule)
        return true;
    hd_diagnostic *d =
        hd_report(diagnostics, HD_DIAG_CLASHING_PASS, f->module->source, f->header_span,
                  "'%s' does not go with the annotations of '%s' that '%s' has: %s", pass->name,
                  hd_techniques[technique].spelling, hd_names_text(&f->module->names, f->name), rule->reason);
    hd_note_add(diagnostics, d, NULL, (hd_span){0, 0}, "'heddle strip' removes annotations");
    return false;
}

/* ---- the list as a value ----------------------------------------------------------------------------------------- */

static hd_pipeline *new_pipeline(void)
{
    hd_pipeline *pipeline = hd_calloc(1, sizeof *pipeline);
    hd_arena_init(&pipeline->arena);
    return pipeline;
}

static void spell(hd_pipeline *pipeline)
{
    pipeline->text = "";
    for (uint32_t s = 0; s < pipeline->steps.count; s++) {
        const hd_pipeline_step *step = &pipeline->steps.items[s];
        pipeline->text = hd_arena_printf(&pipeline->arena, "%s%s%s", pipeline->text, s ? "," : "", step->pass->name);
        for (uint32_t o = 0; o < step->option_count; o++)
            pipeline->text =
                hd_arena_printf(&pipeline->arena, "%s%s%s%s%s", pipeline->text, o ? "," : "(", step->options[o].name,
                                *step->options[o].value ? "=" : "", step->options[o].value);
        if (step->option_count)
            pipeline->text = hd_arena_printf(&pipeline->arena, "%s)", pipeline->text);
    }
}

hd_pipeline *hd_pipeline_parse(const char *text, hd_diagnostics *diagnostics)
{
    hd_pipeline *pipeline = new_pipeline();
    hd_source *source = hd_diagnostics_source(diagnostics, "-p", text);
    reader r = {pipeline, diagnostics, {source, source->text}, false, NULL};
    read_steps(&r);
    hd_option_skip_blanks(&r.in);
    if (!r.failed && *r.in.at)
        syntax(&r, r.in.at, "',' or the end");
    if (!r.failed && check_composition(&r)) {
        spell(pipeline);
        return pipeline;
    }
    hd_pipeline_free(pipeline);
    return NULL;
}

hd_pipeline *hd_pipeline_with(const hd_pipeline *pipeline, const char *pass, const char *name, uint32_t number)
{
    hd_pipeline *copy = new_pipeline();
    for (uint32_t s = 0; s < pipeline->steps.count; s++) {
        hd_pipeline_step step = pipeline->steps.items[s];
        hd_option *options = HD_ARENA_ARRAY(&copy->arena, hd_option, step.option_count + 1);
        uint32_t set = step.option_count; /* where the option is, or will be */
        for (uint32_t o = 0; o < step.option_count; o++) {
            const hd_option *old = &step.options[o];
            options[o].name = hd_arena_string(&copy->arena, old->name, strlen(old->name));
            options[o].value = hd_arena_string(&copy->arena, old->value, strlen(old->value));
            set = strcmp(old->name, name) == 0 ? o : set;
        }
        step.options = options;
        if (strcmp(step.pass->name, pass) == 0) {
            options[set].name = hd_arena_string(&copy->arena, name, strlen(name));
            options[set].value = hd_arena_printf(&copy->arena, "%" PRIu32, number);
            step.option_count += set == step.option_count;
        }
        hd_array_push(&copy->steps, step);
    }
    spell(copy);
    return copy;
}

const char *hd_pipeline_text(const hd_pipeline *pipeline) { return pipeline->text; }

bool hd_pipeline_has(const hd_pipeline *pipeline, const char *pass)
{
    for (uint32_t s = 0; s < pipeline->steps.count; s++)
        if (strcmp(pipeline->steps.items[s].pass->name, pass) == 0)
            return true;
    return false;
}

void hd_pipeline_free(hd_pipeline *pipeline)
{
    if (!pipeline)
        return;
    hd_array_free(&pipeline->steps);
    hd_arena_free(&pipeline->arena);
    free(pipeline);
}
