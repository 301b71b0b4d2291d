/* Looks at a program before it runs: whether its device code would reach the model. */
#include "base/open.h"
#include "driver/run/run.h"
#include <elf.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct image {
    const unsigned char *bytes;
    uint64_t size;
} image;

static const void *part(const image *f, uint64_t at, uint64_t bytes)
{
    return at <= f->size && bytes <= f->size - at ? f->bytes + at : NULL;
}

static const Elf64_Shdr *section(const image *f, const Elf64_Ehdr *h, uint32_t index)
{
    return part(f, h->e_shoff + (uint64_t)index * h->e_shentsize, sizeof(Elf64_Shdr));
}

static const char *text_at(const image *f, const Elf64_Shdr *strings, uint64_t offset)
{
    const char *text = strings && offset < strings->sh_size ? part(f, strings->sh_offset + offset, 1) : NULL;
    return text && memchr(text, '\0', (size_t)(f->size - (uint64_t)((const unsigned char *)text - f->bytes))) ? text
                                                                                                              : "";
}

static bool needs_runtime(const image *f, const Elf64_Ehdr *h, const Elf64_Shdr *dynamic)
{
    const Elf64_Shdr *strings = section(f, h, dynamic->sh_link);
    for (uint64_t at = 0; at + sizeof(Elf64_Dyn) <= dynamic->sh_size; at += sizeof(Elf64_Dyn)) {
        const Elf64_Dyn *d = part(f, dynamic->sh_offset + at, sizeof *d);
        if (!d || d->d_tag == DT_NULL)
            break;
        if (d->d_tag == DT_NEEDED && strncmp(text_at(f, strings, d->d_un.d_val), "libcud", 6) == 0)
            return true;
    }
    return false;
}

static const char *judge(const image *f)
{
    const Elf64_Ehdr *h = part(f, 0, sizeof *h);
    bool has_code = false, has_runtime = false;
    if (!h || memcmp(h->e_ident, ELFMAG, SELFMAG) != 0 || h->e_ident[EI_CLASS] != ELFCLASS64)
        return NULL;
    const Elf64_Shdr *names = section(f, h, h->e_shstrndx);
    for (uint32_t i = 0; i < h->e_shnum; i++) {
        const Elf64_Shdr *s = section(f, h, i);
        if (s && s->sh_type == SHT_DYNAMIC)
            has_runtime = has_runtime || needs_runtime(f, h, s);
        has_code = has_code || (s && strcmp(text_at(f, names, s->sh_name), ".nv_fatbin") == 0);
    }
    return has_code && !has_runtime
               ? "it is linked with the static CUDA runtime, which only works with a GPU's driver: link it with nvcc "
                 "-cudart shared"
               : NULL;
}

const char *hd_run_refusal(const char *path)
{
    struct stat is;
    int file = hd_open_input(path);
    const char *why = NULL;
    if (file >= 0 && fstat(file, &is) == 0 && S_ISREG(is.st_mode) && is.st_size > 0) {
        void *bytes = mmap(NULL, (size_t)is.st_size, PROT_READ, MAP_PRIVATE, file, 0);
        if (bytes != MAP_FAILED) {
            why = judge(&(image){bytes, (uint64_t)is.st_size});
            munmap(bytes, (size_t)is.st_size);
        }
    }
    if (file >= 0)
        close(file);
    return why;
}
