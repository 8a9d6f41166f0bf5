/* What stands for pixels outside an image. */
#ifndef CUDACOMMON_BORDER_H
#define CUDACOMMON_BORDER_H

/* Each with what stands before and after the pixels a b c d; the names are NumPy's, but for the first and the last. */
typedef enum cc_border {
    CC_BORDER_CONSTANT = 0,  /* v v v | a b c d | v v v: a value */
    CC_BORDER_REPLICATE = 1, /* a a a | a b c d | d d d: the nearest pixel; NumPy's "edge" */
    CC_BORDER_REFLECT = 2,   /* d c b | a b c d | c b a: a mirror in the middle of the last pixel */
    CC_BORDER_SYMMETRIC = 3, /* c b a | a b c d | d c b: a mirror at the outer face of the last pixel */
    CC_BORDER_PERIODIC = 4   /* b c d | a b c d | a b c: the image again; NumPy's "wrap" */
} cc_border;

#endif
