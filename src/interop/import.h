/* What importing an array comes down to, whoever describes it. For this room. */
#ifndef CC_INTEROP_IMPORT_H
#define CC_INTEROP_IMPORT_H

#include "interop/array.h"

/* Memory of somebody else's, as its library says it is. */
typedef struct cc__foreign {
    cc__array array;
    bool read_only;
    cc_place place;   /* CC_DEVICE_CURRENT: whichever device the memory is on */
    cc_stream stream; /* on a device */
    cc_release_fn release;
    void *user_data;
    const cc_geometry *lender_geometry; /* where the lender said that the pixels are; NULL when it did not */
} cc__foreign;

/* As much of the caller's struct as it has. Checks what cc_image_import() says of params, but release and those that
 * cc__array_to_image() checks. */
cc_status cc__import_read_params(const char *function, const cc_import_params *params, cc_import_params *out_params);

/* The whole of cc_image_import() after that. */
cc_status cc__import(const char *function, const cc__foreign *foreign, const cc_import_params *params,
                     cc_image **out_image);

/* The device that the memory is on, or that was named for an array without elements. */
cc_status cc__import_place(const char *function, const cc__foreign *foreign, bool is_empty, cc_place *out_place);

#endif
