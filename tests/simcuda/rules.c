/* SPDX-License-Identifier: Apache-2.0
 *
 * The driver's rules, asked of libcuda.so.1 as the library opens it. What is asked here a real driver answers the same: on a machine with a GPU
 * this program passes too.
 */
#include "runtime/base/cuda.h"
#include "runtime/base/options.h"

#include "tests/unit/unit.h"

#include <stdatomic.h>
#include <stdint.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct shmemi_cuda *cuda;

#define OK(call) CHECK_EQ_U64((call), SHMEMI_CU_SUCCESS)

static struct shmemi_cu_memory_kind kind = {
    .type = SHMEMI_CU_MEMORY_PINNED, .handle_types = SHMEMI_CU_HANDLE_FD, .location = {SHMEMI_CU_LOCATION_DEVICE, 0}};
static const struct shmemi_cu_access everything = {{SHMEMI_CU_LOCATION_DEVICE, 0}, SHMEMI_CU_ACCESS_READWRITE};

static void copies_and_fills(void)
{
    shmemi_cu_pointer a, b;
    static uint32_t   words[1000], back[1000];
    for (unsigned i = 0; i < 1000; i++) words[i] = i * 7;
    OK(cuda->mem_alloc(&a, sizeof words));
    OK(cuda->mem_alloc(&b, sizeof words));
    OK(cuda->memcpy_htod(a, words, sizeof words));
    OK(cuda->memcpy_dtod(b, a, sizeof words));
    OK(cuda->memcpy_dtoh(back, b, sizeof back));
    CHECK_EQ_I64(memcmp(words, back, sizeof words), 0);
    OK(cuda->memset_d32_async(a, 0x01020304, 1000, NULL));
    OK(cuda->memset_d8(a, 9, 4));
    OK(cuda->memcpy((shmemi_cu_pointer)(uintptr_t)back, a, sizeof back));
    CHECK_EQ_U64(back[0], 0x09090909);
    CHECK_EQ_U64(back[999], 0x01020304);

    /* Every second word of b into the first 500 of a. */
    struct shmemi_cu_copy2d copy = {.source_kind   = SHMEMI_CU_KIND_DEVICE,
                                    .source_device = b,
                                    .source_pitch  = 8,
                                    .dest_kind     = SHMEMI_CU_KIND_DEVICE,
                                    .dest_device   = a,
                                    .dest_pitch    = 4,
                                    .width_bytes   = 4,
                                    .height        = 500};
    OK(cuda->memcpy_2d_async(&copy, NULL));
    OK(cuda->memcpy_dtoh(back, a, sizeof back));
    CHECK_EQ_U64(back[1], 14);
    CHECK_EQ_U64(back[499], 998 * 7);
    OK(cuda->mem_free(a));
    OK(cuda->mem_free(b));
}

static void pointers_are_known(void)
{
    shmemi_cu_pointer device, start;
    void             *host;
    unsigned          of      = 0;
    int               ordinal = 7, local = 0;
    OK(cuda->mem_alloc(&device, 4096));
    OK(cuda->mem_host_alloc(&host, 4096, SHMEMI_CU_HOST_ALLOC_PORTABLE | SHMEMI_CU_HOST_ALLOC_DEVICEMAP));
    OK(cuda->pointer_get_attribute(&of, SHMEMI_CU_POINTER_KIND, device + 100));
    CHECK_EQ_U64(of, SHMEMI_CU_KIND_DEVICE);
    OK(cuda->pointer_get_attribute(&of, SHMEMI_CU_POINTER_KIND, (shmemi_cu_pointer)(uintptr_t)host));
    CHECK_EQ_U64(of, SHMEMI_CU_KIND_HOST);
    CHECK_EQ_U64(cuda->pointer_get_attribute(&of, SHMEMI_CU_POINTER_KIND, (shmemi_cu_pointer)(uintptr_t)&local),
                 SHMEMI_CU_INVALID_VALUE);

    unsigned which[]  = {SHMEMI_CU_POINTER_KIND, SHMEMI_CU_POINTER_ORDINAL, SHMEMI_CU_POINTER_RANGE_START};
    void    *values[] = {&of, &ordinal, &start};
    OK(cuda->pointer_get_attributes(3, which, values, device + 8));
    CHECK_EQ_U64(ordinal, 0);
    CHECK_EQ_U64(start, device);
    OK(cuda->pointer_get_attributes(3, which, values, (shmemi_cu_pointer)(uintptr_t)&local));
    CHECK_EQ_U64(of, 0);

    shmemi_cu_pointer seen;
    OK(cuda->mem_host_get_device_pointer(&seen, host, 0));
    OK(cuda->mem_free_host(host));
    OK(cuda->mem_free(device));
    static char page[8192] __attribute__((aligned(4096)));
    OK(cuda->mem_host_register(page, sizeof page, SHMEMI_CU_HOST_REGISTER_PORTABLE | SHMEMI_CU_HOST_REGISTER_DEVICEMAP));
    CHECK_EQ_U64(cuda->mem_host_register(page, sizeof page, 0), SHMEMI_CU_HOST_MEMORY_ALREADY_REGISTERED);
    OK(cuda->mem_host_get_device_pointer(&seen, page, 0));
    OK(cuda->mem_host_unregister(page));
}

