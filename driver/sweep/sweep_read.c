/* The file of a sweep: axes, and the points that they make. See sweep.h and heddle-sweep(5). */
#include "driver/sweep/sweep.h"

#include "base/hash.h"
#include "base/minmax.h"
#include "base/path.h"
#include "driver/plugin/load.h"
#include "hwmodel/launch/launch.h"
#include "hwmodel/trace/accel_sim.h"

#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <unistd.h>

static const char input_axis[] = "input", program_axis[] = "program", set_axis[] = "set", plugin_axis[] = "plugin";

typedef struct reader {
    hd_sweep *sweep;
    hd_diagnostics *diagnostics;
} reader;

static const char *joined(hd_arena *arena, const char *folder, const char *path)
{
    if (path[0] == '/' || strcmp(folder, ".") == 0)
        return path;
    return hd_arena_printf(arena, "%s/%s", folder, path);
}

/* ---- axes -------------------------------------------------------------------------------------------------------- */

static hd_sweep_axis *find_axis(hd_sweep *s, const char *name)
{
    for (uint32_t a = 0; a < s->axes.count; a++)
        if (strcmp(s->axes.items[a].name, name) == 0)
            return &s->axes.items[a];
    return NULL;
}

static hd_sweep_kind kind_of(const hd_sweep *s, const char *name)
{
    static const char own[][12] = {"set",     "output",   "format", "threads",  "help",
                                   "version", "timeline", "save",   "counters", "record"};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        if (strcmp(own[i], name) == 0)
            return HD_SWEEP_UNKNOWN;
    return s->options.option(s->command, name);
}

static hd_sweep_axis *add_axis(reader *r, const char *name, const hd_yaml_node *node)
{
    hd_sweep *s = r->sweep;
    bool own = strcmp(name, input_axis) == 0 || strcmp(name, program_axis) == 0 || strncmp(name, "set.", 4) == 0;
    hd_sweep_axis *there = find_axis(s, name);
    if (there)
        return there;
    if (!own && kind_of(s, name) == HD_SWEEP_UNKNOWN) {
        hd_yaml_error(node, HD_DIAG_BAD_KEY,
                      "'%s' is no axis: an axis is input, program, set, or an option of heddle %s by its long name",
                      name, s->command);
        return NULL;
    }
    char *column = (char *)(uintptr_t)hd_arena_string(&s->arena, name, strlen(name));
    for (char *c = column; *c; c++)
        *c = *c == '-' ? '_' : *c;
    hd_array_push(&s->axes, ((hd_sweep_axis){.name = name, .column = column, .node = node}));
    return &s->axes.items[s->axes.count - 1];
}

/* The files that a pattern names, in alphabetical order, relative to the sweep's folder. */
static void add_inputs(reader *r, hd_sweep_axis *axis, const char *pattern, const hd_yaml_node *node)
{
    hd_sweep *s = r->sweep;
    glob_t found;
    const char *whole = joined(&s->arena, s->folder, pattern);
    if (glob(whole, 0, NULL, &found) != 0) {
        hd_yaml_error(node, HD_DIAG_UNREADABLE, "no file is named so: '%s'", whole);
        return;
    }
    size_t prefix = strlen(whole) - strlen(pattern);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *path = found.gl_pathv[i] + prefix;
        hd_array_push(&axis->values, hd_arena_string(&s->arena, path, strlen(path)));
    }
    globfree(&found);
}

static void add_value(reader *r, hd_sweep_axis *axis, const hd_yaml_node *node)
{
    const char *text;
    bool flag;
    if (!hd_yaml_string(node, &text))
        return;
    if (strcmp(axis->name, input_axis) == 0)
        add_inputs(r, axis, text, node);
    else if (strchr(axis->name, '.') || strcmp(axis->name, program_axis) == 0 ||
             kind_of(r->sweep, axis->name) == HD_SWEEP_VALUE || hd_yaml_bool(node, &flag))
        hd_array_push(&axis->values, text);
}

