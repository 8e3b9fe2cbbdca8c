/* SPDX-License-Identifier: Apache-2.0
 *
 * The library's counters, for programs and tests that want to know what their waits and puts cost. Three kinds:
 *
 *     of the PE          counted always                                           shmemx_counter("sleeps")
 *     of a transport     counted always, by the transport                         shmemx_counter("ibverbs.doorbells")
 *     of each peer       calls and bytes by operation and path, if POSTERN_STATS   shmemx_peer_counter(3, "put.mapped.bytes")
 *
 * POSTERN_STATS=1 prints them all at the end, as text; POSTERN_STATS=json as one line of JSON for each PE.
 * Tests: tests/api/wait/, tests/api/init/.
 */
#include "runtime/stats.h"

#include "runtime/base/log.h"
#include "runtime/state.h"

#include <inttypes.h>
#include <shmemx.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char *const operations[SHMEMI_COUNTED] = {"put", "get", "atomic", "signal"};
static const char *const paths[SHMEMI_PATHS]        = {"posted", "mapped"};

/* ---- of the PE ---- */

static const struct {
    const char *name, *words;
    size_t      offset;
} own[] = {
    {"sleeps", "sleeps", offsetof(struct shmemi_counters, sleeps)},
    {"wakes", "wake-ups of others", offsetof(struct shmemi_counters, wakes)},
    {"unwoken", "not woken", offsetof(struct shmemi_counters, unwoken)},
    {"posted", "posted", offsetof(struct shmemi_counters, posted_ops)},
    {"retries", "retries", offsetof(struct shmemi_counters, retries)},
};
enum { OWN = sizeof own / sizeof *own };

static uint64_t own_value(size_t i)
{
    const char *counter = (const char *)&shmemi_state.counters + own[i].offset;
    return atomic_load_explicit((const _Atomic uint64_t *)(const void *)counter, memory_order_relaxed);
}

/* ---- of a transport ---- */

static size_t list_transport(size_t transport, struct shmemt_counter list[SHMEMT_COUNTERS_MAX])
{
    struct shmemt *tp = shmemi_state.transports[transport];
    return tp->ops->counters(tp, list, SHMEMT_COUNTERS_MAX);
}

/* "ibverbs.doorbells" */
static int transport_counter(const char *name, uint64_t *value_out)
{
    const char *dot = strchr(name, '.');
    for (size_t i = 0; dot && i < shmemi_state.transport_count; i++) {
        struct shmemt_counter list[SHMEMT_COUNTERS_MAX];
        const char           *transport = shmemi_state.transports[i]->ops->name;
        if (strlen(transport) != (size_t)(dot - name) || strncmp(transport, name, (size_t)(dot - name)) != 0) continue;
        size_t count = list_transport(i, list);
        for (size_t j = 0; j < count; j++) {
            if (strcmp(list[j].name, dot + 1) != 0) continue;
            *value_out = list[j].value;
            return 0;
        }
    }
    return -1;
}

int pshmemx_counter(const char *name, uint64_t *value_out)
{
    if (!name || !value_out) return -1;
    for (size_t i = 0; i < OWN; i++) {
        if (strcmp(name, own[i].name) != 0) continue;
        *value_out = own_value(i);
        return 0;
    }
    return transport_counter(name, value_out);
}
SHMEMI_EXPORT(shmemx_counter)

/* ---- of each peer ---- */

static uint64_t calls_of(int pe, int path, int operation)
{
    return atomic_load_explicit(&shmemi_state.peer_counters[pe].calls[path][operation], memory_order_relaxed);
}

static uint64_t bytes_of(int pe, int path, int operation)
{
    return atomic_load_explicit(&shmemi_state.peer_counters[pe].bytes[path][operation], memory_order_relaxed);
}

/* Does the text begin with this word and a dot? Then it is moved behind both. */
static bool take_word(const char **text, const char *word)
{
    size_t bytes = strlen(word);
    if (strncmp(*text, word, bytes) != 0 || (*text)[bytes] != '.') return false;
    *text += bytes + 1;
    return true;
}

static int take_one_of(const char **text, const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (take_word(text, words[i])) return i;
    return -1;
}

/* OPERATION[.PATH].calls or .bytes */
int pshmemx_peer_counter(int pe, const char *name, uint64_t *value_out)
{
    if (!name || !value_out || !shmemi_state.peer_counters || pe < 0 || pe >= shmemi_state.npes) return -1;
    int      operation = take_one_of(&name, operations, SHMEMI_COUNTED);
    int      path      = take_one_of(&name, paths, SHMEMI_PATHS);
    bool     calls     = strcmp(name, "calls") == 0;
    uint64_t value     = 0;
    if (operation < 0 || (!calls && strcmp(name, "bytes") != 0)) return -1;
    for (int i = 0; i < SHMEMI_PATHS; i++)
        if (path < 0 || path == i) value += calls ? calls_of(pe, i, operation) : bytes_of(pe, i, operation);
    *value_out = value;
    return 0;
}
SHMEMI_EXPORT(shmemx_peer_counter)

