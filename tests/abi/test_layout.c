/*
 * Sizes and offsets of what crosses the ABI, as they are since 2.0 on a 64-bit machine. Within 2.x a struct grows only
 * at its end; then its size changes here and nothing else. Compiled is tested.
 */
#include <cudacommon/cudacommon.h>
#include <stdio.h>

#define SIZE(type, bytes) _Static_assert(sizeof(type) == (bytes), "size of " #type)
#define OFFSET(type, member, bytes) _Static_assert(offsetof(type, member) == (bytes), "offset of " #member)

SIZE(void *, 8);
SIZE(cc_place, 4);
SIZE(cc_stream, 8);
SIZE(cc_status, 4);
SIZE(cc_pixel_type, 4);
SIZE(cc_access, 4);
SIZE(cc_order, 4);
SIZE(cc_border, 4);
SIZE(cc_copy_path, 4);
SIZE(cc_trace_kind, 4);

SIZE(cc_region, 64);
OFFSET(cc_region, index, 0);
OFFSET(cc_region, size, 32);

SIZE(cc_image_params, 280);
OFFSET(cc_image_params, struct_size, 0);
OFFSET(cc_image_params, dimension, 4);
OFFSET(cc_image_params, pixel_type, 8);
OFFSET(cc_image_params, components, 12);
OFFSET(cc_image_params, device, 16);
OFFSET(cc_image_params, flags, 20);
OFFSET(cc_image_params, region, 24);
OFFSET(cc_image_params, spacing, 88);
OFFSET(cc_image_params, origin, 120);
OFFSET(cc_image_params, direction, 152);

SIZE(cc_operand, 24);
OFFSET(cc_operand, value, 0);
OFFSET(cc_operand, kind, 8);
OFFSET(cc_operand, number, 12);
OFFSET(cc_operand, component, 16);
OFFSET(cc_operand, reserved, 20);

SIZE(cc_step, 56);
OFFSET(cc_step, kind, 0);
OFFSET(cc_step, reserved, 4);
OFFSET(cc_step, a, 8);
OFFSET(cc_step, b, 32);

SIZE(cc_geometry, 232);
OFFSET(cc_geometry, struct_size, 0);
OFFSET(cc_geometry, dimension, 4);
OFFSET(cc_geometry, index, 8);
OFFSET(cc_geometry, spacing, 40);
OFFSET(cc_geometry, origin, 72);
OFFSET(cc_geometry, direction, 104);

SIZE(cc_sigma_unit, 4);
SIZE(cc_gaussian_params, 64);
OFFSET(cc_gaussian_params, struct_size, 0);
OFFSET(cc_gaussian_params, unit, 4);
OFFSET(cc_gaussian_params, sigma, 8);
OFFSET(cc_gaussian_params, truncate, 40);
OFFSET(cc_gaussian_params, border, 48);
OFFSET(cc_gaussian_params, reserved, 52);
OFFSET(cc_gaussian_params, border_value, 56);

SIZE(cc_filter_domain, 4);
SIZE(cc_convolve_params, 32);
OFFSET(cc_convolve_params, struct_size, 0);
OFFSET(cc_convolve_params, axis, 4);
OFFSET(cc_convolve_params, domain, 8);
OFFSET(cc_convolve_params, reserved, 12);
OFFSET(cc_convolve_params, centre, 16);
OFFSET(cc_convolve_params, length, 24);

SIZE(cc_pad_params, 96);
OFFSET(cc_pad_params, struct_size, 0);
OFFSET(cc_pad_params, flags, 4);
OFFSET(cc_pad_params, border, 8);
OFFSET(cc_pad_params, lower, 24);
OFFSET(cc_pad_params, upper, 56);
OFFSET(cc_pad_params, value, 88);
SIZE(cc_resample_params, 112);
OFFSET(cc_resample_params, struct_size, 0);
OFFSET(cc_resample_params, interpolation, 4);
OFFSET(cc_resample_params, outside, 8);
OFFSET(cc_resample_params, matrix, 16);
OFFSET(cc_resample_params, offset, 88);

