/* ELF files of 64 bits, little-endian: sections and symbols, all bounds checked once. Nothing is copied: names and
 * contents are in the source's text. */
#ifndef HD_PARSER_ELF_H
#define HD_PARSER_ELF_H

#include "base/diagnostics.h"

typedef struct hd_elf_section {
    const char *name; /* ends with a NUL inside the file */
    uint32_t type, link, info;
    uint64_t flags, alignment, entry_bytes;
    uint64_t offset, bytes; /* of the contents in the file; of SHT_NOBITS, only what it will have */
} hd_elf_section;

typedef struct hd_elf_symbol {
    const char *name;
    uint8_t type, binding, other;
    uint32_t section; /* an index, or a reserved number */
    uint64_t value, bytes;
} hd_elf_symbol;

typedef struct hd_elf {
    hd_source *source;
    uint8_t abi, abi_version;
    uint16_t type, machine;
    uint32_t flags;
    HD_ARRAY(hd_elf_section) sections;
    HD_ARRAY(hd_elf_symbol) symbols;
} hd_elf;

/* false with a diagnostic (bad-cubin) that names the section and the offset; hd_elf_free() in any case. */
bool hd_elf_read(hd_elf *elf, hd_source *source, hd_diagnostics *diagnostics);
void hd_elf_free(hd_elf *elf);

/* Reports bad-cubin: "'k.cubin' is damaged at offset 0x40: ...". Returns false. */
bool hd_elf_refuse(hd_elf *elf, hd_diagnostics *diagnostics, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* Little-endian numbers at an offset that is known to be in the file. */
uint16_t hd_elf_u16(const hd_elf *elf, uint64_t offset);
uint32_t hd_elf_u32(const hd_elf *elf, uint64_t offset);
uint64_t hd_elf_u64(const hd_elf *elf, uint64_t offset);

#endif