static void add_values(reader *r, const char *name, const hd_yaml_node *key, const hd_yaml_node *node)
{
    hd_sweep_axis *axis = add_axis(r, name, key);
    if (!axis)
        return;
    if (node->kind != HD_YAML_SEQUENCE) {
        add_value(r, axis, node);
        return;
    }
    if (!node->count)
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "axis '%s' has no value", name);
    for (uint32_t i = 0; i < node->count; i++)
        add_value(r, axis, node->items[i]);
}

static void read_axes(reader *r, const hd_yaml_node *axes)
{
    hd_sweep *s = r->sweep;
    if (!hd_yaml_mapping(axes))
        return;
    s->command = hd_yaml_get(axes, program_axis) ? "run" : "replay";
    if (hd_yaml_get(axes, program_axis) && hd_yaml_get(axes, input_axis))
        hd_yaml_error(axes, HD_DIAG_BAD_KEY,
                      "a sweep has `input`, files for heddle replay, or `program`, for heddle run, not both");
    for (uint32_t i = 0; i < axes->count; i++) {
        const hd_yaml_node *key = axes->items[2 * i], *value = axes->items[2 * i + 1];
        if (strcmp(key->text, set_axis) != 0) {
            add_values(r, key->text, key, value);
            continue;
        }
        for (uint32_t k = 0; hd_yaml_mapping(value) && k < value->count; k++)
            add_values(r, hd_arena_printf(&s->arena, "set.%s", value->items[2 * k]->text), value->items[2 * k],
                       value->items[2 * k + 1]);
    }
}

static void read_repeat(reader *r, const hd_yaml_node *repeat)
{
    uint32_t count = !repeat ? 0 : repeat->kind == HD_YAML_SEQUENCE ? repeat->count : 1;
    for (uint32_t i = 0; i < count; i++) {
        const hd_yaml_node *node = repeat->kind == HD_YAML_SEQUENCE ? repeat->items[i] : repeat;
        const char *name;
        hd_sweep_axis *axis = hd_yaml_string(node, &name) ? find_axis(r->sweep, name) : NULL;
        if (axis)
            axis->repeated = true;
        else
            hd_yaml_error(node, HD_DIAG_BAD_VALUE, "`repeat` names no axis of this sweep");
    }
}

/* ---- which points there are -------------------------------------------------------------------------------------- */

/* One value, or a list of which one fits. */
static bool fits(const hd_yaml_node *globs, const char *value)
{
    if (globs->kind == HD_YAML_SCALAR)
        return value && fnmatch(globs->text, value, 0) == 0;
    for (uint32_t i = 0; i < globs->count && globs->kind == HD_YAML_SEQUENCE; i++)
        if (fits(globs->items[i], value))
            return true;
    return false;
}

static bool rule_fits(const hd_sweep *s, const hd_yaml_node *rule, const char *const *values)
{
    for (uint32_t i = 0; i < rule->count; i++)
        for (uint32_t a = 0; a < s->axes.count; a++)
            if (strcmp(rule->items[2 * i]->text, s->axes.items[a].name) == 0 &&
                !fits(rule->items[2 * i + 1], values[a]))
                return false;
    return true;
}

static bool any_fits(const hd_sweep *s, const hd_yaml_node *rules, const char *const *values)
{
    for (uint32_t i = 0; i < rules->count; i++)
        if (rule_fits(s, rules->items[i], values))
            return true;
    return false;
}

static bool check_rules(reader *r, const hd_yaml_node *rules)
{
    bool good = !rules || hd_yaml_sequence(rules);
    for (uint32_t i = 0; good && rules && i < rules->count; i++) {
        good = hd_yaml_mapping(rules->items[i]);
        for (uint32_t k = 0; good && k < rules->items[i]->count; k++)
            if (!find_axis(r->sweep, rules->items[i]->items[2 * k]->text)) {
                hd_yaml_error(rules->items[i]->items[2 * k], HD_DIAG_BAD_KEY,
                              "a rule names an axis of this sweep; '%s' is none", rules->items[i]->items[2 * k]->text);
                good = false;
            }
    }
    return good;
}

