/*
 * Textures of the emulated device: a dense block of memory for each object, filled in stream order, and what a texture
 * unit reads from it. Source: CUDA C++ Programming Guide, "Texture Fetching".
 */
#include "backend/emulated_state.h"
#include "base/components.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct cc__sampler {
    struct cc__sampler *next;
    cc__sampling sampling;
    uint64_t first_object; /* the others have the numbers after it */
} cc__sampler;

struct cc__texture {
    struct cc__texture *next;
    int32_t device;
    cc__texture_form form;
    cc__sampler *samplers;
    uint64_t block_ids[CC_TEXTURE_MAX_OBJECTS];
};

/* As of a GPU: along i, j, k. */
static int64_t longest_axis(cc_texture_shape shape, int32_t axis)
{
    static const int64_t longest[3][3] = {{16384, 16384, 16384}, {32768, 32768, 2048}, {131072, 65536, 1}};
    return longest[shape][axis];
}

static void drop_blocks(cc__emulated *emulated, const cc__texture *texture)
{
    for (int32_t n = 0; n < texture->form.object_count; n++) {
        cc__block *block = cc__emulated_block_by_id(emulated, texture->block_ids[n]);
        if (!block)
            continue;
        emulated->devices[texture->device].held_bytes -= block->size_bytes;
        cc__emulated_remove_block(emulated, block);
    }
}

static cc_status create(cc__emulated *emulated, int32_t device, const cc__texture_form *form, cc__texture **out_texture)
{
    cc_status status = cc__emulated_check_not_lost(emulated, "texture_create", device);
    for (int32_t axis = 0; axis < 3 && status == CC_OK; axis++)
        if (form->size[axis] > longest_axis(form->shape, axis))
            return cc__fail(CC_ERROR_UNSUPPORTED, "texture_create: size[%d] = %lld, device %d has at most %lld",
                            (int)axis, (long long)form->size[axis], (int)device,
                            (long long)longest_axis(form->shape, axis));
    if (status != CC_OK)
        return status;
    cc__texture *texture = calloc(1, sizeof *texture);
    if (!texture)
        return cc__emulated_no_memory("texture_create");
    texture->device = device;
    texture->form = *form;
    for (int32_t n = 0; n < form->object_count && status == CC_OK; n++) {
        cc__block *block = NULL;
        status = cc__emulated_allocate_block(emulated, device,
                                             cc__texture_form_bytes(form) / (size_t)form->object_count, &block);
        texture->block_ids[n] = status == CC_OK ? block->id : 0;
    }
    if (status != CC_OK) {
        drop_blocks(emulated, texture);
        free(texture);
        return status;
    }
    texture->next = emulated->textures;
    emulated->textures = texture;
    *out_texture = texture;
    return CC_OK;
}

cc_status cc__emulated_texture_create(cc__backend *self, int32_t device, const cc__texture_form *form,
                                      cc__texture **out_texture)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    return cc__emulated_unlock(emulated, create(emulated, device, form, out_texture));
}

void cc__emulated_texture_destroy(cc__backend *self, int32_t device, cc__texture *texture)
{
    (void)device;
    cc__emulated *emulated = cc__emulated_lock(self);
    cc__texture **link = &emulated->textures;
    while (*link != texture)
        link = &(*link)->next;
    *link = texture->next;
    drop_blocks(emulated, texture);
    for (cc__sampler *sampler = texture->samplers, *next; sampler; sampler = next) {
        next = sampler->next;
        free(sampler);
    }
    free(texture);
    cc__emulated_unlock(emulated, CC_OK);
}

static cc__copy copy_into(const cc__texture *texture, int32_t n, unsigned char *memory, const cc__span *source)
{
    const cc__texture_form *form = &texture->form;
    cc__copy work = {.source = *source, .pixel_bytes = form->element_bytes};
    int64_t stride = form->element_bytes;
    work.source.data += n * form->element_bytes;
    work.destination.data = memory;
    for (int32_t axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        work.size[axis] = axis < 3 ? form->size[axis] : 1;
        work.destination.stride[axis] = stride;
        stride *= work.size[axis];
    }
    return work;
}

