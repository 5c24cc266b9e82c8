/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/request/accept.h"

#include <assert.h>
#include <string.h>

#include "util/text/str.h"

/* Removes the part before `mark` from `*rest` and returns it. */
static ki_str next_part(ki_str *rest, char mark)
{
    const char *found = rest->len == 0 ? NULL : memchr(rest->ptr, mark, rest->len);
    size_t len = found == NULL ? rest->len : (size_t)(found - rest->ptr);
    ki_str part = {rest->ptr, len};
    size_t skip = found == NULL ? len : len + 1;
    assert(skip <= rest->len);
    *rest = (ki_str){rest->ptr + skip, rest->len - skip};
    return ki_str_trim(part);
}

ki_str ki_as_media_type(ki_str header)
{
    ki_str rest = header;
    return next_part(&rest, ';');
}

struct clause {
    ki_str as;
    ki_str group;
    ki_str version;
    bool is_refused; /* q=0 */
};

static struct clause read_parameters(ki_str rest)
{
    struct clause clause = {0};
    while (rest.len > 0) {
        ki_str value = next_part(&rest, ';');
        ki_str name = next_part(&value, '=');
        value = ki_str_trim(value);
        if (ki_str_is_word(name, "as"))
            clause.as = value;
        else if (ki_str_is_word(name, "g"))
            clause.group = value;
        else if (ki_str_is_word(name, "v"))
            clause.version = value;
        else if (ki_str_is_word(name, "q"))
            clause.is_refused = ki_str_is_word(value, "0") || ki_str_is_word(value, "0.0") ||
                                ki_str_is_word(value, "0.00") || ki_str_is_word(value, "0.000");
    }
    return clause;
}

static enum ki_as_form form_of(const struct clause *clause)
{
    if (clause->is_refused)
        return KI_AS_FORM_NONE;
    if (clause->as.len == 0)
        return KI_AS_FORM_JSON;
    if (ki_str_is_word(clause->group, "apidiscovery.k8s.io"))
        return ki_str_is_word(clause->as, "APIGroupDiscoveryList") && ki_str_is_word(clause->version, "v2")
                   ? KI_AS_FORM_DISCOVERY
                   : KI_AS_FORM_NONE;
    if (!ki_str_is_word(clause->group, "meta.k8s.io") || !ki_str_is_word(clause->version, "v1"))
        return KI_AS_FORM_NONE;
    if (ki_str_is_word(clause->as, "Table"))
        return KI_AS_FORM_TABLE;
    bool is_metadata = ki_str_is_word(clause->as, "PartialObjectMetadata") ||
                       ki_str_is_word(clause->as, "PartialObjectMetadataList");
    return is_metadata ? KI_AS_FORM_METADATA : KI_AS_FORM_NONE;
}

/* The protobuf form of a clause. There is none for tables and discovery. */
static enum ki_as_form proto_form_of(const struct clause *clause)
{
    enum ki_as_form form = form_of(clause);
    return form == KI_AS_FORM_JSON       ? KI_AS_FORM_PROTO
           : form == KI_AS_FORM_METADATA ? KI_AS_FORM_PROTO_METADATA
                                         : KI_AS_FORM_NONE;
}

/* The form of a media type without its parameters. So KI_AS_FORM_TABLE and other forms with a parameter are
 * JSON here. */
static enum ki_as_form form_of_type(ki_str type)
{
    static const char *const json[] = {"application/json", "*/*", "application/*"};
    static const char *const gnostic[] = {"application/com.github.proto-openapi.spec.v2@v1.0+protobuf",
                                          "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"};
    for (size_t i = 0; i < sizeof(json) / sizeof(json[0]); i++)
        if (ki_str_is_word(type, json[i]))
            return KI_AS_FORM_JSON;
    if (ki_str_is_word(type, "application/vnd.kubernetes.protobuf"))
        return KI_AS_FORM_PROTO;
    return ki_str_is_word(type, gnostic[0]) || ki_str_is_word(type, gnostic[1]) ? KI_AS_FORM_GNOSTIC
                                                                                : KI_AS_FORM_NONE;
}

enum ki_as_form ki_as_accept(ki_str header, unsigned allowed)
{
    assert(allowed != 0);
    if (ki_str_trim(header).len == 0)
        return KI_AS_FORM_JSON;
    while (header.len > 0) {
        ki_str rest = next_part(&header, ',');
        ki_str type = next_part(&rest, ';');
        enum ki_as_form form = form_of_type(type);
        struct clause clause = read_parameters(rest);
        if (form == KI_AS_FORM_PROTO)
            form = proto_form_of(&clause);
        else if (form == KI_AS_FORM_JSON || clause.is_refused)
            form = form_of(&clause);
        if (form != KI_AS_FORM_NONE && (allowed & 1U << form) != 0)
            return form;
    }
    return KI_AS_FORM_NONE;
}

bool ki_as_accepts_gzip(ki_str header)
{
    while (header.len > 0) {
        ki_str rest = next_part(&header, ',');
        ki_str name = next_part(&rest, ';');
        if (ki_str_is_word(name, "gzip"))
            return !read_parameters(rest).is_refused;
    }
    return false;
}

bool ki_as_is_for_people(ki_str user_agent)
{
    static const char *const programs[] = {"curl", "Wget", "Mozilla/5.0"};
    for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++) {
        size_t len = strlen(programs[i]);
        if (user_agent.len >= len && memcmp(user_agent.ptr, programs[i], len) == 0)
            return true;
    }
    return false;
}
