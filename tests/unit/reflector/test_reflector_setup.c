/* SPDX-License-Identifier: Apache-2.0 */
#include "reflector/reflector_setup.h"

#include <kinformer/resources.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/reflector/silent_source.h"
#include "support/unit.h"

static int transform(const ki_object **object, void *user)
{
    (void)object;
    (void)user;
    return 0;
}

static void tweak(ki_list_options *options, void *user)
{
    (void)options;
    (void)user;
}

static void init(ki_reflector_setup *setup, const ki_informer_options *options)
{
    ki_error err = {0};
    assert_int_equal(ki_reflector_setup_init(setup, &KI_CORE_V1_PODS, options, &err), 0);
}

/* ---- copies ------------------------------------------------------------------------------------------- */

static void without_options_strings_are_empty_and_the_rest_is_zero(void **state)
{
    (void)state;
    ki_reflector_setup setup;
    init(&setup, NULL);
    assert_string_equal(setup.options.ns, "");
    assert_string_equal(setup.options.label_selector, "");
    assert_string_equal(setup.options.field_selector, "");
    assert_null(setup.options.name);
    assert_null(setup.options.keep);
    assert_null(setup.options.drop);
    assert_null(setup.options.list_watch);
    assert_int_equal(setup.options.resync_ms, 0);
    ki_reflector_setup_fini(&setup);
    assert_null(setup.memory);
    ki_reflector_setup_fini(&setup);
}

static void strings_are_copied(void **state)
{
    (void)state;
    char ns[] = "shop";
    char label[] = "app=web";
    char field[] = "spec.nodeName=n1";
    char name[] = "web";
    ki_reflector_setup setup;
    init(&setup,
         &(ki_informer_options){.ns = ns, .label_selector = label, .field_selector = field, .name = name});
    memset(ns, 'x', 4);
    memset(label, 'x', 7);
    memset(field, 'x', 16);
    memset(name, 'x', 3);
    assert_string_equal(setup.options.ns, "shop");
    assert_string_equal(setup.options.label_selector, "app=web");
    assert_string_equal(setup.options.field_selector, "spec.nodeName=n1");
    assert_string_equal(setup.options.name, "web");
    ki_reflector_setup_fini(&setup);
}

static void paths_are_copied_with_their_terminator(void **state)
{
    (void)state;
    char spec[] = "/spec";
    const char *keep[] = {spec, "/status/phase", NULL};
    const char *drop[] = {"/spec/a", NULL};
    const char *nothing[] = {NULL};
    ki_reflector_setup setup;
    init(&setup, &(ki_informer_options){.keep = keep, .drop = drop});
    memset(spec, 'x', 5);
    keep[1] = drop[0] = NULL;
    assert_string_equal(setup.options.keep[0], "/spec");
    assert_string_equal(setup.options.keep[1], "/status/phase");
    assert_null(setup.options.keep[2]);
    assert_string_equal(setup.options.drop[0], "/spec/a");
    assert_null(setup.options.drop[1]);
    ki_reflector_setup_fini(&setup);
    init(&setup, &(ki_informer_options){.keep = nothing, .drop = nothing});
    assert_null(setup.options.keep[0]);
    assert_null(setup.options.drop[0]);
    ki_reflector_setup_fini(&setup);
}

static void the_source_is_copied(void **state)
{
    (void)state;
    ki_list_watch mine = silent_source;
    ki_reflector_setup setup;
    mine.user = &mine;
    init(&setup, &(ki_informer_options){.list_watch = &mine});
    memset(&mine, 0xa5, sizeof(mine));
    assert_ptr_equal(setup.options.list_watch->begin, silent_begin);
    assert_ptr_equal(setup.options.list_watch->user, &mine);
    ki_reflector_setup_fini(&setup);
}

static void the_copy_of_a_copy_is_equal(void **state)
{
    (void)state;
    static const char *const keep[] = {"/spec", NULL};
    ki_reflector_setup first;
    ki_reflector_setup second;
    init(&first, &(ki_informer_options){.ns = "shop",
                                        .keep = keep,
                                        .name = "web",
                                        .resync_ms = 5000,
                                        .transform = transform,
                                        .list_watch = &silent_source});
    init(&second, &first.options);
    assert_true(ki_reflector_setup_equal(&first, &second));
    ki_reflector_setup_fini(&first);
    assert_string_equal(second.options.keep[0], "/spec");
    assert_int_equal(second.options.resync_ms, 5000);
    ki_reflector_setup_fini(&second);
}

