/* SPDX-License-Identifier: Apache-2.0 */
/* decode_options - one byte that chooses what a decoder is to keep, and what must hold of all that it gives out.
 *
 *   From:     fuzz targets of the decoders
 *   To:       api/object_plan.h
 */
#ifndef KI_TESTS_SUPPORT_DECODE_OPTIONS_H
#define KI_TESTS_SUPPORT_DECODE_OPTIONS_H

#include "api/object_plan.h"
#include "support/decode_run.h"

/* Bits 0 and 1: pods, pods, no resource, a custom one of which the kind is not known. Bits 2 and 3: everything but
 * managedFields, everything, a few paths kept, a few dropped. Bit 4: objects of 100 bytes at the most. */
ki_object_plan *decode_options_plan(unsigned char options);

/* Ends the program unless both runs have the same log and objects, and each object can be read and made again. */
void decode_options_check(const decode_run *a, const decode_run *b);

#endif
