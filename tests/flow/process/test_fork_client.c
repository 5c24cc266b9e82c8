/* SPDX-License-Identifier: Apache-2.0 */
/* Clients and fork(): a client belongs to the process that created it. The server is a child of the test, and
 * the tests run in other children, which have no threads except those of their own clients: a sanitizer's
 * allocator does not survive a fork() beside threads that allocate, as those of a server do. */
#include <curl/curl.h>
#include <dirent.h>
#include <fcntl.h>
#include <kinformer.h>
#include <kinformer/apiserver.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/apiserver/api_rig.h"
#include "support/aside.h"
#include "support/patience.h"
#include "support/process.h"
#include "support/unit.h"
#include "util/clock.h"

enum { PODS = 5, EVENTS = 25, MODES = 3, CHILD_SECONDS = 60 };

static char server_url[64];
static int is_tls; /* the server uses TLS */

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

/* ---- children ---------------------------------------------------------------------------------------- */

static pid_t begin_child(void (*call)(void *user), void *user)
{
    pid_t pid = fork();
    if (pid == 0) {
        (void)alarm(CHILD_SECONDS); /* detects a hang */
        call(user);
        leave(0);
    }
    return pid;
}

/* Returns whether the child succeeded. */
static int end_child(pid_t pid)
{
    int status = 0;
    return pid > 0 && waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static int descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    while (folder != NULL && readdir(folder) != NULL)
        count++;
    if (folder != NULL)
        (void)closedir(folder);
    return count;
}

/* All other descriptors: none of these may remain. */
static int other_descriptors(void)
{
    DIR *folder = opendir("/proc/self/fd");
    int count = 0;
    CHECK(folder != NULL);
    for (struct dirent *entry; (entry = readdir(folder)) != NULL;)
        count += entry->d_name[0] != '.' && !process_is_wake_fd((int)strtol(entry->d_name, NULL, 10));
    (void)closedir(folder);
    return count;
}

/* ---- a process with a client ------------------------------------------------------------------------- */

typedef struct world {
    int mode;
    int descriptors; /* before the client was made */
    int others;      /* those that libcurl cannot use to wake itself */
    int wake_fds;    /* those that a child may keep */
    ki_client *client;
    ki_informer *informer;
    ki_registration *registration;
    ki_factory *factory;
    ki_feed *feed;
    ki_store *destination;
    atomic_int adds;
} world;

static void count_add(const ki_event *event, void *user)
{
    world *w = user;
    (void)event;
    w->adds++;
}

static void make_client(world *w)
{
    w->client = ki_client_new(&(ki_client_options){.mode = (ki_mode)w->mode,
                                                   .server = server_url,
                                                   .insecure_skip_tls_verify = is_tls},
                              NULL);
    CHECK(w->client != NULL);
    w->informer = ki_informer_new(w->client, &KI_CORE_V1_PODS, NULL, NULL);
    CHECK(w->informer != NULL);
    w->registration =
        ki_informer_add_handler(w->informer, &(ki_handler){.on_add = count_add, .user = w}, NULL);
    CHECK(w->registration != NULL);
}

static void make_rest(world *w)
{
    w->destination = ki_store_new(NULL, NULL);
    w->feed = ki_feed_new(w->client, &KI_CORE_V1_NODES, &(ki_feed_options){.store = w->destination}, NULL);
    w->factory = ki_factory_new(w->client, NULL);
    CHECK(w->feed != NULL && w->factory != NULL);
    CHECK(ki_factory_informer(w->factory, &KI_CORE_V1_SERVICES, NULL) != NULL);
}

static void start_all(world *w)
{
    CHECK(ki_informer_start(w->informer, NULL) == 0);
    CHECK(ki_feed_start(w->feed, NULL) == 0);
    CHECK(ki_factory_start(w->factory, NULL) == 0);
    CHECK(ki_informer_wait_for_sync(w->informer, HANG_MS, NULL) == 0);
    CHECK(ki_feed_wait_for_sync(w->feed, HANG_MS, NULL) == 0);
    CHECK(ki_factory_wait_for_sync(w->factory, HANG_MS, NULL) == 0);
    CHECK(ki_registration_wait_for_sync(w->registration, HANG_MS, NULL) == 0);
}

