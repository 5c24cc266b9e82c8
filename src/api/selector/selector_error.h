/* SPDX-License-Identifier: Apache-2.0 */
/* selector_error - where a selector stops making sense, in one line.
 *
 *   From:     api/selector/selector_parse.c, api/selector/field_selector.c
 *   To:       util/error.h
 */
#ifndef KI_API_SELECTOR_SELECTOR_ERROR_H
#define KI_API_SELECTOR_SELECTOR_ERROR_H

#include <kinformer/error.h>

/* Says that `expected` should stand at byte `at` of the text, what stands there, and shows the place with a
 * caret before it: expected '(', found '[' at character 8: "app in ^[a,b]". Returns KI_ERR_SELECTOR. */
int ki_selector_fail(ki_error *err, ki_str text, size_t at, const char *expected);

#endif
