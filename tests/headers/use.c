/* What a caller writes with the headers, valid as C99 and as C++11. Compiled, not run. */
#include <cudacommon/cudacommon.h>

#if !CUDACOMMON_VERSION_AT_LEAST(2, 0) || CUDACOMMON_VERSION_AT_LEAST(3, 0) || CUDACOMMON_VERSION_MAJOR != 2
#error "the version macros do not compare"
#endif
#if CUDACOMMON_VERSION < 20000 || CUDACOMMON_VERSION_MINOR < 0 || CUDACOMMON_VERSION_PATCH < 0
#error "the version macros are not numbers for the preprocessor"
#endif

static const cc_step steps[] = {CC_STEP1(CC_STEP_LOAD, CC_TAKE_IMAGE(0)), CC_STEP0(CC_STEP_SQUARE),
                                CC_STEP2(CC_STEP_CLAMP, CC_TAKE_VALUE(0), CC_TAKE_MAGNITUDE(0)),
                                CC_STEP2(CC_STEP_SELECT, CC_TAKE_STEP(1), CC_TAKE_COMPONENT(0, 0))};

static const char version[] = "CudaCommon " CUDACOMMON_VERSION_STRING;

extern const char *use(cc_stream stream, cc_place_state *out_state, cc_counters *out_counters);

const char *use(cc_stream stream, cc_place_state *out_state, cc_counters *out_counters)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_wrap_params wrap = CC_WRAP_PARAMS_INIT;
    cc_descriptor descriptor = CC_DESCRIPTOR_INIT;
    cc_gaussian_params gaussian = CC_GAUSSIAN_PARAMS_INIT;
    cc_convolve_params convolve = CC_CONVOLVE_PARAMS_INIT;
    cc_place_state state = CC_PLACE_STATE_INIT;
    cc_counters counters = CC_COUNTERS_INIT;
    cc_live_image live[2] = {CC_LIVE_IMAGE_INIT, CC_LIVE_IMAGE_INIT};
    cc_geometry geometry = CC_GEOMETRY_INIT;
    cc_export_params export_params = CC_EXPORT_PARAMS_INIT;
    cc_import_params import_params = CC_IMPORT_PARAMS_INIT;
    struct DLManagedTensorVersioned *tensor = 0;
    int32_t live_count = 0;
    cc_image *image = 0;

    params.dimension = 1;
    params.region.size[0] = 1;
    wrap.flags = CC_WRAP_BORROWED | CC_WRAP_READ_ONLY;
    *out_state = state;
    *out_counters = counters;
    if (cc_image_create(&params, &image) != CC_OK)
        return cc_last_error_message();
    (void)cc_image_wrap_host(image, &wrap);
    (void)cc_live_images(2, live, &live_count);
    if (stream != CC_STREAM_DEFAULT && stream != CC_STREAM_PER_THREAD)
        (void)cc_image_map_descriptor(image, 0, CC_ORDER_K, CC_DESCRIBE_COMPONENT_AXIS, CC_PLACE_HOST, CC_ACCESS_READ,
                                      stream, &descriptor);
    (void)cc_image_smooth_gaussian(image, &gaussian, image, stream);
    (void)cc_image_convolve_axis(image, image, &convolve, image, stream);
    (void)cc_image_evaluate(steps, sizeof steps / sizeof steps[0], &image, 1, image, stream);
    if (cc_image_export_dlpack(image, &export_params, CC_DLPACK_COPY, &tensor) == CC_OK)
        (void)cc_dlpack_get_geometry(tensor, &geometry);
    cc_image_release(image);
    if (cc_image_import(&descriptor, &import_params, &image) == CC_OK)
        (void)cc_image_set_geometry(image, &geometry);
    return version;
}