static void free_all(world *w)
{
    ki_feed_free(w->feed);
    ki_factory_free(w->factory);
    ki_informer_free(w->informer);
    ki_client_free(w->client);
}

static void await_adds(world *w, int expected)
{
    uint64_t until_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;
    while (w->adds < expected && ki_clock_now_ms(ki_clock_real()) < until_ms) {
        if (w->mode == KI_MODE_THREADS) {
            (void)poll(NULL, 0, 1);
            continue;
        }
        struct pollfd fd = {.fd = ki_client_fd(w->client), .events = POLLIN};
        (void)poll(&fd, 1, 100);
        CHECK(ki_client_dispatch(w->client, KI_BUDGET_NONE) >= 0);
    }
    CHECK(w->adds == expected);
}

/* ---- what a child may do with an inherited client ---------------------------------------------------- */

static void do_nothing(void *user)
{
    (void)user;
}

static void refuse_to_run_client(world *w)
{
    CHECK(ki_client_post(w->client, do_nothing, NULL) == KI_ERR_FORKED);
    CHECK(ki_client_dispatch(w->client, 0) == (w->mode == KI_MODE_THREADS ? KI_ERR_INVALID : KI_ERR_FORKED));
    CHECK(ki_client_fd(w->client) == -1 && ki_client_timeout_ms(w->client) == -1);
    CHECK(ki_client_set_token(w->client, "another") == KI_ERR_FORKED);
    CHECK(ki_client_set_write_gate(w->client, NULL, NULL) == KI_ERR_FORKED);
}

static void refuse_to_set_up(world *w)
{
    ki_error err = {0};
    CHECK(ki_informer_add_index(w->informer, "none", NULL, NULL) == KI_ERR_FORKED);
    CHECK(ki_informer_set_transform(w->informer, NULL, NULL) == KI_ERR_FORKED);
    CHECK(ki_informer_set_error_handler(w->informer, NULL, NULL) == KI_ERR_FORKED);
    CHECK(ki_informer_set_status_handler(w->informer, NULL, NULL) == KI_ERR_FORKED);
    CHECK(ki_feed_new(w->client, &KI_CORE_V1_PODS, &(ki_feed_options){.store = w->destination}, &err) ==
          NULL);
    CHECK(err.code == KI_ERR_FORKED);
    CHECK(ki_factory_remove(w->factory, w->informer) == KI_ERR_FORKED);
}

static void refuse_to_run(world *w)
{
    ki_error err = {0};
    CHECK(ki_informer_start(w->informer, &err) == KI_ERR_FORKED && err.message[0] != 0);
    CHECK(ki_informer_wait_for_sync(w->informer, HANG_MS, NULL) == KI_ERR_FORKED);
    CHECK(ki_informer_wait_for_version(w->informer, ki_str_of("1"), HANG_MS, NULL) == KI_ERR_FORKED);
    CHECK(ki_informer_add_handler(w->informer, &(ki_handler){.on_add = count_add, .user = w}, NULL) == NULL);
    refuse_to_set_up(w);
    CHECK(ki_registration_wait_for_sync(w->registration, HANG_MS, NULL) == KI_ERR_FORKED);
    CHECK(ki_registration_remove_and_wait(w->registration) == KI_ERR_FORKED);
    CHECK(ki_feed_start(w->feed, NULL) == KI_ERR_FORKED);
    CHECK(ki_feed_wait_for_sync(w->feed, HANG_MS, NULL) == KI_ERR_FORKED);
    CHECK(ki_factory_start(w->factory, NULL) == KI_ERR_FORKED);
    CHECK(ki_factory_wait_for_sync(w->factory, HANG_MS, NULL) == KI_ERR_FORKED);
    CHECK(ki_factory_informer(w->factory, &KI_CORE_V1_SERVICES, NULL) == NULL);
    CHECK(ki_informer_new(w->client, &KI_CORE_V1_PODS, NULL, &err) == NULL && err.code == KI_ERR_FORKED);
    refuse_to_run_client(w);
    ki_rest_request request = {.verb = KI_REST_GET, .path = "/version"};
    CHECK(ki_rest_run(w->client, &request, NULL, NULL) == KI_ERR_FORKED);
    CHECK(ki_rest_begin(w->client, &request, NULL, NULL) == KI_ERR_FORKED);
    ki_resource *found = NULL;
    CHECK(ki_discovery_run(w->client, ki_str_of("widgets"), &found, NULL) == KI_ERR_FORKED);
}

