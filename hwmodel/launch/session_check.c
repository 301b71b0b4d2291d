/* Compares the results of a session with the launch file's expectations, or with another session; saves them. */
#include "base/bytes.h"
#include "base/hash.h"
#include "base/open.h"
#include "hwmodel/launch/launch.h"
#include <errno.h>
#include <inttypes.h>
#include <math.h>

static bool check_hash(hd_session *s, const hd_launch_buffer *b, const unsigned char *got)
{
    uint64_t hash = hd_hash(got, b->size_bytes);
    if (hash == b->expect.hash)
        return true;
    hd_report(s->diagnostics, HD_DIAG_WRONG_OUTPUT, &b->node->document->source, b->expect.node->span,
              "'%s' has XXH3 %016" PRIx64 ", expected %016" PRIx64, b->name, hash, b->expect.hash);
    return false;
}

static bool check_elements(hd_session *s, const hd_launch_buffer *b, const unsigned char *got,
                           const unsigned char *wanted)
{
    uint32_t size = hd_value_bytes(b->type);
    uint64_t wrong = 0, first = 0;
    for (uint64_t i = 0; i < b->count; i++)
        if (!hd_value_matches(b->type, got + i * size, wanted + i * size, &b->expect.rule) && !wrong++)
            first = i;
    if (!wrong)
        return true;
    char is[64], should[64];
    hd_value_print(b->type, got + first * size, is, sizeof is);
    hd_value_print(b->type, wanted + first * size, should, sizeof should);
    hd_report(s->diagnostics, HD_DIAG_WRONG_OUTPUT, &b->node->document->source, b->expect.node->span,
              "'%s' differs in %" PRIu64 " of %" PRIu64 " elements; the first is element %" PRIu64 ": %s, expected %s",
              b->name, wrong, b->count, first, is, should);
    return false;
}

bool hd_session_check(hd_session *session)
{
    bool good = true;
    for (uint32_t i = 0; i < session->file->buffers.count; i++) {
        const hd_launch_buffer *b = &session->file->buffers.items[i];
        const hd_expect *e = &b->expect;
        const unsigned char *got = hd_session_bytes(session, i);
        if (e->given &&
            !(e->is_hash ? check_hash(session, b, got)
                         : check_elements(session, b, got,
                                          e->other == HD_NONE ? e->bytes : hd_session_bytes(session, e->other))))
            good = false;
    }
    return good;
}

static void write_float(hd_writer *w, hd_type type, double value)
{
    if (isnan(value))
        hd_write_string(w, ".nan\n");
    else if (isinf(value))
        hd_write_string(w, value < 0 ? "-.inf\n" : ".inf\n");
    else
        hd_write_format(w, "%.*g\n", type == HD_TYPE_F64 ? 17 : 9, value);
}

/* As text files are read. */
static void write_numbers(hd_writer *w, const hd_launch_buffer *b, const unsigned char *bytes)
{
    uint32_t size = hd_value_bytes(b->type);
    for (uint64_t i = 0; i < b->count; i++, bytes += size) {
        uint64_t bits = hd_load_bytes(bytes, size);
        if (hd_types[b->type].class == HD_CLASS_FLOAT)
            write_float(w, b->type, hd_value_to_double(b->type, bytes));
        else if (hd_types[b->type].class == HD_CLASS_SIGNED)
            hd_write_format(w, "%" PRId64 "\n", (int64_t)(bits << (64 - 8 * size)) >> (64 - 8 * size));
        else
            hd_write_format(w, "%" PRIu64 "\n", bits);
    }
}

bool hd_session_save(hd_session *session, hd_outputs *to)
{
    bool all = true;
    for (uint32_t i = 0; i < session->file->buffers.count; i++) {
        const hd_launch_buffer *b = &session->file->buffers.items[i];
        if (!b->save)
            continue;
        hd_output output;
        bool good = hd_output_open(&output, b->save);
        if (good && b->save_text)
            write_numbers(&output.writer, b, hd_session_bytes(session, i));
        else if (good)
            hd_write(&output.writer, (const char *)hd_session_bytes(session, i), b->size_bytes);
        good = good && hd_outputs_finish(to, &output);
        if (!good)
            hd_yaml_report(session->diagnostics, b->node, HD_DIAG_UNREADABLE, "cannot write %s: %s", b->save,
                           hd_open_why(errno));
        all = all && good;
    }
    return all;
}

/* Reports the first difference as an element of a buffer of the launch file, if it is in one. */
static void report_difference(const hd_session *original, uint32_t allocation, const unsigned char *is,
                              const unsigned char *was, hd_diagnostics *diagnostics)
{
    const char *name = original->memory.allocations.items[allocation].name;
    uint64_t at = 0;
    while (is && is[at] == was[at])
        at++;
    for (uint32_t i = 0; is && i < original->file->buffers.count; i++) {
        const hd_launch_buffer *b = &original->file->buffers.items[i];
        if (original->buffer_allocations[i] != allocation)
            continue;
        uint32_t size = hd_value_bytes(b->type);
        char now[64], then[64];
        hd_value_print(b->type, is + at / size * size, now, sizeof now);
        hd_value_print(b->type, was + at / size * size, then, sizeof then);
        hd_report(diagnostics, HD_DIAG_WRONG_OUTPUT, NULL, (hd_span){0, 0},
                  "'%s' differs from what the original kernel leaves, first at byte %" PRIu64 ", element %" PRIu64
                  ": %s, and %s there",
                  name, at, at / size, now, then);
        return;
    }
    hd_report(diagnostics, HD_DIAG_WRONG_OUTPUT, NULL, (hd_span){0, 0},
              "'%s' differs from what the original kernel leaves, first at byte %" PRIu64, name, at);
}

bool hd_session_compare(const hd_session *original, const hd_session *rewritten, hd_diagnostics *diagnostics)
{
    for (uint32_t i = 0; i < original->memory.allocations.count; i++) {
        const hd_allocation *a = &original->memory.allocations.items[i],
                            *b = hd_memory_find_name(&rewritten->memory, a->name);
        bool comparable = b && b->size == a->size;
        if (comparable && (!a->size || !memcmp(a->bytes, b->bytes, a->size)))
            continue;
        report_difference(original, i, comparable ? b->bytes : NULL, a->bytes, diagnostics);
        return false;
    }
    return true;
}
