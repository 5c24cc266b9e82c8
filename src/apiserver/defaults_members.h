/* SPDX-License-Identifier: Apache-2.0 */
/* defaults_members - what the members of an object are when they are not said, as a tree of tables.
 *
 *   From:     defaults_pod.c, whose objects are the many
 *   To:       jansson
 *   Locks:    none
 *   Not here: kinds of which there are few (defaults_parts.h: paths are easier to read)
 *
 * The members that are there are gone through once, instead of being searched for one by one.
 */
#ifndef KI_APISERVER_DEFAULTS_MEMBERS_H
#define KI_APISERVER_DEFAULTS_MEMBERS_H

#include <jansson.h>
#include <kinformer/common.h>

/* One that has an `inner` table is not made when it is missing. */
struct ki_as_member {
    ki_str name;
    enum {
        KI_AS_MEMBER_TEXT,
        KI_AS_MEMBER_NUMBER,
        KI_AS_MEMBER_TRUE,
        KI_AS_MEMBER_OBJECT,
        KI_AS_MEMBER_WITHIN, /* members of the object that is there */
        KI_AS_MEMBER_EACH,   /* members of the objects in the list that is there */
    } kind;
    const char *text;
    int64_t number;
    const struct ki_as_members *inner;
};

/* At most 64. */
struct ki_as_members {
    const struct ki_as_member *entries;
    size_t count;
};

#define KI_AS_MEMBER_NAME(name_)                                                                             \
    {                                                                                                        \
        "" name_, sizeof(name_) - 1                                                                          \
    }
#define KI_AS_HAS_TEXT(name_, text_)                                                                         \
    {                                                                                                        \
        KI_AS_MEMBER_NAME(name_), KI_AS_MEMBER_TEXT, text_, 0, NULL                                          \
    }
#define KI_AS_HAS_NUMBER(name_, number_)                                                                     \
    {                                                                                                        \
        KI_AS_MEMBER_NAME(name_), KI_AS_MEMBER_NUMBER, NULL, number_, NULL                                   \
    }
#define KI_AS_HAS_TRUE(name_)                                                                                \
    {                                                                                                        \
        KI_AS_MEMBER_NAME(name_), KI_AS_MEMBER_TRUE, NULL, 0, NULL                                           \
    }
#define KI_AS_HAS_OBJECT(name_)                                                                              \
    {                                                                                                        \
        KI_AS_MEMBER_NAME(name_), KI_AS_MEMBER_OBJECT, NULL, 0, NULL                                         \
    }
#define KI_AS_WITHIN(name_, inner_)                                                                          \
    {                                                                                                        \
        KI_AS_MEMBER_NAME(name_), KI_AS_MEMBER_WITHIN, NULL, 0, inner_                                       \
    }
#define KI_AS_EACH(name_, inner_)                                                                            \
    {                                                                                                        \
        KI_AS_MEMBER_NAME(name_), KI_AS_MEMBER_EACH, NULL, 0, inner_                                         \
    }
#define KI_AS_MEMBERS(table_)                                                                                \
    {                                                                                                        \
        table_, sizeof(table_) / sizeof((table_)[0])                                                         \
    }

/* Anything but an object stays as it is. 0 or KI_ERR_NO_MEMORY. */
KI_NODISCARD int ki_as_defaults_members(json_t *object, const struct ki_as_members *members);

#endif
