/* Parses the list of models to replay: NAME [ '(' KEY ['=' VALUE] { ',' KEY ['=' VALUE] } ')' ] { ',' NAME ... }; a
 * VALUE is a number or a range, FROM..TO.
 *
 * Names are those of models, of techniques, and what papers call either (models.def, ir/techniques.def), in upper or
 * lower case. A NAME alone is a model; two techniques as ONE+OTHER, for the model that combines them
 * (combinations.def); a technique, for its standard configurations, or for all of its models if options->all_models
 * is set; or "all", for all techniques; "none" must be the only name. A NAME with options is one model, named
 * "corf(shared)" as it was given, without blanks, and can be requested in addition to the one without. Its options
 * replace those of models.def. They are checked against hwmodel/rf/options.def before any file is read. A technique
 * takes no options, because its models have different ones, unless it is the name of a family (models.def). A range
 * denotes a model for each of its numbers. A number that a pass needs too (options.def) is also passed to it: each
 * such model has annotations of its own.
 *
 * Order: that of models.def; each model is followed by its variants with options, in the order given. Duplicates are
 * dropped.
 */
#include "driver/replay/replay_work.h"
#include "base/option_list.h"
#include "base/scan.h"
#include "base/suggest.h"
#include "ir/techniques.h"

typedef struct variant {
    uint32_t model; /* index in the table */
    hd_rf_model_info info;
    const hd_pipeline *passes;
} variant;

typedef struct chooser {
    replay_plan *plan;
    hd_option_cursor in;
    bool failed, asked_for_all;
    bool *chosen; /* by model of the table */
    HD_ARRAY(variant) variants;
} chooser;

typedef struct choice { /* an option as given: a range is enumerated */
    const hd_rf_option_info *option;
    uint32_t from, to; /* for a word alone: 0, 0 */
} choice;
typedef HD_ARRAY(choice) choices;

enum { MOST_VARIANTS = 256 /* maximum number of variants of one NAME(...) */ };

/* ---- parsing ----------------------------------------------------------------------------------------------------- */

static hd_diagnostic *fail(chooser *c, const char *begin, const char *message)
{
    c->failed = true;
    return hd_report(c->plan->diagnostics, HD_DIAG_BAD_VALUE, c->in.text, hd_option_span(&c->in, begin), "%s", message);
}

