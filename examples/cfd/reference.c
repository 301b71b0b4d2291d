/* The time steps on the host. Vectors are arrays here and faces are visited from a table; the order of the roundings is
 * that of the kernels, which the results' bits depend on. */
#include "../tools/fills.h"

enum { CELLS = 2016, FACES = 4, VARIABLES = 5, DENSITY = 0, MOMENTUM = 1, ENERGY = 4, STEPS = 2, STAGES = 3 };

typedef struct {
    float v[VARIABLES];
    float velocity[3], speed, sound, pressure;
} gas;

static const double far_field[VARIABLES] = {1.4, 1.6, 0.4, 0.2, 3.5};

static float dot(const float *a, const float *b) { return fmaf(a[2], b[2], fmaf(a[1], b[1], a[0] * b[0])); }

static void work_out(gas *g)
{
    for (int axis = 0; axis < 3; axis++)
        g->velocity[axis] = g->v[MOMENTUM + axis] / g->v[DENSITY];
    float square = dot(g->velocity, g->velocity);
    float kinetic = 0.5f * g->v[DENSITY] * square;
    g->speed = sqrtf(square);
    g->pressure = (1.4f - 1.0f) * (g->v[ENERGY] - kinetic);
    g->sound = sqrtf(1.4f * g->pressure / g->v[DENSITY]);
}

static gas gas_at(const float *variables, int cell)
{
    gas g;
    for (int v = 0; v < VARIABLES; v++)
        g.v[v] = cell >= 0 ? variables[v * CELLS + cell] : (float)far_field[v];
    work_out(&g);
    return g;
}

static void convect(float *sum, const float *normal, const gas *g)
{
    float along = dot(g->velocity, normal);
    sum[DENSITY] = fmaf(0.5f, dot(g->v + MOMENTUM, normal), sum[DENSITY]);
    for (int axis = 0; axis < 3; axis++) {
        float part = fmaf(g->v[MOMENTUM + axis], along, g->pressure * normal[axis]);
        sum[MOMENTUM + axis] = fmaf(0.5f, part, sum[MOMENTUM + axis]);
    }
    sum[ENERGY] = fmaf(0.5f * (g->v[ENERGY] + g->pressure), along, sum[ENERGY]);
}

static void through_face(float *sum, const float *normal, const gas *here, const gas *there, int boundary)
{
    if (!boundary) {
        float length = sqrtf(dot(normal, normal));
        float factor = -length * (float)0.2 * 0.5f * (here->speed + there->speed + here->sound + there->sound);
        for (int v = 0; v < VARIABLES; v++)
            sum[v] = fmaf(factor, here->v[v] - there->v[v], sum[v]);
    }
    convect(sum, normal, here);
    convect(sum, normal, there);
}

static void all_fluxes(const float *variables, const int32_t *neighbours, const float *normals, float *fluxes)
{
    for (int cell = 0; cell < CELLS; cell++) {
        gas here = gas_at(variables, cell);
        float sum[VARIABLES] = {0};
        for (int face = 0; face < FACES; face++) {
            int32_t neighbour = neighbours[face * CELLS + cell];
            float normal[3];
            for (int axis = 0; axis < 3; axis++)
                normal[axis] = normals[(axis * FACES + face) * CELLS + cell];
            if (neighbour < 0 && neighbour % 2 != 0) {
                for (int axis = 0; axis < 3; axis++)
                    sum[MOMENTUM + axis] = fmaf(normal[axis], here.pressure, sum[MOMENTUM + axis]);
                continue;
            }
            gas there = gas_at(variables, neighbour);
            through_face(sum, normal, &here, &there, neighbour < 0);
        }
        for (int v = 0; v < VARIABLES; v++)
            fluxes[v * CELLS + cell] = sum[v];
    }
}

int main(void)
{
    float *noise = uniform_floats(CELLS * VARIABLES, -0.02, 0.02, 211), *areas = uniform_floats(CELLS, 0.5, 1.5, 212);
    int32_t *neighbours = uniform_ints(CELLS * FACES, -400, CELLS, 213);
    float *normals = uniform_floats(CELLS * FACES * 3, -0.1, 0.1, 214);
    float *variables = noise, *fluxes = allocate(CELLS * VARIABLES, sizeof *fluxes);
    float *old = allocate(CELLS * VARIABLES, sizeof *old), *factors = allocate(CELLS, sizeof *factors);
    for (int i = 0; i < CELLS * VARIABLES; i++)
        variables[i] = fmaf((float)far_field[i / CELLS], noise[i], (float)far_field[i / CELLS]);
    for (int step = 0; step < STEPS; step++) {
        memcpy(old, variables, CELLS * VARIABLES * sizeof *old);
        for (int cell = 0; cell < CELLS; cell++) {
            gas g = gas_at(variables, cell);
            factors[cell] = 0.5f / (sqrtf(areas[cell]) * (g.speed + g.sound));
        }
        for (int stage = 0; stage < STAGES; stage++) {
            all_fluxes(variables, neighbours, normals, fluxes);
            for (int i = 0; i < CELLS * VARIABLES; i++)
                variables[i] = fmaf(factors[i % CELLS] / (float)(STAGES - stage), fluxes[i], old[i]);
        }
    }
    expect("VARIABLES", variables, CELLS * VARIABLES * sizeof *variables);
    expect("FACTORS", factors, CELLS * sizeof *factors);
    expect("FLUXES", fluxes, CELLS * VARIABLES * sizeof *fluxes);
    return 0;
}
