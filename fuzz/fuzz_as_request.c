/* SPDX-License-Identifier: Apache-2.0 */
/* Reads any bytes as the address of a request to the embedded server, as its headers,
 * and as a continue token of its lists. */
#include <stdlib.h>
#include <string.h>

#include "apiserver/request/accept.h"
#include "apiserver/request/continue_token.h"
#include "apiserver/request/request.h"
#include "util/alloc.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_inside(ki_str part, const struct ki_as_request *request, size_t size)
{
    if (part.len == 0)
        return;
    if (part.ptr < request->memory || part.ptr + part.len > request->memory + 2 * size + 1)
        abort();
}

static void read_address(ki_str text)
{
    struct ki_as_request request = {0};
    struct ki_as_failure failure = {0};
    int rc = ki_as_request_parse(text, &request, &failure);
    if ((rc < 0) != (failure.code != 0))
        abort();
    if (rc == 0) {
        check_inside(request.path, &request, text.len);
        check_inside(request.name, &request, text.len);
        check_inside(request.query.label_selector, &request, text.len);
        if (request.target == KI_AS_TARGET_RESOURCE && (request.plural.len == 0 || request.version.len == 0))
            abort();
    }
    ki_as_failure_fini(&failure);
    ki_as_request_fini(&request);
}

static void read_token(ki_str text)
{
    struct ki_as_continue token = {0};
    struct ki_as_failure failure = {0};
    if (ki_as_continue_read(text, &token, &failure) == 0 && (token.after == NULL || token.version == 0))
        abort();
    ki_free(token.after);
    ki_as_failure_fini(&failure);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    ki_str text = {(const char *)data, size};
    read_address(text);
    read_token(text);
    (void)ki_as_accept(text, ~0U);
    (void)ki_as_accepts_gzip(text);
    (void)ki_as_is_for_people(text);
    return ki_as_media_type(text).len > size ? -1 : 0;
}
