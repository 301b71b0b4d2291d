/* See loaded.h. */
#include "base/loaded.h"
#include "base/writer.h"

#include <inttypes.h>

static hd_writer texts;

void hd_loaded_add(const char *name, const char *version, uint64_t hash)
{
    if (!texts.buffer.count)
        hd_writer_to_memory(&texts);
    else
        texts.buffer.items[texts.buffer.count - 1] = ' ';
    hd_write_format(&texts, "%s-%s-%016" PRIx64, name, version, hash);
    hd_write_char(&texts, '\0');
}

const char *hd_loaded_plugins(void) { return texts.buffer.count ? texts.buffer.items : NULL; }
