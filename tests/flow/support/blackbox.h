/* SPDX-License-Identifier: Apache-2.0 */
/* blackbox - `kinformer watch pods -o events` against a scripted server, checked by what a user sees.
 *
 *   From:     tests/flow/cli/test_blackbox_*.c, whose rows are scenarios
 *   To:       the program as a process; scripted_http
 *
 * A scenario describes the server's responses and the expected results, both in a few words:
 *
 *   requests  stream=5  a streamed list from this version   list=0  a list not older than it
 *             full=0    the same, without a limit           one=    a list of a single item
 *             page=x    a further page, by its token
 *             watch=10
 *   events    *a@5  added by the first list   +a@5  added later   ~a@6  modified
 *             -a@7  deleted                   -a@7? deleted, final state unknown
 *             synced
 *   phases    LISTING, BACKING_OFF:Expired, …: phase and reason of a STATUS line
 *
 * In every scenario, lines are JSON, BACKING_OFF has a reason, a key is added, modified and deleted in this
 * order, its versions never decrease, requests are not too frequent, and SIGINT ends the program with 0. */
#ifndef KI_TESTS_FLOW_SUPPORT_BLACKBOX_H
#define KI_TESTS_FLOW_SUPPORT_BLACKBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "flow/support/cli_process.h"
#include "support/client/scripted_http.h"
#include "support/text_log.h"

typedef enum reply_end {
    REPLY_NONE = 0, /* after the last reply of a script */
    REPLY_WHOLE,    /* ends normally */
    REPLY_HOLD,     /* nothing more is sent until the client leaves */
    REPLY_CUT,      /* the connection closes inside the body; without a body: instead of a response */
    REPLY_RESET,    /* the same, with RST */
    REPLY_SILENCE   /* no response at all */
} reply_end;

typedef struct reply {
    const char *status; /* NULL: 200 OK */
    const char *headers;
    const char *body; /* NULL: no body; unless it ends normally, not even a head */
    reply_end end;
    int lives_ms; /* time from the body to its end */
} reply;

typedef struct scenario {
    const char *name;
    const char *resources; /* NULL: pods */
    const char *arguments; /* NULL: --watch-list never */
    const char *missing;   /* paths that contain this get 404, and are not recorded; NULL: none */
    /* The responses in turn; the last one is repeated. NULL: streams are refused, lists fail,
     * watches stay silent. */
    const reply *streams;
    const reply *lists;
    const reply *watches;
    const char *requests; /* all of them, or with " ..." the first ones; NULL: not checked */
    const char *events;   /* all of them; NULL: not checked */
    const char *phases;   /* some of them, in this order; NULL: not checked */
    const char *says;     /* a part of stderr; NULL: not checked */
    int pause_before;     /* the request with this number, from 1, comes no sooner than … */
    uint64_t pause_ms;    /* … this long after the previous one */
    uint64_t settle_ms;   /* how long nothing else may happen at the end; 0: a moment */
    int requests_max;     /* 0: not checked */
    bool is_new_history;  /* versions may decrease */
    /* Runs the scenario, if a row cannot describe it. */
    void (*play)(const struct scenario *s);
} scenario;

/* ---- replies ------------------------------------------------------------------------------------------- */

#define REPLIES(...) ((const reply[]){__VA_ARGS__, {0}})
#define WHOLE(text)                                                                                          \
    {                                                                                                        \
        .body = (text), .end = REPLY_WHOLE                                                                   \
    }
#define HOLD(text)                                                                                           \
    {                                                                                                        \
        .body = (text), .end = REPLY_HOLD                                                                    \
    }
#define CUT(text)                                                                                            \
    {                                                                                                        \
        .body = (text), .end = REPLY_CUT                                                                     \
    }
#define RESET(text)                                                                                          \
    {                                                                                                        \
        .body = (text), .end = REPLY_RESET                                                                   \
    }
#define SILENCE                                                                                              \
    {                                                                                                        \
        .end = REPLY_SILENCE                                                                                 \
    }
#define REFUSE(code, word)                                                                                   \
    {                                                                                                        \
        .status = code " " word, .body = FAILURE(code, word), .end = REPLY_WHOLE                             \
    }
#define REFUSE_FOR(code, word, seconds)                                                                      \
    {                                                                                                        \
        .status = code " " word, .headers = "Retry-After: " seconds "\r\n", .body = FAILURE(code, word),     \
        .end = REPLY_WHOLE                                                                                   \
    }

#define FAILURE(code, word)                                                                                  \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"no\",\"reason\":"       \
    "\"" word "\",\"code\":" code "}"
#define POD(name, version)                                                                                   \
    "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"namespace\":\"default\",\"name\":\"" name       \
    "\",\"uid\":\"uid-" name "\",\"resourceVersion\":\"" version "\"}}"
/* The items are pods, separated by commas. */
#define LIST(version, items) LIST_MORE(version, "", items)
#define LIST_MORE(version, token, items)                                                                     \
    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"" version               \
    "\",\"continue\":\"" token "\"},\"items\":[" items "]}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define ADDED(name, version) EVENT("ADDED", POD(name, version))
#define MODIFIED(name, version) EVENT("MODIFIED", POD(name, version))
#define DELETED(name, version) EVENT("DELETED", POD(name, version))
#define ERROR(code, word) EVENT("ERROR", FAILURE(code, word))
#define BOOKMARK(version)                                                                                    \
    EVENT("BOOKMARK",                                                                                        \
          "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"" version "\"}}")
/* The end of a streamed list. */
#define MARKER(version)                                                                                      \
    EVENT("BOOKMARK", "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"" version \
                      "\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}")

/* ---- running ------------------------------------------------------------------------------------------- */

/* Runs each scenario in its own process, several at once. With an argument, runs only scenarios whose name
 * contains the first one. Returns the number of failures, for main(). */
int blackbox_main(const scenario *scenarios, int argc, char **argv);

typedef struct blackbox blackbox;

/* Starts the server and the program. */
blackbox *blackbox_start(const scenario *s);
cli_process *blackbox_process(blackbox *box);
/* Waits until the words are there: all requests, some of the events, some of the phases.
 * NULL: does not wait for them. */
void blackbox_wait(blackbox *box, const char *requests, const char *events, const char *phases);
/* Compares everything with the scenario; ends the program if it is still running. */
void blackbox_judge(blackbox *box);

#endif
