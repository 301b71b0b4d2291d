/* Writes the events of a run: see recording.h. */
#include "cudart/recording.h"
#include "base/hash.h"
#include "base/output.h"
#include "emitters/json.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

enum { FASTEST = 1 }; /* of zstd's levels */

/* An allocation that a launch may use. */
typedef struct hd_cu_record_block {
    uint32_t id;
    bool is_variable; /* of a module */
    bool named;       /* its buffer event was written */
    bool changed;     /* by the host, since the last launch */
    bool used;        /* a launch has run since it was allocated */
    bool watched;     /* the host may change it unseen: `left` is what the last launch left */
    unsigned char *left;
    uint64_t hash; /* of what the launches left, where the host changed it since; valid if has_hash */
    bool has_hash;
} hd_cu_record_block;

typedef struct hd_cu_recording {
    int file;
    pid_t process;
    bool record, failed;
    const char *folder;
    uint32_t blocks;
    HD_ARRAY(hd_cu_record_block *) by_allocation;
    hd_writer line; /* of the event that is being written */
    hd_json json;
} hd_cu_recording;

/* Something is missing: says so once, and leaves a mark, which needs no room. */
static void fail(hd_cu_recording *t, const char *name)
{
    char path[4096];
    if (t->failed)
        return;
    t->failed = true;
    hd_runtime_say("%s/%s cannot be written: %s", t->folder, name, strerror(errno));
    snprintf(path, sizeof path, "%s/" HD_TRACE_FAILED_FILE, t->folder);
    int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    if (file >= 0)
        close(file);
}

static hd_json *begin(hd_cu_recording *t, const char *event)
{
    t->line.buffer.count = 0;
    t->json = (hd_json){.out = &t->line, .dense = true};
    hd_json_compact_object(&t->json, NULL);
    hd_json_text(&t->json, "event", event);
    return &t->json;
}

static void end(hd_cu_recording *t)
{
    hd_json_end(&t->json);
    hd_write_char(&t->line, '\n');
    size_t length = t->line.buffer.count, done = 0;
    for (ssize_t now = 1; now > 0 && done < length;) {
        now = write(t->file, t->line.buffer.items + done, length - done);
        done += now > 0 ? (size_t)now : 0;
    }
    if (done != length)
        fail(t, HD_TRACE_FILE);
}

static void write_three(hd_json *j, const char *key, uint32_t x, uint32_t y, uint32_t z)
{
    hd_json_array(j, key);
    hd_json_number(j, NULL, x);
    hd_json_number(j, NULL, y);
    hd_json_number(j, NULL, z);
    hd_json_end(j);
}

/* A forked process writes nothing. */
static hd_cu_recording *recording_of(hd_runtime *r)
{
    return r->recording && r->recording->process == getpid() ? r->recording : NULL;
}

hd_cu_recording *hd_cu_record_open(hd_runtime *r)
{
    if (!r->options.folder)
        return NULL;
    char *path = hd_arena_printf(&r->arena, "%s/" HD_TRACE_FILE, r->options.folder);
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    hd_cu_recording *t = hd_calloc(1, sizeof *t);
    *t = (hd_cu_recording){.file = file, .process = getpid(), .record = r->options.record, .folder = r->options.folder};
    hd_writer_to_memory(&t->line);
    if (file < 0)
        fail(t, HD_TRACE_FILE);
    return t;
}

/* Writes a file of the folder. `once`: if there is none of that name. */
static void write_file(hd_cu_recording *t, const char *name, const void *bytes, size_t size, bool once)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", t->folder, name);
    hd_output output;
    if (once && access(path, R_OK) == 0)
        return;
    if (!hd_output_open(&output, path)) {
        fail(t, name);
        return;
    }
    output.unsynced = true;
    hd_write(&output.writer, bytes, size);
    if (!hd_output_finish(&output) || !hd_output_publish(&output))
        fail(t, name);
    hd_output_drop(&output);
}

