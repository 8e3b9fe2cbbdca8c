/* SPDX-License-Identifier: Apache-2.0
 *
 * The GPU heap: its size, which all PEs work out from the cards; this PE's part; and the parts of the PEs of its node, mapped where this GPU reaches
 * them.
 *
 * Memory of a GPU is not lent twice: a part exists in full from the start. So an explicit size that cannot fit is an error that says what there is,
 * and by default the heap is small: 256 MiB, or a quarter of what is free for each PE of the GPU, if that is less.
 */
#include "runtime/base/log.h"
#include "runtime/base/num.h"
#include "runtime/base/report.h"
#include "runtime/gpu/inside.h"
#include "runtime/init.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DEFAULT_BYTES ((size_t)256 << 20)
enum { DEFAULT_SHARE = 4 };

/* The own part, and what is said of peers that are not mapped. */
static struct {
    shmemi_cu_memory own;
    bool             created;
    char             unmapped[160];
    int              unmapped_count;
    char             refusal[512]; /* why this PE has none: said after the exchange, by one PE, since most often all have it */
} part;

static const struct shmemi_gpu_card *card_of(int pe)
{
    return &shmemi_state.cards[pe].gpu;
}

/* ---- size: the same on all PEs, from the cards only ---- */

static bool same_gpu(int a, int b)
{
    return memcmp(card_of(a)->uuid, card_of(b)->uuid, sizeof card_of(a)->uuid) == 0;
}

/* The PEs of one GPU look at its free memory at different times: the least counts. */
static uint64_t room_of(int pe, int *sharers_out)
{
    uint64_t room = UINT64_MAX;
    *sharers_out  = 0;
    for (int other = 0; other < shmemi_state.npes; other++) {
        if (!same_gpu(pe, other)) continue;
        ++*sharers_out;
        if (card_of(other)->free_bytes < room) room = card_of(other)->free_bytes;
    }
    return room;
}

static size_t default_bytes(size_t unit)
{
    uint64_t bytes = DEFAULT_BYTES;
    for (int pe = 0; pe < shmemi_state.npes; pe++) {
        int      sharers;
        uint64_t room  = room_of(pe, &sharers);
        uint64_t share = room / (uint64_t)sharers / DEFAULT_SHARE;
        if (share < bytes) bytes = share;
    }
    return shmemi_round_down((size_t)bytes, unit);
}

static int check_room(size_t bytes)
{
    for (int pe = 0; pe < shmemi_state.npes && !shmemi_options.overcommit; pe++) {
        int      sharers;
        uint64_t room = room_of(pe, &sharers);
        if (bytes <= room / (uint64_t)sharers) continue;
        shmemi_error("the GPU heaps do not fit (%zu MiB for each PE)" WHY
                     "the GPU of PE %d on %s has %llu MiB free, and %d PE%s of this job use%s it" FIX
                     "lower POSTERN_CUDA_HEAP to %llu MiB, spread the PEs over more GPUs (POSTERN_CUDA_DEVICE), or end what holds "
                     "its memory",
                     bytes >> 20, pe, shmemi_state.cards[pe].host, (unsigned long long)room >> 20, sharers, sharers == 1 ? "" : "s",
                     sharers == 1 ? "s" : "", (unsigned long long)(room / (uint64_t)sharers) >> 20);
        return -ENOMEM;
    }
    return 0;
}

/* A PE without a GPU, and whether any has one and any asks for a heap. */
struct survey {
    int    lacking; /* first PE without, or -1 */
    bool   some, wanted;
    size_t unit;
};

static struct survey survey_cards(void)
{
    struct survey survey = {.lacking = -1};
    for (int pe = 0; pe < shmemi_state.npes; pe++) {
        const struct shmemi_gpu_card *card = card_of(pe);
        if (!card->present && survey.lacking < 0) survey.lacking = pe;
        if (card->present) survey.some = true;
        if (card->wanted) survey.wanted = true;
        if (card->unit > survey.unit) survey.unit = (size_t)card->unit;
    }
    return survey;
}

