/* SPDX-License-Identifier: Apache-2.0 */
/* An informer and a program that writes to objects of its store. */
#include <kinformer/informer.h>
#include <kinformer/log.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/informer/informer_rig.h"
#include "support/unit.h"

enum { SECOND = 1000, OTHER_MISTAKE = 99 };

static void count_errors(const ki_log_record *record, void *user)
{
    int *errors = user;
    *errors += record->level == KI_LOG_ERROR;
}

/* Runs in a child process. Its exit status is the number of reports. */
static void write_into_an_object(int mutations)
{
    virtual_rig rig;
    int errors = 0;
    virtual_rig_init(&rig, &(ki_informer_options){.mutations = (ki_mutations)mutations});
    ki_set_log(count_errors, KI_LOG_ERROR, &errors);
    virtual_rig_sync(&rig);
    ki_object *object = ki_store_get(ki_informer_store(rig.informer), KI_STR("a"), KI_STR("n1"));
    ki_json value = ki_object_find(object, "/spec/value");
    if (value.raw.len < 2)
        _exit(OTHER_MISTAKE);
    ((char *)value.raw.ptr)[value.raw.len - 2] ^= 1;
    virtual_rig_run(&rig, 5 * SECOND);
    _exit(errors);
}

static int status_of_child(int mutations)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
        (void)signal(SIGABRT, SIG_DFL);
        write_into_an_object(mutations);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void expect_exit(int mutations, int reports)
{
    int status = status_of_child(mutations);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), reports);
}

static void expect_abort(int mutations)
{
    int status = status_of_child(mutations);
    assert_true(WIFSIGNALED(status));
    assert_int_equal(WTERMSIG(status), SIGABRT);
}

static void a_write_to_an_object_aborts_the_process_by_option(void **state)
{
    (void)state;
    expect_abort(KI_MUTATIONS_ABORT);
}

static void a_write_to_an_object_is_reported_by_option(void **state)
{
    (void)state;
    expect_exit(KI_MUTATIONS_REPORT, 1);
}

static void a_write_to_an_object_is_ignored_by_option(void **state)
{
    (void)state;
    assert_int_equal(setenv("KUBE_CACHE_MUTATION_DETECTOR", "true", 1), 0);
    expect_exit(KI_MUTATIONS_IGNORE, 0);
    assert_int_equal(unsetenv("KUBE_CACHE_MUTATION_DETECTOR"), 0);
}

static void the_environment_decides_without_an_option(void **state)
{
    (void)state;
    assert_int_equal(unsetenv("KUBE_CACHE_MUTATION_DETECTOR"), 0);
    expect_exit(KI_MUTATIONS_AUTO, 0);
    assert_int_equal(setenv("KUBE_CACHE_MUTATION_DETECTOR", "true", 1), 0);
    expect_abort(KI_MUTATIONS_AUTO);
    assert_int_equal(unsetenv("KUBE_CACHE_MUTATION_DETECTOR"), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_write_to_an_object_aborts_the_process_by_option),
        cmocka_unit_test(a_write_to_an_object_is_reported_by_option),
        cmocka_unit_test(a_write_to_an_object_is_ignored_by_option),
        cmocka_unit_test(the_environment_decides_without_an_option),
    };
    return RUN_TESTS(tests);
}
