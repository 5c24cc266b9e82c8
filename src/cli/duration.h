/* SPDX-License-Identifier: Apache-2.0 */
/* duration - lengths of time as Go writes them: "100ms", "2s", "1m30s".
 *
 *   From:     cli/flags.c, cli/watch_notes.c
 *   To:       nobody
 *   Locks:    none.
 */
#ifndef KI_CLI_DURATION_H
#define KI_CLI_DURATION_H

#include <kinformer/common.h>
#include <kinformer/error.h>

/* Reads a length of time; units are ns, us, ms, s, m and h, and "0" needs none. What is shorter than a
 * millisecond and not zero counts as one. Returns 0, or KI_ERR_INVALID with what is wrong. */
KI_NODISCARD int cli_duration_parse(const char *text, uint64_t *out_ms, ki_error *err);

enum { CLI_DURATION_BYTES = 40 };

/* Writes one for people: "0.3s", "59.9s", "1m30s", "2h5m0s". */
void cli_duration_format(uint64_t ms, char out[CLI_DURATION_BYTES]);

#endif