/* ---- invalid options ---------------------------------------------------------------------------------- */

static void expect_refused(const ki_informer_options *options, const char *what)
{
    ki_error err = {0};
    ki_reflector_setup setup;
    memset(&setup, 0x5a, sizeof(setup));
    ki_reflector_setup before = setup;
    assert_int_equal(ki_reflector_setup_init(&setup, &KI_CORE_V1_PODS, options, &err), KI_ERR_INVALID);
    assert_int_equal(err.code, KI_ERR_INVALID);
    assert_ptr_equal(strstr(err.message, "pods: "), err.message);
    assert_non_null(strstr(err.message, what));
    assert_memory_equal(&setup, &before, sizeof(setup));
}

/* The options of a factory are for any resource; the resource of an informer may be invalid. */
static void without_a_resource_an_error_names_the_informer(void **state)
{
    (void)state;
    static const ki_resource nothing = {0};
    const ki_resource *resources[] = {NULL, &nothing};
    ki_reflector_setup setup;
    for (size_t i = 0; i < 2; i++) {
        ki_error err = {0};
        ki_informer_options options = {.page_size = -2};
        assert_int_equal(ki_reflector_setup_init(&setup, resources[i], &options, &err), KI_ERR_INVALID);
        assert_string_equal(err.message, "informer: invalid page size -2");
    }
}

static void invalid_options_are_refused_with_a_reason(void **state)
{
    (void)state;
    ki_list_watch half = silent_source;
    expect_refused(&(ki_informer_options){.watch_list = KI_WATCH_LIST_NEVER + 1}, "ki_watch_list");
    expect_refused(&(ki_informer_options){.watch_list = (ki_watch_list)-1}, "-1");
    expect_refused(&(ki_informer_options){.mutations = KI_MUTATIONS_IGNORE + 1}, "ki_mutations");
    expect_refused(&(ki_informer_options){.mutations = (ki_mutations)-1}, "-1");
    expect_refused(&(ki_informer_options){.page_size = -2}, "page size -2");
    expect_refused(&(ki_informer_options){.label_selector = "a in ("}, "label_selector: expected");
    expect_refused(&(ki_informer_options){.field_selector = "a"}, "field_selector: expected");
    expect_refused(&(ki_informer_options){.field_selector = "metadata.name=\xff"},
                   "field_selector: expected UTF-8");
    half.begin = NULL;
    expect_refused(&(ki_informer_options){.list_watch = &half}, "begin");
    half = silent_source;
    half.cancel = NULL;
    expect_refused(&(ki_informer_options){.list_watch = &half}, "cancel");
    half = silent_source;
    half.resume = NULL;
    expect_refused(&(ki_informer_options){.list_watch = &half}, "resume");
}

static void the_limits_of_the_allowed_range_are_accepted(void **state)
{
    (void)state;
    ki_reflector_setup setup;
    init(&setup, &(ki_informer_options){.watch_list = KI_WATCH_LIST_NEVER, .page_size = -1});
    assert_int_equal(setup.options.page_size, -1);
    ki_reflector_setup_fini(&setup);
}

static void when_out_of_memory_nothing_is_created(void **state)
{
    (void)state;
    ki_error err = {0};
    ki_reflector_setup setup = {0};
    failing_allocator_fail_at(1);
    assert_int_equal(ki_reflector_setup_init(&setup, NULL, NULL, &err), KI_ERR_NO_MEMORY);
    assert_int_equal(err.code, KI_ERR_NO_MEMORY);
    failing_allocator_fail_at(2); /* the first allocation is for the label selector */
    assert_int_equal(
        ki_reflector_setup_init(&setup, NULL, &(ki_informer_options){.field_selector = "a=b"}, &err),
        KI_ERR_NO_MEMORY);
    assert_null(setup.memory);
}

/* ---- comparing ---------------------------------------------------------------------------------------- */

static bool are_equal(const ki_informer_options *a, const ki_informer_options *b)
{
    ki_reflector_setup first;
    ki_reflector_setup second;
    init(&first, a);
    init(&second, b);
    bool is_equal = ki_reflector_setup_equal(&first, &second);
    assert_int_equal(ki_reflector_setup_equal(&second, &first), is_equal);
    assert_true(ki_reflector_setup_equal(&first, &first));
    assert_true(ki_reflector_setup_equal(&second, &second));
    ki_reflector_setup_fini(&first);
    ki_reflector_setup_fini(&second);
    return is_equal;
}

