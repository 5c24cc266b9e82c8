/* SPDX-License-Identifier: Apache-2.0 */
/* A change replaces one range of the text. No tree is built, and the text outside the range is unchanged,
 * byte for byte. The result is validated, so that a bug here, or nesting that many changes have made too
 * deep, cannot leave a body that is not JSON. */
#include <assert.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "json/body.h"
#include "util/error.h"

/* Replaces the bytes of `cut`, a range of the body's text. */
static int splice(ki_body *body, ki_str cut, ki_str with)
{
    ki_str text = ki_buf_str(&body->text);
    const char *end = cut.ptr + cut.len;
    assert(cut.ptr >= text.ptr && end <= text.ptr + text.len);
    ki_error why = {0};
    ki_buf made;
    ki_buf_init(&made, KI_BODY_BYTES_MAX + 1);
    int rc = ki_buf_append(&made, text.ptr, (size_t)(cut.ptr - text.ptr));
    if (rc == 0)
        rc = ki_buf_append_str(&made, with);
    if (rc == 0)
        rc = ki_buf_append(&made, end, (size_t)(text.ptr + text.len - end));
    if (rc == 0)
        rc = ki_body_end_text(&made);
    if (rc < 0)
        ki_error_set(&why, rc, 0, "body: %s", ki_error_text(rc));
    else
        rc = ki_json_validate(ki_buf_str(&made), &why);
    if (rc < 0) {
        ki_buf_fini(&made);
        return ki_body_fail(body, &why);
    }
    ki_buf_fini(&body->text);
    body->text = made;
    return 0;
}

/* ---- pointers ------------------------------------------------------------------------------------------ */

static bool is_pointer(const char *pointer)
{
    if (pointer == NULL || (pointer[0] != 0 && pointer[0] != '/'))
        return false;
    for (const char *at = strchr(pointer, '~'); at != NULL; at = strchr(at + 1, '~'))
        if (at[1] != '0' && at[1] != '1')
            return false;
    return true;
}

/* Removes the first part with its slash from *pointer and returns it: "/a" of "/a/b". Empty if there is
 * none. */
static ki_str take_part(const char **pointer)
{
    assert(**pointer == 0 || **pointer == '/');
    ki_str part = {*pointer, **pointer == 0 ? 0 : 1 + strcspn(*pointer + 1, "/")};
    *pointer += part.len;
    return part;
}

static void write_name(ki_json_writer *writer, ki_str part)
{
    assert(part.len > 0 && part.ptr[0] == '/');
    ki_buf name;
    ki_buf_init(&name, part.len);
    int rc = 0;
    for (size_t i = 1; i < part.len && rc == 0; i++) {
        char byte = part.ptr[i];
        if (byte == '~')
            byte = part.ptr[++i] == '1' ? '/' : '~';
        rc = ki_buf_append_byte(&name, byte);
    }
    if (rc < 0)
        ki_json_writer_fail(writer, rc, ki_error_text(rc));
    ki_json_write_name(writer, ki_buf_str(&name));
    ki_buf_fini(&name);
}

static bool appends(ki_str part)
{
    return ki_str_equal(part, KI_STR("/-"));
}

/* ---- setting ------------------------------------------------------------------------------------------- */

/* Writes the value in new containers, one for each part of the rest of the pointer. */
static void write_inside(ki_json_writer *writer, const char *rest, ki_json value)
{
    size_t outside = writer->depth;
    for (ki_str part = take_part(&rest); part.len > 0 && writer->error == 0; part = take_part(&rest)) {
        if (appends(part)) {
            ki_json_write_array_begin(writer);
        } else {
            ki_json_write_object_begin(writer);
            write_name(writer, part);
        }
    }
    ki_json_write_value(writer, value);
    while (writer->error == 0 && writer->depth > outside) {
        if (ki_json_writer_in_object(writer))
            ki_json_write_object_end(writer);
        else
            ki_json_write_array_end(writer);
    }
}

/* `written` is a container of the same type with only the new member or element in it. Its content is
 * inserted before the closing bracket of `container`, after a comma unless that is empty. */
static int insert(ki_body *body, ki_json container, ki_str written)
{
    assert(container.raw.len >= 2);
    assert(written.len >= 2 && written.ptr[0] == container.raw.ptr[0]);
    ki_json_iter iter = ki_json_iterate(container);
    ki_json ignored = {0};
    bool is_empty = !ki_json_next(&iter, NULL, &ignored);
    ki_str cut = {container.raw.ptr + container.raw.len - 1, 0};
    ki_buf text;
    ki_buf_init(&text, KI_BODY_BYTES_MAX);
    int rc = is_empty ? 0 : ki_buf_append_byte(&text, ',');
    if (rc == 0)
        rc = ki_buf_append(&text, written.ptr + 1, written.len - 2);
    if (rc < 0) {
        ki_error why = {0};
        ki_error_set(&why, rc, 0, "body: %s", ki_error_text(rc));
        rc = ki_body_fail(body, &why);
    } else {
        rc = splice(body, cut, ki_buf_str(&text));
    }
    ki_buf_fini(&text);
    return rc;
}

static bool is_behind_last(ki_json array, ki_str part)
{
    ki_json_iter iter = ki_json_iterate(array);
    ki_json ignored;
    char count[24];
    size_t n = 0;
    while (ki_json_next(&iter, NULL, &ignored))
        n++;
    int len = snprintf(count, sizeof(count), "/%zu", n);
    return appends(part) || ki_str_equal(part, (ki_str){count, (size_t)len});
}

static int fail_pointer(ki_body *body, int code, const char *pointer, const char *what)
{
    ki_error why = {0};
    ki_error_set(&why, code, 0, "body: \"%.200s\": %s", pointer, what);
    return ki_body_fail(body, &why);
}