void hd_cu_record_unit(hd_runtime *r, const hd_cu_unit *u, const hd_gpu *gpu)
{
    hd_cu_recording *t = recording_of(r);
    if (!t)
        return;
    const hd_source *kept = u->cubin.length ? &u->cubin : &u->source;
    uint32_t sm = u->cubin.length && u->module ? u->module->target_number : 0;
    if (t->record)
        write_file(t, u->file, kept->text, kept->length, false);
    hd_json *j = begin(t, "module");
    hd_json_number(j, "unit", u->index);
    hd_json_text(j, "file", u->file);
    hd_json_text(j, "gpu", gpu->name);
    hd_json_number(j, "base", HD_RUNTIME_BASE);
    hd_json_bool(j, "first", u->is_first);
    hd_json_number(j, "sm", sm);
    hd_json_text(j, "tool", u->tool);
    end(t);
}

/* Compressed, by the content's hash. */
static void write_content(hd_cu_recording *t, char name[32], const hd_allocation *a)
{
    size_t room = ZSTD_compressBound((size_t)a->size);
    char *packed = hd_malloc(room);
    snprintf(name, 32, "%016" PRIx64 ".zst", hd_hash(a->bytes, (size_t)a->size));
    size_t size = ZSTD_compress(packed, room, a->bytes, (size_t)a->size, FASTEST);
    if (!ZSTD_isError(size))
        write_file(t, name, packed, size, true);
    free(packed);
}

/* ---- buffers ----------------------------------------------------------------------------------------------------- */

static hd_cu_record_block *block_of(hd_cu_recording *t, uint32_t allocation)
{
    return allocation < t->by_allocation.count ? t->by_allocation.items[allocation] : NULL;
}

static void watch(hd_runtime *r, uint32_t allocation, bool is_variable, bool unseen)
{
    hd_cu_recording *t = recording_of(r);
    if (!t || !t->record)
        return;
    while (t->by_allocation.count <= allocation)
        hd_array_push(&t->by_allocation, NULL);
    hd_cu_record_block *b = hd_calloc(1, sizeof *b);
    *b = (hd_cu_record_block){.id = t->blocks++, .is_variable = is_variable, .watched = unseen, .changed = unseen};
    if (unseen)
        b->left = hd_calloc((size_t)r->memory.allocations.items[allocation].size + 1, 1);
    t->by_allocation.items[allocation] = b;
}

void hd_cu_record_allocated(hd_runtime *r, uint32_t allocation, bool is_mapped)
{
    watch(r, allocation, false, is_mapped);
}

void hd_cu_record_mapped(hd_runtime *r, uint32_t allocation) { watch(r, allocation, true, true); }

/* Module variables are watched from the first change on. */
void hd_cu_record_written(hd_runtime *r, uint32_t allocation)
{
    hd_cu_recording *t = recording_of(r);
    if (!t || !t->record)
        return;
    if (!block_of(t, allocation))
        watch(r, allocation, true, false);
    hd_cu_record_block *b = block_of(t, allocation);
    const hd_allocation *a = &r->memory.allocations.items[allocation];
    if (!b->changed && b->used && !b->watched) {
        b->hash = hd_hash(a->bytes, (size_t)a->size);
        b->has_hash = true;
    }
    b->changed = true;
}

static bool has_section(const hd_cu_unit *u, uint32_t allocation)
{
    for (uint32_t k = 0; !u->why && k < u->image.sections.count; k++)
        if (u->image.sections.items[k].allocation == allocation)
            return true;
    return false;
}

/* The module of a variable. */
static uint32_t unit_of_variable(const hd_runtime *r, uint32_t allocation)
{
    for (uint32_t i = 0; i < r->units.count; i++) {
        const hd_cu_unit *u = r->units.items[i];
        for (uint32_t k = 0; !u->why && k < u->module->symbols.count; k++)
            if (u->image.allocations[k] == allocation)
                return u->index;
        if (has_section(u, allocation))
            return u->index;
    }
    return 0;
}

