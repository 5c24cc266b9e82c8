/* SPDX-License-Identifier: Apache-2.0 */
/* reflector_parts - what the files of the reflector know of each other.
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

/* Ends what is under way; `step` begins after `delay_ns`, and once there is room. */
void ki_reflector_go_on(ki_reflector *reflector, ki_reflector_step step, uint64_t delay_ns);

/* The same after a failure, which is reported. */
void ki_reflector_retry(ki_reflector *reflector, const ki_failure *failure, ki_reflector_step step,
                        uint64_t delay_ns);

/* How long the server wants us to wait, at the most. */
uint64_t ki_reflector_asked_ns(const ki_failure *failure);

/* The next delay of the back-off, or what the server has asked for if that is longer. */
uint64_t ki_reflector_delay_ns(ki_reflector *reflector, const ki_failure *failure);

/* The same by another back-off than that of the attempts. */
uint64_t ki_reflector_delay_by_ns(ki_reflector *reflector, ki_backoff *backoff, const ki_failure *failure);

/* Gives up the request that is under way, as if it had ended so. */
void ki_reflector_give_up(ki_reflector *reflector, ki_reason reason, const char *message);

/* The same when a version could not be kept: for lack of memory, or since it is too long. */
void ki_reflector_give_up_version(ki_reflector *reflector, int code, const char *too_long);

/* Fills in what all requests have in common, and lets the user change it: call last. */
void ki_reflector_finish_options(const ki_reflector *reflector, ki_list_options *options);

/* ---- one file for each state ----------------------------------------------------------------------- */

void ki_reflector_begin_list(ki_reflector *reflector, ki_reflector_step step);
void ki_reflector_list_step(ki_reflector *reflector, int step);
void ki_reflector_list_over(ki_reflector *reflector, const ki_failure *failure);

void ki_reflector_begin_stream(ki_reflector *reflector);
void ki_reflector_stream_step(ki_reflector *reflector, int step);
void ki_reflector_stream_over(ki_reflector *reflector, const ki_failure *failure);

/* A LIST has ended well. */
void ki_reflector_note_listed(ki_reflector *reflector);

/* Whether a list may be streamed now. */
int ki_reflector_may_stream(const ki_reflector *reflector);

void ki_reflector_begin_watch(ki_reflector *reflector);
void ki_reflector_watch_step(ki_reflector *reflector, int step);
void ki_reflector_watch_over(ki_reflector *reflector, const ki_failure *failure);
void ki_reflector_watch_heard(ki_reflector *reflector);

/* What the two kinds of watches share: sends the request. */
void ki_reflector_send_watch(ki_reflector *reflector, ki_list_options *options);

/* The failure that an ERROR event tells of. */
ki_failure ki_reflector_error_event(const ki_watch_decoder *decoder);

/* An event that could not be used and may have meant something: a list is due, one a minute at the most. */
void ki_reflector_want_relist(ki_reflector *reflector);

uint64_t ki_reflector_probe_due_ns(const ki_reflector *reflector);
void ki_reflector_begin_probe(ki_reflector *reflector);
void ki_reflector_clear_probe(ki_reflector *reflector);
void ki_reflector_probe_step(ki_reflector *reflector, int step);
void ki_reflector_probe_over(ki_reflector *reflector, const ki_failure *failure);

/* ---- reflector_poll.c: watches that bring nothing -------------------------------------------------- */

void ki_reflector_init_poll(ki_reflector *reflector);

/* Whether so many watches have brought nothing that lists are made in their stead. */
int ki_reflector_is_polling(const ki_reflector *reflector);

/* The watch has brought an event or a bookmark. */
void ki_reflector_note_fruit(ki_reflector *reflector);

/* A watch has ended, with `failure` or well: before it is said what comes next. */
void ki_reflector_count_watch(ki_reflector *reflector, const ki_failure *failure);

/* What follows the watch: another one after the delay, or a list, which may be due before that. */
ki_reflector_step ki_reflector_step_after_watch(ki_reflector *reflector, const ki_failure *failure,
                                                uint64_t *delay_ns);

