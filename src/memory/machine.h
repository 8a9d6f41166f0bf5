/* What the machine has, and what the environment says about using it. */
#ifndef CC_MEMORY_MACHINE_H
#define CC_MEMORY_MACHINE_H

#include <stddef.h>

size_t cc__machine_memory_bytes(void);
size_t cc__machine_page_bytes(void);

/* A number of bytes, with K, M, G or T behind it for that many binary thousands; `otherwise` when it is anything else.
 */
size_t cc__machine_bytes_from_environment(const char *variable, size_t otherwise);

#endif
