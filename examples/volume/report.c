#include "report.h"

#include <inttypes.h>
#include <stdio.h>

void report_geometry(const cc_image *image)
{
    const int32_t dimension = cc_image_get_dimension(image);
    double spacing[CC_MAX_DIMENSION], origin[CC_MAX_DIMENSION], direction[CC_MAX_DIMENSION][CC_MAX_DIMENSION];

    cc_image_get_spacing(image, spacing);
    cc_image_get_origin(image, origin);
    cc_image_get_direction(image, direction[0]);

    printf("size       ");
    for (int32_t axis = 0; axis < dimension; axis++)
        printf(" %s%" PRId64, axis > 0 ? "x " : "", cc_image_get_size(image, axis));
    printf(", %s", cc_pixel_type_name(cc_image_get_pixel_type(image)));
    if (cc_image_get_components(image) > 1)
        printf(", %" PRId32 " components", cc_image_get_components(image));
    printf("\nspacing     %g %g %g mm", spacing[0], spacing[1], spacing[2]);
    if (dimension > 3)
        printf(", %g s", spacing[3]);
    printf("\norigin      %g %g %g mm (towards left, back, head)\n", origin[0], origin[1], origin[2]);
    for (int row = 0; row < 3; row++)
        printf("%s %9.6f %9.6f %9.6f\n", row == 0 ? "direction  " : "           ", direction[row][0], direction[row][1],
               direction[row][2]);
}

static void print_numbers(const char *name, const int64_t *numbers, int32_t count)
{
    printf(" %s (", name);
    for (int32_t n = 0; n < count; n++)
        printf("%s%" PRId64, n > 0 ? ", " : "", numbers[n]);
    printf(")");
}

bool report_descriptors(cc_image *image, cc_place place)
{
    static const cc_order orders[] = {CC_ORDER_C, CC_ORDER_K};
    for (int n = 0; n < 2; n++) {
        cc_descriptor shown = CC_DESCRIPTOR_INIT;
        if (cc_image_describe(image, NULL, orders[n], 0, place, &shown) != CC_OK) {
            fprintf(stderr, "volume: %s\n", cc_last_error_message());
            return false;
        }
        printf("%s %s order,", n == 0 ? "descriptor " : "           ", orders[n] == CC_ORDER_C ? "C" : "K");
        print_numbers("shape", shown.shape, shown.ndim);
        print_numbers("strides", shown.strides_bytes, shown.ndim);
        printf(", typestr \"%s\", version %" PRId32 "%s%s%s\n", shown.typestr, shown.version,
               shown.read_only ? ", read-only" : "", shown.c_contiguous ? ", C contiguous" : "",
               shown.f_contiguous ? ", F contiguous" : "");
    }
    return true;
}

bool report_transfers(const char *name, cc_image *image)
{
    cc_counters counters = CC_COUNTERS_INIT;
    if (cc_image_get_counters(image, &counters) != CC_OK) {
        fprintf(stderr, "volume: %s\n", cc_last_error_message());
        return false;
    }
    printf("%-11s up %" PRIu64 " (%" PRIu64 " bytes), down %" PRIu64 " (%" PRIu64 " bytes), avoided %" PRIu64
           " (%" PRIu64 " bytes)\n",
           name, counters.host_to_device_copies, counters.host_to_device_bytes, counters.device_to_host_copies,
           counters.device_to_host_bytes, counters.avoided_copies, counters.avoided_bytes);
    return true;
}
