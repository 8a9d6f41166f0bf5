#include "orientation.h"

#include <math.h>

orientation orientation_of(const cc_image *image)
{
    static const int permutations[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    double direction[CC_MAX_DIMENSION][CC_MAX_DIMENSION];
    orientation nearest = {{0, 1, 2}, {false, false, false}};
    double best = -1.0;

    cc_image_get_direction(image, direction[0]);
    for (int n = 0; n < 6; n++) {
        double agreement = 0.0;
        for (int toward = 0; toward < 3; toward++)
            agreement += fabs(direction[toward][permutations[n][toward]]);
        if (agreement <= best)
            continue;
        best = agreement;
        for (int toward = 0; toward < 3; toward++) {
            nearest.axis[toward] = permutations[n][toward];
            nearest.reversed[toward] = direction[toward][permutations[n][toward]] < 0;
        }
    }
    return nearest;
}
