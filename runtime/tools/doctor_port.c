/* SPDX-License-Identifier: Apache-2.0
 *
 * One port of an RDMA device: is it up, how fast, which packets, by which address, and do packets arrive.
 */
#include "runtime/tools/doctor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct port {
    struct doctor            *doctor;
    const struct doctor_rdma *device;
    const char               *number;
    char                      object[2 * DOCTOR_NAME_MAX]; /* mlx5_0/1 */
    char                      folder[256];                 /* /sys/class/infiniband/mlx5_0/ports/1 */
    bool                      ethernet;                    /* RoCE, not InfiniBand */
    char                      interface[DOCTOR_NAME_MAX];  /* its network interface, "" if none is seen */
};

/* ---- state and rate ---- */

/* "4: ACTIVE" */
static bool is_active(const struct doctor *doctor, const char *device, const char *number)
{
    char state[32];
    return doctor_read_line(doctor, state, sizeof state, "/sys/class/infiniband/%s/ports/%s/state", device, number) &&
           strstr(state, "ACTIVE");
}

static bool any_active(const struct doctor *doctor)
{
    DOCTOR_AUTO_LIST struct doctor_names devices = {0};
    doctor_list(doctor, &devices, "/sys/class/infiniband");
    for (size_t i = 0; i < devices.count; i++) {
        DOCTOR_AUTO_LIST struct doctor_names ports = {0};
        doctor_list(doctor, &ports, "/sys/class/infiniband/%s/ports", devices.name[i]);
        for (size_t p = 0; p < ports.count; p++) {
            if (is_active(doctor, devices.name[i], ports.name[p])) return true;
        }
    }
    return false;
}

/* Beside a port that works, one that does not is often one that nobody has plugged a cable into. */
static void port_is_down(const struct port *port)
{
    char              state[32], physical[32];
    bool              others = any_active(port->doctor);
    enum doctor_state worth  = others ? DOCTOR_DEGRADED : DOCTOR_MISSING;
    const char       *why    = others ? "PEs have the other ports only" : "no PE can use RDMA";
    doctor_read_line(port->doctor, state, sizeof state, "%s/state", port->folder);
    doctor_read_line(port->doctor, physical, sizeof physical, "%s/phys_state", port->folder);
    if (!port->ethernet && strstr(state, "INIT")) {
        doctor_find(port->doctor, worth, "port-state", port->object,
                    "the link is up, but the subnet manager has not made it active" WHY "%s" FIX
                    "systemctl start opensm on one machine of the fabric, or look at the switch that runs the subnet manager",
                    why);
    } else if (strstr(physical, "Disabled") && port->interface[0]) {
        doctor_find(port->doctor, worth, "port-state", port->object, "the port is turned off (%s)" WHY "%s" FIX "ip link set %s up",
                    physical, why, port->interface);
    } else {
        doctor_find(port->doctor, worth, "port-state", port->object,
                    "the port is %s, its link %s" WHY "%s" FIX
                    "plug in its cable and turn on the port of the switch; rdma link show %s tells when it is up",
                    state[0] ? state : "not told", physical[0] ? physical : "not told", why, port->object);
    }
}

static bool look_state(const struct port *port)
{
    bool active = is_active(port->doctor, port->device->name, port->number);
    if (active)
        doctor_find(port->doctor, DOCTOR_OK, "port-state", port->object, "active, %s", port->ethernet ? "Ethernet" : "InfiniBand");
    else port_is_down(port);
    return active;
}

static double rate_of(const struct doctor *doctor, const char *device, const char *number, char *text_out, size_t bytes)
{
    doctor_read_line(doctor, text_out, bytes, "/sys/class/infiniband/%s/ports/%s/rate", device, number);
    return strtod(text_out, NULL);
}

