/* See binary.h. Layouts: the ELF specification, ar(5), parser/fatbin.h. */
#include "parser/binary.h"

#include "parser/elf.h"
#include "parser/fatbin.h"
#include "parser/recognize.h"

#include <ar.h>
#include <elf.h>
#include <inttypes.h>
#include <stdio.h>

enum {
    CONTAINER_ALIGNMENT = 8,
    MOST_RATIO = 64, /* of all cubins to the file, beyond the free bytes */
    FREE_BYTES = 1 << 28,
};

typedef struct binary_lister {
    hd_source *file;
    hd_listing_words words;
    hd_writer *listing;
    hd_diagnostics *diagnostics;
    hd_binary_outcome outcome;
    uint32_t generation; /* of the last cubin */
    uint32_t cubins;     /* listed so far */
    uint32_t ptx;        /* highest architecture of the PTX that was met; 0: none */
    uint64_t plain_bytes;
} binary_lister;

/* Each function returns false where the listing ends: `outcome` says why. */

static bool end_with(binary_lister *l, hd_binary_outcome outcome)
{
    l->outcome = outcome;
    return false;
}

/* A cubin without code, as nvcc links one into each program, is left out. `architecture`: of the lines before the
 * cubin; 0: none. */
static bool list_cubin(binary_lister *l, hd_source *cubin, uint32_t architecture)
{
    hd_writer text;
    hd_writer_to_memory(&text);
    hd_cubin_outcome outcome = hd_cubin_list(cubin, l->words, &text, &l->generation, l->diagnostics);
    bool listed = outcome == HD_CUBIN_LISTED || outcome == HD_CUBIN_IN_PART;
    if (listed && architecture)
        hd_write_format(l->listing,
                        "\nFatbin elf code:\n================\narch = sm_%" PRIu32
                        "\nhost = linux\ncompile_size = 64bit\n\n",
                        architecture);
    if (listed)
        hd_write(l->listing, text.buffer.items, text.buffer.count);
    hd_writer_free(&text);
    l->cubins += listed;
    if (outcome == HD_CUBIN_IN_PART)
        l->outcome = HD_BINARY_IN_PART;
    return listed || outcome == HD_CUBIN_EMPTY ||
           end_with(l, outcome == HD_CUBIN_OTHER_CODE ? HD_BINARY_OTHER_CODE : HD_BINARY_REFUSED);
}

static bool refuse(binary_lister *l, const char *what)
{
    hd_report(l->diagnostics, HD_DIAG_BAD_CUBIN, NULL, (hd_span){0, 0}, "'%s' is damaged: %s", l->file->name, what);
    return end_with(l, HD_BINARY_REFUSED);
}

static bool list_entry(binary_lister *l, const hd_fatbin_entry *e)
{
    char name[512];
    hd_source cubin;
    hd_writer plain;
    hd_writer_to_memory(&plain);
    if (!hd_fatbin_unpack(e, &plain)) {
        hd_writer_free(&plain);
        return refuse(l, "the compressed machine code of a fat binary does not expand");
    }
    l->plain_bytes += plain.buffer.count;
    if (l->plain_bytes > FREE_BYTES + (uint64_t)MOST_RATIO * l->file->length) {
        hd_writer_free(&plain);
        return refuse(l, "its compressed machine code expands to more than 256 MiB and 64 times the file");
    }
    snprintf(name, sizeof name, "%s: cubin %" PRIu32 ", sm_%" PRIu32, l->file->name, l->cubins + 1, e->architecture);
    hd_source_from_memory(&cubin, name, plain.buffer.items, plain.buffer.count);
    hd_writer_free(&plain);
    bool good = list_cubin(l, &cubin, e->architecture);
    hd_source_free(&cubin);
    return good;
}

