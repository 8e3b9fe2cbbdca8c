/* SPDX-License-Identifier: Apache-2.0
 *
 * Matrix multiplication on a grid of PEs: C = A B, each PE owns one block of each matrix.
 *
 * Shows teams and collectives. shmem_team_split_2d makes a team of every row and of every column of the grid. A panel of A that
 * one PE owns is needed by its whole row, a panel of B by its whole column: a broadcast in that team brings it. Panel by panel
 * the product grows, and no PE ever holds a whole matrix.
 *
 * The matrices are simple enough that each element of C has a formula, so every PE checks its own block, and a reduction tells
 * all of them the result.
 *
 *     oshrun -n 4 matmul
 */
#include <shmem.h>
#include <stdio.h>
#include <time.h>

enum {
    SIZE = 360, /* of the matrices; rounded up to a multiple of the number of PEs */
};

struct grid {
    size_t       size;          /* of the matrices                            */
    size_t       panel;         /* columns of A, or rows of B, in one step    */
    size_t       rows, columns; /* of one block                               */
    size_t       first_row, first_column;
    shmem_team_t row, column; /* the PEs beside me, and those above and below */
};

/* As square as the number of PEs allows: 8 are 2 x 4. */
static struct grid make_grid(int pes)
{
    int height = 1;
    for (int i = 1; i * i <= pes; i++) {
        if (pes % i == 0) height = i;
    }
    int         width = pes / height;
    struct grid g     = {.size = (size_t)((SIZE + pes - 1) / pes * pes)};
    shmem_team_split_2d(SHMEM_TEAM_WORLD, width, NULL, 0, &g.row, NULL, 0, &g.column);
    g.panel        = g.size / (size_t)pes; /* no panel lies in two blocks */
    g.rows         = g.size / (size_t)height;
    g.columns      = g.size / (size_t)width;
    g.first_row    = g.rows * (size_t)shmem_team_my_pe(g.column);
    g.first_column = g.columns * (size_t)shmem_team_my_pe(g.row);
    return g;
}

/* The elements: a = row + column, b = row - column. A block of A lies panel by panel, one of B row by row. */
static void fill(const struct grid *g, double *a, double *b)
{
    for (size_t r = 0; r < g->rows; r++) {
        for (size_t c = 0; c < g->columns; c++) {
            double row = (double)(g->first_row + r), column = (double)(g->first_column + c);
            a[c / g->panel * g->rows * g->panel + r * g->panel + c % g->panel] = row + column;
            b[r * g->columns + c]                                              = row - column;
        }
    }
}

/* c += panel of A times panel of B */
static void add_product(const struct grid *g, double *restrict c, const double *restrict pa, const double *restrict pb)
{
    for (size_t r = 0; r < g->rows; r++) {
        for (size_t k = 0; k < g->panel; k++) {
            double factor = pa[r * g->panel + k];
            for (size_t column = 0; column < g->columns; column++)
                c[r * g->columns + column] += factor * pb[k * g->columns + column];
        }
    }
}

/* The sum over k of (row + k) (k - column); all numbers are whole and small enough to be exact. */
static long count_wrong(const struct grid *g, const double *c)
{
    double n = (double)g->size, sum = n * (n - 1) / 2, squares = (n - 1) * n * (2 * n - 1) / 6;
    long   wrong = 0;
    for (size_t r = 0; r < g->rows; r++) {
        for (size_t k = 0; k < g->columns; k++) {
            double row = (double)(g->first_row + r), column = (double)(g->first_column + k);
            wrong += c[r * g->columns + k] != squares + (row - column) * sum - n * row * column;
        }
    }
    return wrong;
}

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

int main(void)
{
    static long   wrong, all_wrong;
    static double seconds, slowest;
    shmem_init();
    struct grid g = make_grid(shmem_n_pes());
    double     *a = shmem_malloc(g.rows * g.columns * sizeof *a), *pa = shmem_malloc(g.rows * g.panel * sizeof *pa);
    double     *b = shmem_malloc(g.rows * g.columns * sizeof *b), *pb = shmem_malloc(g.panel * g.columns * sizeof *pb);
    double     *c = shmem_calloc(g.rows * g.columns, sizeof *c);
    if (a == NULL || b == NULL || c == NULL || pa == NULL || pb == NULL) shmem_global_exit(1);
    fill(&g, a, b);
    shmem_barrier_all();

    double start = now();
    for (size_t k = 0; k < g.size; k += g.panel) {
        /* A broadcast may write to a member that has not called it yet. So all must be done with the last panels first. */
        shmem_team_sync(g.row);
        shmem_team_sync(g.column);
        size_t a_owner = k / g.columns, b_owner = k / g.rows; /* numbers in the row team and in the column team */
        shmem_broadcast(g.row, pa, a + k % g.columns * g.rows, g.rows * g.panel, (int)a_owner);
        shmem_broadcast(g.column, pb, b + k % g.rows * g.columns, g.panel * g.columns, (int)b_owner);
        add_product(&g, c, pa, pb);
    }
    seconds = now() - start;

    wrong = count_wrong(&g, c);
    shmem_sum_reduce(SHMEM_TEAM_WORLD, &all_wrong, &wrong, 1);
    shmem_max_reduce(SHMEM_TEAM_WORLD, &slowest, &seconds, 1);
    if (shmem_my_pe() == 0) {
        double n = (double)g.size;
        printf("matmul: %zu x %zu on a grid of %zu x %zu PEs, %.3f s, %.2f GFLOP/s, %ld wrong elements\n", g.size, g.size,
               g.size / g.rows, g.size / g.columns, slowest, 2 * n * n * n / slowest * 1e-9, all_wrong);
    }
    int status = all_wrong > 0;
    shmem_team_destroy(g.column);
    shmem_team_destroy(g.row);
    shmem_finalize();
    return status;
}