static atomic_int told;

static void tell(void *argument)
{
    atomic_store(&told, *(int *)argument);
}

/* b waits for a word that a writes; the host is told by a function behind both. */
static void streams_wait_for_words_and_events(void)
{
    shmemi_cu_stream  a, b;
    shmemi_cu_event   event;
    shmemi_cu_pointer word;
    uint64_t          value = 0;
    int               say   = 5;
    OK(cuda->stream_create(&a, SHMEMI_CU_STREAM_NON_BLOCKING));
    OK(cuda->stream_create_priority(&b, SHMEMI_CU_STREAM_NON_BLOCKING, 0));
    OK(cuda->event_create(&event, SHMEMI_CU_EVENT_DISABLE_TIMING));
    OK(cuda->event_query(event)); /* never recorded: nothing to wait for */
    OK(cuda->mem_alloc(&word, 4096));
    OK(cuda->memset_d8_async(word, 0, 4096, a));
    OK(cuda->stream_synchronize(a));
    OK(cuda->stream_wait_value64(b, word, 41, SHMEMI_CU_WAIT_GEQ));
    OK(cuda->stream_write_value64(b, word + 8, 42, SHMEMI_CU_WRITE_DEFAULT));
    OK(cuda->event_record(event, b));
    CHECK_EQ_U64(cuda->stream_query(b), SHMEMI_CU_NOT_READY);
    CHECK_EQ_U64(cuda->event_query(event), SHMEMI_CU_NOT_READY);
    OK(cuda->stream_wait_event(a, event, 0));
    OK(cuda->launch_host_func(a, tell, &say));
    shmemi_cu_stream c;
    OK(cuda->stream_create(&c, SHMEMI_CU_STREAM_NON_BLOCKING));
    OK(cuda->stream_write_value64(c, word, 41, SHMEMI_CU_WRITE_DEFAULT));
    OK(cuda->stream_synchronize(a));
    CHECK_EQ_U64(atomic_load(&told), 5);
    OK(cuda->event_synchronize(event));
    OK(cuda->memcpy_dtoh(&value, word + 8, 8));
    CHECK_EQ_U64(value, 42);
    OK(cuda->event_destroy(event));
    OK(cuda->stream_destroy(a));
    OK(cuda->stream_destroy(b));
    OK(cuda->stream_destroy(c));
    OK(cuda->ctx_synchronize());
    OK(cuda->mem_free(word));
}

/* Two allocations side by side in one reservation, as the library's GPU heap has them. */
static void memory_is_mapped_side_by_side(void)
{
    size_t            step;
    shmemi_cu_pointer base;
    shmemi_cu_memory  first, second;
    char              back[8];
    OK(cuda->mem_get_granularity(&step, &kind, SHMEMI_CU_GRANULARITY_MINIMUM));
    OK(cuda->mem_address_reserve(&base, 2 * step, 0, 0, 0));
    OK(cuda->mem_create(&first, step, &kind, 0));
    OK(cuda->mem_create(&second, step, &kind, 0));
    OK(cuda->mem_map(base, step, 0, first, 0));
    OK(cuda->mem_map(base + step, step, 0, second, 0));
    OK(cuda->mem_set_access(base, 2 * step, &everything, 1));
    OK(cuda->mem_release(first)); /* the mapping keeps it */
    OK(cuda->memset_d8_async(base, 3, 2 * step, NULL));
    OK(cuda->memcpy_dtoh(back, base + step - 4, 8)); /* across the seam */
    CHECK_EQ_U64(back[0] + back[7], 6);
    OK(cuda->mem_unmap(base, 2 * step));
    OK(cuda->mem_release(second));
    OK(cuda->mem_address_free(base, 2 * step));
}

