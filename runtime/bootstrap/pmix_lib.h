/* SPDX-License-Identifier: Apache-2.0
 *
 * libpmix.so.2, opened when it is needed. A program that uses MPI too has it loaded already; then both use the same one, and it counts
 * its users, so that MPI and SHMEM may begin and end in any order.
 */
#ifndef SHMEMI_PMIX_LIB_H
#define SHMEMI_PMIX_LIB_H

#include <pmix.h>

struct shmemi_pmix_lib {
    __typeof__(PMIx_Init)                   *init;
    __typeof__(PMIx_Finalize)               *finalize;
    __typeof__(PMIx_Put)                    *put;
    __typeof__(PMIx_Commit)                 *commit;
    __typeof__(PMIx_Fence_nb)               *fence_nb;
    __typeof__(PMIx_Get)                    *get;
    __typeof__(PMIx_Get_nb)                 *get_nb;
    __typeof__(PMIx_Abort)                  *abort;
    __typeof__(PMIx_Register_event_handler) *register_event_handler;
    __typeof__(PMIx_Error_string)           *error_string;
    __typeof__(PMIx_Get_version)            *get_version;
};
extern struct shmemi_pmix_lib shmemi_pmix_lib;

/* Fill shmemi_pmix_lib. 0, or a negative errno after an error message. await_turn (or NULL) is called before that message. */
int shmemi_pmix_lib_load(void (*await_turn)(void));

/* "4.2.2" from the library's own long text, into buffer, which is returned. */
const char *shmemi_pmix_lib_version(char *buffer, size_t buffer_bytes);

#endif
