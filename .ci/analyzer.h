/* Included first when src/ is analysed. Analysis of one file cannot see that these return the status they are given. */
#include "base/error.h"

#define cc__fail(status, ...) ((void)(cc__fail)(status, __VA_ARGS__), (status))
#define cc__fail_native(status, ...) ((void)(cc__fail_native)(status, __VA_ARGS__), (status))
