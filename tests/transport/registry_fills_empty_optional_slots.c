/* SPDX-License-Identifier: Apache-2.0
 *
 * The runtime calls any slot without a NULL test, and gets the documented default.
 */
#include "tests/transport/registry.h"

int main(int argc, char **argv)
{
    struct shmemt_registry registry;
    if (argc != 2) return 2;
    CHECK_EQ_I64(open_registry("bare", argv[1], &registry), 0);
    CHECK_STR(said, "");
    if (registry.count != 1) return 1;
    const struct shmemt_ops *ops = &registry.ops[0];
    CHECK_STR(ops->name, "bare");

    struct shmemt_address    address = {.bytes = 7};
    const struct shmemt_amo  amo     = {0};
    const struct shmemt_xfer xfer    = {0};
    CHECK_EQ_I64(ops->address(NULL, &address), 0);
    CHECK_EQ_U64(address.bytes, 0);
    CHECK_EQ_I64(ops->add_peer(NULL, 3, &address), 0);
    ops->lose_peer(NULL, 3);
    CHECK(ops->map(NULL, 0, SHMEMT_SEGMENT_HEAP) == NULL);
    CHECK_EQ_I64(ops->put_signal(NULL, 0, &xfer, &amo), -ENOSYS);
    CHECK_EQ_I64(ops->arm(NULL), -1);

    shmemt_registry_close(&registry);
    CHECK_EQ_U64(registry.count, 0);
    shmemt_registry_close(&registry);
    return unit_result();
}