/* An item of a list. */
void ki_reflector_note_item(ki_reflector *reflector, const ki_object *object);

/* A list has ended well; `version` is that of before. */
void ki_reflector_finish_poll(ki_reflector *reflector);

/* What follows a list that has failed: a list, or the watch whose place it was to take. */
ki_reflector_step ki_reflector_step_after_list(ki_reflector *reflector);

/* The reason for the status while it polls; `failure` of the last watch, or NULL. */
void ki_reflector_explain_poll(ki_reflector *reflector, const ki_failure *failure);

/* ---- reflector_list.c: what both kinds of lists share ---------------------------------------------- */

/* A new number; tells of a reset if one is owed. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_reflector_begin_attempt(ki_reflector *reflector, int is_quorum);

/* Whether the list is older than what was received. */
int ki_reflector_list_is_stale(const ki_reflector *reflector);

/* Gives up such a list; what comes next is known then. */
void ki_reflector_drop_stale_list(ki_reflector *reflector);

/* Gives up a list that too much is held back of for one that is believed from its beginning. */
void ki_reflector_drop_doubted_list(ki_reflector *reflector);

/* All items were given: tells so, and goes on from there. Returns 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_reflector_finish_list(ki_reflector *reflector);

/* A quorum read was older than what was received: nothing of that is true any more. */
void ki_reflector_forget_history(ki_reflector *reflector);

/* ---- reflector_give.c ------------------------------------------------------------------------------ */

/* Returns 0, or KI_ERR_NO_MEMORY when it was not taken. */
KI_NODISCARD int ki_reflector_give(ki_reflector *reflector, const ki_change *change);

/* Whether the object of an event is one of the collection; an object that does not say is, and one whose
 * metadata alone was sent. */
int ki_reflector_is_of_kind(const ki_reflector *reflector, const ki_object *object);

/* Takes an object that is not: it is told of, and a list is due. */
void ki_reflector_refuse_kind(ki_reflector *reflector, ki_object *object);

/* That the version of an object is too long. */
void ki_reflector_fail_long_version(ki_error *err, const ki_object *object);

/* Takes the object of a list. Gives up the request when memory is out, as the next two. */
void ki_reflector_give_item(ki_reflector *reflector, ki_object *object);

/* An item of a list that cannot be used. */
void ki_reflector_give_refused(ki_reflector *reflector, const ki_refused *refused);

/* Takes the object of an event. `version` may be unset. Returns 1 when it was given, 0 when it was refused
 * or the request given up. */
int ki_reflector_give_event(ki_reflector *reflector, ki_change_type type, ki_object *object,
                            const ki_resource_version *version);

/* ---- reflector_status.c ---------------------------------------------------------------------------- */

void ki_reflector_set_phase(ki_reflector *reflector, ki_phase phase);

/* A list has ended, or a bookmark has come. */
void ki_reflector_note_success(ki_reflector *reflector);

/* A list or a watch was answered as it should be. */
void ki_reflector_settle(ki_reflector *reflector);

/* Nothing is wrong any more. */
void ki_reflector_clear_failure(ki_reflector *reflector);

/* Why it is as it is, for the status alone: nobody else is told. BACKING_OFF has always a reason. */
void ki_reflector_set_reason(ki_reflector *reflector, ki_reason reason, const char *message);

/* Tells the status and whoever listens. */
void ki_reflector_report_failure(ki_reflector *reflector, const ki_failure *failure, uint64_t delay_ns);

/* Tells whoever listens of what is no failure of the list or watch itself; the status is that of before. */
void ki_reflector_tell_failure(ki_reflector *reflector, const ki_failure *failure, uint64_t delay_ns);

/* Counts and tells of an object that cannot be used; the status is that of before. */
void ki_reflector_report_refused(ki_reflector *reflector, const ki_error *error, ki_str key);

/* Shows other threads how it is. */
void ki_reflector_publish(ki_reflector *reflector);

#endif
