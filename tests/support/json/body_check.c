/* SPDX-License-Identifier: Apache-2.0 */
#include "support/json/body_check.h"

#include "support/unit.h"

void body_assert_text(const ki_body *body, const char *expected)
{
    ki_error err = {0};
    if (ki_body_check(body, &err) != 0)
        fail_msg("%s", err.message);
    ki_str text = ki_body_json(body).raw;
    if (!ki_str_equal(text, ki_str_of(expected)))
        fail_msg("%.*s instead of %s", KI_STR_ARGS(text), expected);
}
