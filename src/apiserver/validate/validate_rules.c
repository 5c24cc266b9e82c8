/* SPDX-License-Identifier: Apache-2.0 */
/* Checks values of built-in kinds beyond their types, by the rules of rules.txt. */
#include <arpa/inet.h>
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/validate/validate_parts.h"
#include "apiserver/value/quantity.h"
#include "apiserver/value/tree.h"

enum { PORT_MAX = 65535, DETAIL_BYTES = 160, ADDRESS_BYTES = 64, ADDRESS_BITS = 32, ADDRESS_BITS_LONG = 128 };

/* null counts as unset. */
static const json_t *member_of(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_null(value) ? NULL : value;
}

static bool is_empty(const json_t *value)
{
    return value == NULL || (json_is_string(value) && json_string_length(value) == 0) ||
           (json_is_array(value) && json_array_size(value) == 0) ||
           (json_is_object(value) && json_object_size(value) == 0);
}

/* ---- numbers ------------------------------------------------------------------------------------------- */

static const char *say_least(const struct ki_as_rule *rule)
{
    assert(rule->kind == KI_AS_RULE_MIN);
    if (rule->detail != NULL)
        return rule->detail;
    return rule->low == 0 ? "must be greater than or equal to 0" : "must be greater than 0";
}

static void check_amounts(struct ki_as_check *check, const struct ki_as_path *path,
                          const struct ki_as_rule *rule, const json_t *amounts)
{
    assert(json_is_object(amounts));
    const ki_quantity_text zero = {0};
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)amounts, name, value)
    {
        ki_quantity_text quantity;
        if (ki_as_quantity_of(value, &quantity) != 0)
            continue;
        int order = ki_as_quantity_compare(&quantity, &zero);
        if (order < 0 || (order == 0 && rule->low > 0))
            ki_as_check_invalid(check, KI_AS_KEY(path, name), value, say_least(rule));
    }
}

static void check_least(struct ki_as_check *check, const struct ki_as_path *path,
                        const struct ki_as_rule *rule, const json_t *value)
{
    if (json_is_object(value))
        check_amounts(check, path, rule, value);
    else if (json_is_integer(value) && json_integer_value(value) < rule->low)
        ki_as_check_invalid(check, path, value, say_least(rule));
}

static void check_range(struct ki_as_check *check, const struct ki_as_path *path,
                        const struct ki_as_rule *rule, const json_t *value)
{
    assert(rule->low <= rule->high);
    if (rule->detail == NULL)
        ki_as_check_range(check, path, value, rule->low, rule->high);
    else if (json_is_integer(value) &&
             (json_integer_value(value) < rule->low || json_integer_value(value) > rule->high))
        ki_as_check_invalid(check, path, value, rule->detail);
}

static void check_port(struct ki_as_check *check, const struct ki_as_path *path, const json_t *value)
{
    json_t *nothing = value == NULL ? json_integer(0) : NULL;
    if (json_is_string(value))
        ki_as_check_name(check, path, ki_as_json_str(value), ki_as_check_port_name);
    else
        ki_as_check_range(check, path, value == NULL ? nothing : value, 1, PORT_MAX);
    json_decref(nothing);
}

static void check_percent(struct ki_as_check *check, const struct ki_as_path *path,
                          const struct ki_as_rule *rule, const json_t *value)
{
    assert(rule->low >= 0);
    static const char form[] =
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', "
        "regex used for validation is '[0-9]+%')";
    const char *text = json_string_value(value);
    char detail[DETAIL_BYTES];
    ki_as_check_not_negative(check, path, value);
    if (text == NULL)
        return;
    size_t digits = strspn(text, "0123456789");
    (void)snprintf(detail, sizeof(detail), "must not be greater than %lld%%", (long long)rule->low);
    if (digits == 0 || strcmp(text + digits, "%") != 0)
        ki_as_check_invalid(check, path, value, form);
    else if (rule->low > 0 && strtoll(text, NULL, 10) > rule->low)
        ki_as_check_invalid(check, path, value, detail);
}

/* No quantity may exceed the quantity of the same name in `limits`. */
static void check_within(struct ki_as_check *check, const struct ki_as_path *path, const json_t *amounts,
                         const json_t *limits)
{
    const char *name = NULL;
    json_t *value = NULL;
    json_object_foreach((json_t *)amounts, name, value)
    {
        const json_t *limit = json_object_get(limits, name);
        ki_quantity_text low;
        ki_quantity_text high;
        char detail[DETAIL_BYTES];
        if (limit == NULL || ki_as_quantity_of(value, &low) != 0 || ki_as_quantity_of(limit, &high) != 0 ||
            ki_as_quantity_compare(&low, &high) <= 0)
            continue;
        (void)snprintf(detail, sizeof(detail), "must be less than or equal to %s limit of %s", name,
                       json_is_string(limit) ? json_string_value(limit) : "");
        ki_as_cut_at_character(detail);
        ki_as_check_invalid(check, path, value, detail);
    }
}

/* ---- texts --------------------------------------------------------------------------------------------- */

