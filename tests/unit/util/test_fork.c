/* SPDX-License-Identifier: Apache-2.0 */
#include "util/fork.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/unit.h"

enum { HEARD_BYTES = 32 };

static char heard[HEARD_BYTES];

typedef struct noted {
    ki_fork_hook hook;
    char name;
} noted;

static void note(ki_fork_hook *hook, ki_fork_phase phase)
{
    size_t len = strlen(heard);
    heard[len] = KI_CONTAINER_OF(hook, noted, hook)->name;
    heard[len + 1] = "bpc"[phase];
}

/* Forks, and returns the result of `call` in the child. */
static int in_child(int (*call)(void))
{
    pid_t pid = fork();
    assert_true(pid >= 0);
    if (pid == 0)
        _exit(call());
    int status = 0;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static int has_heard_in_order(void)
{
    return strcmp(heard, "SbRbLbLcRcSc") == 0;
}

static void hooks_run_in_their_order_and_are_undone_in_reverse(void **state)
{
    (void)state;
    noted rcu = {{.order = KI_FORK_RCU, .run = note}, 'R'};
    noted leaf = {{.order = KI_FORK_LEAVES, .run = note}, 'L'};
    noted store = {{.order = KI_FORK_STORES, .run = note}, 'S'};
    memset(heard, 0, sizeof(heard));
    assert_int_equal(ki_fork_add(&rcu.hook), 0);
    assert_int_equal(ki_fork_add(&leaf.hook), 0);
    assert_int_equal(ki_fork_add(&store.hook), 0);
    assert_int_equal(in_child(has_heard_in_order), 1);
    assert_string_equal(heard, "SbRbLbLpRpSp");
    ki_fork_remove(&rcu.hook);
    ki_fork_remove(&leaf.hook);
    ki_fork_remove(&store.hook);
}

static int is_silent(void)
{
    return heard[0] == 0;
}

static void a_hook_that_was_removed_is_not_run(void **state)
{
    (void)state;
    noted gone = {{.order = KI_FORK_LEAVES, .run = note}, 'L'};
    noted never = {{.order = KI_FORK_LEAVES, .run = note}, 'N'};
    memset(heard, 0, sizeof(heard));
    assert_int_equal(ki_fork_add(&gone.hook), 0);
    ki_fork_remove(&gone.hook);
    ki_fork_remove(&never.hook);
    assert_int_equal(in_child(is_silent), 1);
    assert_string_equal(heard, "");
}

static ki_mutex mu;
static int was_free;

/* Runs on the forking thread while the mutex, of an earlier order, is locked. */
static void try_mutex(ki_fork_hook *hook, ki_fork_phase phase)
{
    (void)hook;
    (void)phase;
    if (pthread_mutex_trylock(&mu.raw) == 0)
        was_free = 1;
}

static int can_lock(void)
{
    ki_mutex_lock(&mu);
    ki_mutex_unlock(&mu);
    return !was_free;
}

static void a_mutex_is_locked_throughout_and_free_afterwards(void **state)
{
    (void)state;
    ki_fork_hook lock = {.order = KI_FORK_STORES, .mutex = &mu};
    ki_fork_hook probe = {.order = KI_FORK_LEAVES, .run = try_mutex};
    ki_mutex_init(&mu);
    assert_int_equal(ki_fork_add(&lock), 0);
    assert_int_equal(ki_fork_add(&probe), 0);
    assert_int_equal(in_child(can_lock), 1);
    assert_int_equal(can_lock(), 1);
    ki_fork_remove(&probe);
    ki_fork_remove(&lock);
    ki_mutex_fini(&mu);
}

static unsigned before;

static int is_two_further(void)
{
    return ki_fork_generation() == before + 2;
}

static int is_one_further(void)
{
    return ki_fork_generation() == before + 1 && in_child(is_two_further);
}

static void every_child_has_its_own_generation(void **state)
{
    (void)state;
    before = ki_fork_generation();
    assert_int_equal(in_child(is_one_further), 1);
    assert_int_equal(ki_fork_generation(), before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hooks_run_in_their_order_and_are_undone_in_reverse),
        cmocka_unit_test(a_hook_that_was_removed_is_not_run),
        cmocka_unit_test(a_mutex_is_locked_throughout_and_free_afterwards),
        cmocka_unit_test(every_child_has_its_own_generation),
    };
    return RUN_TESTS(tests);
}
