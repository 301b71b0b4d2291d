/* Containers of device code: of every kind, cut at every byte, and with every field set to numbers that overflow. The
 * container ends where the memory does, so that what reads beyond it crashes. */
#include "unit.h"

#include "parser/fatbin.h"
#include <lz4.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zstd.h>

static const char low[] = ".version 8.0\n.target sm_80\n.address_size 64\n", high[] = ".version 8.0\n.target sm_90\n";

enum { PLAIN = 0x11, LZ4 = 0x2011, ZSTD = 0x8011, CONTAINER_HEADER = 16, ENTRY_HEADER = 64 };

static void put(hd_writer *to, uint64_t value, size_t bytes) { hd_write(to, (const char *)&value, bytes); }

static void put_entry(hd_writer *to, uint32_t kind, uint32_t architecture, const char *text, uint32_t flags)
{
    char packed[512];
    size_t length = strlen(text) + 1, size = length;
    memcpy(packed, text, length);
    if (flags == LZ4)
        size = (size_t)LZ4_compress_default(text, packed, (int)length, sizeof packed);
    if (flags == ZSTD)
        size = ZSTD_compress(packed, sizeof packed, text, length, 3);
    put(to, kind | 0x01010000u, 4);
    put(to, ENTRY_HEADER, 4);
    put(to, size, 8);
    put(to, flags == PLAIN ? 0 : size, 4);
    put(to, 0, 4);
    put(to, 8 << 16, 4); /* the version of PTX */
    put(to, architecture, 4);
    put(to, 0, 8);
    put(to, flags, 8);
    put(to, 0, 8);
    put(to, flags == PLAIN ? 0 : length, 8);
    hd_write(to, packed, size);
}

/* A cubin, and PTX for two architectures. */
static void make(hd_writer *to, uint32_t flags)
{
    hd_writer entries;
    hd_writer_to_memory(&entries);
    hd_writer_to_memory(to);
    put_entry(&entries, 2, 80, "machine code", PLAIN);
    put_entry(&entries, 1, 80, low, flags);
    put_entry(&entries, 1, 90, high, flags);
    put(to, 0xba55ed50u, 4);
    put(to, 1 | CONTAINER_HEADER << 16, 4);
    put(to, entries.buffer.count, 8);
    hd_write(to, entries.buffer.items, entries.buffer.count);
    hd_writer_free(&entries);
}

/* The text that is read of bytes at the very end of readable memory; "": none. */
static const char *read_at_end(const char *bytes, size_t size, uint32_t capability, const char *cubins)
{
    static char text[256];
    static char *pages;
    static size_t page;
    if (!pages) {
        page = (size_t)sysconf(_SC_PAGESIZE);
        pages = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(pages != MAP_FAILED && !mprotect(pages + page, page, PROT_NONE));
    }
    const char *has = NULL;
    hd_arena arena = {0};
    hd_sources sources = {0};
    memcpy(pages + page - size, bytes, size);
    text[0] = '\0';
    bool found = hd_fatbin_read(pages + page - size, size, capability, &arena, &sources, &has);
    assert_int_equal(found, sources.count);
    assert_true(!found || hd_fatbin_architecture(pages + page - size, size, capability) > 0);
    if (found) {
        snprintf(text, sizeof text, "%.*s", (int)sources.items[0].length, sources.items[0].text);
        hd_source_free(&sources.items[0]);
    }
    if (cubins)
        assert_string_equal(has ? has : "", cubins);
    hd_array_free(&sources);
    hd_arena_free(&arena);
    return text;
}

static const uint32_t kinds[] = {PLAIN, LZ4, ZSTD};

static void the_best_entry_is_read(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        hd_writer c;
        make(&c, kinds[k]);
        assert_string_equal(read_at_end(c.buffer.items, c.buffer.count, 80, "sm_80"), low);
        assert_string_equal(read_at_end(c.buffer.items, c.buffer.count, 89, "sm_80"), low);
        assert_string_equal(read_at_end(c.buffer.items, c.buffer.count, UINT32_MAX, "sm_80"), high);
        assert_string_equal(read_at_end(c.buffer.items, c.buffer.count, 70, "sm_80"), low);
        assert_int_equal(hd_fatbin_architecture(c.buffer.items, c.buffer.count, 89), 80);
        assert_int_equal(hd_fatbin_architecture(c.buffer.items, c.buffer.count, UINT32_MAX), 90);
        assert_int_equal(hd_fatbin_architecture("", 0, 80), 0);
        hd_writer_free(&c);
    }
}

