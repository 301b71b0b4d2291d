/* base/: arena, array, bitset, hash, index, writer, pool, broadcast queue. */
#include "tests/unit/unit.h"

#include "base/array.h"
#include "base/bits.h"
#include "base/bytes.h"
#include "base/bitset.h"
#include "base/hash.h"
#include "base/index.h"
#include "base/sequences.h"
#include "base/pool.h"
#include "base/scan.h"
#include "base/broadcast.h"
#include "base/utf8.h"
#include "base/writer.h"
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

/* Bits come in ascending order, once each; the set is computed once, and a body may leave the walk. */
static void bits_are_walked_in_order(void **state)
{
    (void)state;
    uint32_t set = 0x80000401u, seen = 0, computed = 0;
    uint64_t wide = 1ull << 63 | 1ull << 32 | 1, wide_seen = 0;
    int last = -1;
    HD_EACH_BIT (i, (computed++, set)) {
        assert_true((int)i > last);
        last = (int)i;
        seen |= 1u << i;
        set = 0;
    }
    assert_int_equal(seen, 0x80000401u);
    assert_int_equal(computed, 1);
    HD_EACH_BIT (i, set)
        seen += i;
    assert_int_equal(seen, 0x80000401u);
    HD_EACH_BIT64 (i, wide) {
        wide_seen |= 1ull << i;
        if (i == 32)
            break;
    }
    assert_true(wide_seen == (1ull << 32 | 1));
}

static void check_number(const char *text, uint32_t bytes, uint32_t base, uint64_t most, bool good, uint64_t number,
                         uint32_t taken)
{
    const char *at = text;
    uint64_t got = 99;
    assert_int_equal(hd_take_number(&at, bytes ? text + bytes : NULL, base, most, &got), good);
    assert_true(got == number);
    assert_int_equal(at - text, taken);
}

/* Numbers end at the first other character or at the end that is given, and do not wrap. */
static void numbers_do_not_wrap(void **state)
{
    (void)state;
    check_number("120x", 0, 10, 1000, true, 120, 3);
    check_number("120x", 2, 10, 1000, true, 12, 2);
    check_number("0aFg", 0, 16, 175, true, 175, 3);
    check_number("0af", 0, 16, 174, false, 174, 3);
    check_number("x", 0, 10, 9, false, 0, 0);
    check_number("128", 0, 2, 9, true, 1, 1);
    check_number("18446744073709551615", 0, 10, UINT64_MAX, true, UINT64_MAX, 20);
    check_number("18446744073709551616", 0, 10, UINT64_MAX, false, UINT64_MAX, 20);
    check_number("99999999999999999999999", 0, 10, 7, false, 7, 23);
    for (int c = -128; c < 128; c++) {
        const char *digits = "0123456789abcdef", *capitals = "0123456789ABCDEF";
        const char *found = c ? strchr(digits, c) : NULL, *capital = c ? strchr(capitals, c) : NULL;
        uint32_t expected = found ? (uint32_t)(found - digits) : capital ? (uint32_t)(capital - capitals) : 99;
        assert_int_equal(hd_digit_of((char)c), expected);
    }
}

/* Positions stay within the end, also where a comment does not. */
static void trivia_ends_at_the_end(void **state)
{
    (void)state;
    const char *text = " \t// a\n/* b */ \r c /* d */";
    uint32_t length = (uint32_t)strlen(text);
    assert_int_equal(hd_after_blanks(text, 0, length), 2);
    assert_int_equal(hd_after_comment(text, 2, length), 6);
    assert_int_equal(hd_after_comment(text, 3, length), 3);
    assert_int_equal(hd_after_trivia(text, 0, length), 17);
    for (uint32_t end = 0; end <= length; end++)
        for (uint32_t at = 0; at <= end; at++) {
            uint32_t after = hd_after_trivia(text, at, end);
            assert_true(at <= after && after <= end);
        }
    hd_scan s = {text + 17, text + length};
    assert_true(hd_scan_is(&s, 'c') && hd_scan_take(&s, "c ") && !hd_scan_take(&s, "/* d */ "));
    assert_ptr_equal(s.at, text + 19);
}

