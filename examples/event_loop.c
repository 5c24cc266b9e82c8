/* SPDX-License-Identifier: Apache-2.0 */
/* event_loop - a program with its own poll() loop that also runs an informer, all on one thread.
 *
 *   event_loop [SERVER]
 *
 * Follows the pods of SERVER ("http://127.0.0.1:8001"), or of the cluster that kubectl would use. For each
 * line of standard input, it finds the pods whose label "app" has this value.
 * End of input, or Ctrl-C, ends the program.
 */
#include <errno.h>
#include <kinformer.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* ---- the informer ------------------------------------------------------------------------------------ */

/* Runs on the loop, like all callbacks, so the program needs no locks. */
static void added(const ki_event *e, void *user)
{
    (void)user;
    printf("+ %s\n", ki_object_key(e->object));
}

static void deleted(const ki_event *e, void *user)
{
    (void)user;
    printf("- %s\n", ki_object_key(e->object));
}

static void show(ki_informer *pods, ki_str app)
{
    ki_object_list found = {0};
    if (ki_store_list_index(ki_informer_store(pods), "app", app, &found) < 0)
        return;
    printf("app=%.*s: %zu\n", KI_STR_ARGS(app), found.count);
    for (size_t i = 0; i < found.count; i++)
        printf("  %s\n", ki_object_key(found.objects[i]));
    ki_object_list_fini(&found);
}

/* ---- the program's own work -------------------------------------------------------------------------- */

/* Bytes of standard input that are not a complete line yet. */
typedef struct input {
    char text[256];
    size_t len;
} input;

/* Returns 0 at the end. A line that is too long is looked up in pieces. */
static int read_lines(input *in, ki_informer *pods)
{
    ssize_t n = read(STDIN_FILENO, in->text + in->len, sizeof(in->text) - in->len);
    if (n <= 0)
        return 0;
    in->len += (size_t)n;
    char *end;
    while ((end = memchr(in->text, '\n', in->len)) != NULL || in->len == sizeof(in->text)) {
        size_t len = end == NULL ? in->len : (size_t)(end - in->text);
        size_t taken = end == NULL ? len : len + 1;
        show(pods, ki_str_from(in->text, len));
        in->len -= taken;
        memmove(in->text, in->text + taken, in->len);
    }
    return 1;
}

/* ---- the loop ---------------------------------------------------------------------------------------- */

static int run(ki_client *client, ki_informer *pods, const ki_registration *handler, int signal_fd)
{
    input in = {.len = 0};
    struct pollfd fds[] = {{.fd = ki_client_fd(client), .events = POLLIN}, /* one descriptor for all its
                                                                            * connections */
                           {.fd = signal_fd, .events = POLLIN},
                           {.fd = -1, .events = POLLIN}};
    for (;;) {
        /* Input is not read before the first list is in the cache and the handler has seen all of it; poll()
         * ignores a descriptor of -1. */
        fds[2].fd = ki_registration_has_synced(handler) ? STDIN_FILENO : -1;
        if (poll(fds, 3, -1) < 0) {
            if (errno == EINTR)
                continue;
            perror("event_loop: poll");
            return -1;
        }
        int rc = ki_client_dispatch(client, 1); /* about 1 ms of network, cache and handlers */
        if (rc < 0) {
            fprintf(stderr, "event_loop: %s\n", ki_error_text(rc));
            return rc;
        }
        if (fds[1].revents != 0 || (fds[2].revents != 0 && !read_lines(&in, pods)))
            return 0;
    }
}

/* A descriptor that becomes readable on Ctrl-C. */
static int open_signals(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &signals, NULL);
    return signalfd(-1, &signals, SFD_CLOEXEC);
}

int main(int argc, char **argv)
{
    ki_error err = {0};
    ki_client_options options = {.mode = KI_MODE_EVENT_LOOP, .server = argc > 1 ? argv[1] : NULL};
    int signal_fd = open_signals();
    (void)setvbuf(stdout, NULL, _IOLBF, 0);
    ki_set_log(ki_log_print, KI_LOG_WARNING, NULL);
    ki_client *client = ki_client_new(&options, &err);
    if (client == NULL) {
        fprintf(stderr, "event_loop: %s\n", err.message);
        return 1;
    }
    ki_factory *factory = ki_factory_new(client, NULL);
    ki_informer *pods = ki_factory_informer(factory, &KI_CORE_V1_PODS, NULL);
    ki_informer_add_index_path(pods, "app", KI_PATH_LABEL("app")); /* a failure is reported by the start */
    ki_registration *handler =
        ki_informer_add_handler(pods, &(ki_handler){.on_add = added, .on_delete = deleted}, NULL);
    int rc = ki_factory_start(factory, &err);
    if (rc < 0)
        fprintf(stderr, "event_loop: %s\n", err.message);
    else
        rc = run(client, pods, handler, signal_fd);
    ki_factory_free(factory);
    ki_client_free(client);
    close(signal_fd);
    return rc < 0;
}