/* Of the major number of the GPU, the highest that is not above it; of a GPU that has no machine code, the lowest. */
static void the_best_cubin_is_read(void **state)
{
    static const struct {
        uint32_t capability, architecture; /* 0: none fits */
    } wanted[] = {{80, 80}, {86, 86}, {87, 86}, {89, 86},         {90, 90},
                  {99, 90}, {75, 0},  {100, 0}, {UINT32_MAX, 90}, {61, 80}};
    hd_writer c, entries;
    (void)state;
    hd_writer_to_memory(&entries);
    hd_writer_to_memory(&c);
    put_entry(&entries, 1, 100, high, PLAIN);
    put_entry(&entries, 2, 86, "86", ZSTD);
    put_entry(&entries, 2, 70, "70", PLAIN);
    put_entry(&entries, 2, 90, "90", LZ4);
    put_entry(&entries, 2, 80, "80", PLAIN);
    put(&c, 0xba55ed50u, 4);
    put(&c, 1 | CONTAINER_HEADER << 16, 4);
    put(&c, entries.buffer.count, 8);
    hd_write(&c, entries.buffer.items, entries.buffer.count);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        hd_writer cubin;
        uint32_t architecture = 0;
        char text[8];
        hd_writer_to_memory(&cubin);
        bool found =
            hd_fatbin_read_cubin(c.buffer.items, c.buffer.count, wanted[i].capability, 75, &cubin, &architecture);
        assert_int_equal(architecture, wanted[i].architecture);
        assert_int_equal(found, wanted[i].architecture != 0);
        snprintf(text, sizeof text, "%u", architecture);
        assert_true(!found || strcmp(cubin.buffer.items, text) == 0);
        hd_writer_free(&cubin);
    }
    hd_writer_free(&entries);
    hd_writer_free(&c);
}

static void a_written_cubin_is_read(void **state)
{
    hd_writer c, cubin;
    hd_source source;
    uint32_t architecture;
    (void)state;
    hd_writer_to_memory(&c);
    hd_writer_to_memory(&cubin);
    hd_source_from_memory(&source, "k.cubin", "contents", 7);
    hd_fatbin_write_cubin(&c, &source, 90);
    assert_int_equal(c.buffer.count % 8, 0);
    assert_true(hd_fatbin_read_cubin(c.buffer.items, c.buffer.count, 90, 75, &cubin, &architecture));
    assert_int_equal(cubin.buffer.count, 8);
    assert_memory_equal(cubin.buffer.items, "content", 8);
    hd_source_free(&source);
    hd_writer_free(&cubin);
    hd_writer_free(&c);
}

static void cut_ones_are_no_more_than_there_is(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        hd_writer c;
        make(&c, kinds[k]);
        for (size_t size = 0; size < c.buffer.count; size++) {
            const char *text = read_at_end(c.buffer.items, size, UINT32_MAX, NULL);
            assert_true(!*text || !strcmp(text, low));
        }
        hd_writer_free(&c);
    }
}

static void no_field_leads_beyond_the_end(void **state)
{
    static const uint64_t values[] = {0,
                                      1,
                                      15,
                                      17,
                                      63,
                                      65,
                                      0x7fff,
                                      0xffff,
                                      0x7fffffff,
                                      0x80000000,
                                      0xffffffff,
                                      1ull << 40,
                                      1ull << 62,
                                      1ull << 63,
                                      INT64_MAX,
                                      UINT64_MAX,
                                      UINT64_MAX - 15,
                                      UINT64_MAX - 63};
    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        hd_writer c;
        make(&c, kinds[k]);
        for (size_t at = 0; at < CONTAINER_HEADER + ENTRY_HEADER * 3 && at + 8 <= c.buffer.count; at += 2)
            for (size_t v = 0; v < sizeof values / sizeof *values; v++)
                for (size_t bytes = 2; bytes <= 8; bytes *= 2) {
                    char before[8];
                    memcpy(before, c.buffer.items + at, 8);
                    memcpy(c.buffer.items + at, &values[v], bytes);
                    read_at_end(c.buffer.items, c.buffer.count, UINT32_MAX, NULL);
                    memcpy(c.buffer.items + at, before, 8);
                }
        hd_writer_free(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_entry_is_read),        cmocka_unit_test(the_best_cubin_is_read),
        cmocka_unit_test(a_written_cubin_is_read),       cmocka_unit_test(cut_ones_are_no_more_than_there_is),
        cmocka_unit_test(no_field_leads_beyond_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
