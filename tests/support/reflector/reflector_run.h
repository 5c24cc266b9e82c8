/* SPDX-License-Identifier: Apache-2.0 */
/* reflector_run - a reflector with a scripted source and a virtual clock, and its reports as lines of text.
 *
 *   From:     tests of the reflector
 *   To:       reflector/reflector.h, support/reflector/scripted_source.h
 */
#ifndef KI_TESTS_SUPPORT_REFLECTOR_REFLECTOR_RUN_H
#define KI_TESTS_SUPPORT_REFLECTOR_REFLECTOR_RUN_H

#include "reflector/reflector.h"
#include "support/reflector/scripted_source.h"

/* JSON of pods, lists and events. */
#define POD(name, version)                                                                                   \
    "{\"metadata\":{\"namespace\":\"d\",\"name\":\"" name "\",\"resourceVersion\":\"" version "\"}}"
#define LIST(version, token, items)                                                                          \
    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"" version               \
    "\",\"continue\":\"" token "\"},\"items\":[" items "]}"
#define LIST_METADATA_LAST(version, items)                                                                   \
    "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"items\":[" items                                          \
    "],\"metadata\":{\"resourceVersion\":\"" version "\"}}"
#define EVENT(type, object) "{\"type\":\"" type "\",\"object\":" object "}\n"
#define BOOKMARK(version) EVENT("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"" version "\"}}")
#define END_OF_LIST(version)                                                                                 \
    EVENT("BOOKMARK", "{\"metadata\":{\"resourceVersion\":\"" version                                        \
                      "\",\"annotations\":{\"k8s.io/initial-events-end\":\"true\"}}}")
#define STATUS(code, reason)                                                                                 \
    "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Failure\",\"message\":\"no\",\"reason\":"       \
    "\"" reason "\",\"code\":" code "}"
#define TOO_LARGE                                                                                            \
    "{\"kind\":\"Status\",\"reason\":\"Timeout\",\"code\":504,\"details\":{\"causes\":[{\"reason\":"         \
    "\"ResourceVersionTooLarge\"}],\"retryAfterSeconds\":1}}"

typedef struct reflector_run {
    ki_clock clock;
    ki_informer_options informer; /* may be changed before reflector_run_start(); has KI_WATCH_LIST_NEVER */
    ki_object_plan *plan;
    ki_reflector reflector;
    scripted_source source;
    text_log changes;  /* "REPLACED 1 d/a@5", "END 1 10", "ADDED d/a@6 6", "RESET 2" */
    text_log errors;   /* "Expired 410", followed by " d/a" for a refused object */
    text_log statuses; /* "BACKING_OFF Forbidden", at each change */
    uint64_t due_ns;
    ki_stream_memory streams; /* of the server, like the next field */
    ki_wire_memory wires;
    ki_wire wire;           /* KI_WIRE_JSON by default */
    uint64_t last_retry_ms; /* of the last error */
    uint64_t last_success_ms;
    int last_code;
    int doubtful_items;    /* items of lists that are doubtful until their end */
    int is_full;           /* the result of on_change */
    unsigned refuse_after; /* the n-th call of on_change is out of memory, once; 0: none */
    uint32_t no_watch_list;
    int tells_sent; /* of the source */
    int is_begun;
} reflector_run;

/* Sets the defaults. The plan is for pods. */
void reflector_run_init(reflector_run *run);

/* Starts from `version`; "": nothing is known. */
void reflector_run_start(reflector_run *run, const char *version);

/* The same, but begins with a list although it knows the version. */
void reflector_run_start_listing(reflector_run *run, const char *version);

/* Begins without a version, and streams lists or not. */
void reflector_run_start_with(reflector_run *run, ki_watch_list choice);
void reflector_run_fini(reflector_run *run);

/* The same on a run that has already been started. */
void reflector_run_restart(reflector_run *run, const char *version);

/* Advances the clock, with a tick whenever one is due. */
void reflector_run_wait_ms(reflector_run *run, uint64_t ms);

/* Waits until the phase is no longer `phase` or, for BACKING_OFF, until a request is retried. Fails the test
 * after an hour. Returns the milliseconds. */
uint64_t reflector_run_wait_while(reflector_run *run, ki_phase phase);

/* Answers requests with this HTTP status, so many times, and waits until the next one is sent. */
void reflector_run_fail(reflector_run *run, int http_status, int times);

/* Starts it, and answers a LIST of version 10 with d/a@5, so that it watches; the logs are empty then. */
void reflector_run_start_watching(reflector_run *run);

ki_informer_status reflector_run_status(reflector_run *run);

#define expect_requests(run, text) text_log_expect(&(run)->source.requests, text, __FILE__, __LINE__)
#define expect_changes(run, text) text_log_expect(&(run)->changes, text, __FILE__, __LINE__)
#define expect_statuses(run, text) text_log_expect(&(run)->statuses, text, __FILE__, __LINE__)
#define expect_errors(run, text) text_log_expect(&(run)->errors, text, __FILE__, __LINE__)

/* Setup and teardown of a test whose state is a run. The teardown stops it, and checks for leaks. */
int reflector_run_setup(void **state);
int reflector_run_teardown(void **state);

#define reflector_test(function)                                                                             \
    cmocka_unit_test_setup_teardown(function, reflector_run_setup, reflector_run_teardown)

#endif
