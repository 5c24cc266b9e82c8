/* SPDX-License-Identifier: Apache-2.0 */
#include "api/object/body_fail.h"

#include <stdbool.h>
#include <stdio.h>

#include "util/error.h"

int ki_body_fail_with(ki_body *body, int code, const char *message)
{
    ki_error why = {0};
    ki_error_set(&why, code, 0, "body: %s", message);
    return ki_body_fail(body, &why);
}

int ki_body_set_element(ki_body *body, const char *array, const ki_element *element, const ki_body *wanted)
{
    ki_error why = {0};
    char pointer[128];
    if (ki_body_check(wanted, &why) < 0)
        return ki_body_fail(body, &why);
    ki_json value = ki_body_json(wanted);
    bool is_there = ki_json_type_of(element->value) != KI_JSON_NONE;
    int is_equal = is_there ? ki_json_equal(element->value, value) : 0;
    if (is_equal < 0)
        return ki_body_fail_with(body, is_equal, ki_error_text(is_equal));
    if (is_equal)
        return 0;
    if (is_there)
        (void)snprintf(pointer, sizeof(pointer), "%s/%zu", array, element->index);
    else
        (void)snprintf(pointer, sizeof(pointer), "%s/-", array);
    int rc = ki_body_set(body, pointer, "json(%.*s)", KI_STR_ARGS(value.raw));
    return rc < 0 ? rc : 1;
}
