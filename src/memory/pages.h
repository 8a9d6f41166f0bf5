/* Making pages be there. */
#ifndef CC_MEMORY_PAGES_H
#define CC_MEMORY_PAGES_H

#include <stddef.h>

/*
 * Gives the pages of this memory RAM, by several threads, without changing a byte of them, whatever other threads write
 * there meanwhile. Begins and ends at page borders.
 */
void cc__pages_commit(unsigned char *memory, size_t size_bytes);

#endif
