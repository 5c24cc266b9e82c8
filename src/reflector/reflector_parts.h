/* SPDX-License-Identifier: Apache-2.0 */
/* reflector_parts - what the files of the reflector share.
 *
 *   From:     reflector/reflector*.c
 *   Locks:    none; all on io.
 *   Not here: anything for others; that is reflector/reflector.h.
 */
#ifndef KI_REFLECTOR_REFLECTOR_PARTS_H
#define KI_REFLECTOR_REFLECTOR_PARTS_H

#include "reflector/reflector.h"
#include "util/units.h"

/* ---- reflector.c: what is next --------------------------------------------------------------------- */

uint64_t ki_reflector_now_ns(const ki_reflector *reflector);

/* Ends the current request; `step` begins after `delay_ns`, and once there is room. */
void ki_reflector_go_on(ki_reflector *reflector, ki_reflector_step step, uint64_t delay_ns);

/* The same after a failure, which is reported. */
void ki_reflector_retry(ki_reflector *reflector, const ki_failure *failure, ki_reflector_step step,
                        uint64_t delay_ns);

/* The delay that the server asked for, at most 600 s. */
uint64_t ki_reflector_asked_ns(const ki_failure *failure);

/* The next delay of the back-off, or what the server has asked for if that is longer. */
uint64_t ki_reflector_delay_ns(ki_reflector *reflector, const ki_failure *failure);

/* The same by another back-off than that of the attempts. */
uint64_t ki_reflector_delay_by_ns(ki_reflector *reflector, ki_backoff *backoff, const ki_failure *failure);

/* Abandons the current request, as if it had ended with this failure. */
void ki_reflector_give_up(ki_reflector *reflector, ki_reason reason, const char *message);

/* The same when a version could not be kept: for lack of memory, or since it is too long. */
void ki_reflector_give_up_version(ki_reflector *reflector, int code, const char *too_long);

/* Fills in the options common to all requests, and calls the user's tweak: call last. */
void ki_reflector_finish_options(const ki_reflector *reflector, ki_list_options *options);

/* ---- reflector_due.c: timers and silence ------------------------------------------------------------ */

void ki_reflector_begin_silence(ki_reflector *reflector);
void ki_reflector_end_silence(ki_reflector *reflector, size_t bytes, uint64_t now);
/* Sets the timer by what is due next. */
void ki_reflector_schedule(ki_reflector *reflector);
/* Does what is due: gives up a request, lists again, or begins a probe. */
void ki_reflector_check_due(ki_reflector *reflector);

/* ---- reflector_wire.c: JSON or protobuf -------------------------------------------------------------- */

/* The format to request: KI_WIRE_PROTOBUF means that both are accepted. */
ki_wire ki_reflector_wire(const ki_reflector *reflector);

/* A good response has begun, or goes on. */
void ki_reflector_wire_heard(ki_reflector *reflector, ki_answer *answer);

/* Before a step is handled, and before a response's end is. Each returns whether nothing is left to do,
 * because the request is made again as JSON. */
int ki_reflector_wire_step(ki_reflector *reflector, ki_answer *answer, int step);
int ki_reflector_wire_over(ki_reflector *reflector, ki_answer *answer, const ki_failure *failure);

/* ---- one file for each state ----------------------------------------------------------------------- */

void ki_reflector_begin_list(ki_reflector *reflector, ki_reflector_step step);
void ki_reflector_list_step(ki_reflector *reflector, int step);
void ki_reflector_list_over(ki_reflector *reflector, const ki_failure *failure);

void ki_reflector_begin_stream(ki_reflector *reflector);
void ki_reflector_stream_step(ki_reflector *reflector, int step);
void ki_reflector_stream_over(ki_reflector *reflector, const ki_failure *failure);

/* A LIST has succeeded. */
void ki_reflector_note_listed(ki_reflector *reflector);

/* Whether a list may be streamed now. */
int ki_reflector_may_stream(const ki_reflector *reflector);

void ki_reflector_begin_watch(ki_reflector *reflector);
void ki_reflector_watch_step(ki_reflector *reflector, int step);
void ki_reflector_watch_over(ki_reflector *reflector, const ki_failure *failure);
void ki_reflector_watch_heard(ki_reflector *reflector);

/* What the two kinds of watches share: sends the request. */
void ki_reflector_send_watch(ki_reflector *reflector, ki_list_options *options);

/* The failure reported by an ERROR event. */
ki_failure ki_reflector_error_event(const ki_status *status);

/* An invalid event that may have been a change: a list is due, at most one a minute. */
void ki_reflector_want_relist(ki_reflector *reflector);

uint64_t ki_reflector_probe_due_ns(const ki_reflector *reflector);
void ki_reflector_begin_probe(ki_reflector *reflector);
void ki_reflector_clear_probe(ki_reflector *reflector);
void ki_reflector_probe_step(ki_reflector *reflector, int step);
void ki_reflector_probe_over(ki_reflector *reflector, const ki_failure *failure);

