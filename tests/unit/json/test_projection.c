/* SPDX-License-Identifier: Apache-2.0 */
#include "json/projection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/failing_allocator.h"
#include "support/json/scan_run.h"
#include "support/unit.h"

#define PATHS(...) ((const char *const[]){__VA_ARGS__, NULL})
#define EVERYTHING NULL
#define NOTHING NULL

static ki_projection *compile(const char *const *keep, const char *const *drop)
{
    ki_error err = {0};
    ki_projection *projection = ki_projection_new(&(ki_projection_options){.keep = keep, .drop = drop}, &err);
    if (projection == NULL)
        fail_msg("%s", err.message);
    return projection;
}

/* Checks with every kernel: whole, byte by byte, and cut at every position. */
static void assert_kept(const char *const *keep, const char *const *drop, const char *text,
                        const char *expected)
{
    ki_projection *projection = compile(keep, drop);
    scan_run run;
    scan_run_init(&run);
    run.projection = projection;
    for (const ki_json_kernel *const *kernel = ki_json_kernels(); *kernel != NULL; kernel++) {
        run.kernel = *kernel;
        for (size_t first = 0; first <= strlen(text); first++) {
            scan_split split = {.first = first, .others = first == strlen(text) ? 1 : 0};
            assert_int_equal(scan_run_text(&run, ki_str_of(text), split), 0);
            if (!ki_str_equal(scan_run_kept(&run), ki_str_of(expected)))
                fail_msg("%s, first %zu: %.*s instead of %s", run.kernel->name, first,
                         KI_STR_ARGS(scan_run_kept(&run)), expected);
        }
    }
    scan_run_fini(&run);
    ki_projection_free(projection);
}

/* ---- invalid paths ------------------------------------------------------------------------------------- */

static void assert_refused(const ki_projection_options *options, int code, const char *message)
{
    ki_error err = {0};
    assert_null(ki_projection_new(options, &err));
    assert_int_equal(err.code, code);
    assert_string_equal(err.message, message);
    assert_null(ki_projection_new(options, NULL));
}

static void assert_bad_keep(const char *path, const char *message)
{
    assert_refused(&(ki_projection_options){.keep = PATHS("/a", path)}, KI_ERR_INVALID, message);
    assert_refused(&(ki_projection_options){.drop = PATHS("/a", path)}, KI_ERR_INVALID, message);
    ki_projection_capture captures[] = {{"/a", 0}, {path, 1}};
    assert_refused(&(ki_projection_options){.captures = captures, .capture_count = 2}, KI_ERR_INVALID,
                   message);
}

static void a_malformed_path_is_named(void **state)
{
    (void)state;
    assert_bad_keep("spec", "projection path \"spec\": a path must begin with /");
    assert_bad_keep("*", "projection path \"*\": a path must begin with /");
    assert_bad_keep("/b/~2", "projection path \"/b/~2\": ~ must be written as ~0");
    assert_bad_keep("/b~", "projection path \"/b~\": ~ must be written as ~0");
    assert_bad_keep("/~/b", "projection path \"/~/b\": ~ must be written as ~0");
}

static void a_path_has_at_most_32_parts(void **state)
{
    (void)state;
    char path[2 * 33 + 1];
    for (size_t i = 0; i < 33; i++)
        memcpy(path + 2 * i, i % 2 == 0 ? "/a" : "/*", 3);
    ki_error err = {0};
    assert_null(ki_projection_new(&(ki_projection_options){.keep = PATHS(path)}, &err));
    assert_int_equal(err.code, KI_ERR_INVALID);
    assert_non_null(strstr(err.message, "too many parts"));
    path[2 * 32] = 0;
    ki_projection_free(compile(PATHS(path), NOTHING));
}

