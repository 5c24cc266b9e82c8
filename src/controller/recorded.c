/* SPDX-License-Identifier: Apache-2.0 */
#include "controller/recorded.h"

#include <stdbool.h>
#include <string.h>

#include "util/alloc.h"

/* ---- UTF-8 ------------------------------------------------------------------------------------------- */

/* The length of the UTF-8 character at `at`, where `n` > 0 bytes can be read; 0: it is not valid. */
static size_t character_bytes(const unsigned char *at, size_t n)
{
    static const struct {
        unsigned char first, last, least, most; /* the ranges of the first byte and of the second */
        size_t bytes;
    } forms[] = {{0x00, 0x7f, 0, 0, 1},       {0xc2, 0xdf, 0x80, 0xbf, 2}, {0xe0, 0xe0, 0xa0, 0xbf, 3},
                 {0xe1, 0xec, 0x80, 0xbf, 3}, {0xed, 0xed, 0x80, 0x9f, 3}, {0xee, 0xef, 0x80, 0xbf, 3},
                 {0xf0, 0xf0, 0x90, 0xbf, 4}, {0xf1, 0xf3, 0x80, 0xbf, 4}, {0xf4, 0xf4, 0x80, 0x8f, 4}};
    size_t i = 0;
    while (i < sizeof(forms) / sizeof(forms[0]) && (at[0] < forms[i].first || at[0] > forms[i].last))
        i++;
    if (i == sizeof(forms) / sizeof(forms[0]) || forms[i].bytes > n)
        return 0;
    if (forms[i].bytes > 1 && (at[1] < forms[i].least || at[1] > forms[i].most))
        return 0;
    for (size_t k = 2; k < forms[i].bytes; k++)
        if ((at[k] & 0xc0) != 0x80)
            return 0;
    return forms[i].bytes;
}

/* Copies whole characters as long as they fit into `bytes_max`. Bytes that are not UTF-8 become '?'. */
static size_t copy_text(char *out, ki_str text, size_t bytes_max)
{
    size_t written = 0;
    for (size_t i = 0; i < text.len;) {
        size_t bytes = character_bytes((const unsigned char *)text.ptr + i, text.len - i);
        size_t step = bytes == 0 ? 1 : bytes;
        if (step > bytes_max - written)
            break;
        memcpy(out + written, bytes == 0 ? "?" : text.ptr + i, step);
        written += step;
        i += step;
    }
    return written;
}

/* ---- making ------------------------------------------------------------------------------------------ */

static void set_object(ki_str *parts, const ki_object *object, const ki_recorded_part where[6])
{
    parts[where[0]] = ki_object_api_version(object);
    parts[where[1]] = ki_object_kind(object);
    parts[where[2]] = ki_object_namespace(object);
    parts[where[3]] = ki_object_name(object);
    parts[where[4]] = ki_object_uid(object);
    parts[where[5]] = ki_object_resource_version(object);
}

static void borrow_parts(ki_str *parts, const ki_record *record)
{
    static const ki_recorded_part regarding[6] = {KI_RECORDED_API_VERSION, KI_RECORDED_KIND,
                                                  KI_RECORDED_NAMESPACE,   KI_RECORDED_NAME,
                                                  KI_RECORDED_UID,         KI_RECORDED_VERSION};
    static const ki_recorded_part related[6] = {KI_RECORDED_RELATED_API_VERSION, KI_RECORDED_RELATED_KIND,
                                                KI_RECORDED_RELATED_NAMESPACE,   KI_RECORDED_RELATED_NAME,
                                                KI_RECORDED_RELATED_UID,         KI_RECORDED_RELATED_VERSION};
    set_object(parts, record->object, regarding);
    if (record->related != NULL)
        set_object(parts, record->related, related);
    parts[KI_RECORDED_TYPE] = record->severity == KI_RECORD_WARNING ? KI_STR("Warning") : KI_STR("Normal");
    parts[KI_RECORDED_REASON] = record->reason;
    parts[KI_RECORDED_ACTION] = record->action.len > 0 ? record->action : record->reason;
    parts[KI_RECORDED_MESSAGE] = record->message;
}

static size_t bytes_max_of(int part, size_t message_bytes_max)
{
    if (part == KI_RECORDED_MESSAGE)
        return message_bytes_max;
    return part == KI_RECORDED_REASON || part == KI_RECORDED_ACTION ? KI_REASON_BYTES : SIZE_MAX;
}

ki_recorded *ki_recorded_new(const ki_record *record, size_t message_bytes_max)
{
    ki_str parts[KI_RECORDED_PARTS] = {{0}};
    borrow_parts(parts, record);
    size_t bytes = sizeof(ki_recorded);
    for (int i = 0; i < KI_RECORDED_PARTS; i++) {
        size_t most = bytes_max_of(i, message_bytes_max);
        bytes += (parts[i].len < most ? parts[i].len : most) + 1;
    }
    ki_recorded *event = ki_malloc(bytes);
    if (event == NULL)
        return NULL;
    *event = (ki_recorded){.refs = 1};
    char *at = event->text;
    for (int i = 0; i < KI_RECORDED_PARTS; i++) {
        event->parts[i] = (ki_str){at, copy_text(at, parts[i], bytes_max_of(i, message_bytes_max))};
        at += event->parts[i].len;
        *at++ = 0;
    }
    return event;
}

ki_recorded *ki_recorded_ref(ki_recorded *event)
{
    event->refs++;
    return event;
}

void ki_recorded_unref(ki_recorded *event)
{
    if (event != NULL && --event->refs == 0)
        ki_free(event);
}

/* ---- comparing --------------------------------------------------------------------------------------- */

static ki_lru_key key_of(ki_str text, const ki_recorded_hash *hash)
{
    return (ki_lru_key){ki_hash(&hash->a, text), ki_hash(&hash->b, text)};
}

ki_lru_key ki_recorded_key(const ki_recorded *event, ki_recorded_part last, const ki_recorded_hash *hash)
{
    const char *end = event->parts[last].ptr + event->parts[last].len + 1;
    return key_of((ki_str){event->text, (size_t)(end - event->text)}, hash);
}

ki_lru_key ki_recorded_identity(const ki_recorded *event, const ki_recorded_hash *hash)
{
    const ki_lru_key both[2] = {ki_recorded_key(event, KI_RECORDED_REASON, hash),
                                key_of(event->parts[KI_RECORDED_MESSAGE], hash)};
    return key_of((ki_str){(const char *)both, sizeof(both)}, hash);
}

ki_str ki_recorded_namespace(const ki_recorded *event)
{
    ki_str ns = event->parts[KI_RECORDED_NAMESPACE];
    return ns.len > 0 ? ns : KI_STR("default");
}