static void bytes_are_little_endian(void **state)
{
    (void)state;
    unsigned char at[9] = {9, 9, 9, 9, 9, 9, 9, 9, 9};
    hd_store_bytes(at, 0x1122334455667788u, 3);
    assert_memory_equal(at, "\x88\x77\x66\x09", 4);
    assert_true(hd_load_bytes(at, 4) == 0x09667788u && hd_load_bytes(at, 0) == 0);
    hd_store_bytes(at + 1, 0x1122334455667788u, 8);
    assert_true(hd_load_bytes(at + 1, 8) == 0x1122334455667788u && hd_load_bytes(at, 1) == 0x88);
}

/* Each character has its shortest form and no other; surrogates have none. */
static void each_character_has_one_form(void **state)
{
    (void)state;
    uint32_t count = 0, c = 0;
    for (uint32_t first = 0; first < 0x110000;
         first += 0x40) { /* all beginnings of up to three bytes, and last bytes */
        char text[4] = {(char)(0xf0 | first >> 18), (char)(0x80 | (first >> 12 & 63)), (char)(0x80 | (first >> 6 & 63)),
                        (char)0x80};
        assert_int_equal(hd_utf8_bytes(text, 4, &c), first < 0x10000 ? 0 : 4);
        assert_true(first < 0x10000 || c == first);
        text[1] = (char)(0xe0 | (first >> 12 & 15));
        bool three = first < 0x10000 && first >= 0x800 && (first < 0xd800 || first > 0xdfff);
        if (first < 0x10000)
            assert_int_equal(hd_utf8_bytes(text + 1, 3, NULL), three ? 3 : 0);
        count += three;
    }
    assert_int_equal(count, (0x10000 - 0x800 - 0x800) / 0x40);
    assert_int_equal(hd_utf8_bytes("\xc1\xbf", 2, NULL), 0);
    assert_int_equal(hd_utf8_bytes("\xc2\x80", 2, &c), 2);
    assert_int_equal(c, 0x80);
    assert_int_equal(hd_utf8_bytes("\xc2\x80", 1, NULL), 0);
    assert_int_equal(hd_utf8_bytes("\xf4\x90\x80\x80", 4, NULL), 0);
    assert_int_equal(hd_utf8_bytes("\xc2\x41", 2, NULL), 0);
    assert_int_equal(hd_utf8_bytes("", 1, &c), 1);
}

/* Pieces of all sizes are aligned, apart from each other, and keep what is written into them. */
static void arena_pieces_do_not_overlap(void **state)
{
    (void)state;
    enum { COUNT = 3000 };
    hd_arena arena = {0};
    unsigned char *piece[COUNT];
    size_t size[COUNT];
    uint64_t seed = 1;
    for (unsigned i = 0; i < COUNT; i++) {
        size[i] = i % 500 == 499 ? 300000 + i : unit_random(&seed) % 200;
        piece[i] = hd_arena_alloc(&arena, size[i]);
        assert_int_equal((uintptr_t)piece[i] % 16, 0);
        memset(piece[i], (int)(i % 251), size[i]);
    }
    for (unsigned i = 0; i < COUNT; i++)
        for (size_t b = 0; b < size[i]; b++)
            assert_int_equal(piece[i][b], i % 251);
    hd_arena_free(&arena);
    assert_int_equal(arena.reserved_bytes, 0);
    assert_non_null(hd_arena_alloc(&arena, 8)); /* usable again */
    hd_arena_free(&arena);
}

static void arena_memory_stays_in_proportion(void **state)
{
    (void)state;
    hd_arena arena;
    hd_arena_init(&arena);
    for (unsigned i = 0; i < 100000; i++)
        hd_arena_alloc(&arena, 16);
#ifndef HD_ARENA_GAPS
    assert_in_range(arena.reserved_bytes, 1600000, 1600000 * 2);
#endif
    size_t before = arena.reserved_bytes;
    hd_arena_alloc(&arena, 50 << 20);
    assert_in_range(arena.reserved_bytes - before, 50 << 20, (50 << 20) + 4096);
    size_t with_large = arena.reserved_bytes;
    hd_arena_alloc(&arena, 16); /* the newest chunk is still in use */
    assert_true(arena.reserved_bytes - with_large <= 1 << 20);
    hd_arena_free(&arena);
}

