/* SPDX-License-Identifier: Apache-2.0
 *
 * Unique id: processes that something else has started become the PEs of a job. There is no launcher and no MPI; what is needed is that each
 * knows its number and how many there are, and that one line of text gets from process 0 to the others.
 *
 * Process 0 makes the id, and with it a socket that the others will find. How the line travels is the program's affair: a serving system has a
 * key-value store, a queue or a command line for it. Here it is a file. It holds the secret of the job, so nobody else may read it.
 * From there on the library does the rest: it lets in who knows the secret, names who is missing after ten seconds, and ends all when a process
 * dies.
 *
 *     for rank in 0 1 2; do ./unique_id $rank 3 /tmp/id & done; wait
 *
 * The work: each PE stores a number into its right neighbour's memory, and all add up what has arrived.
 */
#include <fcntl.h>
#include <shmemx.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static long from_left, sum; /* symmetric */

static int fail(const char *what)
{
    perror(what);
    return -1;
}

/* Process 0: the file appears with all of its content, and for this user only. */
static int give(const char *path, const shmemx_uniqueid_t *id)
{
    char text[SHMEMX_UNIQUEID_TEXT_BYTES], early[4096];
    if (shmemx_uniqueid_to_text(id, text, sizeof text) != 0) return -1;
    snprintf(early, sizeof early, "%s.new", path);
    int fd = open(early, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    if (fd < 0) return fail(early);
    ssize_t written = write(fd, text, strlen(text));
    close(fd);
    return written == (ssize_t)strlen(text) && rename(early, path) == 0 ? 0 : fail(path);
}

/* The others: wait until it is there. */
static int get(const char *path, shmemx_uniqueid_t *id)
{
    char text[SHMEMX_UNIQUEID_TEXT_BYTES] = "";
    for (int tries = 0; tries < 1000; tries++) {
        FILE *file = fopen(path, "r");
        if (file) {
            char *line = fgets(text, sizeof text, file);
            fclose(file);
            if (line && shmemx_uniqueid_from_text(text, id) == 0) return 0;
            fprintf(stderr, "unique_id: %s holds no unique id\n", path);
            return -1;
        }
        usleep(10000);
    }
    fprintf(stderr, "unique_id: %s has not appeared\n", path);
    return -1;
}

int main(int argc, char **argv)
{
    shmemx_uniqueid_t  id;
    shmemx_init_attr_t attr = SHMEMX_INIT_ATTR_INITIALIZER;
    if (argc != 4) {
        fprintf(stderr, "usage: unique_id RANK NPES FILE\n");
        return 2;
    }
    attr.rank      = atoi(argv[1]);
    attr.npes      = atoi(argv[2]);
    attr.uniqueid  = &id;
    attr.timeout_s = 10;
    if (attr.rank == 0) {
        if (shmemx_get_uniqueid(&id) != 0 || give(argv[3], &id) != 0) return 1;
    } else if (get(argv[3], &id) != 0) {
        return 1;
    }
    int err = shmemx_init_attr(&attr); /* it says what is wrong, and comes back: the program decides what to do about it */
    if (attr.rank == 0) unlink(argv[3]);
    if (err) return 1;

    int  me = shmem_my_pe(), npes = shmem_n_pes();
    long right = (long)npes * (npes + 1) / 2;
    shmem_long_p(&from_left, me + 1, (me + 1) % npes);
    shmem_barrier_all();
    shmem_long_sum_reduce(SHMEM_TEAM_WORLD, &sum, &from_left, 1);
    if (me == 0) printf("unique_id: %d PEs, sum %ld, expected %ld\n", npes, sum, right);
    shmem_finalize();
    return sum == right ? 0 : 1;
}
