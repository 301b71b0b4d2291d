/* The annotation section: bytes of every value type, damage of every kind, unknown kinds and versions. */
#include "annotated.h"

#include "base/hash.h"
#include "ir/words/section.h"

static const hd_emit_options PORTABLE = {0};

/* ---- helpers: sections built by hand, independent of the writer -------------------------------------------------- */

typedef struct raw {
    uint8_t bytes[4096];
    uint32_t count;
} raw;

static void put(raw *r, const void *bytes, uint32_t count)
{
    memcpy(r->bytes + r->count, bytes, count);
    r->count += count;
}

static void put_number(raw *r, uint64_t value, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        r->bytes[r->count++] = (uint8_t)(value >> 8 * i);
}

static raw begin(uint16_t major, uint16_t minor)
{
    raw r = {.count = 0};
    put(&r, "HDL1", 4);
    put_number(&r, major, 2);
    put_number(&r, minor, 2);
    put_number(&r, 0, 4);
    return r;
}

static void put_record(raw *r, uint16_t kind, const void *payload, uint32_t length)
{
    put_number(r, kind, 2);
    put_number(r, length, 4);
    put(r, payload, length);
}

static void put_function(raw *r, uint64_t hash, const char *name)
{
    put_number(r, 1, 2);
    put_number(r, 8 + strlen(name), 4);
    put_number(r, hash, 8);
    put(r, name, (uint32_t)strlen(name));
}

static void finish(raw *r)
{
    uint32_t end = r->count;
    r->count = 8;
    put_number(r, end - 12, 4);
    r->count = end;
    put_number(r, hd_hash(r->bytes, end), 8);
}

/* RICH and a section of these bytes, decimal and hexadecimal; freed by the caller. */
static char *with_section(const raw *r)
{
    char *text = malloc(strlen(RICH) + 64 + r->count * 5u), *at = stpcpy(text, RICH);
    at = stpcpy(at, ".section .heddle { .b8 ");
    for (uint32_t i = 0; i < r->count; i++)
        at += sprintf(at, i % 3 == 0 ? "%s%u" : i % 3 == 1 ? "%s0x%x" : "%s0x%X", i ? "," : "", r->bytes[i]);
    stpcpy(at, "\n}\n");
    return text;
}

static uint64_t rich_hash(void)
{
    annotated *a = read_good(RICH);
    uint64_t hash = hd_function_hash(a->f);
    annotated_free(a);
    return hash;
}

/* Slugs of RICH with one record. */
static const char *slugs_of_record(uint16_t kind, const void *payload, uint32_t length)
{
    raw r = begin(1, 0);
    put_function(&r, rich_hash(), "k");
    put_record(&r, kind, payload, length);
    finish(&r);
    char *text = with_section(&r);
    const char *found = slugs_of(text);
    free(text);
    return found;
}

/* The writer's own bytes for RICH with everything; freed by the caller. */
static hd_bytes rich_bytes(void)
{
    hd_bytes bytes = {0};
    annotated *a = read_good(RICH);
    annotate_everything(a->f);
    hd_section_begin(&bytes);
    hd_section_add_function(&bytes, a->f, hd_function_hash(a->f));
    assert_true(hd_section_end(&bytes));
    annotated_free(a);
    return bytes;
}

/* ---- tests ------------------------------------------------------------------------------------------------------- */

static void every_type_reads_back_from_the_section_alone(void **state)
{
    (void)state;
    annotated *a = read_good(RICH);
    annotate_everything(a->f);
    char *text = written(a, PORTABLE), *section = section_of(text), *alone = malloc(strlen(RICH) + strlen(section) + 1);
    stpcpy(stpcpy(alone, RICH), section);
    annotated *b = read_good(alone);
    assert_same_annotations(a->f, b->f);
    char *unchanged = written(b, PORTABLE);
    assert_string_equal(unchanged, alone);
    char *comments = written(b, (hd_emit_options){.no_section = true}),
         *expected = written(a, (hd_emit_options){.no_section = true});
    char *plain_comments = stripped(comments), *plain_alone = stripped(alone);
    assert_string_equal(plain_comments, plain_alone);
    annotated *c = read_good(comments);
    assert_same_annotations(a->f, c->f);
    annotated_free(c);
    free(plain_comments);
    free(plain_alone);
    free(comments);
    free(expected);
    free(unchanged);
    free(alone);
    free(section);
    free(text);
    annotated_free(a);
    annotated_free(b);
}

