/* SPDX-License-Identifier: Apache-2.0 */
/* sample-controller - keeps a Deployment for each Foo: the well-known example of a Kubernetes controller. */
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "flags.h"
#include "server.h"
#include "sync.h"

typedef struct program {
    flags flags;
    ki_metrics *metrics;
    ki_client *client;
    ki_client *lease_client; /* so that a renewal never waits behind other requests */
    ki_factory *factory;
    sync_context sync;
    ki_controller *controller;
    ki_leader *leader;
    char user_agent[256];   /* has the identity, so that the server's log shows which replica wrote */
    pthread_mutex_t ending; /* guards is_ending, which keeps a late lease from starting anything */
    int is_ending;
    int failure; /* readable when the program cannot do its work */
    sigset_t signal_set;
    int signals;
    int listener;
} program;

/* ---- leader election --------------------------------------------------------------------------------- */

/* A replica that holds the lease and does nothing would keep the others from acting. So it ends if the
 * controller cannot start. */
static void start_acting(ki_leader *leader, void *user)
{
    program *p = user;
    ki_error err = {0};
    fprintf(stderr, "leading as %s\n", ki_leader_identity(leader));
    pthread_mutex_lock(&p->ending);
    if (!p->is_ending && ki_controller_start(p->controller, &err) < 0) {
        fprintf(stderr, "sample-controller: cannot start: %s\n", err.message);
        (void)eventfd_write(p->failure, 1);
    }
    pthread_mutex_unlock(&p->ending);
}

static void stop_acting(ki_leader *leader, void *user)
{
    program *p = user;
    ki_error err = {0};
    fprintf(stderr, "not leading any more as %s\n", ki_leader_identity(leader));
    if (ki_controller_stop(p->controller, &err) < 0)
        fprintf(stderr, "%s\n", err.message);
}

static void see_leader(ki_leader *leader, const char *identity, void *user)
{
    (void)user; /* only a replica that waits needs to be told */
    if (identity[0] != 0 && !ki_leader_is_leading(leader))
        fprintf(stderr, "the leader is now %s\n", identity);
}

/* From here on the client refuses to write while this process does not lead. */
static int contend(program *p, ki_error *err)
{
    p->flags.leader.on_started = start_acting;
    p->flags.leader.on_stopped = stop_acting;
    p->flags.leader.on_new_leader = see_leader;
    p->flags.leader.user = p;
    p->lease_client = ki_client_new(&p->flags.client, err);
    p->leader = p->lease_client == NULL ? NULL : ki_leader_new(p->lease_client, &p->flags.leader, err);
    if (p->leader == NULL)
        return err->code;
    int rc = ki_leader_guard(p->leader, p->client);
    if (rc < 0)
        (void)snprintf(err->message, sizeof(err->message), "%s", ki_error_text(rc));
    return rc < 0 ? rc : ki_leader_start(p->leader, err);
}

/* ---- beginning and ending ---------------------------------------------------------------------------- */

/* Called before the first thread starts, so that the signals only reach the descriptor. */
static int open_signals(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, set, NULL);
    return signalfd(-1, set, SFD_CLOEXEC);
}

