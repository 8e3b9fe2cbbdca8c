/* SPDX-License-Identifier: Apache-2.0
 *
 * Fibers: flows of control with stacks of their own, switched by hand within one thread of the system. A thread of a kernel is one.
 * The sanitizers are told of each switch, where the program has one: their functions are weak references here.
 */
#ifndef SHMEMD_CPU_FIBER_H
#define SHMEMD_CPU_FIBER_H

#include <stddef.h>

/* Room for a fiber's calls. Reserved, not touched: a page counts when a kernel first uses it. */
#define SHMEMD_CPU_STACK_BYTES ((size_t)256 << 10)

struct shmemd_cpu_stack {
    struct shmemd_cpu_stack *next; /* in a list of free ones; lies at the top of the stack itself */
    char                    *base;
};

struct shmemd_cpu_fiber {
    void                    *stack_pointer; /* where it goes on, while it does not run    */
    struct shmemd_cpu_stack *stack;         /* NULL: the stack that the thread came with  */
    void                    *tsan;          /* ThreadSanitizer's handle                   */
    void                    *asan;          /* AddressSanitizer's stack of dead variables */
    const void              *asan_base;
    size_t                   asan_bytes;
};

/* The thread that calls this becomes a fiber, which others can switch to. */
void shmemd_cpu_fiber_adopt(struct shmemd_cpu_fiber *fiber);

/* A fiber that begins in main, which must not return. main calls shmemd_cpu_fiber_arrived first. */
void shmemd_cpu_fiber_init(struct shmemd_cpu_fiber *fiber, struct shmemd_cpu_stack *stack, void (*main)(void));
void shmemd_cpu_fiber_finish(struct shmemd_cpu_fiber *fiber);

/* Go on in `to`. Returns when another fiber switches back. ends: `from` never runs again. */
void shmemd_cpu_fiber_switch(struct shmemd_cpu_fiber *from, struct shmemd_cpu_fiber *to, int ends);
void shmemd_cpu_fiber_arrived(struct shmemd_cpu_fiber *fiber, struct shmemd_cpu_fiber *from);

/* What happened before a release of an object, happened before what follows an acquire of it: for ThreadSanitizer. */
void shmemd_cpu_fiber_release(void *object);
void shmemd_cpu_fiber_acquire(void *object);

/* A stack with a guard page below, or NULL. */
struct shmemd_cpu_stack *shmemd_cpu_stack_create(void);
void                     shmemd_cpu_stack_destroy(struct shmemd_cpu_stack *stack);

#endif
