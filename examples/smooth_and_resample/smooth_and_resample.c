/* A volume on a coarser grid: smoothed first, so that what the new grid cannot hold does not come back as patterns. */
#include "nifti_volume.h"
#include "picture.h"
#include "report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_FILE "/usr/share/mricron/templates/ch2.nii.gz"
#define DEFAULT_SPACING_MM 3.0

static const char usage[] =
    "usage: smooth_and_resample [--spacing MM] [--output-prefix PREFIX] [FILE]\n"
    "  FILE    a NIfTI-1 volume of three dimensions; " DEFAULT_FILE " (Debian: mricron-data) if none is given\n"
    "  MM      the new distance between pixels, along all axes; 3 if none is given\n"
    "  PREFIX  writes PREFIX.nii (32-bit floats) and PREFIX.png; smooth-result if none is given\n";

typedef struct options {
    const char *file;
    const char *prefix;
    double spacing_mm;
} options;

/* 0 to go on, 1 when help was asked for, 2 when the arguments make no sense. */
static int parse(int count, char **arguments, options *out_options)
{
    bool named = false;
    *out_options = (options){DEFAULT_FILE, "smooth-result", DEFAULT_SPACING_MM};
    for (int n = 1; n < count; n++) {
        if (strcmp(arguments[n], "--help") == 0 || strcmp(arguments[n], "-h") == 0)
            return 1;
        if (strcmp(arguments[n], "--output-prefix") == 0 && n + 1 < count)
            out_options->prefix = arguments[++n];
        else if (strcmp(arguments[n], "--spacing") == 0 && n + 1 < count)
            out_options->spacing_mm = strtod(arguments[++n], NULL);
        else if (arguments[n][0] == '-' || named)
            return 2;
        else {
            out_options->file = arguments[n];
            named = true;
        }
    }
    return out_options->prefix[0] && out_options->spacing_mm > 0 && isfinite(out_options->spacing_mm) ? 0 : 2;
}

static bool failed(void)
{
    fprintf(stderr, "smooth_and_resample: %s\n", cc_last_error_message());
    return false;
}

/* An image of undefined floats, for the first device if there is one. */
static bool create_floats(cc_image_params *params, cc_image **out_image)
{
    params->pixel_type = CC_PIXEL_FLOAT32;
    params->flags = CC_IMAGE_UNINITIALIZED;
    if (cc_device_count() > 0)
        params->device = 0;
    return cc_image_create(params, out_image) == CC_OK ? true : failed();
}

/* value = stored * slope + intercept, as floats; on the first device if there is one. */
static bool load(const nifti_volume *volume, cc_image **out_image)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    if (cc_image_get_params(volume->image, &params) != CC_OK)
        return failed();
    if (!create_floats(&params, out_image))
        return false;
    /* An operation runs where the pixels are: bringing them to the device is what makes this one and all others run
     * there. */
    if (cc_device_count() > 0 &&
        (cc_image_set_device(volume->image, 0) != CC_OK || cc_image_prefetch(volume->image, NULL, 0) != CC_OK))
        return failed();
    if (cc_image_rescale(volume->image, volume->slope, volume->intercept, *out_image, CC_STREAM_DEFAULT) != CC_OK)
        return failed();
    return true;
}

/*
 * In place. The new grid holds no detail finer than two of its pixels; a Gaussian of half of one of them leaves little
 * of that, and where the grid becomes finer nothing needs to go.
 */
static bool smooth(cc_image *image, double spacing_mm)
{
    cc_gaussian_params params = CC_GAUSSIAN_PARAMS_INIT;
    double spacing[CC_MAX_DIMENSION];
    cc_image_get_spacing(image, spacing);
    for (int axis = 0; axis < 3; axis++) {
        const double finest_mm = fmin(spacing[axis], spacing_mm);
        params.sigma[axis] = 0.5 * sqrt(spacing_mm * spacing_mm - finest_mm * finest_mm);
    }
    if (cc_image_smooth_gaussian(image, &params, image, CC_STREAM_DEFAULT) != CC_OK)
        return failed();
    printf("smoothed    sigma %.3g x %.3g x %.3g mm\n", params.sigma[0], params.sigma[1], params.sigma[2]);
    return true;
}

/* The same box in space with pixels of another size; the box ends where the outermost pixels do. */
static bool resample(cc_image *image, double spacing_mm, cc_image **out_image)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    if (cc_image_get_params(image, &params) != CC_OK)
        return failed();
    for (int axis = 0; axis < params.dimension; axis++) {
        const double old_mm = params.spacing[axis];
        const double extent_mm = (double)params.region.size[axis] * old_mm;
        /* Of the first pixel's centre, from where the old one is. */
        const double shift_mm = (double)params.region.index[axis] * old_mm + (spacing_mm - old_mm) / 2;
        params.spacing[axis] = spacing_mm;
        params.region.index[axis] = 0;
        params.region.size[axis] = (int64_t)fmax(1.0, floor(extent_mm / spacing_mm + 1e-6));
        for (int n = 0; n < params.dimension; n++)
            params.origin[n] += params.direction[n][axis] * shift_mm;
    }
    if (!create_floats(&params, out_image))
        return false;
    if (cc_image_resample(image, NULL, *out_image, CC_STREAM_DEFAULT) != CC_OK)
        return failed();
    return true;
}

static bool run(const options *chosen, const char *nifti_path, const char *picture_path)
{
    nifti_volume volume = {NULL, 1.0, 0.0, 0};
    cc_image *image = NULL, *result = NULL;
    bool done = false;

    if (!nifti_volume_read(chosen->file, &volume))
        return false;
    printf("file        %s\n", chosen->file);
    report_geometry(volume.image);
    if (cc_image_get_dimension(volume.image) != 3) {
        fprintf(stderr, "smooth_and_resample: %s: has %d dimensions, expected 3\n", chosen->file,
                (int)cc_image_get_dimension(volume.image));
        goto end;
    }
    if (!load(&volume, &image) || !smooth(image, chosen->spacing_mm) || !resample(image, chosen->spacing_mm, &result))
        goto end;
    printf("resampled   on the %s (backend \"%s\"), to\n", cc_device_count() > 0 ? "device" : "CPU",
           cc_device_backend_name());
    report_geometry(result);
    if (!picture_write(picture_path, result) || !nifti_volume_write(nifti_path, result, volume.space_code))
        goto end;
    printf("transfers   boxes copied up to the device and down to the host, and accesses that needed no copy:\n");
    if (!report_transfers("  stored", volume.image) || !report_transfers("  smoothed", image) ||
        !report_transfers("  result", result))
        goto end;
    printf("written     %s\n            %s\n", nifti_path, picture_path);
    done = true;

end:
    cc_image_release(result);
    cc_image_release(image);
    cc_image_release(volume.image);
    return done;
}

int main(int count, char **arguments)
{
    options chosen;
    const int parsed = parse(count, arguments, &chosen);
    if (parsed != 0) {
        fputs(usage, parsed == 1 ? stdout : stderr);
        return parsed == 1 ? 0 : 2;
    }

    const size_t size = strlen(chosen.prefix) + sizeof ".nii";
    char *paths = malloc(2 * size);
    if (!paths) {
        fprintf(stderr, "smooth_and_resample: not enough memory for the file names\n");
        return 1;
    }
    snprintf(paths, size, "%s.nii", chosen.prefix);
    snprintf(paths + size, size, "%s.png", chosen.prefix);
    const bool done = run(&chosen, paths, paths + size);
    free(paths);
    return done ? 0 : 1;
}
