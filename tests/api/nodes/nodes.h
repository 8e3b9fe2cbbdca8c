/* SPDX-License-Identifier: Apache-2.0
 *
 * For tests over pretend nodes: which PE is where, read from POSTERN_NODE here a second time, so that the library's reading is checked.
 *
 * A layout such as "a:2,b" puts PEs 0 and 1 on node a, PE 2 on node b, PEs 3 and 4 on node a again, and so on. A PE is near if it is on
 * this PE's node (its memory is mapped, operations are loads and stores), else far (a transport carries operations to it).
 */
#ifndef POSTERN_TESTS_API_NODES_H
#define POSTERN_TESTS_API_NODES_H

#include "../api.h"

enum { NODES_LABEL_MAX = 32, NODES_PES_MAX = 64 };

static inline void nodes_label(int pe, char label_out[NODES_LABEL_MAX])
{
    const char *layout = getenv("POSTERN_NODE");
    for (const char *at = layout;;) {
        size_t length = strcspn(at, ",:");
        int    count  = at[length] == ':' ? atoi(at + length + 1) : 1;
        if (pe < count) {
            snprintf(label_out, NODES_LABEL_MAX, "%.*s", (int)length, at);
            return;
        }
        pe -= count;
        at += strcspn(at, ",");
        at = *at ? at + 1 : layout;
    }
}

static inline bool nodes_same(int a, int b)
{
    char one[NODES_LABEL_MAX], other[NODES_LABEL_MAX];
    nodes_label(a, one);
    nodes_label(b, other);
    return strcmp(one, other) == 0;
}

static inline bool nodes_near(int pe)
{
    return nodes_same(pe, shmem_my_pe());
}

/* The PEs of this one's node, in order of number; how many. */
static inline int nodes_list_near(int list_out[NODES_PES_MAX])
{
    int count = 0;
    for (int pe = 0; pe < shmem_n_pes(); pe++)
        if (nodes_near(pe)) list_out[count++] = pe;
    return count;
}

#endif
