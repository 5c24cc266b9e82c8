/* SPDX-License-Identifier: Apache-2.0 */
/* schemas_table - the fields of all built-in kinds, as data: scripts/generate_schemas.py makes it from
 * schemas.txt, rules.txt and defaults.txt.
 *
 *   From:     apiserver/kind/, apiserver/validate/validate_rules.c; apiserver/kind/data/ has the rows
 *   Locks:    none; the data is constant
 *   Not here: custom resources
 */
#ifndef KI_APISERVER_KIND_SCHEMAS_TABLE_H
#define KI_APISERVER_KIND_SCHEMAS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Types without fields. A number from KI_AS_TYPE_COUNT on, less KI_AS_TYPE_COUNT, is an index into
 * ki_as_schemas. The order is that of the script. */
enum ki_as_type {
    KI_AS_TYPE_ANY,
    KI_AS_TYPE_OBJECT, /* with any members */
    KI_AS_TYPE_STRING,
    KI_AS_TYPE_TIME,
    KI_AS_TYPE_BYTES, /* base64 */
    KI_AS_TYPE_INTEGER,
    KI_AS_TYPE_INT32,
    KI_AS_TYPE_INT64,
    KI_AS_TYPE_NUMBER,
    KI_AS_TYPE_DOUBLE,
    KI_AS_TYPE_BOOLEAN,
    KI_AS_TYPE_INT_OR_STRING,
    KI_AS_TYPE_QUANTITY,
    KI_AS_TYPE_COUNT,
};

enum ki_as_field_shape { KI_AS_FIELD_ONE, KI_AS_FIELD_LIST, KI_AS_FIELD_MAP };

enum ki_as_field_flag {
    KI_AS_FIELD_REQUIRED = 1,
    KI_AS_FIELD_SET = 2,      /* a list of unique scalars */
    KI_AS_FIELD_ATOMIC = 4,   /* apply replaces it as a whole */
    KI_AS_FIELD_RETAIN = 8,   /* a strategic patch may list the members to keep */
    KI_AS_FIELD_MERGE = 16,   /* a strategic patch merges the list */
    KI_AS_FIELD_POINTER = 32, /* may be absent in protobuf; kept even if it is 0, false, "" or empty */
    KI_AS_FIELD_MICRO = 64,   /* a time with microseconds */
    KI_AS_FIELD_SCHEMA = 128, /* a JSON schema, or a boolean or array where those are allowed */
};

struct ki_as_schema_field {
    const char *name;
    const char *keys; /* of elements, for apply: "containerPort,protocol"; NULL if the list is not keyed */
    const char *merge_key; /* the key of elements for a strategic patch */
    uint16_t type;         /* of the elements, if the field is a list or map */
    uint8_t shape;
    uint8_t flags;
    /* In protobuf: the number of the message that contains the field, if JSON has the members of that message
     * inline. The upper four bits are for a message within that message. */
    uint8_t outer;
    uint8_t number; /* in protobuf; 0 if absent */
};

struct ki_as_schema {
    const char *name;        /* "io.k8s.api.core.v1.Pod" */
    const char *api_version; /* of a kind; NULL for a type that occurs only in other types */
    const char *kind;
    uint16_t first_field; /* in ki_as_schema_fields, sorted by name */
    uint16_t field_count;
    uint16_t first_rule; /* in ki_as_rules */
    uint16_t rule_count;
    uint16_t first_default; /* in ki_as_defaults */
    uint16_t default_count;
    bool is_atomic;
};

