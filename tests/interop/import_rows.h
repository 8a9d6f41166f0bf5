/* The worked cases of interop_vectors.json about arrays of others: what image they are, or why they are none. */
#ifndef CC_TESTS_IMPORT_ROWS_H
#define CC_TESTS_IMPORT_ROWS_H

#include "interop/dlpack_abi.h"

#include <cudacommon/cudacommon.h>
#include <stdbool.h>

#define ROW_MAX_NDIM 8

typedef enum import_kind {
    IMPORT_CAI = 0,
    IMPORT_ARRAY_INTERFACE = 1,
    IMPORT_DLPACK = 2
} import_kind;

typedef struct import_row {
    char id[8];
    import_kind kind;
    const char *only_in_python; /* why no C call can say this; NULL when one can */
    int32_t ndim;
    bool has_shape;
    int64_t shape[ROW_MAX_NDIM];
    bool has_strides;
    int64_t strides[ROW_MAX_NDIM]; /* bytes; of a tensor elements */
    bool has_data;
    int64_t data_offset;
    int64_t memory_bytes; /* of the allocation; 0: as many as are needed, and not told */
    bool read_only;
    bool wants_write;
    int32_t dimension;
    cc_order order;
    char typestr[8];
    int64_t stream; /* 0: nothing is pending */
    cc__dlpack_type element;
    uint64_t byte_offset;
    cc__dlpack_device device;
    cc__dlpack_version version;
    uint64_t flags;

    cc_status status[2]; /* dense only; strided too */
    /* What follows is there when one of the two is CC_OK. */
    int64_t size[CC_MAX_DIMENSION];
    int32_t components;
    cc_pixel_type type;
    int64_t strides_bytes[CC_MAX_DIMENSION];
    int64_t component_stride_bytes;
    int64_t first_offset_bytes;
    int64_t extent_bytes; /* from the first pixel on */
    bool is_empty;
    bool is_read_only;
} import_row;

/* Ends the program with a message when the file cannot be read, or has a field that is not known here. */
void import_rows_load(const char *path);
void import_rows_free(void);
int32_t import_row_count(void);
const import_row *import_row_at(int32_t at);

#endif
