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

/* Ends the current request; `step` begins after `delay_ns`, and once changes are accepted. */
void ki_reflector_go_on(ki_reflector *reflector, ki_reflector_step step, uint64_t delay_ns);

/* Like ki_reflector_go_on(), after a failure, which it reports. */
void ki_reflector_retry(ki_reflector *reflector, const ki_failure *failure, ki_reflector_step step,
                        uint64_t delay_ns);

/* The delay that the server asked for, at most 600 s. */
uint64_t ki_reflector_asked_ns(const ki_failure *failure);

/* The next delay of the back-off, or what the server has asked for if that is longer. */
uint64_t ki_reflector_delay_ns(ki_reflector *reflector, const ki_failure *failure);

/* The same with another back-off than `backoff` of the reflector. */
uint64_t ki_reflector_delay_by_ns(ki_reflector *reflector, ki_backoff *backoff, const ki_failure *failure);

/* Abandons the current request, as if it had ended with this failure. */
void ki_reflector_abandon(ki_reflector *reflector, ki_reason reason, const char *message);
void ki_reflector_abandon_no_memory(ki_reflector *reflector);

/* Like ki_reflector_abandon(), for a version that could not be kept: out of memory, or too long,
 * which `too_long` reports. */
void ki_reflector_abandon_version(ki_reflector *reflector, int code, const char *too_long);

/* Fills in the options common to all requests, and calls the user's tweak. Call it last. */
void ki_reflector_finish_options(const ki_reflector *reflector, ki_list_options *options);

/* ---- reflector_due.c: timers and silence ------------------------------------------------------------ */

void ki_reflector_begin_silence(ki_reflector *reflector);
void ki_reflector_end_silence(ki_reflector *reflector, size_t bytes, uint64_t now);
/* Sets the timer to the time when something is due next. */
void ki_reflector_schedule(ki_reflector *reflector);
/* Does what is due: gives up a request, lists again, or begins a probe. */
void ki_reflector_check_due(ki_reflector *reflector);

/* ---- reflector_wire.c: JSON or protobuf -------------------------------------------------------------- */

/* The format to request: KI_WIRE_PROTOBUF means that both are accepted. */
ki_wire ki_reflector_wire(const ki_reflector *reflector);

/* A successful response has begun, or continues. */
void ki_reflector_wire_heard(ki_reflector *reflector, ki_answer *answer);

/* Call them before you handle a result, and the end of a response. Each returns 1 if nothing is left to do,
 * because the request is made again as JSON. */
int ki_reflector_wire_result(ki_reflector *reflector, ki_answer *answer, int result);
int ki_reflector_wire_over(ki_reflector *reflector, ki_answer *answer, const ki_failure *failure);

/* ---- one file for each state ----------------------------------------------------------------------- */

void ki_reflector_begin_list(ki_reflector *reflector, ki_reflector_step step);
void ki_reflector_list_result(ki_reflector *reflector, int result, ki_decoded *decoded);
void ki_reflector_list_over(ki_reflector *reflector, const ki_failure *failure);

void ki_reflector_begin_stream(ki_reflector *reflector);
void ki_reflector_stream_result(ki_reflector *reflector, int result, ki_decoded *event);
void ki_reflector_stream_over(ki_reflector *reflector, const ki_failure *failure);

/* A LIST has succeeded. */
void ki_reflector_note_listed(ki_reflector *reflector);

/* Whether the failure counts against this kind of request. It does not if the request was not sent, or if the
 * other kind would probably fail in the same way. */
int ki_reflector_is_of_this_kind(const ki_reflector *reflector, ki_reason reason);

/* Whether a list may be streamed now. */
int ki_reflector_may_stream(const ki_reflector *reflector);

void ki_reflector_begin_watch(ki_reflector *reflector);
void ki_reflector_watch_result(ki_reflector *reflector, int result, ki_decoded *event);
void ki_reflector_watch_over(ki_reflector *reflector, const ki_failure *failure);
void ki_reflector_watch_heard(ki_reflector *reflector, uint64_t now_ns);

/* Sends the request of a watch or of a streamed list. */
void ki_reflector_send_watch(ki_reflector *reflector, ki_list_options *options);

/* The failure reported by an ERROR event. */
ki_failure ki_reflector_error_event(const ki_status *status);

/* An event was invalid, but may have been a change. So a list is due, at most one per minute. */
void ki_reflector_want_relist(ki_reflector *reflector);

uint64_t ki_reflector_probe_due_ns(const ki_reflector *reflector);
void ki_reflector_begin_probe(ki_reflector *reflector);
void ki_reflector_clear_probe(ki_reflector *reflector);
void ki_reflector_probe_result(ki_reflector *reflector, int result, const ki_decoded *decoded);
void ki_reflector_probe_over(ki_reflector *reflector, const ki_failure *failure);

/* ---- reflector_poll.c: watches that bring nothing -------------------------------------------------- */

