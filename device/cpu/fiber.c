/* SPDX-License-Identifier: Apache-2.0
 *
 * The switch itself is a dozen instructions: a change of the signal mask, as swapcontext makes it, is a system call, and a
 * barrier of 1024 threads is 1024 switches. Other processors take swapcontext.
 */
#include "device/cpu/fiber.h"

#include <assert.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- sanitizers ------------------------------------------------------------------------------------------------------ */

#pragma weak __tsan_get_current_fiber
#pragma weak __tsan_create_fiber
#pragma weak __tsan_destroy_fiber
#pragma weak __tsan_switch_to_fiber
#pragma weak __tsan_release
#pragma weak __tsan_acquire
#pragma weak __sanitizer_start_switch_fiber
#pragma weak __sanitizer_finish_switch_fiber
void        *__tsan_get_current_fiber(void);
void        *__tsan_create_fiber(unsigned flags);
void         __tsan_destroy_fiber(void *fiber);
void         __tsan_switch_to_fiber(void *fiber, unsigned flags);
void         __tsan_release(void *address);
void         __tsan_acquire(void *address);
void         __sanitizer_start_switch_fiber(void **fake_stack_save, const void *bottom, size_t bytes);
void         __sanitizer_finish_switch_fiber(void *fake_stack_save, const void **bottom_old, size_t *bytes_old);

/* A switch must order nothing: threads of a block that run in turn here run at once on a GPU, and so their races are seen. */
enum { TSAN_SWITCH_ORDERS_NOTHING = 1 };

void shmemd_cpu_fiber_release(void *object)
{
    if (__tsan_release) __tsan_release(object);
}

void shmemd_cpu_fiber_acquire(void *object)
{
    if (__tsan_acquire) __tsan_acquire(object);
}

/* ---- the switch ------------------------------------------------------------------------------------------------------ */

#if defined __x86_64__

/* Saved: what a call must preserve. Above it lies the address where the fiber goes on. */
void shmemd_cpu_fiber_jump(void **save, void *load);
__asm__(".text\n"
        ".globl shmemd_cpu_fiber_jump\n"
        ".hidden shmemd_cpu_fiber_jump\n"
        ".type shmemd_cpu_fiber_jump, @function\n"
        "shmemd_cpu_fiber_jump:\n"
        "    pushq %rbp\n"
        "    pushq %rbx\n"
        "    pushq %r12\n"
        "    pushq %r13\n"
        "    pushq %r14\n"
        "    pushq %r15\n"
        "    movq %rsp, (%rdi)\n"
        "    movq %rsi, %rsp\n"
        "    popq %r15\n"
        "    popq %r14\n"
        "    popq %r13\n"
        "    popq %r12\n"
        "    popq %rbx\n"
        "    popq %rbp\n"
        "    ret\n"
        ".size shmemd_cpu_fiber_jump, .-shmemd_cpu_fiber_jump\n");

/* As if main had been called from nowhere: a return address of 0 ends a debugger's list of calls. */
static void *first_frame(char *top, void (*main)(void))
{
    uintptr_t *frame = (uintptr_t *)(void *)top;
    *--frame         = 0;
    *--frame         = (uintptr_t)main;
    for (int i = 0; i < 6; i++) *--frame = 0;
    return frame;
}

#elif defined __aarch64__

void shmemd_cpu_fiber_jump(void **save, void *load);
__asm__(".text\n"
        ".globl shmemd_cpu_fiber_jump\n"
        ".hidden shmemd_cpu_fiber_jump\n"
        ".type shmemd_cpu_fiber_jump, %function\n"
        "shmemd_cpu_fiber_jump:\n"
        "    sub sp, sp, #160\n"
        "    stp x19, x20, [sp, #0]\n"
        "    stp x21, x22, [sp, #16]\n"
        "    stp x23, x24, [sp, #32]\n"
        "    stp x25, x26, [sp, #48]\n"
        "    stp x27, x28, [sp, #64]\n"
        "    stp x29, x30, [sp, #80]\n"
        "    stp d8, d9, [sp, #96]\n"
        "    stp d10, d11, [sp, #112]\n"
        "    stp d12, d13, [sp, #128]\n"
        "    stp d14, d15, [sp, #144]\n"
        "    mov x2, sp\n"
        "    str x2, [x0]\n"
        "    mov sp, x1\n"
        "    ldp x19, x20, [sp, #0]\n"
        "    ldp x21, x22, [sp, #16]\n"
        "    ldp x23, x24, [sp, #32]\n"
        "    ldp x25, x26, [sp, #48]\n"
        "    ldp x27, x28, [sp, #64]\n"
        "    ldp x29, x30, [sp, #80]\n"
        "    ldp d8, d9, [sp, #96]\n"
        "    ldp d10, d11, [sp, #112]\n"
        "    ldp d12, d13, [sp, #128]\n"
        "    ldp d14, d15, [sp, #144]\n"
        "    add sp, sp, #160\n"
        "    ret\n"
        ".size shmemd_cpu_fiber_jump, .-shmemd_cpu_fiber_jump\n");