/* The containers of a section or of a file stand one after the other, with zeros between them. */
static bool list_containers(binary_lister *l, const char *data, size_t size)
{
    hd_fatbin fatbin;
    for (size_t at = 0, bytes; at < size;
         at += (bytes + CONTAINER_ALIGNMENT - 1) / CONTAINER_ALIGNMENT * CONTAINER_ALIGNMENT) {
        if (!hd_fatbin_open(&fatbin, data + at, size - at, &bytes)) {
            bytes = CONTAINER_ALIGNMENT;
            continue;
        }
        for (hd_fatbin_entry e; hd_fatbin_next(&fatbin, &e);) {
            if (e.kind == HD_FATBIN_PTX && e.architecture > l->ptx)
                l->ptx = e.architecture;
            if (e.kind == HD_FATBIN_CUBIN && !list_entry(l, &e))
                return false;
        }
        if (fatbin.left >= CONTAINER_ALIGNMENT)
            return refuse(l, "an entry of a fat binary does not fit in it");
    }
    return true;
}

static bool list_object(binary_lister *l, hd_source *object)
{
    hd_elf elf;
    bool good = hd_elf_read(&elf, object, l->diagnostics) || end_with(l, HD_BINARY_REFUSED);
    for (uint32_t i = 0; good && i < elf.sections.count; i++) {
        const hd_elf_section *s = &elf.sections.items[i];
        bool is_relocatable = strcmp(s->name, "__nv_relfatbin") == 0;
        if (s->type != SHT_NOBITS && (strcmp(s->name, ".nv_fatbin") == 0 || (is_relocatable && elf.type == ET_REL)))
            good = list_containers(l, object->text + s->offset, (size_t)s->bytes);
    }
    hd_elf_free(&elf);
    return good;
}

static bool list_archive(binary_lister *l)
{
    size_t at = SARMAG, size = l->file->length;
    while (size - at >= sizeof(struct ar_hdr)) {
        struct ar_hdr header;
        char digits[sizeof header.ar_size + 1] = {0};
        memcpy(&header, l->file->text + at, sizeof header);
        memcpy(digits, header.ar_size, sizeof header.ar_size);
        uint64_t bytes = strtoull(digits, NULL, 10);
        at += sizeof header;
        if (memcmp(header.ar_fmag, ARFMAG, sizeof header.ar_fmag) != 0 || bytes > size - at)
            return refuse(l, "a member of the archive does not fit in it");
        hd_source member;
        hd_source_from_memory(&member, l->file->name, l->file->text + at, (size_t)bytes);
        bool good = hd_binary_of(&member) != HD_BINARY_OTHER || list_object(l, &member);
        hd_source_free(&member);
        if (!good)
            return false;
        at += (size_t)(bytes + (bytes & 1));
        at = hd_min(at, size);
    }
    return true;
}

static void report_none(binary_lister *l)
{
    hd_diagnostic *d = hd_report(l->diagnostics, HD_DIAG_MISSING_CODE, NULL, (hd_span){0, 0},
                                 "'%s' has no machine code for GPUs", l->file->name);
    if (l->ptx)
        hd_note_add(l->diagnostics, d, NULL, (hd_span){0, 0},
                    "it has PTX, of which a driver makes machine code, up to sm_%" PRIu32 ": nvcc -arch=sm_%" PRIu32
                    " makes both",
                    l->ptx, l->ptx);
}

hd_binary_outcome hd_binary_list(hd_source *file, hd_listing_words words, hd_writer *listing, uint32_t *generation,
                                 hd_diagnostics *diagnostics)
{
    binary_lister l = {.file = file, .words = words, .listing = listing, .diagnostics = diagnostics};
    hd_fatbin fatbin;
    bool good;
    if (hd_binary_of(file) == HD_BINARY_CUBIN)
        good = list_cubin(&l, file, 0);
    else if (hd_fatbin_open(&fatbin, file->text, file->length, NULL))
        good = list_containers(&l, file->text, file->length);
    else if (file->length >= SARMAG && memcmp(file->text, ARMAG, SARMAG) == 0)
        good = list_archive(&l);
    else
        good = list_object(&l, file);
    *generation = l.generation;
    if (good && !l.cubins) {
        report_none(&l);
        return HD_BINARY_REFUSED;
    }
    return l.outcome;
}
