/* SPDX-License-Identifier: Apache-2.0 */
/* loop_controller - a controller inside a program's own poll() loop, on its only thread: no thread of the
 * library is started, no call waits, and no lock is needed.
 *
 *   loop_controller [SERVER]
 *
 * Each namespace with a label "team" gets a ConfigMap "settings" that names the team. For each line of
 * standard input, it prints the state of the controller; end of input, or Ctrl-C, ends the program.
 */
#include <errno.h>
#include <kinformer.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/signalfd.h>
#include <unistd.h>

typedef struct program {
    ki_client *client;
    ki_factory *factory;
    ki_informer *namespaces;
    ki_informer *configmaps;
    ki_controller *controller;
} program;

/* There is one program, and one thread. */
static program p;

/* ---- the controller ---------------------------------------------------------------------------------- */

/* The server has answered: the request ends here. Other keys were worked on meanwhile. */
static void take_answer(const ki_rest_answer *answer, void *user)
{
    ki_request *request = user;
    if (answer->error.code != 0) {
        ki_request_finish(request, ki_retry(&answer->error));
        return;
    }
    printf("%s: %.*s\n", ki_object_key(answer->object),
           KI_STR_ARGS(ki_object_string(answer->object, "/data/team")));
    (void)ki_request_expect(request, p.configmaps, answer->object);
    ki_request_finish(request, ki_done());
}

/* Begins the write, and does not wait for the answer. */
static ki_result write_settings(ki_request *request, const char *ns, ki_str team, int exists)
{
    ki_error err = {0};
    ki_body *body = ki_body_format("{metadata:{name:'settings'}, data:{team:%.*s}}", KI_STR_ARGS(team));
    ki_rest_request call = {.verb = exists ? KI_REST_PATCH : KI_REST_CREATE,
                            .patch = exists ? KI_PATCH_MERGE : 0,
                            .resource = &KI_CORE_V1_CONFIGMAPS,
                            .ns = ns,
                            .name = exists ? "settings" : NULL,
                            .content = body,
                            .on_answer = take_answer,
                            .user = request};
    int rc = ki_rest_begin(p.client, &call, NULL, &err);
    ki_body_free(body);
    return rc == 0 ? ki_later() : ki_retry(&err);
}

static ki_result reconcile(ki_request *request, void *user)
{
    (void)user;
    ki_str ns = ki_request_name(request);
    ki_object *owner = ki_store_get_key(ki_informer_store(p.namespaces), ki_request_key(request));
    ki_object *settings = ki_store_get(ki_informer_store(p.configmaps), ns, KI_STR("settings"));
    ki_str team = ki_object_label_or(owner, KI_STR("team"), KI_STR(""));
    ki_result result = ki_done();
    if (team.len > 0 && !ki_str_equal(ki_object_string(settings, "/data/team"), team))
        result = write_settings(request, ns.ptr, team, settings != NULL);
    ki_object_unref(settings);
    ki_object_unref(owner);
    return result;
}

static void map(const ki_object *configmap, ki_key_emit *emit, void *user)
{
    (void)user;
    ki_key_emit_key(emit, KI_STR(""), ki_object_namespace(configmap));
}

/* ---- the loop ---------------------------------------------------------------------------------------- */

static void show_status(void)
{
    ki_controller_status status;
    ki_controller_read_status(p.controller, &status);
    printf("%zu wait, %zu run, %llu failures\n", status.queued, status.active,
           (unsigned long long)status.failures);
    if (status.waiting_for[0] != 0)
        printf("waiting for %s\n", status.waiting_for);
}

static int run(int signal_fd)
{
    char line[256];
    struct pollfd fds[] = {{.fd = ki_client_fd(p.client), .events = POLLIN}, /* for all its work */
                           {.fd = signal_fd, .events = POLLIN},
                           {.fd = STDIN_FILENO, .events = POLLIN}};
    for (;;) {
        if (poll(fds, 3, -1) < 0) {
            if (errno == EINTR)
                continue; /* revents are old */
            perror("loop_controller: poll");
            return -1;
        }
        int rc = ki_client_dispatch(p.client, 1); /* about 1 ms of network, cache and reconciles */
        if (rc < 0) {
            fprintf(stderr, "loop_controller: %s\n", ki_error_text(rc));
            return rc;
        }
        if (fds[1].revents != 0)
            return 0;
        if (fds[2].revents != 0) {
            if (read(STDIN_FILENO, line, sizeof(line)) <= 0)
                return 0;
            show_status();
        }
    }
}

static int begin(const char *server, ki_error *err)
{
    ki_controller_options options = {
        .name = "settings", .reconcile = reconcile, .workers = 8, .stop_timeout_ms = 5000};
    ki_client_options on_loop = {.mode = KI_MODE_EVENT_LOOP, .server = server};
    p.client = ki_client_new(&on_loop, err);
    p.controller = p.client == NULL ? NULL : ki_controller_new(p.client, &options, err);
    if (p.controller == NULL)
        return err->code;
    p.factory = ki_factory_new(p.client, NULL);
    p.namespaces = ki_factory_informer(p.factory, &KI_CORE_V1_NAMESPACES, NULL);
    p.configmaps = ki_factory_informer(p.factory, &KI_CORE_V1_CONFIGMAPS, NULL);
    ki_controller_watch(p.controller, p.namespaces, NULL);
    ki_controller_watch_mapped(p.controller, p.configmaps, NULL, map, NULL);
    int rc = ki_factory_start(p.factory, err);
    return rc < 0 ? rc : ki_controller_start(p.controller, err);
}

int main(int argc, char **argv)
{
    ki_error err = {0};
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &signals, NULL);
    int signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    ki_set_log(ki_log_print, KI_LOG_WARNING, NULL);
    int rc = begin(argc > 1 ? argv[1] : NULL, &err);
    if (rc < 0)
        fprintf(stderr, "loop_controller: %s\n", err.message);
    else
        rc = run(signal_fd);
    (void)ki_controller_stop(p.controller, NULL); /* runs the loop until running reconciles have ended */
    ki_client_free(p.client); /* cancels the calls of reconciles that stop_timeout_ms was too short for */
    ki_controller_free(p.controller);
    ki_factory_free(p.factory);
    close(signal_fd);
    return rc < 0;
}
