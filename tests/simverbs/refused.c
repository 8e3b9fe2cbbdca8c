/* SPDX-License-Identifier: Apache-2.0
 *
 * Calls that have nothing to do here, and calls that a simulated device does not offer: those say so, as a device
 * without them does.
 *
 * The names of IBVERBS_PRIVATE_34 are what a hardware driver (libmlx5, libefa) wants of libibverbs. Processes that load
 * libfabric load such drivers, and the loader wants every name. A driver registers itself, finds no hardware and asks for
 * nothing more; should it, the answer is EOPNOTSUPP.
 */
#include "sim.h"

#include <errno.h>

/* infiniband/driver.h and kern-abi structures are not installed; these names need no more than a pointer. */
int  ibv_fork_init(void);
int  sim_refuse(void);
void sim_ignore(void);

int ibv_fork_init(void)
{
    return 0;
}

enum ibv_fork_status ibv_is_fork_initialized(void)
{
    return IBV_FORK_UNNEEDED;
}

int ibv_resolve_eth_l2_from_gid(struct ibv_context *context, struct ibv_ah_attr *attr, uint8_t mac[6], uint16_t *vid)
{
    (void)context;
    (void)attr;
    for (int i = 0; i < 6; i++) mac[i] = 0;
    *vid = 0xffff;
    return 0;
}

int ibv_query_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    (void)qp;
    *ece = (struct ibv_ece){.vendor_id = 0};
    return 0;
}

int ibv_set_ece(struct ibv_qp *qp, struct ibv_ece *ece)
{
    (void)qp;
    return ece->comp_mask || ece->vendor_id ? EOPNOTSUPP : 0;
}

int ibv_attach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    (void)qp;
    (void)gid;
    (void)lid;
    return EOPNOTSUPP;
}

int ibv_detach_mcast(struct ibv_qp *qp, const union ibv_gid *gid, uint16_t lid)
{
    (void)qp;
    (void)gid;
    (void)lid;
    return EOPNOTSUPP;
}

#define REFUSE_POINTER(type, name, ...) \
    type *name(__VA_ARGS__)             \
    {                                   \
        errno = EOPNOTSUPP;             \
        return NULL;                    \
    }
#pragma GCC diagnostic ignored "-Wunused-parameter"
REFUSE_POINTER(struct ibv_context, ibv_import_device, int cmd_fd)
REFUSE_POINTER(struct ibv_pd, ibv_import_pd, struct ibv_context *context, uint32_t handle)
REFUSE_POINTER(struct ibv_mr, ibv_import_mr, struct ibv_pd *pd, uint32_t handle)
REFUSE_POINTER(struct ibv_dm, ibv_import_dm, struct ibv_context *context, uint32_t handle)

void ibv_unimport_pd(struct ibv_pd *pd) {}
void ibv_unimport_mr(struct ibv_mr *mr) {}
void ibv_unimport_dm(struct ibv_dm *dm) {}

const char *ibv_get_sysfs_path(void);
const char *ibv_get_sysfs_path(void)
{
    return "/sys";
}

int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size);
int ibv_read_sysfs_file(const char *dir, const char *file, char *buf, size_t size)
{
    return -1;
}

/* ---- names that a driver or librdmacm wants ---- */

int sim_refuse(void)
{
    return EOPNOTSUPP;
}

void sim_ignore(void) {}

#define REFUSE(name) \
    int name(void);  \
    int name(void) __attribute__((alias("sim_refuse")))
#define IGNORE(name) \
    void name(void); \
    void name(void) __attribute__((alias("sim_ignore")))
#define REFUSE_NULL(name)   \
    void *name(void);       \
    void *name(void)        \
    {                       \
        errno = EOPNOTSUPP; \
        return NULL;        \
    }

