/* SPDX-License-Identifier: Apache-2.0 */
/* blackbox_server - responds as the scenario says, and records the requests in the words of blackbox.h. */
#ifndef KI_TESTS_FLOW_SUPPORT_BLACKBOX_SERVER_H
#define KI_TESTS_FLOW_SUPPORT_BLACKBOX_SERVER_H

#include "flow/support/blackbox.h"

typedef struct blackbox_server blackbox_server;

blackbox_server *blackbox_server_start(const scenario *s);
void blackbox_server_stop(blackbox_server *server);

const scripted_http *blackbox_server_http(const blackbox_server *server);

/* The first list has been written, so events may follow. */
void blackbox_server_note_synced(blackbox_server *server);

/* All requests so far, "list=0 watch=10"; valid until the next call. */
const char *blackbox_server_requests(blackbox_server *server);

/* The number of requests, and the number of those that begin something; further pages do not. */
int blackbox_server_count(blackbox_server *server);
int blackbox_server_attempts(blackbox_server *server);

/* The time between the request with this number, from 1, and the previous one. */
uint64_t blackbox_server_pause_ms(blackbox_server *server, int number);

#endif
