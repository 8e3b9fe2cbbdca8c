/* SPDX-License-Identifier: Apache-2.0
 *
 * The hosts of a job. In a list the entries are separated by commas, in a file by lines:
 *
 *     node1              one slot
 *     node2:4            four
 *     node3 slots=4      the same, as other launchers write it
 *     [fd00::3]:4        an IPv6 address stands in brackets
 *     # and this is a comment
 *
 * A name that comes again adds its slots.
 */
#include "runtime/tools/oshrun_engine.h"

#include "runtime/base/log.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- one entry ----------------------------------------------------------------------------------------------------------- */

struct entry {
    char       *name; /* in the text it was parsed from */
    bool        is_ipv6;
    int         slots;
    const char *wrong; /* what is wrong with it, or NULL */
};

static bool parse_slots(const char *text, int *slots_out)
{
    char *end;
    errno      = 0;
    long slots = strtol(text, &end, 10);
    if (*text < '0' || *text > '9' || *end != '\0' || errno != 0 || slots < 1 || slots > LAUNCH_NPES_MAX) return false;
    *slots_out = (int)slots;
    return true;
}

static bool is_host_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-_";
    return *name != '\0' && *name != '-' && name[strspn(name, letters)] == '\0';
}

/* fd00::3, or with a zone: fe80::3%eth0 */
static bool is_ipv6_address(const char *name)
{
    char            address[INET6_ADDRSTRLEN];
    struct in6_addr binary;
    size_t          length = strcspn(name, "%");
    if (length >= sizeof address || (name[length] == '%' && !is_host_name(name + length + 1))) return false;
    memcpy(address, name, length);
    address[length] = '\0';
    return inet_pton(AF_INET6, address, &binary) == 1;
}

/* The name, which is cut off at its end; *rest_out is what follows it. */
static const char *parse_name(char *text, struct entry *entry, char **rest_out)
{
    if (*text == '[') {
        char *close = strchr(text, ']');
        if (close == NULL) return "the bracket is not closed";
        *close         = '\0';
        entry->name    = text + 1;
        entry->is_ipv6 = true;
        *rest_out      = close + 1;
        return is_ipv6_address(entry->name) ? NULL : "only an IPv6 address stands in brackets";
    }
    if (is_ipv6_address(text)) return "an IPv6 address must stand in brackets: [fd00::1]:2";
    char *colon = strchr(text, ':');
    entry->name = text;
    *rest_out   = colon != NULL ? colon : text + strlen(text);
    if (colon != NULL) *colon = '\0';
    return is_host_name(text) ? NULL : "this is no host name";
}

/* One word: NAME or NAME:N. */
static struct entry parse_host(char *text)
{
    struct entry entry = {.slots = 1};
    char        *rest  = NULL;
    bool         colon = *text != '[' && strchr(text, ':') != NULL;
    entry.wrong        = parse_name(text, &entry, &rest);
    if (entry.wrong != NULL) return entry;
    if (colon || *rest == ':') {
        if (!parse_slots(rest + 1, &entry.slots)) entry.wrong = "after the colon stands the number of slots, 1 to 1048576";
    } else if (*rest != '\0') {
        entry.wrong = "a number of slots is written NAME:2";
    }
    return entry;
}

/* One line of a file, without its comment: HOST, or NAME slots=N. */
static struct entry parse_line(char *line)
{
    static const char blanks[] = " \t\r\n";
    char             *save, *first = strtok_r(line, blanks, &save);
    if (first == NULL) return (struct entry){.name = NULL};
    bool         has_slots = strchr(first, ':') != NULL && (*first != '[' || strstr(first, "]:") != NULL);
    struct entry entry     = parse_host(first);
    for (char *word; entry.wrong == NULL && (word = strtok_r(NULL, blanks, &save)) != NULL; has_slots = true) {
        if (strncmp(word, "slots=", 6) != 0 || has_slots) entry.wrong = "after the name only slots=N may stand, once";
        else if (!parse_slots(word + 6, &entry.slots)) entry.wrong = "slots= takes a number from 1 to 1048576";
    }
    return entry;
}

/* ---- all of them --------------------------------------------------------------------------------------------------------- */

static bool add_host(struct oshrun_hosts *hosts, const struct entry *entry)
{
    if (hosts->slots > LAUNCH_NPES_MAX - entry->slots) return false;
    hosts->slots += entry->slots;
    for (size_t i = 0; i < hosts->count; i++) {
        if (strcmp(hosts->hosts[i].name, entry->name) == 0) {
            hosts->hosts[i].slots += entry->slots;
            return true;
        }
    }
    struct oshrun_host *grown = realloc(hosts->hosts, (hosts->count + 1) * sizeof grown[0]);
    char               *name  = strdup(entry->name);
    if (grown == NULL || name == NULL) exit(OSHRUN_EXIT_FAILED);
    hosts->hosts                 = grown;
    hosts->hosts[hosts->count++] = (struct oshrun_host){.name = name, .is_ipv6 = entry->is_ipv6, .slots = entry->slots};
    return true;
}

