/* SPDX-License-Identifier: Apache-2.0 */
/* fault - which request is to go wrong, and how: the rules of <kinformer/apiserver.h> and of /debug/faults.
 *
 *   From:     ki_apiserver_fault(), /debug/faults, fault flags
 *   To:       the HTTP answer, which asks once per request
 *   Locks:    one mutex of its own
 *   Not here: doing it
 */
#ifndef KI_APISERVER_FAULT_H
#define KI_APISERVER_FAULT_H

#include <jansson.h>
#include <kinformer/apiserver.h>
#include <stdbool.h>

#include "apiserver/failure.h"

struct ki_as_faults;

struct ki_as_faults *ki_as_faults_new(uint64_t seed);
void ki_as_faults_free(struct ki_as_faults *faults);
/* Strings are copied. */
KI_NODISCARD int ki_as_faults_add(struct ki_as_faults *faults, const ki_fault *fault, ki_error *err);
void ki_as_faults_clear(struct ki_as_faults *faults);

/* Asks for one request; the first rule that matches and still has times left is used up once. False: none. */
bool ki_as_faults_draw(struct ki_as_faults *faults, ki_fault_on on, ki_str path, ki_fault *out);

/* "one-byte" → KI_FAULT_ONE_BYTE, "list" → KI_FAULT_LIST; 0: there is none of that name. */
uint32_t ki_as_fault_action_of(ki_str name);
uint32_t ki_as_fault_on_of(ki_str name);

/* As /debug/faults reads and writes them. */
KI_NODISCARD int ki_as_faults_add_json(struct ki_as_faults *faults, const json_t *tree,
                                       struct ki_as_failure *failure);
json_t *ki_as_faults_json(struct ki_as_faults *faults);

#endif
