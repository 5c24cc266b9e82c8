/* SPDX-License-Identifier: Apache-2.0 */
#include "apiserver/decode.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "apiserver/plain.h"
#include "util/alloc.h"

/* DEPTH_MAX: as jansson's own. DIGITS_MAX: that any number of so many fits into 64 bits.
 * NEAR_BYTES: that keys of lists fit into. */
enum { DEPTH_MAX = 2048, DIGITS_MAX = 18, NEAR_BYTES = 128 };

struct reader {
    const char *at;
    const char *end;
    unsigned depth;
    bool has_duplicates; /* some object has a key twice */
};

/* NULL: it gives up. */
static json_t *read_value(struct reader *reader);

static void skip_space(struct reader *reader)
{
    while (reader->at < reader->end &&
           (*reader->at == ' ' || *reader->at == '\n' || *reader->at == '\t' || *reader->at == '\r'))
        reader->at++;
}

static bool take(struct reader *reader, char c)
{
    skip_space(reader);
    if (reader->at == reader->end || *reader->at != c)
        return false;
    reader->at++;
    return true;
}

/* Up to the closing quote, which is passed: what is between, if that is a string as it stands. */
static bool take_plain(struct reader *reader, ki_str *out, bool *out_is_ascii)
{
    const char *start = reader->at;
    const char *at = start;
    uint64_t all = 0;
    for (; reader->end - at >= 8; at += 8) {
        uint64_t word = ki_as_word_at(at);
        uint64_t marks = ki_as_word_marks(word);
        if (marks != 0) {
            /* Only what is below the lowest mark is before the first byte that is not plain. */
            all |= word & ((marks & -marks) - 1) & KI_AS_EVERY_BYTE(0x80);
            at += ki_as_word_before(marks);
            break;
        }
        all |= word & KI_AS_EVERY_BYTE(0x80);
    }
    while (at < reader->end && ki_as_is_plain((unsigned char)*at))
        all |= (unsigned char)*at++ & 0x80U;
    if (at == reader->end || *at != '"')
        return false;
    *out = (ki_str){start, (size_t)(at - start)};
    *out_is_ascii = all == 0;
    reader->at = at + 1;
    return true;
}

static int hex_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The character of four digits as UTF-8. Returns how many bytes,
 * 0 for what is left to jansson: NUL, surrogates. */
