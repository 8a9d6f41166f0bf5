#include "support/image_program.h"

#include "backend/emulated.h"
#include "support/image_program_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

image_program *image_program_create(int64_t i, int64_t j, int64_t k)
{
    image_program *program = calloc(1, sizeof *program);
    ck_assert_ptr_nonnull(program);
    program->size[0] = i;
    program->size[1] = j;
    program->size[2] = k;
    program->device_count = fixture_device_count() < PROGRAM_DEVICES ? fixture_device_count() : PROGRAM_DEVICES;
    for (int32_t device = 0; device < program->device_count; ++device)
        program->streams[device] = fixture_stream_create(device);
    return program;
}

static cc_region region_of(const image_program *program, const program_image *image, step_part part)
{
    const int64_t i = program->size[0], j = program->size[1], k = program->size[2];
    switch (part) {
    case PART_WHOLE:
        break;
    case PART_ROWS:
        return (cc_region){{0, 1, 1, 0}, {i, j - 2, 2, 1}};
    case PART_BLOCK:
        return (cc_region){{2, 1, 1, 0}, {i - 3, j - 2, k - 2, 1}};
    case PART_CORNER:
        return (cc_region){{0, 0, 0, 0}, {3, 2, 2, 1}};
    case PART_SLICE:
        return (cc_region){{0, 0, k - 1, 0}, {i, j, 1, 1}};
    }
    return image->region;
}

static void set_new_pixels(image_program *program, program_image *image, const int64_t size[3], cc_pixel_type type)
{
    image->pixels = image_pixels_create(size, type);
    image->pixels->next = program->pixels;
    program->pixels = image->pixels;
    image->region = (cc_region){{0, 0, 0, 0}, {size[0], size[1], size[2], 1}};
}

static cc_status create(image_program *program, program_image *image, const program_step *step)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    params.dimension = 3;
    params.pixel_type = step->type;
    memcpy(params.region.size, program->size, sizeof program->size);
    const cc_status status = cc_image_create(&params, &image->image);
    if (status == CC_OK) {
        image->device = 0;
        set_new_pixels(program, image, program->size, step->type);
    }
    return status;
}

static cc_status create_view(image_program *program, program_image *view, program_image *parent,
                             const program_step *step)
{
    const cc_region region = region_of(program, parent, step->part);
    const cc_status status = cc_image_create_view(parent->image, &region, &view->image);
    if (status == CC_OK) {
        view->pixels = parent->pixels;
        view->region = region;
        view->device = parent->device;
    }
    return status;
}

static cc_status graft(program_image *image, const program_image *source)
{
    const cc_status status = cc_image_graft(image->image, source->image);
    if (status == CC_OK) {
        image->pixels = source->pixels;
        image->region = source->region;
        image->device = source->device;
    }
    return status;
}

static cc_status resize(image_program *program, program_image *image, const program_step *step)
{
    cc_region region = region_of(program, image, step->part);
    memset(region.index, 0, sizeof region.index);
    const cc_status status = cc_image_resize(image->image, &region);
    if (status == CC_OK)
        set_new_pixels(program, image, region.size, image->pixels->type);
    return status;
}

static void free_memory(program_memory *memory)
{
    if (memory->place == CC_PLACE_HOST)
        free(memory->data);
    else
        (void)fixture_inner->free(fixture_inner, memory->place, CC_STREAM_DEFAULT, memory->data);
}

static void release_memory(void *data, void *user_data)
{
    program_memory *memory = user_data;
    ck_assert_ptr_eq(data, memory->data);
    ++memory->released;
    free_memory(memory);
}

