/* The textures and surfaces of a launch file on a device: arrays beside the buffers, filled before a launch, and read
 * back after it where a surface may have written. */
#ifndef HD_TESTS_GPU_TEXTURES_H
#define HD_TESTS_GPU_TEXTURES_H

#include "device.h"
#include "hwmodel/launch/launch.h"

typedef struct gpu_textures {
    const gpu_device *gpu;
    const hd_launch_file *file;
    const uint64_t *addresses; /* of the buffers */
    hd_texture *items;         /* with the device's handles */
    gpu_array_handle *arrays;  /* by texture; views of the same texels share one; NULL: linear memory */
} gpu_textures;

/* What of the file the driver cannot make; NULL: nothing. */
const char *gpu_textures_refused(const hd_launch_file *file);
/* Each returns 0 or the driver's error. gather: the module has tld4. */
int gpu_textures_open(gpu_textures *t, const gpu_device *gpu, const hd_launch_file *file, const uint64_t *addresses,
                      bool gather);
int gpu_textures_load(const gpu_textures *t);  /* buffers to arrays */
int gpu_textures_store(const gpu_textures *t); /* arrays of surfaces to buffers */
void gpu_textures_close(gpu_textures *t);

#endif