static void contradictory_paths_are_refused(void **state)
{
    (void)state;
    assert_refused(&(ki_projection_options){.drop = PATHS("")}, KI_ERR_INVALID,
                   "projection path \"\": the whole value cannot be dropped");
    assert_refused(&(ki_projection_options){.keep = PATHS("/a/b"), .drop = PATHS("/c", "/a/b")},
                   KI_ERR_INVALID, "projection path \"/a/b\": both kept and dropped");
    assert_refused(&(ki_projection_options){.keep = PATHS("/*"), .drop = PATHS("/*")}, KI_ERR_INVALID,
                   "projection path \"/*\": both kept and dropped");
    ki_projection_capture twice[] = {{"/a", 0}, {"/b", 0}, {"/a", 1}};
    assert_refused(&(ki_projection_options){.captures = twice, .capture_count = 3}, KI_ERR_INVALID,
                   "projection path \"/a\": captured twice");
    ki_projection_capture whole[] = {{"", 0}};
    assert_refused(&(ki_projection_options){.captures = whole, .capture_count = 1}, KI_ERR_INVALID,
                   "projection path \"\": the whole value cannot be captured");
}

static void a_label_is_kept_by_its_name(void **state)
{
    (void)state;
    const char *const json =
        "{\"metadata\":{\"labels\":{\"a/b\":\"1\",\"~\":\"2\",\"*\":\"3\",\"c\":\"4\"}},\"x\":5}";
    assert_kept(PATHS("label:a/b"), NOTHING, json, "{\"metadata\":{\"labels\":{\"a/b\":\"1\"}}}");
    assert_kept(PATHS("label:~", "label:*"), NOTHING, json,
                "{\"metadata\":{\"labels\":{\"~\":\"2\",\"*\":\"3\"}}}");
    assert_kept(NOTHING, PATHS("label:a/b", "label:*", "label:~", "/x"), json,
                "{\"metadata\":{\"labels\":{\"c\":\"4\"}}}");
    assert_kept(PATHS("label:c"), PATHS("/metadata/labels"), json,
                "{\"metadata\":{\"labels\":{\"c\":\"4\"}}}");
    assert_bad_keep("label:", "projection path \"label:\": a path must begin with /");
}

