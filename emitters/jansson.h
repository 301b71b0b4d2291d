/* A wrapper of jansson that never fails for lack of memory: functions that create or change a value end the process
 * (hd_out_of_memory) instead of omitting something. Include it instead of <jansson.h> to write JSON.
 *
 * json_string takes any text; json_pack's `s` requires UTF-8. */
#ifndef HD_EMITTERS_JANSSON_H
#define HD_EMITTERS_JANSSON_H

#include "base/writer.h"
#include <jansson.h>

static inline json_t *hd_json_made(json_t *value)
{
    if (!value)
        hd_out_of_memory(0);
    return value;
}
static inline void hd_json_done(int result)
{
    if (result)
        hd_out_of_memory(0);
}

/* A string; if it is not UTF-8, bytes above 0x7f become U+FFFD. (diagnostics_json.c) */
json_t *hd_json_string(const char *bytes);

/* A count: a number up to 2^53, which every reader keeps, else a string of its digits. UINT64_MAX, which stands for
 * what cannot be counted: null. (diagnostics_json.c) */
json_t *hd_json_count(uint64_t count);

#define json_object() hd_json_made((json_object)())
#define json_array() hd_json_made((json_array)())
#define json_integer(value) hd_json_made((json_integer)(value))
#define json_real(value) hd_json_made((json_real)(value))
#define json_stringn(text, length) hd_json_made((json_stringn)((text), (length)))
#define json_string(text) hd_json_string(text)
#define json_pack(...) hd_json_made((json_pack)(__VA_ARGS__))
#define json_object_set_new(object, key, value) hd_json_done((json_object_set_new)((object), (key), (value)))
#define json_object_set(object, key, value) hd_json_done((json_object_set)((object), (key), (value)))
#define json_array_append_new(array, value) hd_json_done((json_array_append_new)((array), (value)))
#define json_dump_callback(value, put, context, flags) \
    hd_json_done((json_dump_callback)((value), (put), (context), (flags)))

/* Not json_dumps, which silently omits output when out of memory. */
static inline int hd_json_put(const char *bytes, size_t length, void *writer)
{
    hd_write(writer, bytes, length);
    return 0;
}
static inline void hd_json_dump(hd_writer *writer, const json_t *value, size_t flags)
{
    json_dump_callback(value, hd_json_put, writer, flags);
    hd_write_char(writer, '\n');
}

#endif
