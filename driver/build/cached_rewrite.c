/* See cached_rewrite.h. */
#include "driver/build/cached_rewrite.h"

#include "base/loaded.h"
#include "base/open.h"
#include "base/version.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static void add(hd_writer *text, const void *bytes, size_t length)
{
    uint64_t size = length;
    hd_write(text, (const char *)&size, sizeof size);
    hd_write(text, bytes, length);
}

static void add_string(hd_writer *text, const char *string)
{
    add(text, string ? string : "", string ? strlen(string) + 1 : 0);
}

static void add_file(hd_writer *text, const char *path)
{
    struct stat status;
    int file = hd_open_input(path);
    size_t length = file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) ? (size_t)status.st_size : 0;
    void *bytes = length ? mmap(NULL, length, PROT_READ, MAP_PRIVATE, file, 0) : MAP_FAILED;
    hd_wide_hash hash = bytes != MAP_FAILED ? hd_hash_wide(bytes, length) : (hd_wide_hash){{0}};
    if (bytes != MAP_FAILED)
        munmap(bytes, length);
    if (file >= 0)
        close(file);
    add(text, &hash, sizeof hash);
}

hd_wide_hash hd_rewrite_settings_hash(const hd_rewrite_options *options, const hd_diagnostics *diagnostics,
                                      const char *gpu)
{
    hd_writer text;
    hd_writer_to_memory(&text);
    add_string(&text, "heddle " HD_VERSION);
    add_file(&text, "/proc/self/exe");
    add_string(&text, hd_loaded_plugins());
    add_string(&text, options->passes ? hd_pipeline_text(options->passes) : NULL);
    add_string(&text, options->pipeline.kernel);
    const uint32_t flags[] = {options->emit.spelling,          options->emit.canonical,
                              options->emit.no_section,        options->emit.no_annotations,
                              options->parse.strict,           options->parse.one_of_several,
                              options->parse.drop_stale,       options->parse.locate_annotations,
                              options->parse.low_memory,       options->parse.ignore_annotations,
                              options->pipeline.block,         options->parse.registers,
                              diagnostics->warnings_are_errors};
    add(&text, flags, sizeof flags);
    add(&text, diagnostics->severity, sizeof diagnostics->severity);
    add_string(&text, gpu);
    if (gpu)
        add_file(&text, gpu);
    hd_wide_hash hash = hd_hash_wide(text.buffer.items, text.buffer.count);
    hd_writer_free(&text);
    return hash;
}

static bool shows(const hd_pipeline_options *p)
{
    return p->validate || p->time_passes || p->statistics || p->print_after;
}

hd_module *hd_cached_rewrite(const hd_store *cache, hd_wide_hash settings, hd_source *source,
                             const hd_rewrite_options *options, hd_writer *out, hd_diagnostics *diagnostics)
{
    hd_wide_hash parts[2] = {settings, hd_hash_wide(source->text, source->length)};
    const hd_wide_hash key = hd_hash_wide(parts, sizeof parts);
    if (!cache->folder || shows(&options->pipeline))
        return hd_rewrite(source, options, out, diagnostics);
    if (hd_store_get(cache, key, out)) {
        hd_source_free(source);
        return NULL;
    }
    uint32_t reported = diagnostics->error_count + diagnostics->warning_count;
    const hd_diagnostic *last = diagnostics->last;
    hd_module *module = hd_rewrite(source, options, out, diagnostics);
    if (diagnostics->error_count + diagnostics->warning_count == reported && diagnostics->last == last && !out->error)
        hd_store_put(cache, key, out->buffer.items, out->buffer.count);
    return module;
}
