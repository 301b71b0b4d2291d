/* Binomial trees on the host in double. */
#include "../tools/fills.h"

enum { OPTIONS = 16, STEPS = 512 };

static double price(const float *tree)
{
    static double node[STEPS + 1];
    for (int i = 0; i <= STEPS; i++) {
        double value = tree[0] * exp((double)tree[2] * (2 * i - STEPS)) - tree[1];
        node[i] = value > 0 ? value : 0;
    }
    for (int step = STEPS; step > 0; step--)
        for (int i = 0; i < step; i++)
            node[i] = (double)tree[3] * node[i + 1] + (double)tree[4] * node[i];
    return node[0];
}

int main(void)
{
    static float options[OPTIONS][3], trees[OPTIONS][5], prices[OPTIONS];
    for (int o = 0; o < OPTIONS; o++) {
        options[o][0] = (float)fill_uniform(5, 30, 131, o);
        options[o][1] = (float)fill_uniform(5, 30, 132, o);
        options[o][2] = (float)fill_uniform(0.25, 10, 133, o);
        double step = options[o][2] / STEPS, log_up = 0.1 * sqrt(step), growth = exp(0.06 * step);
        double probability = (growth - exp(-log_up)) / (exp(log_up) - exp(-log_up));
        trees[o][0] = options[o][0];
        trees[o][1] = options[o][1];
        trees[o][2] = (float)log_up;
        trees[o][3] = (float)(probability / growth);
        trees[o][4] = (float)((1 - probability) / growth);
        prices[o] = (float)price(trees[o]);
    }
    input("OPTIONS", options, sizeof options);
    expect("TREES", trees, sizeof trees);
    expect("PRICES", prices, sizeof prices);
    return 0;
}
