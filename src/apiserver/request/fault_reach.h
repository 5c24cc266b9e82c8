/* SPDX-License-Identifier: Apache-2.0 */
/* fault_reach - what an action is about: its name, its fields, and the requests that it can change.
 *
 *   From:     apiserver/request/fault.c, apiserver/request/fault_json.c, ki_apiserver_fault_check()
 *   To:       plain answers
 *   Locks:    none
 *   Not here: which rule is taken
 *
 * A rule that cannot change a request does not match it: otherwise it would be used up, or hide a later one,
 * and a test that waits for the fault would pass without it.
 */
#ifndef KI_APISERVER_REQUEST_FAULT_REACH_H
#define KI_APISERVER_REQUEST_FAULT_REACH_H

#include <kinformer/apiserver.h>
#include <stdbool.h>

#include "apiserver/request/request.h"

enum { KI_AS_FAULT_FIELDS = 8, KI_AS_FAULT_KINDS = 6, KI_AS_FAULT_METHODS = 5 };

/* A number of a rule. */
struct ki_as_fault_field {
    const char *name; /* as JSON has it */
    uint32_t actions; /* that use it; a mask of 1 << ki_fault_action */
    uint32_t bytes;   /* of its place in ki_fault: 4 or 8 */
    size_t offset;
    uint64_t max;
};

extern const struct ki_as_fault_field ki_as_fault_fields[KI_AS_FAULT_FIELDS];

uint64_t ki_as_fault_number(const ki_fault *fault, const struct ki_as_fault_field *field);
bool ki_as_fault_uses(uint32_t action, const struct ki_as_fault_field *field);

/* "list" for the first bit of ki_fault_on, which is number 0. */
const char *ki_as_fault_on_name(uint32_t bit);
/* "GET" for the first bit of ki_fault_method. */
const char *ki_as_fault_method_name(uint32_t bit);
/* The other way round; 0: there is none of that name. */
uint32_t ki_as_fault_action_of(ki_str name);
uint32_t ki_as_fault_on_of(ki_str name);
uint32_t ki_as_fault_method_of(ki_str name);

/* The kinds of requests that it can be for and that it can change, a mask. The action is valid. */
uint32_t ki_as_fault_reach(const ki_fault *fault);
/* What each part of a rule leaves of them; without methods, or a subresource, all. */
uint32_t ki_as_fault_reach_of_action(const ki_fault *fault);
uint32_t ki_as_fault_reach_of_methods(uint32_t methods);
uint32_t ki_as_fault_reach_of_subresource(const char *subresource);
bool ki_as_fault_counts_events_only(const ki_fault *fault);

/* Whether method and subresource are those of the rule. */
bool ki_as_fault_is_for(const ki_fault *fault, const struct ki_as_request *request);

/* Whether it can change this request, which is of the kind `on`. */
bool ki_as_fault_can_change(const ki_fault *fault, ki_fault_on on, const struct ki_as_request *request);

#endif
