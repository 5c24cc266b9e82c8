/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_as_proto - any bytes as a body in protobuf.
 *
 * What is read is a tree that JSON can hold: written and read again, it is the same.
 * What is refused has a Status.
 */
#include <stdint.h>
#include <stdlib.h>

#include "apiserver/kind/proto.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ki_as_failure failure = {0};
    json_t *tree = NULL;
    if (ki_as_proto_parse((ki_str){(const char *)data, size}, &tree, &failure) < 0) {
        require(failure.code == 400 && failure.status != NULL && tree == NULL);
        ki_as_failure_fini(&failure);
        return 0;
    }
    char *text = json_dumps(tree, JSON_COMPACT | JSON_REAL_PRECISION(17));
    require(text != NULL);
    json_t *again = json_loads(text, 0, NULL);
    require(again != NULL && json_equal(tree, again));
    free(text);
    json_decref(again);
    json_decref(tree);
    return 0;
}