SIZE(cc_import_params, 56);
OFFSET(cc_import_params, struct_size, 0);
OFFSET(cc_import_params, flags, 4);
OFFSET(cc_import_params, dimension, 8);
OFFSET(cc_import_params, order, 12);
OFFSET(cc_import_params, geometry, 16);
OFFSET(cc_import_params, release, 24);
OFFSET(cc_import_params, user_data, 32);
OFFSET(cc_import_params, memory, 40);
OFFSET(cc_import_params, memory_bytes, 48);

SIZE(cc_wrap_params, 72);
OFFSET(cc_wrap_params, struct_size, 0);
OFFSET(cc_wrap_params, flags, 4);
OFFSET(cc_wrap_params, data, 8);
OFFSET(cc_wrap_params, size_bytes, 16);
OFFSET(cc_wrap_params, strides_bytes, 24);
OFFSET(cc_wrap_params, release, 56);
OFFSET(cc_wrap_params, user_data, 64);

SIZE(cc_descriptor, 144);
OFFSET(cc_descriptor, struct_size, 0);
OFFSET(cc_descriptor, version, 4);
OFFSET(cc_descriptor, ndim, 8);
OFFSET(cc_descriptor, place, 12);
OFFSET(cc_descriptor, data, 16);
OFFSET(cc_descriptor, stream, 24);
OFFSET(cc_descriptor, shape, 32);
OFFSET(cc_descriptor, strides_bytes, 72);
OFFSET(cc_descriptor, typestr, 112);
OFFSET(cc_descriptor, pixel_type, 120);
OFFSET(cc_descriptor, itemsize_bytes, 124);
OFFSET(cc_descriptor, read_only, 128);
OFFSET(cc_descriptor, c_contiguous, 132);
OFFSET(cc_descriptor, f_contiguous, 136);
OFFSET(cc_descriptor, pending, 140);

SIZE(cc_export_params, 40);
OFFSET(cc_export_params, struct_size, 0);
OFFSET(cc_export_params, flags, 4);
OFFSET(cc_export_params, region, 8);
OFFSET(cc_export_params, order, 16);
OFFSET(cc_export_params, access, 20);
OFFSET(cc_export_params, place, 24);
OFFSET(cc_export_params, reserved, 28);
OFFSET(cc_export_params, stream, 32);

SIZE(cc_allocator, 40);
OFFSET(cc_allocator, struct_size, 0);
OFFSET(cc_allocator, allocate, 8);
OFFSET(cc_allocator, free, 16);
OFFSET(cc_allocator, release, 24);
OFFSET(cc_allocator, user_data, 32);

SIZE(cc_host_memory_state, 48);
OFFSET(cc_host_memory_state, locked_bytes, 8);
OFFSET(cc_host_memory_state, locked_limit_bytes, 16);
OFFSET(cc_host_memory_state, pooled_bytes, 24);
OFFSET(cc_host_memory_state, pool_limit_bytes, 32);
OFFSET(cc_host_memory_state, staging_bytes, 40);

SIZE(cc_place_state, 56);
OFFSET(cc_place_state, struct_size, 0);
OFFSET(cc_place_state, mapping_count, 4);
OFFSET(cc_place_state, memory_bytes, 8);
OFFSET(cc_place_state, valid_pixels, 16);
OFFSET(cc_place_state, constant_pixels, 24);
OFFSET(cc_place_state, locked_bytes, 32);
OFFSET(cc_place_state, loan_count, 40);
OFFSET(cc_place_state, reserved, 44);
OFFSET(cc_place_state, texture_bytes, 48);

SIZE(cc_path_counters, 16);
OFFSET(cc_path_counters, copies, 0);
OFFSET(cc_path_counters, bytes, 8);

