/* SPDX-License-Identifier: Apache-2.0
 *
 * Promises of the control plane, and what is refused.
 */
#include "tests/transport/harness.h"

#include <dirent.h>

static void traits_are_usable(struct pe *pe)
{
    const struct shmemt_traits *traits = &pe->tp->traits;
    struct shmemt_traits        probed = {0};
    EXPECT_EQ(pe, pe->ops->probe(&pe->job, &probed), 0);
    EXPECT_EQ(pe, probed.caps, traits->caps);
    EXPECT(pe, traits->caps & (SHMEMT_CAP_MAP_HOST | SHMEMT_CAP_MAP_GPU | SHMEMT_CAP_POSTED));
    if (traits->caps & SHMEMT_CAP_POSTED) {
        EXPECT(pe, traits->bytes_max >= 8);
        EXPECT(pe, traits->pieces_max >= 1);
    }
    EXPECT(pe, memchr(traits->detail, '\0', sizeof traits->detail) != NULL);
    EXPECT(pe, pe->tp->ops != NULL && strcmp(pe->tp->ops->name, pe->ops->name) == 0);
}

/* What a process holds: open files and threads. */
static int count_entries(const char *folder)
{
    int  count = 0;
    DIR *dir   = opendir(folder);
    while (dir && readdir(dir)) count++;
    if (dir) closedir(dir);
    return count;
}

/* Exact under AddressSanitizer, where the leak detector overlooks what libfabric loses; the C library's own count includes its caches. */
static size_t count_allocated_bytes(void)
{
#if defined(__SANITIZE_ADDRESS__)
    size_t __sanitizer_get_current_allocated_bytes(void); /* its header does not come with every compiler */
    return __sanitizer_get_current_allocated_bytes();
#else
    return 0;
#endif
}

static void open_and_close(struct pe *pe)
{
    struct shmemt     *tp  = NULL;
    struct shmemt_ctx *ctx = NULL;
    EXPECT_EQ(pe, pe->ops->open(&pe->job, &tp), 0);
    if (!tp) return;
    EXPECT_EQ(pe, pe->ops->ctx_open(tp, 0, &ctx), 0);
    pe->ops->ctx_close(ctx);
    pe->ops->close(tp);
}

static void close_leaves_no_thread_no_file_and_no_memory(struct pe *pe)
{
    /* Bytes that a round may differ by: what libraries and other PEs keep meanwhile. What a transport allocates is more. */
    enum { ROUNDS = 20, SLACK = 64 };
    harness_barrier(pe); /* with PEs as threads, one counts for all, while the others wait */
    if (pe->me == 0) {
        int files = count_entries("/proc/self/fd"), threads = count_entries("/proc/self/task");
        for (int i = 0; i < ROUNDS; i++) open_and_close(pe); /* what is allocated once */
        size_t before = count_allocated_bytes();
        for (int i = 0; i < ROUNDS; i++) open_and_close(pe);
        size_t after = count_allocated_bytes();
        EXPECT(pe, after <= before + (size_t)ROUNDS * SLACK);
        EXPECT_EQ(pe, count_entries("/proc/self/fd"), files);
        /* A thread that was joined may be listed for a moment longer. */
        WAIT_UNTIL(pe, NULL, count_entries("/proc/self/task") == threads);
    }
    harness_barrier(pe);
    pe->ops->close(NULL);
    pe->ops->ctx_close(NULL);
}

static void many_contexts_work_side_by_side(struct pe *pe)
{
    enum { CONTEXTS = 16 };
    struct shmemt_ctx *ctx[CONTEXTS];
    uint64_t           source[CONTEXTS], expected;
    for (uint64_t i = 0; i < CONTEXTS; i++) {
        ctx[i]    = harness_open_ctx(pe);
        source[i] = 100 * i + (uint64_t)pe->me;
    }
    for (uint64_t i = 0; i < CONTEXTS && !pe->failed; i++) harness_put_bytes(pe, ctx[i], pe->next, i * 8, &source[i], 8);
    for (uint64_t i = 0; i < CONTEXTS; i++) harness_close_ctx(pe, ctx[i]);
    harness_barrier(pe);
    for (uint64_t i = 0; i < CONTEXTS; i++) {
        expected = 100 * i + (uint64_t)pe->previous;
        EXPECT_SAME(pe, harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP) + i * 8, &expected, 8);
    }
}

