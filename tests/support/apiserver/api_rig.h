/* SPDX-License-Identifier: Apache-2.0 */
/* api_rig - an embedded API server, and requests to it over real sockets.
 *
 *   From:     tests/flow/apiserver/test_*.c
 *   To:       libcurl; plain sockets for requests that no client would send
 *   Not here: informers
 */
#ifndef KI_TESTS_SUPPORT_APISERVER_API_RIG_H
#define KI_TESTS_SUPPORT_APISERVER_API_RIG_H

#include <jansson.h>
#include <kinformer/apiserver.h>

/* A whole response. */
typedef struct api_answer {
    int status;    /* 0 if there was none */
    int is_broken; /* the body ended before it was complete */
    char *headers;
    char *body;
    size_t body_len;
    json_t *tree; /* NULL if the body is not JSON */
} api_answer;

void api_answer_fini(api_answer *answer);

typedef struct api_request {
    const char *method; /* NULL means GET, or POST with a body */
    const char *path;
    const char *body;
    const char *headers[6]; /* "Accept: …"; ends with NULL */
    const char *authority;  /* PEM to verify the server's certificate */
    long timeout_ms;        /* 0 means half a minute */
} api_request;

/* Starts a server with the options (may be NULL); fails the test if it does not start. */
ki_apiserver *api_rig_start(const ki_apiserver_options *options);

/* The same with two pods in the namespace default: a (app=web, on node-1) and b (app=db, on node-2). */
ki_apiserver *api_rig_start_with_pods(const ki_apiserver_options *options);

/* Frees the server in `*state`, as a teardown function of cmocka. */
int api_rig_stop(void **state);

api_answer api_call(const ki_apiserver *server, const api_request *request);
api_answer api_get(const ki_apiserver *server, const char *path);
/* POSTs the body. The response must be 200 or 201. */
void api_post(const ki_apiserver *server, const char *path, const char *body);
/* Puts a pod into the namespace default, with the label app=`app`, on `node`. */
void api_put_pod(ki_apiserver *server, const char *name, const char *app, const char *node);

/* The text at a path such as "metadata.resourceVersion", or "". Numbers index arrays: "items.0.kind". */
const char *api_text(const api_answer *answer, const char *path);
const json_t *api_at(const json_t *tree, const char *path);
/* The value of a header, in a static buffer; "" if absent. */
const char *api_header(const api_answer *answer, const char *name);

/* One line of a watch, parsed; the caller drops it. NULL after the last one. `*at` starts at 0. */
json_t *api_next_event(const api_answer *answer, size_t *at);

/* A plain connection. */
int api_connect(const ki_apiserver *server);
void api_send(int fd, const char *bytes, size_t n);
/* Reads until the other side closes, or until `until` is received (may be NULL), for at most 10 s. Returns
 * the received text; free it with free(). `*out_error` (may be NULL) is the errno that ended it,
 * 0 for an orderly end. */
char *api_receive(int fd, const char *until, int *out_error);

#endif
