/* Expressions on the GPU: which kernel does one, and how it is started. */
#include "kernels/complex_direct.h"
#include "kernels/complex_step.h"
#include "kernels/evaluate_dense.h"
#include "kernels/evaluate_direct.h"
#include "kernels/evaluate_packs.h"
#include "kernels/evaluate_real.h"
#include "kernels/evaluate_shallow.h"
#include "kernels/evaluate_table.h"
#include "kernels/evaluate_wide.h"
#include "kernels/launch.h"
#include "kernels/magnitude.h"

static cc_status launch_direct(const cc__direct_plan *plan, const void *kernel, const cc__launcher *launcher)
{
    void *arguments[] = {(void *)plan};
    return launcher->launch(launcher, kernel, (uint32_t)(plan->vectors / CC__BLOCK_THREADS + 1), CC__BLOCK_THREADS,
                            arguments);
}

static const void *general_kernel(const cc__evaluate *work)
{
    if (cc__evaluate_is_copy(work))
        return (const void *)evaluate_copy;
    switch (work->numbers) {
    case CC__NUMBERS_REAL:
        return (const void *)evaluate_real;
    case CC__NUMBERS_COMPLEX:
        return (const void *)evaluate_complex;
    case CC__NUMBERS_WHOLE:
        return (const void *)evaluate_whole;
    }
    return NULL;
}

/* Leaves the first half of the rows in `plan`, and begins another with the others. */
static void split_rows(const cc__general_plan *plan, cc__rows *rows, cc__general_plan *out_second, cc__rows *out_rest)
{
    int64_t unused[2];
    int32_t axis = rows->axes - 1;
    while (rows->size[axis] == 1)
        axis--;
    cc__rows_split(rows, out_rest, unused);
    *out_second = *plan;
    out_second->work.destination.data += rows->size[axis] * plan->stride[0][axis];
    for (int32_t n = 0; n < plan->work.source_count; n++)
        out_second->work.sources[n].data += rows->size[axis] * plan->stride[1 + n][axis];
}

static cc_status launch_rows(cc__general_plan *plan, const void *kernel, int32_t pack, cc__rows rows,
                             const cc__launcher *launcher)
{
    int64_t pieces = (rows.length - 1) / pack + 1;
    if (!cc__tiles_plan(&rows, pieces, CC__GENERAL_TILE_LOG2, &plan->tiles)) {
        cc__rows rest;
        cc__general_plan second;
        split_rows(plan, &rows, &second, &rest);
        cc_status status = launch_rows(plan, kernel, pack, rows, launcher);
        return status == CC_OK ? launch_rows(&second, kernel, pack, rest, launcher) : status;
    }
    void *arguments[] = {plan};
    return launcher->launch(launcher, kernel, cc__tiles_blocks(&plan->tiles, launcher->multiprocessor_count),
                            CC__BLOCK_THREADS, arguments);
}

static cc_status launch_general(const cc__evaluate *work, const cc__lattice *lattice, const cc__launcher *launcher)
{
    cc__general_plan general;
    cc__rows rows;
    cc__general_plan_make(work, lattice, &general, &rows);
    bool is_packed = work->numbers == CC__NUMBERS_REAL || cc__evaluate_is_copy(work);
    return launch_rows(&general, general_kernel(work), is_packed ? PACK : WIDE_PACK, rows, launcher);
}

/* Some components of the only row. */
static cc_status launch_part(const cc__evaluate *work, const cc__lattice *lattice, int64_t first, int64_t count,
                             const cc__launcher *launcher)
{
    cc__evaluate part = *work;
    cc__lattice row = *lattice;
    if (count == 0)
        return CC_OK;
    row.length = count;
    part.destination.data += first * lattice->step[0];
    for (int32_t n = 0; n < work->source_count; n++)
        part.sources[n].data += first * lattice->step[1 + n];
    return launch_general(&part, &row, launcher);
}

static cc_status launch_dense(const cc__evaluate *work, const cc__lattice *lattice, const cc__dense_plan *plan,
                              const cc__launcher *launcher)
{
    const int64_t most = (int64_t)launcher->multiprocessor_count * CC__DENSE_BLOCKS;
    const int64_t tile =
        (int64_t)CC__BLOCK_THREADS * (plan->is_wide != 0 ? CC__DENSE_WIDE_PACKS : CC__DENSE_NARROW_PACKS);
    const int64_t blocks = (plan->packs - 1) / tile + 1;
    const void *kernel = plan->is_wide != 0 ? (const void *)wide_evaluate : (const void *)narrow_evaluate;
    void *arguments[] = {(void *)plan};
    cc_status status = launcher->find(launcher, kernel);
    if (status == CC_OK)
        status = launch_part(work, lattice, 0, plan->head, launcher);
    if (status == CC_OK)
        status = launch_part(work, lattice, lattice->length - plan->tail, plan->tail, launcher);
    if (status == CC_OK)
        status =
            launcher->launch(launcher, kernel, (uint32_t)(blocks < most ? blocks : most), CC__BLOCK_THREADS, arguments);
    return status;
}

/* A tile for each block. */
static cc_status launch_shallow(const cc__shallow_plan *plan, const cc__launcher *launcher)
{
    const void *kernel = plan->is_wide != 0 ? (const void *)wide_one_step : (const void *)narrow_one_step;
    if (plan->source_count == 2)
        kernel = plan->is_wide != 0 ? (const void *)wide_two_step : (const void *)narrow_two_step;
    const bool is_cast = cc__shallow_is_float32_cast(plan);
    if (is_cast)
        kernel = (const void *)float32_cast_step;
    const int64_t tile = (int64_t)CC__BLOCK_THREADS * (is_cast                   ? CC__SHALLOW_UNITS_OF_CAST
                                                       : plan->source_count == 2 ? CC__SHALLOW_UNITS_OF_TWO
                                                       : plan->is_wide != 0      ? CC__SHALLOW_WIDE_UNITS
                                                                                 : CC__SHALLOW_UNITS);
    void *arguments[] = {(void *)plan};
    return launcher->launch(launcher, kernel, (uint32_t)(plan->units.count / tile + 1), CC__BLOCK_THREADS, arguments);
}

