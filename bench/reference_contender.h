/* SPDX-License-Identifier: Apache-2.0 */
/* reference_contender - makes a reference over a set of documents a row of a benchmark's table.
 *
 *   From:     reference.h, documents.h
 *   To:       bench.h
 */
#ifndef BENCH_REFERENCE_CONTENDER_H
#define BENCH_REFERENCE_CONTENDER_H

#include "bench.h"
#include "documents.h"
#include "reference.h"

/* The context of a row. */
struct reference_contender {
    const char *name;
    reference_cb read;
    const struct documents *documents;
    bool is_compared; /* reads the metadata, hence must come to the same checksum as the others */
};

/* The row: every document goes to the reference, which must find every object. Borrows `contender`. */
struct bench_contender reference_contender_row(struct reference_contender *contender);

/* Whether all that are compared read the same from `sample`; says on stderr who does not. The rows
 * cannot tell, as slow references work through fewer documents. */
bool reference_contenders_agree(const struct reference_contender *contenders, size_t count,
                                const struct documents *sample);

#endif
