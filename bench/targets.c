#include "targets.h"

const target targets[] = {
    {"own memory, up, 64 MiB", "library.owned.up.64MiB", "limits.link.up.64MiB", RATE_AT_LEAST, 0.97},
    {"own memory, up, 256 MiB", "library.owned.up.256MiB", "limits.link.up.256MiB", RATE_AT_LEAST, 0.97},
    {"own memory, up, 512 MiB", "library.owned.up.512MiB", "limits.link.up.512MiB", RATE_AT_LEAST, 0.97},
    {"own memory, up, 1 GiB", "library.owned.up.1GiB", "limits.link.up.1GiB", RATE_AT_LEAST, 0.97},
    {"own memory, down, 64 MiB", "library.owned.down.64MiB", "limits.link.down.64MiB", RATE_AT_LEAST, 0.97},
    {"own memory, down, 256 MiB", "library.owned.down.256MiB", "limits.link.down.256MiB", RATE_AT_LEAST, 0.97},
    {"own memory, down, 512 MiB", "library.owned.down.512MiB", "limits.link.down.512MiB", RATE_AT_LEAST, 0.97},
    {"own memory, down, 1 GiB", "library.owned.down.1GiB", "limits.link.down.1GiB", RATE_AT_LEAST, 0.97},
    {"new image, up, 512 MiB", "library.owned.up_new.512MiB", "limits.link.up.512MiB", RATE_AT_LEAST, 0},
    {"new image, down, 512 MiB", "library.owned.down_new.512MiB", "limits.link.down.512MiB", RATE_AT_LEAST, 0},
    {"caller's pageable memory, up, 512 MiB", "library.pageable.up.512MiB", "limits.link.up.512MiB", RATE_AT_LEAST,
     0.8},
    {"caller's pageable memory, down, 512 MiB", "library.pageable.down.512MiB", "limits.link.down.512MiB",
     RATE_AT_LEAST, 0.7},
    {"both directions at once, 512 MiB each", "library.duplex.512MiB", "limits.link.duplex.512MiB", RATE_AT_LEAST,
     0.95},
    {"first host allocation, 4 GiB", "library.first_host.allocation.4GiB", "limits.host_memory.allocate.4GiB",
     TIME_AT_MOST, 0.1},
    {"create, device memory, destroy, 1 MiB", "library.create.1MiB", "limits.device_memory.async.1MiB", SECONDS_AT_MOST,
     10e-6},
    {"create, device memory, destroy, 64 MiB", "library.create.64MiB", "limits.device_memory.async.64MiB",
     SECONDS_AT_MOST, 10e-6},
    {"create, device memory, destroy, 512 MiB", "library.create.512MiB", "limits.device_memory.async.512MiB",
     SECONDS_AT_MOST, 10e-6},
    {"create, device memory, destroy, 4 GiB", "library.create.4GiB", "limits.device_memory.async.4GiB", SECONDS_AT_MOST,
     10e-6},
    {"one pixel read after a device write, 512^3", "library.pixel.read", "limits.link.latency_down.4B", SECONDS_AT_MOST,
     12e-6},
    {"one pixel written, then device, 512^3", "library.pixel.write_then_device", "limits.link.latency_up.4B",
     SECONDS_AT_MOST, 12e-6},
    {"one pixel read, device again, 512^3", "library.pixel.read_then_device", "limits.link.latency_down.4B",
     SECONDS_AT_MOST, 0},
    {"512 boxes of 8^3 in 512^3, up", "library.boxes.up.8", "limits.link.up.512MiB", RATE_AT_LEAST, 0.3},
    {"512 boxes of 8^3 in 512^3, down", "library.boxes.down.8", "limits.link.down.512MiB", RATE_AT_LEAST, 0.5},
    {"512 boxes of 32^3 in 512^3, up", "library.boxes.up.32", "limits.link.up.512MiB", RATE_AT_LEAST, 0.9},
    {"512 boxes of 32^3 in 512^3, down", "library.boxes.down.32", "limits.link.down.512MiB", RATE_AT_LEAST, 0.9},
    {"512 boxes of 8^3, of a kernel alone, up", "library.boxes.up.8", "library.boxes.bare_up.8", RATE_AT_LEAST, 0},
    {"512 boxes of 32^3, of a kernel alone, up", "library.boxes.up.32", "library.boxes.bare_up.32", RATE_AT_LEAST, 0},
    {"512 boxes of 32^3, of a kernel alone, down", "library.boxes.down.32", "library.boxes.bare_down.32", RATE_AT_LEAST,
     0},
    {"512 boxes of 32^3 on whole lines, up", "library.boxes.up_lines.32", "limits.link.up.512MiB", RATE_AT_LEAST, 0},
    {"512 boxes of 32^3 on whole lines, down", "library.boxes.down_lines.32", "limits.link.down.512MiB", RATE_AT_LEAST,
     0},
    {"512 boxes of 64^3 in 512^3, up", "library.boxes.up.64", "limits.link.up.512MiB", RATE_AT_LEAST, 0},
    {"512 boxes of 64^3 in 512^3, down", "library.boxes.down.64", "limits.link.down.512MiB", RATE_AT_LEAST, 0},
    {"512 boxes of 8^3 at odd places, up", "library.boxes.up_unaligned.8", "limits.link.up.512MiB", RATE_AT_LEAST, 0},
    {"512 boxes of 8^3 at odd places, down", "library.boxes.down_unaligned.8", "limits.link.down.512MiB", RATE_AT_LEAST,
     0},
    {"512 boxes of 32^3 at odd places, up", "library.boxes.up_unaligned.32", "limits.link.up.512MiB", RATE_AT_LEAST, 0},
    {"512 boxes of 32^3 at odd places, down", "library.boxes.down_unaligned.32", "limits.link.down.512MiB",
     RATE_AT_LEAST, 0},
    {"map and unmap, host", "library.access.host", NULL, SECONDS_AT_MOST, 40e-9},
    {"map and unmap, device, default stream", "library.access.device_default_stream", NULL, SECONDS_AT_MOST, 60e-9},
    {"map and unmap, device, per-thread stream", "library.access.device_per_thread_stream", "limits.calls.event_record",
     SECONDS_AT_MOST, 0},
    {"map and unmap, device, another stream", "library.access.device_other_stream", "limits.calls.event_record",
     SECONDS_AT_MOST, 450e-9},
    {"8 threads on 8 images, host, of one alone", "library.threads.host.8", "library.threads.host.1", RATE_AT_LEAST,
     0.8},
    {"8 threads on 8 images, device, of one alone", "library.threads.device.8", "library.threads.device.1",
     RATE_AT_LEAST, 0.8},
    {"8 threads, only a mutex each, of one alone", "library.threads.bare_lock.8", "library.threads.bare_lock.1",
     RATE_AT_LEAST, 0},
    {"8 threads, only an event each, of one alone", "library.threads.bare_record.8", "library.threads.bare_record.1",
     RATE_AT_LEAST, 0},
    {"8 threads, device, of 8 that only record", "library.threads.device.8", "library.threads.bare_record.8",
     TIME_AT_MOST, 0},
    {"create 512^3, fill, current on the device", "library.fill.512MiB", "limits.hbm.fill_and_wait.512MiB",
     TIME_AT_MOST, 1.1},
    {"100,000 live images, create", "library.growth.create.100000", "library.growth.create.1", TIME_AT_MOST, 1.5},
    {"100,000 live images, map_device", "library.growth.map_device.100000", "library.growth.map_device.1", TIME_AT_MOST,
     1.5},
    {"100,000 live images, map_host", "library.growth.map_host.100000", "library.growth.map_host.1", TIME_AT_MOST, 1.5},
    {"100,000 live images, evict", "library.growth.evict.100000", "library.growth.evict.1", TIME_AT_MOST, 1.5},
    {"100,000 live images, release", "library.growth.release.100000", "library.growth.release.1", TIME_AT_MOST, 1.5},
    {"volume of 10 times its limit, through rescale", "library.tiles.owned", "limits.link.duplex.512MiB", RATE_AT_LEAST,
     0.9},
    {"the same, caller's pageable memory", "library.tiles.pageable", "limits.link.duplex.512MiB", RATE_AT_LEAST, 0},
    {"GPU to GPU, 512 MiB", "library.devices.copy.512MiB", "limits.peer.copy.512MiB", RATE_AT_LEAST, 0},
    {"rescale f32 to f32", "library.operations.rescale.f32_f32", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"rescale u16 to f32", "library.operations.rescale.u16_f32", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"rescale u8 to u8", "library.operations.rescale.u8_u8", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"rescale f32 to f32, 3 components", "library.operations.rescale.f32x3_f32x3", "limits.hbm.copy.1GiB",
     RATE_AT_LEAST, 0},
    {"add, f32, 3 x 1 GiB", "library.operations.add.f32", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0.95},
    {"multiply by a value, f32", "library.operations.multiply_value.f32", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0.95},
    {"axpy, f32", "library.operations.axpy.f32", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0.95},
    {"clamp(sqrt(x^2 + y^2)) in one pass, f32", "library.operations.fused.f32", "limits.hbm.copy.1GiB", RATE_AT_LEAST,
     0.95},
    {"cast u16 to f32", "library.operations.cast.u16_f32", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0.95},
    {"cast f32 to u8", "library.operations.cast.f32_u8", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0.95},
    {"sum, f32", "library.operations.sum.f32", "limits.hbm.read.1GiB", RATE_AT_LEAST, 0.9},
    {"minimum, f32", "library.operations.minimum.f32", "limits.hbm.read.1GiB", RATE_AT_LEAST, 0.9},
    {"variance, f32", "library.operations.variance.f32", "limits.hbm.read.1GiB", RATE_AT_LEAST, 0.9},
    {"dot of two images, f32", "library.operations.dot.f32", "limits.hbm.read.1GiB", RATE_AT_LEAST, 0.9},
    {"norm, f32", "library.operations.norm.f32", "limits.hbm.read.1GiB", RATE_AT_LEAST, 0.9},
    {"histogram of 256 bins, f32", "library.operations.histogram.f32", "limits.hbm.read.1GiB", RATE_AT_LEAST, 0.9},
    {"crop, f32, rows aligned", "library.regions.crop.aligned", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0.95},
    {"crop, f32, rows not aligned", "library.regions.crop.unaligned", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"pad, f32, mirrored", "library.regions.pad.symmetric", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"pad, f32, by one pixel", "library.regions.pad.unaligned", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"flip along rows, f32", "library.regions.flip.i", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"flip slices, f32", "library.regions.flip.k", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"permute to j, i, k, f32", "library.regions.permute.jik", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"permute to k, j, i, f32", "library.regions.permute.kji", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"permute to i, k, j, f32", "library.regions.permute.ikj", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"interpolate between two frames, f32", "library.regions.interpolate.f32", "limits.hbm.copy.1GiB", RATE_AT_LEAST,
     0.95},
    {"splat into two frames, f32", "library.regions.splat.f32", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"average of three frames, f32", "library.regions.average.f32", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"gradient, f32", "library.geometry.gradient.f32", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0.8},
    {"divergence, f32", "library.geometry.divergence.f32", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"Laplacian, f32", "library.geometry.laplacian.f32", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0.8},
    {"linear resample, f32", "library.geometry.linear.f32", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0.8},
    {"linear resample, f32, 3 components", "library.geometry.linear.f32x3", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"linear resample, rotated, f32", "library.geometry.linear_rotated.f32", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"nearest resample, rotated, f32", "library.geometry.nearest_rotated.f32", "limits.hbm.copy.1GiB", RATE_AT_LEAST,
     0},
    {"cubic resample, rotated, f32", "library.geometry.cubic_rotated.f32", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"warp, f32", "library.geometry.warp.f32", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"Gaussian, sigma 2 pixels, 256^3 f32", "library.filters.gaussian_2.256", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"Gaussian, sigma 1 pixel, 512^3 f32", "library.filters.gaussian_1.512", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"Gaussian, sigma 2 pixels, 512^3 f32", "library.filters.gaussian_2.512", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"Gaussian, sigma 8 pixels, 512^3 f32", "library.filters.gaussian_8.512", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"ramp for rows of 1024 pixels, 1 GiB f32", "library.filters.ramp.1GiB", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"texture filled, f32", "library.textures.update.f32", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"texture filled, f32, 4 components", "library.textures.update.f32x4", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"textures filled, f32, 3 components", "library.textures.update.f32x3", "limits.hbm.copy.1GiB", RATE_AT_LEAST, 0},
    {"texture found again and given back", "library.textures.find", NULL, SECONDS_AT_MOST, 0},
    {"fill part of an image, f32", "library.operations.fill.f32", "limits.hbm.fill.1GiB", RATE_AT_LEAST, 0},
    {"fill part of an image, u8", "library.operations.fill.u8", "limits.hbm.fill.1GiB", RATE_AT_LEAST, 0},
    {"fill part of an image, f32, 3 components", "library.operations.fill.f32x3", "limits.hbm.fill.1GiB", RATE_AT_LEAST,
     0},
    {"CPU: add, f32, 3 x 1 GiB", "library.cpu.add.f32", "limits.cpu.read_read_write", RATE_AT_LEAST, 0.8},
    {"CPU: multiply by a value, f32", "library.cpu.multiply_value.f32", "limits.cpu.read_write", RATE_AT_LEAST, 0.8},
    {"CPU: axpy, f32", "library.cpu.axpy.f32", "limits.cpu.update", RATE_AT_LEAST, 0.8},
    {"CPU: clamp(sqrt(x^2 + y^2)) in one pass, f32", "library.cpu.fused.f32", "limits.cpu.read_read_write",
     RATE_AT_LEAST, 0.8},
    {"CPU: rescale f32 to f32", "library.cpu.rescale.f32_f32", "limits.cpu.read_write", RATE_AT_LEAST, 0.8},
    {"CPU: rescale u16 to f32", "library.cpu.rescale.u16_f32", "limits.cpu.read_write", RATE_AT_LEAST, 0.8},
    {"CPU: rescale u8 to u8", "library.cpu.rescale.u8_u8", "limits.cpu.read_write", RATE_AT_LEAST, 0.8},
    {"CPU: cast u16 to f32", "library.cpu.cast.u16_f32", "limits.cpu.read_write", RATE_AT_LEAST, 0.8},
    {"CPU: cast f32 to u8", "library.cpu.cast.f32_u8", "limits.cpu.read_write", RATE_AT_LEAST, 0.8},
    {"CPU: fill part of an image, f32", "library.cpu.fill.f32", "limits.cpu.write", RATE_AT_LEAST, 0.8},
    {"CPU: copy, f32", "library.cpu.copy.f32", "limits.cpu.read_write", RATE_AT_LEAST, 0.8},
    {"CPU: crop, f32", "library.cpu.crop.f32", "limits.cpu.read_write", RATE_AT_LEAST, 0.8},
    {"CPU: flip along rows, f32", "library.cpu.flip.i", "limits.cpu.read_write", RATE_AT_LEAST, 0.8},
    {"CPU: flip slices, f32", "library.cpu.flip.k", "limits.cpu.read_write", RATE_AT_LEAST, 0.8},
    {"CPU: add, u8", "library.cpu.add.u8", "limits.cpu.read_read_write", RATE_AT_LEAST, 0},
    {"CPU: add, f32, into a new image", "library.cpu.add_new.f32", "limits.cpu.read_read_write", RATE_AT_LEAST, 0},
};
const int32_t target_count = sizeof targets / sizeof *targets;

