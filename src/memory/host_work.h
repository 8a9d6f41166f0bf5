/* The kinds of work of base/work.h on the host's memory, done by as many threads as pay. */
#ifndef CC_MEMORY_HOST_WORK_H
#define CC_MEMORY_HOST_WORK_H

#include "base/work.h"

void cc__copy_by_crew(const cc__copy *work);
void cc__fill_by_crew(const cc__fill *work);
void cc__rescale_by_crew(const cc__rescale *work);

#endif
