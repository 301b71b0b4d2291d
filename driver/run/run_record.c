/* Writes the launch file of a recorded run.
 *
 * Every buffer lies where it lay in the program's run, so that addresses in memory are right without being known. The
 * content that a buffer has before the first launch after its allocation is its fill; later changes by the host are
 * steps. Equal launches in a row are one with `repeat`. What the launches left in each buffer is its expectation.
 * Buffers that no kernel accesses are left out. Kernels of several modules are linked to one, in which variables do not
 * lie where they lay: a program that keeps their addresses in memory is not recorded right, which a replay shows.
 * Several cubins are one file, in which each is what it was. */
#include "base/output.h"
#include "driver/run/run_work.h"
#include "parser/fatbin.h"
#include "parser/link.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <unistd.h>

typedef struct buffer {
    const char *name, *file, *hash; /* file: of the first content; NULL: zeros */
    uint64_t address, bytes;
    bool symbol;
    bool filled; /* its first content is known */
} buffer;

typedef struct record {
    const hd_run *run;
    hd_writer *to;
    hd_arena *arena;
    HD_ARRAY(buffer) buffers;         /* by id; name NULL: not in a launch */
    HD_ARRAY(const json_t *) modules; /* of launches, in their order; a module's index is its space in `linked` */
    hd_link_result linked;            /* of several modules in PTX */
    hd_sources cubins;                /* several of them: their contents */
} record;

static bool is_event(const json_t *event, const char *kind) { return strcmp(run_string(event, "event"), kind) == 0; }
static json_int_t unit_of(const json_t *event) { return json_integer_value(json_object_get(event, "unit")); }
static uint32_t id_of(const json_t *event) { return (uint32_t)json_integer_value(json_object_get(event, "id")); }

/* The space of an event's module in the linked one; HD_NONE: no kernel of it was launched. */
static uint32_t space_of(const record *r, const json_t *event)
{
    for (uint32_t i = 0; i < r->modules.count; i++)
        if (unit_of(r->modules.items[i]) == unit_of(event))
            return i;
    return HD_NONE;
}

static bool is_cubin(const json_t *module) { return json_integer_value(json_object_get(module, "sm")) != 0; }

/* A kernel's or variable's name in the record's module. */
static const char *name_in(const record *r, const json_t *event, const char *name)
{
    uint32_t space = space_of(r, event);
    return r->modules.count < 2 || space == HD_NONE ? name : hd_link_find(&r->linked, space, name);
}

static buffer *buffer_of(record *r, const json_t *event)
{
    uint32_t id = id_of(event);
    while (r->buffers.count <= id)
        hd_array_push(&r->buffers, (buffer){0});
    return &r->buffers.items[id];
}

/* A variable has the module's content in launches before the host changes it. */
static bool is_first(const buffer *b, bool launched) { return !b->filled && !(b->symbol && launched); }

static void collect(record *r)
{
    bool launched = false;
    size_t i;
    json_t *e;
    json_array_foreach(r->run->events, i, e)
    {
        if (is_event(e, "buffer")) {
            buffer *b = buffer_of(r, e);
            bool known = !json_is_true(json_object_get(e, "symbol")) || space_of(r, e) != HD_NONE;
            b->name = known ? name_in(r, e, run_string(e, "name")) : NULL;
            b->address = (uint64_t)json_integer_value(json_object_get(e, "address"));
            b->bytes = (uint64_t)json_integer_value(json_object_get(e, "bytes"));
            b->symbol = json_is_true(json_object_get(e, "symbol"));
        } else if (is_event(e, "launch")) {
            launched = true;
        } else if (is_event(e, "set") && is_first(buffer_of(r, e), launched)) {
            buffer_of(r, e)->file = run_string(e, "file");
            buffer_of(r, e)->filled = true;
        } else if (is_event(e, "expect")) {
            buffer *b = buffer_of(r, e);
            b->hash = run_string(e, "hash");
            if (!json_is_true(json_object_get(e, "accessed")))
                b->name = NULL;
        }
    }
}