const comparison comparisons[] = {
    {"upload, 64 MiB", "library.owned.up.64MiB", "naive.up.64MiB"},
    {"upload, 512 MiB", "library.owned.up.512MiB", "naive.up.512MiB"},
    {"download, 64 MiB", "library.owned.down.64MiB", "naive.down.64MiB"},
    {"download, 512 MiB", "library.owned.down.512MiB", "naive.down.512MiB"},
    {"upload of pageable memory, 512 MiB", "library.pageable.up.512MiB", "naive.up.512MiB"},
    {"download to pageable memory, 512 MiB", "library.pageable.down.512MiB", "naive.down.512MiB"},
    {"one pixel read after a device write, 512^3", "library.pixel.read", "naive.pixel.read"},
    {"one pixel read, device again, 512^3", "library.pixel.read_then_device", "naive.pixel.read_then_device"},
    {"one pixel written, then device, 512^3", "library.pixel.write_then_device", "naive.pixel.write_then_device"},
    {"512 boxes of 32^3 in 512^3, up", "library.boxes.up.32", "naive.up.512MiB"},
    {"512 boxes of 32^3 in 512^3, down", "library.boxes.down.32", "naive.down.512MiB"},
    {"create, device memory, destroy, 64 MiB", "library.create.64MiB", "naive.create.64MiB"},
    {"create, device memory, destroy, 512 MiB", "library.create.512MiB", "naive.create.512MiB"},
    {"create 512^3, fill, current on the device", "library.fill.512MiB", "naive.fill.512MiB"},
};
const int32_t comparison_count = sizeof comparisons / sizeof *comparisons;

