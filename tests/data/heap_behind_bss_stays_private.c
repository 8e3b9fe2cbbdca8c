/* SPDX-License-Identifier: Apache-2.0
 *
 * Without address randomisation the heap begins at the page after .bss: it must not become part of the file.
 * Spec: OpenSHMEM 1.6 §3 Memory Model
 */
#include "tests/data/job.h"

#include <sys/personality.h>

static volatile char array[100000];

int main(int count, char **args)
{
    int persona = personality(0xffffffff);
    if (persona != -1 && !(persona & ADDR_NO_RANDOMIZE) && count == 1) {
        if (personality((unsigned)persona | ADDR_NO_RANDOMIZE) == -1) {
            printf("skipped: the machine does not let a program turn randomisation off\n");
            return 77;
        }
        execl("/proc/self/exe", args[0], "again", (char *)NULL);
        return 1;
    }
    uintptr_t   heap = (uintptr_t)sbrk((intptr_t)job_page()) & ~(job_page() - 1);
    struct job *job  = job_start();
    uintptr_t   end  = job->data.base + job->data.bytes;
    printf("range ends at %#zx, the heap was at %#zx\n", (size_t)end, (size_t)heap);
    CHECK(end <= heap);
    array[sizeof array - 1] = 'a';
    char *block             = malloc(1000);
    memset(block, 7, 1000);
    pid_t child = fork();
    if (child == 0) {
        memset(block, 8, 1000);
        _exit(array[sizeof array - 1] == 'a' ? 0 : 1);
    }
    CHECK(job_wait(child) == 0);
    CHECK(block[0] == 7);
    free(block);
    return 0;
}
