/* SPDX-License-Identifier: Apache-2.0 */
#include "json/body.h"

#include <assert.h>

#include "util/alloc.h"
#include "util/error.h"

ki_body *ki_body_new(void)
{
    ki_body *body = ki_calloc(1, sizeof(*body));
    if (body != NULL)
        ki_buf_init(&body->text, KI_BODY_BYTES_MAX);
    return body;
}

void ki_body_free(ki_body *body)
{
    if (body == NULL)
        return;
    ki_buf_fini(&body->text);
    ki_free(body);
}

/* ---- failures ------------------------------------------------------------------------------------------ */

int ki_body_fail(ki_body *body, const ki_error *why)
{
    if (body == NULL)
        return KI_ERR_NO_MEMORY;
    if (body->error.code == 0) {
        assert(why->code < 0);
        body->error = *why;
        ki_buf_fini(&body->text);
    }
    return body->error.code;
}

int ki_body_check(const ki_body *body, ki_error *err)
{
    if (body == NULL)
        return ki_fail_no_memory(err);
    if (body->error.code != 0 && err != NULL)
        *err = body->error;
    return body->error.code;
}

ki_json ki_body_json(const ki_body *body)
{
    return body == NULL || body->error.code != 0 ? (ki_json){0} : (ki_json){ki_buf_str(&body->text)};
}

/* ---- texts --------------------------------------------------------------------------------------------- */

int ki_body_end_text(ki_buf *text)
{
    assert(text->max == KI_BODY_BYTES_MAX + 1);
    int rc = ki_buf_append_byte(text, 0);
    if (rc == 0)
        text->len--;
    return rc;
}

int ki_body_replace(ki_body *body, ki_str text)
{
    ki_error why = {0};
    ki_buf copy;
    if (ki_body_check(body, NULL) < 0)
        return ki_body_check(body, NULL);
    ki_buf_init(&copy, KI_BODY_BYTES_MAX + 1);
    int rc = ki_buf_append_str(&copy, text);
    if (rc == 0)
        rc = ki_body_end_text(&copy);
    if (rc < 0) {
        ki_error_set(&why, rc, 0, "body: %s", ki_error_text(rc));
        return ki_body_fail(body, &why);
    }
    ki_buf_fini(&body->text);
    body->text = copy;
    return 0;
}

ki_body *ki_body_copy(ki_json value)
{
    ki_body *body = ki_body_new();
    ki_error why = {0};
    if (body == NULL)
        return NULL;
    if (ki_json_validate(value.raw, &why) < 0)
        (void)ki_body_fail(body, &why);
    else
        (void)ki_body_replace(body, ki_json_of(value.raw).raw);
    return body;
}

ki_body *ki_body_vformat(const char *format, va_list args)
{
    ki_body *body = ki_body_new();
    ki_json_writer *writer = ki_json_writer_new(NULL);
    ki_error why = {0};
    ki_str text;
    if (body == NULL || writer == NULL) {
        ki_json_writer_free(writer);
        ki_body_free(body);
        return NULL;
    }
    if (ki_body_format_value(writer, format, args, &why) < 0 ||
        ki_json_writer_finish(writer, &text, &why) < 0)
        (void)ki_body_fail(body, &why);
    else
        (void)ki_body_replace(body, text);
    ki_json_writer_free(writer);
    return body;
}

ki_body *ki_body_format(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    ki_body *body = ki_body_vformat(format, args);
    va_end(args);
    return body;
}