/* The best rate of an active port on a card of the same model: a port below that has a bad cable, or its switch is set otherwise. */
static double best_rate_of_kin(const struct port *port, char *kin_out, size_t bytes)
{
    double                               best = 0;
    char                                 model[32], text[64];
    DOCTOR_AUTO_LIST struct doctor_names devices = {0};
    if (!doctor_read_line(port->doctor, model, sizeof model, "/sys/class/infiniband/%s/device/device", port->device->name))
        return 0;
    doctor_list(port->doctor, &devices, "/sys/class/infiniband");
    for (size_t i = 0; i < devices.count; i++) {
        DOCTOR_AUTO_LIST struct doctor_names ports = {0};
        doctor_list(port->doctor, &ports, "/sys/class/infiniband/%s/ports", devices.name[i]);
        doctor_read_line(port->doctor, text, sizeof text, "/sys/class/infiniband/%s/device/device", devices.name[i]);
        if (strcmp(text, model) != 0) continue;
        for (size_t p = 0; p < ports.count; p++) {
            if (!is_active(port->doctor, devices.name[i], ports.name[p])) continue;
            double rate = rate_of(port->doctor, devices.name[i], ports.name[p], text, sizeof text);
            if (rate <= best) continue;
            best = rate;
            snprintf(kin_out, bytes, "%s/%s", devices.name[i], ports.name[p]);
        }
    }
    return best;
}

static void look_rate(const struct port *port)
{
    char   text[64], kin[2 * DOCTOR_NAME_MAX] = "";
    double rate = rate_of(port->doctor, port->device->name, port->number, text, sizeof text);
    double best = best_rate_of_kin(port, kin, sizeof kin);
    if (rate >= best) {
        doctor_find(port->doctor, DOCTOR_OK, "port-rate", port->object, "%s", text[0] ? text : "not told");
        return;
    }
    doctor_find(port->doctor, DOCTOR_DEGRADED, "port-rate", port->object,
                "%s, where %s on the same model runs at %g Gb/s" WHY "PEs at this port have %.0f %% of the bandwidth" FIX
                "compare cable, module and switch port: ethtool -m %s; mlxlink -d %s",
                text, kin, best, 100 * rate / best, port->interface[0] ? port->interface : "INTERFACE", port->device->pci.address);
}

/* ---- packets and addresses ---- */

/*
 * The MTU of RDMA packets that fit into an Ethernet frame: the kernel takes off the headers (40 GRH, 8 UDP, 12 BTH, 4 XRC, 28 atomic,
 * 4 ICRC) and takes the largest power of two from 256 to 4096 that is left.
 */
static unsigned path_mtu(uint64_t frame_bytes)
{
    enum { HEADER_BYTES = 96 };
    unsigned mtu = 4096;
    while (mtu >= 256 && mtu + HEADER_BYTES > frame_bytes) mtu /= 2;
    return mtu >= 256 ? mtu : 0;
}

/* The subnet manager sets it; no file tells. */
static void look_infiniband_mtu(const struct port *port)
{
    struct doctor_mtu mtu;
    if (!doctor_verbs_mtu(port->doctor, port->device->name, (unsigned)strtoul(port->number, NULL, 10), &mtu)) return;
    if (mtu.active >= mtu.max) {
        doctor_find(port->doctor, DOCTOR_OK, "port-mtu", port->object, "packets of %u bytes", mtu.active);
        return;
    }
    doctor_find(port->doctor, DOCTOR_DEGRADED, "port-mtu", port->object,
                "packets of %u bytes, where the port takes %u" WHY
                "%g times the packets: less bandwidth, and more work for the card" FIX
                "the subnet manager or the other end of the link allows no more: mtu=5 in opensm's partitions.conf "
                "(Default=0x7fff, ipoib, mtu=5 : ALL=full;), and look at the switch port",
                mtu.active, mtu.max, (double)mtu.max / mtu.active);
}

static void look_mtu(const struct port *port)
{
    uint64_t frame_bytes;
    if (!port->ethernet) {
        look_infiniband_mtu(port);
        return;
    }
    if (!port->interface[0] || !doctor_read_number(port->doctor, &frame_bytes, "/sys/class/net/%s/mtu", port->interface)) return;
    unsigned mtu = path_mtu(frame_bytes);
    if (mtu == 4096) {
        doctor_find(port->doctor, DOCTOR_OK, "port-mtu", port->object, "packets of 4096 bytes (MTU of %s is %" PRIu64 ")",
                    port->interface, frame_bytes);
        return;
    }
    doctor_find(port->doctor, DOCTOR_DEGRADED, "port-mtu", port->object,
                "packets of %u bytes instead of 4096 (MTU of %s is %" PRIu64 ")" WHY
                "%g times the packets: less bandwidth, and more work for the card" FIX
                "ip link set %s mtu 4200, on every machine, after the switches carry such frames",
                mtu, port->interface, frame_bytes, mtu ? 4096.0 / mtu : 0, port->interface);
}

