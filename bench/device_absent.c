#include "device.h"

const char *device_why_none(bench *b)
{
    (void)b;
    return "built without CUDA";
}

void device_begin(bench *b)
{
    (void)b;
}

void device_end(bench *b)
{
    (void)b;
}

void device_recover(const bench *b)
{
    (void)b;
}

void device_describe(machine *m)
{
    machine_set(m->cuda, "none");
}
