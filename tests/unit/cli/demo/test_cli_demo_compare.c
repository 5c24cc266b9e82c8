/* SPDX-License-Identifier: Apache-2.0 */
/* Whether two lists contain the same objects, and the message if they do not. */
#include <kinformer/resources.h>
#include <stdio.h>
#include <string.h>

#include "cli/demo/demo_compare.h"
#include "support/text_log.h"
#include "support/unit.h"

enum { OBJECTS_MAX = 8 };

static text_log said;

static void say(const char *line, void *user)
{
    (void)user;
    text_log_add(&said, "%s\n", line);
}

#define EXPECT_SAID(text) text_log_expect(&said, text, __FILE__, __LINE__)

typedef struct side {
    ki_object *objects[OBJECTS_MAX];
    ki_object_list list;
} side;

/* "b@7 a@5": names with versions. */
static void side_init(side *s, const char *words)
{
    *s = (side){.list = {.objects = s->objects}};
    while (*words != 0) {
        char name = words[0];
        char json[128];
        ki_error err = {0};
        snprintf(json, sizeof(json),
                 "{\"metadata\":{\"namespace\":\"shop\",\"name\":\"%c\",\"resourceVersion\":\"%c\"}}", name,
                 words[2]);
        ki_object *object = ki_object_new(&KI_CORE_V1_PODS, ki_str_of(json), NULL, &err);
        assert_non_null(object);
        s->objects[s->list.count++] = object;
        words += words[3] == ' ' ? 4 : 3;
    }
}

static size_t compare(const char *cached, const char *served)
{
    side ours;
    side theirs;
    side_init(&ours, cached);
    side_init(&theirs, served);
    size_t different = cli_demo_compare_lists(&ours.list, &theirs.list, say, NULL);
    for (size_t i = 0; i < OBJECTS_MAX; i++) {
        ki_object_unref(ours.objects[i]);
        ki_object_unref(theirs.objects[i]);
    }
    return different;
}

static void equal_lists_are_equal_in_any_order(void **state)
{
    (void)state;
    assert_int_equal(compare("", ""), 0);
    assert_int_equal(compare("a@1", "a@1"), 0);
    assert_int_equal(compare("c@3 a@1 b@2", "b@2 c@3 a@1"), 0);
    EXPECT_SAID("");
}

static void objects_missing_on_one_side_are_reported(void **state)
{
    (void)state;
    assert_int_equal(compare("a@1 b@2 c@3", "b@2"), 2);
    EXPECT_SAID("shop/a: the cache has 1, the server has nothing\n"
                "shop/c: the cache has 3, the server has nothing\n");
    assert_int_equal(compare("b@2", "a@1 b@2 c@3"), 2);
    EXPECT_SAID("shop/a: the cache has nothing, the server has 1\n"
                "shop/c: the cache has nothing, the server has 3\n");
    assert_int_equal(compare("", "a@1"), 1);
    EXPECT_SAID("shop/a: the cache has nothing, the server has 1\n");
}

static void another_version_is_reported(void **state)
{
    (void)state;
    assert_int_equal(compare("a@1 b@2", "a@1 b@3"), 1);
    EXPECT_SAID("shop/b: the cache has 2, the server has 3\n");
}

static void a_duplicate_object_is_noticed(void **state)
{
    (void)state;
    assert_int_equal(compare("a@1 a@1", "a@1"), 1);
    EXPECT_SAID("shop/a: the cache has 1, the server has nothing\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(equal_lists_are_equal_in_any_order),
        cmocka_unit_test(objects_missing_on_one_side_are_reported),
        cmocka_unit_test(another_version_is_reported),
        cmocka_unit_test(a_duplicate_object_is_noticed),
    };
    return RUN_TESTS(tests);
}
