/* SPDX-License-Identifier: Apache-2.0 */
/* selector_error - reports the position of a mistake in a selector, in one line.
 *
 *   From:     api/selector/selector_parse.c, api/selector/field_selector.c
 *   To:       util/error.h
 */
#ifndef KI_API_SELECTOR_SELECTOR_ERROR_H
#define KI_API_SELECTOR_SELECTOR_ERROR_H

#include <kinformer/error.h>

/* Reports what was expected at byte `at` of the text and what was found, and marks the position with a
 * caret: expected '(', found '[' at character 8: "app in ^[a,b]". Returns KI_ERR_SELECTOR. */
int ki_selector_fail(ki_error *err, ki_str text, size_t at, const char *expected);

#endif
