/* SPDX-License-Identifier: Apache-2.0 */
/* fixtures - the recorded responses of tests/fixtures, in memory.
 *
 *   From:     tests of decoders
 *   To:       the directory in $KI_FIXTURES, else the one compiled in (KI_FIXTURES_DIR)
 *   Not here: decompression; the body of pods-list-gzip.http stays compressed.
 *
 * The memory is from malloc, so that tests count only the library's.
 */
#ifndef KI_TESTS_SUPPORT_DECODE_FIXTURES_H
#define KI_TESTS_SUPPORT_DECODE_FIXTURES_H

#include <kinformer/common.h>
#include <kinformer/error.h>

/* One file. A zeroed struct is empty. */
typedef struct fixture {
    char *data; /* `len` bytes and a NUL */
    size_t len;
} fixture;

/* One HTTP response; all text is borrowed from the file. */
typedef struct fixture_http {
    int status;
    ki_str headers; /* the lines between the status line and the empty line, each with its CRLF */
    ki_str body;
} fixture_http;

/* Reads a file such as "pods-list.http". Returns 0, KI_ERR_NOT_FOUND, KI_ERR_NO_MEMORY or KI_ERR_SYSTEM. */
KI_NODISCARD int fixture_load(fixture *out, const char *name, ki_error *err);

/* A zeroed struct is allowed. */
void fixture_free(fixture *file);

/* Splits a response into its parts. Returns 0, or KI_ERR_INVALID if it has no status line or no empty
 * line. */
KI_NODISCARD int fixture_split_http(ki_str answer, fixture_http *out);

/* The value of a header, whose name is not case-sensitive; empty if there is none. */
ki_str fixture_http_header(const fixture_http *answer, const char *name);

#endif