static program_memory *create_memory(image_program *program, const image_pixels *pixels, cc_place place)
{
    const size_t size_bytes = image_pixels_size_bytes(pixels);
    program_memory *memory = calloc(1, sizeof *memory);
    unsigned char *bytes = malloc(size_bytes);
    ck_assert(memory != NULL && bytes != NULL);
    image_pixels_store(pixels, bytes);
    memory->data = bytes;
    memory->place = place;
    if (place != CC_PLACE_HOST) {
        const cc_stream stream = program->streams[place];
        fixture_ok(fixture_inner->allocate(fixture_inner, place, stream, size_bytes, &memory->data));
        fixture_device_write(place, stream, memory->data, bytes, size_bytes);
        fixture_ok(fixture_inner->stream_synchronize(fixture_inner, place, stream));
        free(bytes);
    }
    memory->next = program->memories;
    program->memories = memory;
    return memory;
}

static cc_status wrap(image_program *program, program_image *image, const program_step *step)
{
    cc_wrap_params params = CC_WRAP_PARAMS_INIT;
    program_image wrapped = *image;
    set_new_pixels(program, &wrapped, wrapped.pixels->size, wrapped.pixels->type);
    wrapped.region = image->region;
    const int64_t count = wrapped.pixels->size[0] * wrapped.pixels->size[1] * wrapped.pixels->size[2];
    for (int64_t i = 0; i < count; ++i)
        wrapped.pixels->values[i] = (double)(i % 100) - 50;
    program_memory *memory = create_memory(program, wrapped.pixels, step->place);
    params.data = memory->data;
    params.size_bytes = image_pixels_size_bytes(wrapped.pixels);
    params.release = release_memory;
    params.user_data = memory;
    const cc_status status = step->kind == STEP_WRAP_HOST
                                 ? cc_image_wrap_host(image->image, &params)
                                 : cc_image_wrap_device(image->image, &params, program->streams[step->place]);
    if (status != CC_OK) {
        free_memory(memory);
        return status;
    }
    memory->is_taken = true;
    *image = wrapped;
    if (step->place != CC_PLACE_HOST)
        image->device = step->place;
    return CC_OK;
}

static cc_status fill(image_program *program, program_image *image, const program_step *step)
{
    const cc_region region = region_of(program, image, step->part);
    unsigned char value[sizeof(double)];
    const double number = program->seed + 20;
    image_pixels_store_value(image->pixels->type, number, value);
    const cc_status status =
        cc_image_fill(image->image, step->part == PART_WHOLE ? NULL : &region, value, CC_STREAM_DEFAULT);
    for (int64_t k = 0; status == CC_OK && k < region.size[2]; ++k)
        for (int64_t j = 0; j < region.size[1]; ++j)
            for (int64_t i = 0; i < region.size[0]; ++i)
                *image_pixels_at(image->pixels, region.index[0] + i, region.index[1] + j, region.index[2] + k) = number;
    return status;
}

static cc_status rescale(program_image *input, program_image *output)
{
    const cc_region *from = &input->region;
    const cc_region *to = &output->region;
    const cc_status status = cc_image_rescale(input->image, 2, -3, output->image, CC_STREAM_DEFAULT);
    for (int64_t k = 0; status == CC_OK && k < to->size[2]; ++k)
        for (int64_t j = 0; j < to->size[1]; ++j)
            for (int64_t i = 0; i < to->size[0]; ++i)
                *image_pixels_at(output->pixels, to->index[0] + i, to->index[1] + j, to->index[2] + k) =
                    2 * *image_pixels_at(input->pixels, from->index[0] + i, from->index[1] + j, from->index[2] + k) - 3;
    return status;
}

static cc_status subtract(program_image *image, program_image *other)
{
    const cc_region *from = &other->region;
    const cc_region *to = &image->region;
    const cc_status status = cc_image_subtract(image->image, other->image, image->image, CC_STREAM_DEFAULT);
    for (int64_t k = 0; status == CC_OK && k < to->size[2]; ++k)
        for (int64_t j = 0; j < to->size[1]; ++j)
            for (int64_t i = 0; i < to->size[0]; ++i)
                *image_pixels_at(image->pixels, to->index[0] + i, to->index[1] + j, to->index[2] + k) -=
                    *image_pixels_at(other->pixels, from->index[0] + i, from->index[1] + j, from->index[2] + k);
    return status;
}

