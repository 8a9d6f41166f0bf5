#include "steps.h"

#include <stdlib.h>
#include <string.h>

#define USUAL_PIXELS 300

static int64_t pixel_bytes(value_kind kind)
{
    return (int64_t)cc_pixel_type_size_bytes(kind.type) * kind.components;
}

static bool has_huge(const model_world *world)
{
    for (int32_t i = 0; i < world->image_count; i++)
        if (world->images[i]->kind.type == CC_PIXEL_COMPLEX128)
            return true;
    return false;
}

static oracle_box box_of_size(const int64_t size[CC_MAX_DIMENSION])
{
    oracle_box box = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    memcpy(box.size, size, sizeof box.size);
    return box;
}

/* Past the dimension the library says index 0 and size 1, whatever it was given. */
static void set_region(model_image *image, const cc_region *region)
{
    image->region = *region;
    for (int32_t axis = image->dimension; axis < CC_MAX_DIMENSION; axis++) {
        image->region.index[axis] = 0;
        image->region.size[axis] = 1;
    }
}

static void random_index(model_world *world, int64_t out_index[CC_MAX_DIMENSION])
{
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++)
        out_index[axis] = random_chance(&world->random, 40) ? 0 : random_below(&world->random, 41) - 20;
}

static int32_t random_device(model_world *world)
{
    const int64_t choice = random_below(&world->random, 100);
    if (choice < 30)
        return CC_DEVICE_CURRENT;
    if (choice < 97 && world->device_count > 0)
        return (int32_t)random_below(&world->random, world->device_count);
    return world->device_count + (int32_t)random_below(&world->random, 2);
}

/* The record says what the image is to be; the pixels are new. */
static void create(model_world *world, model_image *image, bool is_undefined)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    params.dimension = image->dimension;
    params.pixel_type = image->kind.type;
    params.components = image->kind.components;
    params.device = image->device;
    params.flags = is_undefined ? CC_IMAGE_UNINITIALIZED : 0;
    params.region = image->region;
    report_step(world->step, "create image %d%s, %s x %d, dimension %d, size %lld,%lld,%lld,%lld, device %d",
                (int)image->number, is_undefined ? " undefined" : "", cc_pixel_type_name(image->kind.type),
                (int)image->kind.components, (int)image->dimension, (long long)params.region.size[0],
                (long long)params.region.size[1], (long long)params.region.size[2], (long long)params.region.size[3],
                (int)image->device);
    set_region(image, &params.region);
    image->pixels = world_add_pixels(oracle_create(image->region.size, pixel_bytes(image->kind), is_undefined));
    image->pixels->handles = 1;
    image->box = box_of_size(image->region.size);
    (void)world_expect(world, "create", cc_image_create(&params, &image->handle), 0);
    image->pixels->counters = fixture_counters(image->handle);
    world->images[world->image_count++] = image;
    world->made_images++;
}

bool step_create(model_world *world)
{
    random_source *random = &world->random;
    model_image *image = world_add_image(world);
    if (image == NULL)
        return false;
    const bool is_huge = world->may_be_huge && !has_huge(world) && random_chance(random, 30);
    image->kind = is_huge ? value_kind_huge() : value_kind_random(random);
    image->dimension = is_huge ? 2 : 1 + (int32_t)random_below(random, CC_MAX_DIMENSION);
    image->device = random_device(world);
    (void)world_random_size(world, image->dimension, USUAL_PIXELS, image->region.size);
    if (world->pressure != NULL && world->image_count > 0 && random_chance(random, 70)) {
        /* Of one size, so that one that leaves a device makes room for another. */
        image->kind = world->images[0]->kind;
        image->dimension = world->images[0]->dimension;
        image->region = world->images[0]->region;
    } else if (is_huge)
        image->region.size[0] = image->region.size[1] = world->pressure != NULL ? 33 + random_below(random, 44) : 33;
    random_index(world, image->region.index);
    create(world, image, random_chance(random, 20));
    return true;
}

model_image *step_create_like(model_world *world, const model_image *other)
{
    model_image *image = world_add_image(world);
    if (image == NULL)
        return NULL;
    image->kind = (value_kind){value_type_random(&world->random), other->kind.components};
    image->dimension = other->dimension;
    image->device = random_device(world);
    image->region = other->region;
    create(world, image, random_chance(&world->random, 50));
    return image;
}

model_image *step_create_of(model_world *world, value_kind kind, int32_t dimension, const int64_t *size)
{
    model_image *image = world_add_image(world);
    if (image == NULL)
        return NULL;
    image->kind = kind;
    image->dimension = dimension;
    image->device = random_device(world);
    memcpy(image->region.size, size, (size_t)dimension * sizeof *size);
    random_index(world, image->region.index);
    create(world, image, random_chance(&world->random, 50));
    return image;
}

bool step_view(model_world *world)
{
    model_image *source = world_pick_image(world);
    model_image *view = source != NULL ? world_add_image(world) : NULL;
    if (view == NULL)
        return false;
    const int32_t number = view->number;
    model_region region;
    cc_image *handle = NULL;
    world_pick_region(world, source, false, &region);
    report_step(world->step, "view image %d as image %d", (int)source->number, (int)number);
    if (!world_expect(world, "view", cc_image_create_view(source->handle, region.argument, &handle), region.errors)) {
        model_check(handle == NULL, "view failed and gave an image");
        free(view);
        return true;
    }
    *view = *source;
    view->number = number;
    view->handle = handle;
    view->box = region.box;
    set_region(view, &region.region);
    view->owners = 1;
    view->mappings = 0;
    view->pixels->handles++;
    world->images[world->image_count++] = view;
    world->made_images++;
    return true;
}

