#include "json_row.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *current = "the file";

void row_begin(const char *id)
{
    current = id;
}

void row_refuse(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    fprintf(stderr, "interop vectors, %s: ", current);
    vfprintf(stderr, format, arguments);
    fputc('\n', stderr);
    va_end(arguments);
    exit(EXIT_FAILURE);
}

void row_check_keys(const json_t *object, const char *const known[])
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        int32_t at = 0;
        while (known[at] != NULL && strcmp(known[at], key) != 0)
            ++at;
        if (known[at] == NULL)
            row_refuse("%s is not known here", key);
    }
}

const json_t *row_member(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    if (value == NULL)
        row_refuse("there is no %s", key);
    return value;
}

int64_t row_integer(const json_t *value, const char *key)
{
    if (!json_is_integer(value))
        row_refuse("%s is not a whole number", key);
    return json_integer_value(value);
}

bool row_boolean(const json_t *value, const char *key)
{
    if (!json_is_boolean(value))
        row_refuse("%s is not true or false", key);
    return json_is_true(value);
}

const char *row_text(const json_t *value, const char *key)
{
    if (!json_is_string(value))
        row_refuse("%s is not text", key);
    return json_string_value(value);
}

int32_t row_integers(const json_t *value, const char *key, int32_t room, int64_t *out_values)
{
    const int32_t count = (int32_t)json_array_size(value);
    if (!json_is_array(value) || count > room)
        row_refuse("%s is not a list of at most %d", key, (int)room);
    for (int32_t i = 0; i < count; ++i)
        out_values[i] = row_integer(json_array_get(value, (size_t)i), key);
    return count;
}

void row_numbers(const json_t *value, const char *key, int32_t count, double *out_values)
{
    if (!json_is_array(value) || (int32_t)json_array_size(value) != count)
        row_refuse("%s is not a list of %d", key, (int)count);
    for (int32_t i = 0; i < count; ++i) {
        const json_t *number = json_array_get(value, (size_t)i);
        if (!json_is_number(number))
            row_refuse("%s is not a list of numbers", key);
        out_values[i] = json_number_value(number);
    }
}

cc_pixel_type row_pixel_type(const char *name)
{
    for (int32_t type = CC_PIXEL_BOOL; type <= CC_PIXEL_COMPLEX128; ++type)
        if (strcmp(cc_pixel_type_name((cc_pixel_type)type), name) == 0)
            return (cc_pixel_type)type;
    row_refuse("typ = %s is no pixel type", name);
}
