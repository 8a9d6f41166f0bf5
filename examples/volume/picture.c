#include "picture.h"

#include "orientation.h"
#include "slice.h"

#include <math.h>
#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    PANELS = 3,
    GAP = 8,
    LONGEST_SIDE = 1024
};

typedef struct panel {
    slice content;
    int64_t columns, rows; /* pixels of the picture */
} panel;

typedef struct window {
    float black, white;
} window;

static int compare_floats(const void *a, const void *b)
{
    const float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Without the few extremes: a bright vessel or a dead pixel does not make the rest dark. */
static bool choose_window(const panel *panels, window *out_window)
{
    int64_t total = 0, finite = 0;
    for (int n = 0; n < PANELS; n++)
        total += panels[n].content.columns * panels[n].content.rows;
    float *sorted = malloc((size_t)total * sizeof(float));
    if (!sorted)
        return false;
    for (int n = 0; n < PANELS; n++)
        for (int64_t i = 0; i < panels[n].content.columns * panels[n].content.rows; i++)
            if (isfinite(panels[n].content.values[i]))
                sorted[finite++] = panels[n].content.values[i];
    *out_window = (window){0.0f, 1.0f};
    if (finite > 0) {
        qsort(sorted, (size_t)finite, sizeof(float), compare_floats);
        *out_window = (window){sorted[finite / 200], sorted[finite - 1 - finite / 200]};
    }
    free(sorted);
    return true;
}

static unsigned char shade(double value, window shown)
{
    const double range = (double)shown.white - shown.black;
    const double level = range > 0 ? (value - shown.black) / range * 255.0 : value > shown.black ? 255.0 : 0.0;
    if (!(level > 0)) /* also NaN */
        return 0;
    return level < 255.0 ? (unsigned char)lround(level) : 255;
}

/* One size of picture pixel for all panels: the finest of the spacings, unless that makes the picture too large. */
static void choose_sizes(panel *panels)
{
    double pixel_mm = HUGE_VAL, longest_mm = 0.0;
    for (int n = 0; n < PANELS; n++) {
        const slice *content = &panels[n].content;
        pixel_mm = fmin(pixel_mm, fmin(content->column_mm, content->row_mm));
        longest_mm = fmax(longest_mm,
                          fmax((double)content->columns * content->column_mm, (double)content->rows * content->row_mm));
    }
    pixel_mm = fmax(pixel_mm, longest_mm / LONGEST_SIDE);
    for (int n = 0; n < PANELS; n++) {
        const slice *content = &panels[n].content;
        panels[n].columns = (int64_t)fmax(1.0, round((double)content->columns * content->column_mm / pixel_mm));
        panels[n].rows = (int64_t)fmax(1.0, round((double)content->rows * content->row_mm / pixel_mm));
    }
}

static void draw(const panel *from, window shown, unsigned char *top_left, int64_t picture_columns)
{
    const double columns_per_pixel = (double)from->content.columns / (double)from->columns;
    const double rows_per_pixel = (double)from->content.rows / (double)from->rows;
    for (int64_t row = 0; row < from->rows; row++)
        for (int64_t column = 0; column < from->columns; column++)
            top_left[row * picture_columns + column] =
                shade(slice_sample(&from->content, ((double)column + 0.5) * columns_per_pixel - 0.5,
                                   ((double)row + 0.5) * rows_per_pixel - 0.5),
                      shown);
}

bool picture_write(const char *path, cc_image *image)
{
    static const int toward[PANELS][2] = {
        {TOWARDS_LEFT, TOWARDS_BACK}, {TOWARDS_LEFT, TOWARDS_HEAD}, {TOWARDS_BACK, TOWARDS_HEAD}};
    const orientation turned = orientation_of(image);
    panel panels[PANELS] = {{{0, 0, 0, 0, NULL}, 0, 0}};
    png_image picture = {.version = PNG_IMAGE_VERSION, .format = PNG_FORMAT_GRAY};
    unsigned char *shades = NULL;
    window shown;
    bool done = false;

    for (int n = 0; n < PANELS; n++)
        if (!slice_read(image, &turned, toward[n][0], toward[n][1], &panels[n].content))
            goto end;
    choose_sizes(panels);

    int64_t columns = (int64_t)(PANELS - 1) * GAP, rows = 1;
    for (int n = 0; n < PANELS; n++) {
        columns += panels[n].columns;
        rows = panels[n].rows > rows ? panels[n].rows : rows;
    }
    shades = calloc((size_t)rows, (size_t)columns);
    if (!shades || !choose_window(panels, &shown)) {
        fprintf(stderr, "volume: %s: not enough memory for the picture\n", path);
        goto end;
    }
    int64_t left = 0;
    for (int n = 0; n < PANELS; n++) {
        draw(&panels[n], shown, shades + (rows - panels[n].rows) / 2 * columns + left, columns);
        left += panels[n].columns + GAP;
    }

    picture.width = (png_uint_32)columns;
    picture.height = (png_uint_32)rows;
    if (!png_image_write_to_file(&picture, path, 0, shades, 0, NULL)) {
        fprintf(stderr, "volume: %s: %s\n", path, picture.message);
        goto end;
    }
    done = true;

end:
    for (int n = 0; n < PANELS; n++)
        free(panels[n].content.values);
    free(shades);
    return done;
}
