/* SPDX-License-Identifier: Apache-2.0 */
/* client_live - what the program around a client does between two checks of a test. */
#ifndef KI_TESTS_FLOW_SUPPORT_CLIENT_LIVE_H
#define KI_TESTS_FLOW_SUPPORT_CLIENT_LIVE_H

#include <kinformer/client.h>

/* Polls and dispatches for a few milliseconds, as a program with a client of this mode does. */
void client_live(ki_client *client, ki_mode mode);

#endif
