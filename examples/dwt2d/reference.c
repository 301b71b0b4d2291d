/* The forward transform on the host: a line's details and averages by their formulas from the line as it was. */
#include "../tools/fills.h"

enum { SIDE = 192, LEVELS = 3 };

static int32_t floor_half(int32_t sum, int bits) { return (int32_t)floor(ldexp((double)sum, -bits)); }

static int32_t at(const int32_t *line, int i, int length)
{
    return line[i < 0 ? -i : i >= length ? 2 * (length - 1) - i : i];
}

static int32_t detail(const int32_t *line, int i, int length)
{
    i = i < 0 ? -i : i;
    return line[i] - floor_half(at(line, i - 1, length) + at(line, i + 1, length), 1);
}

static void transform(int32_t *first, int length, int step)
{
    int32_t line[SIDE];
    for (int i = 0; i < length; i++)
        line[i] = first[i * step];
    for (int i = 0; i < length; i += 2) {
        int32_t change = floor_half(detail(line, i - 1, length) + detail(line, i + 1, length) + 2, 2);
        first[i / 2 * step] = line[i] + change;
        first[(length / 2 + i / 2) * step] = detail(line, i + 1, length);
    }
}

int main(void)
{
    int32_t *image = uniform_ints(SIDE * SIDE, 0, 256, 231);
    for (int level = 0, length = SIDE; level < LEVELS; level++, length /= 2) {
        for (int row = 0; row < length; row++)
            transform(image + row * SIDE, length, 1);
        for (int column = 0; column < length; column++)
            transform(image + column, length, SIDE);
    }
    expect("LEVELS", image, SIDE * SIDE * sizeof *image);
    return 0;
}