static void a_null_string_equals_an_empty_one(void **state)
{
    (void)state;
    static const char *const nothing[] = {NULL};
    assert_true(are_equal(NULL, &(ki_informer_options){.ns = "",
                                                       .label_selector = "",
                                                       .field_selector = "",
                                                       .name = "",
                                                       .keep = nothing,
                                                       .drop = nothing}));
}

static void any_option_that_differs_makes_another_informer(void **state)
{
    (void)state;
    static const char *const spec[] = {"/spec", NULL};
    static const ki_informer_options differing[] = {
        {.ns = "shop"},
        {.label_selector = "a=b"},
        {.field_selector = "a=b"},
        {.keep = spec},
        {.drop = spec},
        {.keep_managed_fields = 1},
        {.deliver_unchanged = 1},
        {.object_bytes_max = 1},
        {.resync_ms = 1000},
        {.page_size = 1},
        {.watch_list = KI_WATCH_LIST_NEVER},
        {.mutations = KI_MUTATIONS_REPORT},
        {.backoff_ms = 1},
        {.backoff_max_ms = 1},
        {.queue_items_max = 1},
        {.queue_bytes_max = 1},
        {.transform = transform},
        {.transform_user = (void *)spec},
        {.tweak = tweak},
        {.tweak_user = (void *)spec},
        {.list_watch = &silent_source},
        {.name = "web"},
    };
    for (size_t i = 0; i < sizeof(differing) / sizeof(differing[0]); i++) {
        if (are_equal(NULL, &differing[i]))
            fail_msg("option %zu makes no difference", i);
        assert_true(are_equal(&differing[i], &differing[i]));
    }
}

static void paths_are_compared_one_by_one(void **state)
{
    (void)state;
    static const char *const one[] = {"/a", NULL};
    static const char *const two[] = {"/a", "/b", NULL};
    static const char *const other[] = {"/a", "/c", NULL};
    assert_false(are_equal(&(ki_informer_options){.keep = one}, &(ki_informer_options){.keep = two}));
    assert_false(are_equal(&(ki_informer_options){.keep = two}, &(ki_informer_options){.keep = other}));
    assert_false(are_equal(&(ki_informer_options){.keep = one}, &(ki_informer_options){.drop = one}));
}

/* Not by address, which a caller may reuse for another source. */
static void sources_are_compared_by_their_content(void **state)
{
    (void)state;
    ki_list_watch same = silent_source;
    assert_true(are_equal(&(ki_informer_options){.list_watch = &silent_source},
                          &(ki_informer_options){.list_watch = &same}));
    same.user = &same;
    assert_false(are_equal(&(ki_informer_options){.list_watch = &silent_source},
                           &(ki_informer_options){.list_watch = &same}));
    same = silent_source;
    same.no_watch_list = 1;
    assert_false(are_equal(&(ki_informer_options){.list_watch = &silent_source},
                           &(ki_informer_options){.list_watch = &same}));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_MEMORY_CHECK(without_options_strings_are_empty_and_the_rest_is_zero),
        WITH_MEMORY_CHECK(strings_are_copied),
        WITH_MEMORY_CHECK(paths_are_copied_with_their_terminator),
        WITH_MEMORY_CHECK(the_source_is_copied),
        WITH_MEMORY_CHECK(the_copy_of_a_copy_is_equal),
        WITH_MEMORY_CHECK(invalid_options_are_refused_with_a_reason),
        WITH_MEMORY_CHECK(without_a_resource_an_error_names_the_informer),
        WITH_MEMORY_CHECK(the_limits_of_the_allowed_range_are_accepted),
        WITH_MEMORY_CHECK(when_out_of_memory_nothing_is_created),
        WITH_MEMORY_CHECK(a_null_string_equals_an_empty_one),
        WITH_MEMORY_CHECK(any_option_that_differs_makes_another_informer),
        WITH_MEMORY_CHECK(paths_are_compared_one_by_one),
        WITH_MEMORY_CHECK(sources_are_compared_by_their_content),
    };
    return RUN_TESTS(tests);
}