static void arena_helpers(void **state)
{
    (void)state;
    hd_arena arena = {0};
    memset(hd_arena_alloc(&arena, 4000), 0xff, 4000);
    unsigned char *zero = hd_arena_calloc(&arena, 1000);
    for (unsigned i = 0; i < 1000; i++)
        assert_int_equal(zero[i], 0);
    assert_string_equal(hd_arena_string(&arena, "warpspeed", 4), "warp");
    assert_string_equal(hd_arena_string(&arena, NULL, 0), "");
    assert_string_equal(hd_arena_printf(&arena, "%s%d", "R", 254), "R254");
    assert_memory_equal(hd_arena_copy(&arena, "ab\0c", 4), "ab\0c", 4);
    char *large = hd_arena_printf(&arena, "%*d", 100000, 7);
    assert_int_equal(strlen(large), 100000);
    hd_arena_free(&arena);
}

static void array_grows(void **state)
{
    (void)state;
    HD_ARRAY(uint64_t) a = {0};
    for (uint32_t i = 0; i < 100000; i++) {
        hd_array_push(&a, i * 3ull);
        assert_true(a.capacity >= a.count && a.capacity <= 2 * a.count + 8);
    }
    for (uint32_t i = 0; i < a.count; i++)
        assert_int_equal(a.items[i], i * 3ull);
    assert_int_equal(hd_array_last(&a), 99999 * 3ull);
    assert_int_equal(hd_array_pop(&a), 99999 * 3ull);
    assert_int_equal(a.count, 99999);
    hd_array_fit(&a);
    assert_int_equal(a.capacity, 99999);
    uint64_t *room = hd_array_extend(&a, 5000);
    assert_ptr_equal(room, a.items + 99999);
    assert_int_equal(a.count, 104999);
    hd_array_clear(&a);
    assert_int_equal(a.count, 0);
    hd_array_free(&a);
    assert_null(a.items);
}

/* Against a plain array of flags. */
static void bitset_agrees_with_flags(void **state)
{
    (void)state;
    uint64_t seed = 7;
    for (uint32_t bits = 0; bits < 300; bits += 1 + bits / 20) {
        hd_arena arena = {0};
        hd_bitset s = hd_bitset_new(&arena, bits);
        bool flag[300] = {false};
        for (uint32_t i = 0; i < bits; i++) {
            uint32_t bit = (uint32_t)(unit_random(&seed) % bits);
            bool remove = unit_random(&seed) % 4 == 0;
            flag[bit] = !remove;
            (remove ? hd_bitset_remove : hd_bitset_add)(&s, bit);
        }
        uint32_t count = 0, seen = 0;
        for (uint32_t i = 0; i < bits; i++) {
            assert_int_equal(hd_bitset_has(&s, i), flag[i]);
            count += flag[i];
        }
        assert_int_equal(hd_bitset_count(&s), count);
        HD_BITSET_EACH (&s, i) {
            assert_true(flag[i]);
            seen++;
        }
        assert_int_equal(seen, count);
        hd_bitset_clear(&s);
        assert_int_equal(hd_bitset_next(&s, 0), bits);
        hd_arena_free(&arena);
    }
}

/* Values of the XXH3 specification's reference implementation: they are written into files and must never change. */
static void hash_values_are_fixed(void **state)
{
    (void)state;
    assert_true(hd_hash("", 0) == 0x2d06800538d394c2ull);
    char text[1000];
    for (unsigned i = 0; i < sizeof text; i++)
        text[i] = (char)(i * 7);
    hd_hasher *hasher = hd_hasher_new();
    for (size_t begin = 0, step = 1; begin < sizeof text; begin += step, step = step * 2 + 1)
        hd_hasher_add(hasher, text + begin, begin + step < sizeof text ? step : sizeof text - begin);
    assert_true(hd_hasher_value(hasher) == hd_hash(text, sizeof text));
    hd_hasher_add(hasher, NULL, 0);
    assert_true(hd_hasher_value(hasher) == hd_hash(text, sizeof text));
    hd_hasher_free(hasher);
}