static cc_status launch_complex(const cc__complex_plan *plan, const cc__launcher *launcher)
{
    const void *kernel = complex_direct_kernel(plan);
    const int64_t tile =
        (int64_t)CC__BLOCK_THREADS * (kernel != NULL && plan->source_count == 1 ? 1 : CC__COMPLEX_UNITS);
    if (kernel == NULL)
        kernel = plan->is_wide != 0 ? (const void *)complex128_step : (const void *)complex64_step;
    void *arguments[] = {(void *)plan};
    return launcher->launch(launcher, kernel, (uint32_t)(plan->units.count / tile + 1), CC__BLOCK_THREADS, arguments);
}

static cc_status launch_magnitude(const cc__magnitude_plan *plan, const cc__launcher *launcher)
{
    const int64_t tile = (int64_t)CC__BLOCK_THREADS * CC__MAGNITUDE_UNITS;
    const void *kernel = plan->components == 2   ? (const void *)magnitude_of_2
                         : plan->components == 3 ? (const void *)magnitude_of_3
                                                 : (const void *)magnitude_of_4;
    void *arguments[] = {(void *)plan};
    return launcher->launch(launcher, kernel, (uint32_t)(plan->units / tile + 1), CC__BLOCK_THREADS, arguments);
}

/* Each block makes a table, the larger the results the longer it takes. */
static cc_status launch_table(const cc__table_plan *plan, cc_pixel_type type, const cc__launcher *launcher)
{
    const int64_t bytes = (int64_t)cc_pixel_type_size_bytes(type);
    const int64_t most =
        (int64_t)launcher->multiprocessor_count * (bytes == 1 ? CC__TABLE_NARROW_BLOCKS : CC__TABLE_BLOCKS);
    const int64_t blocks = plan->units.count / TABLE_THREADS + 1;
    const void *kernel = bytes == 1   ? (const void *)evaluate_table_8
                         : bytes == 2 ? (const void *)evaluate_table_16
                                      : (const void *)evaluate_table_32;
    void *arguments[] = {(void *)plan};
    return launcher->launch(launcher, kernel, (uint32_t)(blocks < most ? blocks : most), TABLE_THREADS, arguments);
}

/* The kernel that was made for these steps, if there is one. */
static cc_status launch_program(const cc__evaluate *work, const cc__lattice *lattice, const cc__launcher *launcher,
                                bool *out_done)
{
    cc__program program;
    cc__program_call call;
    *out_done = false;
    if (launcher->launch_program == NULL || !cc__program_make(work, lattice, &program, &call))
        return CC_OK;
    return launcher->launch_program(launcher, &program, &call, out_done);
}

cc_status cc__launch_evaluate_row(const cc__evaluate *work, const cc__launcher *launcher, bool *out_done)
{
    cc__lattice lattice;
    cc__dense_plan dense;
    cc__direct_plan direct;
    cc__shallow_plan shallow;
    cc__table_plan table;
    cc__complex_plan complex_step;
    cc__magnitude_plan magnitude;
    cc__evaluate_plan(work, &lattice);
    cc__direct_form form = cc__direct_plan_make(work, &lattice, &direct);
    *out_done = true;
    if (form != CC__DIRECT_NONE)
        return launch_direct(
            &direct, direct_kernel(form, work->steps[1].kind, work->destination_type == CC_PIXEL_FLOAT64), launcher);
    *out_done = false;
    if (cc__evaluate_is_copy(work))
        return CC_OK;
    *out_done = true;
    const bool is_shallow = cc__shallow_plan_make(work, &lattice, &shallow);
    /* Looking up four bytes takes longer than converting one. */
    if (is_shallow && cc__shallow_is_float32_cast(&shallow) && shallow.to_bytes > shallow.from_bytes[0])
        return launch_shallow(&shallow, launcher);
    if (cc__table_plan_make(work, &lattice, &table))
        return launch_table(&table, work->destination_type, launcher);
    if (is_shallow && !cc__shallow_is_slow(&shallow))
        return launch_shallow(&shallow, launcher);
    if (cc__complex_plan_make(work, &lattice, &complex_step))
        return launch_complex(&complex_step, launcher);
    if (cc__magnitude_plan_make(work, &lattice, &magnitude))
        return launch_magnitude(&magnitude, launcher);
    const cc_status status = launch_program(work, &lattice, launcher, out_done);
    if (status != CC_OK || *out_done)
        return status;
    *out_done = true;
    if (is_shallow)
        return launch_shallow(&shallow, launcher);
    if (cc__dense_plan_make(work, &lattice, &dense))
        return launch_dense(work, &lattice, &dense, launcher);
    *out_done = false;
    return CC_OK;
}

cc_status cc__launch_evaluate(const void *argument, const cc__launcher *launcher)
{
    const cc__evaluate *work = (const cc__evaluate *)argument;
    cc__lattice lattice;
    bool is_done = false;
    const cc_status status = cc__launch_evaluate_row(work, launcher, &is_done);
    if (is_done)
        return status;
    cc__evaluate_plan(work, &lattice);
    return launch_general(work, &lattice, launcher);
}
