/* SPDX-License-Identifier: Apache-2.0 */
/* rest_world - a client of a scripted server in any mode, and callbacks that record their calls. */
#ifndef KI_TESTS_FLOW_SUPPORT_REST_WORLD_H
#define KI_TESTS_FLOW_SUPPORT_REST_WORLD_H

#include <kinformer.h>
#include <stdatomic.h>

#include "client/client.h"
#include "support/client/scripted_http.h"
#include "support/patience.h"

typedef struct rest_world {
    int mode;                  /* of the client; set it before, like the next two */
    ki_client_options options; /* limits */
    ki_http_options http;
    scripted_http *server;
    ki_client *client;
} rest_world;

/* The last answer that a callback got, and the number of calls. */
typedef struct told_answer {
    atomic_int times;
    int error;
    int code;
    uint32_t attempts;
    char name[64];
} told_answer;

#define REST_MODES 3

/* A request for "a" of the pods in "web" with this verb; writing verbs have a body. */
ki_rest_request rest_request(int verb);

void rest_world_init(rest_world *w, scripted_serve_cb serve, void *user);
void rest_world_fini(rest_world *w);

/* A ki_rest_cb; `user` is a told_answer. */
void rest_world_hear(const ki_rest_answer *answer, void *user);

/* The request, with that callback. */
ki_rest_request rest_request_heard(int verb, told_answer *told);

/* Does what a program would do in this mode until the callback was called this often;
 * fails the test after a while. */
void rest_world_wait(rest_world *w, told_answer *told, int times);

/* The same for a moment. */
void rest_world_live(rest_world *w);

uint64_t rest_world_now_ms(void);

/* A server that responds with an object that shows the request: /method, /target, /type and /body. */
scripted_next rest_world_echo(scripted_connection *c, const scripted_request *r, void *user);

#define REST_STATUS(code, reason)                                                                            \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":\"no\","  \
    "\"reason\":\"" reason "\",\"code\":" code "}"

#endif