/* How far a pointer can be followed: the innermost value that exists, and the rest of the pointer. */
typedef struct place {
    ki_json value;
    const char *rest;
} place;

static place find_place(const ki_body *body, const char *pointer)
{
    place p = {ki_body_json(body), pointer};
    while (*p.rest != 0) {
        const char *rest = p.rest;
        ki_json child = ki_json_find_str(p.value, take_part(&rest));
        if (ki_json_type_of(child) == KI_JSON_NONE)
            break;
        p = (place){child, rest};
    }
    return p;
}

/* Checks that the rest of the pointer can be added to the value. Returns 0 or the body's first error. */
static int check_place(ki_body *body, const place *p, const char *pointer)
{
    const char *rest = p->rest;
    ki_str part = take_part(&rest);
    switch (ki_json_type_of(p->value)) {
    case KI_JSON_OBJECT:
    case KI_JSON_NULL:
        return 0;
    case KI_JSON_ARRAY:
        if (part.len == 0 || is_behind_last(p->value, part))
            return 0;
        return fail_pointer(body, KI_ERR_NOT_FOUND, pointer, "the array has no such element");
    default:
        if (part.len == 0)
            return 0;
        return fail_pointer(body, KI_ERR_TYPE, pointer,
                            "a value on its path is neither an object nor an array");
    }
}

/* Writes the value that replaces the existing one; or, to add to a container, a container of the same type
 * with only the new member or element in it. The meaning of "-" and numbers depends on that type. */
static void write_new(ki_json_writer *writer, const place *p, ki_json value)
{
    const char *rest = p->rest;
    ki_str part = take_part(&rest);
    ki_json_type type = ki_json_type_of(p->value);
    if (part.len > 0 && type == KI_JSON_ARRAY) {
        ki_json_write_array_begin(writer);
        write_inside(writer, rest, value);
        ki_json_write_array_end(writer);
    } else if (part.len > 0 && type == KI_JSON_OBJECT) {
        ki_json_write_object_begin(writer);
        write_name(writer, part);
        write_inside(writer, rest, value);
        ki_json_write_object_end(writer);
    } else {
        write_inside(writer, p->rest, value);
    }
}

static int put(ki_body *body, const place *p, ki_json value)
{
    ki_json_writer *writer = ki_json_writer_new(NULL);
    ki_error why = {0};
    ki_str written = {0};
    if (writer == NULL)
        (void)ki_fail_no_memory(&why);
    else
        write_new(writer, p, value);
    if (writer != NULL)
        (void)!ki_json_writer_finish(writer, &written, &why);
    int rc = why.code;
    if (rc < 0)
        rc = ki_body_fail(body, &why);
    else if (*p->rest != 0 && ki_json_type_of(p->value) != KI_JSON_NULL)
        rc = insert(body, p->value, written);
    else
        rc = splice(body, p->value.raw, written);
    ki_json_writer_free(writer);
    return rc;
}

int ki_body_vset(ki_body *body, const char *pointer, const char *format, va_list args)
{
    int rc = ki_body_check(body, NULL);
    if (rc < 0)
        return rc;
    if (!is_pointer(pointer))
        return fail_pointer(body, KI_ERR_INVALID, pointer == NULL ? "" : pointer, "not a JSON Pointer");
    ki_body *value = ki_body_vformat(format, args);
    ki_error why = {0};
    if (ki_body_check(value, &why) < 0) {
        rc = ki_body_fail(body, &why);
    } else {
        place p = find_place(body, pointer);
        rc = check_place(body, &p, pointer);
        if (rc == 0)
            rc = put(body, &p, ki_body_json(value));
    }
    ki_body_free(value);
    return rc;
}

int ki_body_set(ki_body *body, const char *pointer, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int rc = ki_body_vset(body, pointer, format, args);
    va_end(args);
    return rc;
}

/* ---- removing ------------------------------------------------------------------------------------------ */

/* The bytes of an item with its name, if it has one, and one adjacent comma. */
static ki_str item_with_comma(ki_json container, ki_json item)
{
    ki_json_iter iter = ki_json_iterate(container);
    const char *start = container.raw.ptr + 1;
    ki_json name = {0};
    ki_json value = {0};
    ki_json next = {0};
    while (ki_json_next(&iter, &name, &value) && value.raw.ptr != item.raw.ptr)
        start = value.raw.ptr + value.raw.len; /* a comma follows */
    assert(value.raw.ptr == item.raw.ptr);
    const char *end = value.raw.ptr + value.raw.len;
    bool is_first = start == container.raw.ptr + 1;
    if (is_first && ki_json_next(&iter, &name, &next))
        end = name.raw.len > 0 ? name.raw.ptr : next.raw.ptr;
    return (ki_str){start, (size_t)(end - start)};
}

int ki_body_remove(ki_body *body, const char *pointer)
{
    int rc = ki_body_check(body, NULL);
    if (rc < 0)
        return rc;
    if (!is_pointer(pointer) || pointer[0] == 0)
        return fail_pointer(body, KI_ERR_INVALID, pointer == NULL ? "" : pointer,
                            "not a JSON Pointer to something in the body");
    ki_str parent = {pointer, (size_t)(strrchr(pointer, '/') - pointer)};
    ki_json container = ki_json_find_str(ki_body_json(body), parent);
    ki_json item = ki_json_find(ki_body_json(body), pointer);
    if (ki_json_type_of(item) == KI_JSON_NONE)
        return 0;
    rc = splice(body, item_with_comma(container, item), (ki_str){0});
    return rc < 0 ? rc : 1;
}
