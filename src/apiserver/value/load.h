/* SPDX-License-Identifier: Apache-2.0 */
/* load - objects from YAML or JSON: several documents, Lists, whole folders.
 *
 *   From:     --load, ki_apiserver_load(), a request with Content-Type: application/yaml
 *   To:       JSON trees
 *   Locks:    none
 *   Not here: storing them
 */
#ifndef KI_APISERVER_VALUE_LOAD_H
#define KI_APISERVER_VALUE_LOAD_H

#include <jansson.h>
#include <kinformer/common.h>
#include <kinformer/error.h>

/* All documents of a YAML (or JSON) text as an array; empty documents are left out, Lists are not opened.
 * Plain scalars become null, booleans and numbers as Kubernetes reads them: YAML 1.1, in which "yes" is
 * true, "0123" is 83 and "1e3" is 1000 (see the tests). Aliases are copied within a bound; "<<" merges.
 * `file` names the source in errors: "pods.yaml:12: …". */
KI_NODISCARD int ki_as_yaml_parse(ki_str text, const char *file, json_t **out_documents, ki_error *err);

/* The same for the body of a request, in which the last of several members with one name counts. */
KI_NODISCARD int ki_as_yaml_parse_body(ki_str text, json_t **out_documents, ki_error *err);

/* Documents, and where they stand: two numbers for each, which of the file it is, and its line; from 1 on. */
struct ki_as_documents {
    json_t *trees;
    json_t *places;
};
/* The same with places; the caller drops both. */
KI_NODISCARD int ki_as_yaml_parse_placed(ki_str text, const char *file, struct ki_as_documents *out,
                                         ki_error *err);

/* Where an object comes from. */
struct ki_as_load_place {
    const char *file;
    size_t document;
    size_t line;
    size_t item; /* of a List; 0: it is in none */
};

/* A negative answer ends the load and is returned; it has an error of its own. */
typedef int (*ki_as_load_cb)(json_t *object, const struct ki_as_load_place *place, void *user, ki_error *err);

struct ki_as_load {
    ki_as_load_cb take;
    void *user;
    size_t files; /* that were read */
};

/* Calls `take` with each object (items of Lists one by one) of a file, or of all *.yaml, *.yml and *.json of
 * a folder and of the folders in it, in the order of their names. What is hidden is left alone. */
KI_NODISCARD int ki_as_load_path(const char *path, struct ki_as_load *load, ki_error *err);

/* "pods.yaml:12: document 3: " or "…: document 3, item 2: ". */
void ki_as_load_place_write(const struct ki_as_load_place *place, char *out, size_t bytes);

#endif
