/* SPDX-License-Identifier: Apache-2.0 */
/* object_make - pods made from text, and checks of them. */
#ifndef KI_TESTS_SUPPORT_STORE_OBJECT_MAKE_H
#define KI_TESTS_SUPPORT_STORE_OBJECT_MAKE_H

#include <kinformer/object.h>

/* Makes an object; fails the test with the reason on an error. `options` may be NULL. */
ki_object *object_make(const char *json, const ki_object_options *options);

/* A text with a field of each type, and strings with and without escapes. */
extern const char object_of_all_types[];

void object_assert_text(ki_str text, const char *expected);

/* The first checks the text of an object; the second makes the object from `json`, checks and frees it. */
void object_assert_json(const ki_object *object, const char *expected);
void object_assert_kept(const char *json, const ki_object_options *options, const char *expected);

#endif
