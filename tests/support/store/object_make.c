/* SPDX-License-Identifier: Apache-2.0 */
#include "support/store/object_make.h"

#include <kinformer/error.h>
#include <kinformer/json.h>
#include <kinformer/resources.h>

#include "support/unit.h"

const char object_of_all_types[] =
    "{\"metadata\":{\"name\":\"a\",\"annotations\":{\"quote\":\"\\\"x\\\"\",\"line\":\"a\\nb\",\"plain\":"
    "\"p\",\"less\":"
    "\"a\\u003cb\"}},\"spec\":{\"replicas\":3,\"ratio\":0.25,\"paused\":true,\"host\":\"\",\"list\":[\"x\","
    "\"\\\\\"],"
    "\"big\":9007199254740993,\"huge\":1e99,\"nothing\":null,\"a/b\":{\"~\":\"t\"}}}";

ki_object *object_make(const char *json, const ki_object_options *options)
{
    ki_error err = {0};
    ki_object *object = ki_object_new(&KI_CORE_V1_PODS, ki_str_of(json), options, &err);
    if (object == NULL)
        fail_msg("%s: %s", json, err.message);
    return object;
}

void object_assert_text(ki_str text, const char *expected)
{
    if (!ki_str_equal(text, ki_str_of(expected)))
        fail_msg("\"%.*s\" instead of \"%s\"", KI_STR_ARGS(text), expected);
}

void object_assert_json(const ki_object *object, const char *expected)
{
    object_assert_text(ki_object_json(object), expected);
}

void object_assert_kept(const char *json, const ki_object_options *options, const char *expected)
{
    ki_object *object = object_make(json, options);
    object_assert_json(object, expected);
    assert_int_equal(ki_json_validate(ki_object_json(object), NULL), 0);
    ki_object_unref(object);
}