/* The same text, written in pieces of every kind. */
static void write_pieces(hd_writer *writer)
{
    char block[5000];
    memset(block, 'x', sizeof block);
    for (unsigned i = 0; i < 40; i++) {
        hd_write(writer, block, sizeof block);
        hd_write_u64(writer, i * 1000003ull);
        hd_write_char(writer, '\n');
        hd_write_string(writer, "");
        hd_write_format(writer, "%*u|", (int)i * 10, i);
    }
    hd_write_u64(writer, UINT64_MAX);
    hd_write_format(writer, "%0300d", 5);
    char *large = calloc(1, 200000);
    hd_write(writer, large, 200000);
    free(large);
}

static void writer_to_file_equals_writer_to_memory(void **state)
{
    (void)state;
    hd_writer memory, file;
    hd_writer_to_memory(&memory);
    write_pieces(&memory);
    assert_true(hd_writer_flush(&memory));

    char path[] = "/tmp/heddle-test-XXXXXX";
    int descriptor = mkstemp(path);
    assert_true(descriptor >= 0);
    unlink(path);
    hd_writer_to_descriptor(&file, descriptor);
    write_pieces(&file);
    assert_true(hd_writer_flush(&file));
    assert_int_equal(file.written_bytes, memory.written_bytes);
    assert_int_equal(memory.buffer.count, memory.written_bytes);
    assert_int_equal(lseek(descriptor, 0, SEEK_END), memory.buffer.count);
    char *back = malloc(memory.buffer.count);
    assert_int_equal(pread(descriptor, back, memory.buffer.count, 0), memory.buffer.count);
    assert_memory_equal(back, memory.buffer.items, memory.buffer.count);
    free(back);
    close(descriptor);
    hd_writer_free(&file);
    hd_writer_free(&memory);
}

static void numbers_are_written_in_decimal(void **state)
{
    (void)state;
    static const uint64_t numbers[] = {0, 9, 10, 99, 100, 101, 1234567890, UINT32_MAX, UINT64_MAX};
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        hd_writer writer;
        hd_writer_to_memory(&writer);
        hd_write_u64(&writer, numbers[i]);
        hd_write_char(&writer, 0);
        char expected[32];
        snprintf(expected, sizeof expected, "%llu", (unsigned long long)numbers[i]);
        assert_string_equal(writer.buffer.items, expected);
        hd_writer_free(&writer);
    }
}

static void writer_remembers_errors(void **state)
{
    (void)state;
    int full = open("/dev/full", O_WRONLY);
    if (full < 0)
        skip();
    hd_writer writer;
    hd_writer_to_descriptor(&writer, full);
    write_pieces(&writer);
    assert_false(hd_writer_flush(&writer));
    assert_int_equal(errno, ENOSPC);
    assert_int_equal(writer.error, ENOSPC);
    hd_writer_free(&writer);
    close(full);
}

typedef struct sums {
    uint64_t result[1000];
    _Atomic uint32_t runs, highest_worker;
} sums;

static void sum(void *context, uint32_t index, uint32_t worker)
{
    sums *s = context;
    uint64_t value = index;
    for (unsigned i = 0; i < 1000; i++)
        value = unit_random(&value);
    s->result[index] += value;
    atomic_fetch_add(&s->runs, 1);
    uint32_t highest = atomic_load(&s->highest_worker);
    while (worker > highest && !atomic_compare_exchange_weak(&s->highest_worker, &highest, worker))
        ;
}

static void pool_runs_each_index_once(void **state)
{
    (void)state;
    static const uint32_t threads[] = {1, 0, 2, 7, 5000};
    static sums first;
    hd_parallel(1, 1000, sum, &first);
    for (unsigned i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        sums *s = calloc(1, sizeof *s);
        hd_parallel(threads[i], 1000, sum, s);
        assert_int_equal(s->runs, 1000);
        assert_memory_equal(s->result, first.result, sizeof first.result);
        assert_true(s->highest_worker < (threads[i] ? threads[i] : hd_cpu_count()));
        free(s);
    }
    sums none = {0};
    hd_parallel(4, 0, sum, &none);
    assert_int_equal(none.runs, 0);
    assert_true(hd_cpu_count() >= 1);
}

