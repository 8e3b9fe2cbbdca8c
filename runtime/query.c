/* SPDX-License-Identifier: Apache-2.0
 *
 * Who am I, what can I reach, what is this library.
 * Spec: OpenSHMEM 1.6 §9.1.2 to §9.1.3, §9.1.7 to §9.1.9, §9.1.11 to §9.1.12, §10.1.1 shmem_pcontrol.  Tests: tests/api/query/.
 */
#include "runtime/route.h"
#include "runtime/state.h"

#include <shmem.h>
#include <stdio.h>

int pshmem_my_pe(void)
{
    return shmemi_state.my_pe;
}
SHMEMI_EXPORT(shmem_my_pe)

int pshmem_n_pes(void)
{
    return shmemi_state.npes;
}
SHMEMI_EXPORT(shmem_n_pes)

/* Their names before version 1.2. */
int p_my_pe(void)
{
    return shmemi_state.my_pe;
}
SHMEMI_EXPORT(_my_pe)

int p_num_pes(void)
{
    return shmemi_state.npes;
}
SHMEMI_EXPORT(_num_pes)

int pshmem_pe_accessible(int pe)
{
    return shmemi_state_running() && pe >= 0 && pe < shmemi_state.npes;
}
SHMEMI_EXPORT(shmem_pe_accessible)

int pshmem_addr_accessible(const void *addr, int pe)
{
    struct shmemi_place place;
    return shmemi_route_query(addr, pe, &place);
}
SHMEMI_EXPORT(shmem_addr_accessible)

void *pshmem_ptr(const void *dest, int pe)
{
    struct shmemi_place place;
    return shmemi_route_query(dest, pe, &place) ? place.mapped : NULL;
}
SHMEMI_EXPORT(shmem_ptr)

void pshmem_info_get_version(int *major, int *minor)
{
    *major = SHMEM_MAJOR_VERSION;
    *minor = SHMEM_MINOR_VERSION;
}
SHMEMI_EXPORT(shmem_info_get_version)

void pshmem_info_get_name(char *name)
{
    snprintf(name, SHMEM_MAX_NAME_LEN, "%s", SHMEM_VENDOR_STRING);
}
SHMEMI_EXPORT(shmem_info_get_name)

/* For tools that intercept it; the library itself has nothing to control. */
void pshmem_pcontrol(int level, ...)
{
    (void)level;
}
SHMEMI_EXPORT(shmem_pcontrol)
