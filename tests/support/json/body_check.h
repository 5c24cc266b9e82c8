/* SPDX-License-Identifier: Apache-2.0 */
/* body_check - checks the text of a body.
 *
 *   From:     tests of code that builds bodies
 *   To:       <kinformer/body.h>
 */
#ifndef KI_TESTS_SUPPORT_JSON_BODY_CHECK_H
#define KI_TESTS_SUPPORT_JSON_BODY_CHECK_H

#include <kinformer/body.h>

/* Fails the test unless the body has no error and this text. */
void body_assert_text(const ki_body *body, const char *expected);

#endif
