/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/kind/check.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/kind/failure.h"
#include "apiserver/value/tree.h"
#include "util/alloc.h"

static size_t write_path(const struct ki_as_path *path, char *out, size_t at)
{
    assert(at < KI_AS_PATH_BYTES);
    if (path == NULL)
        return at;
    at = write_path(path->parent, out, at);
    size_t left = KI_AS_PATH_BYTES - at;
    int len = 0;
    if (path->name == NULL)
        len = snprintf(out + at, left, "[%zu]", path->index);
    else if (path->is_key)
        len = snprintf(out + at, left, "[%s]", path->name);
    else
        len = snprintf(out + at, left, "%s%s", at > 0 ? "." : "", path->name);
    return (size_t)len < left ? at + (size_t)len : KI_AS_PATH_BYTES - 1;
}

void ki_as_path_write(const struct ki_as_path *path, char out[KI_AS_PATH_BYTES])
{
    out[0] = 0;
    (void)write_path(path, out, 0);
    ki_as_cut_at_character(out);
}

/* Whether the next cause is counted but not stored. */
static bool is_quiet(const struct ki_as_check *check)
{
    return check->is_quiet || check->said >= KI_AS_CAUSES_MAX || check->said_bytes >= KI_AS_CAUSES_BYTES_MAX;
}

/* Adds "TYPE: VALUE: DETAIL". Takes `value`; a NULL value and an empty detail are omitted. */
static void say(struct ki_as_check *check, const struct ki_as_path *path, const char *const words[3],
                char *value)
{
    assert(check->said < check->count);
    char field[KI_AS_PATH_BYTES];
    const char *detail = words[2];
    check->said++;
    check->said_bytes += value == NULL ? 0 : strlen(value);
    ki_as_path_write(path, field);
    ki_as_cause_add(&check->causes, words[0], field, "%s%s%s%s%s", words[1], value == NULL ? "" : ": ",
                    value == NULL ? "" : value, detail[0] == 0 ? "" : ": ", detail);
    ki_free(value);
}

/* Counts a cause, and adds it with say() unless a limit of causes is reached. */
static void add(struct ki_as_check *check, const struct ki_as_path *path, const char *const words[3],
                char *value)
{
    assert(value == NULL || !is_quiet(check)); /* the value would leak */
    assert(words[2] != NULL);
    check->count++;
    if (!is_quiet(check))
        say(check, path, words, value);
}

static char *text_of(const struct ki_as_check *check, const json_t *value)
{
    return is_quiet(check) ? NULL : ki_as_value_text(value);
}

void ki_as_check_join(struct ki_as_check *check, struct ki_as_check *other)
{
    assert(check != other && other->said <= other->count);
    check->count += other->count;
    check->said += other->said;
    check->said_bytes += other->said_bytes;
    if (check->causes == NULL) {
        check->causes = other->causes;
    } else {
        /* If out of memory, causes are missing, which ki_as_check_conclude() detects. */
        (void)json_array_extend(check->causes, other->causes);
        json_decref(other->causes);
    }
    *other = (struct ki_as_check){0};
}

void ki_as_check_no_memory(struct ki_as_check *check)
{
    check->count++;
    check->said++;
}

void ki_as_check_required(struct ki_as_check *check, const struct ki_as_path *path, const char *detail)
{
    add(check, path, (const char *const[]){"FieldValueRequired", "Required value", detail}, NULL);
}

void ki_as_check_forbidden(struct ki_as_check *check, const struct ki_as_path *path, const char *detail)
{
    add(check, path, (const char *const[]){"FieldValueForbidden", "Forbidden", detail}, NULL);
}

void ki_as_check_given_up(struct ki_as_check *check, const struct ki_as_path *path, const char *detail)
{
    check->count++;
    say(check, path, (const char *const[]){"FieldValueForbidden", "Forbidden", detail}, NULL);
}

void ki_as_check_invalid(struct ki_as_check *check, const struct ki_as_path *path, const json_t *value,
                         const char *detail)
{
    add(check, path, (const char *const[]){"FieldValueInvalid", "Invalid value", detail},
        text_of(check, value));
}

