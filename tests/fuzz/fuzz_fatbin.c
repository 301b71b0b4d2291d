/* Fuzz target of containers of device code: any bytes are read or refused, and no more memory is asked for than a text
 * may have of its compressed bytes. */
#include "parser/fatbin.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const unsigned char magic[8] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
    const char *has = NULL;
    hd_arena arena = {0};
    hd_sources sources = {0};
    unsigned char *bytes = hd_malloc(size + 1);
    for (size_t i = 0; i < size; i++) /* most inputs get past the first test */
        bytes[i] = i < sizeof magic && size & 1 ? magic[i] : data[i];
    bool found = hd_fatbin_read(bytes, size, size % 128, &arena, &sources, &has);
    if (found != (sources.count == 1) || (found && sources.items[0].length > 4096 * size + (1 << 20)))
        __builtin_trap();
    for (uint32_t i = 0; i < sources.count; i++)
        hd_source_free(&sources.items[i]);
    hd_array_free(&sources);
    hd_arena_free(&arena);
    free(bytes);
    return 0;
}
