/* SPDX-License-Identifier: Apache-2.0
 *
 * shmem_wait and its typed forms, each on words of its type: they return at once where the word differs, and block until an update of any kind where it
 * does not. The update comes late, so that the wait has gone to sleep; what its writer put before is there.
 * Spec: OpenSHMEM 1.6 §9.11.1 shmem_wait, §F.2.10
 * PES: 1 2
 * LINK: pthread
 * TIMEOUT: 60
 */
#include "../api.h"

#include <pthread.h>
#include <time.h>

enum { ROUNDS = 8 };

static short     short_word;
static int       int_word;
static long      long_word, plain_word, payload[ROUNDS + 1];
static long long longlong_word;

static void *update(void *unused)
{
    int next = (shmem_my_pe() + 1) % shmem_n_pes();
    for (long round = 1; round <= ROUNDS; round++) {
        shmem_long_wait_until(&payload[0], SHMEM_CMP_EQ, round); /* the next PE is in this round */
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
        shmem_long_p(&payload[round], -round, next);
        shmem_fence();
        switch (round % 4) {
        case 0: shmem_short_p(&short_word, (short)-round, next); break;
        case 1: shmem_int_set(&int_word, (int)round, next); break;
        case 2: shmem_longlong_add(&longlong_word, -round, next); break;
        default: shmem_long_inc(round % 8 == 3 ? &long_word : &plain_word, next); break;
        }
    }
    return unused;
}

int main(void)
{
    int       provided;
    pthread_t thread;
    shmem_init_thread(SHMEM_THREAD_MULTIPLE, &provided);
    int before = (shmem_my_pe() + shmem_n_pes() - 1) % shmem_n_pes();
    shmem_short_wait(&short_word, 1);
    shmem_int_wait(&int_word, -1);
    shmem_long_wait(&long_word, 1);
    shmem_longlong_wait(&longlong_word, 1LL << 40);
    shmem_wait(&plain_word, -1);
    if (pthread_create(&thread, NULL, update, NULL) != 0) abort();
    for (long round = 1; round <= ROUNDS; round++) {
        short     old_short    = short_word;
        int       old_int      = int_word;
        long long old_longlong = longlong_word;
        shmem_long_atomic_set(&payload[0], round, before);
        switch (round % 4) {
        case 0:
            shmem_short_wait(&short_word, old_short);
            CHECK_EQUAL(short_word, -round);
            break;
        case 1:
            shmem_int_wait(&int_word, old_int);
            CHECK_EQUAL(int_word, round);
            break;
        case 2:
            shmem_longlong_wait(&longlong_word, old_longlong);
            CHECK_EQUAL(longlong_word, old_longlong - round);
            break;
        default:
            if (round % 8 == 3) shmem_long_wait(&long_word, 0);
            else shmem_wait(&plain_word, 0);
            break;
        }
        CHECK_EQUAL(payload[round], -round);
    }
    pthread_join(thread, NULL);
    CHECK_EQUAL(long_word, 1);
    CHECK_EQUAL(plain_word, 1);
    shmem_finalize();
    return api_result();
}
