/* SPDX-License-Identifier: Apache-2.0
 *
 * A program of both SHMEM and MPI, for mpi_and_shmem_begin_and_end_in_any_order.py. Its argument is the order of the four calls:
 * s and S are shmem_init_thread and shmem_finalize, m and M are MPI_Init_thread and MPI_Finalize. After each of them it uses what
 * is alive, and both together where both are. Not one of its PEs is an MPI process of another: oshrun starts them, so
 * each is alone in its MPI world, and PE number and rank differ.
 */
#include "../api/api.h"

#include <mpi.h>

enum { COUNT = 1000 };

static long table[COUNT], counter;

static void use_shmem(int wanted)
{
    int level = -1, me = shmem_my_pe(), n = shmem_n_pes(), next = (me + 1) % n;
    shmem_query_thread(&level);
    CHECK_EQUAL(level, wanted);
    long source[COUNT];
    for (int i = 0; i < COUNT; i++) source[i] = me * 10000 + i;
    shmem_long_put(table, source, COUNT, next);
    shmem_long_atomic_inc(&counter, next);
    shmem_barrier_all();
    for (int i = 0; i < COUNT; i++) CHECK_EQUAL(table[i], (me + n - 1) % n * 10000 + i);
    shmem_barrier_all();
}

static void use_mpi(int wanted)
{
    int  level = -1, rank = -1, size = 0;
    long sent = 42, got = 0;
    MPI_Query_thread(&level);
    CHECK_EQUAL(level, wanted);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(rank >= 0 && rank < size);
    MPI_Sendrecv(&sent, 1, MPI_LONG, rank, 0, &got, 1, MPI_LONG, rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK_EQUAL(got, 42);
}

/* SHMEM operations toward a PE that is in calls of MPI only. The word that ends it is read by MPI_Sendrecv, as MPI knows none of SHMEM. */
static void shmem_while_the_last_pe_is_in_mpi(void)
{
    static long word;
    int         me = shmem_my_pe(), last = shmem_n_pes() - 1;
    long        seen = 0;
    word             = 0;
    shmem_barrier_all();
    if (me == last) {
        while (last > 0 && seen != last) {
            long mine = __atomic_load_n(&word, __ATOMIC_ACQUIRE);
            MPI_Sendrecv(&mine, 1, MPI_LONG, 0, 1, &seen, 1, MPI_LONG, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
        }
    } else {
        shmem_long_put(table, table, COUNT, last);
        shmem_quiet();
        CHECK(shmem_long_atomic_fetch_inc(&word, last) < last);
    }
    shmem_barrier_all();
}

int main(int count, char **args)
{
    bool shmem = false, mpi = false;
    int  shmem_level = -1, mpi_level = -1;
    if (count != 2) return 2;
    for (const char *step = args[1]; *step; step++) {
        switch (*step) {
        case 's': CHECK_EQUAL(shmem_init_thread(SHMEM_THREAD_FUNNELED, &shmem_level), 0); break;
        case 'm': CHECK_EQUAL(MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &mpi_level), MPI_SUCCESS); break;
        case 'S': shmem_finalize(); break;
        case 'M': CHECK_EQUAL(MPI_Finalize(), MPI_SUCCESS); break;
        default: return 2;
        }
        if (*step == 's' || *step == 'S') shmem = *step == 's';
        else mpi = *step == 'm';
        if (shmem) use_shmem(shmem_level);
        if (mpi) use_mpi(mpi_level);
        if (shmem && mpi) shmem_while_the_last_pe_is_in_mpi();
    }
    CHECK(shmem_level >= SHMEM_THREAD_FUNNELED && mpi_level >= MPI_THREAD_FUNNELED);
    return api_result();
}
