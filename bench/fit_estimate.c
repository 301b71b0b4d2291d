/* Fits the coefficients of the register estimate (passes/estimate/estimate.c) and judges kernels by a fit without their
 * file.
 *
 *   fit_estimate FILES < ROWS
 *
 * A row: FILE PTXAS TARGET INSTRUCTIONS wanted wanted_vector late needed needed_vector over_calls calls min_ctas most
 *        room(0) .. room(128)
 * FILE is a number below FILES; the same for all kernels that are left out together; rows of FILE -1 are judged only.
 *
 * Prints the fit on all, in hundredths, in the order of the coefficients of passes/estimate/estimate.c; then for each
 * row the estimate by that fit and the estimate by a fit without the row's file. Deterministic: a random walk with a
 * fixed seed lowers a smoothed count of misses. A penalty keeps coefficients near where the walk starts. */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROWS = 4096, ROOMS = 129, STEPS = 4000, WALKS = 3, EXCESS_MOST = 50, WORDS_MOST = 300 };

typedef enum coefficient {
    BASE,
    EARLY,
    VECTOR,
    LATE,
    HOPPER,
    DOUBLING,
    EXCESS,
    SPARE,
    SLOPE,
    CTAS,
    COEFFICIENTS
} coefficient;
static const double start[COEFFICIENTS] = {5, 0.55, 0.15, 0.25, 0.7, 0.5, 0.2, 2.5, 0.1, 5};
static const double scale[COEFFICIENTS] = {1, 0.1, 0.1, 0.1, 1, 0.4, 0.03, 0.7, 0.05, 1};
static const double penalty = 0.0003;

typedef struct row {
    int file, room[ROOMS];
    double ptxas, target, instructions, wanted, wanted_vector, late, needed, needed_vector, over_calls, calls, min_ctas,
        most;
    double all, held_out;
} row;

typedef struct fitting {
    row *rows;
    int count, without; /* without: the file that is left out, or -1 */
    uint64_t seed;
} fitting;

/* ---- the model, as in passes/estimate/estimate.c ----------------------------------------------------------------- */

static double doublings(double instructions)
{
    double whole = floor(log2(instructions));
    return whole + instructions / exp2(whole) - 1 - 6;
}

static double wanted_by(const row *r, const double *c)
{
    double wanted = c[BASE] + c[EARLY] * fmin(r->wanted, WORDS_MOST) + c[VECTOR] * fmin(r->wanted_vector, WORDS_MOST) +
                    c[LATE] * fmin(r->late, WORDS_MOST) + c[HOPPER] * (r->target >= 90) +
                    c[DOUBLING] * doublings(r->instructions);
    if (r->min_ctas > 0)
        wanted = fmin(r->wanted, r->late) + c[CTAS];
    return r->calls > 0 ? fmax(wanted, 24 + fmax(0, r->over_calls - 8)) : wanted;
}

static double estimate(const row *r, const double *c)
{
    double wanted = wanted_by(r, c), least = r->needed_vector + 1;
    double needed = r->needed_vector + c[EXCESS] * fmin(fmax(r->wanted - r->needed, 0), EXCESS_MOST);
    double room = fmin(255, r->room[(int)fmin(fmax(needed, least) + 0.5, ROOMS - 1)]);
    if (r->most > 0)
        room = fmin(room, r->most);
    if (wanted > room - c[SPARE])
        wanted = room - c[SPARE] + (wanted - room + c[SPARE]) * fmax(0, c[SLOPE]);
    return fmax(4, fmin(room, fmax(wanted, least)));
}

/* ---- the fit ----------------------------------------------------------------------------------------------------- */

/* A miss counts from half a register on, and more the farther off it is. */
static double row_loss(const row *r, double guess)
{
    double off = fabs(guess - r->ptxas), close = fmax(2.4, 0.1 * r->ptxas), near = 0.25 * r->ptxas;
    return 0.6 * fmin(1, fmax(0, off - close + 0.5)) + 0.8 * fmin(1, fmax(0, off - near + 0.5)) +
           0.25 * fmin(2, off / near);
}

static double loss(const fitting *f, const double *c)
{
    double sum = 0, used = 0;
    for (int i = 0; i < f->count; i++) {
        if (f->rows[i].file < 0 || f->rows[i].file == f->without)
            continue;
        sum += row_loss(&f->rows[i], estimate(&f->rows[i], c));
        used++;
    }
    sum /= used;
    for (int k = 0; k < COEFFICIENTS; k++)
        sum += penalty * (c[k] - start[k]) / scale[k] * (c[k] - start[k]) / scale[k];
    return sum;
}

static double uniform(fitting *f)
{
    f->seed = f->seed * 6364136223846793005u + 1442695040888963407u;
    return (double)(f->seed >> 11) / (double)(1ull << 53);
}

static double normal(fitting *f)
{
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += uniform(f);
    return sum;
}

static void walk(fitting *f, double *best)
{
    double here[COEFFICIENTS], there[COEFFICIENTS], best_loss = loss(f, best), here_loss = best_loss;
    memcpy(here, best, sizeof here);
    for (int step = 0; step < STEPS; step++) {
        double heat = 0.5 * (1 - (double)step / STEPS) + 0.05;
        memcpy(there, here, sizeof there);
        for (int changes = 1 + (int)(3 * uniform(f)); changes > 0; changes--) {
            int k = (int)(COEFFICIENTS * uniform(f));
            there[k] += normal(f) * scale[k] * heat * 2;
        }
        double there_loss = loss(f, there);
        if (there_loss < here_loss + 1e-4 * heat) {
            memcpy(here, there, sizeof here);
            here_loss = there_loss;
        }
        if (there_loss < best_loss) {
            memcpy(best, there, sizeof there);
            best_loss = there_loss;
        }
    }
}

static void fit(fitting *f, int without, double *c)
{
    memcpy(c, start, sizeof start);
    f->without = without;
    f->seed = 20230523;
    for (int i = 0; i < WALKS; i++)
        walk(f, c);
}

static int read_row(row *r)
{
    if (scanf("%d %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf %lf", &r->file, &r->ptxas, &r->target, &r->instructions,
              &r->wanted, &r->wanted_vector, &r->late, &r->needed, &r->needed_vector, &r->over_calls, &r->calls,
              &r->min_ctas, &r->most) != 13)
        return 0;
    for (int k = 0; k < ROOMS; k++)
        if (scanf("%d", &r->room[k]) != 1)
            return 0;
    return 1;
}

int main(int argc, char **argv)
{
    static row rows[ROWS];
    fitting f = {.rows = rows};
    double c[COEFFICIENTS];
    int files = argc > 1 ? atoi(argv[1]) : 0;
    while (f.count < ROWS && read_row(&rows[f.count]))
        f.count++;
    fit(&f, -1, c);
    for (int k = 0; k < COEFFICIENTS; k++)
        printf("%.0f%s", 100 * c[k], k + 1 < COEFFICIENTS ? " " : "\n");
    for (int i = 0; i < f.count; i++)
        rows[i].all = rows[i].held_out = estimate(&rows[i], c);
    for (int file = 0; file < files; file++) {
        fit(&f, file, c);
        for (int i = 0; i < f.count; i++)
            if (rows[i].file == file)
                rows[i].held_out = estimate(&rows[i], c);
    }
    for (int i = 0; i < f.count; i++)
        printf("%.0f %.0f\n", rows[i].all, rows[i].held_out);
    return 0;
}
