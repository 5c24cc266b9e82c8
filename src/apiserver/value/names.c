/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/value/names.h"

#include <assert.h>
#include <string.h>

#include "util/text/byte.h"

#define LABEL_1123 "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
#define QUALIFIED "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"
#define REGEX(message, examples, pattern)                                                                    \
    message " (e.g. " examples ", regex used for validation is '" pattern "')"

#define SUBDOMAIN_MESSAGE                                                                                    \
    REGEX("a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', "  \
          "and "                                                                                             \
          "must start and end with an alphanumeric character",                                               \
          "'example.com'", LABEL_1123 "(\\." LABEL_1123 ")*")
#define QUALIFIED_MESSAGE                                                                                    \
    REGEX("must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an "        \
          "alphanumeric character",                                                                          \
          "'MyName',  or 'my.name',  or '123-abc'", QUALIFIED)

static void complain(struct ki_as_complaints *complaints, const char *text)
{
    assert(complaints->count <= KI_AS_COMPLAINTS_MAX);
    if (complaints->count < KI_AS_COMPLAINTS_MAX)
        complaints->texts[complaints->count++] = text;
}

static bool is_label(ki_str text)
{
    if (text.len == 0 || !ki_byte_is_lower_or_digit(text.ptr[0]) ||
        !ki_byte_is_lower_or_digit(text.ptr[text.len - 1]))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (!ki_byte_is_lower_or_digit(text.ptr[i]) && text.ptr[i] != '-')
            return false;
    }
    return true;
}

static bool is_subdomain(ki_str text)
{
    for (;;) {
        const char *dot = text.len > 0 ? memchr(text.ptr, '.', text.len) : NULL;
        size_t len = dot == NULL ? text.len : (size_t)(dot - text.ptr);
        if (!is_label((ki_str){text.ptr, len}))
            return false;
        if (dot == NULL)
            return true;
        text = (ki_str){dot + 1, text.len - len - 1};
    }
}

/* The part of a label key after the prefix; it must not be empty. */
static bool is_qualified(ki_str text)
{
    if (text.len == 0 || !ki_byte_is_letter_or_digit(text.ptr[0]) ||
        !ki_byte_is_letter_or_digit(text.ptr[text.len - 1]))
        return false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!ki_byte_is_letter_or_digit(c) && c != '-' && c != '_' && c != '.')
            return false;
    }
    return true;
}

struct ki_as_complaints ki_as_check_subdomain(ki_str text)
{
    struct ki_as_complaints complaints = {0};
    if (text.len > 253)
        complain(&complaints, "must be no more than 253 characters");
    if (!is_subdomain(text))
        complain(&complaints, SUBDOMAIN_MESSAGE);
    return complaints;
}

struct ki_as_complaints ki_as_check_label(ki_str text)
{
    struct ki_as_complaints complaints = {0};
    if (text.len > 63)
        complain(&complaints, "must be no more than 63 characters");
    if (is_label(text))
        return complaints;
    if (is_subdomain(text))
        complain(&complaints, "must not contain dots");
    else
        complain(
            &complaints,
            REGEX("a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and "
                  "must start and end with an alphanumeric character",
                  "'my-name',  or '123-abc'", LABEL_1123));
    return complaints;
}

struct ki_as_complaints ki_as_check_label_1035(ki_str text)
{
    struct ki_as_complaints complaints = {0};
    if (text.len > 63)
        complain(&complaints, "must be no more than 63 characters");
    if (!is_label(text) || !ki_byte_is_lower(text.ptr[0]))
        complain(
            &complaints,
            REGEX("a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
                  "alphabetic character, and end with an alphanumeric character",
                  "'my-name',  or 'abc-123'", "[a-z]([-a-z0-9]*[a-z0-9])?"));
    return complaints;
}

struct ki_as_complaints ki_as_check_path_segment(ki_str text)
{
    struct ki_as_complaints complaints = {0};
    if (ki_str_equal(text, KI_STR(".")))
        complain(&complaints, "may not be '.'");
    else if (ki_str_equal(text, KI_STR("..")))
        complain(&complaints, "may not be '..'");
    if (text.len > 0 && memchr(text.ptr, '/', text.len) != NULL)
        complain(&complaints, "may not contain '/'");
    if (text.len > 0 && memchr(text.ptr, '%', text.len) != NULL)
        complain(&complaints, "may not contain '%'");
    return complaints;
}

struct ki_as_complaints ki_as_check_label_key(ki_str text)
{
    struct ki_as_complaints complaints = {0};
    const char *slash = text.len > 0 ? memchr(text.ptr, '/', text.len) : NULL;
    ki_str name = text;
    if (slash != NULL) {
        ki_str prefix = {text.ptr, (size_t)(slash - text.ptr)};
        name = (ki_str){slash + 1, text.len - prefix.len - 1};
        assert(prefix.len + 1 + name.len == text.len);
        if (name.len > 0 && memchr(name.ptr, '/', name.len) != NULL) {
            complain(&complaints,
                     "a valid label key " QUALIFIED_MESSAGE
                     " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')");
            return complaints;
        }
        if (prefix.len == 0)
            complain(&complaints, "prefix part must be non-empty");
        if (prefix.len > 253)
            complain(&complaints, "prefix part must be no more than 253 bytes");
        if (prefix.len > 0 && !is_subdomain(prefix))
            complain(&complaints, "prefix part " SUBDOMAIN_MESSAGE);
    }
    if (name.len == 0)
        complain(&complaints, "name part must be non-empty");
    else if (name.len > 63)
        complain(&complaints, "name part must be no more than 63 bytes");
    if (!is_qualified(name))
        complain(&complaints, "name part " QUALIFIED_MESSAGE);
    return complaints;
}

struct ki_as_complaints ki_as_check_label_value(ki_str text)
{
    struct ki_as_complaints complaints = {0};
    if (text.len > 63)
        complain(&complaints, "must be no more than 63 bytes");
    if (text.len > 0 && !is_qualified(text))
        complain(
            &complaints,
            REGEX("a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
                  "'.', and must start and end with an alphanumeric character",
                  "'MyValue',  or 'my_value',  or '12345'", "(" QUALIFIED ")?"));
    return complaints;
}

struct ki_as_complaints ki_as_check_port_name(ki_str text)
{
    struct ki_as_complaints complaints = {0};
    bool is_good = text.len > 0;
    bool has_letter = false;
    bool has_two_hyphens = false;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        is_good = is_good && (ki_byte_is_lower_or_digit(c) || c == '-');
        has_letter = has_letter || ki_byte_is_lower(c);
        has_two_hyphens = has_two_hyphens || (i > 0 && c == '-' && text.ptr[i - 1] == '-');
    }
    if (text.len > 15)
        complain(&complaints, "must be no more than 15 characters");
    if (!is_good)
        complain(&complaints, "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    if (!has_letter)
        complain(&complaints, "must contain at least one letter (a-z)");
    if (has_two_hyphens)
        complain(&complaints, "must not contain consecutive hyphens");
    if (text.len > 0 && (text.ptr[0] == '-' || text.ptr[text.len - 1] == '-'))
        complain(&complaints, "must not begin or end with a hyphen");
    return complaints;
}