static bool asked_for(void)
{
    return shmemi_options.cuda_heap_bytes != SIZE_MAX || shmemi_options.heap == SHMEMI_HEAP_CUDA;
}

/* As the user's setting, for messages. */
static const char *asking(void)
{
    return shmemi_options.heap == SHMEMI_HEAP_CUDA ? "POSTERN_HEAP=cuda" : "POSTERN_CUDA_HEAP";
}

static int nothing_lacks(const struct survey *survey)
{
    if (survey->lacking < 0) return 0;
    if (asked_for()) {
        shmemi_error("there is no GPU heap without a GPU on every PE" WHY "PE %d on %s has none that can be used: %s" FIX
                     "unset %s, or give each PE a GPU",
                     survey->lacking, shmemi_state.cards[survey->lacking].host, card_of(survey->lacking)->why, asking());
        return -ENODEV;
    }
    if (survey->some)
        shmemi_report("gpu-heap", SHMEMI_ABSENT, "not every PE has a GPU that can be used: PE %d: %s", survey->lacking,
                      card_of(survey->lacking)->why);
    return -ENODEV;
}

static void lay_out(size_t bytes, size_t unit)
{
    shmemi_gpu.unit                                     = unit;
    shmemi_gpu.bytes                                    = bytes;
    shmemi_gpu.stride                                   = bytes;
    shmemi_state.job.node_map[SHMEMT_SEGMENT_GPU].bytes = bytes;
    size_t box                                          = shmemi_round_up(shmemi_state.ctrl_bytes, SHMEMI_LINE_BYTES);
    shmemi_gpu_stage_plan(box);
    shmemi_state.ctrl_bytes = box + shmemi_gpu_stage_bytes();
}

int shmemi_gpu_plan(void)
{
    struct survey survey = survey_cards();
    size_t        bytes  = shmemi_options.cuda_heap_bytes;
    memset(&part, 0, sizeof part);
    if (bytes == 0 && shmemi_options.heap == SHMEMI_HEAP_CUDA) {
        shmemi_error("POSTERN_HEAP is cuda, and POSTERN_CUDA_HEAP is 0" WHY "shmem_malloc would have nothing to give" FIX
                     "set POSTERN_CUDA_HEAP to a size, or unset one of the two");
        return -EINVAL;
    }
    if (bytes == 0 || !survey.wanted) return 0;
    int err = nothing_lacks(&survey);
    if (err) return asked_for() ? err : 0;
    if (bytes == SIZE_MAX) {
        bytes = default_bytes(survey.unit);
        if (bytes == 0) shmemi_report("gpu-heap", SHMEMI_ABSENT, "too little memory is free on a GPU of this job");
        if (bytes == 0 && asked_for()) return check_room(survey.unit * DEFAULT_SHARE);
    } else {
        if (bytes > SIZE_MAX / 2 / (size_t)shmemi_state.npes) bytes = SIZE_MAX / 2 / (size_t)shmemi_state.npes;
        bytes = shmemi_round_up(bytes, survey.unit);
        if ((err = check_room(bytes))) return err;
    }
    if (bytes > 0) lay_out(bytes, survey.unit);
    return 0;
}

/* ---- this PE's part ---- */

static SHMEMI_COLD int refused(const char *what, unsigned result)
{
    char text[160];
    snprintf(part.refusal, sizeof part.refusal, "could not %s (%zu MiB on GPU %d, %s): %s", what, shmemi_gpu.bytes >> 20,
             shmemi_gpu.ordinal, shmemi_gpu.name, shmemi_cuda_text(shmemi_gpu.cuda, result, text, sizeof text));
    int err = shmemi_cuda_errno(result);
    return err ? err : -EIO;
}

