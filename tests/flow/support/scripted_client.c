/* SPDX-License-Identifier: Apache-2.0 */
#include "flow/support/scripted_client.h"

#include "flow/support/fake_credentials.h"
#include "support/unit.h"
#include "util/units.h"

void scripted_client_connect(ki_client *client, const scripted_http *server, const ki_http_options *http)
{
    ki_config config = {.server = (char *)(uintptr_t)scripted_http_url(server)};
    ki_error err = {0};
    if (ki_client_connect(client, &config, http, &err) < 0)
        fail_msg("%s", err.message);
}

ki_client *scripted_client_new(ki_client_options options, const scripted_http *server,
                               const ki_http_options *http)
{
    fake_credentials_reset();
    options.no_cluster = 1;
    ki_client *client = ki_client_new(&options, NULL);
    assert_non_null(client);
    scripted_client_connect(client, server, http);
    fake_credentials_take_over(client->credentials);
    return client;
}

ki_client *scripted_client_new_simulated(ki_clock *clock, const scripted_http *server)
{
    ki_clock_init_virtual(clock, 3600 * KI_NS_PER_S, INT64_C(1700000000) * 1000000000);
    ki_client *client = ki_client_new_simulated(
        &(ki_client_options){.mode = KI_MODE_EVENT_LOOP, .no_cluster = 1}, clock, 0, NULL);
    assert_non_null(client);
    scripted_client_connect(client, server, NULL);
    return client;
}
