/* SPDX-License-Identifier: Apache-2.0 */
/* decode_options - one byte that chooses what a decoder keeps, and checks of everything that it returns.
 *
 *   From:     fuzz targets of the decoders
 *   To:       api/object/object_plan.h
 */
#ifndef KI_TESTS_SUPPORT_DECODE_DECODE_OPTIONS_H
#define KI_TESTS_SUPPORT_DECODE_DECODE_OPTIONS_H

#include "api/object/object_plan.h"
#include "support/decode/decode_run.h"

/* Bits 0 and 1: pods, pods, no resource, a custom resource without a known kind. Bits 2 and 3: everything
 * except managedFields, everything, a few paths kept, a few dropped. Bit 4: objects of at most 100 bytes. */
ki_object_plan *decode_options_plan(unsigned char options);

/* The input of a fuzz target: a byte of options, then the body. Every split must give the same steps, objects
 * and errors; every object must be valid, and readable and decodable again. Returns 0. */
int decode_options_fuzz(const uint8_t *data, size_t size, ki_body_form form);

#endif
