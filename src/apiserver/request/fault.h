/* SPDX-License-Identifier: Apache-2.0 */
/* fault - which request is to go wrong, and how: the rules of <kinformer/apiserver.h> and of /debug/faults.
 *
 *   From:     ki_apiserver_fault(), /debug/faults, fault flags
 *   To:       the HTTP answer, which asks once per request
 *   Locks:    one mutex of its own
 *   Not here: doing it
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

/* What the rules are asked about. */
struct ki_as_question {
    ki_fault_on on;
    const struct ki_as_request *request;
    ki_str user_agent;
    ki_str remote; /* "127.0.0.1:40123" */
};

/* Asks for one request; the first rule that matches it, can change it and still has times left is used up
 * once, and its texts are not given out. False: there is no such rule. */
bool ki_as_faults_draw(struct ki_as_faults *faults, const struct ki_as_question *asked, ki_fault *out);

/* As /debug/faults reads and writes them: one rule, or a list of which all are added, or none when one of
 * them makes no sense. */
KI_NODISCARD int ki_as_faults_add_json(struct ki_as_faults *faults, const json_t *tree,
                                       struct ki_as_failure *failure);
json_t *ki_as_faults_json(struct ki_as_faults *faults);
json_t *ki_as_fault_json(const ki_fault *fault, uint64_t used);

#endif
