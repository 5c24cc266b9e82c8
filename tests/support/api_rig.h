/* SPDX-License-Identifier: Apache-2.0 */
/* api_rig - an embedded API server, and requests to it over real sockets.
 *
 *   From:     tests/flow/test_apiserver_*.c
 *   To:       libcurl; plain sockets for what no client would send
 *   Not here: informers
 */
#ifndef KI_TESTS_SUPPORT_API_RIG_H
#define KI_TESTS_SUPPORT_API_RIG_H

#include <jansson.h>
#include <kinformer/apiserver.h>

/* A whole answer. */
typedef struct api_answer {
    int status;    /* 0: there was none */
    int is_broken; /* the body ended before it was complete */
    char *headers;
    char *body;
    size_t body_len;
    json_t *tree; /* NULL: the body is no JSON */
} api_answer;

void api_answer_fini(api_answer *answer);

typedef struct api_request {
    const char *method; /* NULL: GET, or POST with a body */
    const char *path;
    const char *body;
    const char *headers[6]; /* "Accept: …"; ended by NULL */
    const char *authority;  /* PEM with which the server is checked */
    long timeout_ms;        /* 0: half a minute */
} api_request;

/* A server with the options (NULL: none); the test fails when it does not start. */
ki_apiserver *api_rig_start(const ki_apiserver_options *options);

api_answer api_call(const ki_apiserver *server, const api_request *request);
api_answer api_get(const ki_apiserver *server, const char *path);
/* Answers 200 or 201, or the test fails. */
void api_post(const ki_apiserver *server, const char *path, const char *body);
/* A pod of the namespace default with a label app=`app` on `node`. */
void api_put_pod(ki_apiserver *server, const char *name, const char *app, const char *node);

/* "metadata.resourceVersion" of the answer: the text there, or "" .
 * Numbers are places in arrays: "items.0.kind". */
const char *api_text(const api_answer *answer, const char *path);
const json_t *api_at(const json_t *tree, const char *path);
/* The value of a header, cut at the line's end, in a static buffer; "" without one. */
const char *api_header(const api_answer *answer, const char *name);

/* One line of a watch, parsed; the caller drops it. NULL behind the last. `*at` starts at 0. */
json_t *api_next_event(const api_answer *answer, size_t *at);

/* A plain connection. */
int api_connect(const ki_apiserver *server);
void api_send(int fd, const char *bytes, size_t n);
/* Reads until the other side ends, or `until` is seen (NULL: until the end), 10 s at the most. Returns what
 * came; freed with free(). `*out_error`: the errno that ended it, 0 for an orderly end; may be NULL. */
char *api_receive(int fd, const char *until, int *out_error);

#endif
