/* SPDX-License-Identifier: Apache-2.0 */
/* blackbox - `kinformer watch pods -o events` against a scripted server, judged by what a user sees.
 *
 *   From:     tests/flow/test_blackbox_*.c, whose rows are scenarios
 *   To:       the program as a process; scripted_http
 *
 * A scenario says how the server answers and what has to come of it, both in a few words:
 *
 *   requests  stream=5  a streamed list from this version   list=0  a list not older than it
 *             full=0    the same, without a limit             one=    of a single item
 *             page=x    a further page, by its token
 *             watch=10
 *   events    *a@5  added by the first list   +a@5  added later   ~a@6  modified
 *             -a@7  deleted                   -a@7? deleted, final state unknown
 *             synced
 *   phases    LISTING, BACKING_OFF:Expired, …: phase and reason of a STATUS line
 *
 * In each of them lines are JSON, BACKING_OFF has a reason, a key is added, modified and deleted in this
 * order and its versions never go back, requests keep to the pace, and SIGINT ends the program with 0. */
#ifndef KI_TESTS_FLOW_SUPPORT_BLACKBOX_H
#define KI_TESTS_FLOW_SUPPORT_BLACKBOX_H

#include <stdbool.h>
#include <stdint.h>

#include "flow/support/cli_process.h"
#include "support/scripted_http.h"
#include "support/text_log.h"

typedef enum reply_end {
    REPLY_NONE = 0, /* behind the last reply of a script */
    REPLY_WHOLE,    /* ends as it should */
    REPLY_HOLD,     /* nothing more comes, until the client leaves */
    REPLY_CUT,      /* the connection closes within the body; without a body: instead of an answer */
    REPLY_RESET,    /* the same, with RST */
    REPLY_SILENCE   /* no answer at all */
} reply_end;

typedef struct reply {
    const char *status; /* NULL: 200 OK */
    const char *headers;
    const char *body; /* NULL: none, not even a head, if it does not end whole */
    reply_end end;
    int lives_ms; /* so long after the body comes its end */
} reply;

typedef struct scenario {
    const char *name;
    const char *resources; /* NULL: pods */
    const char *arguments; /* NULL: --watch-list never */
    const char *missing;   /* a path with this in it is 404, and not noted; NULL: none is */
    /* The answers in turn; the last is repeated. NULL: streams are refused, lists fail,
     * watches stay silent. */
    const reply *streams;
    const reply *lists;
    const reply *watches;
    const char *requests; /* all of them, or with " ..." those that come first; NULL: not looked at */
    const char *events;   /* all of them; NULL: not looked at */
    const char *phases;   /* among them, in this order; NULL: not looked at */
    const char *says;     /* in stderr; NULL: not looked at */
    int pause_before;     /* the request of this number, from 1 on, comes no sooner than … */
    uint64_t pause_ms;    /* … this after the one before it */
    uint64_t settle_ms;   /* how long nothing else may come in the end; 0: a moment */
    int requests_max;     /* 0: not looked at */
    bool is_new_history;  /* versions may go back */
    /* What does not fit into a row: plays the scenario instead. */
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
/* The items are pods with commas between them. */
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

/* ---- playing ------------------------------------------------------------------------------------------- */

/* Runs each scenario in a process of its own, several at once; those alone whose name has the first argument
 * in it, if there is one. Returns how many have failed, for main(). */
int blackbox_main(const scenario *scenarios, int argc, char **argv);

typedef struct blackbox blackbox;

/* Starts server and program. */
blackbox *blackbox_start(const scenario *s);
cli_process *blackbox_process(blackbox *box);
/* Waits until the words are there: all requests, among the events, among the phases. NULL: for nothing. */
void blackbox_wait(blackbox *box, const char *requests, const char *events, const char *phases);
/* Compares everything with the scenario; ends the program unless it has ended. */
void blackbox_judge(blackbox *box);

#endif
