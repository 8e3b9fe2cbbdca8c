/* SPDX-License-Identifier: Apache-2.0
 *
 * shmemx_collective_launch: kernels that wait for one another must all run at the same time. So before any PE starts its kernel, all have
 * agreed that every block of each fits onto its device beside those of the other PEs that share it. Each PE gives a card; what
 * follows from the cards is the same everywhere, so a refusal is the same error on all PEs.
 */
#include "device/unit.h"

#include "runtime/base/log.h"
#include "runtime/base/num.h"
#include "runtime/init.h"
#include "runtime/service.h"
#include "runtime/sync.h"

#include <errno.h>
#include <limits.h>
#include <shmem.h>
#include <shmemx.h>
#include <stdlib.h>
#include <string.h>

struct card {
    uint64_t device; /* shared by the PEs that give the same one; 0: by no other */
    int64_t  blocks; /* of this PE's grid                                      */
    int64_t  limit;  /* that fit at one time, were the device its own          */
    int32_t  failed; /* negative errno: this PE cannot start it, and has said why */
    uint32_t unused;
};

static bool multiply(const unsigned of[3], int64_t *out)
{
    *out = 1;
    for (int i = 0; i < 3; i++) {
        if (of[i] == 0 || of[i] > INT_MAX || *out > INT_MAX / (int64_t)of[i]) return false;
        *out *= of[i];
    }
    return true;
}

static void fill_card(struct card *card, const struct shmemd_unit *unit, const void *kernel, const unsigned grid[3],
                      const unsigned block[3], size_t shared_bytes)
{
    int64_t threads;
    long    limit = 0;
    if (!unit) {
        shmemi_error("shmemx_collective_launch: there is no device code in this PE" WHY
                     "nothing that can start kernels has registered itself" FIX
                     "include shmem_device.cuh in the file that has the kernel");
        card->failed = -ENOSYS;
    } else if (!kernel || !multiply(grid, &card->blocks) || !multiply(block, &threads)) {
        shmemi_error("shmemx_collective_launch: grid %u x %u x %u, block %u x %u x %u%s" WHY
                     "each number is at least 1, and their products are less than 2^31" FIX "look at the arguments of the call",
                     grid[0], grid[1], grid[2], block[0], block[1], block[2], kernel ? "" : ", and the kernel is NULL");
        card->failed = -EINVAL;
    } else if (unit->resident_blocks(kernel, block, shared_bytes, &limit, &card->device) != 0) {
        shmemi_error(
            "shmemx_collective_launch: the device cannot tell how many blocks of this kernel it can hold" WHY
            "it is no kernel of this program, or has no code for this device, or asks for more shared memory than there is" FIX
            "look at the kernel and at the bytes of shared memory");
        card->failed = -EINVAL;
    }
    card->limit = limit;
}

/*
 * Shares of one device, in parts of 2^20, rounded up: a block takes 1/limit of it, whichever kernel it is of. Devices are shared by few PEs, so
 * the rounding does no harm.
 */
static int64_t share_of(const struct card *card)
{
    if (card->limit <= 0) return INT64_MAX / 4096;
    int64_t scale = INT64_C(1) << 20;
    return (card->blocks * scale + card->limit - 1) / card->limit;
}

/* The first PE that cannot start; -1: all can. beside_out: how many other PEs use its device. */
static int first_refused(const struct card *cards, int npes, int *beside_out)
{
    for (int pe = 0; pe < npes; pe++) {
        int64_t share = share_of(&cards[pe]);
        *beside_out   = 0;
        for (int other = 0; cards[pe].device != 0 && other < npes; other++)
            if (other != pe && cards[other].device == cards[pe].device) {
                share += share_of(&cards[other]);
                ++*beside_out;
            }
        if (share > INT64_C(1) << 20) return pe;
    }
    return -1;
}

/* The same on all PEs; the first says why. */
static int verdict(const struct card *cards, int npes)
{
    for (int pe = 0; pe < npes; pe++)
        if (cards[pe].failed) return cards[pe].failed;
    int beside, pe = first_refused(cards, npes, &beside);
    if (pe < 0) return 0;
    if (shmemi_state.my_pe == 0)
        shmemi_error(
            "shmemx_collective_launch: the %lld blocks of PE %d do not run at the same time" WHY
            "its device holds %lld blocks of this kernel%s; a block that waits for one that has not begun would wait for ever" FIX
            "start at most %lld blocks in each PE, or blocks of fewer threads and less shared memory",
            (long long)cards[pe].blocks, pe, (long long)cards[pe].limit,
            beside > 0 ? ", and other PEs start kernels on it too" : "", (long long)(cards[pe].limit / (beside + 1)));
    return -EAGAIN;
}

static int agree(const struct card *mine)
{
    int                           npes  = shmemi_state.npes;
    SHMEMI_AUTO_FREE struct card *cards = calloc((size_t)npes, sizeof *cards);
    if (!cards)
        shmemi_service_fatal("shmemx_collective_launch", "could not get memory" WHY "malloc gave none" FIX "raise `ulimit -v`");
    /* A PE may come late by any time; the exchange of cards has a limit. */
    shmemi_sync_team("shmemx_collective_launch", &shmemi_state.world);
    int err = shmemi_init_exchange(mine, sizeof *mine, cards);
    return err ? err : verdict(cards, npes);
}

int pshmemx_collective_launch(const void *kernel, shmemx_dim3_t grid, shmemx_dim3_t block, void **args, size_t shared_bytes,
                              void *stream)
{
    const char               *call      = "shmemx_collective_launch";
    const struct shmemd_unit *unit      = shmemd_unit_launcher();
    const unsigned            blocks[3] = {grid.x, grid.y, grid.z}, threads[3] = {block.x, block.y, block.z};
    struct card               mine = {.failed = 0};
    if (SHMEMI_UNLIKELY(!shmemi_state_running())) shmemi_service_outside(call);
    fill_card(&mine, unit, kernel, blocks, threads, shared_bytes);
    int err = agree(&mine);
    if (err) return err;
    if (unit->launch(kernel, blocks, threads, args, shared_bytes, stream) == 0) return 0;
    /* The others' kernels have started and wait for this one. */
    shmemi_service_fatal(call, "the kernel could not be started" WHY "the device refused it although its blocks fit" FIX
                               "look at what cudaGetLastError says, and at the stream");
    return -EIO;
}
SHMEMI_EXPORT(shmemx_collective_launch)
