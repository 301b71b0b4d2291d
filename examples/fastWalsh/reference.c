/* The Walsh transform on the host, two elements at a time, by falling strides; some results are compared with the
 * defining sum of the dyadic convolution. */
#include "../tools/fills.h"

enum { COUNT = 32768 };

static void transform(float *data)
{
    for (int stride = COUNT / 2; stride > 0; stride /= 2)
        for (int i = 0; i < COUNT; i++)
            if (!(i & stride)) {
                float kept = data[i];
                data[i] = kept + data[i + stride];
                data[i + stride] = kept - data[i + stride];
            }
}

int main(void)
{
    float *data = uniform_floats(COUNT, -1, 1, 71), *kernel = uniform_floats(COUNT, -1, 1, 72);
    const float *data0 = uniform_floats(COUNT, -1, 1, 71), *kernel0 = uniform_floats(COUNT, -1, 1, 72);
    transform(data);
    transform(kernel);
    const float scale = 1.0f / COUNT;
    for (int i = 0; i < COUNT; i++)
        data[i] *= scale * kernel[i];
    transform(data);
    for (int i = 0; i < COUNT; i += 997) {
        double sum = 0;
        for (int j = 0; j < COUNT; j++)
            sum += (double)data0[j] * kernel0[i ^ j];
        if (fabs(sum - data[i]) > 1e-2)
            return fprintf(stderr, "element %d is %g, not %g\n", i, data[i], sum), 1;
    }
    expect("DATA", data, COUNT * sizeof *data);
    expect("KERNEL", kernel, COUNT * sizeof *kernel);
    return 0;
}
