/* SPDX-License-Identifier: Apache-2.0 */
/* decode_expect - compares the results of a decoder for a body with the expected log of
 * support/decode/decode_run.h.
 *
 *   From:     tests of the decoders
 *   To:       support/decode/decode_run.h
 */
#ifndef KI_TESTS_SUPPORT_DECODE_DECODE_EXPECT_H
#define KI_TESTS_SUPPORT_DECODE_DECODE_EXPECT_H

#include "support/decode/decode_run.h"

/* Makes a plan; fails the test on an error. */
ki_object_plan *decode_plan(const ki_resource *resource, const ki_object_options *options);

void decode_assert_log(const decode_run *run, const char *expected);

/* The body is decoded whole and byte by byte. */
void decode_assert_list(ki_object_plan *plan, const char *body, const char *expected);
void decode_assert_watch(ki_object_plan *plan, const char *body, const char *expected);

/* The same with a plan for pods. */
void decode_assert_pod_list(const char *body, const char *expected);
void decode_assert_pod_watch(const char *body, const char *expected);

/* A mistake in JSON, and the byte at which it is detected. */
typedef struct decode_mistake {
    const char *body;
    int code;
    int offset;
} decode_mistake;

void decode_assert_mistakes(ki_body_form form, const decode_mistake *mistakes, size_t count);

#endif