static bool is_content(const record *r, const char *file)
{
    size_t i;
    json_t *e;
    json_array_foreach(r->run->events, i, e)
    {
        if (is_event(e, "set") && buffer_of((record *)(uintptr_t)r, e)->name && !strcmp(run_string(e, "file"), file))
            return true;
    }
    return false;
}

/* Removes the contents of buffers that no kernel accesses. */
static void remove_unread(record *r)
{
    size_t i;
    json_t *e;
    json_array_foreach(r->run->events, i, e)
    {
        if (is_event(e, "set") && !buffer_of(r, e)->name && !is_content(r, run_string(e, "file")))
            unlink(hd_arena_printf(r->arena, "%s/%s", r->run->folder, run_string(e, "file")));
    }
}

/* ---- buffers and textures ---------------------------------------------------------------------------------------- */

static void write_buffers(record *r, bool symbols)
{
    const char *title = symbols ? "symbols:\n" : "buffers:\n";
    for (uint32_t i = 0; i < r->buffers.count; i++) {
        const buffer *b = &r->buffers.items[i];
        if (!b->name || b->symbol != symbols || !b->bytes)
            continue;
        hd_write_string(r->to, title);
        title = "";
        hd_write_format(r->to, "  \"%s\": {type: u8, count: %" PRIu64, b->name, b->bytes);
        if (!symbols)
            hd_write_format(r->to, ", address: 0x%" PRIx64, b->address);
        if (b->file)
            hd_write_format(r->to, ", fill: {file: %s}", b->file);
        if (b->hash)
            hd_write_format(r->to, ", expect: {xxh3: \"%s\"}", b->hash);
        hd_write_string(r->to, "}\n");
    }
}

static void write_flag(record *r, const json_t *e, const char *key, const char *text)
{
    if (json_is_true(json_object_get(e, key)))
        hd_write_string(r->to, text);
}

static uint64_t at(const json_t *e, const char *key, size_t index)
{
    return (uint64_t)json_integer_value(json_array_get(json_object_get(e, key), index));
}

static void write_texture(record *r, const json_t *e)
{
    static const char *const modes[] = {"wrap", "clamp", "mirror", "border"};
    const char *type = run_string(e, "type");
    bool buffered = strcmp(type, "buffer") == 0, cube = strstr(type, "cube") != NULL;
    bool has_height = !buffered && !cube && !strstr(type, "1d"), surface = json_is_true(json_object_get(e, "surface"));
    uint64_t row = (uint64_t)json_integer_value(json_object_get(e, "row_bytes"));
    hd_write_format(r->to, "  %s: {type: %s, format: %s, channels: %d, width: %" PRIu64, run_string(e, "name"), type,
                    run_string(e, "format"), (int)json_integer_value(json_object_get(e, "channels")), at(e, "size", 0));
    if (has_height)
        hd_write_format(r->to, ", height: %" PRIu64, at(e, "size", 1));
    if (strcmp(type, "3d") == 0)
        hd_write_format(r->to, ", depth: %" PRIu64, at(e, "size", 2));
    if (*type == 'a')
        hd_write_format(r->to, ", layers: %d", (int)json_integer_value(json_object_get(e, "layers")));
    hd_write_format(r->to, ", from: \"%s\", offset: %" PRIu64, buffer_of(r, e)->name,
                    (uint64_t)json_integer_value(json_object_get(e, "offset")));
    if (row)
        hd_write_format(r->to, ", pitch: %" PRIu64, row);
    write_flag(r, e, "surface", ", surface: true");
    write_flag(r, e, "linear", ", filter: linear");
    write_flag(r, e, "normalized", ", normalized: true");
    write_flag(r, e, "to_float", ", read: normalized_float");
    write_flag(r, e, "seamless", ", seamless: true");
    if (!surface)
        hd_write_format(r->to, ", address: [%s, %s, %s]", modes[at(e, "address", 0) & 3],
                        modes[at(e, "address", 1) & 3], modes[at(e, "address", 2) & 3]);
    hd_write_string(r->to, "}\n");
}