static void lag(void *context, uint32_t index, uint32_t worker)
{
    sums *s = context;
    (void)worker;
    usleep(index ? 20000 : 0);
    atomic_fetch_add(&s->runs, 1);
}

static void pool_waits_for_all(void **state)
{
    (void)state;
    sums s = {0};
    hd_parallel(4, 4, lag, &s);
    assert_int_equal(s.runs, 4);
}

static void thread_budget_lends_what_it_has(void **state)
{
    (void)state;
    hd_thread_budget budget = {3};
    assert_int_equal(hd_thread_budget_take(&budget, 2), 2);
    assert_int_equal(hd_thread_budget_take(&budget, 2), 1);
    assert_int_equal(hd_thread_budget_take(&budget, 2), 0);
    hd_thread_budget_return(&budget, 2);
    assert_int_equal(hd_thread_budget_take(&budget, 5), 2);
}

enum { READERS = 5, LAG = 3, BATCHES = 60, NONE = UINT32_MAX };

typedef struct course {                         /* of a broadcast queue */
    uint32_t slots[LAG + 1];                    /* number of the batch in it */
    _Atomic uint32_t wrong_batch, wrong_reader; /* NONE: all are good */
    uint32_t read[READERS];
    _Atomic uint32_t at_a_time, most_at_a_time;
} course;

/* Each batch once, in order, while it is there; readers need different times. */
static bool read_batch(void *context, uint32_t reader, uint32_t slot)
{
    course *c = context;
    uint32_t now = atomic_fetch_add(&c->at_a_time, 1) + 1, most = atomic_load(&c->most_at_a_time);
    while (now > most && !atomic_compare_exchange_weak(&c->most_at_a_time, &most, now))
        ;
    uint32_t batch = c->slots[slot];
    bool good = batch == c->read[reader]++ && !(batch == c->wrong_batch && reader == c->wrong_reader);
    if (reader == batch % READERS)
        usleep(100);
    good = good && c->slots[slot] == batch;
    atomic_fetch_sub(&c->at_a_time, 1);
    return good;
}

/* The number of batches published when hd_broadcast_publish() first failed; NONE: it never did. */
static uint32_t run_broadcast(course *c, hd_broadcast *broadcast, uint32_t lag_now)
{
    uint32_t failed = NONE;
    for (uint32_t b = 0; b < BATCHES; b++) {
        c->slots[hd_broadcast_slot(broadcast)] = b;
        bool good = hd_broadcast_publish(broadcast, lag_now);
        failed = good || failed != NONE ? failed : b + 1;
        for (uint32_t r = 0; r < READERS; r++)
            assert_in_range(c->read[r], b + 1 > lag_now ? b + 1 - lag_now : 0, b + 1);
    }
    assert_true(hd_broadcast_finish(broadcast) == (c->wrong_batch == NONE));
    for (uint32_t r = 0; r < READERS; r++)
        assert_int_equal(c->read[r], BATCHES);
    return failed;
}

/* Results do not depend on the number of threads, nor on which of them are free. */
static void broadcast_delivers_each_batch_to_all(void **state)
{
    (void)state;
    static const struct {
        uint32_t threads, budget; /* NONE: all threads are its own */
    } cases[] = {{1, NONE}, {2, NONE}, {3, 0}, {4, 1}, {9, 9}, {0, NONE}};
    for (uint32_t k = 0; k < 6 * (LAG + 1) * 3; k++) {
        uint32_t n = k / 3 / (LAG + 1), lag_now = k / 3 % (LAG + 1), wrong = k % 3;
        hd_thread_budget budget = {cases[n].budget};
        course c = {.wrong_batch = wrong == 0 ? NONE : wrong == 1 ? 0 : BATCHES / 2, .wrong_reader = k % READERS};
        hd_broadcast *broadcast = hd_broadcast_new(READERS, LAG, read_batch, &c);
        hd_broadcast_threads(broadcast, cases[n].threads, cases[n].budget == NONE ? NULL : &budget);
        assert_int_equal(run_broadcast(&c, broadcast, lag_now),
                         c.wrong_batch == NONE ? NONE : c.wrong_batch + 1 + lag_now);
        assert_int_equal(budget.count, cases[n].budget);
        assert_true(cases[n].budget == NONE || c.most_at_a_time <= cases[n].budget + 1);
        assert_true(!cases[n].threads || c.most_at_a_time <= cases[n].threads);
        hd_broadcast_free(broadcast);
    }
}

