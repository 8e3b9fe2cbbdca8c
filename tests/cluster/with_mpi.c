/* SPDX-License-Identifier: Apache-2.0
 *
 * A program of both MPI and SHMEM that an MPI launcher has started, on several nodes: with_mpi ORDER. The letters of ORDER are the four calls in
 * their order: s and S are shmem_init and shmem_finalize, m and M are MPI_Init and MPI_Finalize. After each it uses what is alive. Where
 * both are, rank and PE number must be one, and data go round a ring half by MPI and half by SHMEM.
 *
 * Spec: OpenSHMEM 1.6 §D.1.1 Initialization, §D.1.4 Mapping Process Identification Numbers
 */
#include "../api/api.h"

#include <mpi.h>

enum { COUNT = 5000, ROUNDS = 3 };

static long table[COUNT];

static void use_shmem(void)
{
    static long source[COUNT];
    int         me = shmem_my_pe(), n = shmem_n_pes(), left = (me + n - 1) % n;
    for (int i = 0; i < COUNT; i++) source[i] = me * 100000L + i;
    shmem_barrier_all();
    shmem_long_put(table, source, COUNT, (me + 1) % n);
    shmem_barrier_all();
    for (int i = 0; i < COUNT; i++) {
        if (!CHECK_EQUAL(table[i], left * 100000L + i)) break;
    }
    shmem_barrier_all();
}

static void use_mpi(void)
{
    int rank = -1, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    static long sent[COUNT], got[COUNT];
    for (int i = 0; i < COUNT; i++) sent[i] = rank * 100000L + i;
    MPI_Sendrecv(sent, COUNT, MPI_LONG, (rank + 1) % size, 0, got, COUNT, MPI_LONG, (rank + size - 1) % size, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    CHECK_EQUAL(got[COUNT - 1], ((rank + size - 1) % size) * 100000L + COUNT - 1);
}

/* What came by MPI goes on by SHMEM, straight into the memory that MPI sends from in the next round. */
static void use_both(void)
{
    int rank = -1, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK_EQUAL(rank, shmem_my_pe());
    CHECK_EQUAL(size, shmem_n_pes());
    int         next = (rank + 1) % size, left = (rank + size - 1) % size;
    static long word, got;
    word = rank;
    shmem_barrier_all();
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Sendrecv(&word, 1, MPI_LONG, next, 1, &got, 1, MPI_LONG, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        shmem_barrier_all();
        shmem_long_p(&word, got, next);
        shmem_barrier_all();
    }
    /* Each round moves every word two places on. */
    CHECK_EQUAL(word, ((rank - 2 * ROUNDS) % size + size) % size);
}

int main(int count, char **args)
{
    bool shmem = false, mpi = false;
    if (count != 2) return 2;
    for (const char *call = args[1]; *call; call++) {
        switch (*call) {
        case 's': shmem_init(); break;
        case 'm': CHECK_EQUAL(MPI_Init(NULL, NULL), MPI_SUCCESS); break;
        case 'S': shmem_finalize(); break;
        case 'M': CHECK_EQUAL(MPI_Finalize(), MPI_SUCCESS); break;
        default: return 2;
        }
        if (*call == 's' || *call == 'S') shmem = *call == 's';
        else mpi = *call == 'm';
        if (shmem) use_shmem();
        if (mpi) use_mpi();
        if (shmem && mpi) use_both();
    }
    return api_result();
}