/* ---- reflector_poll.c: watches that bring nothing -------------------------------------------------- */

void ki_reflector_init_poll(ki_reflector *reflector);

/* Whether so many watches have brought nothing that lists replace them. */
int ki_reflector_is_polling(const ki_reflector *reflector);

/* The watch has brought an event or a bookmark. */
void ki_reflector_note_fruit(ki_reflector *reflector);

/* A watch has ended, with `failure` or normally: call it before the next step is chosen. */
void ki_reflector_count_watch(ki_reflector *reflector, const ki_failure *failure);

/* Chooses what follows the watch: another one after the delay, or a list, which may be due earlier. */
ki_reflector_step ki_reflector_step_after_watch(ki_reflector *reflector, const ki_failure *failure,
                                                uint64_t *delay_ns);

/* An item of a list. */
void ki_reflector_note_item(ki_reflector *reflector, const ki_object *object);

/* A list has succeeded; `version` is the one before it. */
void ki_reflector_finish_poll(ki_reflector *reflector);

/* Chooses what follows a failed list: a list, or the watch that it was to replace. */
ki_reflector_step ki_reflector_step_after_list(ki_reflector *reflector);

/* The reason for the status while it polls; `failure` of the last watch, or NULL. */
void ki_reflector_explain_poll(ki_reflector *reflector, const ki_failure *failure);

/* ---- reflector_list.c: what both kinds of lists share ---------------------------------------------- */

/* Begins a new attempt; reports a reset if one is due. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_reflector_begin_attempt(ki_reflector *reflector, int is_quorum);

/* Whether the list is older than what was received. */
int ki_reflector_list_is_stale(const ki_reflector *reflector);

/* Abandons such a list and chooses the next step. */
void ki_reflector_drop_stale_list(ki_reflector *reflector);

/* Abandons a list with too many held-back items for one whose items are applied at once. */
void ki_reflector_drop_doubted_list(ki_reflector *reflector);

/* All items were passed on: reports the end, and continues from there. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_reflector_finish_list(ki_reflector *reflector);

/* A quorum read was older than what was received: the server has another history. */
void ki_reflector_forget_history(ki_reflector *reflector);

/* ---- reflector_give.c ------------------------------------------------------------------------------ */

/* Returns 0, or KI_ERR_NO_MEMORY when it was not accepted. */
KI_NODISCARD int ki_reflector_give(ki_reflector *reflector, const ki_change *change);

/* Whether the object of an event belongs to the collection; objects without a kind do, and those with
 * metadata only. */
int ki_reflector_is_of_kind(const ki_reflector *reflector, const ki_object *object);

/* Handles one that does not: it is reported, and a list is due. */
void ki_reflector_refuse_kind(ki_reflector *reflector, ki_object *object);

/* Reports that the version of an object is too long. */
void ki_reflector_fail_long_version(ki_error *err, const ki_object *object);

/* Handles an item of a list. Abandons the request when out of memory, like the next two. */
void ki_reflector_give_item(ki_reflector *reflector, ki_object *object);

/* An invalid item of a list. */
void ki_reflector_give_refused(ki_reflector *reflector, const ki_refused *refused);

/* Handles the object of an event. `version` may be unset. Returns 1 when it was passed on, 0 when it was
 * refused or the request abandoned. */
int ki_reflector_give_event(ki_reflector *reflector, ki_change_type type, ki_object *object,
                            const ki_resource_version *version);

/* ---- reflector_status.c ---------------------------------------------------------------------------- */

void ki_reflector_set_phase(ki_reflector *reflector, ki_phase phase);

/* A list has ended, or a bookmark has arrived. */
void ki_reflector_note_success(ki_reflector *reflector);

/* The server has answered a list or a watch successfully. */
void ki_reflector_settle(ki_reflector *reflector);

/* Clears the failure. */
void ki_reflector_clear_failure(ki_reflector *reflector);

/* Sets the reason of the status only, without calling error handlers. BACKING_OFF always has a reason. */
void ki_reflector_set_reason(ki_reflector *reflector, ki_reason reason, const char *message);

/* Sets the status and calls the error handler. */
void ki_reflector_report_failure(ki_reflector *reflector, const ki_failure *failure, uint64_t delay_ns);

/* Reports an error that is not a failure of the list or watch itself; the status does not change. */
void ki_reflector_tell_failure(ki_reflector *reflector, const ki_failure *failure, uint64_t delay_ns);

/* Counts and reports an invalid object; the status does not change. */
void ki_reflector_report_refused(ki_reflector *reflector, const ki_error *error, ki_str key);

/* Publishes the status for other threads. */
void ki_reflector_publish(ki_reflector *reflector);

#endif
