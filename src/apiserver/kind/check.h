/* SPDX-License-Identifier: Apache-2.0 */
/* check - collects an object's validation errors, field by field, with Kubernetes' messages.
 *
 *   From:     apiserver/validate/, apiserver/kind/prune.c, apiserver/kind/schema_budget.c
 *   To:       the causes of a 422
 *   Locks:    none
 *   Not here: the rules
 */
#ifndef KI_APISERVER_KIND_CHECK_H
#define KI_APISERVER_KIND_CHECK_H

#include <jansson.h>
#include <stdbool.h>

#include "apiserver/value/names.h"

/* The path of a value, linked from the innermost part outwards; built on the stack while the checks
 * descend. */
struct ki_as_path {
    const struct ki_as_path *parent;
    const char *name; /* of a member; NULL for a list element */
    size_t index;
    bool is_key; /* "labels[a]" rather than "labels.a" */
};

#define KI_AS_PATH(name_) (&(struct ki_as_path){.name = (name_)})
#define KI_AS_MEMBER(parent_, name_) (&(struct ki_as_path){.parent = (parent_), .name = (name_)})
#define KI_AS_ELEMENT(parent_, index_) (&(struct ki_as_path){.parent = (parent_), .index = (index_)})
#define KI_AS_KEY(parent_, name_) (&(struct ki_as_path){.parent = (parent_), .name = (name_), .is_key = true})

enum { KI_AS_PATH_BYTES = 512 };

/* Writes "spec.containers[0].name", truncated if it is too long. */
void ki_as_path_write(const struct ki_as_path *path, char out[KI_AS_PATH_BYTES]);

/* Beyond either limit, causes are counted but not stored: an object may have an error in almost every byte,
 * and each cause takes far more than a byte. */
enum { KI_AS_CAUSES_MAX = 100, KI_AS_CAUSES_BYTES_MAX = 1 << 20 };

struct ki_as_schema_budget;

/* A zeroed struct has found nothing. */
struct ki_as_check {
    json_t *causes;
    size_t count;                       /* of causes found, including those for which memory was missing */
    size_t said;                        /* how many causes are in `causes`, or would be with enough memory */
    size_t said_bytes;                  /* bytes of the values in `causes` */
    bool is_quiet;                      /* counts causes without storing them */
    struct ki_as_schema_budget *budget; /* for checks against a schema */
};

/* Appends the causes of another check. Takes `other`. */
void ki_as_check_join(struct ki_as_check *check, struct ki_as_check *other);
/* Records that a check ran out of memory. */
void ki_as_check_no_memory(struct ki_as_check *check);
/* "Required value", followed by `detail` unless that is "". */
void ki_as_check_required(struct ki_as_check *check, const struct ki_as_path *path, const char *detail);
void ki_as_check_forbidden(struct ki_as_check *check, const struct ki_as_path *path, const char *detail);
/* Adds "Forbidden" even beyond the limit of causes: it says that the rest of the object was not checked. */
void ki_as_check_given_up(struct ki_as_check *check, const struct ki_as_path *path, const char *detail);
void ki_as_check_invalid(struct ki_as_check *check, const struct ki_as_path *path, const json_t *value,
                         const char *detail);
void ki_as_check_invalid_text(struct ki_as_check *check, const struct ki_as_path *path, ki_str text,
                              const char *detail);
/* `supported` ends with NULL. The message lists the values as Kubernetes does. */
void ki_as_check_unsupported(struct ki_as_check *check, const struct ki_as_path *path, const json_t *value,
                             const char *const *supported);
void ki_as_check_duplicate(struct ki_as_check *check, const struct ki_as_path *path, const json_t *value);
/* The limit comes from a schema, so it may even be negative. */
void ki_as_check_too_long(struct ki_as_check *check, const struct ki_as_path *path, int64_t bytes_max);
void ki_as_check_too_many(struct ki_as_check *check, const struct ki_as_path *path, size_t count,
                          int64_t count_max);
/* Adds one cause per complaint. */
void ki_as_check_name(struct ki_as_check *check, const struct ki_as_path *path, ki_str text,
                      ki_as_name_check name_check);
/* Checks that the integer `value` is between `low` and `high`. Other types are ignored. */
void ki_as_check_range(struct ki_as_check *check, const struct ki_as_path *path, const json_t *value,
                       int64_t low, int64_t high);
void ki_as_check_not_negative(struct ki_as_check *check, const struct ki_as_path *path, const json_t *value);
/* Checks that `value`, if it is a string, is one of `supported`. */
void ki_as_check_one_of(struct ki_as_check *check, const struct ki_as_path *path, const json_t *value,
                        const char *const *supported);

#endif