SIZE(cc_counters, 312);
OFFSET(cc_counters, struct_size, 0);
OFFSET(cc_counters, reserved, 4);
OFFSET(cc_counters, host_to_device_copies, 8);
OFFSET(cc_counters, host_to_device_bytes, 16);
OFFSET(cc_counters, device_to_host_copies, 24);
OFFSET(cc_counters, device_to_host_bytes, 32);
OFFSET(cc_counters, device_to_device_copies, 40);
OFFSET(cc_counters, device_to_device_bytes, 48);
OFFSET(cc_counters, fills, 56);
OFFSET(cc_counters, avoided_copies, 64);
OFFSET(cc_counters, avoided_bytes, 72);
OFFSET(cc_counters, host_allocations, 80);
OFFSET(cc_counters, device_allocations, 88);
OFFSET(cc_counters, host_to_device_paths, 96);
OFFSET(cc_counters, device_to_host_paths, 192);
OFFSET(cc_counters, evictions, 288);
OFFSET(cc_counters, transfer_nanoseconds, 296);
OFFSET(cc_counters, texture_updates, 304);

SIZE(cc_filter, 64);
OFFSET(cc_filter, struct_size, 0);
OFFSET(cc_filter, input_count, 4);
OFFSET(cc_filter, inputs, 8);
OFFSET(cc_filter, output, 16);
OFFSET(cc_filter, on_device, 24);
OFFSET(cc_filter, on_host, 32);
OFFSET(cc_filter, user_data, 40);
OFFSET(cc_filter, place, 48);
OFFSET(cc_filter, reserved, 52);
OFFSET(cc_filter, stream, 56);

SIZE(cc_texture_params, 32);
OFFSET(cc_texture_params, struct_size, 0);
OFFSET(cc_texture_params, flags, 4);
OFFSET(cc_texture_params, shape, 8);
OFFSET(cc_texture_params, filter, 12);
OFFSET(cc_texture_params, read, 16);
OFFSET(cc_texture_params, address, 20);

SIZE(cc_texture, 216);
OFFSET(cc_texture, struct_size, 0);
OFFSET(cc_texture, object_count, 4);
OFFSET(cc_texture, channels, 8);
OFFSET(cc_texture, device, 12);
OFFSET(cc_texture, region, 16);
OFFSET(cc_texture, library, 80);
OFFSET(cc_texture, objects, 88);

SIZE(cc_live_image, 192);
OFFSET(cc_live_image, struct_size, 0);
OFFSET(cc_live_image, pixel_type, 4);
OFFSET(cc_live_image, components, 8);
OFFSET(cc_live_image, dimension, 12);
OFFSET(cc_live_image, device, 16);
OFFSET(cc_live_image, mapping_count, 20);
OFFSET(cc_live_image, image, 24);
OFFSET(cc_live_image, region, 32);
OFFSET(cc_live_image, size_bytes, 96);
OFFSET(cc_live_image, pixels_id, 104);
OFFSET(cc_live_image, host_bytes, 112);
OFFSET(cc_live_image, device_bytes, 120);
OFFSET(cc_live_image, label, 128);

SIZE(cc_trace_event, 128);
OFFSET(cc_trace_event, struct_size, 0);
OFFSET(cc_trace_event, kind, 4);
OFFSET(cc_trace_event, path, 8);
OFFSET(cc_trace_event, box_count, 12);
OFFSET(cc_trace_event, from, 16);
OFFSET(cc_trace_event, to, 20);
OFFSET(cc_trace_event, bytes, 24);
OFFSET(cc_trace_event, pixels_id, 32);
OFFSET(cc_trace_event, box, 40);
OFFSET(cc_trace_event, label, 104);
OFFSET(cc_trace_event, function, 112);
OFFSET(cc_trace_event, reason, 120);