void ki_as_check_invalid_text(struct ki_as_check *check, const struct ki_as_path *path, ki_str text,
                              const char *detail)
{
    add(check, path, (const char *const[]){"FieldValueInvalid", "Invalid value", detail},
        is_quiet(check) ? NULL : ki_as_quoted(text));
}

void ki_as_check_unsupported(struct ki_as_check *check, const struct ki_as_path *path, const json_t *value,
                             const char *const *supported)
{
    assert(supported != NULL);
    char detail[512] = "supported values: ";
    size_t at = strlen(detail);
    for (size_t i = 0; supported[i] != NULL && at < sizeof(detail); i++) {
        int len = snprintf(detail + at, sizeof(detail) - at, "%s\"%s\"", i == 0 ? "" : ", ", supported[i]);
        at += (size_t)len;
    }
    add(check, path, (const char *const[]){"FieldValueNotSupported", "Unsupported value", detail},
        text_of(check, value));
}

void ki_as_check_duplicate(struct ki_as_check *check, const struct ki_as_path *path, const json_t *value)
{
    add(check, path, (const char *const[]){"FieldValueDuplicate", "Duplicate value", ""},
        text_of(check, value));
}

void ki_as_check_too_long(struct ki_as_check *check, const struct ki_as_path *path, int64_t bytes_max)
{
    char detail[64] = "value is too long";
    if (bytes_max >= 0)
        (void)snprintf(detail, sizeof(detail), "may not be more than %lld byte%s", (long long)bytes_max,
                       bytes_max == 1 ? "" : "s");
    add(check, path, (const char *const[]){"FieldValueTooLong", "Too long", detail}, NULL);
}

void ki_as_check_too_many(struct ki_as_check *check, const struct ki_as_path *path, size_t count,
                          int64_t count_max)
{
    assert(count_max < 0 || count > (size_t)count_max);
    char detail[64];
    if (count_max < 0)
        (void)snprintf(detail, sizeof(detail), "%zu: has too many items", count);
    else
        (void)snprintf(detail, sizeof(detail), "%zu: must have at most %lld item%s", count,
                       (long long)count_max, count_max == 1 ? "" : "s");
    add(check, path, (const char *const[]){"FieldValueTooMany", "Too many", detail}, NULL);
}

void ki_as_check_name(struct ki_as_check *check, const struct ki_as_path *path, ki_str text,
                      ki_as_name_check name_check)
{
    struct ki_as_complaints complaints = name_check(text);
    assert(complaints.count <= KI_AS_COMPLAINTS_MAX);
    for (size_t i = 0; i < complaints.count; i++)
        ki_as_check_invalid_text(check, path, text, complaints.texts[i]);
}

void ki_as_check_range(struct ki_as_check *check, const struct ki_as_path *path, const json_t *value,
                       int64_t low, int64_t high)
{
    assert(low <= high);
    char detail[96];
    if (!json_is_integer(value) || (json_integer_value(value) >= low && json_integer_value(value) <= high))
        return;
    (void)snprintf(detail, sizeof(detail), "must be between %lld and %lld, inclusive", (long long)low,
                   (long long)high);
    ki_as_check_invalid(check, path, value, detail);
}

void ki_as_check_not_negative(struct ki_as_check *check, const struct ki_as_path *path, const json_t *value)
{
    if (json_is_integer(value) && json_integer_value(value) < 0)
        ki_as_check_invalid(check, path, value, "must be greater than or equal to 0");
}

void ki_as_check_one_of(struct ki_as_check *check, const struct ki_as_path *path, const json_t *value,
                        const char *const *supported)
{
    assert(supported != NULL);
    const char *text = json_string_value(value);
    if (text == NULL || text[0] == 0)
        return;
    for (size_t i = 0; supported[i] != NULL; i++) {
        if (strcmp(text, supported[i]) == 0)
            return;
    }
    ki_as_check_unsupported(check, path, value, supported);
}