static void write_textures(record *r)
{
    const char *title = "textures:\n";
    size_t i;
    json_t *e;
    json_array_foreach(r->run->events, i, e)
    {
        if (!is_event(e, "texture"))
            continue;
        hd_write_string(r->to, title);
        title = "";
        write_texture(r, e);
    }
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* The buffer that contains an address; NULL: none. */
static const buffer *find_buffer(const record *r, uint64_t address)
{
    for (uint32_t i = 0; i < r->buffers.count; i++) {
        const buffer *b = &r->buffers.items[i];
        if (b->name && !b->symbol && address - b->address < b->bytes)
            return b;
    }
    return NULL;
}

static void write_bytes(record *r, const json_t *bytes)
{
    hd_write_string(r->to, "{bytes: [");
    for (size_t i = 0; i < json_array_size(bytes); i++)
        hd_write_format(r->to, "%s%d", i ? ", " : "", (int)json_integer_value(json_array_get(bytes, i)));
    hd_write_string(r->to, "]}");
}

/* A float that decimal digits give back. */
static bool write_float(record *r, uint64_t bits, size_t size)
{
    float narrow;
    double wide;
    uint32_t low = (uint32_t)bits;
    memcpy(&narrow, &low, sizeof narrow);
    memcpy(&wide, &bits, sizeof wide);
    if (!isfinite(size == sizeof narrow ? (double)narrow : wide))
        return false;
    if (size == sizeof narrow)
        hd_write_format(r->to, "{f32: %.9g}", (double)narrow);
    else
        hd_write_format(r->to, "{f64: %.17g}", wide);
    return true;
}

static void write_parameter(record *r, const json_t *parameter)
{
    const char *type = json_string_value(json_array_get(parameter, 0));
    const json_t *bytes = json_array_get(parameter, 1);
    size_t size = json_array_size(bytes);
    uint64_t value = 0;
    for (size_t i = 0; i < size && i < sizeof value; i++)
        value |= (uint64_t)json_integer_value(json_array_get(bytes, i)) << (8 * i);
    const buffer *b = size == sizeof value ? find_buffer(r, value) : NULL;
    if (strcmp(type, "bytes") == 0 || size > sizeof value)
        write_bytes(r, bytes);
    else if (b && value == b->address)
        hd_write_format(r->to, "\"%s\"", b->name);
    else if (b)
        hd_write_format(r->to, "{buffer: \"%s\", offset: %" PRIu64 "}", b->name, value - b->address);
    else if (*type == 'u')
        hd_write_format(r->to, "{%s: %" PRIu64 "}", type, value);
    else if ((strcmp(type, "f32") && strcmp(type, "f64")) || !write_float(r, value, size))
        write_bytes(r, bytes);
}

static bool are_equal_launches(const json_t *a, const json_t *b)
{
    static const char *const keys[] = {"event", "unit",   "kernel",      "grid",
                                       "block", "shared", "cooperative", "parameters"};
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (!json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i])))
            return false;
    return true;
}

static void write_launch(record *r, const json_t *e, uint32_t repeat)
{
    size_t i;
    json_t *p;
    const json_t *parameters = json_object_get(e, "parameters");
    hd_write_format(r->to,
                    "  - kernel: \"%s\"\n    grid: [%" PRIu64 ", %" PRIu64 ", %" PRIu64 "]\n    block: [%" PRIu64
                    ", %" PRIu64 ", %" PRIu64 "]\n",
                    name_in(r, e, run_string(e, "kernel")), at(e, "grid", 0), at(e, "grid", 1), at(e, "grid", 2),
                    at(e, "block", 0), at(e, "block", 1), at(e, "block", 2));
    int shared = (int)json_integer_value(json_object_get(e, "shared"));
    if (shared)
        hd_write_format(r->to, "    shared: %d\n", shared);
    write_flag(r, e, "cooperative", "    cooperative: true\n");
    if (json_array_size(parameters))
        hd_write_string(r->to, "    params:\n");
    json_array_foreach(parameters, i, p)
    {
        hd_write_string(r->to, "      - ");
        write_parameter(r, p);
        hd_write_char(r->to, '\n');
    }
    if (repeat > 1)
        hd_write_format(r->to, "    repeat: %u\n", repeat);
}