void ki_reflector_init_poll(ki_reflector *reflector);

/* Whether lists replace watches now, because too many watches in a row have brought nothing. */
int ki_reflector_is_polling(const ki_reflector *reflector);

/* The watch has brought an event or a bookmark. */
void ki_reflector_note_result(ki_reflector *reflector);

/* A watch has ended, with `failure` or normally. Call it before you choose the next step. */
void ki_reflector_count_watch(ki_reflector *reflector, const ki_failure *failure);

/* Chooses what follows the watch: another watch after the delay, or a list,
 * for which it may shorten the delay. */
ki_reflector_step ki_reflector_step_after_watch(ki_reflector *reflector, const ki_failure *failure,
                                                uint64_t *delay_ns);

/* An item of a list. */
void ki_reflector_note_item(ki_reflector *reflector, const ki_object *object);

/* A list has succeeded. Call it while `version` is still the version received before the list. */
void ki_reflector_finish_poll(ki_reflector *reflector);

/* Chooses what follows a failed list: a list, or the watch that it was to replace. */
ki_reflector_step ki_reflector_step_after_list(ki_reflector *reflector);

/* Sets the reason in the status while lists replace watches. `failure` is that of the last watch, or NULL. */
void ki_reflector_explain_poll(ki_reflector *reflector, const ki_failure *failure);

/* ---- reflector_list.c: what both kinds of lists share ---------------------------------------------- */

/* Begins a new attempt; reports a reset if one is due. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_reflector_begin_attempt(ki_reflector *reflector, int is_quorum);

/* The version that a list must have reached: the newest version received. A stop may have dropped some of the
 * changes up to it, but others may have been applied. Unset: nothing was received. */
const ki_resource_version *ki_reflector_list_floor(const ki_reflector *reflector);

/* Whether the next list, of either kind, requests the newest version. */
int ki_reflector_wants_newest(const ki_reflector *reflector);

/* Whether a list has failed because the server does not have the version, so that the newest version is
 * requested at once. Not if it has been requested before; then both kinds of lists are tried in turn. */
int ki_reflector_is_newest_due(const ki_reflector *reflector, ki_reason reason);

/* Whether the items of the current list are applied before its end. */
int ki_reflector_is_trusted(const ki_reflector *reflector);

/* Whether the list is older than ki_reflector_list_floor(). */
int ki_reflector_list_is_stale(const ki_reflector *reflector);

/* Abandons a stale list and chooses the next step. */
void ki_reflector_drop_stale_list(ki_reflector *reflector);

/* Abandons a list of which too many items are held back. The next list's items are applied at once. */
void ki_reflector_drop_doubted_list(ki_reflector *reflector);

/* All items of the list were passed on: reports its end, and makes its version the received version.
 * Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_reflector_finish_list(ki_reflector *reflector);

/* A read of the newest version was older than the received version, so the server has another history. */
void ki_reflector_forget_history(ki_reflector *reflector);

/* ---- reflector_give.c ------------------------------------------------------------------------------ */

/* Passes a change to on_change. Returns 0, or KI_ERR_NO_MEMORY if it was not accepted. */
KI_NODISCARD int ki_reflector_give(ki_reflector *reflector, const ki_change *change);

/* Whether the object of an event has the kind of the collection.
 * Objects without a kind pass, and those with metadata only. */
int ki_reflector_is_of_kind(const ki_reflector *reflector, const ki_object *object);

/* Handles an object of another kind: reports it, and a list is due. Takes `object`. */
void ki_reflector_refuse_kind(ki_reflector *reflector, ki_object *object);

/* Reports that the version of an object is too long. */
void ki_reflector_fail_long_version(ki_error *err, const ki_object *object);

/* Handles an item of a list. Takes `object`. When out of memory,
 * this and the next two functions abandon the request. */
void ki_reflector_give_item(ki_reflector *reflector, ki_object *object);

/* Handles an invalid item of a list. */
void ki_reflector_give_refused(ki_reflector *reflector, const ki_refused *refused);

/* Handles the object of an event. Takes `object`. `version` may be unset. Returns 1 if the object was passed
 * on, 0 if it was refused or the request abandoned. */
int ki_reflector_give_event(ki_reflector *reflector, ki_change_type type, ki_object *object,
                            const ki_resource_version *version);

/* ---- reflector_status.c ---------------------------------------------------------------------------- */

void ki_reflector_set_phase(ki_reflector *reflector, ki_phase phase);

/* An event or a bookmark was accepted, which arrived with the last bytes. */
void ki_reflector_note_success(ki_reflector *reflector);

/* The server has answered a list or a watch successfully. */
void ki_reflector_settle(ki_reflector *reflector);

/* Clears the reason in the status. */
void ki_reflector_clear_failure(ki_reflector *reflector);

/* Sets only the reason in the status, and calls no error handler.
 * The phase BACKING_OFF always has a reason. */
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
