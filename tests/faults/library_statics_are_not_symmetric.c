/* SPDX-License-Identifier: Apache-2.0
 *
 * LINK: dl
 *
 * B43: a static object of a shared library, linked or opened later on one PE only, is not accessible, and a put to it is refused with a message
 * that names the address and the library. (This file is the library too, with LIBRARY defined.)
 * Spec: OpenSHMEM 1.6 §3 Memory Model, §C Undefined Behavior
 */
#ifdef LIBRARY

long *library_object(int which);

static long words[100] = {7}, empty[100];

/* By a function: a linker would move an object that the program names into the program itself. */
__attribute__((visibility("default"))) long *library_object(int which)
{
    return which == 0 ? words : empty + 99;
}

#else
#include "../api/child.h"

#include <dlfcn.h>

extern long *library_object(int which);
static long  word;
static long *target;

static void put_there(void)
{
    shmem_long_put(target, &word, 1, 0);
}

static void refuse(long *address, const char *library)
{
    const char *wanted[] = {"shmem_long_put", "is not symmetric", library, NULL};
    for (int pe = 0; pe < shmem_n_pes(); pe++) {
        CHECK_EQUAL(shmem_addr_accessible(address, pe), 0);
        CHECK(shmem_ptr(address, pe) == NULL);
    }
    target = address;
    CHECK(child_refuses(library, put_there, wanted)); /* in a fork: what it writes stays there, if it does write */
}

int main(void)
{
    shmem_init();
    refuse(library_object(0), "faults_library");
    refuse(library_object(1), "faults_library");
    if (shmem_my_pe() == 0) {
        void *opened         = dlopen(LIBRARY_OPENED_LATER, RTLD_NOW | RTLD_LOCAL);
        long *(*object)(int) = NULL;
        if (opened) *(void **)&object = dlsym(opened, "library_object");
        if (CHECK(object != NULL)) refuse(object(0), "faults_later");
        else fprintf(stderr, "%s\n", dlerror());
    }
    shmem_barrier_all();
    CHECK_EQUAL(*library_object(0), 7);
    shmem_finalize();
    return api_result();
}
#endif
