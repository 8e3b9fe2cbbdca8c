/* SPDX-License-Identifier: Apache-2.0
 *
 * A generic mentions its arguments several times and evaluates them once.  Stands alone: the functions
 * that the generics pick are defined here, so each call leaves a trace of what arrived.
 * Spec: OpenSHMEM 1.6 §5 Language Bindings and Conformance, §10.3.3 C11 Type-Generic Interfaces
 */
#include <shmem.h>

#include <stdio.h>

static int  calls, evaluations;
static long cells[4];

void shmem_long_p(long *dest, long value, int pe)
{
    calls += dest == &cells[1] && value == 7 && pe == 3;
}

void shmem_ctx_long_p(shmem_ctx_t ctx, long *dest, long value, int pe)
{
    calls += ctx == SHMEM_CTX_DEFAULT && dest == &cells[2] && value == 8 && pe == 4;
}

long shmem_long_g(const long *source, int pe)
{
    return *source + pe;
}

void shmem_long_wait_until(long *ivar, int cmp, long cmp_value)
{
    calls += ivar == &cells[3] && cmp == SHMEM_CMP_GE && cmp_value == 9;
}

/* In parentheses: the name is a generic macro, too. */
void(shmem_signal_add)(uint64_t *sig_addr, uint64_t signal, int pe)
{
    calls += !sig_addr && signal == 5 && pe == 6;
}

void shmem_ctx_signal_add(shmem_ctx_t ctx, uint64_t *sig_addr, uint64_t signal, int pe)
{
    calls += ctx == SHMEM_CTX_INVALID && !sig_addr && signal == 5 && pe == 6;
}

int shmem_long_sum_reduce(shmem_team_t team, long *dest, const long *source, size_t nreduce)
{
    calls += team == SHMEM_TEAM_WORLD && dest == &cells[1] && source == &cells[2] && nreduce == 3;
    return 1;
}

int shmem_team_sync(shmem_team_t team)
{
    calls += team == SHMEM_TEAM_SHARED;
    return 1;
}

/* In parentheses: a generic macro, too. */
void(shmem_sync)(int PE_start, int logPE_stride, int PE_size, long *pSync)
{
    calls += PE_start == 1 && logPE_stride == 2 && PE_size == 3 && pSync == &cells[3];
}

long shmem_long_cswap(long *dest, long cond, long value, int pe)
{
    calls += dest == &cells[2] && cond == 1 && value == 2 && pe == 3;
    return 0;
}

static long *cell(int i)
{
    evaluations++;
    return &cells[i];
}

static shmem_ctx_t context(shmem_ctx_t ctx)
{
    evaluations++;
    return ctx;
}

static shmem_team_t team(shmem_team_t same)
{
    evaluations++;
    return same;
}

int main(void)
{
    const long *walker = cells;
    int         pe     = 3;

    cells[0] = 5;
    shmem_p(cell(1), shmem_g(walker++, 2), pe++);
    shmem_p(context(SHMEM_CTX_DEFAULT), cell(2), 8, pe++);
    shmem_wait_until(cell(3), SHMEM_CMP_GE, 9);
    shmem_signal_add((uint64_t *)0, 5, 6);
    shmem_signal_add(context(SHMEM_CTX_INVALID), (uint64_t *)0, 5, 6);
    calls += shmem_sum_reduce(team(SHMEM_TEAM_WORLD), cell(1), cell(2), 3);
    calls += shmem_sync(team(SHMEM_TEAM_SHARED));
    shmem_sync(1, 2, 3, cell(3));
    shmem_cswap(cell(2), 1, 2, 3);

    if (calls != 11 || evaluations != 11 || walker != cells + 1 || pe != 5) {
        printf("calls %d (11), evaluations %d (11), walker %td (1), pe %d (5)\n", calls, evaluations, walker - cells, pe);
        return 1;
    }
    return 0;
}