IGNORE(verbs_register_driver_34);
IGNORE(__verbs_log);
IGNORE(verbs_set_ops);
IGNORE(verbs_init_cq);
IGNORE(verbs_uninit_context);
IGNORE(ibv_copy_ah_attr_from_kern);
IGNORE(ibv_copy_path_rec_from_kern);
IGNORE(ibv_copy_path_rec_to_kern);
IGNORE(ibv_copy_qp_attr_from_kern);
REFUSE_NULL(verbs_open_device)
REFUSE_NULL(_verbs_init_and_alloc_context)
REFUSE(__ioctl_final_num_attrs);
REFUSE(execute_ioctl);
REFUSE(ibv_cmd_advise_mr);
REFUSE(ibv_cmd_alloc_dm);
REFUSE(ibv_cmd_alloc_mw);
REFUSE(ibv_cmd_alloc_pd);
REFUSE(ibv_cmd_attach_mcast);
REFUSE(ibv_cmd_close_xrcd);
REFUSE(ibv_cmd_create_ah);
REFUSE(ibv_cmd_create_counters);
REFUSE(ibv_cmd_create_cq);
REFUSE(ibv_cmd_create_cq_ex);
REFUSE(ibv_cmd_create_flow);
REFUSE(ibv_cmd_create_flow_action_esp);
REFUSE(ibv_cmd_create_qp);
REFUSE(ibv_cmd_create_qp_ex);
REFUSE(ibv_cmd_create_qp_ex2);
REFUSE(ibv_cmd_create_rwq_ind_table);
REFUSE(ibv_cmd_create_srq);
REFUSE(ibv_cmd_create_srq_ex);
REFUSE(ibv_cmd_create_wq);
REFUSE(ibv_cmd_dealloc_mw);
REFUSE(ibv_cmd_dealloc_pd);
REFUSE(ibv_cmd_dereg_mr);
REFUSE(ibv_cmd_destroy_ah);
REFUSE(ibv_cmd_destroy_counters);
REFUSE(ibv_cmd_destroy_cq);
REFUSE(ibv_cmd_destroy_flow);
REFUSE(ibv_cmd_destroy_flow_action);
REFUSE(ibv_cmd_destroy_qp);
REFUSE(ibv_cmd_destroy_rwq_ind_table);
REFUSE(ibv_cmd_destroy_srq);
REFUSE(ibv_cmd_destroy_wq);
REFUSE(ibv_cmd_detach_mcast);
REFUSE(ibv_cmd_free_dm);
REFUSE(ibv_cmd_get_context);
REFUSE(ibv_cmd_modify_cq);
REFUSE(ibv_cmd_modify_flow_action_esp);
REFUSE(ibv_cmd_modify_qp);
REFUSE(ibv_cmd_modify_qp_ex);
REFUSE(ibv_cmd_modify_srq);
REFUSE(ibv_cmd_modify_wq);
REFUSE(ibv_cmd_open_qp);
REFUSE(ibv_cmd_open_xrcd);
REFUSE(ibv_cmd_poll_cq);
REFUSE(ibv_cmd_post_recv);
REFUSE(ibv_cmd_post_send);
REFUSE(ibv_cmd_post_srq_recv);
REFUSE(ibv_cmd_query_context);
REFUSE(ibv_cmd_query_device_any);
REFUSE(ibv_cmd_query_mr);
REFUSE(ibv_cmd_query_port);
REFUSE(ibv_cmd_query_qp);
REFUSE(ibv_cmd_query_srq);
REFUSE(ibv_cmd_read_counters);
REFUSE(ibv_cmd_reg_dm_mr);
REFUSE(ibv_cmd_reg_dmabuf_mr);
REFUSE(ibv_cmd_reg_mr);
REFUSE(ibv_cmd_req_notify_cq);
REFUSE(ibv_cmd_rereg_mr);
REFUSE(ibv_cmd_resize_cq);
REFUSE(ibv_read_ibdev_sysfs_file);
REFUSE(verbs_allow_disassociate_destroy);

int ibv_dontfork_range(void *base, size_t size);
int ibv_dontfork_range(void *base, size_t size)
{
    return 0;
}

int ibv_dofork_range(void *base, size_t size);
int ibv_dofork_range(void *base, size_t size)
{
    return 0;
}
