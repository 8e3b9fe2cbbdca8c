/* SPDX-License-Identifier: Apache-2.0
 *
 * What postern-doctor asks libibverbs, here the simulated NIC, and the kernel's DCB interface: doctor_asks_the_rdma_library DEVICE ACTIVE MAX.
 * A device or an interface that is not there is "not told".
 */
#include "runtime/tools/doctor.h"

#include <stdlib.h>
#include <string.h>

static int failures;

static void expect(bool good, const char *what)
{
    if (good) return;
    printf("%s\n", what);
    failures++;
}

int main(int argc, char **argv)
{
    static struct doctor doctor;
    struct doctor_mtu    mtu = {0};
    unsigned             enabled;
    if (argc != 4) return 2;
    expect(doctor_verbs_mtu(&doctor, argv[1], 1, &mtu), "the library does not tell the MTU");
    expect(mtu.active == strtoul(argv[2], NULL, 10) && mtu.max == strtoul(argv[3], NULL, 10), "the MTU is another");
    if (failures) printf("%u of %u\n", mtu.active, mtu.max);
    expect(!doctor_verbs_mtu(&doctor, argv[1], 9, &mtu), "a port that is not there has an MTU");
    expect(!doctor_verbs_mtu(&doctor, "no_such_device", 1, &mtu), "a device that is not there has an MTU");
    expect(!doctor_dcb_pfc(&doctor, "no_such_link", &enabled) && enabled == 0, "an interface that is not there has PFC");
    expect(!doctor_dcb_pfc(&doctor, "lo", &enabled) && enabled == 0, "the loopback has PFC");
    return failures ? 1 : 0;
}
