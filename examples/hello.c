/* SPDX-License-Identifier: Apache-2.0 */
/* hello - follows the pods of the cluster that kubectl would use, until Ctrl-C. */
#include <kinformer.h>
#include <signal.h>
#include <stdio.h>

static void added(const ki_event *e, void *user)
{
    (void)user;
    ki_str node = ki_object_string(e->object, "/spec/nodeName"); /* borrowed from the object, unescaped */
    printf("+ %s on %.*s%s\n", ki_object_key(e->object), KI_STR_ARGS(node),
           e->flags & KI_EVENT_INITIAL ? "" : " (new)");
}

static void deleted(const ki_event *e, void *user)
{
    (void)user;
    printf("- %s\n", ki_object_key(e->object));
}

/* The library's threads block all signals, so the main thread gets them. */
static void wait_for_ctrl_c(const sigset_t *signals)
{
    int number = 0;
    (void)sigwait(signals, &number);
}

int main(void)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &signals, NULL);
    (void)setvbuf(stdout, NULL, _IOLBF, 0);

    ki_error err = {0};
    ki_client *client = ki_client_new(NULL, &err); /* $KUBECONFIG, ~/.kube/config or in-cluster */
    if (client == NULL) {
        fprintf(stderr, "hello: %s\n", err.message);
        return 1;
    }
    ki_factory *factory = ki_factory_new(client, NULL);
    ki_informer *pods = ki_factory_informer(factory, &KI_CORE_V1_PODS, NULL);
    ki_informer_add_handler(pods, &(ki_handler){.on_add = added, .on_delete = deleted}, NULL);

    int rc = ki_factory_start(factory, &err); /* reports the first set-up error, if there was one */
    if (rc == 0)
        rc = ki_factory_wait_for_sync(factory, 10 * 1000,
                                      &err); /* says which informer is not ready, and why */
    if (rc < 0)
        fprintf(stderr, "hello: %s\n", err.message);
    else
        wait_for_ctrl_c(&signals);
    ki_factory_free(factory); /* stops everything; no callback runs after this */
    ki_client_free(client);
    return rc < 0;
}