static void add_point(hd_sweep *s, const char *name, const char *const *values)
{
    const char **own = HD_ARENA_ARRAY(&s->arena, const char *, s->axes.count + 1);
    memcpy(own, values, s->axes.count * sizeof *own);
    hd_array_push(&s->points, ((hd_sweep_point){.name = name, .values = own}));
}

/* All combinations; the last axis varies fastest. */
static void add_product(reader *r, const hd_yaml_node *only, const hd_yaml_node *exclude, const hd_yaml_node *axes)
{
    hd_sweep *s = r->sweep;
    uint32_t count = s->axes.count;
    uint32_t *at = HD_ARENA_ARRAY(&s->arena, uint32_t, count + 1);
    const char **values = HD_ARENA_ARRAY(&s->arena, const char *, count + 1);
    memset(at, 0, count * sizeof *at);
    double combinations = 1;
    for (uint32_t a = 0; a < count; a++)
        combinations *= hd_max(s->axes.items[a].values.count, 1u);
    if (combinations > HD_SWEEP_MOST_POINTS)
        hd_yaml_error(axes, HD_DIAG_BAD_VALUE, "%.0f combinations: a sweep has at most %d", combinations,
                      HD_SWEEP_MOST_POINTS);
    if (combinations > HD_SWEEP_MOST_POINTS)
        return;
    for (uint32_t a = count;;) {
        for (uint32_t i = 0; i < count; i++)
            values[i] =
                s->axes.items[i].values.count ? s->axes.items[i].values.items[at[i]] : NULL; /* of `points` only */
        if ((!only || any_fits(s, only, values)) && !(exclude && any_fits(s, exclude, values)))
            add_point(s, NULL, values);
        for (a = count; a > 0 && ++at[a - 1] >= s->axes.items[a - 1].values.count; a--)
            at[a - 1] = 0;
        if (!a)
            return;
    }
}

/* `points`: single points with a name. Their axes are there before any point is made; see hd_sweep_read. */
static void read_named_axes(reader *r, const hd_yaml_node *points)
{
    for (uint32_t i = 0; points && hd_yaml_sequence(points) && i < points->count; i++)
        for (uint32_t k = 0; hd_yaml_mapping(points->items[i]) && k < points->items[i]->count; k++) {
            const hd_yaml_node *key = points->items[i]->items[2 * k];
            if (strcmp(key->text, "name") != 0)
                add_axis(r, key->text, key);
        }
}

static void add_named(reader *r, const hd_yaml_node *points)
{
    hd_sweep *s = r->sweep;
    for (uint32_t i = 0; points && i < points->count; i++) {
        const char **values = HD_ARENA_ARRAY(&s->arena, const char *, s->axes.count + 1), *name, *text;
        if (!hd_yaml_string(hd_yaml_need(points->items[i], "name"), &name))
            continue;
        for (uint32_t a = 0; a < s->axes.count; a++) {
            const hd_yaml_node *node = hd_yaml_get(points->items[i], s->axes.items[a].name);
            bool flag, is_flag = node && kind_of(s, s->axes.items[a].name) == HD_SWEEP_FLAG;
            values[a] = node && hd_yaml_string(node, &text) && (!is_flag || hd_yaml_bool(node, &flag)) ? text : NULL;
        }
        add_point(s, name, values);
    }
}

/* ---- commands ---------------------------------------------------------------------------------------------------- */