/* The peer's GPU among those that this process sees; -1: it is not visible. */
static shmemi_cu_device find_gpu(int pe)
{
    const struct shmemi_cuda *cuda  = shmemi_gpu.cuda;
    int                       count = 0;
    if (cuda->device_get_count(&count)) return -1;
    for (int i = 0; i < count; i++) {
        shmemi_cu_device      device;
        struct shmemi_cu_uuid uuid;
        if (cuda->device_get(&device, i) || cuda->device_get_uuid(&uuid, device)) continue;
        if (memcmp(uuid.bytes, card_of(pe)->uuid, sizeof uuid.bytes) == 0) return device;
    }
    return -1;
}

static shmemi_cu_pointer place_of(int local)
{
    return (shmemi_cu_pointer)(uintptr_t)(shmemi_gpu.map + (size_t)local * shmemi_gpu.stride);
}

/* The memory may be read and written by this PE's GPU. */
static unsigned map_at(int local, shmemi_cu_memory memory)
{
    const struct shmemi_cuda     *cuda   = shmemi_gpu.cuda;
    const struct shmemi_cu_access access = {.location = {.type = SHMEMI_CU_LOCATION_DEVICE, .id = shmemi_gpu.device},
                                            .flags    = SHMEMI_CU_ACCESS_READWRITE};
    unsigned                      result = cuda->mem_map(place_of(local), shmemi_gpu.bytes, 0, memory, 0);
    if (result) return result;
    result = cuda->mem_set_access(place_of(local), shmemi_gpu.bytes, &access, 1);
    if (result) cuda->mem_unmap(place_of(local), shmemi_gpu.bytes);
    else shmemi_gpu.mapped[local] = true;
    return result;
}

/* Are atomics of my GPU atomic there? The own GPU's are; between GPUs it depends on what links them. */
static bool does_atomics(int local)
{
    int              pe = shmemi_state.node.pes[local], native = 0;
    shmemi_cu_device theirs;
    if (!shmemi_gpu.mapped[local]) return false;
    if (same_gpu(pe, shmemi_state.my_pe)) return true;
    return (theirs = find_gpu(pe)) >= 0 &&
           shmemi_gpu.cuda->device_get_p2p_attribute(&native, SHMEMI_CU_P2P_NATIVE_ATOMICS, shmemi_gpu.device, theirs) == 0 &&
           native;
}

static int create_part(int *fd_out)
{
    const struct shmemi_cuda    *cuda  = shmemi_gpu.cuda;
    struct shmemi_cu_memory_kind kind  = shmemi_gpu_device_memory_kind();
    size_t                       bytes = shmemi_gpu.stride * shmemi_gpu.local_pes;
    shmemi_cu_pointer            map   = 0;
    unsigned                     result;
    if ((result = cuda->mem_address_reserve(&map, bytes, shmemi_gpu.unit, 0, 0)))
        return refused("reserve addresses for the GPU heaps", result);
    shmemi_gpu.map       = (char *)(uintptr_t)map;
    shmemi_gpu.map_bytes = bytes;
    if ((result = cuda->mem_create(&part.own, shmemi_gpu.bytes, &kind, 0))) return refused("allocate the GPU heap", result);
    part.created = true;
    if ((result = map_at(shmemi_state.node.me, part.own))) return refused("map the GPU heap", result);
    if ((result = cuda->mem_export(fd_out, part.own, SHMEMI_CU_HANDLE_FD, 0)))
        return refused("share the GPU heap with the PEs of this node", result);
    return 0;
}

/* ---- the others' ---- */

static void note_unmapped(int local, const char *why)
{
    int pe = shmemi_state.node.pes[local];
    if (part.unmapped_count++ == 0) snprintf(part.unmapped, sizeof part.unmapped, "PE %d: %s", pe, why);
    shmemi_debug("GPU heap of PE %d is not mapped: %s", pe, why);
}

