/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/schedule.h"

#include <kinformer/common.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "apiserver/tree.h"

enum { FIELDS = 5, NUMBER_MAX = 1000000 };

static const char *const months[] = {"jan", "feb", "mar", "apr", "may", "jun",
                                     "jul", "aug", "sep", "oct", "nov", "dec"};
static const char *const days[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};

/* What may stand in a field. */
static const struct bounds {
    int low;
    int high;
    const char *const *names; /* of the numbers from `low` on */
} all_bounds[FIELDS] = {{0, 59, NULL}, {0, 23, NULL}, {1, 31, NULL}, {1, 12, months}, {0, 6, days}};

/* Returns false, so that a refusal is one line. */
static bool refuse(char why[KI_AS_SCHEDULE_WHY_BYTES], const char *format, ...) KI_PRINTF(2, 3);

static bool refuse(char why[KI_AS_SCHEDULE_WHY_BYTES], const char *format, ...)
{
    va_list list;
    va_start(list, format);
    (void)vsnprintf(why, KI_AS_SCHEDULE_WHY_BYTES, format, list);
    va_end(list);
    ki_as_cut_at_character(why);
    return false;
}

static bool read_number(ki_str text, int *out, char *why)
{
    int number = 0;
    bool is_good = text.len > 0;
    for (size_t i = 0; i < text.len; i++) {
        is_good = is_good && text.ptr[i] >= '0' && text.ptr[i] <= '9' && number < NUMBER_MAX;
        number = is_good ? number * 10 + (text.ptr[i] - '0') : number;
    }
    *out = number;
    return is_good ||
           refuse(why, "failed to parse int from %.*s: strconv.Atoi: parsing \"%.*s\": invalid syntax",
                  KI_STR_ARGS(text), KI_STR_ARGS(text));
}

static bool read_value(ki_str text, const struct bounds *bounds, int *out, char *why)
{
    for (int i = bounds->low; bounds->names != NULL && i <= bounds->high; i++) {
        const char *name = bounds->names[i - bounds->low];
        if (text.len == strlen(name) && strncasecmp(text.ptr, name, text.len) == 0) {
            *out = i;
            return true;
        }
    }
    return read_number(text, out, why);
}

/* The part before the sign, which `text` loses with it; all of it without one. */
static ki_str cut(ki_str *text, char sign, bool *out_is_cut)
{
    const char *at = memchr(text->ptr, sign, text->len);
    ki_str part = {text->ptr, at == NULL ? text->len : (size_t)(at - text->ptr)};
    *out_is_cut = at != NULL;
    *text = at == NULL ? (ki_str){text->ptr + text->len, 0} : (ki_str){at + 1, text->len - part.len - 1};
    return part;
}

static bool check_bounds(ki_str text, const struct bounds *bounds, const int range[2], char *why)
{
    if (range[0] < bounds->low)
        return refuse(why, "beginning of range (%d) below minimum (%d): %.*s", range[0], bounds->low,
                      KI_STR_ARGS(text));
    if (range[1] > bounds->high)
        return refuse(why, "end of range (%d) above maximum (%d): %.*s", range[1], bounds->high,
                      KI_STR_ARGS(text));
    if (range[0] > range[1])
        return refuse(why, "beginning of range (%d) beyond end of range (%d): %.*s", range[0], range[1],
                      KI_STR_ARGS(text));
    return true;
}

/* "*", "?", "5", "1-5", each with "/2" or without. */
static bool check_range(ki_str text, const struct bounds *bounds, char *why)
{
    ki_str rest = text;
    bool has_step = false;
    bool has_end = false;
    int step = 1;
    int range[2] = {bounds->low, bounds->high};
    ki_str span = cut(&rest, '/', &has_step);
    if (has_step && memchr(rest.ptr, '/', rest.len) != NULL)
        return refuse(why, "too many slashes: %.*s", KI_STR_ARGS(text));
    if (!ki_str_equal(span, KI_STR("*")) && !ki_str_equal(span, KI_STR("?"))) {
        ki_str end = span;
        ki_str start = cut(&end, '-', &has_end);
        if (has_end && memchr(end.ptr, '-', end.len) != NULL)
            return refuse(why, "too many hyphens: %.*s", KI_STR_ARGS(text));
        if (!read_value(start, bounds, &range[0], why))
            return false;
        if (has_end && !read_value(end, bounds, &range[1], why))
            return false;
        if (!has_end && !has_step)
            range[1] = range[0];
    }
    if (has_step && !read_number(rest, &step, why))
        return false;
    if (!check_bounds(text, bounds, range, why))
        return false;
    return step > 0 || refuse(why, "step of range should be a positive number: %.*s", KI_STR_ARGS(text));
}

static bool check_field(ki_str field, const struct bounds *bounds, char *why)
{
    bool is_good = true;
    while (is_good && field.len > 0) {
        bool is_cut = false;
        ki_str range = cut(&field, ',', &is_cut);
        is_good = range.len == 0 || check_range(range, bounds, why);
    }
    return is_good;
}

/* "1h30m": numbers with units. */
static bool is_duration(const char *text)
{
    static const char *const units[] = {"ns", "us", "ms", "s", "m", "h"};
    if (*text == '\0')
        return false;
    while (*text != '\0') {
        size_t digits = strspn(text, "0123456789.");
        size_t unit = strcspn(text + digits, "0123456789.");
        bool is_known = false;
        for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
            is_known = is_known || (unit == strlen(units[i]) && memcmp(text + digits, units[i], unit) == 0);
        if (digits == 0 || !is_known)
            return false;
        text += digits + unit;
    }
    return true;
}

static bool check_word(const char *text, char *why)
{
    static const char *const words[] = {"@yearly", "@annually", "@monthly", "@weekly",
                                        "@daily",  "@midnight", "@hourly"};
    static const char every[] = "@every ";
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(text, words[i]) == 0)
            return true;
    if (strncmp(text, every, sizeof(every) - 1) != 0)
        return refuse(why, "unrecognized descriptor: %s", text);
    const char *duration = text + sizeof(every) - 1;
    return is_duration(duration) ||
           refuse(why, "failed to parse duration %s: time: invalid duration \"%s\"", text, duration);
}

bool ki_as_schedule_check(const char *text, char why[KI_AS_SCHEDULE_WHY_BYTES])
{
    static const char space[] = " \t\n\v\f\r";
    size_t count = 0;
    ki_str fields[FIELDS] = {{0}};
    if (strstr(text, "TZ") != NULL)
        return refuse(why, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
    if (text[0] == '@')
        return check_word(text, why);
    for (const char *at = text + strspn(text, space); *at != '\0'; count++) {
        size_t len = strcspn(at, space);
        if (count < FIELDS)
            fields[count] = (ki_str){at, len};
        at += len;
        at += strspn(at, space);
    }
    if (count != FIELDS)
        return refuse(why, "expected exactly 5 fields, found %zu: [%s]", count, text);
    for (size_t i = 0; i < FIELDS; i++)
        if (!check_field(fields[i], &all_bounds[i], why))
            return false;
    return true;
}
