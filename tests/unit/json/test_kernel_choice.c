/* SPDX-License-Identifier: Apache-2.0 */
/* A process chooses its kernel once, so each choice is made in a forked child, and this process makes none.
 * The child does not start another program, as an emulator could not run it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "json/kernel.h"
#include "support/unit.h"

enum { KERNELS_MAX = 4, NAME_BYTES = 16 };

/* The kernel that a process chooses, and all available kernels. */
typedef struct choice {
    char best[NAME_BYTES];
    char names[KERNELS_MAX][NAME_BYTES];
} choice;

static void find_choice(choice *out)
{
    snprintf(out->best, NAME_BYTES, "%s", ki_json_kernel_best()->name);
    const ki_json_kernel *const *kernels = ki_json_kernels();
    for (size_t i = 0; i < KERNELS_MAX && kernels[i] != NULL; i++)
        snprintf(out->names[i], NAME_BYTES, "%s", kernels[i]->name);
}

/* The choice of a process with KI_SIMD=`simd` in its environment, or without it (NULL). */
static choice choice_with(const char *simd)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    choice found = {.best = ""};
    if (child == 0) {
        int rc = simd == NULL ? unsetenv("KI_SIMD") : setenv("KI_SIMD", simd, 1);
        find_choice(&found);
        _exit(rc != 0 || write(ends[1], &found, sizeof(found)) != (ssize_t)sizeof(found));
    }
    close(ends[1]);
    ssize_t len = read(ends[0], &found, sizeof(found));
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    assert_int_equal(len, sizeof(found));
    return found;
}

static void the_environment_chooses_the_kernel(void **state)
{
    (void)state;
    const choice usual = choice_with(NULL);
    for (size_t i = 0; i < KERNELS_MAX && usual.names[i][0] != 0; i++) {
        const choice chosen = choice_with(usual.names[i]);
        assert_string_equal(chosen.best, usual.names[i]);
        assert_memory_equal(chosen.names, usual.names, sizeof(usual.names));
    }
}

static void without_a_choice_the_best_kernel_is_used(void **state)
{
    (void)state;
    static const char *const without[] = {NULL, "", "avx9", "SCALAR"};
    for (size_t i = 0; i < sizeof(without) / sizeof(without[0]); i++) {
        const choice usual = choice_with(without[i]);
        assert_string_not_equal(usual.best, "");
        assert_string_equal(usual.best, usual.names[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_environment_chooses_the_kernel),
        cmocka_unit_test(without_a_choice_the_best_kernel_is_used),
    };
    return RUN_TESTS(tests);
}