static void read_stores(world *w)
{
    ki_informer_status status;
    ki_object *object = ki_store_get(ki_informer_store(w->informer), KI_STR("default"), KI_STR("pod-0"));
    CHECK(object != NULL);
    (void)ki_object_unref(object);
    ki_object_list list = {0};
    CHECK(ki_store_list(ki_informer_store(w->informer), &list) == 0 && list.count == PODS);
    ki_object_list_fini(&list);
    CHECK(ki_informer_has_synced(w->informer));
    ki_informer_read_status(w->informer, &status);
    CHECK(status.objects == PODS);
    ki_informer_retry_now(w->informer);
    ki_registration_remove(w->registration);
    ki_feed_resume(w->feed);
}

static void inherit(void *user)
{
    world *w = user;
    refuse_to_run(w);
    ki_read_lock(); /* as in a child that was forked in a read section */
    refuse_to_run(w);
    ki_read_unlock();
    read_stores(w);
    ki_informer_stop(w->informer);
    ki_feed_stop(w->feed);
    ki_factory_stop(w->factory);
    free_all(w);
    CHECK(descriptors() <= w->descriptors + w->wake_fds);
    CHECK(other_descriptors() == w->others);
    ki_client_free(w->client); /* again, as a garbage collector with an inherited pointer might do */
    CHECK(descriptors() <= w->descriptors + w->wake_fds);
}

static size_t drop(char *bytes, size_t size, size_t count, void *user)
{
    (void)bytes;
    (void)user;
    return size * count;
}

static void create_pod(int mode, int number)
{
    char body[200];
    char url[128];
    long status = 0;
    struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
    CURL *easy = curl_easy_init();
    snprintf(body, sizeof(body),
             "{\"metadata\":{\"name\":\"new-%d-%d\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
             "\"i\"}]}}",
             mode, number);
    snprintf(url, sizeof(url), "%s/api/v1/namespaces/default/pods", server_url);
    (void)curl_easy_setopt(easy, CURLOPT_URL, url);
    (void)curl_easy_setopt(easy, CURLOPT_POSTFIELDS, body);
    (void)curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    (void)curl_easy_setopt(easy, CURLOPT_NOPROXY, "*");
    (void)curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
    (void)curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop);
    CHECK(curl_easy_perform(easy) == CURLE_OK);
    CHECK(curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status) == CURLE_OK && status == 201);
    curl_easy_cleanup(easy);
    curl_slist_free_all(headers);
}

/* Forks a child that does all of this, while the parent receives every pod that is created meanwhile. */
static void be_a_parent(void *user)
{
    world w = {.mode = *(int *)user,
               .wake_fds = process_libcurl_wake_fds(),
               .descriptors = descriptors(),
               .others = other_descriptors()};
    make_client(&w);
    make_rest(&w);
    start_all(&w);
    pid_t child = begin_child(inherit, &w);
    for (int i = 0; i < EVENTS; i++)
        create_pod(w.mode, i);
    CHECK(end_child(child));
    await_adds(&w, PODS + EVENTS);
    free_all(&w);
    ki_store_free(w.destination);
    CHECK(descriptors() == w.descriptors);
}

/* ---- the server -------------------------------------------------------------------------------------- */

static pid_t server_process;
static int server_end[2]; /* the server ends when the last writer has closed it */

