/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the identity of its executable; same_executable_same_identity.sh compares them.
 */
#include "tests/data/job.h"

static volatile long value = PRINT_IDENTITY_VALUE;

int main(void)
{
    struct job *job = job_find();
    value++;
    CHECK(strstr(job->data.executable, "print_identity"));
    CHECK(strlen(job->data.executable) < sizeof job->data.executable);
    printf("%016llx%016llx\n", (unsigned long long)job->data.identity[0], (unsigned long long)job->data.identity[1]);
    return 0;
}