/* One context is filled until it takes no more (or for a while), and then left alone: the other does not notice. */
static void a_full_context_does_not_stop_another(struct pe *pe)
{
    struct shmemt_ctx *other = harness_open_ctx(pe);
    static char        source[64];
    uint64_t           value = 11;
    for (int i = 0, refused = 0; i < 500 && refused < 50; i++) {
        const struct shmemt_xfer xfer = {
            .segment       = SHMEMT_SEGMENT_HEAP,
            .local         = source,
            .remote_offset = 4096,
            .bytes         = sizeof source,
            .blocks        = 1,
        };
        int err = pe->ops->put(pe->ctx, pe->next, &xfer);
        EXPECT(pe, err == 0 || err == -EAGAIN);
        refused += err == -EAGAIN;
    }
    for (int i = 0; i < 20 && other; i++) {
        harness_put_bytes(pe, other, pe->next, 8, &value, 8);
        harness_quiet_all(pe, other);
    }
    harness_barrier(pe);
    EXPECT_EQ(pe, harness_read(harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP) + 8), 11);
    harness_quiet_all(pe, pe->ctx);
    harness_close_ctx(pe, other);
}

static void a_segment_of_zero_bytes_takes_nothing(struct pe *pe)
{
    uint64_t                 value = 1;
    const struct shmemt_xfer xfer  = {.segment = EMPTY, .local = &value, .bytes = 8, .blocks = 1};
    int                      err   = harness_put(pe, pe->ctx, pe->next, &xfer);
    EXPECT(pe, err == -ENXIO || err == -ERANGE);
}

static void a_forgotten_segment_takes_nothing(struct pe *pe)
{
    const struct shmemt_key  none  = {0};
    uint64_t                 value = 1;
    const struct shmemt_xfer xfer  = {.segment = SHMEMT_SEGMENT_DATA, .local = &value, .bytes = 8, .blocks = 1};
    EXPECT_EQ(pe, pe->ops->import_region(pe->tp, pe->next, SHMEMT_SEGMENT_DATA, &none), 0);
    EXPECT_EQ(pe, harness_put(pe, pe->ctx, pe->next, &xfer), -ENXIO);
    EXPECT(pe, pe->ops->map(pe->tp, pe->next, SHMEMT_SEGMENT_DATA) == NULL);
    harness_put_bytes(pe, pe->ctx, pe->next, 0, &value, 8); /* the heap is still there */
    harness_quiet_all(pe, pe->ctx);
}

static void what_lies_outside_the_segment_is_refused(struct pe *pe)
{
    static const uint64_t offsets[] = {HEAP_BYTES, HEAP_BYTES - 7, HEAP_BYTES + 4096, UINT64_MAX, UINT64_MAX - 7};
    uint64_t              value     = 1;
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        const struct shmemt_xfer xfer = {
            .segment       = SHMEMT_SEGMENT_HEAP,
            .local         = &value,
            .remote_offset = offsets[i],
            .bytes         = 8,
            .blocks        = 1,
        };
        EXPECT_EQ(pe, harness_put(pe, pe->ctx, pe->next, &xfer), -ERANGE);
        EXPECT_EQ(pe, harness_get(pe, pe->ctx, pe->next, &xfer), -ERANGE);
    }
    const struct shmemt_amo amo = {.segment = SHMEMT_SEGMENT_HEAP, .remote_offset = HEAP_BYTES, .op = SHMEMT_AMO_ADD, .bytes = 8};
    EXPECT_EQ(pe, harness_amo(pe, pe->ctx, pe->next, &amo), -ERANGE);
}

