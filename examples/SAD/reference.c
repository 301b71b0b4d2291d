/* Sums of absolute differences on the host: every partition straight from the pixels. */
#include "../tools/fills.h"

enum {
    WIDTH = 64,
    HEIGHT = 48,
    RANGE = 8,
    SIDE = 2 * RANGE + 1,
    PLACES = SIDE * SIDE,
    BLOCKS = WIDTH / 16 * (HEIGHT / 16)
};

static const uint8_t *current, *other;

static int pixel(int x, int y)
{
    x = x < 0 ? 0 : x >= WIDTH ? WIDTH - 1 : x;
    y = y < 0 ? 0 : y >= HEIGHT ? HEIGHT - 1 : y;
    return other[y * WIDTH + x];
}

/* All partitions of the given size. Within a macroblock those of 8 x 4 and 4 x 8 count by the 8 x 8 pixels they are
 * part of. */
static uint16_t *sums(int wide, int tall)
{
    const int parts = 256 / (wide * tall);
    const int quarter = wide * tall == 32 ? 8 : 16;
    uint16_t *all = allocate(BLOCKS * parts * PLACES, sizeof *all);
    for (int at = 0; at < BLOCKS * parts * PLACES; at++) {
        const int place = at % PLACES, part = at / PLACES % parts, block = at / PLACES / parts;
        const int across = quarter / wide, inside = across * (quarter / tall), outer = part / inside;
        const int x = block % (WIDTH / 16) * 16 + outer % (16 / quarter) * quarter + part % inside % across * wide;
        const int y = block / (WIDTH / 16) * 16 + outer / (16 / quarter) * quarter + part % inside / across * tall;
        for (int j = 0; j < tall; j++)
            for (int i = 0; i < wide; i++)
                all[at] += abs(current[(y + j) * WIDTH + x + i] -
                               pixel(x + i + place % SIDE - RANGE, y + j + place / SIDE - RANGE));
    }
    return all;
}

static void give(const char *name, int wide, int tall)
{
    expect(name, sums(wide, tall), BLOCKS * (256 / (wide * tall)) * PLACES * sizeof(uint16_t));
}

int main(void)
{
    current = uniform_bytes(WIDTH * HEIGHT, 0, 256, 141);
    other = uniform_bytes(WIDTH * HEIGHT, 0, 256, 142);
    give("SUMS4", 4, 4);
    give("PACKED4", 4, 4);
    give("SUMS8X4", 8, 4);
    give("SUMS4X8", 4, 8);
    give("SUMS8", 8, 8);
    give("SUMS16X8", 16, 8);
    give("SUMS8X16", 8, 16);
    give("SUMS16", 16, 16);
    int16_t motion[BLOCKS][2];
    const uint16_t *whole = sums(16, 16);
    for (int b = 0; b < BLOCKS; b++) {
        int best = 0;
        for (int place = 0; place < PLACES; place++)
            if (whole[b * PLACES + place] < whole[b * PLACES + best])
                best = place;
        motion[b][0] = (int16_t)(best % SIDE - RANGE);
        motion[b][1] = (int16_t)(best / SIDE - RANGE);
    }
    expect("MOTION", motion, sizeof motion);
    return 0;
}