/* Against bytes written down by hand from heddle-annotations(7). */
static void layout_is_as_documented(void **state)
{
    (void)state;
    annotated *a = read_good(RICH);
    hd_bytes bytes = {0};
    hd_annotate(a->f, (hd_annotation){HD_ANNOTATION_BOW_WINDOW, 0, HD_NONE, 300, 0});
    hd_annotate(a->f, (hd_annotation){HD_ANNOTATION_BOW, 0, 1, 2, 0});
    hd_annotate(a->f, (hd_annotation){HD_ANNOTATION_BOW, 1, 1, 1, 0});
    hd_annotate(a->f, (hd_annotation){HD_ANNOTATION_BOW, 0, 7, 0, 0});
    hd_annotations_sort(a->f);
    hd_section_begin(&bytes);
    hd_section_add_function(&bytes, a->f, 0x1122334455667788u);
    assert_true(hd_section_end(&bytes));
    raw r = begin(1, 0);
    put_function(&r, 0x1122334455667788u, "k");
    put_record(&r, 16, (const uint8_t[]){0, 1, 0, 1, 0, 0xac, 0x02}, 7);
    put_record(&r, 17, (const uint8_t[]){3, 2, 2, 3, (1 << 1) << 2 | 2, 1 << 2 | 1, 1, (6 << 1) << 2 | 0}, 8);
    finish(&r);
    assert_int_equal(bytes.count, r.count);
    assert_memory_equal(bytes.items, r.bytes, r.count);
    hd_array_free(&bytes);
    annotated_free(a);
}

static void every_flipped_byte_is_found(void **state)
{
    (void)state;
    hd_bytes bytes = rich_bytes();
    hd_section_reader reader;
    assert_int_equal(hd_section_open(&reader, bytes.items, bytes.count), HD_SECTION_OK);
    for (uint32_t i = 0; i < bytes.count; i++)
        for (int bit = 0; bit < 8; bit++) {
            bytes.items[i] ^= (uint8_t)(1 << bit);
            hd_section_status status = hd_section_open(&reader, bytes.items, bytes.count);
            bytes.items[i] ^= (uint8_t)(1 << bit);
            if (i == 4 || i == 5)
                assert_int_equal(status, HD_SECTION_VERSION);
            else if (i < 4 || (i >= 8 && i < 12))
                assert_int_equal(status, HD_SECTION_MALFORMED);
            else
                assert_int_equal(status, HD_SECTION_CHECKSUM);
        }
    for (uint32_t length = 0; length < bytes.count; length++)
        assert_int_equal(hd_section_open(&reader, bytes.items, length), HD_SECTION_MALFORMED);
    hd_array_free(&bytes);
}

/* Damage after a right checksum: each record byte set to other values either reads or is reported, and never crashes.
 */
static void damaged_records_are_told(void **state)
{
    (void)state;
    hd_bytes bytes = rich_bytes();
    uint32_t rejected = 0;
    for (uint32_t i = HD_SECTION_HEADER_BYTES; i < bytes.count - HD_SECTION_CHECKSUM_BYTES; i++) {
        raw r = {.count = bytes.count - HD_SECTION_CHECKSUM_BYTES};
        memcpy(r.bytes, bytes.items, r.count);
        r.bytes[i] ^= 0x55;
        finish(&r);
        char *text = with_section(&r);
        rejected += *slugs_of(text) != '\0';
        free(text);
    }
    assert_true(rejected > (bytes.count - HD_SECTION_HEADER_BYTES - HD_SECTION_CHECKSUM_BYTES) * 3 / 4);
    hd_array_free(&bytes);
}

static void versions(void **state)
{
    (void)state;
    for (uint16_t major = 0; major < 3; major++)
        for (uint16_t minor = 0; minor < 3; minor++) {
            raw r = begin(major, minor);
            finish(&r);
            char *text = with_section(&r);
            assert_string_equal(slugs_of(text), major == 1 ? "" : "annotation-version");
            free(text);
        }
}

