/* SPDX-License-Identifier: Apache-2.0 */
/* decode_options - one byte that chooses what a decoder is to keep, and what must hold of all that it gives
 * out.
 *
 *   From:     fuzz targets of the decoders
 *   To:       api/object/object_plan.h
 */
#ifndef KI_TESTS_SUPPORT_DECODE_OPTIONS_H
#define KI_TESTS_SUPPORT_DECODE_OPTIONS_H

#include "api/object/object_plan.h"
#include "support/decode_run.h"

/* Bits 0 and 1: pods, pods, no resource, a custom one of which the kind is not known. Bits 2 and 3:
 * everything but managedFields, everything, a few paths kept, a few dropped.
 * Bit 4: objects of 100 bytes at the most. */
ki_object_plan *decode_options_plan(unsigned char options);

/* Ends the program unless both runs have the same log and objects,
 * and each object can be read and made again. */
void decode_options_check(const decode_run *a, const decode_run *b);

/* Runs a new decoder, with the plan of these options, over a body. */
typedef void (*decode_options_run_cb)(decode_run *run, unsigned char options, ki_str body,
                                      decode_split split);

/* The input of a fuzz target: a byte of options, then the body. Every split must come to the same steps,
 * objects and errors; every object given out is valid and can be read. Returns 0. */
int decode_options_fuzz(const uint8_t *data, size_t size, decode_options_run_cb decode);

#endif