/* A put_signal with a bad signal has not put. */
static void what_is_refused_has_not_happened(struct pe *pe)
{
    uint64_t                 value  = 1;
    _Atomic uint32_t         done   = 0;
    const struct shmemt_xfer xfer   = {.segment = SHMEMT_SEGMENT_HEAP, .local = &value, .bytes = 8, .blocks = 1, .done = &done};
    const struct shmemt_amo  signal = {
         .segment       = SHMEMT_SEGMENT_HEAP,
         .remote_offset = HEAP_BYTES,
         .op            = SHMEMT_AMO_SET,
         .bytes         = 8,
         .value         = 1,
    };
    struct patience patience = {0};
    int             err;
    while ((err = pe->ops->put_signal(pe->ctx, pe->next, &xfer, &signal)) == -EAGAIN &&
           harness_wait(pe, &patience, pe->ctx, __FILE__, __LINE__, "put_signal"))
        ;
    EXPECT(pe, err == -ERANGE || err == -ENOSYS);
    harness_quiet_all(pe, pe->ctx);
    harness_barrier(pe);
    EXPECT_EQ(pe, atomic_load(&done), 0);
    EXPECT_EQ(pe, harness_read(harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP)), 0x5a5a5a5a5a5a5a5a);
}

static void more_than_the_traits_allow_is_refused(struct pe *pe)
{
    const struct shmemt_traits *traits    = &pe->tp->traits;
    char                        source[8] = {0};
    if (traits->copy_bytes_max < HEAP_BYTES) {
        const struct shmemt_xfer xfer = {
            .segment = SHMEMT_SEGMENT_HEAP,
            .flags   = SHMEMT_XFER_COPY,
            .local   = harness_memory(pe, pe->me, SHMEMT_SEGMENT_DATA),
            .bytes   = traits->copy_bytes_max + 1,
            .blocks  = 1,
        };
        EXPECT_EQ(pe, harness_put(pe, pe->ctx, pe->next, &xfer), -EINVAL);
    }
    if (traits->bytes_max < HEAP_BYTES) {
        const struct shmemt_xfer xfer = {
            .segment = SHMEMT_SEGMENT_HEAP,
            .local   = harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP),
            .bytes   = traits->bytes_max + 1,
            .blocks  = 1,
        };
        EXPECT_EQ(pe, harness_put(pe, pe->ctx, pe->next, &xfer), -EINVAL);
    }
    if (traits->pieces_max < HEAP_BYTES) {
        const struct shmemt_xfer xfer = {
            .segment       = SHMEMT_SEGMENT_HEAP,
            .local         = source,
            .bytes         = 1,
            .blocks        = traits->pieces_max + 1,
            .remote_stride = 1,
        };
        EXPECT_EQ(pe, harness_put(pe, pe->ctx, pe->next, &xfer), -EINVAL);
    }
    const struct shmemt_amo unaligned = {.segment = SHMEMT_SEGMENT_HEAP, .remote_offset = 4, .op = SHMEMT_AMO_ADD, .bytes = 8};
    const struct shmemt_amo narrow    = {.segment = SHMEMT_SEGMENT_HEAP, .op = SHMEMT_AMO_ADD, .bytes = 2};
    EXPECT_EQ(pe, harness_amo(pe, pe->ctx, pe->next, &unaligned), -EINVAL);
    EXPECT_EQ(pe, harness_amo(pe, pe->ctx, pe->next, &narrow), -EINVAL);
}

static void an_unreachable_pe_or_segment_is_refused(struct pe *pe)
{
    uint64_t                 value = 1;
    const struct shmemt_xfer xfer  = {.segment = SHMEMT_SEGMENT_GPU, .local = &value, .bytes = 8, .blocks = 1};
    const struct shmemt_xfer heap  = {.segment = SHMEMT_SEGMENT_HEAP, .local = &value, .bytes = 8, .blocks = 1};
    EXPECT_EQ(pe, harness_put(pe, pe->ctx, pe->next, &xfer), -ENXIO);
    EXPECT_EQ(pe, harness_put(pe, pe->ctx, pe->npes, &heap), -ENXIO);
}