void shmemi_stats_start(void)
{
    struct shmemi_state *state = &shmemi_state;
    state->stats               = shmemi_options.stats != SHMEMI_STATS_NO;
    if (!state->stats) return;
    state->peer_counters = calloc((size_t)state->npes, sizeof *state->peer_counters);
    if (!state->peer_counters)
        shmemi_warn("POSTERN_STATS: operations are not counted" WHY "there is no memory for %d PEs" FIX "raise `ulimit -v`",
                    state->npes);
}

void shmemi_stats_stop(void)
{
    free(shmemi_state.peer_counters);
    shmemi_state.peer_counters = NULL;
}

/* ---- printing ---- */

/* Which transport moves what goes this way. */
static const char *transport_name(int pe, int path)
{
    const struct shmemi_peer *peer      = &shmemi_state.peers[pe];
    int                       transport = path == SHMEMI_PATH_MAPPED ? peer->mapped : peer->posted;
    return transport < 0 ? "?" : shmemi_state.transports[transport]->ops->name;
}

static void print_text(FILE *out)
{
    int me = shmemi_state.my_pe;
    for (int pe = 0; pe < shmemi_state.npes; pe++)
        for (int path = SHMEMI_PATHS - 1; path >= 0; path--)
            for (int operation = 0; operation < SHMEMI_COUNTED; operation++)
                if (calls_of(pe, path, operation))
                    fprintf(out, "postern: PE %d: to PE %d over %s: %s %" PRIu64 " calls, %" PRIu64 " bytes\n", me, pe,
                            transport_name(pe, path), operations[operation], calls_of(pe, path, operation),
                            bytes_of(pe, path, operation));
    fprintf(out, "postern: PE %d:", me);
    for (size_t i = 0; i < OWN; i++) fprintf(out, "%s %" PRIu64 " %s", i ? "," : "", own_value(i), own[i].words);
    fputc('\n', out);
    for (size_t i = 0; i < shmemi_state.transport_count; i++) {
        struct shmemt_counter list[SHMEMT_COUNTERS_MAX];
        size_t                count = list_transport(i, list);
        if (count > 0) fprintf(out, "postern: PE %d: %s:", me, shmemi_state.transports[i]->ops->name);
        for (size_t j = 0; j < count; j++) fprintf(out, "%s %s %" PRIu64, j ? "," : "", list[j].name, list[j].value);
        if (count > 0) fputc('\n', out);
    }
}

/* All names are words of ours or of a transport's table: nothing is to be escaped. */
static void print_json(FILE *out)
{
    const char *comma = "";
    fprintf(out, "{\"pe\":%d,\"peers\":[", shmemi_state.my_pe);
    for (int pe = 0; pe < shmemi_state.npes; pe++)
        for (int path = SHMEMI_PATHS - 1; path >= 0; path--)
            for (int operation = 0; operation < SHMEMI_COUNTED; operation++) {
                if (!calls_of(pe, path, operation)) continue;
                fprintf(out,
                        "%s{\"pe\":%d,\"path\":\"%s\",\"transport\":\"%s\",\"operation\":\"%s\",\"calls\":%" PRIu64
                        ",\"bytes\":%" PRIu64 "}",
                        comma, pe, paths[path], transport_name(pe, path), operations[operation], calls_of(pe, path, operation),
                        bytes_of(pe, path, operation));
                comma = ",";
            }
    fprintf(out, "],\"counters\":{");
    for (size_t i = 0; i < OWN; i++) fprintf(out, "%s\"%s\":%" PRIu64, i ? "," : "", own[i].name, own_value(i));
    for (size_t i = 0; i < shmemi_state.transport_count; i++) {
        struct shmemt_counter list[SHMEMT_COUNTERS_MAX];
        size_t                count = list_transport(i, list);
        for (size_t j = 0; j < count; j++)
            fprintf(out, ",\"%s.%s\":%" PRIu64, shmemi_state.transports[i]->ops->name, list[j].name, list[j].value);
    }
    fprintf(out, "}}\n");
}

void shmemi_stats_print(void)
{
    char  *text  = NULL;
    size_t bytes = 0;
    FILE  *out   = shmemi_state.peer_counters ? open_memstream(&text, &bytes) : NULL;
    if (!out) return;
    if (shmemi_options.stats == SHMEMI_STATS_JSON) print_json(out);
    else print_text(out);
    if (fclose(out) == 0)
        for (size_t done = 0; done < bytes;) {
            ssize_t now = write(STDERR_FILENO, text + done, bytes - done);
            if (now <= 0) break;
            done += (size_t)now;
        }
    free(text);
}