/* Each number is found under its hash and under no other, also where many numbers share a hash or its last bits. */
static void index_finds_all_of_a_hash(void **state)
{
    (void)state;
    enum { NUMBERS = 3000, HASHES = 100 };
    hd_index index = {0};
    uint64_t hashes[HASHES];
    assert_true(hd_index_first(&index, 7) == HD_INDEX_END);
    for (uint32_t h = 0; h < HASHES; h++)
        hashes[h] = (uint64_t)h << 32 | (h % 3 ? UINT32_MAX : h);
    for (uint32_t n = 0; n < NUMBERS; n++)
        hd_index_add(&index, hashes[n * n % HASHES], n);
    for (uint32_t h = 0; h < HASHES; h++) {
        bool found[NUMBERS] = {0};
        for (uint32_t at = hd_index_first(&index, hashes[h]); at != HD_INDEX_END;
             at = hd_index_next(&index, hashes[h], at)) {
            assert_false(found[index.slots[at].number]);
            found[index.slots[at].number] = true;
        }
        for (uint32_t n = 0; n < NUMBERS; n++)
            assert_int_equal(found[n], n * n % HASHES == h);
    }
    assert_true(hd_index_first(&index, (uint64_t)HASHES << 32 | UINT32_MAX) == HD_INDEX_END);
    hd_index_free(&index);
}

/* The same words have the same number, and no others; as many as there may be. */
static void sequences_have_numbers(void **state)
{
    (void)state;
    enum { MOST = 300 };
    hd_sequences s = {0};
    uint64_t seed = 3;
    uint32_t places[2000], next = 0;
    memset(places, 0xff, sizeof places);
    for (uint32_t i = 0; i < 20000; i++) {
        uint32_t length = (uint32_t)(unit_random(&seed) % 6), words[5], place = length, known;
        for (uint32_t k = 0; k < length; k++) {
            words[k] = (uint32_t)(unit_random(&seed) % 3);
            place = place * 3 + words[k];
        }
        uint32_t number = hd_sequences_number(&s, words, length, MOST);
        if (places[place] == UINT32_MAX && next < MOST)
            places[place] = next++;
        assert_int_equal(number, places[place]);
        if (number == HD_SEQUENCES_NONE)
            continue;
        const uint32_t *kept = hd_sequences_words(&s, number, &known);
        assert_int_equal(known, length);
        assert_memory_equal(length ? kept : words, words, length * sizeof *words);
    }
    assert_int_equal(hd_sequences_number(&s, places, 2, MOST), HD_SEQUENCES_NONE);
    hd_sequences_free(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bits_are_walked_in_order),
        cmocka_unit_test(numbers_do_not_wrap),
        cmocka_unit_test(trivia_ends_at_the_end),
        cmocka_unit_test(bytes_are_little_endian),
        cmocka_unit_test(each_character_has_one_form),
        cmocka_unit_test(arena_pieces_do_not_overlap),
        cmocka_unit_test(arena_memory_stays_in_proportion),
        cmocka_unit_test(arena_helpers),
        cmocka_unit_test(array_grows),
        cmocka_unit_test(bitset_agrees_with_flags),
        cmocka_unit_test(hash_values_are_fixed),
        cmocka_unit_test(index_finds_all_of_a_hash),
        cmocka_unit_test(sequences_have_numbers),
        cmocka_unit_test(writer_to_file_equals_writer_to_memory),
        cmocka_unit_test(numbers_are_written_in_decimal),
        cmocka_unit_test(writer_remembers_errors),
        cmocka_unit_test(pool_runs_each_index_once),
        cmocka_unit_test(pool_waits_for_all),
        cmocka_unit_test(thread_budget_lends_what_it_has),
        cmocka_unit_test(broadcast_delivers_each_batch_to_all),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
