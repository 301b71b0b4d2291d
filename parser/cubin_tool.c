/* What made a cubin: see cubin.h. The layout of the note was read from what ptxas 13.0 and nvlink 13.0 write. */
#include "parser/cubin.h"
#include "parser/elf.h"
#include "parser/recognize.h"

#include <elf.h>

/* A string of the note, at an offset in its table of strings; NULL: it does not end there. */
static const char *string_of_note(const char *strings, size_t bytes, uint32_t offset)
{
    return offset < bytes && memchr(strings + offset, '\0', bytes - offset) ? strings + offset : NULL;
}

/* An ELF note whose name is "NVIDIA Corp" and whose contents are a number, offsets in the strings that follow (of the
 * file, the tool, its version, its build, its options), and these. */
static const char *tool_of_note(const hd_elf *elf, const hd_elf_section *s, hd_arena *arena)
{
    enum { HEADER = 24, TOOL = HEADER + 8, VERSION = TOOL + 4, STRINGS = HEADER + 24 };
    if (s->bytes < STRINGS)
        return NULL;
    const char *strings = elf->source->text + s->offset + STRINGS;
    size_t bytes = (size_t)s->bytes - STRINGS;
    const char *tool = string_of_note(strings, bytes, hd_elf_u32(elf, s->offset + TOOL));
    const char *version = string_of_note(strings, bytes, hd_elf_u32(elf, s->offset + VERSION));
    const char *number = version ? strstr(version, ", V") : NULL;
    return tool && number ? hd_arena_printf(arena, "%s %s", tool, number + strlen(", V")) : NULL;
}

const char *hd_cubin_tool(hd_source *cubin, hd_arena *arena)
{
    hd_elf elf;
    hd_diagnostics unseen;
    const char *tool = NULL;
    if (hd_binary_of(cubin) != HD_BINARY_CUBIN)
        return NULL;
    hd_diagnostics_init(&unseen);
    bool good = hd_elf_read(&elf, cubin, &unseen);
    for (uint32_t i = 0; good && i < elf.sections.count && !tool; i++)
        if (strcmp(elf.sections.items[i].name, ".note.nv.tkinfo") == 0 && elf.sections.items[i].type == SHT_NOTE)
            tool = tool_of_note(&elf, &elf.sections.items[i], arena);
    hd_elf_free(&elf);
    hd_diagnostics_free(&unseen);
    return tool;
}
