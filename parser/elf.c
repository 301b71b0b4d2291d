/* See elf.h. Layouts: the ELF specification; <elf.h> has its numbers. */
#include "parser/elf.h"

#include "base/bytes.h"

#include <elf.h>
#include <inttypes.h>
#include <stdio.h>

uint16_t hd_elf_u16(const hd_elf *elf, uint64_t offset)
{
    return (uint16_t)hd_load_bytes(elf->source->text + offset, 2);
}

uint32_t hd_elf_u32(const hd_elf *elf, uint64_t offset)
{
    return (uint32_t)hd_load_bytes(elf->source->text + offset, 4);
}

uint64_t hd_elf_u64(const hd_elf *elf, uint64_t offset) { return hd_load_bytes(elf->source->text + offset, 8); }

bool hd_elf_refuse(hd_elf *elf, hd_diagnostics *diagnostics, uint64_t offset, const char *format, ...)
{
    char why[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    hd_report(diagnostics, HD_DIAG_BAD_CUBIN, NULL, (hd_span){0, 0}, "'%s' is damaged at offset 0x%" PRIx64 ": %s",
              elf->source->name, offset, why);
    return false;
}

static bool is_inside(const hd_elf *elf, uint64_t offset, uint64_t bytes)
{
    return offset <= elf->source->length && bytes <= elf->source->length - offset;
}

/* A name of a table of strings; NULL: it does not end inside the table. */
static const char *name_in(const hd_elf *elf, const hd_elf_section *table, uint64_t offset)
{
    if (table->type != SHT_STRTAB || offset >= table->bytes)
        return NULL;
    const char *name = elf->source->text + table->offset + offset;
    return memchr(name, '\0', table->bytes - offset) ? name : NULL;
}

static hd_elf_section section_at(const hd_elf *elf, uint64_t at)
{
#define FIELD(width, field) hd_elf_u##width(elf, at + offsetof(Elf64_Shdr, field))
    return (hd_elf_section){
        .type = FIELD(32, sh_type),
        .link = FIELD(32, sh_link),
        .info = FIELD(32, sh_info),
        .flags = FIELD(64, sh_flags),
        .alignment = FIELD(64, sh_addralign),
        .entry_bytes = FIELD(64, sh_entsize),
        .offset = FIELD(64, sh_offset),
        .bytes = FIELD(64, sh_size),
    };
#undef FIELD
}

static bool read_sections(hd_elf *elf, hd_diagnostics *diagnostics)
{
    uint64_t table = hd_elf_u64(elf, offsetof(Elf64_Ehdr, e_shoff));
    uint32_t count = hd_elf_u16(elf, offsetof(Elf64_Ehdr, e_shnum)),
             names = hd_elf_u16(elf, offsetof(Elf64_Ehdr, e_shstrndx));
    if (hd_elf_u16(elf, offsetof(Elf64_Ehdr, e_shentsize)) != sizeof(Elf64_Shdr) || !count)
        return hd_elf_refuse(elf, diagnostics, offsetof(Elf64_Ehdr, e_shentsize), "it has no section headers");
    if (!is_inside(elf, table, (uint64_t)count * sizeof(Elf64_Shdr)))
        return hd_elf_refuse(elf, diagnostics, offsetof(Elf64_Ehdr, e_shoff),
                             "%" PRIu32 " section headers at 0x%" PRIx64 " do not fit in the file", count, table);
    if (names >= count)
        return hd_elf_refuse(elf, diagnostics, offsetof(Elf64_Ehdr, e_shstrndx), "there is no section %" PRIu32, names);
    for (uint32_t i = 0; i < count; i++) {
        hd_elf_section section = section_at(elf, table + i * sizeof(Elf64_Shdr));
        if (section.type != SHT_NOBITS && section.type != SHT_NULL && !is_inside(elf, section.offset, section.bytes))
            return hd_elf_refuse(elf, diagnostics, table + i * sizeof(Elf64_Shdr),
                                 "section %" PRIu32 " of 0x%" PRIx64 " bytes at 0x%" PRIx64 " does not fit in the file",
                                 i, section.bytes, section.offset);
        hd_array_push(&elf->sections, section);
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t name = hd_elf_u32(elf, table + i * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_name));
        elf->sections.items[i].name = name_in(elf, &elf->sections.items[names], name);
        if (!elf->sections.items[i].name)
            return hd_elf_refuse(elf, diagnostics, table + i * sizeof(Elf64_Shdr), "section %" PRIu32 " has no name",
                                 i);
    }
    return true;
}

static bool read_symbols(hd_elf *elf, const hd_elf_section *table, hd_diagnostics *diagnostics)
{
    if (table->link >= elf->sections.count || table->bytes % sizeof(Elf64_Sym))
        return hd_elf_refuse(elf, diagnostics, table->offset, "the table of symbols '%s' is malformed", table->name);
    for (uint64_t at = table->offset; at < table->offset + table->bytes; at += sizeof(Elf64_Sym)) {
#define FIELD(width, field) hd_elf_u##width(elf, at + offsetof(Elf64_Sym, field))
        uint8_t info = (uint8_t)elf->source->text[at + offsetof(Elf64_Sym, st_info)];
        hd_elf_symbol symbol = {
            .name = name_in(elf, &elf->sections.items[table->link], FIELD(32, st_name)),
            .type = ELF64_ST_TYPE(info),
            .binding = ELF64_ST_BIND(info),
            .other = (uint8_t)elf->source->text[at + offsetof(Elf64_Sym, st_other)],
            .section = FIELD(16, st_shndx),
            .value = FIELD(64, st_value),
            .bytes = FIELD(64, st_size),
        };
#undef FIELD
        if (!symbol.name)
            return hd_elf_refuse(elf, diagnostics, at, "symbol %" PRIu32 " has no name", elf->symbols.count);
        hd_array_push(&elf->symbols, symbol);
    }
    return true;
}

bool hd_elf_read(hd_elf *elf, hd_source *source, hd_diagnostics *diagnostics)
{
    *elf = (hd_elf){.source = source};
    if (source->length < sizeof(Elf64_Ehdr))
        return hd_elf_refuse(elf, diagnostics, 0, "it ends inside its header");
    if (source->text[EI_CLASS] != ELFCLASS64 || source->text[EI_DATA] != ELFDATA2LSB)
        return hd_elf_refuse(elf, diagnostics, EI_CLASS, "only ELF files of 64 bits, little-endian, are read");
    elf->abi = (uint8_t)source->text[EI_OSABI];
    elf->abi_version = (uint8_t)source->text[EI_ABIVERSION];
    elf->type = hd_elf_u16(elf, offsetof(Elf64_Ehdr, e_type));
    elf->machine = hd_elf_u16(elf, offsetof(Elf64_Ehdr, e_machine));
    elf->flags = hd_elf_u32(elf, offsetof(Elf64_Ehdr, e_flags));
    if (!read_sections(elf, diagnostics))
        return false;
    for (uint32_t i = 0; i < elf->sections.count; i++)
        if (elf->sections.items[i].type == SHT_SYMTAB && !read_symbols(elf, &elf->sections.items[i], diagnostics))
            return false;
    return true;
}

void hd_elf_free(hd_elf *elf)
{
    hd_array_free(&elf->sections);
    hd_array_free(&elf->symbols);
}