/* false: there is nothing to run. */
static bool make_words(hd_sweep *s, hd_sweep_point *p)
{
    const char **words = HD_ARENA_ARRAY(&s->arena, const char *, s->axes.count + s->plugins.count + 8), *input = NULL;
    uint32_t count = 0;
    words[count++] = s->command;
    words[count++] = "-j1";
    words[count++] = "--format=csv";
    for (uint32_t i = 0; i < s->plugins.count; i++)
        words[count++] = hd_arena_printf(&s->arena, "--plugin=%s", s->plugins.items[i]);
    for (uint32_t a = 0; a < s->axes.count; a++) {
        const char *name = s->axes.items[a].name, *value = p->values[a];
        if (!value)
            continue;
        if (strcmp(name, input_axis) == 0 || strcmp(name, program_axis) == 0)
            input = value;
        else if (strncmp(name, "set.", 4) == 0)
            words[count++] = hd_arena_printf(&s->arena, "--set=%s=%s", name + 4, value);
        else if (kind_of(s, name) == HD_SWEEP_VALUE)
            words[count++] = hd_arena_printf(&s->arena, "--%s=%s", name, value);
        else if (strcmp(value, "true") == 0)
            words[count++] = hd_arena_printf(&s->arena, "--%s", name);
    }
    if (strcmp(s->command, "run") == 0) {
        words[count++] = "--";
        words[count++] = "sh";
        words[count++] = "-c";
    }
    if (input)
        words[count++] = input;
    words[count] = NULL;
    p->words = words;
    return input != NULL;
}

/* ---- keys -------------------------------------------------------------------------------------------------------- */

/* A file that cannot be read has no content: the point that reads it reports it. */
static void hash_file(hd_hasher *h, const char *path)
{
    hd_source source;
    if (!hd_source_read(&source, path))
        return;
    hd_hasher_add(h, &source.length, sizeof source.length);
    hd_hasher_add(h, source.text, source.length);
    hd_source_free(&source);
}

/* The launch file and all files that it names; of a trace, that file. */
static void hash_input(hd_hasher *h, const char *path)
{
    hd_diagnostics unseen;
    hd_file_list files = {0};
    if (hd_traced_is_name(path)) {
        hash_file(h, path);
        return;
    }
    hd_diagnostics_init(&unseen);
    hd_launch_file *launch = hd_launch_read(path, 0, &unseen);
    hd_launch_list_files(launch, false, &files);
    for (uint32_t i = 0; i < files.count; i++)
        hash_file(h, files.items[i].path);
    hd_array_free(&files);
    hd_launch_free(launch);
    hd_diagnostics_free(&unseen);
}

/* As the points find it: they run in the folder of the sweep's file. */
static void hash_plugin(hd_sweep *s, hd_hasher *h, const char *name)
{
    hash_file(h, joined(&s->arena, s->folder, hd_plugin_file(&s->arena, name)));
}

/* Of all files that a value of the axis names; 0: it names none. */
static uint64_t content_of(hd_sweep *s, const hd_sweep_axis *axis, const char *value)
{
    hd_hasher *h = hd_hasher_new();
    bool is_input = strcmp(axis->name, input_axis) == 0, is_program = strcmp(axis->name, program_axis) == 0;
    const char *word = hd_arena_string(&s->arena, value, is_program ? strcspn(value, " \t") : strlen(value));
    const char *path = joined(&s->arena, s->folder, word);
    if (is_input)
        hash_input(h, path);
    else if (strcmp(axis->name, plugin_axis) == 0)
        hash_plugin(s, h, value);
    else if (is_program || strchr(value, '/') || strcmp(axis->name, "gpu") == 0)
        hash_file(h, path);
    uint64_t hash = hd_hasher_value(h);
    hd_hasher_free(h);
    return hash;
}

static void make_keys(hd_sweep *s)
{
    hd_hasher *tool = hd_hasher_new();
    hash_file(tool, s->options.heddle);
    for (uint32_t i = 0; i < s->plugins.count; i++)
        hash_plugin(s, tool, s->plugins.items[i]);
    uint64_t heddle = hd_hasher_value(tool);
    hd_hasher_free(tool);
    for (uint32_t p = 0; p < s->points.count; p++) {
        hd_sweep_point *point = &s->points.items[p];
        hd_hasher *h = hd_hasher_new();
        hd_hasher_add(h, &heddle, sizeof heddle);
        for (const char *const *word = point->words; *word; word++)
            hd_hasher_add(h, *word, strlen(*word) + 1);
        for (uint32_t a = 0; a < s->axes.count; a++) {
            /* points that follow each other share most values */
            hd_sweep_axis *axis = &s->axes.items[a];
            const char *value = point->values[a];
            if (value && axis->hashed != value) {
                axis->hash = content_of(s, axis, value);
                axis->hashed = value;
            }
            if (value)
                hd_hasher_add(h, &axis->hash, sizeof axis->hash);
        }
        point->key = hd_hasher_value(h);
        hd_hasher_free(h);
    }
}

