/* See store.h. */
#include "driver/build/store.h"

#include "base/output.h"
#include "base/scan.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { KEY_DIGITS = 2 * HD_WIDE_HASH_BYTES, NAME_ROOM = KEY_DIGITS + 1, BLOCK_BYTES = 4096, STALE_SECONDS = 3600 };
static const char magic[8] = {'h', 'e', 'd', 'd', 'l', 'e', 'c', '1'};

typedef struct entry_head {
    char magic[sizeof magic];
    uint64_t length; /* of the machine that wrote it: a cache is not shared by others */
    hd_wide_hash hash;
} entry_head;

/* ---- opening ----------------------------------------------------------------------------------------------------- */

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static bool read_size(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    uint64_t number;
    if (!hd_take_number(&text, NULL, 10, UINT64_MAX, &number))
        return false;
    const char *unit = *text ? strchr(units, *text) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    *bytes = number << shift;
    return (unit ? !text[1] : !*text) && *bytes >> shift == number;
}

bool hd_store_open(hd_store *store, hd_arena *arena, hd_diagnostics *diagnostics)
{
    const char *folder = variable("HEDDLE_CACHE_DIR"), *base = variable("XDG_CACHE_HOME"), *home = variable("HOME"),
               *size = variable("HEDDLE_CACHE_SIZE");
    *store = (hd_store){.limit_bytes = (uint64_t)1 << 30};
    if (size && !read_size(size, &store->limit_bytes)) {
        hd_report(diagnostics, HD_DIAG_BAD_VALUE, NULL, (hd_span){0, 0},
                  "HEDDLE_CACHE_SIZE takes bytes, or with K, M, G or T, not '%s'", size);
        return false;
    }
    if (variable("HEDDLE_CACHE_DISABLE"))
        return true;
    store->folder = folder ? hd_arena_printf(arena, "%s", folder)
                    : base ? hd_arena_printf(arena, "%s/heddle", base)
                    : home ? hd_arena_printf(arena, "%s/.cache/heddle", home)
                           : NULL;
    return true;
}

/* ---- shelves ----------------------------------------------------------------------------------------------------- */

typedef struct shelf {
    char *path;
    int statistics; /* locked; -1: it cannot be */
    hd_store_counts counts;
} shelf;

static bool make_folders(char *path)
{
    for (char *at = path + 1; *at; at++)
        if (*at == '/') {
            *at = '\0';
            bool good = mkdir(path, 0777) == 0 || errno == EEXIST;
            *at = '/';
            if (!good)
                return false;
        }
    return mkdir(path, 0777) == 0 || errno == EEXIST;
}

static void read_counts(shelf *s)
{
    char text[512] = {0};
    s->counts = (hd_store_counts){0};
    if (pread(s->statistics, text, sizeof text - 1, 0) <= 0)
        return;
    const char *at = text;
#define READ_COUNT(name, summary) s->counts.name = strtoull(at, (char **)(uintptr_t)&at, 10);
    HD_STORE_COUNTS(READ_COUNT)
#undef READ_COUNT
}

static bool open_shelf(const hd_store *store, uint32_t number, bool make, shelf *s, hd_arena *arena)
{
    s->path = hd_arena_printf(arena, "%s/%x", store->folder, number);
    const char *file = hd_arena_printf(arena, "%s/statistics", s->path);
    s->statistics = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (s->statistics < 0 && make && make_folders(s->path))
        s->statistics = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (s->statistics < 0)
        return false;
    while (flock(s->statistics, LOCK_EX) != 0)
        if (errno != EINTR) {
            close(s->statistics);
            return false;
        }
    read_counts(s);
    return true;
}

static void close_shelf(shelf *s)
{
    char text[512];
    int length = 0;
#define WRITE_COUNT(name, summary) \
    length += snprintf(text + length, sizeof text - (size_t)length, "%llu\n", (unsigned long long)s->counts.name);
    HD_STORE_COUNTS(WRITE_COUNT)
#undef WRITE_COUNT
    if (pwrite(s->statistics, text, (size_t)length, 0) != length || ftruncate(s->statistics, length) != 0)
        s->counts = (hd_store_counts){0}; /* the disk is full: counts are wrong, entries are not */
    close(s->statistics);
}

typedef struct found {
    char name[NAME_ROOM];
    uint64_t bytes;
    struct timespec used;
} found;
HD_ARRAY_TYPE(found_array, found);

