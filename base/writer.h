/* Buffered output to a file descriptor or to memory. The first error is kept; callers check it once, at the end. */
#ifndef HD_BASE_WRITER_H
#define HD_BASE_WRITER_H

#include "base/array.h"
#include <stdbool.h>

typedef struct hd_writer {
    int descriptor; /* -1: memory */
    int error;      /* errno of the first failed write; 0: none */
    HD_ARRAY(char) buffer;
    uint64_t written_bytes; /* flushed and buffered bytes */
} hd_writer;

void hd_writer_to_descriptor(hd_writer *writer, int descriptor);
void hd_writer_to_memory(hd_writer *writer);
void hd_write_slow(hd_writer *writer, const char *bytes, size_t length);
void hd_write_format(hd_writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));
void hd_write_u64(hd_writer *writer, uint64_t value); /* decimal */
/* As one word of a shell, in quotes where it needs them. */
void hd_write_shell_word(hd_writer *writer, const char *word);
bool hd_writer_flush(hd_writer *writer); /* false with errno set if a write failed */
void hd_writer_free(hd_writer *writer);

static inline void hd_write(hd_writer *writer, const char *bytes, size_t length)
{
    if (length <= writer->buffer.capacity - writer->buffer.count) {
        memcpy(writer->buffer.items + writer->buffer.count, bytes, length);
        writer->buffer.count += (uint32_t)length;
        writer->written_bytes += length;
    } else {
        hd_write_slow(writer, bytes, length);
    }
}
static inline void hd_write_string(hd_writer *writer, const char *text) { hd_write(writer, text, strlen(text)); }
static inline void hd_write_char(hd_writer *writer, char c) { hd_write(writer, &c, 1); }

#endif
