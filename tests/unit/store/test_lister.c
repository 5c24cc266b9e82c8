/* SPDX-License-Identifier: Apache-2.0 */
#include <inttypes.h>
#include <kinformer/lister.h>
#include <kinformer/resources.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/store/store_objects.h"
#include "support/unit.h"
#include "util/random.h"

enum { OBJECTS_MAX = 120 };

/* An object with the labels app and tier, and with tags for the index; app may contain an escape. */
static ki_object *labelled(const char *ns, const char *name, const char *app, const char *tags)
{
    char json[512];
    int n = snprintf(json, sizeof(json),
                     "{\"metadata\":{\"namespace\":\"%s\",\"name\":\"%s\",\"labels\":{\"tier\":\"front\","
                     "\"app\":\"%s\"},\"annotations\":{\"tags\":\"%s\"}}}",
                     ns, name, app, tags);
    assert_true(n > 0 && (size_t)n < sizeof(json));
    ki_object *object = ki_object_new(&KI_CORE_V1_PODS, (ki_str){json, (size_t)n}, NULL, NULL);
    assert_non_null(object);
    return object;
}

static ki_store *store_of_four(void)
{
    ki_store *store = ki_store_new(NULL, NULL);
    assert_non_null(store);
    assert_int_equal(ki_store_add_index(store, "tags", store_tags_index, NULL), 0);
    store_put(store, labelled("a", "one", "web", "x"));
    store_put(store, labelled("a", "two", "db", "x,y"));
    store_put(store, labelled("b", "one", "w\\u0065b", "y"));
    store_put(store, labelled("", "one", "node", "x"));
    return store;
}

static ki_selector *selector_of(const char *text)
{
    ki_selector *selector = ki_selector_parse(ki_str_of(text), NULL);
    assert_non_null(selector);
    return selector;
}

/* ---- lists and walks as text --------------------------------------------------------------------------- */