/* An invisible GPU's memory is tried all the same: only the driver knows. */
static bool can_access(int local, char *why, size_t why_bytes)
{
    int              pe = shmemi_state.node.pes[local], can = 0;
    shmemi_cu_device theirs;
    if (same_gpu(pe, shmemi_state.my_pe) || (theirs = find_gpu(pe)) < 0) return true;
    unsigned result = shmemi_gpu.cuda->device_can_access_peer(&can, shmemi_gpu.device, theirs);
    if (!result && can) return true;
    snprintf(why, why_bytes, "GPUs %d and %d have no peer-to-peer access (nvidia-smi topo -p2p r)", shmemi_gpu.ordinal, theirs);
    return false;
}

/* Handed over by share.c, for each PE of the node but this one. */
static void take_part(int local, int fd)
{
    char             why[200] = "this PE has none";
    shmemi_cu_memory memory;
    if (fd < 0) return;
    if (part.created && can_access(local, why, sizeof why)) {
        char        text[80];
        const char *visible = find_gpu(shmemi_state.node.pes[local]) < 0 ? " (its GPU is hidden by CUDA_VISIBLE_DEVICES)" : "";
        unsigned    result  = shmemi_gpu.cuda->mem_import(&memory, (void *)(uintptr_t)fd, SHMEMI_CU_HANDLE_FD);
        if (!result) {
            result = map_at(local, memory);
            shmemi_gpu.cuda->mem_release(memory); /* the mapping keeps it */
        }
        snprintf(why, sizeof why, "the driver does not map its memory%s: %s", visible,
                 shmemi_cuda_text(shmemi_gpu.cuda, result, text, sizeof text));
    }
    close(fd);
    if (!shmemi_gpu.mapped[local]) note_unmapped(local, why);
}

static void export_dma_buf(void)
{
    const struct shmemi_cuda *cuda = shmemi_gpu.cuda;
    int                       fd   = -1;
    if (shmemi_state.npes == 1 || !cuda->mem_get_range_handle) return;
    if (cuda->mem_get_range_handle(&fd, place_of(shmemi_state.node.me), shmemi_gpu.bytes, SHMEMI_CU_RANGE_HANDLE_DMA_BUF, 0) == 0)
        shmemi_gpu.dma_buf = fd;
}

int shmemi_gpu_share(int failed)
{
    int fd = -1, err = failed;
    if (shmemi_gpu.bytes == 0) return 0;
    shmemi_gpu_enter();
    shmemi_gpu.local_pes = (size_t)shmemi_state.node.count;
    shmemi_gpu.mapped    = calloc(shmemi_gpu.local_pes, sizeof *shmemi_gpu.mapped);
    shmemi_gpu.atomics   = calloc(shmemi_gpu.local_pes, sizeof *shmemi_gpu.atomics);
    if (!err && (!shmemi_gpu.mapped || !shmemi_gpu.atomics)) err = -ENOMEM;
    if (!err) err = create_part(&fd);
    int shared = shmemi_gpu_share_all(err ? -1 : fd, take_part);
    if (fd >= 0) close(fd);
    if (!err) err = shared;
    if (!err) export_dma_buf();
    for (size_t i = 0; i < shmemi_gpu.local_pes && !err; i++) shmemi_gpu.atomics[i] = does_atomics((int)i);
    shmemi_gpu_leave();
    if (err) return err;
    shmemi_state.gpu_base                                = (uintptr_t)place_of(shmemi_state.node.me);
    shmemi_state.job.node_map[SHMEMT_SEGMENT_GPU].base   = shmemi_gpu.map;
    shmemi_state.job.node_map[SHMEMT_SEGMENT_GPU].stride = shmemi_gpu.stride;
    return 0;
}

/* ---- with and without ---- */

static void unmap_all(void)
{
    const struct shmemi_cuda *cuda = shmemi_gpu.cuda;
    for (size_t i = 0; i < shmemi_gpu.local_pes && shmemi_gpu.mapped; i++)
        if (shmemi_gpu.mapped[i]) cuda->mem_unmap(place_of((int)i), shmemi_gpu.bytes);
    if (part.created) cuda->mem_release(part.own);
    if (shmemi_gpu.map_bytes) cuda->mem_address_free((shmemi_cu_pointer)(uintptr_t)shmemi_gpu.map, shmemi_gpu.map_bytes);
    if (shmemi_gpu.dma_buf >= 0) close(shmemi_gpu.dma_buf);
    free(shmemi_gpu.mapped);
    free(shmemi_gpu.atomics);
    memset(&part, 0, sizeof part);
}

