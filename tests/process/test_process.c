/* The library in the life of a process (T18, T22, T63 of shared/cases.md): nothing is printed, nothing hangs. */
#include <check.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define SKIPPED 77
#define LONGEST_OUTPUT 8192

typedef struct ending {
    int status; /* as waitpid tells it */
    char output[LONGEST_OUTPUT];
} ending;

/* compute-sanitizer talks too. */
static void drop_lines_of_tools(char *text)
{
    char *kept = text;
    for (char *line = text, *next; *line != '\0'; line = next) {
        char *end = strchr(line, '\n');
        next = end != NULL ? end + 1 : line + strlen(line);
        if (strncmp(line, "=========", 9) == 0)
            continue;
        memmove(kept, line, (size_t)(next - line));
        kept += next - line;
    }
    *kept = '\0';
}

static void become(const char *program, const char *argument, const char *const *environment, int output)
{
    for (; environment != NULL && *environment != NULL; ++environment) {
        char *assignment = strdup(*environment);
        if (assignment == NULL)
            _exit(126);
        if (strchr(assignment, '=') != NULL)
            (void)putenv(assignment);
        else
            (void)unsetenv(assignment);
    }
    if (dup2(output, STDOUT_FILENO) < 0 || dup2(output, STDERR_FILENO) < 0)
        _exit(126);
    (void)execl(program, program, argument, (char *)NULL);
    _exit(127);
}

/* environment: assignments, and names to be unset; NULL ends it. */
static ending run(const char *program, const char *argument, const char *const *environment)
{
    ending result = {.status = -1};
    FILE *output = tmpfile();
    ck_assert_ptr_nonnull(output);
    fflush(NULL);
    const pid_t child = fork();
    ck_assert_int_ge(child, 0);
    if (child == 0)
        become(program, argument, environment, fileno(output));
    ck_assert_int_eq(waitpid(child, &result.status, 0), child);
    rewind(output);
    result.output[fread(result.output, 1, sizeof result.output - 1, output)] = '\0';
    fclose(output);
    drop_lines_of_tools(result.output);
    return result;
}

static void expect_quiet(const char *program, const char *argument, const char *const *environment)
{
    const ending result = run(program, argument, environment);
    ck_assert_msg(result.output[0] == '\0', "%s printed: %s", argument, result.output);
    ck_assert_msg(WIFEXITED(result.status), "%s was ended by signal %d", argument, WTERMSIG(result.status));
    ck_assert_msg(WEXITSTATUS(result.status) == 0, "%s exited with %d", argument, WEXITSTATUS(result.status));
}

/* A directory whose libcuda.so.1 is no library, for the machines that have a real one. */
static void make_useless_driver(char directory[64])
{
    char path[128];
    snprintf(directory, 64, "/tmp/cudacommon-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/libcuda.so.1", directory);
    FILE *file = fopen(path, "w");
    ck_assert_ptr_nonnull(file);
    fputs("not a library\n", file);
    fclose(file);
}

static void remove_useless_driver(const char *directory)
{
    char path[128];
    snprintf(path, sizeof path, "%s/libcuda.so.1", directory);
    (void)unlink(path);
    (void)rmdir(directory);
}

START_TEST(t18_no_device_is_visible)
{
    const char *const environment[] = {"CUDACOMMON_DEVICE", "CUDA_VISIBLE_DEVICES=", NULL};
    expect_quiet(SUBJECT, "host", environment);
}
END_TEST

START_TEST(t18_there_is_no_driver)
{
    char directory[64];
    char path[96];
    make_useless_driver(directory);
    snprintf(path, sizeof path, "LD_LIBRARY_PATH=%s", directory);
    const char *const environment[] = {"CUDACOMMON_DEVICE", path, NULL};
    const ending result = run(SUBJECT, "host", environment);
    remove_useless_driver(directory);
    ck_assert_str_eq(result.output, "");
    ck_assert(WIFEXITED(result.status) && WEXITSTATUS(result.status) == 0);
}
END_TEST

START_TEST(t63_loading_starts_and_opens_nothing)
{
#ifdef LIBRARY
    const char *const environment[] = {"CUDACOMMON_DEVICE", NULL};
    expect_quiet(OPENER, LIBRARY, NULL);
    expect_quiet(OPENER, LIBRARY, environment);
#endif
}
END_TEST

static const char *const modes[] = {"exit-late",         "exit-early",      "exit-static",
                                    "exit-never",        "exit-mapped",     "exit-in-use",
                                    "release-elsewhere", "fork-before-use", "fork-after-use"};

/* T22 for exit, T63 for fork. */
START_TEST(a_process_lives_and_ends_quietly)
{
    expect_quiet(SUBJECT, modes[_i], NULL);
}
END_TEST

static bool has_devices(void)
{
    int count = 0;
    FILE *output = popen(SUBJECT " devices", "r");
    const bool is_known = output != NULL && fscanf(output, "%d", &count) == 1;
    if (output != NULL)
        (void)pclose(output);
    return is_known && count > 0;
}

/* On CUDA, without a device: 77, or 1 when that is not allowed. */
static int why_not(void)
{
    const char *device = getenv("CUDACOMMON_DEVICE");
    if (device == NULL || strcmp(device, "cuda") != 0 || has_devices())
        return 0;
    const bool required = getenv("CC_TEST_REQUIRE_GPU") != NULL;
    printf("%s: no GPU here\n", required ? "failed" : "skipped");
    return required ? EXIT_FAILURE : SKIPPED;
}

int main(void)
{
    const int skipped = why_not();
    if (skipped != 0)
        return skipped;
    Suite *suite = suite_create("process");
    TCase *tcase = tcase_create("process");
    tcase_set_timeout(tcase, 120);
    tcase_add_test(tcase, t18_no_device_is_visible);
    tcase_add_test(tcase, t18_there_is_no_driver);
    tcase_add_test(tcase, t63_loading_starts_and_opens_nothing);
    tcase_add_loop_test(tcase, a_process_lives_and_ends_quietly, 0, (int)(sizeof modes / sizeof *modes));
    suite_add_tcase(suite, tcase);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    const int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
