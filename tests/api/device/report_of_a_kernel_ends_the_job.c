/* SPDX-License-Identifier: Apache-2.0
 *
 * PES: 2
 * STATUS: 1
 * LINK: pthread
 * OUTPUT: PE 1: kernel: block 5, thread 33: shmem_long_wait_until: waited too long for heap.0x.* == 8, which holds 7 .8 bytes.
 * OUTPUT: why: a wait in a kernel has lasted longer than POSTERN_WAIT_TIMEOUT
 * OUTPUT: kernel of PE 0 was told to stop
 * NOOUTPUT: came back
 *
 * What a kernel reports becomes one message of its PE and the end of the job, and kernels of the other PEs that wait are told to stop.
 * Spec: none; calls in kernels are an extension
 */
#include "kernel.h"

static pthread_t waiter;

/* It waits for a slot of the ring that nobody will give back. */
static void *wait_for_ever(void *unused)
{
    struct shmemd_descriptor d = {0};
    uint64_t                 value;
    if (shmemd_ring_wait_reply(&kernel_state, 12345, &value) == SHMEMD_RING_ABORT) printf("kernel of PE 0 was told to stop\n");
    (void)d;
    return unused;
}

static void join_waiter(void)
{
    pthread_join(waiter, NULL);
}

int main(void)
{
    shmemx_device_register(&kernel_unit);
    shmem_init();
    long *word = shmem_calloc(1, sizeof *word);
    if (shmem_my_pe() == 0) {
        pthread_create(&waiter, NULL, wait_for_ever, NULL);
        atexit(join_waiter);
    }
    shmem_barrier_all();
    if (shmem_my_pe() == 1) {
        struct shmemd_report *report = &kernel_state.control->report;
        report->kind                 = SHMEMD_REPORT_WAIT;
        report->segment              = kernel_place(word, &report->offset);
        report->block                = 5;
        report->thread               = 33;
        report->seen                 = 7;
        report->wanted               = 8;
        report->cmp                  = SHMEM_CMP_EQ;
        report->width                = 8;
        strcpy(report->call, "shmem_long_wait_until");
        shmemd_store_release(&report->ready, 1, 8);
    }
    shmem_long_wait_until(word, SHMEM_CMP_EQ, 1);
    printf("came back\n");
    return 9;
}