static void the_fate_of_a_path_is_that_of_its_value(void **state)
{
    (void)state;
    ki_projection *p = compile(PATHS("/a", "/b/*/c", "/d~1e/f", "label:app"), PATHS("/a/x", "/a/y/z"));
    static const struct {
        const char *path;
        ki_projection_fate fate;
    } cases[] = {
        {"/a", KI_PROJECTION_KEEPS},         {"/a/b/c", KI_PROJECTION_KEEPS},
        {"/a/x", KI_PROJECTION_DROPS},       {"/a/x/b", KI_PROJECTION_DROPS},
        {"/a/y", KI_PROJECTION_KEEPS},       {"/a/y/z", KI_PROJECTION_DROPS},
        {"/b", KI_PROJECTION_KEEPS_PART},    {"/b/*", KI_PROJECTION_KEEPS_PART},
        {"/b/*/c", KI_PROJECTION_KEEPS},     {"/b/0/c", KI_PROJECTION_KEEPS},
        {"/b/0/c/d", KI_PROJECTION_KEEPS},   {"/b/0/d", KI_PROJECTION_DROPS},
        {"/d~1e/f", KI_PROJECTION_KEEPS},    {"/d/e/f", KI_PROJECTION_DROPS},
        {"label:app", KI_PROJECTION_KEEPS},  {"/metadata/labels/app", KI_PROJECTION_KEEPS},
        {"label:tier", KI_PROJECTION_DROPS}, {"/metadata/labels", KI_PROJECTION_KEEPS_PART},
        {"/none", KI_PROJECTION_DROPS},      {"", KI_PROJECTION_KEEPS_PART},
        {"malformed", KI_PROJECTION_KEEPS},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_int_equal(ki_projection_fate_of(p, cases[i].path), cases[i].fate);
    assert_ptr_equal(ki_projection_ref(p), p);
    ki_projection_free(p);
    assert_int_equal(ki_projection_fate_of(p, "/a"),
                     KI_PROJECTION_KEEPS); /* still valid with the other reference */
    ki_projection_free(p);
}

static void a_repeated_path_is_allowed(void **state)
{
    (void)state;
    assert_kept(PATHS("/a", "/a"), PATHS("/b", "/b"), "{\"a\":1,\"b\":2}", "{\"a\":1}");
}

/* Paths "/<prefix>0" to "/<prefix><count - 1>", terminated by NULL; free_paths() frees them. */
static char **numbered_paths(const char *prefix, size_t count)
{
    char **paths = calloc(count + 1, sizeof(*paths));
    assert_non_null(paths);
    for (size_t i = 0; i < count; i++) {
        paths[i] = malloc(strlen(prefix) + 16);
        assert_non_null(paths[i]);
        sprintf(paths[i], "/%s%zu", prefix, i);
    }
    return paths;
}

static void free_paths(char **paths)
{
    for (char **path = paths; *path != NULL; path++)
        free(*path);
    free(paths);
}

static void a_projection_has_at_most_4096_parts(void **state)
{
    (void)state;
    char **paths = numbered_paths("n", KI_PROJECTION_NODES_MAX);
    assert_refused(&(ki_projection_options){.keep = (const char *const *)paths}, KI_ERR_TOO_LARGE,
                   "the paths of a projection have more than 4096 parts");
    free(paths[KI_PROJECTION_NODES_MAX - 1]);
    paths[KI_PROJECTION_NODES_MAX - 1] = NULL;
    assert_refused(&(ki_projection_options){.keep = (const char *const *)paths, .drop = PATHS("/*")},
                   KI_ERR_TOO_LARGE, "the paths of a projection have more than 4096 parts");
    assert_kept((const char *const *)paths, NOTHING, "{\"n0\":1,\"n4094\":2,\"n4095\":3}",
                "{\"n0\":1,\"n4094\":2}");
    free_paths(paths);
}

/* The paths below * also apply to each name, so the parts multiply. */
static void names_beside_stars_are_limited(void **state)
{
    (void)state;
    char **keep = numbered_paths("n", 64);
    char **drop = numbered_paths("*/m", 64);
    assert_refused(
        &(ki_projection_options){.keep = (const char *const *)keep, .drop = (const char *const *)drop},
        KI_ERR_TOO_LARGE, "the paths of a projection have more than 4096 parts");
    free_paths(keep);
    free_paths(drop);
}

/* ---- keep and drop ------------------------------------------------------------------------------------- */

static void without_paths_everything_is_kept(void **state)
{
    (void)state;
    static const char text[] = " {\"a\" : [1, {\"b\": null}] , \"c\":\"d e\"} ";
    static const char minified[] = "{\"a\":[1,{\"b\":null}],\"c\":\"d e\"}";
    assert_kept(EVERYTHING, NOTHING, text, minified);
    assert_kept(PATHS(NULL), PATHS(NULL), text, minified);
    assert_kept(PATHS(""), NOTHING, text, minified);
    assert_kept(PATHS("", "/a/b"), NOTHING, text, minified);
}

static void scalars_are_kept_whatever_the_paths_say(void **state)
{
    (void)state;
    assert_kept(PATHS("/a"), NOTHING, "12", "12");
    assert_kept(PATHS("/a"), NOTHING, " \"a\" ", "\"a\"");
    assert_kept(EVERYTHING, PATHS("/*"), "null", "null");
}

static void members_are_kept_with_the_right_commas(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":1,\"b\":{\"x\":[2]},\"c\":\"3\"}";
    assert_kept(PATHS("/a"), NOTHING, text, "{\"a\":1}");
    assert_kept(PATHS("/b"), NOTHING, text, "{\"b\":{\"x\":[2]}}");
    assert_kept(PATHS("/c"), NOTHING, text, "{\"c\":\"3\"}");
    assert_kept(PATHS("/a", "/b"), NOTHING, text, "{\"a\":1,\"b\":{\"x\":[2]}}");
    assert_kept(PATHS("/c", "/a"), NOTHING, text, "{\"a\":1,\"c\":\"3\"}");
    assert_kept(PATHS("/b", "/c"), NOTHING, text, "{\"b\":{\"x\":[2]},\"c\":\"3\"}");
    assert_kept(PATHS("/a", "/b", "/c"), NOTHING, text, text);
    assert_kept(PATHS("/d"), NOTHING, text, "{}");
    assert_kept(PATHS("/a"), NOTHING, "{}", "{}");
}

static void members_are_dropped_with_the_right_commas(void **state)
{
    (void)state;
    static const char text[] = "{ \"a\" : 1 , \"b\" : { \"x\" : [ 2 ] } , \"c\" : \"3\" }";
    assert_kept(EVERYTHING, PATHS("/a"), text, "{\"b\":{\"x\":[2]},\"c\":\"3\"}");
    assert_kept(EVERYTHING, PATHS("/b"), text, "{\"a\":1,\"c\":\"3\"}");
    assert_kept(EVERYTHING, PATHS("/c"), text, "{\"a\":1,\"b\":{\"x\":[2]}}");
    assert_kept(EVERYTHING, PATHS("/a", "/b"), text, "{\"c\":\"3\"}");
    assert_kept(EVERYTHING, PATHS("/a", "/c"), text, "{\"b\":{\"x\":[2]}}");
    assert_kept(EVERYTHING, PATHS("/a", "/b", "/c"), text, "{}");
    assert_kept(EVERYTHING, PATHS("/*"), text, "{}");
    assert_kept(EVERYTHING, PATHS("/d"), text, "{\"a\":1,\"b\":{\"x\":[2]},\"c\":\"3\"}");
}

static void containers_of_something_kept_are_reduced_to_it(void **state)
{
    (void)state;
    assert_kept(PATHS("/a/b"), NOTHING, "{\"a\":{\"b\":1,\"c\":2},\"d\":3}", "{\"a\":{\"b\":1}}");
    assert_kept(PATHS("/a/b"), NOTHING, "{\"a\":{\"c\":2},\"d\":{}}", "{\"a\":{}}");
    assert_kept(PATHS("/a/b"), NOTHING, "{\"a\":{},\"d\":3}", "{\"a\":{}}");
    assert_kept(PATHS("/a/b"), NOTHING, "{\"a\":[1,{\"b\":2}]}", "{\"a\":[]}");
    assert_kept(PATHS("/a/b/c"), NOTHING, "{\"x\":{\"b\":{\"c\":1}},\"a\":{\"b\":{\"d\":1},\"c\":2}}",
                "{\"a\":{\"b\":{}}}");
}

static void a_scalar_on_the_way_to_something_kept_is_dropped(void **state)
{
    (void)state;
    assert_kept(PATHS("/a/b"), NOTHING, "{\"a\":5,\"c\":1}", "{}");
    assert_kept(PATHS("/a/b", "/c"), NOTHING, "{\"a\":null,\"c\":1}", "{\"c\":1}");
    assert_kept(PATHS("/a/*/b"), NOTHING, "{\"a\":[1,{\"b\":2},\"x\",{\"c\":3},[4],true]}",
                "{\"a\":[{\"b\":2},{},[]]}");
}

static void only_a_star_matches_elements(void **state)
{
    (void)state;
    assert_kept(PATHS("/a/0"), NOTHING, "{\"a\":[1,2]}", "{\"a\":[]}");
    assert_kept(PATHS("/a/0"), NOTHING, "{\"a\":{\"0\":1,\"1\":2}}", "{\"a\":{\"0\":1}}");
    assert_kept(EVERYTHING, PATHS("/a/0"), "{\"a\":[1,2]}", "{\"a\":[1,2]}");
    assert_kept(PATHS("/*"), NOTHING, "[1,2,[3]]", "[1,2,[3]]");
    assert_kept(PATHS("/*/x"), NOTHING, "[{\"x\":1,\"y\":2},{},{\"y\":3,\"x\":4}]",
                "[{\"x\":1},{},{\"x\":4}]");
    assert_kept(EVERYTHING, PATHS("/*/x"), "[{\"x\":1,\"y\":2},{\"x\":5},3]", "[{\"y\":2},{},3]");
    assert_kept(EVERYTHING, PATHS("/*"), "[1,[2],{\"x\":3}]", "[]");
    assert_kept(EVERYTHING, PATHS("/*/*"), "[1,[2,3],{\"x\":3}]", "[1,[],{}]");
}

static void a_star_matches_every_value_of_a_map(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":{\"p\":{\"x\":1},\"q\":{\"y\":3,\"x\":2},\"r\":4},\"b\":{\"x\":5}}";
    assert_kept(PATHS("/a/*/x"), NOTHING, text, "{\"a\":{\"p\":{\"x\":1},\"q\":{\"x\":2}}}");
    assert_kept(EVERYTHING, PATHS("/a/*/x"), text,
                "{\"a\":{\"p\":{},\"q\":{\"y\":3},\"r\":4},\"b\":{\"x\":5}}");
    assert_kept(EVERYTHING, PATHS("/a/*"), text, "{\"a\":{},\"b\":{\"x\":5}}");
    assert_kept(PATHS("/*/x"), NOTHING, text, "{\"a\":{},\"b\":{\"x\":5}}");
    assert_kept(PATHS("/a/*"), NOTHING, "{\"a\":1,\"b\":2}", "{}");
    assert_kept(EVERYTHING, PATHS("/a/*"), "{\"a\":1,\"b\":2}", "{\"a\":1,\"b\":2}");
}

static void containers_of_a_pod_are_reduced(void **state)
{
    (void)state;
    assert_kept(PATHS("/spec/nodeName", "/spec/containers/*/image", "/status/phase"),
                PATHS("/status/phase/x"),
                "{\"metadata\":{\"name\":\"p\"},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i:1\","
                "\"env\":[{}]},"
                "{\"image\":\"i:2\"}],\"nodeName\":\"n\",\"tolerations\":[]},\"status\":{\"phase\":"
                "\"Running\",\"ip\":1}}",
                "{\"spec\":{\"containers\":[{\"image\":\"i:1\"},{\"image\":\"i:2\"}],\"nodeName\":\"n\"},"
                "\"status\":{\"phase\":\"Running\"}}");
}

/* ---- precedence ---------------------------------------------------------------------------------------- */

static void the_longest_path_decides(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":{\"b\":{\"c\":1,\"d\":2},\"e\":3},\"f\":4}";
    assert_kept(PATHS("/a"), PATHS("/a/b"), text, "{\"a\":{\"e\":3}}");
    assert_kept(PATHS("/a", "/a/b/c"), PATHS("/a/b"), text, "{\"a\":{\"b\":{\"c\":1},\"e\":3}}");
    assert_kept(PATHS("/a/b/c"), PATHS("/a"), text, "{\"a\":{\"b\":{\"c\":1}}}");
    assert_kept(PATHS("", "/a/b/d"), PATHS("/a"), text, "{\"a\":{\"b\":{\"d\":2}},\"f\":4}");
    assert_kept(PATHS("/a"), PATHS("/f"), text, "{\"a\":{\"b\":{\"c\":1,\"d\":2},\"e\":3}}");
}

static void a_name_comes_before_a_star(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":{\"b\":{\"x\":1},\"c\":{\"x\":2}}}";
    assert_kept(PATHS("/a/*"), PATHS("/a/b"), text, "{\"a\":{\"c\":{\"x\":2}}}");
    assert_kept(PATHS("/a/b"), PATHS("/a/*"), text, "{\"a\":{\"b\":{\"x\":1}}}");
    assert_kept(PATHS("/a/*/x"), PATHS("/a/b/x"), text, "{\"a\":{\"c\":{\"x\":2}}}");
    assert_kept(PATHS("/a/*"), PATHS("/a/b/x"), text, "{\"a\":{\"b\":{},\"c\":{\"x\":2}}}");
    assert_kept(PATHS("/a/*/x"), PATHS("/a/b"), text,
                "{\"a\":{\"b\":{\"x\":1},\"c\":{\"x\":2}}}"); /* the longer path decides */
}

static void of_two_equally_long_paths_the_later_name_decides(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":{\"b\":{\"x\":1},\"c\":{\"x\":2}},\"d\":{\"b\":{\"x\":3}}}";
    assert_kept(PATHS("/a/*/x"), PATHS("/*/b/x"), text, "{\"a\":{\"c\":{\"x\":2}}}");
    assert_kept(PATHS("/*/b/x"), PATHS("/a/*/x"), text, "{\"a\":{\"b\":{\"x\":1}},\"d\":{\"b\":{\"x\":3}}}");
}

static void both_a_name_and_a_star_apply_to_a_member(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":{\"b\":{\"x\":1,\"y\":2,\"z\":3},\"c\":{\"x\":4,\"y\":5}}}";
    assert_kept(PATHS("/a/*/x", "/a/b/y"), NOTHING, text,
                "{\"a\":{\"b\":{\"x\":1,\"y\":2},\"c\":{\"x\":4}}}");
    assert_kept(EVERYTHING, PATHS("/a/*/x", "/a/b/y"), text, "{\"a\":{\"b\":{\"z\":3},\"c\":{\"y\":5}}}");
    assert_kept(PATHS("/*/*/x", "/a/b/y", "/a/*/z"), NOTHING, text,
                "{\"a\":{\"b\":{\"x\":1,\"y\":2,\"z\":3},\"c\":{\"x\":4}}}");
    assert_kept(PATHS("/*/c", "/a/b/z"), NOTHING, text, "{\"a\":{\"b\":{\"z\":3},\"c\":{\"x\":4,\"y\":5}}}");
}

/* ---- names --------------------------------------------------------------------------------------------- */

static void names_are_compared_unescaped(void **state)
{
    (void)state;
    assert_kept(PATHS("/metadata/name"), NOTHING,
                "{\"\\u006detadata\":{\"na\\u006De\":\"x\",\"nam\":1},\"b\":2}",
                "{\"\\u006detadata\":{\"na\\u006De\":\"x\"}}");
    assert_kept(EVERYTHING, PATHS("/\xf0\x9f\x98\x80"),
                "{\"\\ud83d\\ude00\":1,\"\xf0\x9f\x98\x80\":2,\"a\":3}", "{\"a\":3}");
    assert_kept(EVERYTHING, PATHS("/a\"b", "/c\\d", "/\n"),
                "{\"a\\\"b\":1,\"c\\\\d\":2,\"\\n\":3,\"\\u000a\":4,\"n\":5}", "{\"n\":5}");
    assert_kept(EVERYTHING, PATHS("/a\\u0062"), "{\"ab\":1,\"a\\\\u0062\":2}", "{\"ab\":1}");
}

static void tilde_and_slash_are_escaped_in_paths(void **state)
{
    (void)state;
    static const char text[] = "{\"a/b\":1,\"a\\/b\":2,\"a~b\":3,\"~1\":4,\"a\":{\"b\":5}}";
    assert_kept(PATHS("/a~1b"), NOTHING, text, "{\"a/b\":1}");
    assert_kept(PATHS("/a~0b"), NOTHING, text, "{\"a~b\":3}");
    assert_kept(PATHS("/~01"), NOTHING, text, "{\"~1\":4}");
    assert_kept(PATHS("/a/b"), NOTHING, text, "{\"a\":{\"b\":5}}");
}

static void a_name_matches_as_a_whole(void **state)
{
    (void)state;
    static const char text[] = "{\"a\":1,\"ab\":2,\"abc\":3,\"\":4,\"A\":5,\"*\":6,\"**\":7}";
    assert_kept(PATHS("/ab"), NOTHING, text, "{\"ab\":2}");
    assert_kept(PATHS("/"), NOTHING, text, "{\"\":4}");
    assert_kept(PATHS("/**"), NOTHING, text, "{\"**\":7}");
    assert_kept(PATHS("//"), NOTHING, "{\"\":{\"\":1,\"a\":2}}", "{\"\":{\"\":1}}");
}

static void only_strings_are_names(void **state)
{
    (void)state;
    ki_projection *projection = compile(PATHS("/*", "/a"), NOTHING);
    const ki_projection_node *root = ki_projection_root(projection);
    assert_null(ki_projection_member(projection, root, KI_STR("")));
    assert_null(ki_projection_member(projection, root, KI_STR("\"")));
    assert_non_null(ki_projection_member(projection, root, KI_STR("\"\"")));
    assert_ptr_not_equal(ki_projection_member(projection, root, KI_STR("\"a\"")),
                         ki_projection_element(projection, root));
    ki_projection_free(projection);
}

static void strings_that_are_not_names_match_nothing(void **state)
{
    (void)state;
    assert_kept(PATHS("/a"), NOTHING, "{\"b\":\"a\",\"c\":{\"a\":1},\"d\":[\"a\",{\"a\":2}],\"a\":\"b\"}",
                "{\"a\":\"b\"}");
    assert_kept(EVERYTHING, PATHS("/a"), "[\"a\",{\"a\":1}]", "[\"a\",{\"a\":1}]");
}

static void the_first_of_equal_names_counts(void **state)
{
    (void)state;
    assert_kept(PATHS("/a"), NOTHING, "{\"a\":1,\"b\":2,\"a\":3}", "{\"a\":1}");
    assert_kept(PATHS("/a"), NOTHING, "{\"a\":1,\"\\u0061\":3}", "{\"a\":1}");
    assert_kept(PATHS("/a/x"), NOTHING, "{\"a\":{\"x\":2},\"a\":{\"x\":3},\"b\":1}", "{\"a\":{\"x\":2}}");
    assert_kept(PATHS("/a/x"), NOTHING, "{\"a\":1,\"a\":{\"x\":2}}", "{}");
    assert_kept(NOTHING, PATHS("/a/x"), "{\"b\":1,\"b\":2,\"a\":{}}", "{\"b\":1,\"b\":2,\"a\":{}}");
}

/* ---- memory -------------------------------------------------------------------------------------------- */

static void when_out_of_memory_no_projection_is_created(void **state)
{
    (void)state;
    static const ki_projection_capture captures[] = {{"/metadata/name", 1}, {"/metadata/labels", 0}};
    char **drop = numbered_paths("metadata/n", 100); /* more parts than the first allocation holds */
    ki_projection_options options = {.keep = PATHS("/spec", "/*/x", "/metadata/*/y"),
                                     .drop = (const char *const *)drop,
                                     .captures = captures,
                                     .capture_count = 2};
    size_t failures = 0;
    for (;; failures++) {
        ki_error err = {0};
        failing_allocator_fail_at(failures + 1);
        ki_projection *projection = ki_projection_new(&options, &err);
        if (projection != NULL) {
            assert_false(failing_allocator_has_failed());
            ki_projection_free(projection);
            break;
        }
        assert_int_equal(err.code, KI_ERR_NO_MEMORY);
        assert_int_equal(failing_allocator_live_count(), 0);
    }
    assert_true(failures >= 5);
    failing_allocator_fail_at(0);
    free_paths(drop);
}

static void freeing_null_is_harmless(void **state)
{
    (void)state;
    ki_projection_free(NULL);
    assert_int_equal(failing_allocator_live_count(), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_malformed_path_is_named),
        cmocka_unit_test(a_path_has_at_most_32_parts),
        cmocka_unit_test(contradictory_paths_are_refused),
        cmocka_unit_test(a_label_is_kept_by_its_name),
        cmocka_unit_test(the_fate_of_a_path_is_that_of_its_value),
        cmocka_unit_test(a_repeated_path_is_allowed),
        cmocka_unit_test(a_projection_has_at_most_4096_parts),
        cmocka_unit_test(names_beside_stars_are_limited),
        cmocka_unit_test(without_paths_everything_is_kept),
        cmocka_unit_test(scalars_are_kept_whatever_the_paths_say),
        cmocka_unit_test(members_are_kept_with_the_right_commas),
        cmocka_unit_test(members_are_dropped_with_the_right_commas),
        cmocka_unit_test(containers_of_something_kept_are_reduced_to_it),
        cmocka_unit_test(a_scalar_on_the_way_to_something_kept_is_dropped),
        cmocka_unit_test(only_a_star_matches_elements),
        cmocka_unit_test(a_star_matches_every_value_of_a_map),
        cmocka_unit_test(containers_of_a_pod_are_reduced),
        cmocka_unit_test(the_longest_path_decides),
        cmocka_unit_test(a_name_comes_before_a_star),
        cmocka_unit_test(of_two_equally_long_paths_the_later_name_decides),
        cmocka_unit_test(both_a_name_and_a_star_apply_to_a_member),
        cmocka_unit_test(names_are_compared_unescaped),
        cmocka_unit_test(tilde_and_slash_are_escaped_in_paths),
        cmocka_unit_test(a_name_matches_as_a_whole),
        cmocka_unit_test(only_strings_are_names),
        cmocka_unit_test(strings_that_are_not_names_match_nothing),
        cmocka_unit_test(the_first_of_equal_names_counts),
        WITH_MEMORY_CHECK(when_out_of_memory_no_projection_is_created),
        WITH_MEMORY_CHECK(freeing_null_is_harmless),
    };
    return RUN_TESTS(tests);
}
