/* SPDX-License-Identifier: Apache-2.0
 *
 * The library tells the version of the specification; the name within its limit; and
 * a pcontrol that does nothing, for any level and any further arguments.
 * Spec: OpenSHMEM 1.6 §9.1.11 shmem_info_get_version, §9.1.12 shmem_info_get_name, §10.1.1 shmem_pcontrol
 */
#include "../api.h"

#if SHMEM_MAJOR_VERSION != 1 || SHMEM_MINOR_VERSION != 6
#error "the constants must work in #if"
#endif

int main(void)
{
    int  major = -1, minor = -1;
    char name[SHMEM_MAX_NAME_LEN + 8];
    memset(name, '#', sizeof name);
    shmem_init();
    shmem_info_get_version(&major, &minor);
    CHECK_EQUAL(major, SHMEM_MAJOR_VERSION);
    CHECK_EQUAL(minor, SHMEM_MINOR_VERSION);
    shmem_info_get_name(name);
    CHECK(memchr(name, '\0', SHMEM_MAX_NAME_LEN) != NULL);
    CHECK(strcmp(name, SHMEM_VENDOR_STRING) == 0);
    CHECK_EQUAL(name[SHMEM_MAX_NAME_LEN], '#');
    shmem_pcontrol(1);
    shmem_pcontrol(0);
    shmem_pcontrol(-5, "text", 2.0);
    shmem_pcontrol(99, 1L, (void *)name);
    shmem_finalize();
    return api_result();
}
