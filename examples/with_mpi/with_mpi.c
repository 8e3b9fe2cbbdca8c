/* SPDX-License-Identifier: Apache-2.0
 *
 * With MPI: a program that has MPI already adds OpenSHMEM for its one-sided part. MPI starts the processes; SHMEM starts inside of them.
 *
 * The library needs one thing of MPI: an allgather. shmemx_init_attr gets it as a function, with the communicator as its argument, so PE numbers
 * are that communicator's ranks. Here it is all of MPI_COMM_WORLD in reverse order, to show that the program chooses; a part of the processes
 * would do as well. Who ends the job ends it by MPI_Abort.
 *
 * The work: each PE stores a number into its right neighbour's memory by SHMEM, and MPI adds up what has arrived.
 *
 *     mpicc with_mpi.c -lpostern && mpirun -n 2 ./a.out
 *
 * (Under a launcher that Postern knows, such as mpirun itself, plain shmem_init does it too. This way works under any MPI.)
 */
#include <mpi.h>
#include <shmemx.h>
#include <stdio.h>

static long from_left; /* symmetric: static variables are the same on every PE */

/* Every PE gives bytes from mine; all becomes those of rank 0, rank 1, ... */
static int gather(void *user, const void *mine, size_t bytes, void *all)
{
    MPI_Comm *comm = user;
    return MPI_Allgather(mine, (int)bytes, MPI_BYTE, all, (int)bytes, MPI_BYTE, *comm) == MPI_SUCCESS ? 0 : 1;
}

/* Somebody called shmem_global_exit, or cannot go on. */
static void end_all(void *user, int status, const char *reason)
{
    MPI_Comm *comm = user;
    if (reason) fprintf(stderr, "with_mpi: %s\n", reason);
    MPI_Abort(*comm, status);
}

int main(int argc, char **argv)
{
    int      rank, npes;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm); /* all of them, the last one first */
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &npes);

    shmemx_init_attr_t attr = SHMEMX_INIT_ATTR_INITIALIZER;
    attr.rank               = rank;
    attr.npes               = npes;
    attr.allgather          = gather;
    attr.abort              = end_all;
    attr.user               = &comm;
    if (shmemx_init_attr(&attr) != 0) { /* it has said why */
        MPI_Abort(MPI_COMM_WORLD, 1);
        return 1;
    }

    int me = shmem_my_pe();
    shmem_long_p(&from_left, me + 1, (me + 1) % npes);
    shmem_barrier_all(); /* SHMEM's, since it completes the put */

    long sum = 0, right = (long)npes * (npes + 1) / 2;
    MPI_Allreduce(&from_left, &sum, 1, MPI_LONG, MPI_SUM, comm);
    if (me == 0) printf("with_mpi: %d PEs, sum %ld, expected %ld\n", npes, sum, right);

    shmem_finalize(); /* before or after MPI_Finalize; but an end by end_all needs MPI */
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return sum == right && me == rank ? 0 : 1;
}
