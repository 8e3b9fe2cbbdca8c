/* SPDX-License-Identifier: Apache-2.0
 *
 * Modules of device code that a program loads by hand: no constructor of theirs runs, so the program names them. Tests: tests/gpu/.
 */
#include "device/unit.h"

#include "runtime/base/log.h"
#include "runtime/gpu/gpu.h"
#include "runtime/service.h"

#include <errno.h>
#include <shmemx.h>

/* As self.cuh calls it. */
static const char state_name[] = "shmemd_unit_state";

/* With our context current. */
static unsigned find_and_fill(shmemi_cu_module module, const struct shmemd_state *state, size_t *bytes_out)
{
    shmemi_cu_pointer at     = 0;
    unsigned          result = shmemi_gpu.cuda->module_get_global(&at, bytes_out, module, state_name);
    if (result || *bytes_out != sizeof *state) return result;
    return shmemi_gpu.cuda->memcpy_htod(at, state, sizeof *state);
}

static int tell_result(unsigned result, size_t bytes)
{
    char text[160];
    if (result == SHMEMI_CU_NOT_FOUND) {
        shmemi_error("shmemx_module_init: the module has no device state" WHY "it has no variable %s" FIX
                     "include shmem_device.cuh in its source",
                     state_name);
        return -ENOENT;
    }
    if (result) {
        shmemi_error("shmemx_module_init: could not give the module its state" WHY "the driver says: %s" FIX
                     "look at the module: it must be loaded in the primary context of this PE's GPU",
                     shmemi_cuda_text(shmemi_gpu.cuda, result, text, sizeof text));
        return -EIO;
    }
    if (bytes == sizeof(struct shmemd_state)) return 0;
    shmemi_error("shmemx_module_init: the module was compiled for another version of the library" WHY
                 "its device state has %zu bytes, the library's %zu" FIX "compile it with the headers of this library",
                 bytes, sizeof(struct shmemd_state));
    return -EPROTO;
}

int pshmemx_module_init(void *module)
{
    struct shmemd_state state;
    char                why[200];
    size_t              bytes = 0;
    if (!shmemi_state_running()) shmemi_service_outside("shmemx_module_init");
    if (!shmemd_memory_usable(SHMEMD_SIDE_GPU, why, sizeof why)) {
        shmemi_error("shmemx_module_init: this PE has no GPU" WHY "%s" FIX "run it where a GPU is", why);
        return -ENODEV;
    }
    int err = shmemd_unit_gpu_state(&state);
    if (err) return err;
    shmemi_gpu_enter();
    unsigned result = find_and_fill(module, &state, &bytes);
    shmemi_gpu_leave();
    return tell_result(result, bytes);
}
SHMEMI_EXPORT(shmemx_module_init)