static cc_status measure(program_image *image)
{
    const cc_region *region = &image->region;
    double sum = 0, found = 0;
    const cc_status status = cc_image_measure(CC_REDUCE_SUM, image->image, NULL, CC_STREAM_DEFAULT, &found);
    for (int64_t k = 0; k < region->size[2]; ++k)
        for (int64_t j = 0; j < region->size[1]; ++j)
            for (int64_t i = 0; i < region->size[0]; ++i)
                sum +=
                    *image_pixels_at(image->pixels, region->index[0] + i, region->index[1] + j, region->index[2] + k);
    ck_assert(status != CC_OK || found == sum);
    return status;
}

/* Rows one by one, because what lies between them may be somebody else's. */
static void touch_on_real_device(int32_t device, cc_stream stream, pixel_touch *touch)
{
    const size_t row_bytes = (size_t)touch->size[0] * image_pixels_value_bytes(touch->type);
    unsigned char *on_device = touch->memory;
    unsigned char *on_host = malloc(pixel_touch_extent_bytes(touch));
    ck_assert_ptr_nonnull(on_host);
    fixture_device_read(device, stream, on_host, on_device, pixel_touch_extent_bytes(touch));
    fixture_ok(fixture_inner->stream_synchronize(fixture_inner, device, stream));
    touch->memory = on_host;
    pixel_touch_run(touch);
    for (int64_t k = 0; touch->access != CC_ACCESS_READ && k < touch->size[2]; ++k)
        for (int64_t j = 0; j < touch->size[1]; ++j) {
            const int64_t offset = j * touch->stride[1] + k * touch->stride[2];
            fixture_device_write(device, stream, on_device + offset, on_host + offset, row_bytes);
        }
    fixture_ok(fixture_inner->stream_synchronize(fixture_inner, device, stream));
    free(on_host);
}

void image_program_launch(image_program *program, int32_t device, pixel_touch *touch)
{
    const cc_stream stream = program->streams[device];
    if (fixture_is_emulated())
        fixture_ok(cc__emulated_launch(fixture_inner, device, stream, pixel_touch_run, touch));
    else
        touch_on_real_device(device, stream, touch);
}

static cc_status map(image_program *program, program_image *image, const program_step *step)
{
    program_lent lent = {.region = region_of(program, image, step->part),
                         .access = step->access,
                         .device = step->kind == STEP_MAP_HOST ? CC_PLACE_HOST : image->device,
                         .descriptor = CC_DESCRIPTOR_INIT,
                         .unmap = (step_kind)(step->kind + 1)};
    const cc_region *region = step->part == PART_WHOLE ? NULL : &lent.region;
    const cc_stream stream = program->streams[image->device];
    cc_status status = CC_OK;
    if (step->kind == STEP_MAP_HOST)
        status = cc_image_map_host(image->image, region, step->access, &lent.pixels);
    else if (step->kind == STEP_MAP_DEVICE)
        status = cc_image_map_device(image->image, region, step->access, stream, &lent.pixels);
    else
        status = cc_image_map_descriptor(image->image, region, CC_ORDER_C, 0, CC_DEVICE_CURRENT, step->access, stream,
                                         &lent.descriptor);
    if (status != CC_OK)
        return status;
    if (step->kind == STEP_MAP_DESCRIPTOR)
        lent.pixels = lent.descriptor.data;
    ck_assert_int_lt(image->lent_count, PROGRAM_LENT);
    image->lent[image->lent_count++] = lent;

    program->seed += 1;
    pixel_touch *touch = pixel_touch_create(image->pixels, &lent.region, step->access, program->seed, lent.pixels);
    touch->next = program->touches;
    program->touches = touch;
    if (step->kind == STEP_MAP_HOST)
        pixel_touch_run(touch);
    else
        image_program_launch(program, lent.device, touch);
    return CC_OK;
}

