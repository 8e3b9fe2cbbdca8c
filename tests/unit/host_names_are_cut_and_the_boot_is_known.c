/* SPDX-License-Identifier: Apache-2.0
 *
 * The host's name is never empty and keeps within its buffer; the boot id is the same at each call; pages are a power of two.
 */
#include "tests/unit/unit.h"

#include "runtime/base/host.h"

int main(void)
{
    char name[256] = "", small[3] = {'?', '?', '?'};
    shmemi_host_name(name, sizeof name);
    CHECK(name[0] != '\0');
    shmemi_host_name(small, sizeof small);
    CHECK(small[2] == '\0' || small[1] == '\0');
    CHECK(strncmp(name, small, strlen(small)) == 0);

    CHECK_EQ_U64(shmemi_host_boot_id(), shmemi_host_boot_id());
    CHECK(shmemi_host_boot_id() != 0);

    size_t page_bytes = shmemi_host_page_bytes();
    CHECK(page_bytes >= 4096 && (page_bytes & (page_bytes - 1)) == 0);
    return unit_result();
}