static void name_block(hd_runtime *r, hd_cu_recording *t, uint32_t allocation)
{
    hd_cu_record_block *b = block_of(t, allocation);
    const hd_allocation *a = &r->memory.allocations.items[allocation];
    if (b->named)
        return;
    b->named = true;
    hd_json *j = begin(t, "buffer");
    hd_json_number(j, "id", b->id);
    hd_json_text(j, "name", a->name);
    hd_json_number(j, "address", a->base);
    hd_json_number(j, "bytes", a->size);
    hd_json_bool(j, "symbol", b->is_variable);
    hd_json_number(j, "unit", b->is_variable ? unit_of_variable(r, allocation) : 0);
    end(t);
}

/* The content before a launch, where it is not what the last one left. */
static void set_block(hd_runtime *r, hd_cu_recording *t, uint32_t allocation)
{
    hd_cu_record_block *b = block_of(t, allocation);
    const hd_allocation *a = &r->memory.allocations.items[allocation];
    char name[32];
    if (b->watched)
        b->changed = !b->used || memcmp(b->left, a->bytes, (size_t)a->size) != 0;
    name_block(r, t, allocation);
    if (b->changed) {
        write_content(t, name, a);
        hd_json *j = begin(t, "set");
        hd_json_number(j, "id", b->id);
        hd_json_text(j, "file", name);
        end(t);
    }
    b->changed = false;
    b->has_hash = false;
    b->used = true;
}

/* Constant banks of machine code are operands, which the memory does not see. */
static bool is_bank(const hd_runtime *r, uint32_t allocation)
{
    bool found = false;
    for (uint32_t i = 0; i < r->units.count && !found; i++)
        found = has_section(r->units.items[i], allocation);
    return found && r->memory.allocations.items[allocation].space == HD_SPACE_CONST;
}

static void expect_block(hd_runtime *r, hd_cu_recording *t, uint32_t allocation)
{
    hd_cu_record_block *b = block_of(t, allocation);
    const hd_allocation *a = &r->memory.allocations.items[allocation];
    char text[32];
    if (!b->used)
        return;
    uint64_t hash = b->watched    ? hd_hash(b->left, (size_t)a->size)
                    : b->has_hash ? b->hash
                                  : hd_hash(a->bytes, (size_t)a->size);
    snprintf(text, sizeof text, "%016" PRIx64, hash);
    hd_json *j = begin(t, "expect");
    hd_json_number(j, "id", b->id);
    hd_json_text(j, "hash", text);
    hd_json_bool(j, "accessed", a->accessed || is_bank(r, allocation));
    end(t);
}

static void drop_block(hd_cu_recording *t, uint32_t allocation)
{
    free(t->by_allocation.items[allocation]->left);
    free(t->by_allocation.items[allocation]);
    t->by_allocation.items[allocation] = NULL;
}

void hd_cu_record_freed(hd_runtime *r, uint32_t allocation)
{
    hd_cu_recording *t = recording_of(r);
    if (!t || !t->record || !block_of(t, allocation))
        return;
    expect_block(r, t, allocation);
    drop_block(t, allocation);
}

/* ---- textures ---------------------------------------------------------------------------------------------------- */

void hd_cu_record_texture(hd_runtime *r, uint32_t index)
{
    hd_cu_recording *t = recording_of(r);
    const hd_texture *x = &r->textures.items[index];
    if (!t || !t->record || !block_of(t, x->buffer))
        return;
    name_block(r, t, x->buffer);
    r->memory.allocations.items[x->buffer].accessed = true;
    hd_json *j = begin(t, "texture");
    hd_json_text(j, "name", x->name);
    hd_json_number(j, "id", block_of(t, x->buffer)->id);
    hd_json_number(j, "offset", x->offset);
    hd_json_text(j, "type", hd_texture_kind_names[x->kind]);
    hd_json_text(j, "format", hd_types[x->type].spelling);
    hd_json_number(j, "channels", x->channels);
    write_three(j, "size", x->width, x->height, x->depth);
    hd_json_number(j, "layers", x->layers);
    hd_json_number(j, "row_bytes", x->row_texels * hd_texel_bytes(x));
    hd_json_bool(j, "surface", x->surface);
    hd_json_bool(j, "linear", x->linear);
    hd_json_bool(j, "normalized", x->normalized);
    hd_json_bool(j, "to_float", x->to_float);
    hd_json_bool(j, "seamless", x->seamless);
    write_three(j, "address", x->address[0], x->address[1], x->address[2]);
    end(t);
}