static void note(chooser *c, hd_diagnostic *d, const char *text)
{
    hd_note_add(c->plan->diagnostics, d, NULL, (hd_span){0, 0}, "%s", text);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* The name as the tables spell it; the name itself if they do not have it. */
static const char *spelled(const char *name)
{
    for (uint32_t t = 0; t < hd_technique_count; t++)
        if (!strcasecmp(name, hd_techniques[t].spelling))
            return hd_techniques[t].spelling;
    for (uint32_t m = 0; m < hd_rf_model_count; m++)
        if (!strcasecmp(name, hd_rf_models[m].name))
            return hd_rf_models[m].name;
    for (uint32_t i = 0; i < hd_rf_family_count; i++)
        if (!strcasecmp(name, hd_rf_families[i].name))
            return hd_rf_families[i].name;
    for (uint32_t t = 0; t < hd_technique_count; t++)
        if (!strcasecmp(name, hd_techniques[t].name))
            return hd_techniques[t].spelling;
    for (uint32_t m = 0; m < hd_rf_model_count; m++) {
        const char *title = hd_rf_standard_title(&hd_rf_models[m]);
        if (title && !strcasecmp(name, title))
            return hd_rf_models[m].name;
    }
    return name;
}

static bool belongs(const hd_rf_model_info *m, const char *name)
{
    return !strcmp(name, m->name) || (*name && !strcmp(name, m->technique)) || !strcmp(name, "all");
}

/* A model's own name always selects it, and so does its technique's. Where only accesses are counted, "all" leaves out
 * what depends on time, and would make the replay many times as long. */
static bool is_meant(const chooser *c, const hd_rf_model_info *m, const char *name)
{
    const hd_replay_options *options = c->plan->options;
    if (!strcmp(name, "all") && !options->time && m->ops->timed)
        return false;
    return belongs(m, name) && (options->all_models || hd_rf_standard_title(m) || !strcmp(name, m->name));
}

/* Techniques that "all" left out; NULL: none. */
static const char *left_out(const chooser *c)
{
    const char *names = NULL, *last = "";
    for (uint32_t m = 0; m < hd_rf_model_count && c->asked_for_all; m++) {
        const hd_rf_model_info *model = &hd_rf_models[m];
        if (c->chosen[m] || !hd_rf_standard_title(model) || is_meant(c, model, "all") ||
            !strcmp(model->technique, last))
            continue;
        last = model->technique;
        names = names ? hd_arena_printf(&c->plan->arena, "%s, %s", names, last) : last;
    }
    return names;
}

/* Techniques of a name ONE+OTHER; false: it is none. */
static bool find_two(const char *name, const hd_technique_info *two[2])
{
    for (uint32_t i = 0; i < hd_technique_count * hd_technique_count; i++) {
        two[0] = &hd_techniques[i / hd_technique_count];
        two[1] = &hd_techniques[i % hd_technique_count];
        size_t length = strlen(two[0]->spelling);
        if (!strncmp(name, two[0]->spelling, length) && name[length] == '+' &&
            !strcmp(name + length + 1, two[1]->spelling))
            return true;
    }
    return false;
}

/* hwmodel/rf/models/combinations.def says which model has both, or why none has. false: the name is no combination. */
static bool choose_two(chooser *c, const char *name, const char *begin)
{
    const hd_technique_info *two[2];
    const hd_rf_combination_info *row = NULL;
    if (!find_two(name, two))
        return false;
    for (uint32_t i = 0; i < hd_rf_combination_count && !row; i++)
        for (uint32_t k = 0; k < 2; k++)
            if (!strcmp(hd_rf_combinations[i].one, two[k]->spelling) &&
                !strcmp(hd_rf_combinations[i].other, two[!k]->spelling))
                row = &hd_rf_combinations[i];
    const hd_rf_model_info *model = row && *row->model ? hd_rf_model_find(row->model, strlen(row->model)) : NULL;
    if (model)
        c->chosen[model - hd_rf_models] = true;
    else
        fail(c, begin,
             hd_arena_printf(&c->plan->arena, "'%s' and '%s' do not go together: %s", two[0]->spelling,
                             two[1]->spelling, row ? row->reason : "no paper combines them"));
    return true;
}

static void choose(chooser *c, const char *name, const char *begin)
{
    hd_arena *arena = &c->plan->arena;
    bool any = false;
    c->asked_for_all = c->asked_for_all || !strcmp(name, "all");
    for (uint32_t i = 0; i < hd_rf_family_count; i++)
        if (hd_technique_find(name, strlen(name)) < 0 && !strcmp(name, hd_rf_families[i].name))
            name = hd_rf_families[i].model;
    for (uint32_t m = 0; m < hd_rf_model_count; m++)
        if (is_meant(c, &hd_rf_models[m], name))
            any = c->chosen[m] = true;
    if (any || choose_two(c, name, begin))
        return;
    if (!strcmp(name, "none")) {
        fail(c, begin, "'none' is given alone");
        return;
    }
    char phrase[HD_SUGGEST_PHRASE];
    hd_suggestion near = hd_suggest(name);
    const char *known = "known are none, all";
    for (uint32_t i = 0; i < hd_technique_count + hd_rf_model_count; i++) {
        bool technique = i < hd_technique_count;
        const char *other = technique ? hd_techniques[i].spelling : hd_rf_models[i - hd_technique_count].name;
        if (technique || hd_technique_find(other, strlen(other)) < 0)
            known = hd_arena_printf(arena, "%s, %s", known, other);
        hd_suggest_from(&near, other);
    }
    hd_suggest_phrase(&near, phrase);
    note(c, fail(c, begin, hd_arena_printf(arena, "no technique is called '%s'%s", name, phrase)), known);
}

/* Only a model has options. */
static const hd_rf_model_info *find_model(chooser *c, const char *name, const char *begin)
{
    hd_arena *arena = &c->plan->arena;
    const hd_rf_model_info *model = hd_rf_model_find(name, strlen(name));
    for (uint32_t i = 0; i < hd_rf_family_count && !model; i++)
        if (!strcmp(name, hd_rf_families[i].name))
            model = hd_rf_model_find(hd_rf_families[i].model, strlen(hd_rf_families[i].model));
    const char *models = NULL;
    for (uint32_t m = 0; m < hd_rf_model_count && !model; m++)
        if (belongs(&hd_rf_models[m], name))
            models = models ? hd_arena_printf(arena, "%s, %s", models, hd_rf_models[m].name) : hd_rf_models[m].name;
    if (!model && !models)
        choose(c, name, begin); /* reports the known names */
    else if (!model)
        note(c, fail(c, begin, hd_arena_printf(arena, "'%s' takes no options: it names several models", name)),
             hd_arena_printf(arena, "its models are %s", models));
    return model;
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

static const hd_rf_option_info *find_option(const hd_rf_model_info *model, const char *name)
{
    for (uint32_t i = 0; i < hd_rf_option_count; i++)
        if (hd_rf_options[i].ops == model->ops && !strcmp(hd_rf_options[i].name, name))
            return &hd_rf_options[i];
    return NULL;
}

static char *describe(hd_arena *arena, const hd_rf_option_info *o)
{
    return o->most ? hd_arena_printf(arena, "%s=%u to %u (%s)", o->name, o->least, o->most, o->summary)
                   : hd_arena_printf(arena, "%s (%s)", o->name, o->summary);
}

static void note_options(chooser *c, hd_diagnostic *d, const hd_rf_model_info *model)
{
    hd_arena *arena = &c->plan->arena;
    char *known = NULL;
    for (uint32_t i = 0; i < hd_rf_option_count; i++)
        if (hd_rf_options[i].ops == model->ops)
            known = known ? hd_arena_printf(arena, "%s, %s", known, describe(arena, &hd_rf_options[i]))
                          : describe(arena, &hd_rf_options[i]);
    note(c, d, known ? hd_arena_printf(arena, "it has: %s", known) : "it has none");
}

/* N or N..M. */
static bool value_fits(const hd_rf_option_info *option, const char *value, choice *to)
{
    *to = (choice){option, 0, 0};
    if (!value || !option->most)
        return !value && !option->most;
    uint64_t from, last;
    bool good = hd_take_number(&value, NULL, 10, option->most, &from);
    last = from;
    if (good && !strncmp(value, "..", 2)) {
        value += 2;
        good = hd_take_number(&value, NULL, 10, option->most, &last);
    }
    *to = (choice){option, (uint32_t)from, (uint32_t)last};
    return good && !*value && from >= option->least && from <= last;
}

/* KEY or KEY=VALUE; false if it is invalid (reported). */
static bool read_option(chooser *c, const hd_rf_model_info *model, choice *to)
{
    hd_arena *arena = &c->plan->arena;
    hd_option_item item = hd_option_read(&c->in, arena);
    const char *begin = item.begin, *name = item.name, *value = item.value;
    if (!*name) {
        fail(c, begin, "expected an option of the model");
        return false;
    }
    const hd_rf_option_info *option = find_option(model, name);
    if (!option)
        note_options(c, fail(c, begin, hd_arena_printf(arena, "model '%s' has no option '%s'", model->name, name)),
                     model);
    else if (!value_fits(option, value, to))
        note_options(c,
                     fail(c, begin,
                          hd_arena_printf(arena, "'%s' is not what option '%s' of model '%s' takes", value ? value : "",
                                          name, model->name)),
                     model);
    else
        return true;
    return false;
}

/* ---- models with options ----------------------------------------------------------------------------------------- */

/* The plan's list that equals it; takes `passes`. */
static const hd_pipeline *share(replay_plan *plan, hd_pipeline *passes)
{
    for (uint32_t i = 0; i < plan->pipelines.count && passes; i++)
        if (!strcmp(hd_pipeline_text(plan->pipelines.items[i]), hd_pipeline_text(passes))) {
            hd_pipeline_free(passes);
            return plan->pipelines.items[i];
        }
    if (passes)
        hd_array_push(&plan->pipelines, passes);
    return passes;
}

static const hd_pipeline *passes_of(replay_plan *plan, const hd_rf_model_info *model)
{
    return *model->pass ? share(plan, hd_pipeline_parse(model->pass, plan->diagnostics)) : NULL;
}

/* The options of models.def that are not overridden. */
static const char *kept_options(hd_arena *arena, const char *options, const choices *given)
{
    const char *kept = "";
    for (const char *at = options; *at; at += strcspn(at, ","), at += *at == ',') {
        size_t length = strcspn(at, ","), key = strcspn(at, "=,");
        bool anew = false;
        for (uint32_t i = 0; i < given->count && !anew; i++)
            anew = strlen(given->items[i].option->name) == key && !strncmp(at, given->items[i].option->name, key);
        if (!anew)
            kept = hd_arena_printf(arena, "%s%.*s,", kept, (int)length, at);
    }
    return kept;
}

/* Adds a variant, unless it exists. */
static void add_variant(chooser *c, const hd_rf_model_info *model, const char *called, const choices *given,
                        const uint32_t *numbers)
{
    hd_arena *arena = &c->plan->arena;
    variant v = {(uint32_t)(model - hd_rf_models), *model, passes_of(c->plan, model)};
    const char *options = NULL;
    for (uint32_t i = 0; i < given->count; i++) {
        const hd_rf_option_info *o = given->items[i].option;
        const char *text = o->most ? hd_arena_printf(arena, "%s=%u", o->name, numbers[i]) : o->name;
        options = options ? hd_arena_printf(arena, "%s,%s", options, text) : text;
        if (*o->pass && v.passes)
            v.passes = share(c->plan, hd_pipeline_with(v.passes, o->pass, o->name, numbers[i]));
    }
    v.info.name = hd_arena_printf(arena, "%s(%s)", called, options);
    v.info.options = hd_arena_printf(arena, "%s%s", kept_options(arena, model->options, given), options);
    for (uint32_t i = 0; i < c->variants.count; i++)
        if (!strcmp(c->variants.items[i].info.name, v.info.name))
            return;
    hd_array_push(&c->variants, v);
}

/* Adds a variant for each combination of the ranges' numbers; the last range varies slowest. */
static void add_variants(chooser *c, const hd_rf_model_info *model, const char *called, const char *begin,
                         const choices *given)
{
    uint64_t all = 1;
    for (uint32_t i = 0; i < given->count && all <= MOST_VARIANTS; i++)
        all *= given->items[i].to - given->items[i].from + 1;
    if (all > MOST_VARIANTS) {
        fail(c, begin, hd_arena_printf(&c->plan->arena, "the ranges give more than %d models", MOST_VARIANTS));
        return;
    }
    uint32_t *numbers = HD_ARENA_ARRAY(&c->plan->arena, uint32_t, given->count);
    for (uint64_t k = 0; k < all; k++) {
        uint64_t rest = k;
        for (uint32_t i = given->count; i-- > 0;) {
            uint32_t many = given->items[i].to - given->items[i].from + 1;
            numbers[i] = given->items[i].from + (uint32_t)(rest % many);
            rest /= many;
        }
        add_variant(c, model, called, given, numbers);
    }
}

/* Parses after "NAME(". Without options it is the model itself, even if a technique has the same name. */
static void read_options(chooser *c, const char *name, const char *begin)
{
    const hd_rf_model_info *model = find_model(c, name, begin);
    choices given = {0};
    if (model && hd_option_take(&c->in, ')')) {
        c->chosen[model - hd_rf_models] = true;
        return;
    }
    while (!c->failed) {
        choice option;
        const char *at = c->in.at;
        bool read = read_option(c, model, &option);
        for (uint32_t i = 0; i < given.count && read; i++)
            if (given.items[i].option == option.option) {
                fail(c, at, hd_arena_printf(&c->plan->arena, "option '%s' is given twice", option.option->name));
                break;
            }
        if (!c->failed)
            hd_array_push(&given, option);
        if (!hd_option_take(&c->in, ','))
            break;
    }
    if (!c->failed && !hd_option_take(&c->in, ')'))
        fail(c, c->in.at, "expected ',' or ')' after an option of the model");
    if (!c->failed)
        add_variants(c, model, name, begin, &given);
    hd_array_free(&given);
}

/* ---- the list ---------------------------------------------------------------------------------------------------- */

static void read_items(chooser *c)
{
    while (!c->failed) {
        const char *begin, *name = spelled(hd_option_word(&c->in, &c->plan->arena, &begin));
        if (hd_option_take(&c->in, '('))
            read_options(c, name, begin);
        else
            choose(c, name, begin);
        if (!c->failed && !hd_option_take(&c->in, ',')) {
            hd_option_skip_blanks(&c->in);
            if (*c->in.at)
                fail(c, c->in.at, "expected ',' or the end of the list of techniques");
            return;
        }
    }
}

static void keep_models(chooser *c)
{
    replay_plan *plan = c->plan;
    plan->models = HD_ARENA_ARRAY(&plan->arena, replay_model, hd_rf_model_count + c->variants.count);
    for (uint32_t m = 0; m < hd_rf_model_count; m++) {
        if (c->chosen[m])
            plan->models[plan->model_count++] = (replay_model){&hd_rf_models[m], passes_of(plan, &hd_rf_models[m])};
        for (uint32_t i = 0; i < c->variants.count; i++) {
            const variant *v = &c->variants.items[i];
            if (v->model == m)
                plan->models[plan->model_count++] =
                    (replay_model){hd_arena_copy(&plan->arena, &v->info, sizeof v->info), v->passes};
        }
    }
}

bool replay_choose_models(replay_plan *plan, const char *list)
{
    if (!strcmp(list, "none"))
        return true;
    chooser c = {.plan = plan,
                 .in.text = hd_diagnostics_source(plan->diagnostics, "--technique", list),
                 .chosen = HD_ARENA_ARRAY(&plan->arena, bool, hd_rf_model_count)};
    c.in.at = c.in.text->text;
    c.chosen[0] = true; /* the baseline */
    if (*list)
        read_items(&c);
    plan->left_out = left_out(&c);
    keep_models(&c);
    hd_array_free(&c.variants);
    return !c.failed;
}