/* Enumerators are part of the ABI: never renumbered. */
#define VALUE(name, number) _Static_assert(name == (number), #name)
VALUE(CC_BORDER_CONSTANT, 0);
VALUE(CC_BORDER_REPLICATE, 1);
VALUE(CC_BORDER_REFLECT, 2);
VALUE(CC_BORDER_SYMMETRIC, 3);
VALUE(CC_BORDER_PERIODIC, 4);
VALUE(CC_OK, 0);
VALUE(CC_ERROR_INVALID_ARGUMENT, 1);
VALUE(CC_ERROR_OVERFLOW, 2);
VALUE(CC_ERROR_REGION, 3);
VALUE(CC_ERROR_PIXEL_TYPE, 4);
VALUE(CC_ERROR_SIZE, 5);
VALUE(CC_ERROR_LAYOUT, 6);
VALUE(CC_ERROR_BUSY, 7);
VALUE(CC_ERROR_READ_ONLY, 8);
VALUE(CC_ERROR_UNINITIALIZED, 9);
VALUE(CC_ERROR_NO_DEVICE, 10);
VALUE(CC_ERROR_INVALID_DEVICE, 11);
VALUE(CC_ERROR_POINTER, 12);
VALUE(CC_ERROR_STREAM, 13);
VALUE(CC_ERROR_CAPTURE, 14);
VALUE(CC_ERROR_OUT_OF_HOST_MEMORY, 15);
VALUE(CC_ERROR_OUT_OF_DEVICE_MEMORY, 16);
VALUE(CC_ERROR_DEVICE, 17);
VALUE(CC_ERROR_FORKED, 18);
VALUE(CC_ERROR_UNSUPPORTED, 19);
VALUE(CC_PIXEL_BOOL, 0);
VALUE(CC_PIXEL_UINT8, 1);
VALUE(CC_PIXEL_INT8, 2);
VALUE(CC_PIXEL_UINT16, 3);
VALUE(CC_PIXEL_INT16, 4);
VALUE(CC_PIXEL_UINT32, 5);
VALUE(CC_PIXEL_INT32, 6);
VALUE(CC_PIXEL_UINT64, 7);
VALUE(CC_PIXEL_INT64, 8);
VALUE(CC_PIXEL_FLOAT16, 9);
VALUE(CC_PIXEL_BFLOAT16, 10);
VALUE(CC_PIXEL_FLOAT32, 11);
VALUE(CC_PIXEL_FLOAT64, 12);
VALUE(CC_PIXEL_COMPLEX64, 13);
VALUE(CC_PIXEL_COMPLEX128, 14);