/* One name, or a list. */
static void read_plugins(reader *r, const hd_yaml_node *plugins)
{
    uint32_t count = !plugins ? 0 : plugins->kind == HD_YAML_SEQUENCE ? plugins->count : 1;
    for (uint32_t i = 0; i < count; i++) {
        const char *name;
        if (hd_yaml_string(plugins->kind == HD_YAML_SEQUENCE ? plugins->items[i] : plugins, &name))
            hd_array_push(&r->sweep->plugins, name);
    }
}

/* ---- the file ---------------------------------------------------------------------------------------------------- */

static void read_all(reader *r, const hd_yaml_node *root)
{
    static const char *const keys[] = {"axes", "repeat", "only", "exclude", "points", "slurm", "plugins"};
    hd_sweep *s = r->sweep;
    if (!hd_yaml_mapping(root) || !hd_yaml_known_keys(root, keys, sizeof keys / sizeof *keys))
        return;
    const hd_yaml_node *axes = hd_yaml_need(root, "axes"), *only = hd_yaml_get(root, "only"),
                       *exclude = hd_yaml_get(root, "exclude"), *points = hd_yaml_get(root, "points");
    s->slurm = hd_yaml_get(root, "slurm");
    if (!axes || (s->slurm && !hd_yaml_mapping(s->slurm)))
        return;
    read_plugins(r, hd_yaml_get(root, "plugins"));
    read_axes(r, axes);
    read_named_axes(r, points);
    read_repeat(r, hd_yaml_get(root, "repeat"));
    if (!check_rules(r, only) || !check_rules(r, exclude) || r->diagnostics->error_count)
        return;
    add_product(r, only, exclude, axes);
    add_named(r, points);
    for (uint32_t p = 0; p < s->points.count; p++)
        if (!make_words(s, &s->points.items[p]))
            hd_yaml_error(axes, HD_DIAG_BAD_KEY, "a point has nothing to run: it needs an axis `input` or `program`");
    if (!s->points.count && !r->diagnostics->error_count)
        hd_yaml_error(axes, HD_DIAG_BAD_VALUE, "the sweep has no point: `only` and `exclude` leave none");
}

hd_sweep *hd_sweep_read(const char *path, const hd_sweep_options *options, hd_diagnostics *diagnostics)
{
    hd_sweep *s = hd_calloc(1, sizeof *s);
    reader r = {s, diagnostics};
    uint32_t errors = diagnostics->error_count;
    s->options = *options;
    s->path = hd_arena_string(&s->arena, path, strlen(path));
    size_t folder = (size_t)(hd_path_name(path) - path);
    s->folder = folder ? hd_arena_string(&s->arena, path, folder > 1 ? folder - 1 : folder) : ".";
    s->yaml = hd_yaml_read(path, diagnostics);
    if (s->yaml->root)
        read_all(&r, s->yaml->root);
    s->valid = s->yaml->root && diagnostics->error_count == errors;
    if (s->valid)
        make_keys(s);
    return s;
}

void hd_sweep_free(hd_sweep *s)
{
    if (!s)
        return;
    for (uint32_t a = 0; a < s->axes.count; a++)
        hd_array_free(&s->axes.items[a].values);
    hd_array_free(&s->axes);
    hd_array_free(&s->plugins);
    hd_array_free(&s->points);
    hd_yaml_free(s->yaml);
    hd_arena_free(&s->arena);
    free(s);
}

void hd_sweep_write_command(hd_writer *w, const hd_sweep *s, const hd_sweep_point *p)
{
    (void)s;
    hd_write_string(w, "heddle");
    for (const char *const *word = p->words; *word; word++) {
        hd_write_char(w, ' ');
        hd_write_shell_word(w, *word);
    }
}
