#include "nifti_volume.h"

#include <math.h>
#include <nifti1_io.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* NIfTI-1 stores sizes as 16-bit integers. */
#define NIFTI_MAX_SIZE 32767

static bool complain(const char *path, const char *why)
{
    fprintf(stderr, "volume: %s: %s\n", path, why);
    return false;
}

static bool pixel_of_datatype(int datatype, cc_pixel_type *out_type, int32_t *out_components)
{
    static const struct {
        int datatype;
        cc_pixel_type type;
        int32_t components;
    } pixels[] = {
        {NIFTI_TYPE_UINT8, CC_PIXEL_UINT8, 1},         {NIFTI_TYPE_INT8, CC_PIXEL_INT8, 1},
        {NIFTI_TYPE_UINT16, CC_PIXEL_UINT16, 1},       {NIFTI_TYPE_INT16, CC_PIXEL_INT16, 1},
        {NIFTI_TYPE_UINT32, CC_PIXEL_UINT32, 1},       {NIFTI_TYPE_INT32, CC_PIXEL_INT32, 1},
        {NIFTI_TYPE_UINT64, CC_PIXEL_UINT64, 1},       {NIFTI_TYPE_INT64, CC_PIXEL_INT64, 1},
        {NIFTI_TYPE_FLOAT32, CC_PIXEL_FLOAT32, 1},     {NIFTI_TYPE_FLOAT64, CC_PIXEL_FLOAT64, 1},
        {NIFTI_TYPE_COMPLEX64, CC_PIXEL_COMPLEX64, 1}, {NIFTI_TYPE_COMPLEX128, CC_PIXEL_COMPLEX128, 1},
        {NIFTI_TYPE_RGB24, CC_PIXEL_UINT8, 3},         {NIFTI_TYPE_RGBA32, CC_PIXEL_UINT8, 4},
    };
    for (size_t n = 0; n < sizeof pixels / sizeof pixels[0]; n++) {
        if (pixels[n].datatype == datatype) {
            *out_type = pixels[n].type;
            *out_components = pixels[n].components;
            return true;
        }
    }
    return false;
}

static double millimetres(int units)
{
    return units == NIFTI_UNITS_METER ? 1000.0 : units == NIFTI_UNITS_MICRON ? 0.001 : 1.0;
}

static double seconds(int units)
{
    return units == NIFTI_UNITS_MSEC ? 0.001 : units == NIFTI_UNITS_USEC ? 0.000001 : 1.0;
}

/*
 * NIfTI measures towards the patient's right, front and head (RAS), this library, like ITK, towards left, back and head
 * (LPS): the first two coordinates change sign. The sform goes before the qform, and without either the NIfTI library
 * makes a qform of the voxel sizes. The columns of its matrix are direction times spacing.
 */
static void set_geometry(const nifti_image *file, cc_image_params *params)
{
    const mat44 *ras = file->sform_code > 0 ? &file->sto_xyz : &file->qto_xyz;
    const double unit = millimetres(file->xyz_units);

    for (int row = 0; row < 3; row++)
        params->origin[row] = (row < 2 ? -1.0 : 1.0) * unit * ras->m[row][3] + 0.0; /* + 0.0: no negative zero */
    for (int axis = 0; axis < 3; axis++) {
        double column[3], length = 0.0;
        for (int row = 0; row < 3; row++) {
            column[row] = (row < 2 ? -1.0 : 1.0) * unit * ras->m[row][axis];
            length += column[row] * column[row];
        }
        length = sqrt(length);
        params->spacing[axis] = length;
        for (int row = 0; row < 3; row++)
            params->direction[row][axis] = column[row] / length + 0.0;
    }
    if (params->dimension > 3 && file->dt > 0)
        params->spacing[3] = file->dt * seconds(file->time_units);
}

/* As nifti_image_load(), which takes a file that is too short for a complete one. */
static bool load_pixels(const char *path, nifti_image *file)
{
    const size_t size_bytes = file->nvox * (size_t)file->nbyper;
    bool done = false;
    znzFile pixels = znzopen(file->iname, "rb", nifti_is_gzfile(file->iname));
    if (znz_isnull(pixels) || file->iname_offset < 0 || znzseek(pixels, file->iname_offset, SEEK_SET) < 0) {
        complain(path, "its pixels cannot be read");
        goto end;
    }
    file->data = malloc(size_bytes);
    if (!file->data) {
        complain(path, "not enough memory for its pixels");
        goto end;
    }
    if (nifti_read_buffer(pixels, file->data, size_bytes, file) != size_bytes) {
        complain(path, "is shorter than its header says");
        goto end;
    }
    done = true;

end:
    znzclose(pixels); /* accepts and sets null */
    return done;
}

static void free_file(void *data, void *user_data)
{
    (void)data;
    nifti_image_free(user_data);
}