static cc_status unmap_at(image_program *program, program_image *image, int32_t at)
{
    const program_lent *lent = &image->lent[at];
    cc_status status = CC_OK;
    if (lent->unmap == STEP_UNMAP_HOST)
        status = cc_image_unmap_host(image->image, lent->pixels);
    else if (lent->unmap == STEP_UNMAP_DEVICE)
        status = cc_image_unmap_device(image->image, lent->pixels, program->streams[lent->device]);
    else
        status = cc_image_unmap_descriptor(image->image, &lent->descriptor);
    if (status == CC_OK) {
        --image->lent_count;
        memmove(&image->lent[at], &image->lent[at + 1], (size_t)(image->lent_count - at) * sizeof *lent);
    }
    return status;
}

static cc_status unmap(image_program *program, program_image *image, const program_step *step)
{
    for (int32_t at = image->lent_count - 1; at >= 0; --at)
        if (image->lent[at].unmap == step->kind)
            return unmap_at(program, image, at);
    return CC_OK;
}

void image_program_unmap_all(image_program *program)
{
    for (int32_t i = 0; i < PROGRAM_IMAGES; ++i)
        while (program->images[i].lent_count > 0)
            fixture_ok(unmap_at(program, &program->images[i], program->images[i].lent_count - 1));
}

static void forget(program_image *image)
{
    memset(image, 0, sizeof *image);
}

/* Lent pixels keep the image alive; a program that released it could not give them back any more. */
static cc_status release(program_image *image)
{
    if (image->lent_count > 0)
        return CC_OK;
    cc_image_release(image->image);
    forget(image);
    return CC_OK;
}

static cc_status set_device(program_image *image, int32_t device)
{
    const cc_status status = cc_image_set_device(image->image, device);
    if (status == CC_OK)
        image->device = device;
    return status;
}

static cc_status ask_valid_regions(program_image *image, cc_place place)
{
    cc_region regions[8];
    int32_t count = 0;
    return cc_image_get_valid_regions(image->image, place, 8, regions, &count);
}

/* Whether the machine has the device that the step is about. */
static bool has_device(const image_program *program, const program_step *step)
{
    switch (step->kind) {
    case STEP_CREATE:
    case STEP_VIEW:
    case STEP_GRAFT:
    case STEP_RESIZE:
    case STEP_WRAP_HOST:
    case STEP_FILL:
    case STEP_RESCALE:
    case STEP_MAP_HOST:
    case STEP_UNMAP_HOST:
    case STEP_RELEASE:
    case STEP_SUBTRACT:
    case STEP_MEASURE:
        return true;
    case STEP_MAP_DEVICE:
    case STEP_UNMAP_DEVICE:
    case STEP_MAP_DESCRIPTOR:
    case STEP_UNMAP_DESCRIPTOR:
        return program->device_count > 0;
    case STEP_EVICT: /* pixels that are on the host alone need a device to go to */
        return program->device_count > 0 && step->place < program->device_count;
    case STEP_WRAP_DEVICE:
    case STEP_PREFETCH:
    case STEP_SET_DEVICE:
    case STEP_VALID_REGIONS:
        return step->place < program->device_count;
    }
    return false;
}

static bool is_possible(const image_program *program, const program_step *step)
{
    const program_image *image = &program->images[step->image];
    const bool needs_other = step->kind == STEP_VIEW || step->kind == STEP_GRAFT || step->kind == STEP_RESCALE ||
                             step->kind == STEP_SUBTRACT;
    if (!has_device(program, step) || (needs_other && program->images[step->other].image == NULL))
        return false;
    return (step->kind == STEP_CREATE || step->kind == STEP_VIEW) == (image->image == NULL);
}