static cc_status queue_update(cc__emulated *emulated, int32_t device, cc_stream handle, const cc__texture *texture,
                              const cc__span *source)
{
    const cc__texture_form *form = &texture->form;
    const int64_t size[CC_MAX_DIMENSION] = {form->size[0], form->size[1], form->size[2], 1};
    cc__task *tasks[CC_TEXTURE_MAX_OBJECTS] = {NULL};
    cc__stream *stream = NULL;
    cc__block *from = NULL;
    cc_status status = cc__emulated_find_open_stream(emulated, "texture_update", device, handle, &stream);
    if (status == CC_OK)
        status = cc__emulated_find_block(emulated, "texture_update", "source", device, source, size,
                                         form->element_bytes * form->object_count, &from);
    for (int32_t n = 0; n < form->object_count && status == CC_OK; n++) {
        const cc__block *to = cc__emulated_block_by_id(emulated, texture->block_ids[n]);
        tasks[n] = cc__emulated_create_task(CC__TASK_COPY, false);
        if (!tasks[n]) {
            status = cc__emulated_no_memory("texture_update");
            continue;
        }
        tasks[n]->work.copy = copy_into(texture, n, to->data, source);
        tasks[n]->block_ids[0] = to->id;
        tasks[n]->block_ids[1] = from->id;
    }
    for (int32_t n = 0; n < form->object_count; n++) {
        if (status == CC_OK)
            cc__emulated_queue(stream, tasks[n]);
        else
            cc__emulated_destroy_task(tasks[n]);
    }
    return status;
}

cc_status cc__emulated_texture_update(cc__backend *self, int32_t device, cc_stream stream, cc__texture *texture,
                                      const cc__span *source)
{
    cc__emulated *emulated = cc__emulated_lock(self);
    return cc__emulated_unlock(emulated, queue_update(emulated, device, stream, texture, source));
}

static cc_status find_sampler(cc__emulated *emulated, cc__texture *texture, const cc__sampling *sampling,
                              uint64_t *out_first_object)
{
    cc_status status = cc__emulated_check_not_lost(emulated, "texture_objects", texture->device);
    cc__sampler *sampler = texture->samplers;
    while (sampler && !cc__sampling_equal(&sampler->sampling, sampling))
        sampler = sampler->next;
    if (status == CC_OK && !sampler) {
        sampler = calloc(1, sizeof *sampler);
        if (!sampler)
            return cc__emulated_no_memory("texture_objects");
        sampler->sampling = *sampling;
        sampler->first_object = emulated->next_object + 1;
        emulated->next_object += (uint64_t)texture->form.object_count;
        sampler->next = texture->samplers;
        texture->samplers = sampler;
    }
    if (status == CC_OK)
        *out_first_object = sampler->first_object;
    return status;
}

cc_status cc__emulated_texture_objects(cc__backend *self, int32_t device, cc__texture *texture,
                                       const cc__sampling *sampling, uint64_t out_objects[CC_TEXTURE_MAX_OBJECTS])
{
    (void)device;
    cc__emulated *emulated = cc__emulated_lock(self);
    uint64_t first = 0;
    cc_status status = find_sampler(emulated, texture, sampling, &first);
    for (int32_t n = 0; n < texture->form.object_count && status == CC_OK; n++)
        out_objects[n] = first + (uint64_t)n;
    return cc__emulated_unlock(emulated, status);
}

/* Where an index is that may be beyond the border; -1 for the border. */
static int64_t find_index(int64_t index, int64_t size, cc_texture_address address)
{
    const int64_t period = address == CC_TEXTURE_MIRROR ? 2 * size : size;
    if (index >= 0 && index < size)
        return index;
    switch (address) {
    case CC_TEXTURE_BORDER:
        return -1;
    case CC_TEXTURE_CLAMP:
        return index < 0 ? 0 : size - 1;
    case CC_TEXTURE_WRAP:
    case CC_TEXTURE_MIRROR:
        break;
    }
    index %= period;
    if (index < 0)
        index += period;
    return index < size ? index : period - 1 - index;
}

