/* The longest matches on the host: every place of the text is tried; no tree. */
#include "../tools/fills.h"

enum { TEXT = 3000, QUERIES = 400, LENGTH = 32, LETTERS = QUERIES * LENGTH };

int main(void)
{
    uint8_t *text = uniform_bytes(TEXT, 0, 4, 251), *noise = uniform_bytes(LETTERS, 0, 256, 253);
    uint8_t *queries = allocate(LETTERS, 1), *lengths = allocate(LETTERS, 1);
    int32_t *places = uniform_ints(QUERIES, 0, TEXT - LENGTH, 252), *found = allocate(LETTERS, sizeof *found);
    for (int i = 0; i < LETTERS; i++)
        queries[i] = (uint8_t)((text[places[i / LENGTH] + i % LENGTH] + (noise[i] < 16)) % 4);
    for (int i = 0; i < LETTERS; i++) {
        int rest = LENGTH - i % LENGTH;
        for (int place = 0; place < TEXT; place++) {
            int same = 0;
            while (same < rest && place + same < TEXT && text[place + same] == queries[i + same])
                same++;
            if (same > lengths[i]) {
                lengths[i] = (uint8_t)same;
                found[i] = place;
            }
        }
    }
    expect("QUERIES", queries, LETTERS);
    expect("LENGTHS", lengths, LETTERS);
    expect("FOUND", found, LETTERS * sizeof *found);
    return 0;
}
