/* SPDX-License-Identifier: Apache-2.0 */
/* reference_contender - turns a reference and a set of documents into a row of a benchmark's table.
 *
 *   From:     bench_decode.c
 *   To:       reference.h, documents.h, bench.h
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
    bool is_compared; /* it reads the metadata, so its checksum must be the same as that of the others */
};

/* The row: every document is passed to the reference, which must find every object. Borrows `contender`. */
struct bench_contender reference_contender_row(struct reference_contender *contender);

/* Whether all compared contenders read the same data from `sample`; prints those that do not to stderr. The
 * rows cannot show this, because slow references read fewer documents. */
bool reference_contenders_agree(const struct reference_contender *contenders, size_t count,
                                const struct documents *sample);

#endif
