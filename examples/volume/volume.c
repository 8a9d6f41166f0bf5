/* A real volume, from file to file: onto the device, rescaled there, looked at slice by slice, written. */
#include "nifti_volume.h"
#include "picture.h"
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#ifndef VOLUME_DEFAULT_FILE
#define VOLUME_DEFAULT_FILE "/usr/share/mricron/templates/ch2.nii.gz"
#endif

static const char usage[] =
    "usage: volume [--output-prefix PREFIX] [FILE]\n"
    "  FILE    a NIfTI-1 volume; " VOLUME_DEFAULT_FILE " (Debian: mricron-data) if none is given\n"
    "  PREFIX  writes PREFIX.nii (32-bit floats) and PREFIX.png; volume-result if none is given\n";

typedef struct options {
    const char *file;
    const char *prefix;
} options;

/* 0 to go on, 1 when help was asked for, 2 when the arguments make no sense. */
static int parse(int count, char **arguments, options *out_options)
{
    bool named = false;
    *out_options = (options){VOLUME_DEFAULT_FILE, "volume-result"};
    for (int n = 1; n < count; n++) {
        if (strcmp(arguments[n], "--help") == 0 || strcmp(arguments[n], "-h") == 0)
            return 1;
        if (strcmp(arguments[n], "--output-prefix") == 0 && n + 1 < count)
            out_options->prefix = arguments[++n];
        else if (arguments[n][0] == '-' || named)
            return 2;
        else {
            out_options->file = arguments[n];
            named = true;
        }
    }
    return out_options->prefix[0] ? 0 : 2;
}

static bool is_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    return stat(a, &of_a) == 0 && stat(b, &of_b) == 0 && of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
}

static char *path_of(const char *prefix, const char *extension)
{
    const size_t size = strlen(prefix) + strlen(extension) + 1;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s%s", prefix, extension);
    return path;
}

static bool failed(void)
{
    fprintf(stderr, "volume: %s\n", cc_last_error_message());
    return false;
}

/* value = stored * slope + intercept, as floats; on the first device if there is one. */
static bool rescale(const nifti_volume *volume, cc_place device, cc_image **out_result)
{
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_image *result = NULL;

    /* Like the volume, where it is, but of floats. */
    if (cc_image_get_params(volume->image, &params) != CC_OK)
        return failed();
    params.pixel_type = CC_PIXEL_FLOAT32;
    params.flags = CC_IMAGE_UNINITIALIZED;
    if (cc_image_create(&params, &result) != CC_OK)
        return failed();

    /* An operation runs where the pixels are: bringing them to the device is what makes it run there. */
    if (device != CC_PLACE_HOST &&
        (cc_image_set_device(volume->image, device) != CC_OK || cc_image_set_device(result, device) != CC_OK ||
         cc_image_prefetch(volume->image, NULL, device) != CC_OK))
        goto fail;
    if (cc_image_rescale(volume->image, volume->slope, volume->intercept, result, CC_STREAM_DEFAULT) != CC_OK)
        goto fail;
    *out_result = result;
    return true;

fail:
    cc_image_release(result);
    return failed();
}

/* Looks at one slice of the result: all that comes back to the host for it is that slice. */
static bool report_slice(cc_image *result)
{
    cc_region slice = cc_image_get_region(result);
    void *mapped;
    double least = HUGE_VAL, most = -HUGE_VAL, sum = 0.0;
    int64_t finite = 0;

    slice.index[2] += slice.size[2] / 2;
    slice.size[2] = 1;
    slice.size[3] = 1;
    if (cc_image_map_host(result, &slice, CC_ACCESS_READ, &mapped) != CC_OK)
        return failed();
    const float *values = mapped; /* rows of a slice follow each other without a gap */
    const int64_t count = slice.size[0] * slice.size[1] * cc_image_get_components(result);
    for (int64_t n = 0; n < count; n++) {
        if (!isfinite(values[n]))
            continue;
        least = fmin(least, values[n]);
        most = fmax(most, values[n]);
        sum += values[n];
        finite++;
    }
    cc_image_unmap_host(result, mapped);

    printf("slice       k = %" PRId64 ", %" PRId64 " bytes:", slice.index[2], count * (int64_t)sizeof(float));
    if (finite > 0)
        printf(" min %.9g, max %.9g, mean %.9g\n", least, most, sum / (double)finite);
    else
        printf(" no finite values\n");
    return true;
}

static bool run(const options *chosen, const char *nifti_path, const char *picture_path)
{
    nifti_volume volume = {NULL, 1.0, 0.0, 0};
    cc_image *result = NULL;
    bool done = false;

    if (!nifti_volume_read(chosen->file, &volume))
        return false;
    printf("file        %s\n", chosen->file);
    report_geometry(volume.image);

    const cc_place device = cc_device_count() > 0 ? 0 : CC_PLACE_HOST;
    if (!rescale(&volume, device, &result))
        goto end;
    printf("rescaled    stored * %.9g + %.9g to f32 on the %s (backend \"%s\")\n", volume.slope, volume.intercept,
           device == CC_PLACE_HOST ? "CPU" : "device", cc_device_backend_name());

    if (!report_slice(result) || !report_transfers("  so far", result) || !picture_write(picture_path, result) ||
        !nifti_volume_write(nifti_path, result, volume.space_code) || !report_descriptors(result, device))
        goto end;
    printf("transfers   boxes copied up to the device and down to the host, and accesses that needed no copy:\n");
    if (!report_transfers("  stored", volume.image) || !report_transfers("  result", result))
        goto end;
    printf("written     %s\n            %s\n", nifti_path, picture_path);
    done = true;

end:
    cc_image_release(result);
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

    int status = 1;
    char *nifti_path = path_of(chosen.prefix, ".nii");
    char *picture_path = path_of(chosen.prefix, ".png");
    if (!nifti_path || !picture_path)
        fprintf(stderr, "volume: not enough memory for the file names\n");
    else if (is_same_file(chosen.file, nifti_path))
        fprintf(stderr, "volume: %s: is the input; choose another --output-prefix\n", nifti_path);
    else if (run(&chosen, nifti_path, picture_path))
        status = 0;
    free(nifti_path);
    free(picture_path);
    return status;
}