/* PE 0 loses the last PE with operations under way; it goes on with the others, and nothing waits for ever. */
static void a_lost_pe_is_left_behind_and_the_others_go_on(struct pe *pe)
{
    int                      lost = pe->npes - 1;
    static char              source[64];
    uint64_t                 value    = 21;
    _Atomic uint32_t         done     = 0;
    uint32_t                 accepted = 0;
    const struct shmemt_xfer xfer     = {
            .segment = SHMEMT_SEGMENT_HEAP,
            .local   = source,
            .bytes   = sizeof source,
            .blocks  = 1,
            .done    = &done,
    };
    if (pe->me == 0) {
        for (int i = 0; i < 20; i++) accepted += pe->ops->put(pe->ctx, lost, &xfer) == 0;
        pe->ops->lose_peer(pe->tp, lost);
        pe->ops->lose_peer(pe->tp, lost);
        EXPECT_EQ(pe, harness_put(pe, pe->ctx, lost, &xfer), -EHOSTDOWN);
        EXPECT_EQ(pe, harness_quiet(pe, pe->ctx, lost), -EHOSTDOWN);
        harness_quiet_all(pe, pe->ctx);
        EXPECT_EQ(pe, atomic_load(&done), accepted);
        harness_put_bytes(pe, pe->ctx, lost == 1 ? 0 : 1, 8192, &value, 8);
        harness_quiet_all(pe, pe->ctx);
    }
    harness_barrier(pe);
    if (pe->me == (lost == 1 ? 0 : 1)) EXPECT_EQ(pe, harness_read(harness_memory(pe, pe->me, SHMEMT_SEGMENT_HEAP) + 8192), 21);
}

static void counters_have_names_and_keep_to_their_room(struct pe *pe)
{
    struct shmemt_counter list[SHMEMT_COUNTERS_MAX + 1], few[2] = {{.value = 5}, {.value = 5}};
    size_t                count = pe->ops->counters(pe->tp, list, SHMEMT_COUNTERS_MAX);
    EXPECT(pe, count < SHMEMT_COUNTERS_MAX); /* at the bound one may have been left out */
    for (size_t i = 0; i < count; i++) {
        EXPECT(pe, list[i].name[0] && list[i].name[strspn(list[i].name, "abcdefghijklmnopqrstuvwxyz0123456789_")] == '\0');
        for (size_t j = 0; j < i; j++) EXPECT(pe, strcmp(list[i].name, list[j].name) != 0);
    }
    EXPECT_EQ(pe, pe->ops->counters(pe->tp, few, 0), 0);
    EXPECT(pe, pe->ops->counters(pe->tp, few, 1) <= 1);
    EXPECT(pe, few[1].name == NULL && few[1].value == 5);
}

static void arm_gives_a_descriptor_or_none(struct pe *pe)
{
    int fd = pe->ops->arm(pe->ctx);
    EXPECT(pe, fd >= -1 || fd == -EAGAIN);
    pe->ops->progress(pe->ctx);
}

const struct check checks_control[] = {
    CHECK_NAMED(traits_are_usable, .caps = 0),
    CHECK_NAMED(close_leaves_no_thread_no_file_and_no_memory, .caps = 0),
    CHECK_NAMED(many_contexts_work_side_by_side, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(a_full_context_does_not_stop_another, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(a_segment_of_zero_bytes_takes_nothing, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(a_forgotten_segment_takes_nothing, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(what_lies_outside_the_segment_is_refused, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO),
    CHECK_NAMED(what_is_refused_has_not_happened, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO),
    CHECK_NAMED(more_than_the_traits_allow_is_refused, .caps = SHMEMT_CAP_POSTED | SHMEMT_CAP_AMO),
    CHECK_NAMED(an_unreachable_pe_or_segment_is_refused, .caps = SHMEMT_CAP_POSTED),
    CHECK_NAMED(a_lost_pe_is_left_behind_and_the_others_go_on, .caps = SHMEMT_CAP_POSTED, .pes_min = 2),
    CHECK_NAMED(counters_have_names_and_keep_to_their_room, .caps = 0),
    CHECK_NAMED(arm_gives_a_descriptor_or_none, .caps = 0),
    {0},
};
