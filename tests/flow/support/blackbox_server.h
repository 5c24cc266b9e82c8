/* SPDX-License-Identifier: Apache-2.0 */
/* blackbox_server - answers as a scenario says, and notes the requests in the words of blackbox.h. */
#ifndef KI_TESTS_FLOW_SUPPORT_BLACKBOX_SERVER_H
#define KI_TESTS_FLOW_SUPPORT_BLACKBOX_SERVER_H

#include "flow/support/blackbox.h"

typedef struct blackbox_server blackbox_server;

blackbox_server *blackbox_server_start(const scenario *s);
void blackbox_server_stop(blackbox_server *server);

const scripted_http *blackbox_server_http(const blackbox_server *server);

/* The first list has been written: events may follow. */
void blackbox_server_note_synced(blackbox_server *server);

/* All requests until now, "list=0 watch=10"; valid until the next call. */
const char *blackbox_server_requests(blackbox_server *server);

/* How many there were, and how many that begin something, which further pages do not. */
int blackbox_server_count(blackbox_server *server);
int blackbox_server_attempts(blackbox_server *server);

/* Between the request of this number, from 1 on, and the one before it. */
uint64_t blackbox_server_pause_ms(blackbox_server *server, int number);

#endif