static int begin(program *p, ki_error *err)
{
    /* Only these fields of a Deployment are read. A write sends the whole Deployment. */
    static const char *const keep[] = {"/metadata/ownerReferences", "/spec/replicas",
                                       "/status/availableReplicas", NULL};
    p->metrics = ki_metrics_new(NULL, err);
    (void)snprintf(p->user_agent, sizeof(p->user_agent), "sample-controller/%s %s", ki_version(),
                   p->flags.leader.identity == NULL ? "" : p->flags.leader.identity);
    p->flags.client.user_agent = p->user_agent;
    p->flags.client.metrics = p->metrics;
    p->client = ki_client_new(&p->flags.client, err);
    if (p->client == NULL)
        return err->code;
    ki_recorder_options recorder = {.component = "sample-controller"};
    p->factory = ki_factory_new(p->client, NULL);
    p->sync = (sync_context){.client = p->client,
                             .recorder = ki_recorder_new(p->client, &recorder, err),
                             .foos = ki_factory_informer(p->factory, &FOOS, NULL),
                             .deployments = ki_factory_informer(p->factory, &KI_APPS_V1_DEPLOYMENTS,
                                                                &(ki_informer_options){.keep = keep})};
    p->controller = ki_controller_new(p->client,
                                      &(ki_controller_options){.name = "foos",
                                                               .reconcile = sync_foo,
                                                               .workers = p->flags.workers,
                                                               .stop_timeout_ms = p->flags.stop_timeout_ms,
                                                               .user = &p->sync},
                                      err);
    if (p->controller == NULL || p->sync.recorder == NULL)
        return err->code;
    ki_controller_watch(p->controller, p->sync.foos, NULL);
    ki_controller_watch_owned(p->controller, p->sync.deployments, &FOOS, NULL);
    int rc = ki_factory_start(p->factory, err);
    if (rc < 0)
        return rc;
    if (!p->flags.leader_elect)
        fprintf(stderr, "starting, --workers %zu\n", p->flags.workers);
    return p->flags.leader_elect ? contend(p, err) : ki_controller_start(p->controller, err);
}

/* Returns 0 after a signal, and -1 when the controller cannot be started. */
static int serve_until_end(program *p)
{
    struct pollfd fds[] = {{.fd = p->signals, .events = POLLIN},
                           {.fd = p->failure, .events = POLLIN},
                           {.fd = p->listener, .events = POLLIN}};
    struct signalfd_siginfo info;
    while (fds[0].revents == 0 && fds[1].revents == 0)
        if (poll(fds, 3, -1) > 0 && fds[2].revents != 0)
            server_answer(p->listener, p->metrics);
    if (fds[0].revents == 0 || read(p->signals, &info, sizeof(info)) > 0)
        (void)sigprocmask(SIG_UNBLOCK, &p->signal_set, NULL); /* the next one ends the process at once */
    return fds[1].revents == 0 ? 0 : -1;
}

/* First the running reconciles end and their events are sent, while the lease is still held: without it, the
 * client would refuse their writes. Freeing the client cancels the calls of reconciles that have not ended in
 * time. Then nothing acts any more, and the lease is released. */
static void end(program *p)
{
    ki_error err = {0};
    pthread_mutex_lock(&p->ending);
    p->is_ending = 1;
    pthread_mutex_unlock(&p->ending);
    if (ki_controller_stop(p->controller, &err) < 0)
        fprintf(stderr, "%s\n", err.message);
    else if (p->sync.recorder != NULL && ki_recorder_flush(p->sync.recorder, 5000) < 0)
        fprintf(stderr, "some events were not sent\n");
    ki_client_free(p->client);
    ki_leader_free(p->leader);
    ki_controller_free(p->controller);
    ki_recorder_free(p->sync.recorder);
    ki_factory_free(p->factory);
    ki_client_free(p->lease_client);
    ki_metrics_free(p->metrics);
}

int main(int argc, char **argv)
{
    program p = {.listener = -1, .ending = PTHREAD_MUTEX_INITIALIZER};
    ki_error err = {0};
    int rc = 0;
    flags_parse(&p.flags, argc, argv);
    ki_set_log(ki_log_print, KI_LOG_INFO, NULL);
    p.signals = open_signals(&p.signal_set);
    p.failure = eventfd(0, EFD_CLOEXEC);
    if (p.flags.metrics_address != NULL)
        rc = (p.listener = server_listen(p.flags.metrics_address, &err)) < 0 ? err.code : 0;
    if (rc == 0)
        rc = begin(&p, &err);
    if (rc < 0)
        fprintf(stderr, "sample-controller: %s\n", err.message);
    else
        rc = serve_until_end(&p);
    end(&p);
    return rc < 0;
}
