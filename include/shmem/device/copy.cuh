/* SPDX-License-Identifier: Apache-2.0
 *
 * Copies between memory of this PE and mapped memory of another, by all threads of a group.
 *
 * The remote side decides the cut: it is moved in aligned pieces of 16 bytes, because a piece is one transfer on the link; the edges
 * before and behind go in smaller ones.  Where the local side is not aligned alike, its pieces are put together from what lies
 * there: those accesses are local and cached.
 *
 * Nothing is ordered here: who has to fences or releases after the group has met.
 */
#ifndef SHMEMD_COPY_CUH
#define SHMEMD_COPY_CUH

#include "group.cuh"
#include "mem.cuh"

/* clang-format off */
/* Read or write a value of unit bytes, aligned, in any memory of this PE: stack and shared memory of a block as well. */
SHMEMD_FN uint64_t shmemd_local_read(const void *from, unsigned unit)
{
    switch (unit) {
    case 1:  { uint8_t v;  memcpy(&v, from, 1); return v; }
    case 2:  { uint16_t v; memcpy(&v, __builtin_assume_aligned(from, 2), 2); return v; }
    case 4:  { uint32_t v; memcpy(&v, __builtin_assume_aligned(from, 4), 4); return v; }
    default: { uint64_t v; memcpy(&v, __builtin_assume_aligned(from, 8), 8); return v; }
    }
}

SHMEMD_FN void shmemd_local_write(void *to, uint64_t value, unsigned unit)
{
    switch (unit) {
    case 1:  { uint8_t v  = (uint8_t)value;  memcpy(to, &v, 1); break; }
    case 2:  { uint16_t v = (uint16_t)value; memcpy(__builtin_assume_aligned(to, 2), &v, 2); break; }
    case 4:  { uint32_t v = (uint32_t)value; memcpy(__builtin_assume_aligned(to, 4), &v, 4); break; }
    default: memcpy(__builtin_assume_aligned(to, 8), &value, 8);
    }
}
/* clang-format on */

/* The biggest piece, up to 8 bytes, that both addresses are aligned for and that is not more than is left. */
SHMEMD_FN unsigned shmemd_copy_unit(const void *a, const void *b, size_t left)
{
    uintptr_t bits = (uintptr_t)a | (uintptr_t)b | 8u;
    unsigned  unit = (unsigned)(bits & (~bits + 1u));

    while (unit > left) unit >>= 1;
    return unit;
}

/* A few bytes, by one thread. */
SHMEMD_FN void shmemd_copy_few_out(char *remote, const char *local, size_t bytes)
{
    while (bytes > 0) {
        unsigned unit = shmemd_copy_unit(remote, local, bytes);

        shmemd_store_relaxed(remote, shmemd_local_read(local, unit), unit);
        remote += unit;
        local += unit;
        bytes -= unit;
    }
}

SHMEMD_FN void shmemd_copy_few_in(char *local, const char *remote, size_t bytes)
{
    while (bytes > 0) {
        unsigned unit = shmemd_copy_unit(remote, local, bytes);

        shmemd_local_write(local, shmemd_load_relaxed(remote, unit), unit);
        remote += unit;
        local += unit;
        bytes -= unit;
    }
}

/* A piece on the local side. */
SHMEMD_FN struct shmemd_vector shmemd_piece_read(const char *from, int aligned)
{
    struct shmemd_vector v;

    if (aligned) memcpy(&v, __builtin_assume_aligned(from, 16), sizeof v);
    else memcpy(&v, from, sizeof v);
    return v;
}

SHMEMD_FN void shmemd_piece_write(char *to, struct shmemd_vector v, int aligned)
{
    if (aligned) memcpy(__builtin_assume_aligned(to, 16), &v, sizeof v);
    else memcpy(to, &v, sizeof v);
}

/*
 * The pieces of a put, dealt out in turn so that neighbouring threads move neighbouring pieces; four in flight for each thread, all
 * read before the first is written.
 */
