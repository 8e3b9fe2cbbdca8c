/* SPDX-License-Identifier: Apache-2.0
 *
 * The way to a peer: by LID in the own subnet, by GID beyond it and on Ethernet, with the smaller MTU; and who cannot reach whom.
 */
#include "transports/ibverbs/device.h"

#include "tests/unit/ibverbs_fake.h"
#include "tests/unit/unit.h"

static struct ib_endpoint endpoint(uint8_t link, uint16_t lid, const char *gid, enum ibv_gid_type type, enum ibv_mtu mtu)
{
    return (struct ib_endpoint){.link = link, .lid = lid, .gid = fake_gid_of(gid), .gid_type = (uint8_t)type, .mtu = (uint8_t)mtu};
}

static struct ib_endpoint infiniband(uint16_t lid, const char *gid)
{
    return endpoint(IBV_LINK_LAYER_INFINIBAND, lid, gid, IBV_GID_TYPE_IB, IBV_MTU_4096);
}

static struct ib_endpoint roce(const char *gid, enum ibv_gid_type type)
{
    return endpoint(IBV_LINK_LAYER_ETHERNET, 0, gid, type, IBV_MTU_1024);
}

static struct ib_port port_of(struct ib_endpoint mine)
{
    return (struct ib_port){.number = 2, .gid_index = 3, .endpoint = mine};
}

static void check_infiniband(void)
{
    struct ib_port     port   = port_of(infiniband(7, "fe80::1"));
    struct ib_endpoint theirs = infiniband(9, "fe80::2");
    struct ibv_ah_attr path;
    shmemt_ibverbs_device_path(&port, &theirs, &path);
    CHECK_EQ_U64(path.dlid, 9);
    CHECK_EQ_U64(path.port_num, 2);
    CHECK_EQ_U64(path.is_global, 0);

    theirs = infiniband(9, "fec0::2"); /* another subnet: its router needs the GID */
    shmemt_ibverbs_device_path(&port, &theirs, &path);
    CHECK_EQ_U64(path.is_global, 1);
    CHECK_EQ_U64(path.grh.sgid_index, 3);
    CHECK(memcmp(path.grh.dgid.raw, theirs.gid.raw, sizeof theirs.gid.raw) == 0);

    theirs = infiniband(0, "fe80::2"); /* no LID */
    shmemt_ibverbs_device_path(&port, &theirs, &path);
    CHECK_EQ_U64(path.is_global, 1);

    theirs          = infiniband(9, "fe80::2");
    port.attr.flags = IBV_QPF_GRH_REQUIRED; /* a virtual function, say */
    shmemt_ibverbs_device_path(&port, &theirs, &path);
    CHECK_EQ_U64(path.is_global, 1);
}

static void check_ethernet(void)
{
    struct ib_port     port   = port_of(roce("10.0.0.1", IBV_GID_TYPE_ROCE_V2));
    struct ib_endpoint theirs = roce("10.0.1.2", IBV_GID_TYPE_ROCE_V2);
    struct ibv_ah_attr path;
    setenv("POSTERN_IB_SL", "3", 1);
    setenv("POSTERN_IB_TRAFFIC_CLASS", "106", 1);
    shmemt_ibverbs_device_path(&port, &theirs, &path);
    CHECK_EQ_U64(path.is_global, 1);
    CHECK_EQ_U64(path.sl, 3);
    CHECK_EQ_U64(path.grh.traffic_class, 106);
    CHECK_EQ_U64(path.grh.sgid_index, 3);
    CHECK(path.grh.hop_limit > 1); /* through routers */
    CHECK(memcmp(path.grh.dgid.raw, theirs.gid.raw, sizeof theirs.gid.raw) == 0);
}

static void check_mtu(void)
{
    struct ib_port     port   = port_of(infiniband(7, "fe80::1"));
    struct ib_endpoint theirs = infiniband(9, "fe80::2");
    CHECK_EQ_I64(shmemt_ibverbs_device_mtu(&port, &theirs), IBV_MTU_4096);
    theirs.mtu = IBV_MTU_2048;
    CHECK_EQ_I64(shmemt_ibverbs_device_mtu(&port, &theirs), IBV_MTU_2048);
    port.endpoint.mtu = IBV_MTU_512;
    CHECK_EQ_I64(shmemt_ibverbs_device_mtu(&port, &theirs), IBV_MTU_512);
    CHECK_EQ_U64(shmemt_ibverbs_device_mtu_bytes(IBV_MTU_256), 256);
    CHECK_EQ_U64(shmemt_ibverbs_device_mtu_bytes(IBV_MTU_4096), 4096);
}

static const char *mismatch(struct ib_endpoint a, struct ib_endpoint b)
{
    const char *one = shmemt_ibverbs_device_mismatch(&a, &b), *other = shmemt_ibverbs_device_mismatch(&b, &a);
    CHECK((one == NULL) == (other == NULL)); /* both PEs come to the same answer */
    return one;
}

static void check_mismatch(void)
{
    struct ib_endpoint ib = infiniband(7, "fe80::1"), v4 = roce("10.0.0.1", IBV_GID_TYPE_ROCE_V2);
    CHECK_STR(mismatch(ib, infiniband(9, "fec0::2")), NULL);
    CHECK_STR(mismatch(v4, roce("192.168.0.1", IBV_GID_TYPE_ROCE_V2)), NULL);
    CHECK_STR(mismatch(roce("fe80::1", IBV_GID_TYPE_ROCE_V2), roce("fd00::1", IBV_GID_TYPE_ROCE_V2)), NULL);
    CHECK_HAS(mismatch(ib, v4), "InfiniBand");
    CHECK_HAS(mismatch(v4, roce("10.0.0.2", IBV_GID_TYPE_ROCE_V1)), "RoCE v1");
    CHECK_HAS(mismatch(v4, roce("fe80::1", IBV_GID_TYPE_ROCE_V2)), "IPv6");
}

static void check_atomics(void)
{
    struct ib_port port     = {.limits = {.atomic_cap = IBV_ATOMIC_NONE}};
    bool           coherent = true;
    CHECK(!shmemt_ibverbs_device_atomics(&port, &coherent));
    CHECK(!coherent);
    port.limits.atomic_cap = IBV_ATOMIC_HCA;
    CHECK(shmemt_ibverbs_device_atomics(&port, &coherent));
    CHECK(!coherent);
    port.limits.atomic_cap = IBV_ATOMIC_GLOB;
    CHECK(shmemt_ibverbs_device_atomics(&port, &coherent));
    CHECK(coherent);
}

int main(void)
{
    check_infiniband();
    check_ethernet();
    check_mtu();
    check_mismatch();
    check_atomics();
    return unit_result();
}
