/* SPDX-License-Identifier: Apache-2.0
 *
 * Names restrict and order; without names, the built-in ones come first and then each module of the path.
 */
#include "tests/transport/registry.h"

int main(int argc, char **argv)
{
    struct shmemt_registry registry;
    char                   path[4096];
    if (argc != 2) return 2;
    snprintf(path, sizeof path, "/nonexistent::%s:%s", argv[1], argv[1]);

    CHECK_EQ_I64(open_registry("bare,shm", path, &registry), 0);
    CHECK_EQ_U64(registry.count, 2);
    CHECK_STR(registry.ops[0].name, "bare");
    CHECK_STR(registry.ops[1].name, "shm");
    CHECK(registry.module[0] != NULL);
    CHECK(registry.module[1] == NULL);
    shmemt_registry_close(&registry);

    CHECK_EQ_I64(open_registry(" shm , bare,, shm ", path, &registry), 0);
    CHECK_EQ_U64(registry.count, 2);
    CHECK_STR(registry.ops[0].name, "shm");
    shmemt_registry_close(&registry);

    CHECK_EQ_I64(open_registry(NULL, path, &registry), 0);
    CHECK_EQ_U64(registry.count, 2);
    CHECK_STR(registry.ops[0].name, "shm");
    CHECK_STR(registry.ops[1].name, "bare");
    shmemt_registry_close(&registry);

    CHECK_EQ_I64(open_registry("", NULL, &registry), 0);
    CHECK_EQ_U64(registry.count, 1);
    shmemt_registry_close(&registry);
    return unit_result();
}