/* ---- another process; it is forked before the driver is opened, which survives no fork ---- */

static void send_descriptor(int to, int fd)
{
    char         byte = 0;
    struct iovec part = {&byte, 1};
    union {
        struct cmsghdr head;
        char           room[CMSG_SPACE(sizeof(int))];
    } control             = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
    control.head          = (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
    memcpy(CMSG_DATA(&control.head), &fd, sizeof fd);
    CHECK_EQ_I64(sendmsg(to, &message, 0), 1);
}

static int receive_descriptor(int from)
{
    int          fd = -1;
    char         byte;
    struct iovec part = {&byte, 1};
    union {
        struct cmsghdr head;
        char           room[CMSG_SPACE(sizeof(int))];
    } control             = {0};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = control.room, .msg_controllen = sizeof control.room};
    if (recvmsg(from, &message, 0) == 1) memcpy(&fd, CMSG_DATA(&control.head), sizeof fd);
    return fd;
}

static void open_driver(void)
{
    char              why[300] = "";
    shmemi_cu_context context;
    shmemi_options_load();
    cuda = shmemi_cuda_open(why, sizeof why);
    if (!cuda) {
        printf("skipped: %s\n", why);
        exit(UNIT_SKIPPED);
    }
    OK(cuda->primary_ctx_retain(&context, 0));
    OK(cuda->ctx_push_current(context));
}

static void close_driver(void)
{
    OK(cuda->ctx_pop_current(NULL));
    OK(cuda->primary_ctx_release(0));
}

static shmemi_cu_pointer map_whole(shmemi_cu_memory memory, size_t bytes)
{
    shmemi_cu_pointer place = 0;
    OK(cuda->mem_address_reserve(&place, bytes, 0, 0, 0));
    OK(cuda->mem_map(place, bytes, 0, memory, 0));
    OK(cuda->mem_set_access(place, bytes, &everything, 1));
    OK(cuda->mem_release(memory));
    return place;
}

static void unmap_whole(shmemi_cu_pointer place, size_t bytes)
{
    OK(cuda->ctx_synchronize());
    OK(cuda->mem_unmap(place, bytes));
    OK(cuda->mem_address_free(place, bytes));
}

/* Fills the memory that it is sent. */
static int other_process(int socket)
{
    int fd = receive_descriptor(socket);
    if (fd < 0) return unit_skip("the first process has no driver");
    shmemi_cu_memory memory;
    size_t           step;
    open_driver();
    OK(cuda->mem_get_granularity(&step, &kind, SHMEMI_CU_GRANULARITY_MINIMUM));
    OK(cuda->mem_import(&memory, (void *)(intptr_t)fd, SHMEMI_CU_HANDLE_FD));
    close(fd);
    shmemi_cu_pointer place = map_whole(memory, step);
    OK(cuda->memset_d8(place, 77, step));
    unmap_whole(place, step);
    close_driver();
    return unit_result();
}

static void memory_is_shared_by_descriptor(pid_t other, int socket)
{
    size_t           step;
    shmemi_cu_memory memory;
    int              fd = -1, status = 0;
    char             back = 0;
    OK(cuda->mem_get_granularity(&step, &kind, SHMEMI_CU_GRANULARITY_MINIMUM));
    OK(cuda->mem_create(&memory, step, &kind, 0));
    OK(cuda->mem_export(&fd, memory, SHMEMI_CU_HANDLE_FD, 0));
    shmemi_cu_pointer place = map_whole(memory, step);
    send_descriptor(socket, fd);
    close(fd);
    CHECK_EQ_I64(waitpid(other, &status, 0), other);
    CHECK_EQ_I64(status, 0);
    OK(cuda->memcpy_dtoh(&back, place + step - 1, 1));
    CHECK_EQ_I64(back, 77);
    unmap_whole(place, step);
}

int main(void)
{
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0) return 1;
    pid_t other = fork();
    if (other == 0) {
        close(sockets[0]);
        return other_process(sockets[1]);
    }
    close(sockets[1]);
    open_driver();
    copies_and_fills();
    pointers_are_known();
    streams_wait_for_words_and_events();
    memory_is_mapped_side_by_side();
    memory_is_shared_by_descriptor(other, sockets[0]);
    close_driver();
    return unit_result();
}
