/* SPDX-License-Identifier: Apache-2.0
 *
 * The symmetric heap's calls. Spec: OpenSHMEM 1.6 §9.3 Memory Management Routines.
 */
#ifndef SHMEMI_HEAP_H
#define SHMEMI_HEAP_H

int  shmemi_heap_init(void); /* 0 or a negative errno, logged */
void shmemi_heap_finish(void);

#endif
