/* SPDX-License-Identifier: Apache-2.0 */
/* scripted_client - a client of a scripted server.
 *
 *   From:     flow/support/informer_world.c, flow/support/rest_world.c, and tests with a world of their own
 *   To:       support/client/scripted_http.h, flow/support/fake_credentials.h
 */
#ifndef KI_TESTS_FLOW_SUPPORT_SCRIPTED_CLIENT_H
#define KI_TESTS_FLOW_SUPPORT_SCRIPTED_CLIENT_H

#include "client/client.h"
#include "http/http.h"
#include "support/client/scripted_http.h"

/* Connects to the server; `http` may be NULL. */
void scripted_client_connect(ki_client *client, const scripted_http *server, const ki_http_options *http);

/* A new client that is connected, with fake credentials in their initial state. It uses no cluster. */
ki_client *scripted_client_new(ki_client_options options, const scripted_http *server,
                               const ki_http_options *http);

/* A new client with a virtual clock, which shows one hour, for a loop that the test runs. */
ki_client *scripted_client_new_simulated(ki_clock *clock, const scripted_http *server);

#endif
