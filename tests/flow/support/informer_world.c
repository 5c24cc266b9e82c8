/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/support/informer_world.h"

#include "client/client.h"
#include "flow/support/client_live.h"
#include "flow/support/scripted_client.h"
#include "support/patience.h"
#include "support/unit.h"

const int informer_world_modes[INFORMER_WORLD_MODES] = {KI_MODE_THREADS, KI_MODE_HANDLERS_ON_LOOP,
                                                        KI_MODE_EVENT_LOOP};

void informer_world_init(informer_world *w, scripted_serve_cb serve, const ki_informer_options *options)
{
    ki_informer_options used = options != NULL ? *options : (ki_informer_options){0};
    ki_error err = {0};
    w->server = scripted_http_start(&(scripted_http_options){.serve = serve, .user = w});
    w->client = scripted_client_new((ki_client_options){.mode = (ki_mode)w->mode}, w->server,
                                    &(ki_http_options){.error_timeout_ms = 50});
    if (used.watch_list == KI_WATCH_LIST_AUTO)
        used.watch_list = KI_WATCH_LIST_NEVER;
    used.backoff_ms = 10;
    used.backoff_max_ms = 50;
    w->informer = ki_informer_new(w->client, &KI_CORE_V1_CONFIGMAPS, &used, &err);
    assert_non_null(w->informer);
    assert_int_equal(ki_informer_start(w->informer, &err), 0);
}

void informer_world_fini(informer_world *w)
{
    ki_informer_free(w->informer);
    ki_client_free(w->client);
    scripted_http_stop(w->server);
}

void informer_world_live(informer_world *w)
{
    client_live(w->client, (ki_mode)w->mode);
}

void informer_world_wait(informer_world *w, informer_world_cb is_met)
{
    uint64_t deadline_ms = ki_clock_now_ms(ki_clock_real()) + HANG_MS;
    while (!is_met(w)) {
        assert_true(ki_clock_now_ms(ki_clock_real()) < deadline_ms);
        informer_world_live(w);
    }
}

ki_informer_status informer_world_status(informer_world *w)
{
    ki_informer_status status;
    ki_informer_read_status(w->informer, &status);
    return status;
}