static int read_list(const char *given, struct oshrun_hosts *hosts)
{
    char *text = strdup(given);
    if (text == NULL) exit(OSHRUN_EXIT_FAILED);
    int result = 0;
    for (char *next = text, *word; result == 0 && (word = strsep(&next, ",")) != NULL;) {
        char *shown = strdup(word); /* parsing cuts the word up */
        if (shown == NULL) exit(OSHRUN_EXIT_FAILED);
        struct entry entry = parse_host(word);
        if (entry.wrong == NULL && !add_host(hosts, &entry)) entry.wrong = "with it there are more than 1048576 slots";
        if (entry.wrong != NULL) {
            shmemi_error("--hosts: wrong host \"%s\"" WHY "%s" FIX
                         "write names with commas between, each perhaps with its slots: a,b:2; or the name of a file",
                         shown, entry.wrong);
            result = OSHRUN_EXIT_USAGE;
        }
        free(shown);
    }
    free(text);
    return result;
}

static int read_lines(FILE *file, const char *path, struct oshrun_hosts *hosts)
{
    char  *line   = NULL;
    size_t room   = 0;
    int    result = 0;
    for (int number = 1; result == 0 && getline(&line, &room, file) >= 0; number++) {
        line[strcspn(line, "#\n")] = '\0';
        char *shown                = strdup(line);
        if (shown == NULL) exit(OSHRUN_EXIT_FAILED);
        struct entry entry = parse_line(line);
        if (entry.wrong == NULL && entry.name != NULL && !add_host(hosts, &entry)) {
            entry.wrong = "with it there are more than 1048576 slots";
        }
        if (entry.wrong != NULL) {
            shmemi_error("--hosts: %s, line %d: wrong host \"%s\"" WHY "%s" FIX
                         "write one host a line: NAME, NAME:2 or NAME slots=2; # begins a comment",
                         path, number, shown, entry.wrong);
            result = OSHRUN_EXIT_USAGE;
        }
        free(shown);
    }
    free(line);
    if (result == 0 && hosts->count == 0) {
        shmemi_error("--hosts: %s names no host" FIX "write one host a line: NAME, NAME:2 or NAME slots=2", path);
        result = OSHRUN_EXIT_USAGE;
    }
    return result;
}

static int read_file(const char *path, struct oshrun_hosts *hosts)
{
    struct stat status;
    FILE       *file = fopen(path, "re");
    int         err  = file == NULL ? errno : fstat(fileno(file), &status) < 0 ? errno : S_ISDIR(status.st_mode) ? EISDIR : 0;
    if (err) {
        shmemi_error("--hosts: could not read \"%s\": %s" FIX "name a file, or hosts with commas between: a,b:2", path,
                     strerror(err));
        if (file != NULL) fclose(file);
        return OSHRUN_EXIT_USAGE;
    }
    int result = read_lines(file, path, hosts);
    fclose(file);
    return result;
}

int oshrun_engine_hosts_read(const char *given, struct oshrun_hosts *hosts_out)
{
    struct oshrun_hosts hosts = {.hosts = NULL};
    /* A slash is in no host name. A file of that name goes before a host of that name: ./ or a comma tell them apart. */
    bool is_file = strchr(given, '/') != NULL || access(given, F_OK) == 0;
    int  result  = is_file ? read_file(given, &hosts) : read_list(given, &hosts);
    *hosts_out   = hosts; /* also what was read before an error: it stays reachable */
    return result;
}

/* ---- this machine -------------------------------------------------------------------------------------------------------- */

/* Is it an address of one of our interfaces? */
static bool is_our_address(const char *name)
{
    struct ifaddrs *all   = NULL;
    bool            found = false;
    if (getifaddrs(&all) < 0) return false;
    for (const struct ifaddrs *one = all; one != NULL && !found; one = one->ifa_next) {
        char        text[INET6_ADDRSTRLEN] = "";
        const void *address                = NULL;
        if (one->ifa_addr == NULL) continue;
        if (one->ifa_addr->sa_family == AF_INET) address = &((const struct sockaddr_in *)(const void *)one->ifa_addr)->sin_addr;
        if (one->ifa_addr->sa_family == AF_INET6) address = &((const struct sockaddr_in6 *)(const void *)one->ifa_addr)->sin6_addr;
        if (address != NULL && inet_ntop(one->ifa_addr->sa_family, address, text, sizeof text) != NULL) {
            size_t length = strlen(text);
            found         = strncmp(text, name, length) == 0 && (name[length] == '\0' || name[length] == '%');
        }
    }
    freeifaddrs(all);
    return found;
}

/* By name or address, without asking a name service: what is not plainly this machine is another one. */
static bool is_here(const char *name)
{
    char own[HOST_NAME_MAX + 1] = "";
    gethostname(own, sizeof own - 1);
    size_t own_short = strcspn(own, ".");
    if (strcmp(name, "localhost") == 0 || strcmp(name, own) == 0) return true;
    if (strncmp(name, own, own_short) == 0 && name[own_short] == '\0' && own_short > 0) return true;
    return is_our_address(name);
}

bool oshrun_engine_hosts_are_here(const struct oshrun_hosts *hosts)
{
    for (size_t i = 0; i < hosts->count; i++) {
        if (!is_here(hosts->hosts[i].name)) return false;
    }
    return hosts->count > 0;
}