/* In the groups of 4 digits of /sys: fe80:... , and ...:ffff:0a00:0005 for an IPv4 address. */
static bool is_link_local(const char *gid)
{
    return strncmp(gid, "fe80:", 5) == 0;
}

/* "10.0.0.5" of an IPv4 address in a GID, else the GID as it is. */
static void readable_gid(const char *gid, char *text_out, size_t bytes)
{
    static const char mapped[] = "0000:0000:0000:0000:0000:ffff:";
    unsigned          high, low;
    if (strncmp(gid, mapped, sizeof mapped - 1) == 0 && sscanf(gid + sizeof mapped - 1, "%4x:%4x", &high, &low) == 2)
        snprintf(text_out, bytes, "%u.%u.%u.%u", high >> 8, high & 0xff, low >> 8, low & 0xff);
    else snprintf(text_out, bytes, "%s", gid);
}

/* The GID that the transport would take: RoCE v2, an IPv4 address before an IPv6 one before a link-local one. -1: there is none. */
static int best_gid(const struct port *port, char *gid_out, size_t bytes)
{
    int                                  best = -1, best_worth = 0;
    DOCTOR_AUTO_LIST struct doctor_names indices = {0};
    doctor_list(port->doctor, &indices, "%s/gids", port->folder);
    for (size_t i = 0; i < indices.count; i++) {
        char gid[64], type[32];
        /* Reading the type of an empty entry is an error. */
        if (!doctor_read_line(port->doctor, gid, sizeof gid, "%s/gids/%s", port->folder, indices.name[i])) continue;
        if (strspn(gid, "0:") == strlen(gid)) continue;
        if (!doctor_read_line(port->doctor, type, sizeof type, "%s/gid_attrs/types/%s", port->folder, indices.name[i])) continue;
        if (strcmp(type, "RoCE v2") != 0) continue;
        int worth = is_link_local(gid) ? 1 : strstr(gid, ":0000:ffff:") ? 3 : 2;
        if (worth <= best_worth) continue;
        best_worth = worth;
        best       = (int)strtol(indices.name[i], NULL, 10);
        snprintf(gid_out, bytes, "%s", gid);
    }
    return best;
}

static void look_roce_gid(const struct port *port)
{
    char gid[64] = "", readable[64], owner[DOCTOR_NAME_MAX];
    int  index   = best_gid(port, gid, sizeof gid);
    if (index < 0) {
        doctor_find(port->doctor, DOCTOR_MISSING, "port-gid", port->object,
                    "no RoCE v2 address" WHY "no connection can be made over this port" FIX
                    "give its interface an address: ip addr add ADDRESS/PREFIX dev %s",
                    port->interface[0] ? port->interface : "INTERFACE");
        return;
    }
    readable_gid(gid, readable, sizeof readable);
    doctor_read_line(port->doctor, owner, sizeof owner, "%s/gid_attrs/ndevs/%d", port->folder, index);
    if (owner[0] && !doctor_exists(port->doctor, "/sys/class/net/%s", owner)) {
        doctor_find(port->doctor, DOCTOR_MISSING, "port-gid", port->object,
                    "GID %d (%s) belongs to %s, which is in another network namespace" WHY
                    "the kernel refuses connections by that address from here" FIX
                    "start the container with the host's network (docker run --network=host), or move the interface into it",
                    index, readable, owner);
    } else if (is_link_local(gid)) {
        doctor_find(port->doctor, DOCTOR_DEGRADED, "port-gid", port->object,
                    "GID %d is link-local only (%s)" WHY "machines behind a router cannot be reached over this port" FIX
                    "ip addr add ADDRESS/PREFIX dev %s",
                    index, readable, owner[0] ? owner : "INTERFACE");
    } else {
        doctor_find(port->doctor, DOCTOR_OK, "port-gid", port->object, "GID %d, RoCE v2, %s on %s", index, readable,
                    owner[0] ? owner : "an interface that is not told");
    }
}

static void look_lid(const struct port *port)
{
    uint64_t lid;
    if (doctor_read_number(port->doctor, &lid, "%s/lid", port->folder) && lid)
        doctor_find(port->doctor, DOCTOR_OK, "port-gid", port->object, "LID %" PRIu64, lid);
    else
        doctor_find(port->doctor, DOCTOR_MISSING, "port-gid", port->object,
                    "the port has no LID" WHY "no connection can be made over this port" FIX
                    "systemctl restart opensm where the subnet manager runs");
}