verdict target_judge(const bench *b, const target *t)
{
    verdict v = {.is_measured = false};
    const measure *measured = bench_find(b, t->measure);
    const measure *limit = t->limit != NULL ? bench_find(b, t->limit) : NULL;
    if (measured == NULL || (t->limit != NULL && limit == NULL))
        return v;
    v.is_measured = true;
    v.is_rate = t->rule == RATE_AT_LEAST && measured->bytes > 0;
    v.value = v.is_rate ? measured->bytes / measured->seconds.median : measured->seconds.median;
    if (limit != NULL) {
        v.limit = v.is_rate ? limit->bytes / limit->seconds.median : limit->seconds.median;
        v.ratio = v.value / v.limit;
    }
    switch (t->rule) {
    case RATE_AT_LEAST:
        /* Without bytes the rates are those of repetitions. */
        if (!v.is_rate)
            v.ratio = v.limit / v.value;
        v.is_reached = v.ratio >= t->reach;
        break;
    case TIME_AT_MOST:
        v.is_reached = v.ratio <= t->reach;
        break;
    case SECONDS_AT_MOST:
        v.is_reached = v.value <= t->reach;
        break;
    }
    return v;
}

double comparison_speedup(const bench *b, const comparison *c)
{
    const measure *measured = bench_find(b, c->measure), *naive = bench_find(b, c->naive);
    return measured != NULL && naive != NULL ? naive->seconds.median / measured->seconds.median : 0;
}