static void *first_frame(char *top, void (*main)(void))
{
    uintptr_t *frame = (uintptr_t *)(void *)(top - 160);
    for (int i = 0; i < 20; i++) frame[i] = 0;
    frame[11] = (uintptr_t)main; /* x30: where `ret` goes */
    return frame;
}

#else

#include <ucontext.h>

/* The context lies at the top of its own stack; that of the thread itself is in the caller's frame while it does not run. */
static void shmemd_cpu_fiber_jump(void **save, void *load)
{
    ucontext_t here;
    /* cppcheck-suppress autoVariables */
    *save = &here;
    swapcontext(&here, load);
}

static void *first_frame(char *top, void (*main)(void))
{
    ucontext_t *context = (ucontext_t *)(void *)((uintptr_t)(top - sizeof *context) & ~(uintptr_t)63);
    char       *base    = top - SHMEMD_CPU_STACK_BYTES / 2;
    getcontext(context);
    context->uc_stack.ss_sp   = base;
    context->uc_stack.ss_size = (size_t)((char *)context - base);
    context->uc_link          = NULL;
    makecontext(context, main, 0);
    return context;
}

#endif

/* ---- fibers ---------------------------------------------------------------------------------------------------------- */

void shmemd_cpu_fiber_adopt(struct shmemd_cpu_fiber *fiber)
{
    *fiber = (struct shmemd_cpu_fiber){.tsan = __tsan_get_current_fiber ? __tsan_get_current_fiber() : NULL};
}

void shmemd_cpu_fiber_init(struct shmemd_cpu_fiber *fiber, struct shmemd_cpu_stack *stack, void (*main)(void))
{
    *fiber = (struct shmemd_cpu_fiber){
        .stack         = stack,
        .stack_pointer = first_frame((char *)((uintptr_t)stack & ~(uintptr_t)63), main),
        .tsan          = __tsan_create_fiber ? __tsan_create_fiber(0) : NULL,
        .asan_base     = stack->base,
        .asan_bytes    = (size_t)((char *)stack - stack->base),
    };
}

void shmemd_cpu_fiber_finish(struct shmemd_cpu_fiber *fiber)
{
    if (fiber->tsan && fiber->stack) __tsan_destroy_fiber(fiber->tsan);
    *fiber = (struct shmemd_cpu_fiber){0};
}

void shmemd_cpu_fiber_switch(struct shmemd_cpu_fiber *from, struct shmemd_cpu_fiber *to, int ends)
{
    if (__sanitizer_start_switch_fiber) __sanitizer_start_switch_fiber(ends ? NULL : &from->asan, to->asan_base, to->asan_bytes);
    if (to->tsan) __tsan_switch_to_fiber(to->tsan, TSAN_SWITCH_ORDERS_NOTHING);
    shmemd_cpu_fiber_jump(&from->stack_pointer, to->stack_pointer);
    assert(!ends);
    shmemd_cpu_fiber_arrived(from, to);
}

/* The first switch away from a thread's own stack is where AddressSanitizer tells where that stack lies. */
void shmemd_cpu_fiber_arrived(struct shmemd_cpu_fiber *fiber, struct shmemd_cpu_fiber *from)
{
    if (!__sanitizer_finish_switch_fiber) return;
    const void *base;
    size_t      bytes;
    __sanitizer_finish_switch_fiber(fiber->asan, &base, &bytes);
    if (!from->stack) {
        from->asan_base  = base;
        from->asan_bytes = bytes;
    }
}

struct shmemd_cpu_stack *shmemd_cpu_stack_create(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char  *base =
        mmap(NULL, SHMEMD_CPU_STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (base == MAP_FAILED) return NULL;
    /* Best effort: a process may have 65530 mappings, and a guard page is one. */
    (void)mprotect(base, page, PROT_NONE);
    struct shmemd_cpu_stack *stack = (struct shmemd_cpu_stack *)(void *)(base + SHMEMD_CPU_STACK_BYTES - sizeof *stack);
    stack->base                    = base;
    return stack;
}

void shmemd_cpu_stack_destroy(struct shmemd_cpu_stack *stack)
{
    if (stack) (void)munmap(stack->base, SHMEMD_CPU_STACK_BYTES);
}