/* ---- lost packets ---- */

/* Drivers use names of their own for the same event. */
static const char *const retransmission_names[] = {
    "packet_seq_err", "implied_nak_seq_err", "local_ack_timeout_err", "out_of_sequence", /* mlx5 */
    "to_retransmits", "seq_err_naks_rcvd",   "oos_drop_count",                           /* bnxt_re */
    "tcpRetransSegs",                                                                    /* irdma */
    "rcvd_seq_err",   "out_of_seq_request",  "completer_retry_err",                      /* rxe */
    "retrans_pkts",                                                                      /* efa */
};
static const char *const not_ready_names[] = {"rnr_nak_retry_err", "rnr_naks_rcvd", "rcvd_rnr_err"};
static const char *const gave_up_names[]   = {"req_transport_retries_exceeded", "max_retry_exceeded", "retry_exceeded_err"};
static const char *const packet_names[]    = {"sent_pkts", "rcvd_pkts", "tx_pkts", "rx_pkts"};
static const char *const marked_names[]    = {"np_ecn_marked_roce_packets", "RxECNMrkd", "rx_ecn_marked_pkts"};
static const char *const told_names[]      = {"np_cnp_sent", "cnpSent", "tx_cnp_pkts"};
static const char *const heeded_names[]    = {"rp_cnp_handled", "cnpHandled", "rx_cnp_pkts"};
static const char *const unheeded_names[]  = {"rp_cnp_ignored", "cnpIgnored"};
#define COUNT(names) (sizeof(names) / sizeof((names)[0]))

/* The sum of those of these counters that the device has. */
static uint64_t sum_of(const struct port *port, const struct doctor_names *have, const char *const *names, size_t count)
{
    uint64_t sum = 0, value;
    for (size_t i = 0; i < have->count; i++) {
        for (size_t n = 0; n < count; n++) {
            if (strcasecmp(have->name[i], names[n]) == 0 &&
                doctor_read_number(port->doctor, &value, "%s/hw_counters/%s", port->folder, have->name[i]))
                sum += value;
        }
    }
    return sum;
}

/* One lost packet in a million makes itself felt: it costs the rest of a window, or a timeout. A few are lost when links come up. */
static bool too_many(uint64_t lost, uint64_t packets)
{
    return lost > 10 + packets / 1000000;
}

static void look_loss(const struct port *port, const struct doctor_names *have)
{
    uint64_t sent = 0, received = 0;
    doctor_read_number(port->doctor, &sent, "%s/counters/port_xmit_packets", port->folder);
    doctor_read_number(port->doctor, &received, "%s/counters/port_rcv_packets", port->folder);
    uint64_t packets   = sent + received ? sent + received : sum_of(port, have, packet_names, COUNT(packet_names));
    uint64_t again     = sum_of(port, have, retransmission_names, COUNT(retransmission_names));
    uint64_t not_ready = sum_of(port, have, not_ready_names, COUNT(not_ready_names));
    uint64_t gave_up   = sum_of(port, have, gave_up_names, COUNT(gave_up_names));
    if (!too_many(again, packets) && !gave_up) {
        doctor_find(port->doctor, DOCTOR_OK, "port-loss", port->object,
                    "%" PRIu64 " packets, %" PRIu64 " sequence errors and timeouts, %" PRIu64 " times a receiver was not ready",
                    packets, again, not_ready);
        return;
    }
    doctor_find(port->doctor, DOCTOR_DEGRADED, "port-loss", port->object,
                "%" PRIu64 " sequence errors and timeouts in %" PRIu64 " packets, and %" PRIu64
                " connections given up, since the driver was loaded" WHY
                "each lost packet costs the rest of its window or a timeout; a connection that is given up ends the job" FIX "%s",
                again, packets, gave_up,
                port->ethernet ? "make the network lossless for this traffic: PFC on its priority and ECN, on the switches and by "
                                 "mlnx_qos or dcb here; port-pfc below and the switches' counters show where packets are dropped"
                               : "look for the bad cable: ibqueryerrors; perfquery");
}

/* ---- flow control and congestion ---- */

struct flow {
    uint64_t pauses_in, pauses_out, global_in, global_out, discards, storms, packets;
    bool     told;
};

