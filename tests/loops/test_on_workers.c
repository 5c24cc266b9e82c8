/* SPDX-License-Identifier: Apache-2.0 */
/* A program forks workers, each with a client on its own loop and a budget of 2 ms, as a proxy does. Each
 * worker prints the CPU time of its longest dispatch during the sync of 5,000 pods: at most the budget plus
 * one callback or one piece of a response. The time is not asserted: a sanitizer or a busy machine takes
 * longer. */
#include <poll.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "loops/loop_work.h"

#define WORKERS 2
#define PODS 5000
#define BUDGET_MS 2

static double cpu_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static void count(const ki_event *event, void *user)
{
    (void)event;
    (*(int *)user)++;
}

/* Ends when the list has been delivered and an update was received. */
static void work_in_child(const char *url, int number)
{
    ki_error err = {0};
    int adds = 0;
    int updates = 0;
    int dispatches = 0;
    double longest = 0;
    ki_client *client = ki_client_new(&(ki_client_options){.mode = KI_MODE_EVENT_LOOP, .server = url}, &err);
    ki_factory *factory = ki_factory_new(client, NULL);
    ki_informer *pods = ki_factory_informer(factory, &KI_CORE_V1_PODS, NULL);
    ki_informer_add_handler(pods, &(ki_handler){.on_add = count, .user = &adds}, &err);
    ki_informer_add_handler(pods, &(ki_handler){.on_update = count, .user = &updates}, &err);
    LOOP_REQUIRE(ki_factory_start(factory, &err) == 0);
    struct pollfd polled = {.fd = ki_client_fd(client), .events = POLLIN};
    while (adds < PODS || updates == 0) {
        LOOP_REQUIRE(poll(&polled, 1, -1) == 1);
        double before = cpu_ms();
        LOOP_REQUIRE(ki_client_dispatch(client, BUDGET_MS) >= 0);
        double took = cpu_ms() - before;
        longest = took > longest ? took : longest;
        dispatches++;
    }
    printf("worker %d: %d dispatches, the longest %.2f ms of CPU time, with a budget of %d ms\n", number,
           dispatches, longest, BUDGET_MS);
    fflush(stdout);
    ki_factory_free(factory);
    ki_client_free(client);
}

static int put(ki_apiserver *server, int number, const char *phase)
{
    char pod[128];
    ki_error err = {0};
    snprintf(pod, sizeof(pod), "{\"metadata\":{\"name\":\"pod-%d\"},\"status\":{\"phase\":\"%s\"}}", number,
             phase);
    return ki_apiserver_put(server, &KI_CORE_V1_PODS, pod, &err);
}

int main(void)
{
    ki_error err = {0};
    ki_apiserver *server = ki_apiserver_start(NULL, &err);
    for (int i = 0; i < PODS; i++)
        LOOP_REQUIRE(put(server, i, "Pending") == 0);
    for (int i = 0; i < WORKERS; i++) {
        pid_t pid = fork();
        LOOP_REQUIRE(pid >= 0);
        if (pid == 0) {
            alarm(600);
            work_in_child(ki_apiserver_url(server), i);
            _exit(0);
        }
    }
    /* Makes updates until each worker has received one. */
    for (int ended = 0, i = 0; ended < WORKERS; i++) {
        LOOP_REQUIRE(put(server, 0, i % 2 ? "Pending" : "Running") == 0);
        int status = 0;
        pid_t pid = waitpid(-1, &status, WNOHANG);
        LOOP_REQUIRE(pid >= 0 && status == 0);
        ended += pid > 0;
        (void)poll(NULL, 0, 10);
    }
    ki_apiserver_free(server);
    return 0;
}
