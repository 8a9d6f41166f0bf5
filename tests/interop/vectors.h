/* The worked cases of interop_vectors.json: what is exported of an image, and where its pixels are in space. */
#ifndef CC_TESTS_VECTORS_H
#define CC_TESTS_VECTORS_H

#include <cudacommon/cudacommon.h>
#include <stdbool.h>

#define VECTOR_MAX_NDIM (CC_MAX_DIMENSION + 1)

typedef struct export_vector {
    char id[8];
    cc_image_params params; /* the buffered region */
    bool has_region;
    cc_region region;
    cc_order order;
    uint32_t flags;
    bool read_only;
    int64_t pitch_bytes; /* 0: dense */

    cc_status status; /* what follows is there for CC_OK */
    int32_t ndim;
    int64_t shape[VECTOR_MAX_NDIM];
    int64_t strides_bytes[VECTOR_MAX_NDIM];
    bool compares_strides;
    bool has_cai_strides;
    int64_t cai_strides[VECTOR_MAX_NDIM];
    char typestr[8];
    int32_t itemsize;
    int32_t version;
    bool is_c_contiguous;
    bool is_f_contiguous;
    bool is_read_only;
    bool is_null; /* the pointer */
    int64_t data_offset_bytes;
    int64_t element_count;
    int64_t extent_bytes;
    int64_t strides_elements[VECTOR_MAX_NDIM];
    int32_t element_code;
    int32_t element_bits;
    int32_t dlpack_flags;
} export_vector;

typedef struct geometry_vector {
    char id[8];
    cc_image_params params;
    int64_t array_index[CC_MAX_DIMENSION]; /* slowest first, as listed */
    int64_t image_index[CC_MAX_DIMENSION];
    double point[CC_MAX_DIMENSION];
    double first_point[CC_MAX_DIMENSION];
} geometry_vector;

/*
 * Reads the file. The program ends with a message when it cannot be read, or has a field that is not known here: no row
 * and no field goes unnoticed. vectors_free() at the end.
 */
void vectors_load(const char *path);
void vectors_free(void);

int32_t export_vector_count(void);
const export_vector *export_vector_at(int32_t at);
int32_t geometry_vector_count(void);
const geometry_vector *geometry_vector_at(int32_t at);
/* Rows of other kinds: those of import_rows.h and of test_protocol_vectors.c. */
int32_t other_vector_count(void);

#endif