cc_status image_program_do(image_program *program, const program_step *step)
{
    program_image *image = &program->images[step->image];
    program_image *other = &program->images[step->other];
    cc_region region;
    if (!is_possible(program, step))
        return CC_OK;
    switch (step->kind) {
    case STEP_CREATE:
        return create(program, image, step);
    case STEP_VIEW:
        return create_view(program, image, other, step);
    case STEP_GRAFT:
        return graft(image, other);
    case STEP_RESIZE:
        return resize(program, image, step);
    case STEP_WRAP_HOST:
    case STEP_WRAP_DEVICE:
        return wrap(program, image, step);
    case STEP_FILL:
        return fill(program, image, step);
    case STEP_RESCALE:
        return rescale(other, image);
    case STEP_SUBTRACT:
        return subtract(image, other);
    case STEP_MEASURE:
        return measure(image);
    case STEP_MAP_HOST:
    case STEP_MAP_DEVICE:
    case STEP_MAP_DESCRIPTOR:
        return map(program, image, step);
    case STEP_UNMAP_HOST:
    case STEP_UNMAP_DEVICE:
    case STEP_UNMAP_DESCRIPTOR:
        return unmap(program, image, step);
    case STEP_PREFETCH:
        region = region_of(program, image, step->part);
        return cc_image_prefetch(image->image, step->part == PART_WHOLE ? NULL : &region, step->place);
    case STEP_EVICT:
        return cc_image_evict(image->image, step->place);
    case STEP_SET_DEVICE:
        return set_device(image, step->place);
    case STEP_VALID_REGIONS:
        return ask_valid_regions(image, step->place);
    case STEP_RELEASE:
        return release(image);
    }
    return CC_OK;
}

const char *image_program_describe(const program_step *step)
{
    static const char *const names[] = {
        "create",   "view",     "graft",      "resize",        "wrap_host",    "wrap_device",    "fill",
        "rescale",  "map_host", "unmap_host", "map_device",    "unmap_device", "map_descriptor", "unmap_descriptor",
        "prefetch", "evict",    "set_device", "valid_regions", "release",      "subtract",       "measure"};
    static char text[128];
    snprintf(text, sizeof text, "%s of image %d (other %d, part %d, access %d, place %d)", names[step->kind],
             (int)step->image, (int)step->other, (int)step->part, (int)step->access, (int)step->place);
    return text;
}

void image_program_let_run(image_program *program)
{
    for (int32_t device = 0; device < program->device_count; ++device)
        (void)fixture_inner->stream_synchronize(fixture_inner, device, program->streams[device]);
    for (int32_t device = 0; device < program->device_count; ++device)
        (void)fixture_inner->stream_synchronize(fixture_inner, device, CC_STREAM_DEFAULT);
}

void image_program_destroy(image_program *program, const char *when)
{
    image_program_unmap_all(program);
    for (int32_t i = 0; i < PROGRAM_IMAGES; ++i) {
        cc_image_release(program->images[i].image);
        forget(&program->images[i]);
    }
    image_program_let_run(program);
    for (int32_t device = 0; device < program->device_count; ++device)
        fixture_stream_destroy(device, program->streams[device]);
    for (pixel_touch *touch = program->touches, *next; touch != NULL; touch = next) {
        next = touch->next;
        ck_assert_msg(touch->wrong == 0, "%s: %lld pixels were wrong when they were used", when,
                      (long long)touch->wrong);
        free(touch);
    }
    for (image_pixels *pixels = program->pixels, *next; pixels != NULL; pixels = next) {
        next = pixels->next;
        free(pixels);
    }
    for (program_memory *memory = program->memories, *next; memory != NULL; memory = next) {
        next = memory->next;
        ck_assert_msg(memory->released == memory->is_taken, "%s: wrapped memory was released %d times", when,
                      (int)memory->released);
        free(memory);
    }
    free(program);
}
