/* Launch files: reads the steps. Each launch in the text has one entry in file->launches; groups contain their
 * steps. */
#include "hwmodel/launch/launch_reader.h"
#include <inttypes.h>

typedef hd_launch_reader reader;
enum { MOST_REPETITIONS = 1000000, DEEPEST_GROUP = 32 };

/* ---- repetitions ------------------------------------------------------------------------------------------------- */

static bool read_until(reader *r, const hd_yaml_node *until, hd_repetition *to)
{
    const hd_yaml_node *index = hd_yaml_get(until, "index"), *equals = hd_yaml_get(until, "equals"),
                       *other = hd_yaml_get(until, "not");
    if (!hd_yaml_known_keys(until, KEYS("buffer", "equals", "not", "at_most", "index")))
        return false;
    if (!!equals + !!other != 1) {
        hd_yaml_error(until, HD_DIAG_BAD_KEY, "until needs one of equals, not");
        return false;
    }
    const hd_yaml_node *name = hd_yaml_need(until, "buffer");
    to->unequal = other != NULL;
    if (!name || (to->buffer = hd_launch_find_buffer(r, name, true)) == HD_NONE)
        return false;
    const hd_launch_buffer *b = &r->file->buffers.items[to->buffer];
    return (!index || hd_yaml_u64(index, 0, b->count - 1, &to->index)) &&
           hd_value_store(equals ? equals : other, b->type, to->equals) &&
           hd_yaml_u32(hd_yaml_need(until, "at_most"), 1, MOST_REPETITIONS, &to->most);
}

static bool read_range(const hd_yaml_node *node, hd_launch_loop *loop)
{
    if (!hd_yaml_known_keys(node, KEYS("from", "while", "next")))
        return false;
    loop->from = hd_yaml_need(node, "from");
    loop->condition = hd_yaml_need(node, "while");
    loop->next = hd_yaml_need(node, "next");
    return loop->from && loop->condition && loop->next;
}

/* {NAME: COUNT}, {NAME: [VALUE, ...]} or {NAME: {from: A, while: CONDITION, next: B}} */
static bool read_loop(reader *r, const hd_yaml_node *node, hd_repetition *to)
{
    if (!hd_yaml_mapping(node))
        return false;
    if (node->count != 1 || !hd_is_variable_name(node->items[0]->text)) {
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "a loop has one variable, whose name has letters, digits and _");
        return false;
    }
    hd_launch_loop *loop = HD_ARENA_NEW(&r->file->arena, hd_launch_loop);
    hd_variable *first = HD_ARENA_NEW(&r->file->arena, hd_variable);
    const hd_yaml_node *value = node->items[1];
    *loop = (hd_launch_loop){.name = node->items[0]->text};
    *first = (hd_variable){loop->name, 0, r->variables};
    if (value->kind == HD_YAML_SCALAR)
        loop->count = value;
    else if (value->kind == HD_YAML_SEQUENCE)
        loop->values = value;
    else if (!read_range(value, loop))
        return false;
    to->loop = loop;
    to->most = MOST_REPETITIONS;
    r->variables = first;
    return hd_launch_loop_step(loop, 0, first, r->file->yaml->diagnostics) >= 0;
}

