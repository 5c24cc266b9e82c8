/* SPDX-License-Identifier: Apache-2.0 */
/* scan_run - a text through the scanner in any split, and all that came of it.
 *
 *   From:     tests and fuzz targets of scanner, kernels, sink and projection
 *   To:       json/scan.h; the protocol is malloc's memory and not the library's
 *
 * Two runs over the same text must come to the same end, whatever kernel scans and however the bytes are
 * split.
 */
#ifndef KI_TESTS_SUPPORT_SCAN_RUN_H
#define KI_TESTS_SUPPORT_SCAN_RUN_H

#include "json/kernel.h"
#include "json/scan.h"
#include "util/random.h"

/* How the bytes arrive. Zeroed: all at once. */
typedef struct scan_split {
    size_t first;      /* the length of the first piece; 0: as the others */
    size_t others;     /* the length of the others; 0: all that is left */
    ki_random *random; /* decides all lengths, up to 150 bytes, instead */
} scan_split;

typedef struct scan_run {
    const ki_json_kernel *kernel;    /* NULL: the best one */
    const ki_projection *projection; /* NULL keeps everything */
    ki_json_limits limits;
    int is_lenient;
    ki_json_scanner scanner;
    ki_json_sink sink;
    int code;        /* 0: the text is a sequence of values; else the error */
    uint64_t offset; /* of the error, or the length of the text */
    size_t values;   /* complete ones */
    int refused;     /* of the first value that a lenient scan has refused; 0: none */
    uint64_t refused_offset;
    char *protocol; /* kept text, side text and captures of each complete value */
    size_t protocol_len;
    size_t protocol_cap;
    /* of the last complete value */
    size_t kept_at;
    size_t kept_len;
    size_t side_at;
    ki_capture captures[KI_PROJECTION_CAPTURES_MAX];
    int rewritable;
} scan_run;

/* Set the first four fields afterwards; read the others. */
void scan_run_init(scan_run *run);
void scan_run_fini(scan_run *run);

/* Scans the text as a sequence of values. Returns run->code. Ends the program when the scanner breaks
 * its own promises: takes no byte, takes too many, says more after an error. */
int scan_run_text(scan_run *run, ki_str text, scan_split split);

/* 1 when a lenient run has done with a text what it should, given what a strict one has: the first mistake is
 * the same, and the lenient one continues after those that leave brackets and strings alone. */
int scan_run_lenient_agrees(const scan_run *strict, const scan_run *lenient);

/* 1 when both came to the same end: verdict, offset, kept text, side text and captures. */
int scan_run_same(const scan_run *a, const scan_run *b);

/* What was kept of the last complete value, which there must be; the text of a capture of it, empty when
 * not seen. */
ki_str scan_run_kept(const scan_run *run);
ki_str scan_run_capture(const scan_run *run, size_t index);

#endif
