/* SPDX-License-Identifier: Apache-2.0 */
/* load - reads objects from YAML or JSON: multiple documents, Lists, directories.
 *
 *   From:     apiserver/serve/direct.c: ki_apiserver_load(), --load; apiserver/serve/handle.c: requests with
 *             Content-Type: application/yaml
 *   To:       JSON trees
 *   Locks:    none
 *   Not here: storing the objects
 */
#ifndef KI_APISERVER_VALUE_LOAD_H
#define KI_APISERVER_VALUE_LOAD_H

#include <jansson.h>
#include <kinformer/common.h>
#include <kinformer/error.h>

/* The documents of a file. `places` has two numbers for each document, both counted from 1: which document of
 * the file it is, and its line. */
struct ki_as_documents {
    json_t *trees;
    json_t *places;
};

/* Parses all documents of a YAML (or JSON) text into arrays, which the caller releases. Empty documents are
 * skipped; Lists are not expanded. Plain scalars become null, booleans and numbers as Kubernetes reads them:
 * YAML 1.1, where "yes" is true, "0123" is 83 and "1e3" is 1000 (see the tests). Aliases are copied up to a
 * limit; "<<" merges. `file` names the source in errors: "pods.yaml:12: …". */
KI_NODISCARD int ki_as_yaml_parse(ki_str text, const char *file, struct ki_as_documents *out, ki_error *err);

/* Like ki_as_yaml_parse(), for a request body: without positions, and the last of several equal keys wins. */
KI_NODISCARD int ki_as_yaml_parse_body(ki_str text, json_t **out_documents, ki_error *err);

/* The origin of an object. */
struct ki_as_load_place {
    const char *file;
    size_t document;
    size_t line;
    size_t item; /* index in a List, from 1; 0 if not in a List */
};

/* Returns 0 to continue. A negative value, with the error set, ends the load;
 * ki_as_load_path() returns this value. */
typedef int (*ki_as_load_cb)(json_t *object, const struct ki_as_load_place *place, void *user, ki_error *err);

struct ki_as_load {
    ki_as_load_cb take;
    void *user;
    size_t files; /* number of files read */
};

/* Calls `take` with each object (each item of a List separately) in a file, or in all *.yaml, *.yml and
 * *.json files of a directory and its subdirectories, in the order of their names. Hidden files are
 * skipped. */
KI_NODISCARD int ki_as_load_path(const char *path, struct ki_as_load *load, ki_error *err);

/* "pods.yaml:12: document 3: " or "…: document 3, item 2: ". */
void ki_as_load_place_write(const struct ki_as_load_place *place, char *out, size_t bytes);

#endif
