/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 0
 * ENV: POSTERN_CHECK=0
 *
 * The end of a job with a unique id that some PE does not come to. In one job PE 2 waits in a barrier more for PEs that have finalized: it is named, and ends. In
 * the other PE 1 fails: its exit(3) finalizes, as start_pes asked for, while the others have no end in sight. They are ended too, and
 * told why. Both take the seconds that the library gives to PEs that are only late.
 * Spec: OpenSHMEM 1.6 §9.1.4 shmem_finalize, §9.1.13 start_pes
 */
#include "own.h"

static int one_barrier_more(int rank, int npes)
{
    shmemx_uniqueid_t id = own_id(rank);
    CHECK_EQUAL(own_init(rank, npes, &id, 0), 0);
    if (rank == 2) {
        shmem_barrier_all(); /* meets the finalize of the others */
        shmem_barrier_all();
    }
    shmem_finalize();
    return api_result();
}

static int fails(int rank, int npes)
{
    shmemx_uniqueid_t id = own_id(rank);
    CHECK_EQUAL(own_init(rank, npes, &id, 0), 0);
    start_pes(0);
    shmem_finalize(); /* a barrier: start_pes holds a reference */
    if (rank == 1) exit(3);
    for (;;) usleep(1000);
}

static int first_job(void)
{
    struct own job = own_begin(3, one_barrier_more);
    own_end(&job);
    own_expect(&job, 2, 1, "PE 2 cannot come to its end");
    return api_result();
}

static int second_job(void)
{
    struct own job = own_begin(3, fails);
    own_end(&job);
    own_expect(&job, 0, 1, "PE 1 ends with status 3");
    own_expect(&job, 2, 1, "PE 1 ends with status 3");
    return api_result();
}

int main(void)
{
    int   how   = 1;
    pid_t other = fork();
    if (other == 0) exit(second_job());
    int failed = first_job();
    return waitpid(other, &how, 0) == other && how == 0 ? failed : 1;
}
