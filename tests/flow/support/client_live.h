/* SPDX-License-Identifier: Apache-2.0 */
/* client_live - runs a client as its program would, between two checks of a test. */
#ifndef KI_TESTS_FLOW_SUPPORT_CLIENT_LIVE_H
#define KI_TESTS_FLOW_SUPPORT_CLIENT_LIVE_H

#include <kinformer/client.h>

/* Polls and dispatches for a few milliseconds, as a program does in this mode. */
void client_live(ki_client *client, ki_mode mode);

#endif
