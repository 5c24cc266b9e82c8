/* SPDX-License-Identifier: Apache-2.0 */
/* recorded - one recorded answer, and the objects in it as another JSON library sees them.
 *
 *   From:     tests of objects and decoders
 *   To:       support/fixtures.h, jansson; every error fails the test
 */
#ifndef KI_TESTS_SUPPORT_RECORDED_H
#define KI_TESTS_SUPPORT_RECORDED_H

#include <jansson.h>
#include <kinformer/object.h>

#include "api/object/object_plan.h"
#include "support/decode_run.h"
#include "support/fixtures.h"

typedef struct recorded {
    fixture file;
    int status;
    ki_str body; /* unpacked, if it came as gzip */
    char *unpacked;
} recorded;

/* Loads "pods-list.http". */
void recorded_load(recorded *out, const char *name);
void recorded_free(recorded *answer);

/* How many files of the directory match a pattern, "*-list*.http". */
size_t recorded_count(const char *pattern);

/* The resource that kubectl or "plural.version.group" names; to be freed with ki_resource_free(). */
ki_resource *recorded_resource(const char *name);

/* What an object must be when the server sent `item`: a copy without managedFields, and with the kind and
 * apiVersion of the list (NULL: none) where it has none. To be given to json_decref(). */
json_t *recorded_object(const json_t *item, const json_t *list);

/* Every call of <kinformer/object.h> must say of the object what jansson says. */
void recorded_assert_object(const ki_object *object, json_t *expected);

/* 1 when the text is that of the reference's string, both empty if there is none. */
int recorded_same_text(ki_str text, const json_t *string);

/* A recorded list or watch, ready to be decoded. */
typedef struct recorded_subject {
    recorded answer;
    ki_resource *resource;
    ki_object_plan *plan;
} recorded_subject;

void recorded_subject_open(recorded_subject *s, const char *file, const char *resource);
void recorded_subject_close(recorded_subject *s);

/* Decodes the first bytes of the body. */
typedef void (*recorded_decode_cb)(const recorded_subject *s, size_t bytes, decode_split split,
                                   decode_run *out);
/* In pieces of any size, the same comes out. */
void recorded_assert_pieces(const recorded_subject *s, recorded_decode_cb decode);

#endif
