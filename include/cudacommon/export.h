/* How functions of the library are marked: visible, with C linkage. */
#ifndef CUDACOMMON_EXPORT_H
#define CUDACOMMON_EXPORT_H

#if defined(CUDACOMMON_STATIC) || !defined(__GNUC__)
#define CC_API
#else
#define CC_API __attribute__((visibility("default")))
#endif

#ifdef __cplusplus
#define CC_BEGIN_DECLS extern "C" {
#define CC_END_DECLS }
#else
#define CC_BEGIN_DECLS
#define CC_END_DECLS
#endif

#endif
