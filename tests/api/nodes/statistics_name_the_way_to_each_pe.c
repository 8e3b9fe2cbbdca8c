/* SPDX-License-Identifier: Apache-2.0
 *
 * POSTERN_STATS=json counts what was done for each PE and says by which path and transport: a near one by shm, a far one by another.
 * Each PE prints one line, an object of JSON.
 * Spec: none; the standard knows no statistics
 * ENV: POSTERN_STATS=json
 * NODES: a:2,b
 * PES: 3
 * OUTPUT: {"pe":0,"peers":.{"pe":0,"path":"mapped","transport":"shm","operation":"put","calls":2,"bytes":80}
 * OUTPUT: ,{"pe":1,"path":"mapped","transport":"shm","operation":"put","calls":2,"bytes":80},
 * OUTPUT: ,{"pe":2,"path":"posted","transport":"(chaos|libfabric|ibverbs)","operation":"put","calls":2,"bytes":80}.,"counters":
 * OUTPUT: "counters":{"sleeps":.*,"wakes":.*,.*}}
 */
#include "nodes.h"

#include <shmemx.h>

static long words[5];

int main(void)
{
    shmem_init();
    static const long values[5] = {1, 2, 3, 4, 5};
    for (int pe = 0; pe < shmem_n_pes(); pe++) {
        shmem_long_put(words, values, 5, pe);
        shmem_long_put_nbi(words, values, 5, pe);
    }
    uint64_t far = 0, near = 9;
    CHECK_EQUAL(shmemx_peer_counter(2 - shmem_my_pe(), "put.posted.calls", &far), 0);
    CHECK_EQUAL(shmemx_peer_counter(shmem_my_pe(), "put.posted.bytes", &near), 0);
    CHECK_EQUAL(far, shmem_my_pe() == 1 ? 0 : 2);
    CHECK_EQUAL(near, 0);
    shmem_finalize();
    return api_result();
}