/* The two neighbours along an axis, and how much of the second there is. */
typedef struct neighbours {
    int64_t index[2];
    float weight;
} neighbours;

static neighbours find_neighbours(const cc__texture_form *form, const cc__sampling *sampling, int32_t axis, float at)
{
    const int64_t size = form->size[axis];
    const bool is_layer = form->shape == CC_TEXTURE_LAYERS && axis == 2;
    const bool is_linear = sampling->filter == CC_TEXTURE_LINEAR && !is_layer;
    neighbours found = {.weight = 0};
    if (is_layer || size == 0 || (form->shape == CC_TEXTURE_PLANE && axis == 2)) {
        found.index[0] = found.index[1] = find_index((int64_t)at, size, CC_TEXTURE_CLAMP);
        return found;
    }
    if (sampling->has_normalized_coordinates)
        at *= (float)size;
    if (is_linear)
        at -= 0.5f;
    const float below = floorf(at);
    if (is_linear)
        found.weight = floorf((at - below) * 256.0f + 0.5f) / 256.0f;
    for (int32_t n = 0; n < 2; n++)
        found.index[n] = find_index((int64_t)below + n, size, sampling->address[axis]);
    return found;
}

static float normalized(double value, cc_pixel_type type)
{
    const bool is_signed = type == CC_PIXEL_INT8 || type == CC_PIXEL_INT16;
    const double most = cc_pixel_type_size_bytes(type) == 1 ? (is_signed ? 127 : 255) : (is_signed ? 32767 : 65535);
    const double result = value / most;
    return (float)(result < -1 ? -1 : result);
}

static void add_element(const cc__texture_form *form, const cc__sampling *sampling, const unsigned char *memory,
                        const int64_t at[3], float weight, float out_values[4])
{
    const bool is_float = form->type == CC_PIXEL_FLOAT16 || form->type == CC_PIXEL_FLOAT32;
    const unsigned char *element =
        memory + ((at[2] * form->size[1] + at[1]) * form->size[0] + at[0]) * form->element_bytes;
    if (at[0] < 0 || at[1] < 0 || at[2] < 0)
        return;
    for (int32_t channel = 0; channel < form->channels; channel++) {
        double value = 0;
        cc__components_load(form->type, element + channel * (int64_t)cc_pixel_type_size_bytes(form->type), 0, 1, &value,
                            NULL);
        out_values[channel] +=
            weight *
            (sampling->read == CC_TEXTURE_NORMALIZED && !is_float ? normalized(value, form->type) : (float)value);
    }
}

bool cc__emulated_fetch(cc__backend *backend, uint64_t object, const float at[3], float out_values[4])
{
    cc__emulated *emulated = backend->state;
    for (const cc__texture *texture = emulated->textures; texture; texture = texture->next) {
        for (const cc__sampler *sampler = texture->samplers; sampler; sampler = sampler->next) {
            if (object < sampler->first_object ||
                object - sampler->first_object >= (uint64_t)texture->form.object_count)
                continue;
            const cc__block *block =
                cc__emulated_block_by_id(emulated, texture->block_ids[object - sampler->first_object]);
            neighbours near[3];
            for (int32_t axis = 0; axis < 3; axis++)
                near[axis] = find_neighbours(&texture->form, &sampler->sampling, axis, at[axis]);
            memset(out_values, 0, 4 * sizeof *out_values);
            for (int32_t corner = 0; corner < 8; corner++) {
                int64_t index[3];
                float weight = 1;
                for (int32_t axis = 0; axis < 3; axis++) {
                    const int32_t second = corner >> axis & 1;
                    index[axis] = near[axis].index[second];
                    weight *= second ? near[axis].weight : 1 - near[axis].weight;
                }
                if (weight > 0)
                    add_element(&texture->form, &sampler->sampling, block->data, index, weight, out_values);
            }
            return true;
        }
    }
    return false;
}