static size_t write_unicode(const char *digits, char *out)
{
    unsigned code = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_of(digits[i]);
        if (digit < 0)
            return 0;
        code = code << 4 | (unsigned)digit;
    }
    if (code == 0 || (code >= 0xd800 && code < 0xe000))
        return 0;
    if (code < 0x80) {
        out[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        out[0] = (char)(0xc0 | code >> 6);
        out[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    out[0] = (char)(0xe0 | code >> 12);
    out[1] = (char)(0x80 | (code >> 6 & 0x3f));
    out[2] = (char)(0x80 | (code & 0x3f));
    return 3;
}

/* Behind a backslash; what it stands for is never longer.
 * Returns how many bytes were written, 0: it gives up. */
static size_t take_escape(struct reader *reader, char *out)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    if (reader->end - reader->at < 1 || *reader->at == '\0')
        return 0;
    const char *found = strchr(from, *reader->at++);
    if (found != NULL) {
        *out = to[found - from];
        return 1;
    }
    if (reader->at[-1] != 'u' || reader->end - reader->at < 4)
        return 0;
    reader->at += 4;
    return write_unicode(reader->at - 4, out);
}

/* A string with escapes that has been read: near unless it is long. */
struct unescaped {
    char *text;
    size_t len;
    char near[NEAR_BYTES];
};

static void unescaped_fini(struct unescaped *string)
{
    if (string->text != string->near)
        ki_free(string->text);
}

/* Ends with the first quote that no backslash is before, which is passed. False: it gives up. */
static bool take_escaped(struct reader *reader, struct unescaped *out)
{
    const char *close = reader->at;
    out->text = out->near;
    out->len = 0;
    while (close < reader->end && *close != '"')
        close += *close == '\\' ? 2 : 1;
    if (close >= reader->end)
        return false;
    size_t bytes = (size_t)(close - reader->at);
    if (bytes > sizeof(out->near))
        out->text = ki_malloc(bytes);
    bool is_good = out->text != NULL;
    while (is_good && reader->at < close) {
        char c = *reader->at++;
        if (c != '\\') {
            is_good = (unsigned char)c >= 0x20;
            out->text[out->len++] = c;
        } else {
            size_t written = take_escape(reader, out->text + out->len);
            is_good = written > 0;
            out->len += written;
        }
    }
    is_good = is_good && reader->at == close;
    reader->at = close + 1;
    return is_good;
}

static json_t *read_escaped(struct reader *reader)
{
    struct unescaped string;
    json_t *value = take_escaped(reader, &string) ? json_stringn(string.text, string.len) : NULL;
    unescaped_fini(&string);
    return value;
}

static json_t *read_string(struct reader *reader)
{
    ki_str text = {0};
    bool is_ascii = false;
    if (!take_plain(reader, &text, &is_ascii))
        return read_escaped(reader);
    return is_ascii ? json_stringn_nocheck(text.ptr, text.len) : json_stringn(text.ptr, text.len);
}

static json_t *read_integer(struct reader *reader)
{
    bool is_negative = *reader->at == '-';
    const char *start = reader->at + is_negative;
    const char *at = start;
    json_int_t number = 0;
    while (at < reader->end && *at >= '0' && *at <= '9' && at - start < DIGITS_MAX)
        number = number * 10 + (*at++ - '0');
    bool is_odd = at == start || at == reader->end || (*start == '0' && (at - start > 1 || is_negative));
    if (is_odd || (*at >= '0' && *at <= '9') || *at == '.' || *at == 'e' || *at == 'E')
        return NULL;
    reader->at = at;
    return json_integer(is_negative ? -number : number);
}

/* Takes the value over; NULL is a failure. Keys that are not ASCII are checked. */
static bool set_member(json_t *object, ki_str key, bool is_ascii, json_t *value)
{
    if (is_ascii)
        return json_object_setn_new_nocheck(object, key.ptr, key.len, value) == 0;
    return json_object_setn_new(object, key.ptr, key.len, value) == 0;
}

/* A key with escapes, as those of managedFields are. */
static bool read_escaped_member(struct reader *reader, json_t *object)
{
    struct unescaped key;
    bool is_good = take_escaped(reader, &key) && take(reader, ':') &&
                   set_member(object, (ki_str){key.text, key.len}, false, read_value(reader));
    unescaped_fini(&key);
    return is_good;
}

static bool read_member(struct reader *reader, json_t *object)
{
    ki_str key = {0};
    bool is_ascii = false;
    if (!take(reader, '"'))
        return false;
    if (!take_plain(reader, &key, &is_ascii))
        return read_escaped_member(reader, object);
    return take(reader, ':') && set_member(object, key, is_ascii, read_value(reader));
}

static json_t *read_object(struct reader *reader)
{
    json_t *object = json_object();
    bool is_good = object != NULL;
    size_t count = 0;
    if (is_good && take(reader, '}'))
        return object;
    do {
        is_good = is_good && read_member(reader, object);
        count++;
    } while (is_good && take(reader, ','));
    reader->has_duplicates |= json_object_size(object) < count;
    if (is_good && take(reader, '}'))
        return object;
    json_decref(object);
    return NULL;
}

static json_t *read_array(struct reader *reader)
{
    json_t *array = json_array();
    bool is_good = array != NULL;
    if (is_good && take(reader, ']'))
        return array;
    do {
        json_t *value = is_good ? read_value(reader) : NULL;
        is_good = value != NULL && json_array_append_new(array, value) == 0;
    } while (is_good && take(reader, ','));
    if (is_good && take(reader, ']'))
        return array;
    json_decref(array);
    return NULL;
}

static bool take_word(struct reader *reader, ki_str word)
{
    if ((size_t)(reader->end - reader->at) < word.len || memcmp(reader->at, word.ptr, word.len) != 0)
        return false;
    reader->at += word.len;
    return true;
}

static json_t *read_nested(struct reader *reader)
{
    char first = *reader->at++;
    if (reader->depth == DEPTH_MAX)
        return NULL;
    reader->depth++;
    json_t *value = first == '{' ? read_object(reader) : read_array(reader);
    reader->depth--;
    return value;
}

static json_t *read_value(struct reader *reader)
{
    skip_space(reader);
    if (reader->at == reader->end)
        return NULL;
    switch (*reader->at) {
    case '{':
    case '[':
        return read_nested(reader);
    case '"':
        reader->at++;
        return read_string(reader);
    case 't':
        return take_word(reader, KI_STR("true")) ? json_true() : NULL;
    case 'f':
        return take_word(reader, KI_STR("false")) ? json_false() : NULL;
    case 'n':
        return take_word(reader, KI_STR("null")) ? json_null() : NULL;
    default:
        return read_integer(reader);
    }
}

/* What this one has given up. */
static json_t *decode_slowly(ki_str text, bool *out_has_duplicates, json_error_t *error)
{
    const char *bytes = text.len == 0 ? "" : text.ptr;
    json_t *tree = json_loadb(bytes, text.len, 0, error);
    if (tree != NULL && out_has_duplicates != NULL) {
        json_t *again = json_loadb(bytes, text.len, JSON_REJECT_DUPLICATES, NULL);
        *out_has_duplicates = again == NULL;
        json_decref(again);
    }
    return tree;
}

/* `out_has_duplicates` may be NULL. */
static json_t *decode(ki_str text, bool *out_has_duplicates, json_error_t *error)
{
    struct reader reader = {text.ptr, text.ptr + text.len, 0, false};
    skip_space(&reader);
    bool is_container = reader.at < reader.end && (*reader.at == '{' || *reader.at == '[');
    json_t *tree = is_container ? read_value(&reader) : NULL;
    skip_space(&reader);
    if (tree != NULL && reader.at == reader.end) {
        if (out_has_duplicates != NULL)
            *out_has_duplicates = reader.has_duplicates;
        return tree;
    }
    json_decref(tree);
    return decode_slowly(text, out_has_duplicates, error);
}

json_t *ki_as_decode(ki_str text, json_error_t *error)
{
    return decode(text, NULL, error);
}

/* A short text cannot be. */
static bool is_too_deep(ki_str text)
{
    size_t depth = 0;
    bool is_string = false;
    for (size_t i = 0; text.len >= 2 * (size_t)KI_AS_LEVELS_MAX && i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '"')
            is_string = !is_string;
        else if (is_string)
            i += c == '\\' ? 1 : 0;
        else if (c == '{' || c == '[')
            depth++;
        else if ((c == '}' || c == ']') && depth > 0)
            depth--;
        if (depth > KI_AS_LEVELS_MAX)
            return true;
    }
    return false;
}

json_t *ki_as_decode_body(ki_str text, bool *out_has_duplicates, json_error_t *error)
{
    if (!is_too_deep(text))
        return decode(text, out_has_duplicates, error);
    *error = (json_error_t){0};
    (void)snprintf(error->text, sizeof(error->text), "nested deeper than %d levels", KI_AS_LEVELS_MAX);
    return NULL;
}
