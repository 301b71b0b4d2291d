/* The sparse matrix, and its product with a vector on the host. A row's length is drawn so that short ones are
 * frequent. */
#include "../tools/fills.h"

enum { ROWS = 4096, ROOM = 90000, LONGEST = 64 };

static int32_t starts[ROWS + 1], order[ROWS], jds_start[LONGEST + 1], jds_columns[ROOM];
static float y_scalar[ROWS], y_vector[ROWS], jds_values[ROOM];

static int length_of(int row)
{
    return starts[row + 1] - starts[row];
}

static int by_length(const void *a, const void *b)
{
    int x = *(const int32_t *)a, y = *(const int32_t *)b;
    return length_of(x) != length_of(y) ? length_of(y) - length_of(x) : x - y;
}

/* By lanes, then joined as shuffles down do it. */
static float sum_of_warp(const float *values, const int32_t *columns, const float *x, int length)
{
    float lanes[32] = {0};
    for (int i = 0; i < length; i++)
        lanes[i % 32] = fmaf(values[i], x[columns[i]], lanes[i % 32]);
    for (int delta = 16; delta > 0; delta /= 2)
        for (int l = 0; l < delta; l++)
            lanes[l] += lanes[l + delta];
    return lanes[0];
}

int main(void)
{
    const int32_t *columns = uniform_ints(ROOM, 0, ROWS, 172);
    const float *values = uniform_floats(ROOM, -1, 1, 173), *x = uniform_floats(ROWS, -1, 1, 174);
    for (int row = 0; row < ROWS; row++) {
        double u = fill_uniform(0, 1, 171, row);
        starts[row + 1] = starts[row] + 1 + (int)(63.99 * u * u);
        order[row] = row;
    }
    if (starts[ROWS] > ROOM)
        return fputs("no room\n", stderr), 1;
    qsort(order, ROWS, sizeof *order, by_length);
    for (int k = 0; k < LONGEST; k++) {
        jds_start[k + 1] = jds_start[k];
        for (int place = 0; place < ROWS && length_of(order[place]) > k; place++) {
            const int from = starts[order[place]] + k, to = jds_start[k + 1]++;
            jds_columns[to] = columns[from];
            jds_values[to] = values[from];
        }
    }
    for (int row = 0; row < ROWS; row++) {
        for (int i = starts[row]; i < starts[row + 1]; i++)
            y_scalar[row] = fmaf(values[i], x[columns[i]], y_scalar[row]);
        y_vector[row] = sum_of_warp(values + starts[row], columns + starts[row], x, length_of(row));
    }
    input("STARTS", starts, sizeof starts);
    input("ORDER", order, sizeof order);
    input("JDS_START", jds_start, sizeof jds_start);
    expect("Y_SCALAR", y_scalar, sizeof y_scalar);
    expect("Y_VECTOR", y_vector, sizeof y_vector);
    expect("JDS_COLUMNS", jds_columns, sizeof jds_columns);
    expect("JDS_VALUES", jds_values, sizeof jds_values);
    expect("Y_JDS", y_scalar, sizeof y_scalar);
    return 0;
}