/* Sets r->last and r->variables if a repetition is given; the caller restores the old values. */
static bool read_repetition(reader *r, const hd_yaml_node *node, hd_repetition *to)
{
    const hd_yaml_node *repeat = hd_yaml_get(node, "repeat"), *until = hd_yaml_get(node, "until"),
                       *loop = hd_yaml_get(node, "for");
    *to = (hd_repetition){.given = repeat || until || loop, .most = 1, .buffer = HD_NONE, .node = until ? until : loop};
    if (!!repeat + !!until + !!loop > 1) {
        hd_yaml_error(to->node, HD_DIAG_BAD_KEY, "repeat, until and for exclude each other");
        return false;
    }
    if (loop) {
        r->last = 0;
        return read_loop(r, loop, to);
    }
    if ((repeat && !hd_yaml_u32(repeat, 1, MOST_REPETITIONS, &to->most)) || (until && !read_until(r, until, to)))
        return false;
    if (to->given)
        r->last = until ? 0 : to->most - 1;
    return true;
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

static bool read_arguments(reader *r, const hd_yaml_node *list, hd_launch *l)
{
    bool good = true;
    if (!list)
        return true;
    if (!hd_yaml_sequence(list) || !hd_launch_count_values(r, list, (uint64_t)list->count * HD_ITEM_VALUES))
        return false;
    l->arguments = HD_ARENA_ARRAY(&r->file->arena, hd_argument, list->count);
    l->argument_count = list->count;
    for (uint32_t i = 0; i < list->count; i++)
        good = hd_launch_read_argument(r, list->items[i], &l->arguments[i]) && good;
    return good;
}

/* A number, {iota: [START, STEP]} or an expression: then *varying is the node. */
static bool read_side(const hd_yaml_node *node, uint32_t limit, uint32_t *side, const hd_yaml_node **varying)
{
    bool expression = hd_is_expression(node);
    if (node->kind != HD_YAML_MAPPING && !expression)
        return hd_yaml_u32(node, 1, limit, side);
    *varying = node;
    return expression || (hd_yaml_known_keys(node, KEYS("iota")) && hd_yaml_need(node, "iota"));
}

/* One to three numbers; a single one need not be a list. */
static bool read_extent(const hd_yaml_node *node, const uint32_t limits[3], uint32_t extent[3],
                        const hd_yaml_node *varying[3])
{
    extent[0] = extent[1] = extent[2] = 1;
    if (!node)
        return false;
    if (node->kind != HD_YAML_SEQUENCE)
        return read_side(node, limits[0], &extent[0], &varying[0]);
    if (node->count < 1 || node->count > 3) {
        hd_yaml_error(node, HD_DIAG_BAD_VALUE, "one to three numbers are expected here");
        return false;
    }
    bool good = true;
    for (uint32_t i = 0; i < node->count; i++)
        good = read_side(node->items[i], limits[i], &extent[i], &varying[i]) && good;
    return good;
}

static bool read_shape(reader *r, const hd_yaml_node *node, hd_launch *l)
{
    static const uint32_t grid_limits[3] = {0x7fffffff, 65535, 65535}, block_limits[3] = {1024, 1024, 64};
    const hd_yaml_node *block = hd_yaml_need(node, "block"), *shared = hd_yaml_get(node, "shared"),
                       *cooperative = hd_yaml_get(node, "cooperative");
    uint32_t grid_at[3], block_at[3], shared_at;
    bool good = read_extent(hd_yaml_need(node, "grid"), grid_limits, l->grid, l->grid_varies);
    good = read_extent(block, block_limits, l->block, l->block_varies) && good;
    l->first = (hd_iteration){0, r->variables};
    l->shared_varies = shared && hd_is_expression(shared) ? shared : NULL;
    if (shared && !l->shared_varies)
        good = hd_yaml_u32(shared, 0, HD_LARGEST_SHARED_BYTES, &l->shared_bytes) && good;
    hd_diagnostics *diagnostics = r->file->yaml->diagnostics;
    good = good &&
           hd_launch_shape(l, &(hd_iteration){r->last, r->variables}, grid_at, block_at, &shared_at, diagnostics) &&
           hd_launch_shape(l, &l->first, l->grid, l->block, &l->shared_bytes, diagnostics);
    return (!cooperative || hd_yaml_bool(cooperative, &l->cooperative)) && good;
}

static bool read_launch(reader *r, const hd_yaml_node *node, hd_launch_step *step)
{
    hd_launch l = {.node = node};
    step->kind = HD_DO_LAUNCH;
    bool good = hd_yaml_known_keys(
        node, KEYS("kernel", "grid", "block", "shared", "cooperative", "params", "repeat", "until", "for"));
    good = hd_yaml_string(hd_yaml_need(node, "kernel"), &l.kernel) && good;
    good = read_repetition(r, node, &step->repetition) && good;
    good = read_shape(r, node, &l) && good;
    good = read_arguments(r, hd_yaml_get(node, "params"), &l) && good;
    step->launch = r->file->launches.count;
    hd_array_push(&r->file->launches, l);
    return good;
}

/* ---- other steps ------------------------------------------------------------------------------------------------- */

static bool read_set(reader *r, const hd_yaml_node *node, hd_launch_step *step)
{
    const hd_yaml_node *fill = hd_yaml_get(node, "fill");
    step->kind = HD_DO_SET;
    step->first_content = !fill;
    if (!hd_yaml_known_keys(node, KEYS("set", "fill")) ||
        (step->buffer = hd_launch_find_buffer(r, hd_yaml_get(node, "set"), true)) == HD_NONE)
        return false;
    const hd_launch_buffer *b = &r->file->buffers.items[step->buffer];
    if (!fill && b->is_symbol && !b->initial && !b->link_count) {
        hd_yaml_error(hd_yaml_get(node, "set"), HD_DIAG_BAD_VALUE, "no first content of '%s' is given here", b->name);
        return false;
    }
    if (!fill || hd_yaml_is_word(fill, "zero"))
        return true;
    const hd_yaml_node *constant = hd_yaml_get(fill, "constant");
    if (constant && hd_is_expression(constant)) {
        unsigned char ignored[8];
        step->value = constant;
        return hd_yaml_known_keys(fill, KEYS("constant")) &&
               hd_expression_store(constant, &(hd_iteration){0, r->variables}, b->type, r->file->yaml->diagnostics,
                                   ignored);
    }
    if (!hd_launch_count_bytes(r, fill, b->size_bytes))
        return false;
    unsigned char *bytes = hd_arena_calloc(&r->file->arena, b->size_bytes + 8);
    step->bytes = bytes;
    return hd_value_fill(fill, r->folder, &r->seeding, b->type, b->count, bytes);
}

/* NAME, or {buffer: NAME, offset: NUMBER}. */
static bool read_end(reader *r, const hd_yaml_node *node, uint32_t *buffer, const hd_yaml_node **offset)
{
    const hd_yaml_node *name = node;
    if (node && node->kind == HD_YAML_MAPPING) {
        if (!hd_yaml_known_keys(node, KEYS("buffer", "offset")))
            return false;
        name = hd_yaml_need(node, "buffer");
        *offset = hd_yaml_get(node, "offset");
    }
    return name && (*buffer = hd_launch_find_buffer(r, name, true)) != HD_NONE;
}

static bool read_copy(reader *r, const hd_yaml_node *node, hd_launch_step *step)
{
    const hd_yaml_node *to = hd_yaml_need(node, "to");
    hd_launch_copy range;
    step->kind = HD_DO_COPY;
    step->byte_count = hd_yaml_get(node, "bytes");
    if (!hd_yaml_known_keys(node, KEYS("copy", "to", "bytes")) ||
        !read_end(r, hd_yaml_get(node, "copy"), &step->buffer, &step->from_offset) ||
        !read_end(r, to, &step->to, &step->to_offset))
        return false;
    const hd_launch_buffer *a = &r->file->buffers.items[step->buffer], *b = &r->file->buffers.items[step->to];
    if (step->from_offset || step->to_offset || step->byte_count)
        return hd_launch_copy_range(r->file, step, &(hd_iteration){0, r->variables}, r->file->yaml->diagnostics,
                                    &range);
    if (a->size_bytes == b->size_bytes)
        return true;
    hd_yaml_error(to, HD_DIAG_BAD_VALUE, "'%s' has %" PRIu64 " bytes, '%s' %" PRIu64, a->name, a->size_bytes, b->name,
                  b->size_bytes);
    return false;
}

static bool read_step(reader *r, const hd_yaml_node *node, hd_launch_step *step, uint32_t depth);

static bool read_list(reader *r, const hd_yaml_node *list, hd_launch_step **steps, uint32_t *count, uint32_t depth)
{
    bool good = true;
    if (!hd_yaml_sequence(list))
        return false;
    if (!list->count || depth == DEEPEST_GROUP) {
        hd_yaml_error(list, HD_DIAG_BAD_VALUE,
                      list->count ? "groups are nested too deeply" : "at least one step is expected here");
        return false;
    }
    if (!hd_launch_count_values(r, list, (uint64_t)list->count * HD_ITEM_VALUES))
        return false;
    *steps = HD_ARENA_ARRAY(&r->file->arena, hd_launch_step, list->count);
    *count = list->count;
    for (uint32_t i = 0; i < list->count; i++)
        good = read_step(r, list->items[i], &(*steps)[i], depth) && good;
    return good;
}

static bool read_group(reader *r, const hd_yaml_node *node, hd_launch_step *step, uint32_t depth)
{
    step->kind = HD_DO_GROUP;
    bool good = hd_yaml_known_keys(node, KEYS("steps", "repeat", "until", "for"));
    good = read_repetition(r, node, &step->repetition) && good;
    return read_list(r, hd_yaml_get(node, "steps"), &step->steps, &step->step_count, depth + 1) && good;
}

static bool read_step(reader *r, const hd_yaml_node *node, hd_launch_step *step, uint32_t depth)
{
    uint64_t last = r->last;
    const hd_variable *variables = r->variables;
    *step = (hd_launch_step){.node = node, .repetition = {.most = 1, .buffer = HD_NONE}};
    if (!hd_yaml_mapping(node))
        return false;
    bool good = hd_yaml_get(node, "set")     ? read_set(r, node, step)
                : hd_yaml_get(node, "copy")  ? read_copy(r, node, step)
                : hd_yaml_get(node, "steps") ? read_group(r, node, step, depth)
                                             : read_launch(r, node, step);
    r->last = last;
    r->variables = variables;
    return good;
}

bool hd_launch_read_steps(hd_launch_reader *r, const hd_yaml_node *list)
{
    return read_list(r, list, &r->file->steps, &r->file->step_count, 0);
}
