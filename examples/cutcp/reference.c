/* Charges in bins, and their potential on the host in double: every charge for every point. */
#include "../tools/fills.h"

enum { X = 16, Y = 16, Z = 32, BINS_X = 4, BINS_Y = 4, BINS_Z = 6, BINS = BINS_X * BINS_Y * BINS_Z, DEPTH = 8 };

static float atoms[BINS][DEPTH][4], lattice[Z][Y][X];

int main(void)
{
    const double spacing = 0.5, bin = 4, cutoff = 4;
    int32_t neighbours[27];
    for (int i = 0; i < 27; i++)
        neighbours[i] = ((i / 9 - 1) * BINS_Y + i / 3 % 3 - 1) * BINS_X + i % 3 - 1;
    for (int b = 0; b < BINS; b++) {
        int count = (int)fill_uniform(2, 9, 161, b);
        for (int i = 0; i < count; i++) {
            const uint64_t at = 4 * ((uint64_t)b * DEPTH + i);
            atoms[b][i][0] = (float)((b % BINS_X - 1 + fill_uniform(0, 1, 162, at)) * bin);
            atoms[b][i][1] = (float)((b / BINS_X % BINS_Y - 1 + fill_uniform(0, 1, 162, at + 1)) * bin);
            atoms[b][i][2] = (float)((b / BINS_X / BINS_Y - 1 + fill_uniform(0, 1, 162, at + 2)) * bin);
            atoms[b][i][3] = (float)fill_uniform(-1, 1, 162, at + 3);
        }
    }
    for (int z = 0; z < Z; z++)
        for (int y = 0; y < Y; y++)
            for (int x = 0; x < X; x++) {
                double energy = 0;
                for (int i = 0; i < BINS * DEPTH; i++) {
                    const float *atom = atoms[0][0] + 4 * i;
                    double dx = atom[0] - x * spacing, dy = atom[1] - y * spacing, dz = atom[2] - z * spacing;
                    double square = dx * dx + dy * dy + dz * dz, s = 1 - square / (cutoff * cutoff);
                    if (s > 0 && atom[3] != 0)
                        energy += atom[3] / sqrt(square) * s * s;
                }
                lattice[z][y][x] = (float)energy;
            }
    input("NEIGHBOURS", neighbours, sizeof neighbours);
    input("BINS", atoms, sizeof atoms);
    expect("LATTICE", lattice, sizeof lattice);
    return 0;
}
