/* SPDX-License-Identifier: Apache-2.0 */
/* An informer with small queues reads no more from its socket than it can keep. */
#include <kinformer.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#include "client/client.h"
#include "flow/support/informer_world.h"
#include "support/client/scripted_http.h"
#include "support/failing_allocator.h"
#include "support/patience.h"
#include "support/unit.h"

enum { MANY = 20 * 1000, PADDING = 1500, BLOCK = 500 };

/* Sends BLOCK items from `first` on in one chunk, so that the server is faster than its client. */
static bool send_items(scripted_connection *c, int first)
{
    size_t size = (size_t)BLOCK * (PADDING + 256);
    char *text = malloc(size);
    size_t used = 0;
    for (int i = first; text != NULL && i < first + BLOCK; i++)
        used += (size_t)snprintf(text + used, size - used,
                                 "%s{\"metadata\":{\"namespace\":\"default\",\"name\":\"o%d\",\"uid\":\"%d\","
                                 "\"resourceVersion\":\"%d\"},\"data\":{\"x\":\"%0*d\"}}",
                                 i == 0 ? "" : ",", i, i, i + 1, PADDING, 0);
    bool is_sent = text != NULL && scripted_chunk(c, text);
    free(text);
    return is_sent;
}

static scripted_next serve_many(scripted_connection *c, const scripted_request *r, void *user)
{
    (void)user;
    if (scripted_is_watch(r)) {
        if (scripted_begin(c, "200 OK"))
            scripted_wait_for_end(c);
        return SCRIPTED_CLOSE;
    }
    bool is_well =
        scripted_begin(c, "200 OK") &&
        scripted_chunk(c,
                       "{\"kind\":\"ConfigMapList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":"
                       "\"100000\"},\"items\":[");
    for (int i = 0; is_well && i < MANY; i += BLOCK)
        is_well = send_items(c, i);
    (void)(is_well && scripted_chunk(c, "]}") && scripted_chunk(c, ""));
    return SCRIPTED_KEEP;
}

static ki_mutex gate_mu;

static ki_cond gate_opened;

static bool gate_is_open;

static void wait_at_gate(const ki_event *event, void *user)
{
    (void)event;
    (void)user;
    ki_mutex_lock(&gate_mu);
    while (!gate_is_open)
        ki_cond_wait(&gate_opened, &gate_mu);
    ki_mutex_unlock(&gate_mu);
}

static void open_gate(void)
{
    ki_mutex_lock(&gate_mu);
    gate_is_open = true;
    ki_cond_broadcast(&gate_opened);
    ki_mutex_unlock(&gate_mu);
}

static uint64_t last_bytes;

static int quiet_rounds;

/* Whether nothing more is read. */
static bool is_stuck(informer_world *w)
{
    uint64_t bytes = informer_world_status(w).bytes_read;
    quiet_rounds = bytes > 0 && bytes == last_bytes ? quiet_rounds + 1 : 0;
    last_bytes = bytes;
    return quiet_rounds > 40;
}

static void a_full_queue_stops_the_transfer_until_there_is_space(void **state)
{
    (void)state;
    informer_world w = {.mode = KI_MODE_THREADS};
    ki_informer_options options = {.page_size = -1, .queue_items_max = 100};
    ki_handler handler = {.on_add = wait_at_gate, .overflow = KI_OVERFLOW_BLOCK, .backlog_items_max = 100};
    ki_mutex_init(&gate_mu);
    ki_cond_init(&gate_opened);
    gate_is_open = false;
    last_bytes = 0;
    quiet_rounds = 0;
    informer_world_init(&w, serve_many, &options);
    assert_non_null(ki_informer_add_handler(w.informer, &handler, NULL));
    informer_world_wait(&w, is_stuck);
    if (informer_world_status(&w).objects < MANY) {
        assert_true(informer_world_status(&w).bytes_read < (uint64_t)MANY * PADDING / 4);
        assert_true(failing_allocator_live_bytes() < (size_t)MANY * PADDING / 4);
    }
    open_gate();
    assert_int_equal(ki_informer_wait_for_sync(w.informer, HANG_MS, NULL), 0);
    assert_int_equal(informer_world_status(&w).objects, MANY);
    assert_int_equal(informer_world_status(&w).lists, 1);
    informer_world_fini(&w);
    ki_cond_fini(&gate_opened);
    ki_mutex_fini(&gate_mu);
}

static bool has_synced(informer_world *w)
{
    assert_true(informer_world_status(w).queued < 1000);
    return ki_informer_has_synced(w->informer);
}

static void a_large_list_passes_a_small_queue_in_each_mode(void **state)
{
    (void)state;
    for (size_t i = 0; i < INFORMER_WORLD_MODES; i++) {
        informer_world w = {.mode = informer_world_modes[i]};
        informer_world_init(&w, serve_many, &(ki_informer_options){.page_size = -1, .queue_items_max = 20});
        informer_world_wait(&w, has_synced);
        assert_int_equal(informer_world_status(&w).objects, MANY);
        assert_int_equal(informer_world_status(&w).lists, 1);
        informer_world_fini(&w);
    }
}

/* So that a call does not take much longer than its budget, whatever the server sends. */
static void on_an_event_loop_no_job_reads_more_than_a_few_pieces(void **state)
{
    (void)state;
    enum { PIECE = 128 * 1024 };
    informer_world w = {.mode = KI_MODE_EVENT_LOOP};
    informer_world_init(&w, serve_many, &(ki_informer_options){.page_size = -1});
    uint64_t deadline_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;
    while (!ki_informer_has_synced(w.informer)) {
        uint64_t bytes = informer_world_status(&w).bytes_read;
        struct pollfd polled = {.fd = ki_client_fd(w.client), .events = POLLIN};
        (void)poll(&polled, 1, 5);
        size_t jobs = ki_loop_step(w.client->handlers, 1000 * 1000);
        assert_true(informer_world_status(&w).bytes_read - bytes <= jobs * 2 * PIECE);
        assert_true(ki_clock_now_ms(ki_clock_real()) < deadline_ms);
    }
    assert_int_equal(informer_world_status(&w).objects, MANY);
    informer_world_fini(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(a_full_queue_stops_the_transfer_until_there_is_space),
        WITH_MEMORY_CHECK(a_large_list_passes_a_small_queue_in_each_mode),
        WITH_MEMORY_CHECK(on_an_event_loop_no_job_reads_more_than_a_few_pieces),
    };
    return RUN_TESTS(tests);
}