static bool begins(const char *name, const char *prefix)
{
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

static bool ends(const char *name, const char *suffix)
{
    size_t length = strlen(name), end = strlen(suffix);
    return length >= end && strcmp(name + length - end, suffix) == 0;
}

/* rx_prio3_pause (mlx5), rx_pfc_ena_frames_pri3 (bnxt), rx_priority_3_xoff.nic (ice), rx_discards_phy (mlx5), ... */
static void count_flow(void *arg, const char *name, uint64_t value)
{
    struct flow *flow = arg;
    bool         in   = begins(name, "rx_");
    bool         priority =
        (begins(name + 3, "prio") && (ends(name, "_pause") || strstr(name, "_xoff"))) || begins(name + 3, "pfc_ena_frames_pri");
    if (!in && !begins(name, "tx_")) return;
    if (priority) *(in ? &flow->pauses_in : &flow->pauses_out) += value;
    else if (ends(name, "_global_pause") || ends(name, "_pause_frames")) *(in ? &flow->global_in : &flow->global_out) += value;
    else if (strcmp(name, "rx_discards_phy") == 0 || strcmp(name, "rx_total_discard_pkts") == 0 ||
             strcmp(name, "rx_dropped.nic") == 0)
        flow->discards += value;
    else if (begins(name, "tx_pause_storm_")) flow->storms += value;
    else if (strcmp(name, "rx_packets_phy") == 0 || strcmp(name, "rx_good_frames") == 0) flow->packets += value;
    else return;
    flow->told = true;
}

static void look_flow_control(const struct port *port)
{
    struct flow flow = {0};
    if (!port->ethernet || !port->interface[0]) return;
    doctor_net_statistics(port->doctor, port->interface, count_flow, &flow);
    if (!flow.told) {
        doctor_find(port->doctor, DOCTOR_OK, "port-pfc", port->object, "the driver of %s keeps no counters of it", port->interface);
    } else if (flow.storms) {
        doctor_find(
            port->doctor, DOCTOR_DEGRADED, "port-pfc", port->object,
            "%s sent pauses for too long %" PRIu64 " times" WHY
            "this machine could not take in what came, and held up the whole network" FIX
            "look at rdma-pci-link and c-states here, and at IOMMU and memory bandwidth; ethtool -S %s | grep -E 'pause|stall'",
            port->interface, flow.storms, port->interface);
    } else if (too_many(flow.discards, flow.packets)) {
        doctor_find(port->doctor, DOCTOR_DEGRADED, "port-pfc", port->object,
                    "%s dropped %" PRIu64 " of %" PRIu64 " packets, and paused the switch %" PRIu64 " times" WHY
                    "each dropped packet is sent again, with all that followed it" FIX
                    "turn on PFC for the priority of this traffic, here and at the switch: mlnx_qos -i %s --trust dscp --pfc "
                    "0,0,0,1,0,0,0,0; then start jobs with POSTERN_IB_TRAFFIC_CLASS=106 (DSCP 26, priority 3, ready for ECN)",
                    port->interface, flow.discards, flow.packets, flow.pauses_out + flow.global_out, port->interface);
    } else {
        doctor_find(port->doctor, DOCTOR_OK, "port-pfc", port->object,
                    "pauses by priority: %" PRIu64 " received, %" PRIu64 " sent; global: %" PRIu64 ", %" PRIu64
                    "; dropped: %" PRIu64,
                    flow.pauses_in, flow.pauses_out, flow.global_in, flow.global_out, flow.discards);
    }
}

/* Is congestion control off for all priorities? Only some drivers show the switches. role: np notices marks, rp slows down. */
static bool congestion_control_is_off(const struct port *port, const char *role)
{
    DOCTOR_AUTO_LIST struct doctor_names priorities = {0};
    doctor_list(port->doctor, &priorities, "/sys/class/net/%s/ecn/roce_%s/enable", port->interface, role);
    for (size_t i = 0; i < priorities.count; i++) {
        uint64_t on;
        if (doctor_read_number(port->doctor, &on, "/sys/class/net/%s/ecn/roce_%s/enable/%s", port->interface, role,
                               priorities.name[i]) &&
            on)
            return false;
    }
    return priorities.count > 0;
}

/* The command that turns it on. role: "n" notices marks and tells the sender, "r" slows down when told; "nr" is both. */
static void congestion_fix(const struct port *port, const char *roles, char *fix_out, size_t bytes)
{
    if (!doctor_exists(port->doctor, "/sys/class/net/%s/ecn", port->interface)) {
        snprintf(fix_out, bytes,
                 "by the tool of the card's maker; NVIDIA: mlxconfig -d %s set ROCE_CC_PRIO_MASK_P1=255 ROCE_CC_PRIO_MASK_P2=255, "
                 "then restart",
                 port->device->pci.address);
        return;
    }
    snprintf(fix_out, bytes, "for f in /sys/class/net/%s/ecn/roce_[%s]p/enable/[0-7]; do echo 1 >$f; done", port->interface, roles);
}

static void look_congestion(const struct port *port, const struct doctor_names *have)
{
    char fix[512];
    if (!port->ethernet) return;
    uint64_t marked   = sum_of(port, have, marked_names, COUNT(marked_names));
    uint64_t told     = sum_of(port, have, told_names, COUNT(told_names));
    uint64_t heeded   = sum_of(port, have, heeded_names, COUNT(heeded_names));
    uint64_t unheeded = sum_of(port, have, unheeded_names, COUNT(unheeded_names));
    if (congestion_control_is_off(port, "rp") || unheeded > heeded) {
        congestion_fix(port, "nr", fix, sizeof fix);
        doctor_find(port->doctor, DOCTOR_DEGRADED, "port-ecn", port->object,
                    "congestion control is off: %" PRIu64 " notifications ignored, %" PRIu64 " heeded" WHY
                    "where many send to one, queues grow until packets are paused or dropped" FIX "%s",
                    unheeded, heeded, fix);
    } else if (congestion_control_is_off(port, "np") || (marked && !told)) {
        congestion_fix(port, "n", fix, sizeof fix);
        doctor_find(port->doctor, DOCTOR_DEGRADED, "port-ecn", port->object,
                    "%" PRIu64 " packets came marked for congestion, and %" PRIu64 " notifications were sent" WHY
                    "senders do not slow down, and queues grow until packets are paused or dropped" FIX "%s",
                    marked, told, fix);
    } else {
        doctor_find(port->doctor, DOCTOR_OK, "port-ecn", port->object,
                    "%" PRIu64 " packets came marked, %" PRIu64 " notifications sent, %" PRIu64 " heeded", marked, told, heeded);
    }
}

/* ---- all of it ---- */

/* The interface of a RoCE port: that of its first address; else the only one of the card. */
static void find_interface(struct port *port)
{
    DOCTOR_AUTO_LIST struct doctor_names addresses = {0}, interfaces = {0};
    doctor_list(port->doctor, &addresses, "%s/gid_attrs/ndevs", port->folder);
    doctor_list(port->doctor, &interfaces, "/sys/class/infiniband/%s/device/net", port->device->name);
    for (size_t i = 0; i < addresses.count && !port->interface[0]; i++)
        doctor_read_line(port->doctor, port->interface, sizeof port->interface, "%s/gid_attrs/ndevs/%s", port->folder,
                         addresses.name[i]);
    if (!port->interface[0] && interfaces.count == 1) snprintf(port->interface, sizeof port->interface, "%s", interfaces.name[0]);
    if (port->interface[0] && !doctor_exists(port->doctor, "/sys/class/net/%s", port->interface)) port->interface[0] = '\0';
}

void doctor_look_port(struct doctor *doctor, const struct doctor_rdma *device, const char *number)
{
    struct port port = {.doctor = doctor, .device = device, .number = number};
    char        layer[32];
    snprintf(port.object, sizeof port.object, "%s/%s", device->name, number);
    snprintf(port.folder, sizeof port.folder, "/sys/class/infiniband/%s/ports/%s", device->name, number);
    port.ethernet = doctor_read_line(doctor, layer, sizeof layer, "%s/link_layer", port.folder) && strcmp(layer, "Ethernet") == 0;
    find_interface(&port);

    if (!look_state(&port)) return; /* without a link it has no rate, and often no address */
    look_mtu(&port);
    look_rate(&port);
    if (port.ethernet) look_roce_gid(&port);
    else look_lid(&port);

    DOCTOR_AUTO_LIST struct doctor_names counters = {0};
    doctor_list(doctor, &counters, "%s/hw_counters", port.folder);
    look_loss(&port, &counters);
    look_flow_control(&port);
    if (port.ethernet && port.interface[0])
        doctor_look_priorities(doctor, port.object, port.interface,
                               congestion_control_is_off(&port, "rp") && congestion_control_is_off(&port, "np"));
    look_congestion(&port, &counters);
}
