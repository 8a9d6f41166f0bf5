/*
 * Check writes down the line of every assertion that holds, so that it can say where a test crashed. Where one line is
 * asserted for each of a million pixels, that is most of a test's time; the same line again says nothing new. Included
 * before every source of a test.
 */
#ifndef CC_TESTS_MARKS_H
#define CC_TESTS_MARKS_H

#include <check.h>

static inline void cc_test_mark(const char *file, int line)
{
    static _Thread_local int last_line;
    if (line == last_line)
        return;
    last_line = line;
    _mark_point(file, line);
}
#define _mark_point(file, line) cc_test_mark((file), (line))

#endif
