/* Q on the host in double. */
#include "../tools/fills.h"

enum { SAMPLES = 160, VOXELS = 1024 };

int main(void)
{
    const float *k = uniform_floats(3 * SAMPLES, -2, 2, 151), *phi_r = uniform_floats(SAMPLES, -1, 1, 152);
    const float *phi_i = uniform_floats(SAMPLES, -1, 1, 153), *x = uniform_floats(VOXELS, -1, 1, 154);
    const float *y = uniform_floats(VOXELS, -1, 1, 155), *z = uniform_floats(VOXELS, -1, 1, 156);
    static float magnitude[SAMPLES], q_r[VOXELS], q_i[VOXELS];
    for (int s = 0; s < SAMPLES; s++)
        magnitude[s] = fmaf(phi_r[s], phi_r[s], phi_i[s] * phi_i[s]);
    for (int v = 0; v < VOXELS; v++) {
        double real = 0, imaginary = 0;
        for (int s = 0; s < SAMPLES; s++) {
            double angle = 6.28318530717958647692 *
                           ((double)k[3 * s] * x[v] + (double)k[3 * s + 1] * y[v] + (double)k[3 * s + 2] * z[v]);
            real += magnitude[s] * cos(angle);
            imaginary += magnitude[s] * sin(angle);
        }
        q_r[v] = (float)real;
        q_i[v] = (float)imaginary;
    }
    expect("MAGNITUDE", magnitude, sizeof magnitude);
    expect("Q_R", q_r, sizeof q_r);
    expect("Q_I", q_i, sizeof q_i);
    return 0;
}
