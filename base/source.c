/* Source texts and their line tables. The table is built in one pass over the text; a position is found by binary
 * search. */
#include "base/open.h"
#include "base/origins.h"
#include "base/search.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PAD_BYTES = 16, FIRST_READ_BYTES = 1 << 16 };
static const uint64_t LONGEST_BYTES = UINT32_MAX - PAD_BYTES, LONGEST_STREAM_BYTES = 1ull << 28;

/* Buffer size for a file: one byte more than its size, so that a read past its end detects growth. 0: too long. Files
 * that are not regular may be endless (/dev/zero). */
static uint64_t room_for(int file, uint64_t *longest)
{
    struct stat facts;
    *longest = LONGEST_BYTES;
    if (fstat(file, &facts) != 0 || !S_ISREG(facts.st_mode) || facts.st_size < 0) {
        *longest = LONGEST_STREAM_BYTES;
        return FIRST_READ_BYTES;
    }
    return (uint64_t)facts.st_size <= LONGEST_BYTES ? (uint64_t)facts.st_size + 1 : 0;
}

/* Reads the whole file. NULL with errno set on failure. */
static char *read_all(int file, uint32_t *length)
{
    uint64_t longest, room = room_for(file, &longest), filled = 0;
    if (!room) {
        errno = EFBIG;
        return NULL;
    }
    char *text = hd_malloc(room + PAD_BYTES);
    for (;;) {
        ssize_t got = read(file, text + filled, room - filled);
        if (got < 0 && errno == EINTR)
            continue;
        if (got == 0 && room > filled)
            break;
        if (got > 0)
            filled += (uint64_t)got;
        if (got < 0 || filled > longest) {
            int error = got < 0 ? errno : EFBIG;
            free(text);
            errno = error;
            return NULL;
        }
        if (filled == room) {
            room = hd_min(room * 2, longest + 1);
            text = hd_realloc(text, room + PAD_BYTES);
        }
    }
    memset(text + filled, 0, PAD_BYTES);
    *length = (uint32_t)filled;
    return text;
}

const char *hd_source_why(int error)
{
    return error == EFBIG ? "it is over 4 GiB, or no regular file and over 256 MiB" : hd_open_why(error);
}

static char *copy_string(const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(hd_malloc(bytes), text, bytes);
}

bool hd_source_read(hd_source *source, const char *path)
{
    *source = (hd_source){0};
    bool standard = strcmp(path, "-") == 0;
    int file = standard ? STDIN_FILENO : hd_open_input(path);
    if (file < 0)
        return false;
    source->text = read_all(file, &source->length);
    int error = errno;
    if (!standard)
        close(file);
    if (source->text)
        source->name = copy_string(standard ? "<stdin>" : path);
    errno = error;
    return source->text != NULL;
}

void hd_source_from_memory(hd_source *source, const char *name, const char *text, size_t length)
{
    if (length > LONGEST_BYTES)
        hd_out_of_memory(length);
    *source = (hd_source){.name = copy_string(name), .text = hd_malloc(length + PAD_BYTES), .length = (uint32_t)length};
    if (length)
        memcpy(source->text, text, length);
    memset(source->text + length, 0, PAD_BYTES);
}

void hd_source_from_array(hd_source *source, const char *name, char *text, size_t length)
{
    if (length > LONGEST_BYTES)
        hd_out_of_memory(length);
    *source = (hd_source){
        .name = copy_string(name), .text = hd_realloc(text, length + PAD_BYTES), .length = (uint32_t)length};
    memset(source->text + length, 0, PAD_BYTES);
}

void hd_source_rename(hd_source *source, const char *name)
{
    free((void *)(uintptr_t)source->name);
    source->name = copy_string(name);
}

void hd_source_free(hd_source *source)
{
    free((void *)(uintptr_t)source->name);
    free(source->text);
    hd_array_free(&source->lines);
    hd_array_free(&source->joined);
    hd_origins_free(source->origins);
    *source = (hd_source){0};
}

static void make_lines(hd_source *source)
{
    const char *text = source->text;
    uint32_t joined = 0;
    hd_array_push(&source->lines, 0);
    for (uint32_t i = 0; i < source->length; i++) {
        if ((unsigned char)text[i] > '\r')
            continue;
        if (joined < source->joined.count && source->joined.items[joined] == i + 1)
            joined++;
        else if (text[i] == '\n' || (text[i] == '\r' && !(i + 1 < source->length && text[i + 1] == '\n')))
            hd_array_push(&source->lines, i + 1);
    }
    hd_array_fit(&source->lines);
}

hd_position hd_source_position(hd_source *source, uint32_t offset)
{
    if (!source->lines.count)
        make_lines(source);
    if (offset > source->length)
        offset = source->length;
    uint32_t line = hd_search_u32(source->lines.items, 1, source->lines.count, offset + 1); /* the first is at 0 */
    return (hd_position){line, offset - source->lines.items[line - 1] + 1};
}

hd_span hd_source_line(hd_source *source, uint32_t line)
{
    if (!source->lines.count)
        make_lines(source);
    if (line == 0 || line > source->lines.count)
        return (hd_span){source->length, source->length};
    uint32_t begin = source->lines.items[line - 1];
    uint32_t end = line < source->lines.count ? source->lines.items[line] : source->length;
    if (end > begin && source->text[end - 1] == '\n')
        end--;
    if (end > begin && source->text[end - 1] == '\r')
        end--;
    return (hd_span){begin, end};
}
