/* The integrals on the host. The bisection is an explicit stack of intervals here; halves are joined on the way back
 * in the order of the kernel's recursion, which the results' bits depend on. */
#include "../tools/fills.h"

enum { COUNT = 1024, DEPTH = 7 };

typedef struct {
    float a, b, fa, fm, fb, whole;
    int depth;
    int state;
    float left;
} interval;

static float integrand(int which, float x)
{
    switch (which) {
    case 0:
        return 1.0f / fmaf(25.0f * x, x, 1.0f);
    case 1:
        return fmaf(fmaf(fmaf(2.0f, x, -3.0f), x, 0.5f), x, 1.0f);
    case 2:
        return x < 0.25f ? 0.0f : (x - 0.25f) * (x - 0.25f);
    default:
        return integrand(0, x - 0.5f) + integrand(0, 5.0f * x);
    }
}

static float simpson(float width, float fa, float fm, float fb) { return width / 6.0f * (fmaf(4.0f, fm, fa) + fb); }

/* Starts an interval: its value if it is good enough, or the two halves on the stack (the left one on top). */
static int split(int which, const interval *i, interval *left, interval *right, float *value)
{
    float m = 0.5f * (i->a + i->b);
    float flm = integrand(which, 0.5f * (i->a + m)), frm = integrand(which, 0.5f * (m + i->b));
    *left = (interval){i->a, m, i->fa, flm, i->fm, simpson(m - i->a, i->fa, flm, i->fm), i->depth - 1, 0, 0};
    *right = (interval){m, i->b, i->fm, frm, i->fb, simpson(i->b - m, i->fm, frm, i->fb), i->depth - 1, 0, 0};
    float delta = left->whole + right->whole - i->whole;
    *value = left->whole + right->whole + delta / 15.0f;
    return i->depth > 0 && fabsf(delta) > 1e-6f;
}

static float integrate(int which, float a, float b, int32_t *count)
{
    interval stack[DEPTH + 2], left, right;
    float fa = integrand(which, a), fm = integrand(which, 0.5f * (a + b)), fb = integrand(which, b), value = 0;
    int top = 0;
    stack[0] = (interval){a, b, fa, fm, fb, simpson(b - a, fa, fm, fb), DEPTH, 0, 0};
    while (top >= 0) {
        interval *now = &stack[top];
        if (now->state == 2) {
            value = now->left + value;
            top--;
            continue;
        }
        if (now->state == 0)
            *count += 1;
        else
            now->left = value;
        if (!split(which, now, &left, &right, &value)) {
            top--;
            continue;
        }
        stack[++top] = now->state++ == 0 ? left : right;
    }
    return value;
}

int main(void)
{
    float *from = uniform_floats(COUNT, -1, 0, 201), *to = uniform_floats(COUNT, 0, 1, 202), integral[COUNT];
    int32_t count[COUNT] = {0};
    for (int i = 0; i < COUNT; i++)
        integral[i] = integrate((i / 8 + i) % 4, from[i], to[i], &count[i]);
    expect("INTEGRAL", integral, sizeof integral);
    expect("COUNT", count, sizeof count);
    return 0;
}
