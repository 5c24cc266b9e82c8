/* SPDX-License-Identifier: Apache-2.0 */
/* fault_reach - the name of each action, its fields, and the requests that it can change.
 *
 *   From:     apiserver/request/fault.c, apiserver/request/fault_json.c, apiserver/request/fault_check.c
 *   To:       the values returned
 *   Locks:    none
 *   Not here: which rule is used
 *
 * A rule matches only requests that it can change. Otherwise it could be used up without an effect, or hide a
 * later rule, and a test would pass although the fault never happened.
 */
#ifndef KI_APISERVER_REQUEST_FAULT_REACH_H
#define KI_APISERVER_REQUEST_FAULT_REACH_H

#include <kinformer/apiserver.h>
#include <stdbool.h>

#include "apiserver/request/request.h"

enum { KI_AS_FAULT_FIELDS = 8, KI_AS_FAULT_KINDS = 6, KI_AS_FAULT_METHODS = 5 };

/* A numeric field of a rule. */
struct ki_as_fault_field {
    const char *name; /* in JSON */
    uint32_t actions; /* the actions that use the field, as a mask of 1 << ki_fault_action */
    uint32_t bytes;   /* its size in ki_fault, 4 or 8 */
    size_t offset;
    uint64_t max;
};

extern const struct ki_as_fault_field ki_as_fault_fields[KI_AS_FAULT_FIELDS];

uint64_t ki_as_fault_number(const ki_fault *fault, const struct ki_as_fault_field *field);
bool ki_as_fault_uses(uint32_t action, const struct ki_as_fault_field *field);

/* The name of a bit of ki_fault_on, counted from 0: "list" for 0. */
const char *ki_as_fault_on_name(uint32_t bit);
/* The name of a bit of ki_fault_method: "GET" for 0. */
const char *ki_as_fault_method_name(uint32_t bit);
/* The action with this name, or the bit as a mask; 0 if the name is unknown. */
uint32_t ki_as_fault_action_of(ki_str name);
uint32_t ki_as_fault_on_of(ki_str name);
uint32_t ki_as_fault_method_of(ki_str name);

/* The kinds of requests that the rule matches and can change, as a mask. The action must be valid. */
uint32_t ki_as_fault_reach(const ki_fault *fault);
/* The kinds of requests, as a mask, that each part of a rule allows.
 * Without methods or a subresource, all are allowed. */
uint32_t ki_as_fault_reach_of_action(const ki_fault *fault);
uint32_t ki_as_fault_reach_of_methods(uint32_t methods);
uint32_t ki_as_fault_reach_of_subresource(const char *subresource);
bool ki_as_fault_counts_events_only(const ki_fault *fault);

/* Whether the method and subresource of the request match the rule. */
bool ki_as_fault_is_for(const ki_fault *fault, const struct ki_as_request *request);

/* Whether the rule can change this request, whose kind is `on`. */
bool ki_as_fault_can_change(const ki_fault *fault, ki_fault_on on, const struct ki_as_request *request);

#endif
