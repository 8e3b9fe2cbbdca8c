/* SPDX-License-Identifier: Apache-2.0
 *
 * An unknown name is an error that lists the known ones and the path searched; so is a list without a name in it.
 */
#include "tests/transport/registry.h"

int main(int argc, char **argv)
{
    struct shmemt_registry registry = {.count = 77};
    if (argc != 2) return 2;
    CHECK_EQ_I64(open_registry("shm,quantum", argv[1], &registry), -EINVAL);
    CHECK_EQ_U64(registry.count, 77); /* written on success only */
    CHECK_HAS(said, "\"quantum\"");
    CHECK_HAS(said, "built in are: shm");
    CHECK_HAS(said, argv[1]);
    CHECK_HAS(said, "why: ");
    CHECK_HAS(said, "fix: ");
    CHECK_EQ_I64(open_registry("quantum", NULL, &registry), -EINVAL);
    CHECK_HAS(said, "not set");
    CHECK_EQ_I64(open_registry(" , ", NULL, &registry), -EINVAL);
    CHECK_HAS(said, "names no transport");
    /* A name is a name, not a way out of the folder. */
    CHECK_EQ_I64(open_registry("../../etc/passwd", argv[1], &registry), -EINVAL);
    CHECK_HAS(said, "cannot find the transport");
    return unit_result();
}
