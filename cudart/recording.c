/* Writes the events of a run: see recording.h. */
#include "cudart/recording.h"
#include "base/hash.h"
#include "base/output.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
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

static void emit(hd_cu_recording *t, json_t *event)
{
    char *line = json_dumps(event, JSON_COMPACT);
    size_t length = line ? strlen(line) : 0, done = 0;
    ssize_t now = line != NULL;
    if (line)
        line[length] = '\n';
    while (now > 0 && done <= length) {
        now = write(t->file, line + done, length + 1 - done);
        done += now > 0 ? (size_t)now : 0;
    }
    if (done != length + 1)
        fail(t, HD_TRACE_FILE);
    free(line);
    json_decref(event);
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
    if (t->record)
        write_file(t, u->file, u->source.text, u->source.length, false);
    emit(t, json_pack("{s:s,s:i,s:s,s:s,s:I,s:b}", "event", "module", "unit", (int)u->index, "file", u->file, "gpu",
                      gpu->name, "base", (json_int_t)HD_RUNTIME_BASE, "first", (int)u->is_first));
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

/* The module of a variable. */
static int unit_of_variable(const hd_runtime *r, uint32_t allocation)
{
    for (uint32_t i = 0; i < r->units.count; i++) {
        const hd_cu_unit *u = r->units.items[i];
        for (uint32_t k = 0; !u->why && k < u->module->symbols.count; k++)
            if (u->image.allocations[k] == allocation)
                return (int)u->index;
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
    emit(t, json_pack("{s:s,s:i,s:s,s:I,s:I,s:b,s:i}", "event", "buffer", "id", (int)b->id, "name", a->name, "address",
                      (json_int_t)a->base, "bytes", (json_int_t)a->size, "symbol", (int)b->is_variable, "unit",
                      b->is_variable ? unit_of_variable(r, allocation) : 0));
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
        emit(t, json_pack("{s:s,s:i,s:s}", "event", "set", "id", (int)b->id, "file", name));
    }
    b->changed = false;
    b->has_hash = false;
    b->used = true;
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
    emit(t, json_pack("{s:s,s:i,s:s,s:b}", "event", "expect", "id", (int)b->id, "hash", text, "accessed",
                      (int)a->accessed));
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
    emit(t,
         json_pack("{s:s,s:s,s:i,s:I,s:s,s:s,s:i,s:[i,i,i],s:i,s:i,s:b,s:b,s:b,s:b,s:b,s:[i,i,i]}", "event", "texture",
                   "name", x->name, "id", (int)block_of(t, x->buffer)->id, "offset", (json_int_t)x->offset, "type",
                   hd_texture_kind_names[x->kind], "format", hd_types[x->type].spelling, "channels", (int)x->channels,
                   "size", (int)x->width, (int)x->height, (int)x->depth, "layers", (int)x->layers, "row_bytes",
                   (int)(x->row_texels * hd_texel_bytes(x)), "surface", (int)x->surface, "linear", (int)x->linear,
                   "normalized", (int)x->normalized, "to_float", (int)x->to_float, "seamless", (int)x->seamless,
                   "address", (int)x->address[0], (int)x->address[1], (int)x->address[2]));
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

static json_t *parameters_of(const hd_cu_launch *q)
{
    json_t *list = json_array();
    const hd_module *m = q->kernel->unit->module;
    const hd_function *f = q->kernel->function;
    for (uint32_t i = 0; i < f->parameter_count; i++) {
        const unsigned char *at = q->parameters + hd_parameter_offset(m, f, i);
        json_t *bytes = json_array();
        for (uint64_t k = 0; k < m->symbols.items[f->parameter_first + i].size_bytes; k++)
            json_array_append_new(bytes, json_integer(at[k]));
        const hd_symbol *s = &m->symbols.items[f->parameter_first + i];
        json_array_append_new(list,
                              json_pack("[s,o]", s->dimension_count ? "bytes" : hd_types[s->type].spelling, bytes));
    }
    return list;
}

static const char *const status_names[] = {"done", "fault", "stopped", "limit", "unsupported"};

void hd_cu_record_after(hd_runtime *r, const hd_cu_launch *q, hd_exec_status status, const hd_exec_statistics *s)
{
    hd_cu_recording *t = recording_of(r);
    if (!t)
        return;
    json_t *e =
        json_pack("{s:s,s:i,s:i,s:s,s:[I,I,I],s:[I,I,I],s:I,s:b,s:s,s:I,s:I,s:I,s:I}", "event", "launch", "process",
                  (int)t->process, "unit", (int)q->kernel->unit->index, "kernel", q->kernel->name, "grid",
                  (json_int_t)q->grid.x, (json_int_t)q->grid.y, (json_int_t)q->grid.z, "block", (json_int_t)q->block.x,
                  (json_int_t)q->block.y, (json_int_t)q->block.z, "shared", (json_int_t)q->shared_bytes, "cooperative",
                  (int)q->cooperative, "status", status_names[status], "warp_instructions",
                  (json_int_t)s->warp_instructions, "thread_instructions", (json_int_t)s->thread_instructions,
                  "divergent_branches", (json_int_t)s->divergent_branches, "races", (json_int_t)s->races);
    if (t->record)
        json_object_set_new(e, "parameters", parameters_of(q));
    emit(t, e);
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
    if (t)
        emit(t, json_pack("{s:s}", "event", "static"));
}

void hd_cu_record_limit(hd_runtime *r)
{
    hd_cu_recording *t = recording_of(r);
    if (t)
        emit(t, json_pack("{s:s}", "event", "limit"));
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
    emit(t, json_pack("{s:s,s:i}", "event", "end", "process", (int)t->process));
    close(t->file);
    free(t);
    r->recording = NULL;
}