/* ---- launches ---------------------------------------------------------------------------------------------------- */

void hd_cu_record_before(hd_runtime *r)
{
    hd_cu_recording *t = recording_of(r);
    if (!t || !t->record)
        return;
    for (uint32_t i = 0; i < t->by_allocation.count; i++)
        if (t->by_allocation.items[i])
            set_block(r, t, i);
}

/* A cubin says only how many bytes a parameter has; a pointer has 8. */
static const char *type_of_parameter(const hd_module *m, const hd_function *f, uint32_t i, uint64_t size)
{
    if (f->machine)
        return size == sizeof(uint64_t) ? "b64" : "bytes";
    const hd_symbol *s = &m->symbols.items[f->parameter_first + i];
    return s->dimension_count ? "bytes" : hd_types[s->type].spelling;
}

static void write_parameters(hd_json *j, const hd_cu_launch *q)
{
    const hd_module *m = q->kernel->unit->module;
    const hd_function *f = q->kernel->function;
    hd_json_array(j, "parameters");
    for (uint32_t i = 0; i < hd_kernel_parameters(f); i++) {
        const unsigned char *at = q->parameters + hd_kernel_parameter_offset(m, f, i);
        uint64_t size = hd_kernel_parameter_bytes(m, f, i);
        hd_json_array(j, NULL);
        hd_json_text(j, NULL, type_of_parameter(m, f, i, size));
        hd_json_array(j, NULL);
        for (uint64_t k = 0; k < size; k++)
            hd_json_number(j, NULL, at[k]);
        hd_json_end(j);
        hd_json_end(j);
    }
    hd_json_end(j);
}

static const char *const status_names[] = {"done", "fault", "stopped", "limit", "unsupported"};

void hd_cu_record_after(hd_runtime *r, const hd_cu_launch *q, hd_exec_status status, const hd_exec_statistics *s)
{
    hd_cu_recording *t = recording_of(r);
    if (!t)
        return;
    hd_json *j = begin(t, "launch");
    hd_json_signed(j, "process", t->process);
    hd_json_number(j, "unit", q->kernel->unit->index);
    hd_json_text(j, "kernel", q->kernel->name);
    write_three(j, "grid", q->grid.x, q->grid.y, q->grid.z);
    write_three(j, "block", q->block.x, q->block.y, q->block.z);
    hd_json_number(j, "shared", q->shared_bytes);
    hd_json_bool(j, "cooperative", q->cooperative);
    hd_json_text(j, "status", status_names[status]);
    hd_json_number(j, "warp_instructions", s->warp_instructions);
    hd_json_number(j, "thread_instructions", s->thread_instructions);
    hd_json_number(j, "divergent_branches", s->divergent_branches);
    hd_json_number(j, "races", s->races);
    if (t->record)
        write_parameters(j, q);
    end(t);
    for (uint32_t i = 0; i < t->by_allocation.count; i++) {
        hd_cu_record_block *b = t->by_allocation.items[i];
        const hd_allocation *a = b ? &r->memory.allocations.items[i] : NULL;
        if (b && b->watched)
            memcpy(b->left, a->bytes, (size_t)a->size);
    }
}

void hd_cu_record_static(hd_runtime *r)
{
    hd_cu_recording *t = recording_of(r);
    if (!t)
        return;
    begin(t, "static");
    end(t);
}

void hd_cu_record_limit(hd_runtime *r)
{
    hd_cu_recording *t = recording_of(r);
    if (!t)
        return;
    begin(t, "limit");
    end(t);
}

void hd_cu_record_end(hd_runtime *r)
{
    hd_cu_recording *t = recording_of(r);
    if (!t)
        return;
    for (uint32_t i = 0; i < t->by_allocation.count; i++)
        if (t->by_allocation.items[i]) {
            expect_block(r, t, i);
            drop_block(t, i);
        }
    hd_json_signed(begin(t, "end"), "process", t->process);
    end(t);
    close(t->file);
    hd_writer_free(&t->line);
    free(t);
    r->recording = NULL;
}
