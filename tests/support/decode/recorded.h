/* SPDX-License-Identifier: Apache-2.0 */
/* recorded - one recorded response, and its objects as another JSON library reads them.
 *
 *   From:     tests of objects and decoders
 *   To:       support/decode/fixtures.h, jansson; every error fails the test
 */
#ifndef KI_TESTS_SUPPORT_DECODE_RECORDED_H
#define KI_TESTS_SUPPORT_DECODE_RECORDED_H

#include <jansson.h>
#include <kinformer/object.h>

#include "api/object/object_plan.h"
#include "support/decode/decode_run.h"
#include "support/decode/fixtures.h"

typedef struct recorded {
    fixture file;
    int status;
    ki_str body; /* decompressed */
    char *unpacked;
} recorded;

/* Loads a file such as "pods-list.http". */
void recorded_load(recorded *out, const char *name);
void recorded_free(recorded *answer);

/* How many files of the directory match a pattern such as "*-list*.http". */
size_t recorded_count(const char *pattern);

/* The resource of a name as in kubectl, or of "plural.version.group". Free it with ki_resource_free(). */
ki_resource *recorded_resource(const char *name);

/* The expected object if the server sent `item`: a copy without managedFields, and with the kind and
 * apiVersion of the list (NULL: none) if it has none. Free it with json_decref(). */
json_t *recorded_object(const json_t *item, const json_t *list);

/* Every call of <kinformer/object.h> must agree with jansson about the object. */
void recorded_assert_object(const ki_object *object, json_t *expected);

/* Returns 1 if the text equals the reference's string; an empty text also equals a missing string. */
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
/* The result must be the same for pieces of any size. */
void recorded_assert_pieces(const recorded_subject *s, recorded_decode_cb decode);

#endif
