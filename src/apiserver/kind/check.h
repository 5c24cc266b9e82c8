/* SPDX-License-Identifier: Apache-2.0 */
/* check - collecting what is wrong with an object, field by field, in the words of Kubernetes.
 *
 *   From:     validate and its parts
 *   To:       the causes of a 422
 *   Locks:    none
 *   Not here: what is right or wrong
 */
#ifndef KI_APISERVER_KIND_CHECK_H
#define KI_APISERVER_KIND_CHECK_H

#include <jansson.h>
#include <stdbool.h>

#include "apiserver/value/names.h"

/* Where a value stands, from the inside out: made on the stack as the checks step down. */
struct ki_as_path {
    const struct ki_as_path *parent;
    const char *name; /* of a member; NULL: an element of a list */
    size_t index;
    bool is_key; /* "labels[a]" rather than "labels.a" */
};

#define KI_AS_PATH(name_) (&(struct ki_as_path){.name = (name_)})
#define KI_AS_MEMBER(parent_, name_) (&(struct ki_as_path){.parent = (parent_), .name = (name_)})
#define KI_AS_ELEMENT(parent_, index_) (&(struct ki_as_path){.parent = (parent_), .index = (index_)})
#define KI_AS_KEY(parent_, name_) (&(struct ki_as_path){.parent = (parent_), .name = (name_), .is_key = true})

enum { KI_AS_PATH_BYTES = 512 };

/* Writes "spec.containers[0].name", cut if it is longer. */
void ki_as_path_write(const struct ki_as_path *path, char out[KI_AS_PATH_BYTES]);

/* Behind the first of either, causes are counted and not said: one object may hold as many mistakes as it
 * has bytes, and each of them takes much more to tell. */
enum { KI_AS_CAUSES_MAX = 100, KI_AS_CAUSES_BYTES_MAX = 1 << 20 };

struct ki_as_schema_budget;

/* Zeroed: nothing found. */
struct ki_as_check {
    json_t *causes;
    size_t count;                       /* of what was found, also without memory to say it */
    size_t said;                        /* how many of them are, or would be with memory, in `causes` */
    size_t said_bytes;                  /* of the values in them */
    bool is_quiet;                      /* counts, and says nothing */
    struct ki_as_schema_budget *budget; /* of a check against a schema */
};

/* What another check has found comes behind. Takes it over. */
void ki_as_check_join(struct ki_as_check *check, struct ki_as_check *other);
/* It could not be looked at. */
void ki_as_check_no_memory(struct ki_as_check *check);
/* "Required value", and `detail` behind it unless it is "". */
void ki_as_check_required(struct ki_as_check *check, const struct ki_as_path *path, const char *detail);
void ki_as_check_forbidden(struct ki_as_check *check, const struct ki_as_path *path, const char *detail);
/* "Forbidden" as well, and said however much there is: nothing was looked at from there on. */
void ki_as_check_given_up(struct ki_as_check *check, const struct ki_as_path *path, const char *detail);
void ki_as_check_invalid(struct ki_as_check *check, const struct ki_as_path *path, const json_t *value,
                         const char *detail);
void ki_as_check_invalid_text(struct ki_as_check *check, const struct ki_as_path *path, ki_str text,
                              const char *detail);
/* `supported` ends with NULL; as Kubernetes lists them. */
void ki_as_check_unsupported(struct ki_as_check *check, const struct ki_as_path *path, const json_t *value,
                             const char *const *supported);
void ki_as_check_duplicate(struct ki_as_check *check, const struct ki_as_path *path, const json_t *value);
void ki_as_check_too_long(struct ki_as_check *check, const struct ki_as_path *path, size_t bytes_max);
void ki_as_check_too_many(struct ki_as_check *check, const struct ki_as_path *path, size_t count,
                          size_t count_max);
/* One cause a complaint. */
void ki_as_check_name(struct ki_as_check *check, const struct ki_as_path *path, ki_str text,
                      ki_as_name_check name_check);
/* An integer at `value` (nothing, if it is none) from `low` to `high`. */
void ki_as_check_range(struct ki_as_check *check, const struct ki_as_path *path, const json_t *value,
                       int64_t low, int64_t high);
void ki_as_check_not_negative(struct ki_as_check *check, const struct ki_as_path *path, const json_t *value);
/* A string at `value`, if any, is one of `supported`. */
void ki_as_check_one_of(struct ki_as_check *check, const struct ki_as_path *path, const json_t *value,
                        const char *const *supported);

#endif
