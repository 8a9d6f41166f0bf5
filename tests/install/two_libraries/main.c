/* Two shared libraries, each linked with the library, hand an image from one to the other. */
#include <stdint.h>

typedef struct cc_image cc_image;
cc_image *produce(int32_t value);
int32_t read_and_release(cc_image *image);

int main(void)
{
    cc_image *image = produce(31);
    return image && read_and_release(image) == 31 ? 0 : 1;
}
