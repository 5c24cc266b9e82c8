/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/value/pattern.h"

#include <assert.h>
#include <stdbool.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "util/alloc.h"

/* PATTERN_BYTES_MAX is far above realistic patterns. PCRE2 itself limits nested repetitions: it rejects
 * patterns of more than 64 KiB of compiled code. DEPTH_MAX: the number of backtracking points that a match
 * may hold; a repeated group holds about two for each repetition. */
enum {
    PATTERN_BYTES_MAX = 64 * 1024,
    FIRST_STEPS = 128,
    STEPS_GROWTH = 8,
    DEPTH_MAX = 64 * 1024,
    HEAP_KIB_MAX = 16 * 1024
};

struct ki_as_pattern {
    pcre2_general_context *memory;
    pcre2_match_context *limits;
    pcre2_match_data *data;
    pcre2_code *code;
};

static void *take_memory(size_t size, void *user)
{
    (void)user;
    return ki_malloc(size);
}

static void give_memory_back(void *memory, void *user)
{
    (void)user;
    ki_free(memory);
}

void ki_as_pattern_free(struct ki_as_pattern *pattern)
{
    if (pattern == NULL)
        return;
    pcre2_code_free(pattern->code);
    pcre2_match_data_free(pattern->data);
    pcre2_match_context_free(pattern->limits);
    pcre2_general_context_free(pattern->memory);
    ki_free(pattern);
}

static pcre2_code *compile(const struct ki_as_pattern *pattern, const char *text, int *error)
{
    assert(pattern->memory != NULL && pattern->code == NULL);
    PCRE2_SIZE offset = 0;
    pcre2_compile_context *context = pcre2_compile_context_create(pattern->memory);
    if (context == NULL) {
        *error = PCRE2_ERROR_HEAP_FAILED;
        return NULL;
    }
    pcre2_set_max_pattern_length(context, PATTERN_BYTES_MAX);
    pcre2_code *code =
        pcre2_compile((PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED,
                      PCRE2_UTF | PCRE2_MATCH_INVALID_UTF | PCRE2_DOLLAR_ENDONLY, error, &offset, context);
    pcre2_compile_context_free(context);
    return code;
}

/* As in Kubernetes (RE2): "$" matches only at the very end, classes are ASCII, and there are no back
 * references. Other PCRE2 extensions (lookaround) are not rejected. */
static enum ki_as_pattern_result prepare(struct ki_as_pattern *pattern, const char *text)
{
    int error = 0;
    uint32_t back_references = 0;
    pattern->memory = pcre2_general_context_create(take_memory, give_memory_back, NULL);
    if (pattern->memory == NULL)
        return KI_AS_PATTERN_OUT_OF_MEMORY;
    pattern->code = compile(pattern, text, &error);
    if (pattern->code == NULL)
        return error == PCRE2_ERROR_HEAP_FAILED ? KI_AS_PATTERN_OUT_OF_MEMORY : KI_AS_PATTERN_WRONG;
    pcre2_pattern_info(pattern->code, PCRE2_INFO_BACKREFMAX, &back_references);
    if (back_references > 0)
        return KI_AS_PATTERN_WRONG;
    pattern->limits = pcre2_match_context_create(pattern->memory);
    pattern->data = pcre2_match_data_create(1, pattern->memory);
    if (pattern->limits == NULL || pattern->data == NULL)
        return KI_AS_PATTERN_OUT_OF_MEMORY;
    pcre2_set_depth_limit(pattern->limits, DEPTH_MAX);
    pcre2_set_heap_limit(pattern->limits, HEAP_KIB_MAX);
    return KI_AS_PATTERN_GOOD;
}

/* False if fewer than `cost` steps were left. */
static bool spend(size_t *steps, size_t cost)
{
    bool is_enough = cost <= *steps;
    *steps = is_enough ? *steps - cost : 0;
    return is_enough;
}

/* Compile time is proportional to the length of the text and of the code, and the code length is limited. */
enum ki_as_pattern_result ki_as_pattern_new(const char *text, size_t *steps, struct ki_as_pattern **out)
{
    assert(text != NULL && steps != NULL && out != NULL);
    size_t size = 0;
    struct ki_as_pattern *pattern = ki_calloc(1, sizeof(*pattern));
    if (pattern == NULL)
        return KI_AS_PATTERN_OUT_OF_MEMORY;
    enum ki_as_pattern_result result = prepare(pattern, text);
    if (result == KI_AS_PATTERN_GOOD)
        pcre2_pattern_info(pattern->code, PCRE2_INFO_SIZE, &size);
    if (!spend(steps, strnlen(text, PATTERN_BYTES_MAX) + size))
        result = KI_AS_PATTERN_TOO_LONG;
    if (result == KI_AS_PATTERN_GOOD)
        *out = pattern;
    else
        ki_as_pattern_free(pattern);
    return result;
}

static uint32_t clamp(size_t steps)
{
    return steps > UINT32_MAX ? UINT32_MAX : (uint32_t)steps;
}

/* PCRE2 does not report how many steps a match took. So the first try has a low limit, and each further try
 * a higher one. All limits that were tried are charged in full. That is less than ten times the steps that
 * were needed, unless the first limit was enough. */
enum ki_as_pattern_result ki_as_pattern_match(struct ki_as_pattern *pattern, ki_str text, size_t *steps)
{
    assert(pattern != NULL && pattern->code != NULL && pattern->data != NULL);
    size_t limit = FIRST_STEPS + text.len;
    for (;;) {
        size_t allowed = limit < *steps ? limit : *steps;
        pcre2_set_match_limit(pattern->limits, clamp(allowed));
        int rc =
            pcre2_match(pattern->code, (PCRE2_SPTR)text.ptr, text.len, 0, 0, pattern->data, pattern->limits);
        assert(allowed <= *steps);
        *steps -= allowed;
        if (rc >= 0)
            return KI_AS_PATTERN_MATCHES;
        if (rc == PCRE2_ERROR_NOMATCH)
            return KI_AS_PATTERN_DIFFERS;
        if (rc == PCRE2_ERROR_NOMEMORY)
            return KI_AS_PATTERN_OUT_OF_MEMORY;
        if (rc != PCRE2_ERROR_MATCHLIMIT || *steps == 0) {
            *steps = 0;
            return KI_AS_PATTERN_TOO_LONG;
        }
        limit *= STEPS_GROWTH;
    }
}
