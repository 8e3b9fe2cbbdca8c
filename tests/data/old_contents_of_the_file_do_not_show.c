/* SPDX-License-Identifier: Apache-2.0
 *
 * Untouched pages are not copied, so what the file held there before must be gone.
 */
#include "tests/data/job.h"

static volatile char array[1 << 20];

int main(void)
{
    struct job *job = job_find();
    job_open(job);
    memset(job->peer, 0x55, job->data.bytes);
    CHECK(shmemi_data_install(&job->data, job->fd, job->offset) == 0);
    for (size_t i = 0; i < sizeof array; i++) CHECK(array[i] == 0);
    return 0;
}