static uint64_t size_on_disk(uint64_t bytes) { return (bytes + BLOCK_BYTES - 1) / BLOCK_BYTES * BLOCK_BYTES; }

static bool is_key(const char *name) { return strspn(name, "0123456789abcdef") == KEY_DIGITS && !name[KEY_DIGITS]; }

/* What a process that was ended has left. */
static bool is_leftover(const char *name, const struct stat *status)
{
    return strspn(name, "0123456789abcdef") == KEY_DIGITS && name[KEY_DIGITS] == '.' &&
           status->st_mtime < time(NULL) - STALE_SECONDS;
}

static void list_entries(const shelf *s, found_array *list)
{
    DIR *folder = opendir(s->path);
    struct stat status;
    for (struct dirent *d; folder && (d = readdir(folder));) {
        found f = {.bytes = 0};
        if (fstatat(dirfd(folder), d->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
            continue;
        if (is_leftover(d->d_name, &status))
            unlinkat(dirfd(folder), d->d_name, 0);
        if (!is_key(d->d_name))
            continue;
        memcpy(f.name, d->d_name, NAME_ROOM);
        f.bytes = size_on_disk((uint64_t)status.st_size);
        f.used = status.st_mtim;
        hd_array_push(list, f);
    }
    if (folder)
        closedir(folder);
}

static int compare_use(const void *a, const void *b)
{
    const found *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    if (x->used.tv_nsec != y->used.tv_nsec)
        return x->used.tv_nsec < y->used.tv_nsec ? -1 : 1;
    return strcmp(x->name, y->name);
}

static bool drop(const shelf *s, const char *name, hd_arena *arena)
{
    return unlink(hd_arena_printf(arena, "%s/%s", s->path, name)) == 0;
}

/* Counts anew what is there, and removes the entries used longest ago until `limit` bytes are left. */
static void trim(shelf *s, uint64_t limit, hd_arena *arena)
{
    found_array list = {0};
    list_entries(s, &list);
    if (list.count)
        qsort(list.items, list.count, sizeof *list.items, compare_use);
    s->counts.entries = list.count;
    s->counts.bytes = 0;
    for (uint32_t i = 0; i < list.count; i++)
        s->counts.bytes += list.items[i].bytes;
    for (uint32_t i = 0; i < list.count && s->counts.bytes > limit; i++)
        if (drop(s, list.items[i].name, arena)) {
            s->counts.removed++;
            s->counts.entries--;
            s->counts.bytes -= list.items[i].bytes;
        }
    hd_array_free(&list);
}

/* ---- entries ----------------------------------------------------------------------------------------------------- */

static void write_name(char *name, hd_wide_hash key)
{
    for (uint32_t i = 0; i < HD_WIDE_HASH_BYTES; i++)
        snprintf(name + 2 * (size_t)i, 3, "%02x", key.bytes[i]);
}

static uint32_t shelf_of(hd_wide_hash key) { return key.bytes[0] >> 4; }

typedef enum reading { ABSENT, DAMAGED, INTACT } reading;

/* The contents of an entry after what the writer has. */
static reading read_entry(const char *path, bool use, hd_writer *out)
{
    entry_head head;
    struct stat status;
    int file = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a named pipe is no entry, and not waited for */
    if (file < 0)
        return ABSENT;
    bool good = fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
                read(file, &head, sizeof head) == (ssize_t)sizeof head &&
                memcmp(head.magic, magic, sizeof magic) == 0 && head.length == (uint64_t)status.st_size - sizeof head &&
                head.length <= UINT32_MAX;
    char *text = good ? hd_malloc(head.length + 1) : NULL;
    uint64_t done = 0;
    for (ssize_t n; good && done < head.length && (n = read(file, text + done, head.length - done)) > 0;)
        done += (uint64_t)n;
    hd_wide_hash hash = good ? hd_hash_wide(text, done) : (hd_wide_hash){{0}};
    good = good && done == head.length && memcmp(&hash, &head.hash, sizeof hash) == 0;
    if (good && use)
        futimens(file, NULL);
    if (good && out)
        hd_write(out, text, done);
    free(text);
    close(file);
    return good ? INTACT : DAMAGED;
}

bool hd_store_get(const hd_store *store, hd_wide_hash key, hd_writer *out)
{
    hd_arena arena = {0};
    shelf s;
    char name[NAME_ROOM];
    write_name(name, key);
    if (!store->folder)
        return false;
    const char *path = hd_arena_printf(&arena, "%s/%x/%s", store->folder, shelf_of(key), name);
    reading r = read_entry(path, true, out);
    if (open_shelf(store, shelf_of(key), true, &s, &arena)) {
        if (r == DAMAGED && unlink(path) == 0 && s.counts.entries)
            s.counts.damaged++, s.counts.entries--;
        s.counts.hits += r == INTACT;
        s.counts.misses += r != INTACT;
        close_shelf(&s);
    }
    hd_arena_free(&arena);
    return r == INTACT;
}

/* Finished, and not published; false: it could not be written, and is dropped. */
static bool write_entry(hd_output *entry, const char *path, const char *bytes, size_t length)
{
    entry_head head = {.length = length, .hash = hd_hash_wide(bytes, length)};
    memcpy(head.magic, magic, sizeof magic);
    if (!hd_output_open(entry, path))
        return false;
    entry->unsynced = true;
    hd_write(&entry->writer, (const char *)&head, sizeof head);
    hd_write(&entry->writer, bytes, length);
    bool good = hd_output_finish(entry);
    if (!good)
        hd_output_drop(entry);
    return good;
}

/* The entry is written before the shelf is locked, which others may wait for. */
void hd_store_put(const hd_store *store, hd_wide_hash key, const char *bytes, size_t length)
{
    hd_arena arena = {0};
    shelf s;
    char name[NAME_ROOM];
    uint64_t limit = store->limit_bytes / HD_STORE_SHELVES, size = size_on_disk(length + sizeof(entry_head));
    if (!store->folder || (limit && size > limit))
        return;
    write_name(name, key);
    char *folder = hd_arena_printf(&arena, "%s/%x", store->folder, shelf_of(key));
    const char *path = hd_arena_printf(&arena, "%s/%s", folder, name);
    hd_output entry;
    bool written = make_folders(folder) && write_entry(&entry, path, bytes, length);
    if (written && open_shelf(store, shelf_of(key), false, &s, &arena)) {
        bool is_there = access(path, F_OK) == 0;
        if (hd_output_publish(&entry)) {
            s.counts.stored++;
            s.counts.entries += !is_there;
            s.counts.bytes += is_there ? 0 : size;
        }
        if (limit && s.counts.bytes > limit)
            trim(&s, limit / 5 * 4, &arena);
        close_shelf(&s);
    }
    if (written)
        hd_output_drop(&entry);
    hd_arena_free(&arena);
}

/* ---- the whole --------------------------------------------------------------------------------------------------- */

hd_store_counts hd_store_statistics(const hd_store *store)
{
    hd_store_counts all = {0};
    hd_arena arena = {0};
    shelf s;
    for (uint32_t i = 0; store->folder && i < HD_STORE_SHELVES; i++)
        if (open_shelf(store, i, false, &s, &arena)) {
#define ADD_COUNT(name, summary) all.name += s.counts.name;
            HD_STORE_COUNTS(ADD_COUNT)
#undef ADD_COUNT
            close_shelf(&s);
        }
    hd_arena_free(&arena);
    return all;
}

void hd_store_clear(const hd_store *store)
{
    hd_arena arena = {0};
    shelf s;
    for (uint32_t i = 0; store->folder && i < HD_STORE_SHELVES; i++)
        if (open_shelf(store, i, false, &s, &arena)) {
            found_array list = {0};
            list_entries(&s, &list);
            for (uint32_t e = 0; e < list.count; e++)
                drop(&s, list.items[e].name, &arena);
            hd_array_free(&list);
            s.counts = (hd_store_counts){0};
            close_shelf(&s);
        }
    hd_arena_free(&arena);
}

uint64_t hd_store_check(const hd_store *store)
{
    hd_arena arena = {0};
    shelf s;
    uint64_t damaged = 0;
    for (uint32_t i = 0; store->folder && i < HD_STORE_SHELVES; i++)
        if (open_shelf(store, i, false, &s, &arena)) {
            found_array list = {0};
            list_entries(&s, &list);
            uint64_t before = damaged;
            for (uint32_t e = 0; e < list.count; e++) {
                const char *path = hd_arena_printf(&arena, "%s/%s", s.path, list.items[e].name);
                damaged += read_entry(path, false, NULL) == DAMAGED && unlink(path) == 0;
            }
            hd_array_free(&list);
            s.counts.damaged += damaged - before;
            trim(&s, UINT64_MAX, &arena);
            close_shelf(&s);
        }
    hd_arena_free(&arena);
    return damaged;
}