bool nifti_volume_read(const char *path, nifti_volume *out_volume)
{
    nifti_set_debug_level(0); /* this program says itself what is wrong */
    nifti_image *file = is_nifti_file(path) >= 0 ? nifti_image_read(path, 0) : NULL;
    if (!file)
        return complain(path, "cannot be read as a NIfTI-1 file");

    bool done = false;
    cc_image *image = NULL;
    cc_image_params params = CC_IMAGE_PARAMS_INIT;
    cc_pixel_type type;
    if (!pixel_of_datatype(file->datatype, &type, &params.components)) {
        char why[80];
        snprintf(why, sizeof why, "pixels of type %s are not supported", nifti_datatype_string(file->datatype));
        complain(path, why);
        goto end;
    }
    if (file->nu > 1 || file->nv > 1 || file->nw > 1) {
        complain(path, "has more than four axes (vectors); only 3-D and 4-D scalars and RGB are supported");
        goto end;
    }
    if (!load_pixels(path, file))
        goto end;

    params.dimension = file->nt > 1 ? 4 : 3;
    params.pixel_type = (int32_t)type;
    params.region = (cc_region){.size = {file->nx, file->ny, file->nz, file->nt}};
    set_geometry(file, &params);

    cc_wrap_params wrap = CC_WRAP_PARAMS_INIT;
    wrap.data = file->data;
    wrap.size_bytes = file->nvox * (size_t)file->nbyper;
    wrap.release = free_file;
    wrap.user_data = file;
    if (cc_image_create(&params, &image) != CC_OK || cc_image_wrap_host(image, &wrap) != CC_OK) {
        complain(path, cc_last_error_message());
        goto end;
    }

    /* A slope of 0 means that there is no scaling; the NIfTI library gives 0 for NaN. RGB is never scaled. */
    const bool scaled = file->scl_slope != 0 && params.components == 1;
    out_volume->slope = scaled ? file->scl_slope : 1.0;
    out_volume->intercept = scaled ? file->scl_inter : 0.0;
    out_volume->space_code = file->sform_code > 0 ? file->sform_code : file->qform_code;
    out_volume->image = image;
    image = NULL;
    file = NULL; /* the image's now */
    done = true;

end:
    cc_image_release(image);
    if (file)
        nifti_image_free(file);
    return done;
}

static void put_geometry(const cc_image *image, int space_code, nifti_image *file)
{
    double spacing[CC_MAX_DIMENSION], origin[CC_MAX_DIMENSION], direction[CC_MAX_DIMENSION][CC_MAX_DIMENSION];
    const cc_region region = cc_image_get_region(image);
    mat44 ras = {{{0}}};

    cc_image_get_spacing(image, spacing);
    cc_image_get_direction(image, direction[0]);
    cc_image_get_point(image, region.index, origin); /* NIfTI counts pixels from the first one */
    for (int row = 0; row < 3; row++) {
        const double sign = row < 2 ? -1.0 : 1.0;
        for (int axis = 0; axis < 3; axis++)
            ras.m[row][axis] = (float)(sign * direction[row][axis] * spacing[axis] + 0.0);
        ras.m[row][3] = (float)(sign * origin[row] + 0.0);
    }
    ras.m[3][3] = 1.0f;

    file->sto_xyz = ras;
    file->sto_ijk = nifti_mat44_inverse(ras);
    file->sform_code = space_code;
    file->qform_code = space_code;
    nifti_mat44_to_quatern(ras, &file->quatern_b, &file->quatern_c, &file->quatern_d, &file->qoffset_x,
                           &file->qoffset_y, &file->qoffset_z, NULL, NULL, NULL, &file->qfac);
    file->dx = file->pixdim[1] = (float)spacing[0];
    file->dy = file->pixdim[2] = (float)spacing[1];
    file->dz = file->pixdim[3] = (float)spacing[2];
    file->dt = file->pixdim[4] = (float)spacing[3];
    file->xyz_units = NIFTI_UNITS_MM;
    file->time_units = NIFTI_UNITS_SEC;
}

/* Components side by side become one volume after another. */
static float *planes_of(const float *pixels, int64_t count, int32_t components)
{
    float *planes = malloc((size_t)count * (size_t)components * sizeof(float));
    for (int32_t component = 0; planes && component < components; component++)
        for (int64_t n = 0; n < count; n++)
            planes[component * count + n] = pixels[n * components + component];
    return planes;
}

bool nifti_volume_write(const char *path, cc_image *image, int space_code)
{
    const cc_region region = cc_image_get_region(image);
    const int32_t components = cc_image_get_components(image);
    int sizes[8] = {components > 1 ? 5 : cc_image_get_dimension(image), 1, 1, 1, 1, components, 1, 1};
    int64_t count = 1;
    for (int axis = 0; axis < CC_MAX_DIMENSION; axis++) {
        if (region.size[axis] < 1 || region.size[axis] > NIFTI_MAX_SIZE)
            return complain(path, "a size does not fit into NIfTI-1 (1 to 32767)");
        sizes[axis + 1] = (int)region.size[axis];
        count *= region.size[axis];
    }

    bool done = false;
    float *planes = NULL;
    void *pixels = NULL;
    struct stat written;
    nifti_image *file = nifti_make_new_nim(sizes, NIFTI_TYPE_FLOAT32, 0);
    if (!file || nifti_set_filenames(file, path, 0, 0) != 0) {
        complain(path, "cannot be made a NIfTI-1 file");
        goto end;
    }
    put_geometry(image, space_code, file);
    if (components > 1)
        file->intent_code = NIFTI_INTENT_VECTOR;
    strcpy(file->descrip, "CudaCommon examples/volume");

    if (cc_image_map_host(image, NULL, CC_ACCESS_READ, &pixels) != CC_OK) {
        complain(path, cc_last_error_message());
        goto end;
    }
    file->data = pixels;
    if (components > 1) {
        planes = planes_of(pixels, count, components);
        if (!planes) {
            complain(path, "not enough memory for the planes of its components");
            goto end;
        }
        file->data = planes;
    }

    /* nifti_image_write() does not say whether it could write, the size of the file does. */
    nifti_image_write(file);
    if (stat(path, &written) != 0 ||
        written.st_size != (off_t)(file->iname_offset + (off_t)(file->nvox * sizeof(float)))) {
        complain(path, "could not be written completely");
        goto end;
    }
    done = true;

end:
    if (pixels)
        cc_image_unmap_host(image, pixels);
    if (file) {
        file->data = NULL;
        nifti_image_free(file);
    }
    free(planes);
    return done;
}