static void release_heap(void)
{
    if (!shmemi_gpu.cuda || !shmemi_gpu.context) return;
    shmemi_gpu_enter();
    unmap_all();
    shmemi_gpu_leave();
    shmemi_gpu.map     = NULL;
    shmemi_gpu.mapped  = NULL;
    shmemi_gpu.atomics = NULL;
    shmemi_gpu.dma_buf = -1;
    shmemi_gpu.bytes = shmemi_gpu.map_bytes = shmemi_gpu.local_pes = 0;
    memset(&shmemi_state.job.node_map[SHMEMT_SEGMENT_GPU], 0, sizeof shmemi_state.job.node_map[SHMEMT_SEGMENT_GPU]);
    shmemi_state.gpu_base = 0;
}

int shmemi_gpu_without(int pe, int err)
{
    bool mine = pe == shmemi_state.my_pe;
    if (asked_for()) {
        if (mine && part.refusal[0])
            shmemi_error("%s" WHY "another process may have taken the memory, or a limit of the driver is reached" FIX
                         "lower POSTERN_CUDA_HEAP, or look at nvidia-smi for what holds the memory",
                         part.refusal);
        return err;
    }
    shmemi_report("gpu-heap", SHMEMI_DEGRADED, "none: PE %d %s", pe,
                  mine && part.refusal[0] ? part.refusal : "could not make its part");
    release_heap();
    return 0;
}

static void report_heap(void)
{
    int mapped = 0;
    for (size_t i = 0; i < shmemi_gpu.local_pes; i++)
        if (shmemi_gpu.mapped[i]) mapped++;
    shmemi_report("gpu-heap", SHMEMI_PRESENT, "%zu MiB for each PE in units of %zu KiB%s", shmemi_gpu.bytes >> 20,
                  shmemi_gpu.unit >> 10, shmemi_options.heap == SHMEMI_HEAP_CUDA ? ", of which shmem_malloc takes" : "");
    if (part.unmapped_count > 0)
        shmemi_report("gpu-p2p", SHMEMI_DEGRADED,
                      "%d of the %zu GPU heaps of this node are mapped, the rest goes through host memory; %s", mapped,
                      shmemi_gpu.local_pes, part.unmapped);
    else
        shmemi_report("gpu-p2p", SHMEMI_PRESENT, "%s",
                      shmemi_gpu.local_pes == 1 ? "no other GPU heap on this node" : "all GPU heaps of this node are mapped");
}

int shmemi_gpu_start(void)
{
    if (shmemi_gpu.bytes == 0) return 0;
    shmemi_state.gpu       = true;
    shmemi_state.gpu_bytes = shmemi_gpu.bytes;
    report_heap();
    shmemi_gpu_enter();
    shmemi_gpu_amo_open();
    shmemi_gpu_leave();
    return 0;
}

int shmemi_gpu_serve(void)
{
    return shmemi_gpu.bytes > 0 ? shmemi_gpu_stage_start() : 0;
}

void shmemi_gpu_stop(void)
{
    shmemi_gpu_stage_stop();
}

void shmemi_gpu_close(void)
{
    shmemi_gpu_share_close();
    if (shmemi_gpu.cuda && shmemi_gpu.context) {
        shmemi_gpu_enter();
        if (shmemi_gpu.stream) shmemi_gpu.cuda->stream_synchronize(shmemi_gpu.stream);
        if (shmemi_gpu.stream_nbi) shmemi_gpu.cuda->stream_synchronize(shmemi_gpu.stream_nbi);
        shmemi_gpu_amo_close();
        shmemi_gpu_leave();
    }
    release_heap();
    shmemi_gpu_device_close();
    shmemi_state.gpu = false;
}
