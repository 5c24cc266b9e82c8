/* SPDX-License-Identifier: Apache-2.0 */
/* prometheus - the text exposition format, version 0.0.4.
 *
 *   From:     metrics/metrics.c (labels, once per child), metrics/metrics_write.c (families and children)
 *   To:       util/buf.h
 *   Locks:    the caller holds the mutex of the metrics around ki_prometheus_child().
 *   Not here: the list of families; HTTP.
 */
#ifndef KI_METRICS_PROMETHEUS_H
#define KI_METRICS_PROMETHEUS_H

#include "metrics/registry.h"
#include "util/buf.h"

/* Appends name="value",… for all labels of the metric. Values are escaped. Bytes that are not UTF-8 become
 * U+FFFD, because a reader would reject the whole text for one such byte. Returns 0, KI_ERR_TOO_LARGE or
 * KI_ERR_NO_MEMORY; the buffer's content is unspecified after a failure. */
KI_NODISCARD int ki_prometheus_labels(ki_buf *out, const ki_metric_desc *desc, const ki_str *values);

/* Append the HELP and TYPE lines of a family, and the lines of one child. They return the same codes as
 * ki_prometheus_labels(). */
KI_NODISCARD int ki_prometheus_head(ki_buf *out, const ki_metric_family *family);
KI_NODISCARD int ki_prometheus_child(ki_buf *out, ki_metric_child *child);

enum { KI_PROMETHEUS_NUMBER_BYTES = 32 };

/* Write `value` / 10^decimals exactly, and return the length. Below 0.0001 and from 1,000,000 on,
 * ki_prometheus_bound() uses an exponent, as other programs do for bucket bounds: "le" is compared as
 * text. */
size_t ki_prometheus_number(uint64_t value, unsigned decimals, char out[KI_PROMETHEUS_NUMBER_BYTES]);
size_t ki_prometheus_bound(uint64_t value, unsigned decimals, char out[KI_PROMETHEUS_NUMBER_BYTES]);

#endif
