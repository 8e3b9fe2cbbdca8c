/* SPDX-License-Identifier: Apache-2.0
 *
 * The least that a launcher can be: start N copies of a program, wait for them, end. usage: bench_launch N PROGRAM [ARGUMENT]...
 */
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>

extern char **environ;

int main(int argc, char **argv)
{
    int   count = argc > 2 ? atoi(argv[1]) : 0, failed = argc <= 2, status;
    pid_t child;
    for (int i = 0; i < count; i++) failed |= posix_spawn(&child, argv[2], NULL, NULL, argv + 2, environ) != 0;
    while (wait(&status) > 0) failed |= status != 0;
    return failed;
}
