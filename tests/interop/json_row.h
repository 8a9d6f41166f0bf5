/* Reading a row of interop_vectors.json. What is not as it must be ends the program, naming the row and the member. */
#ifndef CC_TESTS_JSON_ROW_H
#define CC_TESTS_JSON_ROW_H

#include <cudacommon/pixel.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* The row that messages name from now on; kept. */
void row_begin(const char *id);
void row_refuse(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Members that are not in the list, which ends with NULL, are refused: no field goes unnoticed. */
void row_check_keys(const json_t *object, const char *const known[]);
const json_t *row_member(const json_t *object, const char *key);
int64_t row_integer(const json_t *value, const char *key);
bool row_boolean(const json_t *value, const char *key);
const char *row_text(const json_t *value, const char *key);
int32_t row_integers(const json_t *value, const char *key, int32_t room, int64_t *out_values); /* how many there are */
void row_numbers(const json_t *value, const char *key, int32_t count, double *out_values);
cc_pixel_type row_pixel_type(const char *name);

#endif
