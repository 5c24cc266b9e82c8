/* SPDX-License-Identifier: Apache-2.0 */
/* load - objects from YAML or JSON: several documents, Lists, whole folders.
 *
 *   From:     --load, ki_apiserver_load(), a request with Content-Type: application/yaml
 *   To:       JSON trees
 *   Locks:    none
 *   Not here: storing them
 */
#ifndef KI_APISERVER_LOAD_H
#define KI_APISERVER_LOAD_H

#include <jansson.h>
#include <kinformer/common.h>
#include <kinformer/error.h>

/* All documents of a YAML (or JSON) text as an array; empty documents are left out, Lists are not opened.
 * Plain scalars become null, booleans and numbers as Kubernetes reads them: YAML 1.1, in which "yes" is
 * true, "0123" is 83 and "1e3" is 1000 (see the tests). Aliases are copied within a bound; "<<" merges.
 * `file` names the source in errors: "pods.yaml:12: …". */
KI_NODISCARD int ki_as_yaml_parse(ki_str text, const char *file, json_t **out_documents, ki_error *err);

/* Calls `take` with each object (items of Lists one by one) of a file, or of all *.yaml, *.yml and *.json
 * of a folder in the order of their names. A negative answer of `take` ends it and is returned. */
typedef int (*ki_as_load_cb)(json_t *object, const char *file, void *user, ki_error *err);
KI_NODISCARD int ki_as_load_path(const char *path, ki_as_load_cb take, void *user, ki_error *err);

#endif
