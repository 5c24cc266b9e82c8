/* SPDX-License-Identifier: Apache-2.0 */
/* Children are forked while other threads are inside the library. Whatever a child calls returns at once; a
 * child that hangs is ended by its alarm. Some calls are left out under sanitizers, which do not handle their
 * own locks at a fork. The threads are those that support/aside.c starts with ki_thread_start(). */
#include <kinformer/feed.h>
#include <kinformer/metrics.h>
#include <kinformer/resources.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/aside.h"
#include "support/informer/informer_rig.h"
#include "support/unit.h"

enum { FORKS = 100, CHILD_SECONDS = 20 };

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define HAS_FORKABLE_MALLOC 0
#else
#define HAS_FORKABLE_MALLOC 1
#endif

typedef struct busy {
    ki_informer *informer;
    ki_metrics *metrics;
    atomic_bool is_over;
} busy;

static void expect_of_child(int (*function)(void *user), void *user)
{
    int status = 0;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        sigset_t none;
        (void)sigemptyset(&none);
        (void)sigprocmask(SIG_SETMASK, &none, NULL);
        (void)alarm(CHILD_SECONDS);
        _exit(function(user));
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

#if HAS_FORKABLE_MALLOC
static int drop(ki_str name, ki_str text, void *user)
{
    (void)name;
    (void)text;
    (void)user;
    return 0;
}

static void wait_and_write_on(void *user)
{
    busy *b = user;
    while (!atomic_load(&b->is_over)) {
        (void)!ki_informer_wait_for_sync(b->informer, 0, NULL);
        (void)!ki_metrics_write(b->metrics, drop, NULL, NULL);
    }
}

static int make_what_is_refused(void *user)
{
    const local_rig *rig = user;
    ki_error err = {0};
    ki_store *store = ki_store_new(NULL, NULL);
    if (ki_informer_new(rig->client, &KI_CORE_V1_PODS, NULL, &err) != NULL || err.code != KI_ERR_FORKED)
        return 1;
    err.code = 0;
    if (ki_feed_new(rig->client, &KI_CORE_V1_PODS, &(ki_feed_options){.store = store}, &err) != NULL ||
        err.code != KI_ERR_FORKED)
        return 2;
    ki_store_free(store);
    return 0;
}

static int use_inherited_metrics(void *user)
{
    ki_metrics *metrics = user;
    ki_client *own = ki_client_new(&(ki_client_options){.no_cluster = 1, .metrics = metrics}, NULL);
    if (own == NULL || ki_metrics_write(metrics, drop, NULL, NULL) < 0)
        return 1;
    ki_client_free(own);
    return 0;
}

static void nothing_in_a_child_waits_for_a_thread_of_the_parent(void **state)
{
    (void)state;
    local_rig rig;
    aside calls[2];
    busy b = {.metrics = ki_metrics_new(NULL, NULL)};
    assert_non_null(b.metrics);
    local_rig_init(&rig, (ki_client_options){.metrics = b.metrics});
    local_rig_sync(&rig);
    b.informer = rig.informer;
    for (int i = 0; i < 2; i++)
        aside_start(&calls[i], wait_and_write_on, &b);
    for (int i = 0; i < FORKS; i++) {
        expect_of_child(make_what_is_refused, &rig);
        expect_of_child(use_inherited_metrics, b.metrics);
    }
    atomic_store(&b.is_over, true);
    for (int i = 0; i < 2; i++)
        aside_join(&calls[i]);
    local_rig_fini(&rig);
    ki_metrics_free(b.metrics);
}
#endif

/* ---- in a callback ----------------------------------------------------------------------------------- */

static int use_a_client_of_its_own(void *user)
{
    (void)user;
    local_rig rig;
    local_rig_init(&rig, (ki_client_options){0});
    if (ki_informer_start(rig.informer, NULL) != 0 ||
        ki_informer_wait_for_sync(rig.informer, 10000, NULL) != 0)
        return 1;
    local_rig_fini(&rig);
    return 0;
}

typedef struct forker {
    atomic_int heard;
} forker;

static void fork_once(const ki_event *event, void *user)
{
    (void)event;
    forker *f = user;
    if (atomic_fetch_add(&f->heard, 1) == 0)
        expect_of_child(use_a_client_of_its_own, NULL);
}

static void a_child_forked_in_a_callback_has_its_own_clients(void **state)
{
    (void)state;
    local_rig rig;
    forker f = {0};
    local_rig_init(&rig, (ki_client_options){0});
    local_source_put(rig.source, "ns", "a", 1);
    ki_registration *registration =
        ki_informer_add_handler(rig.informer, &(ki_handler){.on_add = fork_once, .user = &f}, NULL);
    local_rig_sync(&rig);
    assert_int_equal(ki_registration_wait_for_sync(registration, 60 * 1000, NULL), 0);
    assert_true(atomic_load(&f.heard) > 0);
    local_rig_fini(&rig);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#if HAS_FORKABLE_MALLOC
        cmocka_unit_test(nothing_in_a_child_waits_for_a_thread_of_the_parent),
#endif
        cmocka_unit_test(a_child_forked_in_a_callback_has_its_own_clients),
    };
    return RUN_TESTS(tests);
}
