/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_as_yaml - YAML from any bytes: what is accepted can be written as JSON,
 * and reads back as the same value. */
#include <jansson.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/value/load.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ki_as_documents documents = {0};
    ki_error err = {0};
    if (ki_as_yaml_parse((ki_str){(const char *)data, size}, "input", &documents, &err) < 0) {
        require(err.code == KI_ERR_INVALID && strncmp(err.message, "input:", 6) == 0);
        return 0;
    }
    char *text = json_dumps(documents.trees, JSON_COMPACT | JSON_REAL_PRECISION(17));
    require(text != NULL);
    json_t *again = json_loads(text, 0, NULL);
    require(again != NULL && json_equal(documents.trees, again));
    free(text);
    json_decref(again);
    json_decref(documents.trees);
    json_decref(documents.places);
    return 0;
}
