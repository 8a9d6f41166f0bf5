/* A program as the text of its kernel. */
#ifndef CC_BASE_PROGRAM_TEXT_H
#define CC_BASE_PROGRAM_TEXT_H

#include "base/program.h"

#ifdef __cplusplus
extern "C" {
#endif

#define CC__PROGRAM_ENTRY "cc_program"

/*
 * PTX of a kernel for blocks of CC__PROGRAM_THREADS, which takes a cc__program_call: as many threads as take all units.
 * For cc__free(); NULL without memory.
 */
char *cc__program_text(const cc__program *program);

#ifdef __cplusplus
}
#endif

#endif
