/* SPDX-License-Identifier: Apache-2.0 */
/* fixtures - the recorded answers of tests/fixtures, in memory.
 *
 *   From:     tests of decoders
 *   To:       the directory in $KI_FIXTURES, else the one compiled in (KI_FIXTURES_DIR)
 *   Not here: decompression; the body of pods-list-gzip.http stays gzip.
 *
 * The memory is malloc's own and not the library's, so that a test counts the library's alone.
 */
#ifndef KI_TESTS_SUPPORT_FIXTURES_H
#define KI_TESTS_SUPPORT_FIXTURES_H

#include <kinformer/common.h>
#include <kinformer/error.h>

/* One file. A zeroed one holds nothing. */
typedef struct fixture {
    char *data; /* `len` bytes and a NUL */
    size_t len;
} fixture;

/* One HTTP answer; all text is borrowed from the file. */
typedef struct fixture_http {
    int status;
    ki_str headers; /* the lines between the status line and the empty line, CRLF after each */
    ki_str body;
} fixture_http;

/* Reads the file "pods-list.http". Returns 0, KI_ERR_NOT_FOUND, KI_ERR_NO_MEMORY or KI_ERR_SYSTEM. */
KI_NODISCARD int fixture_load(fixture *out, const char *name, ki_error *err);

/* Takes a zeroed one as well. */
void fixture_free(fixture *file);

/* Takes an answer apart. Returns 0, or KI_ERR_INVALID when it has no status line or no empty line. */
KI_NODISCARD int fixture_split_http(ki_str answer, fixture_http *out);

/* The value of a header, whatever case its name is written in; empty when there is none. */
ki_str fixture_http_header(const fixture_http *answer, const char *name);

#endif