static void bad_payloads(void **state)
{
    (void)state;
    static const struct {
        uint16_t kind;
        uint32_t length;
        uint8_t payload[16];
        const char *slug;
    } cases[] = {
        {17, 5, {3, 2, 2, 1, 1 << 3 | 2}, ""},
        {17, 4, {3, 2, 2, 0}, ""},
        {17, 0, {0}, "bad-annotation"},                                /* too short */
        {17, 3, {3, 2, 2}, "bad-annotation"},                          /* no count */
        {17, 5, {2, 2, 2, 1, 1 << 3 | 2}, "bad-annotation"},           /* place */
        {17, 5, {3, 1, 2, 1, 1 << 3 | 2}, "bad-annotation"},           /* type */
        {17, 5, {3, 2, 3, 1, 1 << 3 | 2}, "bad-annotation"},           /* inline bits */
        {17, 5, {3, 2, 2, 1, 1 << 3 | 3}, "bad-annotation"},           /* no such word */
        {17, 5, {3, 2, 2, 2, 1 << 3 | 2}, "bad-annotation"},           /* an entry is missing */
        {17, 6, {3, 2, 2, 1, 1 << 3 | 2, 0}, "bad-annotation"},        /* one too many */
        {17, 6, {3, 2, 2, 2, 1 << 3 | 2, 0}, "bad-annotation"},        /* the same place twice */
        {17, 7, {3, 2, 2, 2, 1 << 3 | 4 | 2, 1, 2}, "bad-annotation"}, /* slot 1 before slot 0 */
        {17, 6, {3, 2, 2, 1, 1 << 3 | 4 | 2, 0}, "bad-annotation"},    /* slot 0 spelled out */
        {17, 6, {3, 2, 2, 1, 1 << 3 | 4 | 2, 2}, "bad-annotation"},    /* a slot that is not there */
        {17, 6, {3, 2, 2, 1, 0xd0, 0x00}, "bad-annotation"},           /* number longer than it needs */
        {17, 5, {3, 2, 2, 1, 10 << 3}, "bad-annotation"},              /* ordinal 10 of 10 */
        {17, 14, {3, 2, 2, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, "bad-annotation"},
        {17, 15, {3, 2, 2, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01}, "bad-annotation"},
        {16, 6, {0, 1, 0, 1, 0, 3}, ""},
        {16, 6, {0, 1, 0, 1, 2, 3}, "bad-annotation"},       /* a function has no ordinal */
        {16, 8, {0, 1, 0, 2, 0, 3, 0, 4}, "bad-annotation"}, /* two windows */
        {65281, 10, {2, 1, 0, 1, 0, 0xff, 0xff, 0xff, 0xff, 0x0f}, ""},
        {65281, 10, {2, 1, 0, 1, 0, 0x80, 0x80, 0x80, 0x80, 0x10}, "bad-annotation"}, /* 2^32 */
        {65284, 8, {2, 4, 0, 1, 0, 1, 0, 1}, ""},                                     /* %r1 */
        {65284, 8, {2, 4, 0, 1, 0, 1, 9, 1}, "bad-annotation"},                       /* no such declaration */
        {65284, 6, {2, 4, 0, 1, 0, 9}, "bad-annotation"},                             /* longer than the record */
        {65285, 14, {2, 5, 0, 1, 0, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f}, "bad-annotation"},
        {2, 0, {0}, "bad-annotation"},
        {15, 0, {0}, "bad-annotation"},
        {999, 3, {1, 2, 3}, "unknown-annotation"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const char *found = slugs_of_record(cases[i].kind, cases[i].payload, cases[i].length);
        if (strcmp(found, cases[i].slug) != 0)
            print_error("case %zu gives '%s'\n", i, found);
        assert_string_equal(found, cases[i].slug);
    }
}

static const char *slugs_of_raw(raw *r)
{
    finish(r);
    char *text = with_section(r);
    const char *found = slugs_of(text);
    free(text);
    return found;
}

static void bad_structure(void **state)
{
    (void)state;
    uint64_t hash = rich_hash();
    raw r = begin(1, 0);
    put_record(&r, 17, (const uint8_t[]){3, 2, 2, 0}, 4);
    assert_string_equal(slugs_of_raw(&r), "bad-annotation"); /* before any function */
    r = begin(1, 0);
    put_function(&r, hash, "k");
    put_function(&r, hash, "k");
    assert_string_equal(slugs_of_raw(&r), "bad-annotation");
    r = begin(1, 0);
    put_function(&r, hash, "");
    assert_string_equal(slugs_of_raw(&r), "bad-annotation");
    r = begin(1, 0);
    put_function(&r, hash ^ 1, "k");
    assert_string_equal(slugs_of_raw(&r), "stale-annotation");
    r = begin(1, 0);
    put_function(&r, hash, "p"); /* a name, but not of a function */
    assert_string_equal(slugs_of_raw(&r), "stale-annotation");
    r = begin(1, 0);
    put_number(&r, 17, 2);
    put_number(&r, 1000, 4);
    assert_string_equal(slugs_of_raw(&r), "bad-annotation"); /* longer than the section */
}

static void bad_text(void **state)
{
    (void)state;
    static const char *const sections[] = {
        "", ".b8 72", ".b16 72", ".b8 256", ".b8 72,-1", ".b8 72,k", "a: .b8 72", ".b8 72 .b32 1",
    };
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++) {
        char text[2048];
        snprintf(text, sizeof text, "%s.section .heddle {%s }\n", RICH, sections[i]);
        assert_string_equal(slugs_of(text), "bad-annotation");
    }
    raw r = begin(1, 0);
    finish(&r);
    char *text = with_section(&r), twice[8192];
    assert_string_equal(slugs_of(text), "");
    snprintf(twice, sizeof twice, "%s%s", text, strstr(text, ".section .heddle"));
    assert_string_equal(slugs_of(twice), "bad-annotation");
    free(text);
    /* other spellings of the same bytes */
    static const char hex[] = "0x48 /* H */ ,0x44\n,76,0x31 // L1\n.b8 1,0,0,0, 0,0,0,0";
    char spelled[2048];
    int n = snprintf(spelled, sizeof spelled, "%s.section .heddle\n{.b8 %s", RICH, hex);
    for (int i = 0; i < 8; i++)
        n += snprintf(spelled + n, sizeof spelled - (size_t)n, ",0x%x", r.bytes[12 + i]);
    snprintf(spelled + n, sizeof spelled - (size_t)n, "}");
    assert_string_equal(slugs_of(spelled), "");
}

static void unknown_records_are_kept(void **state)
{
    (void)state;
    raw r = begin(1, 7);
    put_function(&r, rich_hash(), "k");
    put_record(&r, 999, "any bytes", 9);
    put_record(&r, 40000, "", 0);
    finish(&r);
    char *text = with_section(&r);
    annotated *a = read_text(text);
    assert_string_equal(slugs(a), "unknown-annotation unknown-annotation");
    char *same = written(a, PORTABLE);
    assert_string_equal(same, text);
    hd_annotate(a->f, (hd_annotation){HD_ANNOTATION_BOW, 0, RICH_ADD, 1, 0});
    hd_annotations_sort(a->f);
    char *more = written(a, PORTABLE);
    annotated *b = read_text(more);
    assert_string_equal(slugs(b), "unknown-annotation unknown-annotation");
    assert_int_equal(b->f->foreign_annotations.count, 2);
    const hd_foreign_annotation *foreign = b->f->foreign_annotations.items;
    assert_int_equal(foreign[0].kind, 999);
    assert_int_equal(foreign[0].length, 9);
    assert_memory_equal(foreign[0].bytes, "any bytes", 9);
    assert_int_equal(foreign[1].kind, 40000);
    assert_int_equal(b->f->annotations.count, 1);
    annotated_free(b);
    annotated_free(a);
    free(more);
    free(same);
    free(text);
}

/* A section comes after the last other statement, wherever the old one was. */
static void section_is_replaced_in_its_place(void **state)
{
    (void)state;
    annotated *a = read_good(RICH);
    annotate_everything(a->f);
    char *first = written(a, PORTABLE);
    annotated *b = read_good(first);
    hd_annotate(b->f, (hd_annotation){HD_ANNOTATION_BOW_WINDOW, 0, HD_NONE, 7, 0});
    hd_annotations_sort(b->f);
    char *second = written(b, PORTABLE);
    annotated *c = read_good(second);
    assert_same_annotations(b->f, c->f);
    char *plain = stripped(second);
    assert_string_equal(plain, RICH);
    hd_annotations_remove(c->f, NULL);
    char *empty = written(c, PORTABLE);
    assert_string_equal(empty, RICH);
    annotated_free(a);
    annotated_free(b);
    annotated_free(c);
    free(first);
    free(second);
    free(plain);
    free(empty);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_type_reads_back_from_the_section_alone),
        cmocka_unit_test(layout_is_as_documented),
        cmocka_unit_test(every_flipped_byte_is_found),
        cmocka_unit_test(damaged_records_are_told),
        cmocka_unit_test(versions),
        cmocka_unit_test(bad_payloads),
        cmocka_unit_test(bad_structure),
        cmocka_unit_test(bad_text),
        cmocka_unit_test(unknown_records_are_kept),
        cmocka_unit_test(section_is_replaced_in_its_place),
    };
    return cmocka_run_group_tests_name("section", tests, NULL, NULL);
}
