/* SPDX-License-Identifier: Apache-2.0
 *
 * 2-D stencil: heat spreads over a plate. Each cell becomes the mean of its four neighbours, again and again.
 *
 * The plate is cut into columns, one strip of columns per PE. After every step a PE needs its neighbours' edge columns (the
 * halo). Cells of a column lie a row apart in memory, so the edge travels by a strided put (shmem_double_iput). A signal tells
 * the neighbour that it is there: the fence keeps the signal behind the data. Halos alternate between two buffers, so a fast
 * neighbour cannot overwrite one that is still being read: it cannot be two steps ahead of us.
 *
 * PE 0 then computes the whole plate alone and compares: the results are equal to the last bit.
 *
 *     oshrun -n 4 stencil2d
 */
#include <shmem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS    = 96,
    COLUMNS = 120, /* of the whole plate, without its rim */
    STEPS   = 200,
};

/* A strip with a rim of one cell on each side. */
struct strip {
    double (*cells)[2]; /* [row * width + column][step % 2] */
    size_t width;       /* columns and rim                  */
    size_t columns;
};

static uint64_t from_left, from_right; /* signals: edges that came, counted in steps */

static double *cell(const struct strip *s, size_t row, size_t column, int step)
{
    return &s->cells[row * s->width + column][step % 2];
}

/* The left rim of the plate is hot; everything else starts cold. first: the strip's place in the plate. */
static void start(const struct strip *s, size_t first)
{
    memset(s->cells, 0, (ROWS + 2) * s->width * sizeof *s->cells);
    for (size_t row = 0; first == 0 && row < ROWS + 2; row++) {
        *cell(s, row, 0, 0) = *cell(s, row, 0, 1) = 100.0;
    }
}

static void compute(const struct strip *s, int step)
{
    for (size_t row = 1; row <= ROWS; row++) {
        for (size_t column = 1; column <= s->columns; column++) {
            double sides                    = *cell(s, row, column - 1, step) + *cell(s, row, column + 1, step);
            double ends                     = *cell(s, row - 1, column, step) + *cell(s, row + 1, column, step);
            *cell(s, row, column, step + 1) = 0.25 * (sides + ends);
        }
    }
}

/* Put an edge column into a rim column of a neighbour, whose strip may be wider or narrower. */
static void send_edge(const struct strip *s, size_t edge, size_t rim, size_t rim_width, int step, uint64_t *signal, int pe)
{
    double *dest = &s->cells[1 * rim_width + rim][step % 2];
    shmem_double_iput(dest, cell(s, 1, edge, step), (ptrdiff_t)(2 * rim_width), (ptrdiff_t)(2 * s->width), ROWS, pe);
    shmem_fence();
    shmem_signal_set(signal, (uint64_t)step, pe);
}

/* Columns of PE pe: as even as possible. */
static size_t columns_of(int pe, int pes)
{
    return (size_t)(COLUMNS / pes + (pe < COLUMNS % pes));
}

static void step_together(const struct strip *s, int me, int pes, int step)
{
    compute(s, step - 1);
    if (me > 0) {
        size_t width = columns_of(me - 1, pes) + 2;
        send_edge(s, 1, width - 1, width, step, &from_right, me - 1);
    }
    if (me < pes - 1) {
        send_edge(s, s->columns, 0, columns_of(me + 1, pes) + 2, step, &from_left, me + 1);
    }
    if (me > 0) shmem_signal_wait_until(&from_left, SHMEM_CMP_GE, (uint64_t)step);
    if (me < pes - 1) shmem_signal_wait_until(&from_right, SHMEM_CMP_GE, (uint64_t)step);
}

/* Compare all strips with a plate that this PE computes alone. */
static long count_wrong(const struct strip *s, int pes)
{
    struct strip plate = {.width = COLUMNS + 2, .columns = COLUMNS};
    plate.cells        = malloc((ROWS + 2) * plate.width * sizeof *plate.cells);
    if (plate.cells == NULL) return -1;
    start(&plate, 0);
    for (int step = 0; step < STEPS; step++) compute(&plate, step);
    long wrong = 0;
    for (int pe = 0, first = 0; pe < pes; first += (int)columns_of(pe, pes), pe++) {
        size_t width = columns_of(pe, pes) + 2;
        for (size_t row = 1; row <= ROWS; row++) {
            for (size_t column = 1; column <= width - 2; column++) {
                double theirs = shmem_double_g(&s->cells[row * width + column][STEPS % 2], pe);
                wrong += theirs != *cell(&plate, row, (size_t)first + column, STEPS);
            }
        }
    }
    free(plate.cells);
    return wrong;
}

int main(void)
{
    shmem_init();
    int          me  = shmem_my_pe();
    int          pes = shmem_n_pes();
    struct strip s   = {.width = columns_of(me, pes) + 2, .columns = columns_of(me, pes)};
    s.cells = shmem_malloc((ROWS + 2) * (columns_of(0, pes) + 2) * sizeof *s.cells); /* equal everywhere: PE 0 has the most */
    if (s.cells == NULL || pes > COLUMNS) shmem_global_exit(1);
    start(&s, me == 0 ? 0 : 1);
    shmem_barrier_all(); /* nobody sends an edge before all have started */
    for (int step = 1; step <= STEPS; step++) step_together(&s, me, pes, step);
    shmem_barrier_all();

    int status = 0;
    if (me == 0) {
        long wrong = count_wrong(&s, pes);
        printf("stencil2d: %d PEs, %d x %d cells, %d steps, %ld cells differ from a serial run\n", pes, ROWS, COLUMNS, STEPS,
               wrong);
        status = wrong != 0;
    }
    shmem_barrier_all(); /* the others' strips stay until PE 0 has read them */
    shmem_free(s.cells);
    shmem_finalize();
    return status;
}
