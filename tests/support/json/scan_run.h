/* SPDX-License-Identifier: Apache-2.0 */
/* scan_run - scans a text in any split, and records the results.
 *
 *   From:     tests and fuzz targets of scanner, kernels, sink and projection
 *   To:       json/scan.h; the memory of the log is from malloc
 *
 * Two runs over the same text must have the same result, whichever kernel scans and however the bytes are
 * split.
 */
#ifndef KI_TESTS_SUPPORT_JSON_SCAN_RUN_H
#define KI_TESTS_SUPPORT_JSON_SCAN_RUN_H

#include "json/kernel.h"
#include "json/scan.h"
#include "util/random.h"

/* How the bytes arrive. Zeroed: all at once. */
typedef struct scan_split {
    size_t first;      /* length of the first piece; 0: as the others */
    size_t others;     /* length of the other pieces; 0: all that is left */
    ki_random *random; /* if set, chooses all lengths instead, up to 150 bytes */
} scan_split;

typedef struct scan_run {
    const ki_json_kernel *kernel;    /* NULL: the best one */
    const ki_projection *projection; /* NULL keeps everything */
    ki_json_limits limits;
    int is_lenient;
    ki_json_scanner scanner;
    ki_json_sink sink;
    int code;        /* 0: the text is a sequence of values; else the error */
    uint64_t offset; /* position of the error, or the length of the text */
    size_t values;   /* complete values */
    int refused;     /* the error of the first value that a lenient scan has refused; 0: none */
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

/* Set the first four fields afterwards; read the others after a run. */
void scan_run_init(scan_run *run);
void scan_run_fini(scan_run *run);

/* Scans the text as a sequence of values. Returns run->code. Ends the program if the scanner breaks
 * its contract: uses no byte, uses too many, or continues after an error. */
int scan_run_text(scan_run *run, ki_str text, scan_split split);

/* Returns 1 if a lenient run of a text has the right result, given that of a strict run: the first mistake is
 * the same, and the lenient run continues after mistakes that do not affect brackets and strings. */
int scan_run_lenient_agrees(const scan_run *strict, const scan_run *lenient);

/* Returns 1 if both have the same result: code, offset, kept text, side text and captures. */
int scan_run_same(const scan_run *a, const scan_run *b);

/* Scans the whole text into `first`; then into `other` with every kernel, whole and in pieces, also of random
 * lengths. Returns 1 if all have the same result. */
int scan_run_all_agree(scan_run *first, scan_run *other, ki_str text, uint64_t seed);

/* The kept text of the last complete value, which must exist;
 * the text of one of its captures, empty if not seen. */
ki_str scan_run_kept(const scan_run *run);
ki_str scan_run_capture(const scan_run *run, size_t index);

#endif
