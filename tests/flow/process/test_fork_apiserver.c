/* SPDX-License-Identifier: Apache-2.0 */
/* Servers and fork(): only the process that started a server can use it. */
#include <kinformer.h>
#include <kinformer/apiserver.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/apiserver/api_rig.h"
#include "support/patience.h"
#include "support/temp_dir.h"
#include "support/unit.h"
#include "util/thread.h"

enum { CHILD_SECONDS = 60, FORKS = 20 };

/* A sanitizer checks for leaks in _exit(), and would report the parent's memory in the child. */
static void leave(int status)
{
    (void)syscall(SYS_exit_group, status);
}

/* There is no cmocka in a child: it prints the failure and exits. */
#define CHECK(condition)                                                                                     \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                  \
            leave(1);                                                                                        \
        }                                                                                                    \
    } while (0)

static void in_child(void (*call)(ki_apiserver *server), ki_apiserver *server)
{
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        (void)alarm(CHILD_SECONDS); /* detects a hang */
        call(server);
        leave(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static const char pod[] = "{\"metadata\":{\"name\":\"late\"}}";

static void call_everything(ki_apiserver *server)
{
    ki_error err = {0};
    ki_apiserver_loaded loaded = {.objects = 1};
    const ki_fault fault = {.action = KI_FAULT_CLOSE};
    CHECK(ki_apiserver_put(server, &KI_CORE_V1_PODS, pod, &err) == KI_ERR_FORKED);
    CHECK(err.code == KI_ERR_FORKED && strstr(err.message, "the process that started it") != NULL);
    CHECK(ki_apiserver_delete(server, &KI_CORE_V1_PODS, "default", "web", NULL) == KI_ERR_FORKED);
    CHECK(ki_apiserver_load(server, "/nowhere", &loaded, NULL) == KI_ERR_FORKED);
    CHECK(loaded.objects == 0 && strstr(loaded.message, "the process that started it") != NULL);
    CHECK(ki_apiserver_fault(server, &fault, NULL) == KI_ERR_FORKED);
    CHECK(ki_apiserver_rewind(server, 1, NULL) == KI_ERR_FORKED);
    CHECK(ki_apiserver_up(server, NULL) == KI_ERR_FORKED);
    CHECK(ki_apiserver_count(server, &KI_CORE_V1_PODS) == 0);
    CHECK(ki_apiserver_version(server) == 0);
    ki_apiserver_clear_faults(server);
    ki_apiserver_compact(server);
    ki_apiserver_cut(server, 1);
    ki_apiserver_down(server);
    ki_apiserver_free(server);
    ki_apiserver_free(server); /* frees nothing in a child */
    CHECK(strncmp(ki_apiserver_url(server), "http://127.0.0.1:", 17) == 0);
    CHECK(ki_apiserver_certificate(server) == NULL);
}

static size_t pods_of(ki_apiserver *server)
{
    size_t count = 0;
    ki_client *client = ki_client_new(&(ki_client_options){.server = ki_apiserver_url(server)}, NULL);
    ki_informer *informer = client == NULL ? NULL : ki_informer_new(client, &KI_CORE_V1_PODS, NULL, NULL);
    if (informer != NULL && ki_informer_start(informer, NULL) == 0 &&
        ki_informer_wait_for_sync(informer, HANG_MS, NULL) == 0)
        count = ki_store_count(ki_informer_store(informer));
    ki_informer_free(informer);
    ki_client_free(client);
    return count;
}

static void a_child_cannot_change_its_parents_server_and_does_not_disturb_it(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(NULL);
    api_put_pod(server, "web", "web", "node-1");
    uint64_t version = ki_apiserver_version(server);
    in_child(call_everything, server);
    assert_int_equal(ki_apiserver_version(server), version);
    assert_int_equal(ki_apiserver_put(server, &KI_CORE_V1_PODS, pod, NULL), 0);
    assert_int_equal(pods_of(server), 2);
    ki_apiserver_free(server);
}

static void use_the_url(ki_apiserver *server)
{
    temp_dir dir;
    CHECK(pods_of(server) == 1);
    temp_dir_make(&dir);
    CHECK(ki_apiserver_write_kubeconfig(server, temp_dir_path(&dir, "config"), NULL) == 0);
    temp_dir_remove(&dir);
}

static void a_child_is_served_like_any_other_process(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(NULL);
    api_put_pod(server, "web", "web", "node-1");
    in_child(use_the_url, server);
    ki_apiserver_free(server);
}

static void serve_in_the_child(ki_apiserver *parents)
{
    ki_apiserver *own = ki_apiserver_start(NULL, NULL);
    CHECK(own != NULL);
    CHECK(ki_apiserver_put(own, &KI_CORE_V1_PODS, pod, NULL) == 0);
    CHECK(pods_of(own) == 1);
    CHECK(strcmp(ki_apiserver_url(own), ki_apiserver_url(parents)) != 0);
    ki_apiserver_free(own);
    ki_apiserver_free(parents);
}

static void a_child_may_start_its_own_server(void **state)
{
    (void)state;
    ki_apiserver *server = api_rig_start(NULL);
    in_child(serve_in_the_child, server);
    ki_apiserver_free(server);
}

/* ---- a busy server ------------------------------------------------------------------------------------- */

typedef struct writer {
    ki_apiserver *server;
    atomic_bool is_over;
} writer;

static void write_all_the_time(void *user)
{
    writer *w = user;
    while (!w->is_over)
        if (ki_apiserver_put(w->server, &KI_CORE_V1_PODS, pod, NULL) < 0)
            break;
}

/* A thread that the child does not have may hold its locks at the time of the fork. */
static void no_call_in_a_child_hangs_while_the_parent_writes(void **state)
{
    (void)state;
    writer w = {.server = api_rig_start(NULL)};
    ki_thread thread;
    assert_int_equal(
        ki_thread_start(&thread,
                        &(ki_thread_options){.name = "writer", .run = write_all_the_time, .user = &w}, NULL),
        0);
    for (int i = 0; i < FORKS; i++)
        in_child(call_everything, w.server);
    w.is_over = true;
    ki_thread_join(&thread);
    assert_int_equal(ki_apiserver_count(w.server, &KI_CORE_V1_PODS), 1);
    ki_apiserver_free(w.server);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_cannot_change_its_parents_server_and_does_not_disturb_it),
        cmocka_unit_test(a_child_is_served_like_any_other_process),
        cmocka_unit_test(a_child_may_start_its_own_server),
        cmocka_unit_test(no_call_in_a_child_hangs_while_the_parent_writes),
    };
    return RUN_TESTS(tests);
}