bool step_graft(model_world *world)
{
    model_image *image = world_pick_image(world);
    model_image *source = world_pick_image(world);
    if (image == NULL)
        return false;
    report_step(world->step, "graft image %d on image %d", (int)source->number, (int)image->number);
    model_pixels *before = image->pixels;
    if (before != source->pixels)
        world_expect_drop(before);
    const cc_status status = cc_image_graft(image->handle, source->handle);
    if (!world_expect(world, "graft", status, image->mappings > 0 ? STATUS(CC_ERROR_BUSY) : 0)) {
        world_forget_drop(before);
        return true;
    }
    image->pixels = source->pixels;
    image->box = source->box;
    image->region = source->region;
    image->dimension = source->dimension;
    image->kind = source->kind;
    image->device = source->device;
    image->pixels->handles++;
    world_drop(world, before);
    return true;
}

bool step_resize(model_world *world)
{
    random_source *random = &world->random;
    model_image *image = world_pick_image(world);
    if (image == NULL)
        return false;
    cc_region region;
    const bool is_huge = image->kind.type == CC_PIXEL_COMPLEX128;
    (void)world_random_size(world, image->dimension, is_huge ? 20 : USUAL_PIXELS, region.size);
    random_index(world, region.index);
    uint32_t errors = image->mappings > 0 ? STATUS(CC_ERROR_BUSY) : 0;
    if (random_chance(random, 3)) {
        region.size[random_below(random, image->dimension)] = -1;
        errors |= STATUS(CC_ERROR_INVALID_ARGUMENT);
    }
    report_step(world->step, "resize image %d to %lld,%lld,%lld,%lld", (int)image->number, (long long)region.size[0],
                (long long)region.size[1], (long long)region.size[2], (long long)region.size[3]);
    model_pixels *before = image->pixels;
    world_expect_drop(before);
    if (!world_expect(world, "resize", cc_image_resize(image->handle, &region), errors)) {
        world_forget_drop(before);
        return true;
    }
    set_region(image, &region);
    image->pixels = world_add_pixels(oracle_create(image->region.size, pixel_bytes(image->kind), false));
    image->pixels->handles = 1;
    image->pixels->counters = fixture_counters(image->handle);
    image->box = box_of_size(image->region.size);
    world_drop(world, before);
    return true;
}

bool step_set_device(model_world *world)
{
    model_image *image = world_pick_image(world);
    const int32_t choices = world->device_count + (random_chance(&world->random, 10) ? 1 : 0);
    if (image == NULL || choices == 0)
        return false;
    const int32_t device = (int32_t)random_below(&world->random, choices);
    report_step(world->step, "move image %d to device %d", (int)image->number, (int)device);
    if (world_expect(world, "set_device", cc_image_set_device(image->handle, device),
                     world_place_errors(world, device)))
        image->device = device;
    return true;
}

bool step_set_index(model_world *world)
{
    model_image *image = world_pick_image(world);
    int64_t index[CC_MAX_DIMENSION];
    if (image == NULL)
        return false;
    random_index(world, index);
    report_step(world->step, "set the index of image %d", (int)image->number);
    const cc_status status = cc_image_set_index(image->handle, index);
    if (world_expect(world, "set_index", status, image->mappings > 0 ? STATUS(CC_ERROR_BUSY) : 0))
        for (int32_t axis = 0; axis < image->dimension; axis++)
            image->region.index[axis] = index[axis];
    return true;
}

bool step_retain(model_world *world)
{
    model_image *image = world_pick_image(world);
    if (image == NULL)
        return false;
    report_step(world->step, "retain image %d", (int)image->number);
    model_check(cc_image_retain(image->handle) == image->handle, "retain gave another image");
    image->owners++;
    return true;
}

/* What mapped pixels cost when they are given back could not be asked of any image. */
static bool would_hide(const model_world *world, const model_image *image)
{
    bool is_mapped = false;
    for (int32_t i = 0; i < world->mapping_count; i++)
        is_mapped = is_mapped || world->mappings[i].image->pixels == image->pixels;
    for (int32_t i = 0; i < world->image_count; i++)
        if (world->images[i] != image && world->images[i]->pixels == image->pixels && world->images[i]->owners > 0)
            return false;
    return is_mapped && image->owners == 1 && image->pixels->handles > 1;
}

bool step_release(model_world *world)
{
    model_image *image = world_pick_image(world);
    if (image == NULL || would_hide(world, image))
        return false;
    report_step(world->step, "release image %d, with %d owners and %d mappings", (int)image->number, (int)image->owners,
                (int)image->mappings);
    const bool is_last = world_is_last_use(image);
    if (is_last)
        world_expect_drop(image->pixels);
    cc_image_release(image->handle);
    image->owners--;
    if (is_last)
        world_forget_image(world, image);
    return true;
}
