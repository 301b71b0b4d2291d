/* The particle filter on the host, frame by frame. Sums need no particular order: what follows from them has a
 * tolerance, and the places chosen agree as long as no wanted share is within it of a running sum. */
#include "../tools/fills.h"

enum { PARTICLES = 512, FRAMES = 6, SIDE = 128, RADIUS = 5, BACKGROUND = 100, DISK = 228 };

typedef struct {
    double x, y, weight;
    int32_t seed;
} particle;

static int32_t next_random(int32_t seed)
{
    return (int32_t)((INT64_C(1103515245) * seed + 12345) % INT64_C(2147483647));
}

static double normal(int32_t *seed)
{
    int32_t first = next_random(*seed);
    *seed = next_random(first);
    double u = fabs((double)first / 2147483647.0), v = fabs((double)*seed / 2147483647.0);
    return sqrt(-2.0 * log(u)) * cos(2.0 * 3.14159265358979323846 * v);
}

static int in_disk(int dx, int dy) { return dx * dx + dy * dy < RADIUS * RADIUS; }

static uint8_t *make_film(void)
{
    uint8_t *pixels = allocate(FRAMES * SIDE * SIDE, 1);
    for (int i = 0; i < FRAMES * SIDE * SIDE; i++) {
        int frame = i / (SIDE * SIDE), dx = i % SIDE - SIDE / 2 - frame, dy = i / SIDE % SIDE - SIDE / 2 + 2 * frame;
        pixels[i] = (uint8_t)((in_disk(dx, dy) ? DISK : BACKGROUND) + next_random(i + 1) % 16);
    }
    return pixels;
}

static int clamp(int value) { return value < 0 ? 0 : value >= SIDE ? SIDE - 1 : value; }

static double likelihood(const uint8_t *frame, const particle *p)
{
    int column = (int)floor(p->x + 0.5), row = (int)floor(p->y + 0.5), match = 0, count = 0;
    for (int dy = -RADIUS; dy <= RADIUS; dy++)
        for (int dx = -RADIUS; dx <= RADIUS; dx++)
            if (in_disk(dx, dy)) {
                int pixel = frame[clamp(row + dy) * SIDE + clamp(column + dx)];
                match += (pixel - BACKGROUND) * (pixel - BACKGROUND) - (pixel - DISK) * (pixel - DISK);
                count++;
            }
    return exp((double)match / 50.0 / (double)count);
}

/* The particles after one frame: moved, weighed and chosen anew. */
static void one_frame(const uint8_t *pixels, particle *all, double *running, double *position, int32_t *chosen)
{
    particle before[PARTICLES];
    double total = 0, sum = 0;
    for (int i = 0; i < PARTICLES; i++) {
        all[i].x += 1.0 + 2.0 * normal(&all[i].seed);
        all[i].y += -2.0 + 2.0 * normal(&all[i].seed);
        all[i].weight = likelihood(pixels, &all[i]);
        total += all[i].weight;
    }
    for (int i = 0; i < PARTICLES; i++) {
        sum += all[i].weight / total;
        running[i] = sum;
        position[0] += all[i].x * all[i].weight / total;
        position[1] += all[i].y * all[i].weight / total;
    }
    memcpy(before, all, sizeof before);
    for (int i = 0; i < PARTICLES; i++) {
        int place = 0;
        while (place < PARTICLES - 1 && running[place] < (i + 0.37) / PARTICLES)
            place++;
        chosen[i] = place;
        all[i].x = before[place].x;
        all[i].y = before[place].y;
    }
}

int main(void)
{
    particle all[PARTICLES];
    double running[PARTICLES], positions[2 * FRAMES] = {0}, x[PARTICLES], y[PARTICLES];
    int32_t chosen[PARTICLES], seeds[PARTICLES];
    uint8_t *pixels = make_film();
    for (int i = 0; i < PARTICLES; i++)
        all[i] = (particle){SIDE / 2, SIDE / 2, 1, 7919 * (i + 1)};
    for (int frame = 1; frame < FRAMES; frame++)
        one_frame(pixels + frame * SIDE * SIDE, all, running, positions + 2 * frame, chosen);
    for (int i = 0; i < PARTICLES; i++) {
        x[i] = all[i].x;
        y[i] = all[i].y;
        seeds[i] = all[i].seed;
    }
    expect("PIXELS", pixels, FRAMES * SIDE * SIDE);
    expect("X", x, sizeof x);
    expect("Y", y, sizeof y);
    expect("SEEDS", seeds, sizeof seeds);
    expect("RUNNING", running, sizeof running);
    expect("POSITIONS", positions, sizeof positions);
    expect("CHOSEN", chosen, sizeof chosen);
    return 0;
}
