/* SPDX-License-Identifier: Apache-2.0
 *
 * Which priorities of an interface are free of loss: PFC as the kernel's DCB interface tells it, by the same request that `dcb pfc show` makes.
 */
#include "runtime/tools/doctor.h"

#include <linux/dcbnl.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

enum { PRIORITIES = 8 };

/* "prio-pfc 0:off 1:off 2:off 3:on ...", of `dcb pfc show dev INTERFACE` */
static bool read_recorded(const char *text, unsigned *enabled_out)
{
    const char *at = strstr(text, "prio-pfc");
    *enabled_out   = 0;
    for (int i = 0; at && i < PRIORITIES; i++) {
        char want[8];
        snprintf(want, sizeof want, "%d:on", i);
        if (strstr(at, want)) *enabled_out |= 1u << i;
    }
    return at != NULL;
}

struct request {
    struct nlmsghdr header;
    struct dcbmsg   message;
    struct rtattr   attribute;
    char            interface[IFNAMSIZ];
};

static struct request make_request(const char *interface)
{
    struct request request = {
        .header    = {.nlmsg_len = sizeof request, .nlmsg_type = RTM_GETDCB, .nlmsg_flags = NLM_F_REQUEST},
        .message   = {.dcb_family = AF_UNSPEC, .cmd = DCB_CMD_IEEE_GET},
        .attribute = {.rta_len = RTA_LENGTH(IFNAMSIZ), .rta_type = DCB_ATTR_IFNAME},
    };
    snprintf(request.interface, sizeof request.interface, "%s", interface);
    return request;
}

/* The attribute of this type among some, or NULL. */
static struct rtattr *find(struct rtattr *attribute, unsigned bytes, unsigned short type)
{
    for (; RTA_OK(attribute, bytes); attribute = RTA_NEXT(attribute, bytes))
        if ((attribute->rta_type & NLA_TYPE_MASK) == type) return attribute;
    return NULL;
}

static bool read_answer(char *answer, unsigned bytes, unsigned *enabled_out)
{
    struct nlmsghdr *header = (struct nlmsghdr *)(void *)answer;
    if (!NLMSG_OK(header, bytes) || header->nlmsg_type != RTM_GETDCB || header->nlmsg_len < NLMSG_LENGTH(sizeof(struct dcbmsg)))
        return false;
    struct rtattr *all  = (struct rtattr *)(void *)((char *)NLMSG_DATA(header) + NLMSG_ALIGN(sizeof(struct dcbmsg)));
    struct rtattr *ieee = find(all, (unsigned)(header->nlmsg_len - NLMSG_LENGTH(sizeof(struct dcbmsg))), DCB_ATTR_IEEE);
    struct rtattr *pfc  = ieee ? find(RTA_DATA(ieee), (unsigned)RTA_PAYLOAD(ieee), DCB_ATTR_IEEE_PFC) : NULL;
    if (!pfc || RTA_PAYLOAD(pfc) < sizeof(struct ieee_pfc)) return false;
    struct ieee_pfc told;
    memcpy(&told, RTA_DATA(pfc), sizeof told);
    *enabled_out = told.pfc_en;
    return true;
}

static bool ask_live(const char *interface, unsigned *enabled_out)
{
    _Alignas(struct nlmsghdr) char answer[8192];
    struct request                 request = make_request(interface);
    int                            fd      = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (fd < 0) return false;
    const struct timeval second = {.tv_sec = 1};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &second, sizeof second);
    ssize_t got = send(fd, &request, sizeof request, 0) < 0 ? -1 : recv(fd, answer, sizeof answer, 0);
    close(fd);
    return got > 0 && read_answer(answer, (unsigned)got, enabled_out);
}

bool doctor_dcb_pfc(const struct doctor *doctor, const char *interface, unsigned *enabled_out)
{
    *enabled_out = 0;
    if (!doctor->root[0]) return ask_live(interface, enabled_out);
    SHMEMI_AUTO_FREE char *text = doctor_read_text(doctor, "/dcb/%s", interface);
    return text && read_recorded(text, enabled_out);
}

/* ---- the look ---- */

static void list_priorities(unsigned enabled, char text_out[3 * PRIORITIES])
{
    size_t used = 0;
    text_out[0] = '\0';
    for (int i = 0; i < PRIORITIES; i++)
        if (enabled >> i & 1) used += (size_t)sprintf(text_out + used, "%s%d", used ? ", " : "", i);
}

void doctor_look_priorities(struct doctor *doctor, const char *object, const char *interface, bool ecn_is_off)
{
    char     priorities[3 * PRIORITIES];
    unsigned enabled;
    if (!doctor_dcb_pfc(doctor, interface, &enabled)) {
        doctor_find(doctor, DOCTOR_OK, "port-priority", object, "the driver of %s does not tell which priorities have PFC",
                    interface);
        return;
    }
    list_priorities(enabled, priorities);
    if (enabled) {
        doctor_find(doctor, DOCTOR_OK, "port-priority", object,
                    "PFC on priority %s; jobs use it with POSTERN_IB_SL, or POSTERN_IB_TRAFFIC_CLASS where switches go by DSCP",
                    priorities);
    } else if (!ecn_is_off) {
        doctor_find(doctor, DOCTOR_OK, "port-priority", object,
                    "PFC on no priority: only congestion control keeps packets from being dropped");
    } else {
        doctor_find(doctor, DOCTOR_DEGRADED, "port-priority", object,
                    "PFC on no priority of %s, and congestion control is off" WHY
                    "where many send to one, packets are dropped, and all that followed them is sent again" FIX
                    "dcb pfc set dev %s prio-pfc 3:on, the same at the switch, and start jobs with POSTERN_IB_SL=3 or "
                    "POSTERN_IB_TRAFFIC_CLASS=106",
                    interface, interface);
    }
}
