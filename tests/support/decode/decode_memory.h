/* SPDX-License-Identifier: Apache-2.0 */
/* decode_memory - runs a decoder while each allocation fails once.
 *
 *   From:     tests of the decoders, WITH_MEMORY_CHECK()
 *   To:       support/decode/decode_run.h, support/failing_allocator.h
 */
#ifndef KI_TESTS_SUPPORT_DECODE_DECODE_MEMORY_H
#define KI_TESTS_SUPPORT_DECODE_DECODE_MEMORY_H

#include "support/decode/decode_run.h"

/* Everything that a decoder needs, from the plan on. */
typedef struct decode_subject {
    ki_body_form form;
    ki_str body;
    const ki_resource *resource;
    ki_object_options options;
    decode_split split;
} decode_subject;

/* A run that is out of memory ends with that error, and its results until then are the beginning of those of
 * the whole run. Nothing may be allocated before the call. */
void decode_fail_each_allocation(const decode_subject *s);

#endif
