/* SPDX-License-Identifier: Apache-2.0 */
/* duration - durations in Go's notation: "100ms", "2s", "1m30s".
 *
 *   From:     cli/flags.c, cli/watch_notes.c, cli/cmd_watch.c, cli/fault_flag.c
 *   To:       nothing
 *   Locks:    none.
 */
#ifndef KI_CLI_DURATION_H
#define KI_CLI_DURATION_H

#include <kinformer/common.h>
#include <kinformer/error.h>

/* Parses a duration; units are ns, us, ms, s, m and h, and "0" needs none. A nonzero duration below a
 * millisecond counts as a millisecond. Returns 0, or KI_ERR_INVALID with a message. */
KI_NODISCARD int cli_duration_parse(const char *text, uint64_t *out_ms, ki_error *err);

enum { CLI_DURATION_BYTES = 40 };

/* Formats a duration for people: "0.3s", "59.9s", "1m30s", "2h5m0s". */
void cli_duration_format(uint64_t ms, char out[CLI_DURATION_BYTES]);

#endif
