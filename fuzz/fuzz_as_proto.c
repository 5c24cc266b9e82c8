/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_as_proto - any bytes as a body in protobuf.
 *
 * A body that is accepted becomes a tree that JSON can represent: written as JSON and read again, it is the
 * same. Written as protobuf, read and written again, it has the same bytes.
 * A body that is refused gives a Status.
 */
#include <kinformer/error.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "apiserver/kind/proto.h"
#include "apiserver/kind/proto_write.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void check_writing(const json_t *tree)
{
    ki_buf first;
    ki_buf second;
    json_t *again = NULL;
    struct ki_as_failure failure = {0};
    ki_buf_init(&first, 1 << 24);
    ki_buf_init(&second, 1 << 24);
    int rc = ki_as_proto_object(&first, tree);
    require(rc == 0 || rc == KI_ERR_RESOURCE || rc == KI_ERR_TOO_LARGE);
    if (rc == 0) {
        require(ki_as_proto_parse(ki_buf_str(&first), &again, &failure) == 0);
        require(ki_as_proto_object(&second, again) == 0);
        require(first.len == second.len && memcmp(first.data, second.data, first.len) == 0);
    }
    json_decref(again);
    ki_buf_fini(&first);
    ki_buf_fini(&second);
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
    check_writing(tree);
    json_decref(tree);
    return 0;
}
