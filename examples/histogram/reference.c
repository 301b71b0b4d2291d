/* Histograms on the host, the partial ones by the CTA that a word belongs to. */
#include "../tools/fills.h"

enum { BYTES = 262144, CTAS64 = 17, THREADS64 = 64, CTAS256 = 32, THREADS256 = 192 };

static uint32_t partial64[CTAS64][64], bins64[64], partial256[CTAS256][256], bins256[256], few256[256];

int main(void)
{
    const uint8_t *data = uniform_bytes(BYTES, 0, 256, 91), *few = uniform_bytes(BYTES, 100, 107, 92);
    for (int i = 0; i < BYTES; i++) {
        partial64[i / 4 / THREADS64 % CTAS64][data[i] / 4]++;
        bins64[data[i] / 4]++;
        partial256[i / 4 / THREADS256 % CTAS256][data[i]]++;
        bins256[data[i]]++;
        few256[few[i]]++;
    }
    expect("PARTIAL64", partial64, sizeof partial64);
    expect("BINS64", bins64, sizeof bins64);
    expect("PARTIAL256", partial256, sizeof partial256);
    expect("BINS256", bins256, sizeof bins256);
    expect("ALL", bins256, sizeof bins256);
    expect("FEW256", few256, sizeof few256);
    return 0;
}
