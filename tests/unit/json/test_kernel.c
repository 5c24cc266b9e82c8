/* SPDX-License-Identifier: Apache-2.0 */
#include "json/kernel.h"

#include <stdlib.h>
#include <string.h>

#include "support/unit.h"
#include "util/random.h"

/* ---- choice -------------------------------------------------------------------------------------------- */

static void the_best_kernel_comes_first_and_scalar_is_always_available(void **state)
{
    (void)state;
    const ki_json_kernel *const *kernels = ki_json_kernels();
    size_t count = 0;
    while (kernels[count] != NULL)
        count++;
    assert_true(count >= 1);
    assert_ptr_equal(kernels[count - 1], &ki_json_kernel_scalar);
}

static void the_kernels_are_those_of_this_architecture(void **state)
{
    (void)state;
#if defined(__x86_64__)
    static const char *const known[] = {"avx2", "sse42", "scalar"};
    enum { ALWAYS = 1 };
#elif defined(__aarch64__)
    static const char *const known[] = {"neon", "scalar"};
    enum { ALWAYS = 2 };
#else
    static const char *const known[] = {"scalar"};
    enum { ALWAYS = 1 };
#endif
    enum { KNOWN = sizeof(known) / sizeof(known[0]) };
    const ki_json_kernel *const *kernels = ki_json_kernels();
    size_t count = 0;
    while (kernels[count] != NULL)
        count++;
    assert_in_range(count, ALWAYS, KNOWN);
    for (size_t i = 0; i < count; i++)
        assert_string_equal(kernels[i]->name, known[KNOWN - count + i]);
}

/* ---- skipping ------------------------------------------------------------------------------------------ */

static size_t model_skip(const char *text, size_t n)
{
    size_t depth = 0;
    int in_string = 0;
    for (size_t i = 0; i < n; i++) {
        char c = text[i];
        if (in_string && c == '\\')
            i++;
        else if (c == '"')
            in_string = !in_string;
        else if (!in_string && (c == '{' || c == '['))
            depth++;
        else if (!in_string && (c == '}' || c == ']') && --depth == 0)
            return i + 1;
    }
    return 0;
}

/* The text has its own memory, so that a sanitizer detects a read beyond it. */
static void assert_skipped(const char *text, size_t n)
{
    size_t expected = model_skip(text, n);
    char *copy = malloc(n == 0 ? 1 : n);
    assert_non_null(copy);
    memcpy(copy, text, n);
    for (const ki_json_kernel *const *kernel = ki_json_kernels(); *kernel != NULL; kernel++) {
        size_t skipped = (*kernel)->skip_container(copy, n);
        if (skipped != expected)
            fail_msg("%s skips %zu, not %zu: %.*s", (*kernel)->name, skipped, expected, (int)n, text);
    }
    free(copy);
}

static void a_container_is_skipped_up_to_its_last_byte(void **state)
{
    (void)state;
    static const char *const texts[] = {
        "[]", "{}x", "[[],{}],", "{\"a\":\"}\"}", "[\"\\\"]\"]]", "[\"\\\\\"]\"]", "[1,2", "{\"a\":{}", "["};
    static const size_t expected[] = {2, 2, 7, 9, 7, 6, 0, 0, 0};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_int_equal(model_skip(texts[i], strlen(texts[i])), expected[i]);
        assert_skipped(texts[i], strlen(texts[i]));
    }
    assert_int_equal(ki_json_kernel_best()->skip_container("", 0), 0);
}

/* Brackets and strings, as dense as possible; backslashes only in strings. */
static size_t random_container(ki_random *random, char *text, size_t len_max)
{
    static const char outside[] = "[[{{]]}},:1 ";
    static const char inside[] = "[]{}\\\\\\ab,: ";
    uint64_t plain = ki_random_below(random, 2) == 0 ? 0 : 1 + ki_random_below(random, 90);
    size_t len = 0;
    text[len++] = '[';
    while (len + 2 < len_max) {
        if (ki_random_below(random, 6) > 0) {
            text[len++] = ki_random_below(random, 100) < plain
                              ? '1'
                              : outside[ki_random_below(random, sizeof(outside) - 1)];
            continue;
        }
        text[len++] = '"';
        for (uint64_t n = ki_random_below(random, 30); n > 0 && len + 3 < len_max; n--) {
            text[len++] = inside[ki_random_below(random, sizeof(inside) - 1)];
            if (text[len - 1] == '\\')
                text[len++] = "\"\\nu"[ki_random_below(random, 4)];
        }
        if (len + 1 < len_max)
            text[len++] = '"';
    }
    return len;
}

static void random_containers_are_skipped_as_by_the_model(void **state)
{
    (void)state;
    ki_random random;
    ki_random_init(&random, 1);
    for (int i = 0; i < 30000; i++) {
        char text[400];
        size_t len = random_container(&random, text, 3 + ki_random_below(&random, sizeof(text) - 3));
        assert_skipped(text, len);
        assert_skipped(text, 1 + ki_random_below(&random, len));
    }
}

static void containers_of_any_length_are_skipped(void **state)
{
    (void)state;
    char text[260];
    for (size_t len = 2; len < sizeof(text); len++) {
        memset(text, '1', sizeof(text));
        text[0] = '[';
        text[len - 1] = ']';
        for (size_t n = len > 3 ? len - 3 : 1; n <= sizeof(text) && n < len + 70; n++)
            assert_skipped(text, n);
    }
}

static void deep_containers_are_skipped(void **state)
{
    (void)state;
    enum { DEPTH = 5000 };
    char *text = malloc(2 * DEPTH + 10);
    assert_non_null(text);
    memset(text, '[', DEPTH);
    memset(text + DEPTH, ']', DEPTH + 10);
    assert_skipped(text, 2 * DEPTH + 10);
    assert_skipped(text, 2 * DEPTH);
    assert_skipped(text, 2 * DEPTH - 1);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_kernel_comes_first_and_scalar_is_always_available),
        cmocka_unit_test(the_kernels_are_those_of_this_architecture),
        cmocka_unit_test(a_container_is_skipped_up_to_its_last_byte),
        cmocka_unit_test(random_containers_are_skipped_as_by_the_model),
        cmocka_unit_test(containers_of_any_length_are_skipped),
        cmocka_unit_test(deep_containers_are_skipped),
    };
    return RUN_TESTS(tests);
}
