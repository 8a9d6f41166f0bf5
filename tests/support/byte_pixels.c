#include "support/byte_pixels.h"

#include "support/dense_work.h"
#include "support/fixture.h"

#include <string.h>

void byte_pixels_strides(cc_image *image, cc_place place, int64_t out_strides[CC_MAX_DIMENSION])
{
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    fixture_ok(cc_image_describe(image, NULL, CC_ORDER_K, 0, place, &descriptor));
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; ++axis)
        out_strides[axis] = axis < descriptor.ndim ? descriptor.strides_bytes[axis] : 0;
}

cc_region region_at(int64_t i, int64_t j, int64_t size_i, int64_t size_j)
{
    const cc_region region = {{i, j, 0, 0}, {size_i, size_j, 1, 1}};
    return region;
}

typedef void (*row_function)(unsigned char *row, int64_t length, void *context);

static void each_row(void *pixels, const cc_region *region, const int64_t strides_bytes[CC_MAX_DIMENSION],
                     row_function function, void *context)
{
    ck_assert_int_le(region->size[0], BYTE_PIXELS_MAX_ROW);
    for (int64_t l = 0; l < region->size[3]; ++l)
        for (int64_t k = 0; k < region->size[2]; ++k)
            for (int64_t j = 0; j < region->size[1]; ++j)
                function((unsigned char *)pixels + j * strides_bytes[1] + k * strides_bytes[2] + l * strides_bytes[3],
                         region->size[0], context);
}

static void set_row(unsigned char *row, int64_t length, void *context)
{
    memset(row, *(const unsigned char *)context, (size_t)length);
}

void byte_pixels_set(void *pixels, const cc_region *region, const int64_t strides_bytes[CC_MAX_DIMENSION],
                     unsigned char value)
{
    each_row(pixels, region, strides_bytes, set_row, &value);
}

static cc_region region_of(cc_image *image, const cc_region *region)
{
    cc_region known = cc_image_get_region(image);
    for (int32_t axis = 0; region != NULL && axis < cc_image_get_dimension(image); ++axis) {
        known.index[axis] = region->index[axis];
        known.size[axis] = region->size[axis];
    }
    return known;
}

void byte_pixels_write_host(cc_image *image, const cc_region *region, unsigned char value)
{
    const cc_region known = region_of(image, region);
    int64_t strides[CC_MAX_DIMENSION];
    void *pixels = NULL;
    byte_pixels_strides(image, CC_PLACE_HOST, strides);
    fixture_ok(cc_image_map_host(image, region, CC_ACCESS_WRITE, &pixels));
    byte_pixels_set(pixels, &known, strides, value);
    fixture_ok(cc_image_unmap_host(image, pixels));
}

typedef struct row_check {
    unsigned char value;
    int64_t wrong;
} row_check;

static void check_row(unsigned char *row, int64_t length, void *context)
{
    row_check *check = context;
    for (int64_t i = 0; i < length; ++i)
        check->wrong += row[i] != check->value;
}

void byte_pixels_expect_host(cc_image *image, const cc_region *region, unsigned char value)
{
    const cc_region known = region_of(image, region);
    int64_t strides[CC_MAX_DIMENSION];
    row_check check = {.value = value};
    void *pixels = NULL;
    byte_pixels_strides(image, CC_PLACE_HOST, strides);
    fixture_ok(cc_image_map_host(image, region, CC_ACCESS_READ, &pixels));
    each_row(pixels, &known, strides, check_row, &check);
    fixture_ok(cc_image_unmap_host(image, pixels));
    ck_assert_msg(check.wrong == 0, "%d pixels are not %d on the host", (int)check.wrong, value);
}

typedef struct device_row {
    int32_t device;
    cc_stream stream;
    unsigned char value;
    int64_t wrong;
} device_row;

static void write_device_row(unsigned char *row, int64_t length, void *context)
{
    /* Late, as a kernel is: a copy from pageable memory would be done by now. */
    const device_row *work = context;
    fixture_ok(fill_bytes(fixture_inner, work->device, work->stream, row, work->value, length));
}

static void check_device_row(unsigned char *row, int64_t length, void *context)
{
    unsigned char found[BYTE_PIXELS_MAX_ROW];
    device_row *work = context;
    fixture_device_read(work->device, work->stream, found, row, (size_t)length);
    fixture_ok(cc_stream_synchronize(work->device, work->stream));
    for (int64_t i = 0; i < length; ++i)
        work->wrong += found[i] != work->value;
}

static int64_t on_device(cc_image *image, const cc_region *region, cc_access access, unsigned char value,
                         cc_stream stream)
{
    const cc_region known = region_of(image, region);
    device_row work = {.stream = stream, .value = value};
    int64_t strides[CC_MAX_DIMENSION];
    void *pixels = NULL;
    fixture_ok(cc_image_map_device(image, region, access, stream, &pixels));
    work.device = cc_image_get_device(image);
    byte_pixels_strides(image, work.device, strides);
    each_row(pixels, &known, strides, access == CC_ACCESS_READ ? check_device_row : write_device_row, &work);
    fixture_ok(cc_image_unmap_device(image, pixels, stream));
    return work.wrong;
}

void byte_pixels_write_device(cc_image *image, const cc_region *region, unsigned char value, cc_stream stream)
{
    (void)on_device(image, region, CC_ACCESS_WRITE, value, stream);
}

void byte_pixels_expect_device(cc_image *image, const cc_region *region, unsigned char value, cc_stream stream)
{
    const int64_t wrong = on_device(image, region, CC_ACCESS_READ, value, stream);
    ck_assert_msg(wrong == 0, "%d pixels are not %d on the device", (int)wrong, value);
}
