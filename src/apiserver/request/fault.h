/* SPDX-License-Identifier: Apache-2.0 */
/* fault - which requests fail, and how: the rules of <kinformer/apiserver.h> and of /debug/faults.
 *
 *   From:     apiserver/serve/: ki_apiserver_fault(), /debug/faults and fault flags set rules;
 *             apiserver/serve/exchange.c draws a fault once per request
 *   To:       apiserver/request/fault_reach.h, apiserver/request/fault_check.c,
 *             apiserver/request/fault_json.c
 *   Locks:    one mutex
 *   Not here: carrying out the fault
 */
#ifndef KI_APISERVER_REQUEST_FAULT_H
#define KI_APISERVER_REQUEST_FAULT_H

#include <jansson.h>
#include <kinformer/apiserver.h>
#include <stdbool.h>

#include "apiserver/kind/failure.h"
#include "apiserver/request/request.h"

struct ki_as_faults;

struct ki_as_faults *ki_as_faults_new(uint64_t seed);
void ki_as_faults_free(struct ki_as_faults *faults);
/* Strings are copied. */
KI_NODISCARD int ki_as_faults_add(struct ki_as_faults *faults, const ki_fault *fault, ki_error *err);
void ki_as_faults_clear(struct ki_as_faults *faults);

/* The request that rules are matched against. */
struct ki_as_question {
    ki_fault_on on;
    const struct ki_as_request *request;
    ki_str user_agent;
    ki_str remote; /* "127.0.0.1:40123" */
};

/* Finds the first rule that matches the request, can change its response and is not used up, and counts this
 * use. The texts of the rule are not copied to `out`. False if there is no such rule. */
bool ki_as_faults_draw(struct ki_as_faults *faults, const struct ki_as_question *asked, ki_fault *out);

/* Adds the rules of a request to /debug/faults: `tree` is one rule, or a list of rules.
 * If a rule is invalid, none is added. */
KI_NODISCARD int ki_as_faults_add_json(struct ki_as_faults *faults, const json_t *tree,
                                       struct ki_as_failure *failure);
json_t *ki_as_faults_json(struct ki_as_faults *faults);
json_t *ki_as_fault_json(const ki_fault *fault, uint64_t used);

#endif
