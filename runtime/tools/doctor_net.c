/* SPDX-License-Identifier: Apache-2.0
 *
 * The counters of a network interface that its driver keeps, by the same request that ethtool makes.
 */
#include "runtime/tools/doctor.h"

#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

/* "     rx_prio3_pause: 17", as `ethtool -S` prints it. */
static void read_recorded(char *text, doctor_each *each, void *arg)
{
    char *rest = NULL;
    for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
        line += strspn(line, " \t");
        char *colon = strrchr(line, ':');
        if (!colon || !colon[1]) continue;
        *colon = '\0';
        each(arg, line, strtoull(colon + 1, NULL, 10));
    }
}

static bool ask(int fd, const char *interface, void *request)
{
    struct ifreq ifr = {0};
    snprintf(ifr.ifr_name, sizeof ifr.ifr_name, "%s", interface);
    ifr.ifr_data = request;
    return ioctl(fd, SIOCETHTOOL, &ifr) == 0;
}

/* How many counters the driver keeps; 0 if it keeps none. */
static uint32_t statistics_count(int fd, const char *interface)
{
    struct ethtool_drvinfo info = {.cmd = ETHTOOL_GDRVINFO};
    return ask(fd, interface, &info) ? info.n_stats : 0;
}

static bool read_live(int fd, const char *interface, doctor_each *each, void *arg)
{
    uint32_t count = statistics_count(fd, interface);
    if (count == 0 || count > 1 << 16) return false;
    SHMEMI_AUTO_FREE struct ethtool_gstrings *names  = calloc(1, sizeof *names + (size_t)count * ETH_GSTRING_LEN);
    SHMEMI_AUTO_FREE struct ethtool_stats    *values = calloc(1, sizeof *values + (size_t)count * sizeof values->data[0]);
    if (!names || !values) return false;
    names->cmd        = ETHTOOL_GSTRINGS;
    names->string_set = ETH_SS_STATS;
    names->len        = count;
    values->cmd       = ETHTOOL_GSTATS;
    values->n_stats   = count;
    if (!ask(fd, interface, names) || !ask(fd, interface, values)) return false;
    for (uint32_t i = 0; i < count && i < names->len && i < values->n_stats; i++) {
        char name[ETH_GSTRING_LEN + 1] = "";
        memcpy(name, names->data + (size_t)i * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
        each(arg, name, values->data[i]);
    }
    return true;
}

bool doctor_net_statistics(const struct doctor *doctor, const char *interface, doctor_each *each, void *arg)
{
    if (doctor->root[0]) {
        SHMEMI_AUTO_FREE char *text = doctor_read_text(doctor, "/ethtool/%s", interface);
        if (text) read_recorded(text, each, arg);
        return text != NULL;
    }
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0) return false;
    bool there = read_live(fd, interface, each, arg);
    close(fd);
    return there;
}