static void write_steps(record *r)
{
    size_t count = json_array_size(r->run->events);
    bool launched = false;
    for (uint32_t i = 0; i < r->buffers.count; i++)
        r->buffers.items[i].filled = false;
    hd_write_string(r->to, "launches:\n");
    for (size_t i = 0; i < count; i++) {
        const json_t *e = json_array_get(r->run->events, i);
        if (is_event(e, "set")) {
            buffer *b = buffer_of(r, e);
            if (!is_first(b, launched) && b->bytes && b->name)
                hd_write_format(r->to, "  - {set: \"%s\", fill: {file: %s}}\n", b->name, run_string(e, "file"));
            b->filled = true;
        }
        if (!is_event(e, "launch"))
            continue;
        uint32_t repeat = 1;
        launched = true;
        while (i + 1 < count && are_equal_launches(e, json_array_get(r->run->events, i + 1))) {
            repeat++;
            i++;
        }
        write_launch(r, e, repeat);
    }
}

static void write_launch_file(record *r, hd_writer *to)
{
    r->to = to;
    const json_t *module = r->modules.items[0];
    /* where the module's variables begin: as in the program's run, unless they were placed after buffers */
    uint64_t base = (uint64_t)json_integer_value(json_object_get(module, "base"));
    bool same = r->modules.count == 1 && json_is_true(json_object_get(module, "first"));
    const char *until = r->run->has_ended ? "" : ", until it was killed or called _exit";
    hd_write_format(r->to, "# %s, as it ran on %s%s.\nmodule: %s\naddress_bits: 64\nmemory_base: 0x%" PRIx64 "\n",
                    r->run->program, r->run->gpu ? r->run->gpu : "", until,
                    r->modules.count == 1 ? run_string(module, "file")
                    : is_cubin(module)    ? HD_RUN_CUBINS_FILE
                                          : HD_RUN_LINKED_FILE,
                    same ? base : base + ((uint64_t)1 << 40));
    write_buffers(r, false);
    write_buffers(r, true);
    write_textures(r);
    write_steps(r);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* A file of the record's folder, by what writes it. */
static bool write_file(const record *r, const char *name, void (*write)(record *, hd_writer *), hd_diagnostics *d)
{
    hd_output output;
    const char *path = hd_arena_printf(r->arena, "%s/%s", r->run->folder, name);
    bool good = hd_output_open(&output, path);
    if (good) {
        write((record *)(uintptr_t)r, &output.writer);
        good = hd_output_finish(&output) && hd_output_publish(&output);
        hd_output_drop(&output);
    }
    if (!good)
        hd_report(d, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "%s cannot be written: %s", path, strerror(errno));
    return good;
}

static void write_linked(record *r, hd_writer *to)
{
    hd_write(to, r->linked.text.buffer.items, r->linked.text.buffer.count);
}

static void find_modules(record *r)
{
    size_t i, k;
    json_t *e, *m;
    json_array_foreach(r->run->events, i, e)
    {
        if (!is_event(e, "launch") || space_of(r, e) != HD_NONE)
            continue;
        json_array_foreach(r->run->events, k, m)
        {
            if (is_event(m, "module") && unit_of(m) == unit_of(e)) {
                hd_array_push(&r->modules, m);
                break;
            }
        }
    }
}

/* The contents of all modules; the caller frees them. */
static bool read_modules(record *r, hd_sources *sources, hd_diagnostics *diagnostics)
{
    for (uint32_t i = 0; i < r->modules.count; i++) {
        hd_source source;
        const char *path = hd_arena_printf(r->arena, "%s/%s", r->run->folder, run_string(r->modules.items[i], "file"));
        if (!hd_source_read(&source, path)) {
            hd_report(diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "cannot read %s: %s", path,
                      hd_source_why(errno));
            return false;
        }
        hd_array_push(sources, source);
    }
    return true;
}

static void free_sources(hd_sources *sources)
{
    for (uint32_t i = 0; i < sources->count; i++)
        hd_source_free(&sources->items[i]);
    hd_array_free(sources);
}

/* Several modules become one, in which each has names of its own. */
static bool link_modules(record *r, hd_diagnostics *diagnostics)
{
    hd_sources sources = {0};
    uint32_t *spaces = hd_calloc(r->modules.count, sizeof *spaces);
    for (uint32_t i = 0; i < r->modules.count; i++)
        spaces[i] = i;
    bool good = read_modules(r, &sources, diagnostics) &&
                hd_link_ptx(sources.items, spaces, sources.count, &r->linked, diagnostics) &&
                write_file(r, HD_RUN_LINKED_FILE, write_linked, diagnostics);
    free_sources(&sources);
    free(spaces);
    return good;
}

static void write_cubins(record *r, hd_writer *to)
{
    for (uint32_t i = 0; i < r->cubins.count; i++)
        hd_fatbin_write_cubin(to, &r->cubins.items[i],
                              (uint32_t)json_integer_value(json_object_get(r->modules.items[i], "sm")));
}

/* Why several modules cannot be one file; NULL: they can. Names of cubins are what they are, and so are sections. */
static const char *why_apart(const record *r)
{
    size_t i, k;
    json_t *e, *other;
    for (uint32_t m = 1; m < r->modules.count; m++)
        if (is_cubin(r->modules.items[m]) != is_cubin(r->modules.items[0]))
            return "kernels of PTX and of machine code were launched";
    json_array_foreach(r->run->events, i, e)
    {
        if (is_event(e, "buffer") && json_is_true(json_object_get(e, "symbol")))
            return "the program has several cubins, and changes variables";
        json_array_foreach(r->run->events, k, other)
        {
            if (is_event(e, "launch") && is_event(other, "launch") && unit_of(e) != unit_of(other) &&
                strcmp(run_string(e, "kernel"), run_string(other, "kernel")) == 0)
                return "kernels of one name in several cubins were launched";
        }
    }
    return NULL;
}

static bool join_cubins(record *r, hd_diagnostics *diagnostics)
{
    const char *why = why_apart(r);
    if (why)
        hd_report(diagnostics, HD_DIAG_UNSUPPORTED, NULL, (hd_span){0, 0},
                  "no launch file was recorded: %s; with --code=ptx it is", why);
    return !why && read_modules(r, &r->cubins, diagnostics) &&
           write_file(r, HD_RUN_CUBINS_FILE, write_cubins, diagnostics);
}

static bool has_cubin(const record *r)
{
    for (uint32_t i = 0; i < r->modules.count; i++)
        if (is_cubin(r->modules.items[i]))
            return true;
    return false;
}

static bool join_modules(record *r, hd_diagnostics *diagnostics)
{
    return r->modules.count == 1 || (has_cubin(r) ? join_cubins(r, diagnostics) : link_modules(r, diagnostics));
}

bool hd_run_write_launch(const hd_run *run, const char *name, hd_diagnostics *diagnostics)
{
    hd_arena arena = {0};
    record r = {.run = run, .arena = &arena};
    find_modules(&r);
    bool good = r.modules.count > 0 && !run->has_several;
    if (!good)
        hd_report(diagnostics, HD_DIAG_UNREADABLE, NULL, (hd_span){0, 0}, "no launch file was recorded: %s",
                  run->has_several ? "several processes launched kernels" : "the program launched no kernel");
    good = good && join_modules(&r, diagnostics);
    if (good) {
        collect(&r);
        good = write_file(&r, name, write_launch_file, diagnostics);
        remove_unread(&r);
    }
    hd_array_free(&r.buffers);
    hd_array_free(&r.modules);
    hd_link_free(&r.linked);
    free_sources(&r.cubins);
    hd_arena_free(&arena);
    return good;
}
