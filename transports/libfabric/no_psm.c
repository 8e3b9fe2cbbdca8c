/* SPDX-License-Identifier: Apache-2.0
 *
 * A libpsm_infinipath.so.1 and (with -DPSM2) a libpsm2.so.2 that find no device, for machines that have none.
 *
 * Debian's libfabric is linked with the driver libraries of two network adapters, QLogic InfiniPath and Intel Omni-Path. As they are loaded, each
 * measures the clock for 0.1 s with the process pinned to CPU 0, and takes over the handlers of six signals, whether or not there is an adapter. These
 * modules have the same SONAMEs, names and versions. Loaded before libfabric, they are what the loader gives to it, and the real
 * ones are not loaded at all. library.c loads them where the device files do not exist and nobody else has loaded the real ones.
 */
/* clang-format off */
#ifdef PSM2
#define FUNCTIONS(X)                                                                                             \
    X(psm2_am_get_parameters) X(psm2_am_get_source) X(psm2_am_register_handlers)                                 \
    X(psm2_am_register_handlers_2) X(psm2_am_reply_short) X(psm2_am_request_short)                               \
    X(psm2_am_unregister_handlers) X(psm2_ep_close) X(psm2_ep_connect) X(psm2_ep_disconnect)                     \
    X(psm2_ep_disconnect2) X(psm2_ep_epid_lookup) X(psm2_ep_epid_lookup2) X(psm2_ep_epid_share_memory)           \
    X(psm2_ep_num_devunits) X(psm2_ep_open) X(psm2_ep_open_opts_get_defaults) X(psm2_ep_query)                   \
    X(psm2_epaddr_getctxt) X(psm2_epaddr_setctxt) X(psm2_epaddr_setlabel) X(psm2_epaddr_to_epid)                 \
    X(psm2_epid_context) X(psm2_epid_nid) X(psm2_epid_port) X(psm2_error_defer) X(psm2_error_register_handler)   \
    X(psm2_finalize) X(psm2_get_capability_mask) X(psm2_getopt) X(psm2_info_query) X(psm2_init)                  \
    X(psm2_map_nid_hostname) X(psm2_mq_cancel) X(psm2_mq_finalize) X(psm2_mq_fp_msg) X(psm2_mq_get_stats)        \
    X(psm2_mq_getopt) X(psm2_mq_improbe) X(psm2_mq_improbe2) X(psm2_mq_imrecv) X(psm2_mq_init)                   \
    X(psm2_mq_ipeek) X(psm2_mq_ipeek2) X(psm2_mq_ipeek_dequeue) X(psm2_mq_ipeek_dequeue_multi)                   \
    X(psm2_mq_iprobe) X(psm2_mq_iprobe2) X(psm2_mq_irecv) X(psm2_mq_irecv2) X(psm2_mq_isend) X(psm2_mq_isend2)   \
    X(psm2_mq_req_free) X(psm2_mq_send) X(psm2_mq_send2) X(psm2_mq_setopt) X(psm2_mq_test) X(psm2_mq_test2)      \
    X(psm2_mq_wait) X(psm2_mq_wait2) X(psm2_poll) X(psm2_setopt) X(psm2_uuid_generate)
#define ERROR_TEXT psm2_error_get_string
#else
#define FUNCTIONS(X)                                                                                             \
    X(psm_am_get_parameters) X(psm_am_register_handlers) X(psm_am_reply_short) X(psm_am_request_short)           \
    X(psm_ep_close) X(psm_ep_connect) X(psm_ep_epid_lookup) X(psm_ep_epid_share_memory) X(psm_ep_num_devunits)   \
    X(psm_ep_open) X(psm_ep_open_opts_get_defaults) X(psm_ep_query) X(psm_epaddr_getctxt)                        \
    X(psm_epaddr_setctxt) X(psm_epaddr_setlabel) X(psm_epid_context) X(psm_epid_nid) X(psm_epid_port)            \
    X(psm_error_defer) X(psm_error_register_handler) X(psm_finalize) X(psm_getopt) X(psm_init)                   \
    X(psm_map_nid_hostname) X(psm_mq_cancel) X(psm_mq_finalize) X(psm_mq_get_stats) X(psm_mq_getopt)             \
    X(psm_mq_init) X(psm_mq_ipeek) X(psm_mq_iprobe) X(psm_mq_irecv) X(psm_mq_isend) X(psm_mq_send)               \
    X(psm_mq_setopt) X(psm_mq_test) X(psm_mq_wait) X(psm_poll) X(psm_setopt) X(psm_uuid_generate)
#define ERROR_TEXT psm_error_get_string
#endif
/* clang-format on */

enum { NO_DEVICE = 1 }; /* psm_error_t: anything but PSM_OK, which is 0 */

/* Whatever their arguments: they look at none. */
#pragma GCC visibility push(default)
/* clang-format off */
#define DEFINE(NAME) int NAME(void); int NAME(void) { return NO_DEVICE; }
/* clang-format on */
FUNCTIONS(DEFINE)

const char *ERROR_TEXT(void);
const char *ERROR_TEXT(void)
{
    return "no device";
}

#ifdef PSM2
extern unsigned long psm2_capabilities_bitset;
unsigned long        psm2_capabilities_bitset = 0;
#endif
#pragma GCC visibility pop
