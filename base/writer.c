/* Buffered output. The buffer of a descriptor is written when it is full; a memory buffer doubles. After the first
 * error all output is dropped, so that callers check for errors once, at the end. */
#include "base/writer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum { DESCRIPTOR_BUFFER_BYTES = 1 << 16, MEMORY_BUFFER_BYTES = 256 };

static void start(hd_writer *writer, int descriptor, uint32_t bytes)
{
    *writer = (hd_writer){.descriptor = descriptor};
    writer->buffer.items = hd_malloc(bytes);
    writer->buffer.capacity = bytes;
}

void hd_writer_to_descriptor(hd_writer *writer, int descriptor) { start(writer, descriptor, DESCRIPTOR_BUFFER_BYTES); }

void hd_writer_to_memory(hd_writer *writer) { start(writer, -1, MEMORY_BUFFER_BYTES); }

static void write_out(hd_writer *writer, const char *bytes, size_t length)
{
    while (length && !writer->error) {
        ssize_t put = write(writer->descriptor, bytes, length);
        if (put < 0 && errno != EINTR)
            writer->error = errno;
        if (put > 0) {
            bytes += put;
            length -= (size_t)put;
        }
    }
}

static void empty_buffer(hd_writer *writer)
{
    write_out(writer, writer->buffer.items, writer->buffer.count);
    writer->buffer.count = 0;
}

/* Makes room for `length` more bytes in the buffer; false if that is impossible. */
static bool make_room(hd_writer *writer, size_t length)
{
    if (length <= writer->buffer.capacity - writer->buffer.count)
        return true;
    if (writer->descriptor >= 0) {
        empty_buffer(writer);
        return length <= writer->buffer.capacity;
    }
    if (length > UINT32_MAX - writer->buffer.count) {
        writer->error = writer->error ? writer->error : EFBIG;
        return false;
    }
    hd_array_reserve(&writer->buffer, writer->buffer.count + length);
    return true;
}

void hd_write_slow(hd_writer *writer, const char *bytes, size_t length)
{
    writer->written_bytes += length;
    if (make_room(writer, length)) {
        memcpy(writer->buffer.items + writer->buffer.count, bytes, length);
        writer->buffer.count += (uint32_t)length;
    } else if (writer->descriptor >= 0) {
        write_out(writer, bytes, length);
    }
}

void hd_write_format(hd_writer *writer, const char *format, ...)
{
    char small[256];
    va_list list;
    va_start(list, format);
    int length = vsnprintf(small, sizeof small, format, list);
    va_end(list);
    if (length < 0)
        return;
    if ((size_t)length < sizeof small) {
        hd_write(writer, small, (size_t)length);
        return;
    }
    char *large = hd_malloc((size_t)length + 1);
    va_start(list, format);
    vsnprintf(large, (size_t)length + 1, format, list);
    va_end(list);
    hd_write(writer, large, (size_t)length);
    free(large);
}

void hd_write_u64(hd_writer *writer, uint64_t value)
{
    char digits[20], *first = digits + sizeof digits;
    do {
        *--first = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    hd_write(writer, first, (size_t)(digits + sizeof digits - first));
}

bool hd_writer_flush(hd_writer *writer)
{
    if (writer->descriptor >= 0)
        empty_buffer(writer);
    if (writer->error)
        errno = writer->error;
    return writer->error == 0;
}

void hd_writer_free(hd_writer *writer)
{
    hd_array_free(&writer->buffer);
    *writer = (hd_writer){.descriptor = -1};
}

void hd_write_shell_word(hd_writer *writer, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./,:+@%";
    if (*word && word[strspn(word, plain)] == '\0') {
        hd_write_string(writer, word);
        return;
    }
    hd_write_char(writer, '\'');
    for (; *word; word++)
        if (*word == '\'')
            hd_write_string(writer, "'\\''");
        else
            hd_write_char(writer, *word);
    hd_write_char(writer, '\'');
}
