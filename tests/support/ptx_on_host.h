/*
 * Runs a PTX kernel on the CPU, thread after thread: those few instructions that the library writes, as the PTX ISA
 * says what they do. Finds wrong arithmetic, wrong and misaligned addresses; anything else in the text ends the test.
 */
#ifndef CC_TESTS_PTX_ON_HOST_H
#define CC_TESTS_PTX_ON_HOST_H

#include <stdint.h>

typedef struct ptx_kernel ptx_kernel;

ptx_kernel *ptx_parse(const char *text);
void ptx_free(ptx_kernel *kernel);

/* Addresses in the parameter are the host's. */
void ptx_run(const ptx_kernel *kernel, uint32_t blocks, uint32_t block_threads, const void *parameter);

#endif