/* A rule applies to each element of a list, except REQUIRED, SOME and SINGLE. */
enum ki_as_rule_kind {
    KI_AS_RULE_REQUIRED, /* present and not empty */
    KI_AS_RULE_MIN,      /* a number, or each quantity of a map, is at least `low` */
    KI_AS_RULE_RANGE,
    KI_AS_RULE_ONE_OF, /* one of the words, if present */
    KI_AS_RULE_LABEL,  /* a valid name, if present; see names.h */
    KI_AS_RULE_SUBDOMAIN,
    KI_AS_RULE_LABEL_1035,
    KI_AS_RULE_SEGMENT,
    KI_AS_RULE_KEY,
    KI_AS_RULE_PORT_NAME,
    KI_AS_RULE_IP,
    KI_AS_RULE_CIDR,
    KI_AS_RULE_ABSOLUTE, /* a path that starts with '/', if present */
    KI_AS_RULE_PORT,     /* a port number or name; a missing one counts as 0 */
    KI_AS_RULE_PERCENT,  /* a count or a percentage; `low`: the largest percentage, 0 for no limit */
    KI_AS_RULE_LABELS,   /* a map of labels */
    KI_AS_RULE_WITHIN,   /* quantities not above those of the same names in the field named by the word */
    KI_AS_RULE_SOME,     /* at least one of the words is a member of the object */
    KI_AS_RULE_SINGLE,   /* at most one of the words is a member of the object */
};

/* A rule for values beyond their type. */
struct ki_as_rule {
    const char *field; /* "-" is the object itself */
    const char *const *words;
    const char *detail; /* instead of the default message of this kind of rule; NULL for the default */
    int64_t low;
    int64_t high;
    uint8_t kind;
};

enum ki_as_default_kind {
    KI_AS_DEFAULT_NULL,
    KI_AS_DEFAULT_FALSE,
    KI_AS_DEFAULT_TRUE,
    KI_AS_DEFAULT_NUMBER,
    KI_AS_DEFAULT_TEXT,
    KI_AS_DEFAULT_OBJECT, /* an empty object, which gets the defaults of its type */
    KI_AS_DEFAULT_JSON,   /* `text` is JSON */
    /* The kinds below are derived from the value at `source`. */
    KI_AS_DEFAULT_COPY,
    KI_AS_DEFAULT_MERGE,       /* a copy; if the member exists, it gets the members that it lacks */
    KI_AS_DEFAULT_SINGLE,      /* a list with a copy as its only element */
    KI_AS_DEFAULT_LOWER,       /* the text in lower case */
    KI_AS_DEFAULT_LIST_KIND,   /* the text with "List" appended */
    KI_AS_DEFAULT_PULL_POLICY, /* of an image */
    KI_AS_DEFAULT_ADDRESS,     /* of a service, by its name */
    KI_AS_DEFAULT_NODE_PORT,   /* of an element, by the name of the service and the index */
};

/* The default of a member. */
struct ki_as_default {
    /* Path of the object that gets the member, or of a list of such objects; NULL: the object of the type. */
    const char *owner;
    const char *name;
    const char *text;
    /* Path of a value. If the value is missing, there is no default. NULL: the default is constant. */
    const char *source;
    int64_t number;
    const char *other; /* path of a member on which the default depends; NULL: the default always applies */
    const char *const *words; /* values of `other` for which it applies; NULL: if `other` is present */
    bool is_unless;           /* inverts the condition */
    bool keeps_zero;          /* 0, false and "" count as values; otherwise they count as unset, as in Go */
    uint8_t kind;
};

extern const struct ki_as_schema_field ki_as_schema_fields[];
/* The first eight bytes of each field's name as a big-endian number, padded with zeros. */
extern const uint64_t ki_as_schema_openings[];
/* The fields of each schema in the order of protobuf, as indexes from its first field. */
extern const uint8_t ki_as_schema_wire_order[];
extern const struct ki_as_rule ki_as_rules[];
extern const struct ki_as_default ki_as_defaults[];
extern const struct ki_as_schema ki_as_schemas[];
extern const size_t ki_as_schema_count;
/* Indexes in ki_as_schemas of those that are kinds, sorted by kind. */
extern const uint16_t ki_as_schema_kinds[];
extern const size_t ki_as_schema_kind_count;

#endif