static int compare_keys(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

typedef struct keys {
    const char *texts[OBJECTS_MAX];
    size_t count;
} keys;

static int add_key(const ki_object *object, void *user)
{
    keys *k = user;
    assert_true(k->count < OBJECTS_MAX);
    k->texts[k->count++] = ki_object_key(object);
    return 0;
}

static void sort_keys(keys *k)
{
    if (k->count > 1)
        qsort(k->texts, k->count, sizeof(k->texts[0]), compare_keys);
}

static void assert_same_keys(keys *a, keys *b)
{
    sort_keys(a);
    sort_keys(b);
    assert_int_equal(a->count, b->count);
    for (size_t i = 0; i < a->count; i++)
        assert_string_equal(a->texts[i], b->texts[i]);
}

static void list_keys(ki_lister lister, const ki_selector *selector, keys *out_keys, ki_object_list *out_list)
{
    assert_int_equal(ki_lister_list(lister, selector, out_list), 0);
    for (size_t i = 0; i < out_list->count; i++)
        (void)add_key(out_list->objects[i], out_keys);
}

/* list and walk must give the same keys. `expected`: sorted, with a space after each key. */
static void assert_shows(ki_lister lister, const ki_selector *selector, const char *expected)
{
    keys listed = {0};
    keys walked = {0};
    ki_object_list list = {0};
    char text[256] = "";
    list_keys(lister, selector, &listed, &list);
    assert_int_equal(ki_lister_walk(lister, selector, add_key, &walked), 0);
    assert_same_keys(&listed, &walked);
    for (size_t i = 0; i < listed.count; i++) {
        strcat(text, listed.texts[i]);
        strcat(text, " ");
    }
    assert_string_equal(text, expected);
    ki_object_list_fini(&list);
}

/* ---- one object ---------------------------------------------------------------------------------------- */

static void get_finds_a_name_in_the_namespace(void **state)
{
    (void)state;
    ki_store *store = store_of_four();
    ki_lister a = ki_lister_of(store, KI_STR("a"));
    ki_object *object = ki_lister_get(a, KI_STR("one"));
    assert_string_equal(ki_object_key(object), "a/one");
    (void)ki_object_unref(object);
    assert_null(ki_lister_get(a, KI_STR("three")));
    assert_null(ki_lister_get(ki_lister_of(store, KI_STR("c")), KI_STR("one")));
    ki_store_free(store);
}

static void get_of_all_namespaces_accepts_a_key(void **state)
{
    (void)state;
    ki_store *store = store_of_four();
    ki_lister all = ki_lister_of(store, (ki_str){0});
    ki_object *pod = ki_lister_get(all, KI_STR("b/one"));
    ki_object *node = ki_lister_get(all, KI_STR("one"));
    assert_string_equal(ki_object_key(pod), "b/one");
    assert_string_equal(ki_object_key(node), "one");
    (void)ki_object_unref(pod);
    (void)ki_object_unref(node);
    assert_null(ki_lister_get(all, (ki_str){0}));
    ki_store_free(store);
}

static void get_never_leaves_its_namespace(void **state)
{
    (void)state;
    char longest[KI_KEY_BYTES + 8];
    ki_store *store = store_of_four();
    ki_lister a = ki_lister_of(store, KI_STR("a"));
    memset(longest, 'x', sizeof(longest));
    assert_null(ki_lister_get(a, KI_STR("a/one")));
    assert_null(ki_lister_get(a, KI_STR("../b/one")));
    assert_null(ki_lister_get(a, (ki_str){0}));
    assert_null(ki_lister_get(ki_lister_of(store, KI_STR("a/one")), (ki_str){0}));
    assert_null(ki_lister_get(a, (ki_str){longest, sizeof(longest)}));
    assert_null(ki_lister_get(ki_lister_of(NULL, KI_STR("a")), KI_STR("one")));
    ki_store_free(store);
}

static void peek_finds_objects_only_in_a_read_section(void **state)
{
    (void)state;
    ki_store *store = store_of_four();
    ki_lister a = ki_lister_of(store, KI_STR("a"));
    assert_null(ki_lister_peek(a, KI_STR("two")));
    ki_read_lock();
    const ki_object *object = ki_lister_peek(a, KI_STR("two"));
    assert_string_equal(ki_object_key(object), "a/two");
    ki_read_unlock();
    ki_store_free(store);
}

/* ---- several ------------------------------------------------------------------------------------------- */

static void without_a_selector_all_objects_are_shown(void **state)
{
    (void)state;
    ki_store *store = store_of_four();
    ki_lister all = ki_lister_of(store, (ki_str){0});
    assert_shows(all, NULL, "a/one a/two b/one one ");
    assert_shows(all, ki_selector_everything(), "a/one a/two b/one one ");
    assert_shows(all, ki_selector_nothing(), "");
    ki_store_free(store);
}

static void a_namespace_shows_its_own_objects(void **state)
{
    (void)state;
    ki_store *store = store_of_four();
    assert_shows(ki_lister_of(store, KI_STR("a")), NULL, "a/one a/two ");
    assert_shows(ki_lister_of(store, KI_STR("b")), NULL, "b/one ");
    assert_shows(ki_lister_of(store, KI_STR("c")), NULL, "");
    ki_store_free(store);
}

static void escaped_labels_are_matched(void **state)
{
    (void)state;
    ki_store *store = store_of_four();
    ki_selector *web = selector_of("app=web,tier");
    assert_shows(ki_lister_of(store, (ki_str){0}), web, "a/one b/one ");
    assert_shows(ki_lister_of(store, KI_STR("b")), web, "b/one ");
    ki_selector_free(web);
    ki_store_free(store);
}

static void an_index_narrows_a_lister(void **state)
{
    (void)state;
    ki_store *store = store_of_four();
    ki_selector *not_db = selector_of("app!=db");
    ki_lister all = ki_lister_of(store, (ki_str){0});
    ki_lister a = ki_lister_of(store, KI_STR("a"));
    assert_shows(ki_lister_index(all, "tags", KI_STR("x")), NULL, "a/one a/two one ");
    assert_shows(ki_lister_index(a, "tags", KI_STR("x")), NULL, "a/one a/two ");
    assert_shows(ki_lister_index(a, "tags", KI_STR("y")), NULL, "a/two ");
    assert_shows(ki_lister_index(a, "tags", KI_STR("x")), not_db, "a/one ");
    assert_shows(ki_lister_index(a, "tags", KI_STR("z")), NULL, "");
    ki_lister second = ki_lister_index(ki_lister_index(a, "tags", KI_STR("x")), "tags", KI_STR("y"));
    assert_shows(second, NULL, "a/two ");
    assert_shows(ki_lister_index(second, NULL, (ki_str){0}), NULL, "a/one a/two ");
    ki_selector_free(not_db);
    ki_store_free(store);
}

static int stop_at_first(const ki_object *object, void *user)
{
    (void)object;
    ++*(int *)user;
    return 42;
}

static void a_walk_ends_when_its_callback_says_so(void **state)
{
    (void)state;
    int calls = 0;
    ki_store *store = store_of_four();
    assert_int_equal(ki_lister_walk(ki_lister_of(store, KI_STR("a")), NULL, stop_at_first, &calls), 42);
    assert_int_equal(calls, 1);
    ki_store_free(store);
}

static void invalid_lists_are_refused(void **state)
{
    (void)state;
    ki_store *store = store_of_four();
    ki_object_list list = {.count = 7};
    keys k = {0};
    ki_lister all = ki_lister_of(store, (ki_str){0});
    ki_lister unknown = ki_lister_index(all, "ip", KI_STR("x"));
    assert_int_equal(ki_lister_list(ki_lister_of(NULL, KI_STR("a")), NULL, &list), KI_ERR_INVALID);
    assert_int_equal(ki_lister_list(all, NULL, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_lister_walk(ki_lister_of(NULL, KI_STR("a")), NULL, add_key, &k), KI_ERR_INVALID);
    assert_int_equal(ki_lister_walk(all, NULL, NULL, NULL), KI_ERR_INVALID);
    assert_int_equal(ki_lister_list(unknown, NULL, &list), KI_ERR_NOT_FOUND);
    assert_int_equal(ki_lister_walk(unknown, NULL, add_key, &k), KI_ERR_NOT_FOUND);
    ki_read_lock();
    assert_int_equal(ki_lister_list(all, NULL, &list), KI_ERR_WOULD_DEADLOCK);
    ki_read_unlock();
    assert_int_equal(list.count, 7);
    ki_store_free(store);
}

static void a_list_keeps_its_objects_when_the_store_drops_them(void **state)
{
    (void)state;
    ki_store *store = store_of_four();
    ki_object_list list = {0};
    assert_int_equal(ki_lister_list(ki_lister_of(store, KI_STR("b")), NULL, &list), 0);
    ki_store_free(store);
    assert_int_equal(list.count, 1);
    assert_string_equal(ki_object_key(list.objects[0]), "b/one");
    ki_object_list_fini(&list);
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static void when_out_of_memory_a_list_fails_or_is_complete(void **state)
{
    (void)state;
    ki_store *store = store_of_four();
    ki_selector *web = selector_of("app=web");
    ki_lister all = ki_lister_of(store, (ki_str){0});
    size_t failures = 0;
    int has_failed = 1;
    for (size_t n = 1; has_failed; n++) {
        ki_object_list list = {0};
        failing_allocator_fail_at(n);
        int rc = ki_lister_list(all, web, &list);
        has_failed = failing_allocator_has_failed();
        failing_allocator_fail_at(0);
        failures += rc == KI_ERR_NO_MEMORY;
        assert_true(rc == 0 || rc == KI_ERR_NO_MEMORY);
        assert_int_equal(list.count, rc == 0 ? 2 : 0);
        ki_object_list_fini(&list);
    }
    assert_int_equal(failures, 1);
    ki_selector_free(web);
    ki_store_free(store);
}

static void get_and_walk_allocate_nothing(void **state)
{
    (void)state;
    ki_store *store = store_of_four();
    ki_selector *web = selector_of("app=web");
    keys k = {0};
    failing_allocator_fail_at(0);
    assert_int_equal(ki_lister_walk(ki_lister_of(store, KI_STR("b")), web, add_key, &k), 0);
    (void)ki_object_unref(ki_lister_get(ki_lister_of(store, KI_STR("b")), KI_STR("one")));
    assert_int_equal(failing_allocator_attempts(), 0);
    assert_int_equal(k.count, 1);
    ki_selector_free(web);
    ki_store_free(store);
}

/* ---- against a scan ------------------------------------------------------------------------------------ */

typedef struct scan {
    ki_lister lister;
    const ki_selector *selector;
    keys found;
} scan;

static int scan_object(const ki_object *object, void *user)
{
    scan *s = user;
    if ((s->lister.ns.len == 0 || ki_str_equal(ki_object_namespace(object), s->lister.ns)) &&
        (s->lister.index == NULL || store_object_has_tag(object, s->lister.value)) &&
        (s->selector == NULL || ki_selector_matches(s->selector, object)))
        return add_key(object, &s->found);
    return 0;
}

static void assert_agrees(ki_store *store, ki_lister lister, const ki_selector *selector)
{
    scan s = {.lister = lister, .selector = selector};
    keys listed = {0};
    keys walked = {0};
    ki_object_list list = {0};
    assert_int_equal(ki_store_walk(store, scan_object, &s), 0);
    list_keys(lister, selector, &listed, &list);
    assert_int_equal(ki_lister_walk(lister, selector, add_key, &walked), 0);
    assert_same_keys(&listed, &s.found);
    assert_same_keys(&walked, &s.found);
    ki_object_list_fini(&list);
}

static ki_object *random_object(ki_random *random, size_t i)
{
    static const char *const spaces[] = {"", "a", "b", "c"};
    static const char *const apps[] = {"web", "w\\u0065b", "db", ""};
    static const char *const tags[] = {"", "x", "y", "x,y", "!x"};
    char name[32];
    snprintf(name, sizeof(name), "n%zu", i);
    return labelled(spaces[ki_random_below(random, 4)], name, apps[ki_random_below(random, 4)],
                    tags[ki_random_below(random, 5)]);
}

static void list_and_walk_agree_with_a_scan(void **state)
{
    (void)state;
    static const char *const spaces[] = {"", "a", "b", "c", "d"};
    static const char *const texts[] = {"", "app=web", "app!=web", "app in (db,web)", "!app", "app="};
    ki_random random;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        ki_random_init(&random, seed);
        ki_store *store = ki_store_new(NULL, NULL);
        assert_int_equal(ki_store_add_index(store, "tags", store_tags_index, NULL), 0);
        size_t count = ki_random_below(&random, OBJECTS_MAX);
        for (size_t i = 0; i < count; i++)
            store_put(store, random_object(&random, i));
        for (size_t i = 0; i < 60; i++) {
            ki_selector *selector = selector_of(texts[i % 6]);
            ki_lister lister = ki_lister_of(store, ki_str_of(spaces[i % 5]));
            if (i % 2 == 1)
                lister = ki_lister_index(lister, "tags", i % 3 == 0 ? KI_STR("x") : KI_STR("y"));
            assert_agrees(store, lister, i % 6 == 0 ? NULL : selector);
            ki_selector_free(selector);
        }
        ki_store_free(store);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(get_finds_a_name_in_the_namespace),
        WITH_MEMORY_CHECK(get_of_all_namespaces_accepts_a_key),
        WITH_MEMORY_CHECK(get_never_leaves_its_namespace),
        WITH_MEMORY_CHECK(peek_finds_objects_only_in_a_read_section),
        WITH_MEMORY_CHECK(without_a_selector_all_objects_are_shown),
        WITH_MEMORY_CHECK(a_namespace_shows_its_own_objects),
        WITH_MEMORY_CHECK(escaped_labels_are_matched),
        WITH_MEMORY_CHECK(an_index_narrows_a_lister),
        WITH_MEMORY_CHECK(a_walk_ends_when_its_callback_says_so),
        WITH_MEMORY_CHECK(invalid_lists_are_refused),
        WITH_MEMORY_CHECK(a_list_keeps_its_objects_when_the_store_drops_them),
        WITH_MEMORY_CHECK(when_out_of_memory_a_list_fails_or_is_complete),
        WITH_MEMORY_CHECK(get_and_walk_allocate_nothing),
        WITH_MEMORY_CHECK(list_and_walk_agree_with_a_scan),
    };
    return RUN_TESTS(tests);
}