static void be_a_server(int url_fd)
{
    char byte = 0;
    ki_apiserver *server = api_rig_start(&(ki_apiserver_options){.seed = 3, .is_tls = (uint16_t)is_tls});
    for (int i = 0; i < PODS; i++) {
        char name[16];
        snprintf(name, sizeof(name), "pod-%d", i);
        api_put_pod(server, name, "web", "node-1");
    }
    const char *url = ki_apiserver_url(server);
    CHECK(write(url_fd, url, strlen(url)) == (ssize_t)strlen(url));
    CHECK(read(server_end[0], &byte, 1) == 0);
    ki_apiserver_free(server);
}

static void start_server(void)
{
    int url[2];
    assert_int_equal(pipe(url), 0);
    assert_int_equal(pipe(server_end), 0);
    server_process = fork();
    if (server_process == 0) {
        (void)close(server_end[1]);
        be_a_server(url[1]);
        leave(0);
    }
    (void)close(url[1]);
    (void)close(server_end[0]);
    ssize_t n = read(url[0], server_url, sizeof(server_url) - 1);
    assert_true(n > 0);
    server_url[n] = 0;
    (void)close(url[0]);
}

static void stop_server(void)
{
    (void)close(server_end[1]);
    assert_true(end_child(server_process));
}

static void a_child_cannot_run_its_parents_client_and_does_not_disturb_it(void **state)
{
    (void)state;
    for (int i = 0; i < 2 * MODES; i++) {
        int mode = i % MODES;
        is_tls = i / MODES;
        start_server();
        assert_int_equal(strncmp(server_url, "https:", 6) == 0, is_tls);
        assert_true(end_child(begin_child(be_a_parent, &mode)));
        stop_server();
    }
    is_tls = 0;
}

/* ---- workers ----------------------------------------------------------------------------------------- */

static void be_a_worker(void *user)
{
    world w = {.mode = *(int *)user,
               .wake_fds = process_libcurl_wake_fds(),
               .descriptors = descriptors(),
               .others = other_descriptors()};
    make_client(&w);
    make_rest(&w);
    start_all(&w);
    await_adds(&w, PODS);
    free_all(&w);
    ki_store_free(w.destination);
    CHECK(descriptors() == w.descriptors);
}

static void run_workers(void)
{
    static int modes[MODES] = {KI_MODE_THREADS, KI_MODE_HANDLERS_ON_LOOP, KI_MODE_EVENT_LOOP};
    pid_t workers[MODES];
    for (int i = 0; i < MODES; i++)
        workers[i] = begin_child(be_a_worker, &modes[i]);
    for (int i = 0; i < MODES; i++)
        CHECK(end_child(workers[i]));
}

/* Like nginx and postgres: the configuration is read, checked and perhaps used before there are workers. */
static void be_a_master(void *user)
{
    world w = {.mode = *(int *)user};
    make_client(&w);
    make_rest(&w);
    start_all(&w);
    free_all(&w);
    ki_store_free(w.destination);
    run_workers();
}

static void workers_have_their_own_clients_after_the_masters_was_freed(void **state)
{
    (void)state;
    start_server();
    for (int mode = 0; mode < MODES; mode++)
        assert_true(end_child(begin_child(be_a_master, &mode)));
    stop_server();
}

/* The master's client was created and never started, for example to check the configuration. */
static void be_a_master_with_a_client(void *user)
{
    world w = {.mode = *(int *)user};
    make_client(&w);
    run_workers();
    ki_informer_free(w.informer);
    ki_client_free(w.client);
}

static void workers_have_their_own_clients_beside_the_masters(void **state)
{
    (void)state;
    start_server();
    for (int mode = 0; mode < MODES; mode++)
        assert_true(end_child(begin_child(be_a_master_with_a_client, &mode)));
    stop_server();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_cannot_run_its_parents_client_and_does_not_disturb_it),
        cmocka_unit_test(workers_have_their_own_clients_after_the_masters_was_freed),
        cmocka_unit_test(workers_have_their_own_clients_beside_the_masters),
    };
    return RUN_TESTS(tests);
}
