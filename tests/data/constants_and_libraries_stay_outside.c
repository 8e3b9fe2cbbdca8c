/* SPDX-License-Identifier: Apache-2.0
 *
 * Constants, RELRO, static objects of a shared library, the heap and the stack are none of the range.
 * Spec: OpenSHMEM 1.6 §3 Memory Model
 */
#include "tests/data/job.h"
#include "tests/data/own_library.h"

const long constant = 3;
/* Needs relocation in a PIE, so it lies in RELRO. */
const long *const relocated[] = {&constant};
volatile long     variable    = 4;

int main(void)
{
    struct job *job      = job_start();
    long        on_stack = 0;
    CHECK(job_holds(job, &variable));
    CHECK(!job_holds(job, &constant));
    CHECK(!job_holds(job, relocated));
    CHECK(!job_holds(job, job) && !job_holds(job, &on_stack));
    CHECK(!job_holds(job, own_library_count()));
    CHECK(!job_holds(job, stdout));
    *own_library_count() = 9;
    CHECK(*own_library_count() == 9);
    return 0;
}
