/* SPDX-License-Identifier: Apache-2.0 */
/* bench_controller - the time from a change at the server to the reconcile function, compared with the
 * handler of a plain informer for the same change; over real sockets, one change at a time. */
#include <kinformer.h>
#include <kinformer/apiserver.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench.h"

enum { CHANGES = 3000, QUICK = 500, WORKERS = 2 };

/* A reconcile needs a handler, a queue and a thread switch; the network's part is the same for both. */
#define RATIO_MAX 2.0

typedef struct clocks {
    ki_client *client;
    ki_informer *informer;
    _Atomic double handler_at; /* 0: not yet */
    _Atomic double reconciled_at;
} clocks;

static void on_event(const ki_event *event, void *user)
{
    (void)event;
    ((clocks *)user)->handler_at = bench_now_seconds();
}

static ki_result reconcile(ki_request *request, void *user)
{
    (void)request;
    ((clocks *)user)->reconciled_at = bench_now_seconds();
    return ki_done();
}

static ki_informer *follow(const ki_apiserver *server, clocks *c)
{
    c->client = ki_client_new(&(ki_client_options){.server = ki_apiserver_url(server)}, NULL);
    c->informer = ki_informer_new(c->client, &KI_CORE_V1_CONFIGMAPS, NULL, NULL);
    return c->informer;
}

static bool change(ki_apiserver *server, unsigned number)
{
    char text[256];
    snprintf(text, sizeof(text),
             "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"m%u\",\"namespace\":"
             "\"default\"},\"data\":{\"n\":\"%u\"}}",
             number % 50, number);
    return ki_apiserver_put(server, &KI_CORE_V1_CONFIGMAPS, text, NULL) == 0;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static bool measure(ki_apiserver *server, clocks *plain, clocks *controlled, size_t count, double *out[2])
{
    for (size_t i = 0; i < count; i++) {
        plain->handler_at = 0;
        controlled->reconciled_at = 0;
        double began = bench_now_seconds();
        if (!change(server, (unsigned)i))
            return false;
        while (plain->handler_at <= 0 || controlled->reconciled_at <= 0)
            if (bench_now_seconds() - began > 10)
                return false;
        out[0][i] = plain->handler_at - began;
        out[1][i] = controlled->reconciled_at - began;
    }
    qsort(out[0], count, sizeof(double), compare);
    qsort(out[1], count, sizeof(double), compare);
    return true;
}

static bool report(double *const out[2], size_t count)
{
    const char *names[] = {"handler", "reconcile"};
    for (int i = 0; i < 2; i++)
        printf("%-10s  p50 %6.0f us  p99 %6.0f us\n", names[i], out[i][count / 2] * 1e6,
               out[i][count * 99 / 100] * 1e6);
    printf("p99 of a reconcile, times that of a handler: %.2f\n",
           out[1][count * 99 / 100] / out[0][count * 99 / 100]);
    return bench_target("p50 of a reconcile, times that of a handler", out[1][count / 2] / out[0][count / 2],
                        "<=", RATIO_MAX);
}

int main(int argc, char **argv)
{
    struct bench_options options = {.pods = CHANGES, .seconds = 1};
    if (!bench_options_read(&options, argc, argv))
        return 2;
    size_t count = options.pods < CHANGES ? QUICK : CHANGES;
    ki_apiserver *server = ki_apiserver_start(NULL, NULL);
    clocks plain = {0}, controlled = {0};
    double *out[2] = {calloc(count, sizeof(double)), calloc(count, sizeof(double))};
    ki_informer *a = follow(server, &plain), *b = follow(server, &controlled);
    ki_controller *controller = ki_controller_new(
        controlled.client,
        &(ki_controller_options){
            .name = "bench", .reconcile = reconcile, .workers = WORKERS, .user = &controlled},
        NULL);
    ki_informer_add_handler(a, &(ki_handler){.on_add = on_event, .on_update = on_event, .user = &plain},
                            NULL);
    bool is_well = ki_controller_watch(controller, b, NULL) == 0 && ki_informer_start(a, NULL) == 0 &&
                   ki_informer_start(b, NULL) == 0 && ki_controller_start(controller, NULL) == 0 &&
                   ki_informer_wait_for_sync(a, 10000, NULL) == 0 &&
                   ki_informer_wait_for_sync(b, 10000, NULL) == 0;
    is_well = is_well && measure(server, &plain, &controlled, count, out) && report(out, count);
    ki_controller_free(controller);
    ki_informer_free(a);
    ki_informer_free(b);
    ki_client_free(plain.client);
    ki_client_free(controlled.client);
    ki_apiserver_free(server);
    free(out[0]);
    free(out[1]);
    return is_well ? 0 : 1;
}