SHMEMD_FN void shmemd_pieces_out(struct shmemd_group group, char *remote, const char *local, size_t pieces, int aligned)
{
    const size_t         step = group.size;
    size_t               i    = group.rank;
    struct shmemd_vector a, b, c, d;

    for (; i + 3 * step < pieces; i += 4 * step) {
        a = shmemd_piece_read(local + 16 * i, aligned);
        b = shmemd_piece_read(local + 16 * (i + step), aligned);
        c = shmemd_piece_read(local + 16 * (i + 2 * step), aligned);
        d = shmemd_piece_read(local + 16 * (i + 3 * step), aligned);
        shmemd_store_vector(remote + 16 * i, a);
        shmemd_store_vector(remote + 16 * (i + step), b);
        shmemd_store_vector(remote + 16 * (i + 2 * step), c);
        shmemd_store_vector(remote + 16 * (i + 3 * step), d);
    }
    for (; i < pieces; i += step) shmemd_store_vector(remote + 16 * i, shmemd_piece_read(local + 16 * i, aligned));
}

SHMEMD_FN void shmemd_pieces_in(struct shmemd_group group, char *local, const char *remote, size_t pieces, int aligned)
{
    const size_t         step = group.size;
    size_t               i    = group.rank;
    struct shmemd_vector a, b, c, d;

    for (; i + 3 * step < pieces; i += 4 * step) {
        a = shmemd_load_vector(remote + 16 * i);
        b = shmemd_load_vector(remote + 16 * (i + step));
        c = shmemd_load_vector(remote + 16 * (i + 2 * step));
        d = shmemd_load_vector(remote + 16 * (i + 3 * step));
        shmemd_piece_write(local + 16 * i, a, aligned);
        shmemd_piece_write(local + 16 * (i + step), b, aligned);
        shmemd_piece_write(local + 16 * (i + 2 * step), c, aligned);
        shmemd_piece_write(local + 16 * (i + 3 * step), d, aligned);
    }
    for (; i < pieces; i += step) shmemd_piece_write(local + 16 * i, shmemd_load_vector(remote + 16 * i), aligned);
}

/* Bytes before the first aligned piece of the remote side. */
SHMEMD_FN size_t shmemd_copy_head(const char *remote, size_t bytes)
{
    size_t head = (size_t)(-(uintptr_t)remote & 15u);

    return head < bytes ? head : bytes;
}

/* Store bytes at a mapped address.  All threads of the group call it with the same arguments. */
SHMEMD_SLOW void shmemd_copy_out(struct shmemd_group group, char *remote, const char *local, size_t bytes)
{
    size_t head = shmemd_copy_head(remote, bytes), pieces = (bytes - head) / 16, tail = head + 16 * pieces;

    if (group.rank == 0) shmemd_copy_few_out(remote, local, head);
    if (group.rank == group.size - 1) shmemd_copy_few_out(remote + tail, local + tail, bytes - tail);
    if (((uintptr_t)(local + head) & 15u) == 0) shmemd_pieces_out(group, remote + head, local + head, pieces, 1);
    else shmemd_pieces_out(group, remote + head, local + head, pieces, 0);
}

/* Load bytes from a mapped address. */
SHMEMD_SLOW void shmemd_copy_in(struct shmemd_group group, char *local, const char *remote, size_t bytes)
{
    size_t head = shmemd_copy_head(remote, bytes), pieces = (bytes - head) / 16, tail = head + 16 * pieces;

    if (group.rank == 0) shmemd_copy_few_in(local, remote, head);
    if (group.rank == group.size - 1) shmemd_copy_few_in(local + tail, remote + tail, bytes - tail);
    if (((uintptr_t)(local + head) & 15u) == 0) shmemd_pieces_in(group, local + head, remote + head, pieces, 1);
    else shmemd_pieces_in(group, local + head, remote + head, pieces, 0);
}

#endif