VALUE(CC_STEP_LOAD, 0);
VALUE(CC_STEP_ADD, 1);
VALUE(CC_STEP_SUBTRACT, 2);
VALUE(CC_STEP_MULTIPLY, 3);
VALUE(CC_STEP_DIVIDE, 4);
VALUE(CC_STEP_MINIMUM, 5);
VALUE(CC_STEP_MAXIMUM, 6);
VALUE(CC_STEP_MULTIPLY_ADD, 7);
VALUE(CC_STEP_CLAMP, 8);
VALUE(CC_STEP_WITHIN, 9);
VALUE(CC_STEP_LESS, 10);
VALUE(CC_STEP_EQUAL, 11);
VALUE(CC_STEP_SELECT, 12);
VALUE(CC_STEP_NEGATE, 13);
VALUE(CC_STEP_ABSOLUTE, 14);
VALUE(CC_STEP_SQUARE, 15);
VALUE(CC_STEP_SQUARE_ROOT, 16);
VALUE(CC_STEP_REAL, 17);
VALUE(CC_STEP_IMAGINARY, 18);
VALUE(CC_STEP_CONJUGATE, 19);
VALUE(CC_STEP_ARGUMENT, 20);
VALUE(CC_OPERAND_NONE, 0);
VALUE(CC_OPERAND_IMAGE, 1);
VALUE(CC_OPERAND_COMPONENT, 2);
VALUE(CC_OPERAND_MAGNITUDE, 3);
VALUE(CC_OPERAND_VALUE, 4);
VALUE(CC_OPERAND_STEP, 5);
VALUE(CC_TEXTURE_VOLUME, 0);
VALUE(CC_TEXTURE_LAYERS, 1);
VALUE(CC_TEXTURE_PLANE, 2);
VALUE(CC_TEXTURE_POINT, 0);
VALUE(CC_TEXTURE_LINEAR, 1);
VALUE(CC_TEXTURE_BORDER, 0);
VALUE(CC_TEXTURE_CLAMP, 1);
VALUE(CC_TEXTURE_WRAP, 2);
VALUE(CC_TEXTURE_MIRROR, 3);
VALUE(CC_TEXTURE_ELEMENT, 0);
VALUE(CC_TEXTURE_NORMALIZED, 1);
VALUE(CC_TEXTURE_PER_COMPONENT, 1);
VALUE(CC_TEXTURE_NORMALIZED_COORDINATES, 2);
VALUE(CC_TEXTURE_MAX_OBJECTS, 16);
VALUE(CC_REDUCE_SUM, 0);
VALUE(CC_REDUCE_MEAN, 1);
VALUE(CC_REDUCE_MINIMUM, 2);
VALUE(CC_REDUCE_MAXIMUM, 3);
VALUE(CC_REDUCE_VARIANCE, 4);
VALUE(CC_REDUCE_NORM, 5);
VALUE(CC_REDUCE_DOT, 6);
VALUE(CC_ACCESS_READ, 0);
VALUE(CC_ACCESS_WRITE, 1);
VALUE(CC_ACCESS_READ_WRITE, 2);
VALUE(CC_ORDER_C, 0);
VALUE(CC_ORDER_K, 1);
VALUE(CC_PATH_ENGINE, 0);
VALUE(CC_PATH_KERNEL, 1);
VALUE(CC_PATH_STAGED, 2);
VALUE(CC_PATH_PLAIN, 3);
VALUE(CC_PATH_CAPACITY, 6);
VALUE(CC_LABEL_BYTES, 64);
VALUE(CC_TRACE_COPY_TO_DEVICE, 0);
VALUE(CC_TRACE_COPY_TO_HOST, 1);
VALUE(CC_TRACE_COPY_BETWEEN_DEVICES, 2);
VALUE(CC_TRACE_FILL, 3);
VALUE(CC_TRACE_ALLOCATE, 4);
VALUE(CC_TRACE_FREE, 5);
VALUE(CC_TRACE_EVICT, 6);
VALUE(CC_TRACE_REGISTER, 7);
VALUE(CC_PLACE_HOST, -1);
VALUE(CC_DEVICE_CURRENT, -2);
VALUE(CC_IMAGE_UNINITIALIZED, 1);
VALUE(CC_IMPORT_STRIDED, 1);
VALUE(CC_IMPORT_REUSED, 2);
VALUE(CC_IMPORT_BORROWED, 4);
VALUE(CC_IMPORT_OWN_GEOMETRY, 8);
VALUE(CC_IMPORT_WRITABLE, 16);
VALUE(CC_IMPORT_CONTIGUOUS, 32);
VALUE(CC_DLPACK_COPY, 1);
VALUE(CC_DLPACK_FORCE, 2);
VALUE(CC_WRAP_BORROWED, 1);
VALUE(CC_WRAP_READ_ONLY, 2);
VALUE(CC_WRAP_UNINITIALIZED, 4);
VALUE(CC_DESCRIBE_COMPONENT_AXIS, 1);
VALUE(CC_MAX_DIMENSION, 4);
VALUE(CC_MAX_COMPONENTS, 64);

/* The library that is loaded is of the headers' version. */
int main(void)
{
    if (cc_version() == CUDACOMMON_VERSION)
        return 0;
    printf("headers %d, library %d\n", CUDACOMMON_VERSION, (int)cc_version());
    return 1;
}