static bool is_ip(const char *text)
{
    unsigned char address[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1;
}

static bool is_cidr(const char *text)
{
    char address[ADDRESS_BYTES];
    const char *slash = strchr(text, '/');
    size_t len = slash == NULL ? 0 : (size_t)(slash - text);
    if (len == 0 || len >= sizeof(address))
        return false;
    memcpy(address, text, len);
    address[len] = '\0';
    size_t digits = strspn(slash + 1, "0123456789");
    long bits = strtol(slash + 1, NULL, 10);
    return digits > 0 && slash[1 + digits] == '\0' && is_ip(address) &&
           bits <= (strchr(address, ':') == NULL ? ADDRESS_BITS : ADDRESS_BITS_LONG);
}

static void check_text(struct ki_as_check *check, const struct ki_as_path *path,
                       const struct ki_as_rule *rule, const json_t *value)
{
    static const ki_as_name_check names[] = {
        [KI_AS_RULE_LABEL] = ki_as_check_label,           [KI_AS_RULE_SUBDOMAIN] = ki_as_check_subdomain,
        [KI_AS_RULE_LABEL_1035] = ki_as_check_label_1035, [KI_AS_RULE_SEGMENT] = ki_as_check_path_segment,
        [KI_AS_RULE_KEY] = ki_as_check_label_key,         [KI_AS_RULE_PORT_NAME] = ki_as_check_port_name,
    };
    const char *text = json_string_value(value);
    if (text == NULL || text[0] == '\0')
        return;
    if (rule->kind == KI_AS_RULE_ONE_OF)
        ki_as_check_one_of(check, path, value, rule->words);
    else if (rule->kind == KI_AS_RULE_IP && !is_ip(text))
        ki_as_check_invalid(check, path, value,
                            "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    else if (rule->kind == KI_AS_RULE_CIDR && !is_cidr(text))
        ki_as_check_invalid(check, path, value,
                            "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
    else if (rule->kind == KI_AS_RULE_ABSOLUTE && text[0] != '/')
        ki_as_check_invalid(check, path, value, "must be an absolute path");
    else if (rule->kind < KI_AS_RULE_IP)
        ki_as_check_name(check, path, ki_as_json_str(value), names[rule->kind]);
}

/* ---- objects ------------------------------------------------------------------------------------------- */

static void check_members(struct ki_as_check *check, const struct ki_as_path *path,
                          const struct ki_as_rule *rule, const json_t *object)
{
    assert(rule->words != NULL && rule->detail != NULL);
    size_t count = 0;
    for (const char *const *word = rule->words; *word != NULL; word++) {
        if (member_of(object, *word) == NULL)
            continue;
        count++;
        if (rule->kind == KI_AS_RULE_SINGLE && count == 2)
            ki_as_check_forbidden(check, KI_AS_MEMBER(path, *word), rule->detail);
    }
    if (rule->kind == KI_AS_RULE_SOME && count == 0)
        ki_as_check_required(check, path, rule->detail);
}

/* Checks a value, or an element of a list. */
static void check_one(struct ki_as_check *check, const struct ki_as_path *path, const struct ki_as_rule *rule,
                      const json_t *value)
{
    switch (rule->kind) {
    case KI_AS_RULE_MIN:
        check_least(check, path, rule, value);
        return;
    case KI_AS_RULE_RANGE:
        check_range(check, path, rule, value);
        return;
    case KI_AS_RULE_PERCENT:
        check_percent(check, path, rule, value);
        return;
    case KI_AS_RULE_LABELS:
        ki_as_check_labels(check, path, value);
        return;
    default:
        check_text(check, path, rule, value);
    }
}

static void check_rule(struct ki_as_check *check, const struct ki_as_path *path,
                       const struct ki_as_rule *rule, const json_t *object)
{
    assert(rule->kind <= KI_AS_RULE_SINGLE && rule->field != NULL);
    const struct ki_as_path *at = KI_AS_MEMBER(path, rule->field);
    const json_t *value = member_of(object, rule->field);
    const json_t *element = NULL;
    size_t index = 0;
    if (rule->kind == KI_AS_RULE_SOME || rule->kind == KI_AS_RULE_SINGLE)
        check_members(check, path, rule, object);
    else if (rule->kind == KI_AS_RULE_REQUIRED && is_empty(value))
        ki_as_check_required(check, at, rule->detail == NULL ? "" : rule->detail);
    else if (rule->kind == KI_AS_RULE_PORT)
        check_port(check, at, value);
    else if (rule->kind == KI_AS_RULE_WITHIN)
        check_within(check, at, value, member_of(object, rule->words[0]));
    else if (rule->kind != KI_AS_RULE_REQUIRED && !json_is_array(value))
        check_one(check, at, rule, value);
    if (rule->kind == KI_AS_RULE_REQUIRED)
        return;
    json_array_foreach(value, index, element)
    {
        check_one(check, KI_AS_ELEMENT(at, index), rule, element);
    }
}

void ki_as_check_rules(struct ki_as_check *check, const struct ki_as_path *path,
                       const struct ki_as_schema *schema, const json_t *object)
{
    assert(check != NULL && schema != NULL);
    const struct ki_as_rule *rule = &ki_as_rules[schema->first_rule];
    for (size_t i = 0; i < schema->rule_count; i++)
        check_rule(check, path, &rule[i], object);
}
