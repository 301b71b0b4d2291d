#include "ptx_file.h"

#include "tests/unit/unit.h"

#include "base/source.h"

enum { MOST_FILES = 32, MOST_NAME = 128 };

static struct {
    char name[MOST_NAME];
    hd_source source;
} files[MOST_FILES];

const char *ptx_file(const char *name)
{
    uint32_t i = 0;
    while (i < MOST_FILES && files[i].source.text && strcmp(files[i].name, name) != 0)
        i++;
    assert_true(i < MOST_FILES);
    if (!files[i].source.text) {
        const char *top = getenv("TOP");
        char path[4096];
        snprintf(path, sizeof path, "%s/tests/unit/ptx/%s.ptx", top ? top : ".", name);
        snprintf(files[i].name, sizeof files[i].name, "%s", name);
        if (!hd_source_read(&files[i].source, path))
            fail_msg("%s cannot be read", path);
    }
    return files[i].source.text;
}
