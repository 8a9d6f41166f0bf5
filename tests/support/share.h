/*
 * What is tried many times in all builds need not be tried each time in each: with CC_TEST_SHARE=n in the environment
 * one in n of the faults and of the random programs is. Without it, all.
 */
#ifndef CC_TESTS_SHARE_H
#define CC_TESTS_SHARE_H

#include <stdint.h>

int64_t share_one_in(void);

#endif
