/* SPDX-License-Identifier: Apache-2.0 */
/* A format is read once, from left to right. A writer adds the escapes and commas. The text of arguments is
 * never parsed as a format, so it cannot change the structure. */
#include <assert.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "json/body.h"
#include "json/number.h"
#include "json/text.h"
#include "util/error.h"

enum { DEPTH_MAX = 64 };

typedef struct source {
    const char *start;
    const char *at;
    ki_json_writer *writer;
    va_list args;
    ki_error *err;
    size_t depth;
    ki_buf text; /* of the current quoted string */
} source;

/* The value of an argument. A number has its JSON text in `digits`. */
typedef struct argument {
    bool is_text;
    bool is_real;
    bool is_null;
    ki_str text;
    char digits[KI_JSON_DOUBLE_BYTES];
} argument;

/* The result for an empty value, which a member with `?` omits; other results are 0 or negative. */
enum { EMPTY = 1 };

/* ---- reading ------------------------------------------------------------------------------------------- */

static int fail_at(source *s, const char *at, int code, const char *what)
{
    assert(at >= s->start && code < 0);
    size_t position = (size_t)(at - s->start);
    return ki_fail_at(s->err, code, position, "format, position %zu: %s: \"%.24s\"", position, what, at);
}

static int fail(source *s, const char *what)
{
    return fail_at(s, s->at, KI_ERR_INVALID, *s->at == 0 ? "it ends too early" : what);
}

static char skip_space(source *s)
{
    s->at += strspn(s->at, " \t\r\n");
    return *s->at;
}

static bool take(source *s, char wanted)
{
    if (skip_space(s) != wanted)
        return false;
    s->at++;
    return true;
}

static bool take_word(source *s, const char *word)
{
    size_t len = strlen(word);
    if (strncmp(s->at, word, len) != 0)
        return false;
    s->at += len;
    return true;
}

/* Returns 0, or the error of the writer, which may be out of memory. After an error its text is incomplete
 * and must not be read. */
static int check_writer(source *s)
{
    const ki_json_writer *writer = s->writer;
    return writer->error == 0 ? 0 : ki_fail(s->err, writer->error, "format: %s", writer->message);
}

static int check_text(source *s, const char *at, ki_str text)
{
    return ki_utf8_valid_len(text.ptr, text.len) == text.len
               ? 0
               : fail_at(s, at, KI_ERR_JSON_UTF8, "the text is not UTF-8");
}

/* ---- arguments ----------------------------------------------------------------------------------------- */

/* clang-analyzer does not follow a va_list in a struct. Which integer types are identical, and so have
 * equal branches, depends on the platform.
 * NOLINTBEGIN(clang-analyzer-valist.Uninitialized,bugprone-branch-clone) */

static int take_text(source *s, bool has_length, argument *out)
{
    int len = has_length ? va_arg(s->args, int) : 0;
    const char *text = va_arg(s->args, const char *);
    if (has_length && len < 0)
        return fail(s, "the length of the string is negative");
    if (text == NULL && len > 0)
        return fail(s, "the string is NULL");
    out->is_text = true;
    out->is_null = text == NULL && !has_length;
    out->text = has_length ? (ki_str){text, (size_t)len} : ki_str_of(text);
    return 0;
}

/* The integer type of the argument, from the letters before d, i or u. */
typedef enum integer_size {
    SIZE_INT,
    SIZE_CHAR,
    SIZE_SHORT,
    SIZE_LONG,
    SIZE_LONG_LONG,
    SIZE_MAX_T,
    SIZE_SIZE_T,
    SIZE_PTRDIFF
} integer_size;

static integer_size take_size(source *s)
{
    static const struct {
        const char *letters;
        integer_size size;
    } sizes[] = {{"hh", SIZE_CHAR}, {"h", SIZE_SHORT},  {"ll", SIZE_LONG_LONG}, {"l", SIZE_LONG},
                 {"j", SIZE_MAX_T}, {"z", SIZE_SIZE_T}, {"t", SIZE_PTRDIFF}};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        if (take_word(s, sizes[i].letters))
            return sizes[i].size;
    return SIZE_INT;
}

static intmax_t signed_argument(source *s, integer_size size)
{
    switch (size) {
    case SIZE_CHAR:
        return (signed char)va_arg(s->args, int);
    case SIZE_SHORT:
        return (short)va_arg(s->args, int);
    case SIZE_LONG:
        return va_arg(s->args, long);
    case SIZE_LONG_LONG:
        return va_arg(s->args, long long);
    case SIZE_MAX_T:
        return va_arg(s->args, intmax_t);
    case SIZE_SIZE_T:
    case SIZE_PTRDIFF:
        return va_arg(s->args, ptrdiff_t);
    case SIZE_INT:
        break;
    }
    return va_arg(s->args, int);
}

static uintmax_t unsigned_argument(source *s, integer_size size)
{
    switch (size) {
    case SIZE_CHAR:
        return (unsigned char)va_arg(s->args, int);
    case SIZE_SHORT:
        return (unsigned short)va_arg(s->args, int);
    case SIZE_LONG:
        return va_arg(s->args, unsigned long);
    case SIZE_LONG_LONG:
        return va_arg(s->args, unsigned long long);
    case SIZE_MAX_T:
        return va_arg(s->args, uintmax_t);
    case SIZE_SIZE_T:
    case SIZE_PTRDIFF:
        return va_arg(s->args, size_t);
    case SIZE_INT:
        break;
    }
    return va_arg(s->args, unsigned);
}

static int take_integer(source *s, argument *out)
{
    integer_size size = take_size(s);
    if (*s->at == 'd' || *s->at == 'i') {
        intmax_t number = signed_argument(s, size);
        (void)snprintf(out->digits, sizeof(out->digits), "%" PRIdMAX, number);
        out->is_null = number == 0;
    } else if (*s->at == 'u') {
        uintmax_t number = unsigned_argument(s, size);
        (void)snprintf(out->digits, sizeof(out->digits), "%" PRIuMAX, number);
        out->is_null = number == 0;
    } else {
        return fail(s, "not one of %s %.*s %d %i %u %g");
    }
    s->at++;
    out->text = ki_str_of(out->digits);
    return 0;
}

static int take_double(source *s, argument *out)
{
    double number = va_arg(s->args, double);
    if (!isfinite(number))
        return fail_at(s, s->at - 1, KI_ERR_INVALID, "JSON has no infinity and no NaN");
    out->is_real = true;
    out->is_null = !(number < 0) && !(number > 0);
    out->text = (ki_str){out->digits, ki_json_double_format(number, out->digits)};
    return 0;
}

/* NOLINTEND(clang-analyzer-valist.Uninitialized,bugprone-branch-clone) */

/* s->at is after the percent sign. */
static int take_argument(source *s, argument *out)
{
    *out = (argument){0};
    if (take_word(s, "s"))
        return take_text(s, false, out);
    if (take_word(s, ".*s"))
        return take_text(s, true, out);
    if (take_word(s, "g"))
        return take_double(s, out);
    return take_integer(s, out);
}

/* ---- strings ------------------------------------------------------------------------------------------- */

static int append(source *s, ki_str text)
{
    int rc = ki_buf_append_str(&s->text, text);
    return rc < 0 ? ki_fail(s->err, rc, "format: %s", ki_error_text(rc)) : 0;
}

static int append_argument(source *s)
{
    assert(*s->at == '%');
    const char *at = s->at++;
    argument a = {0};
    if (take_word(s, "%"))
        return append(s, KI_STR("%"));
    int rc = take_argument(s, &a);
    if (rc == 0 && a.is_text && a.is_null)
        return fail_at(s, at, KI_ERR_INVALID, "the string is NULL");
    return rc < 0 ? rc : append(s, a.text);
}

/* s->at is at the quote. The text up to the next quote is stored in s->text. */
static int take_quoted(source *s)
{
    assert(*s->at == '\'' || *s->at == '"');
    char quote = *s->at++;
    const char stops[] = {quote, '%', '\\', 0};
    const char *start = s->at;
    ki_buf_reset(&s->text, SIZE_MAX);
    for (;;) {
        size_t plain = strcspn(s->at, stops);
        int rc = append(s, (ki_str){s->at, plain});
        s->at += plain;
        if (rc < 0)
            return rc;
        if (*s->at == quote)
            break;
        if (*s->at != '%')
            return fail(s, "a backslash; pass such a text as an argument");
        rc = append_argument(s);
        if (rc < 0)
            return rc;
    }
    s->at++;
    return check_text(s, start, ki_buf_str(&s->text));
}

/* ---- scalars ------------------------------------------------------------------------------------------- */

static int write_text(source *s, const char *at, ki_str text)
{
    int rc = check_text(s, at, text);
    if (rc == 0)
        ki_json_write_string(s->writer, text);
    return rc;
}

/* s->at is at the percent sign. */
static int write_argument(source *s, bool may_be_empty)
{
    assert(*s->at == '%');
    const char *at = s->at++;
    argument a = {0};
    int rc = take_argument(s, &a);
    if (rc < 0)
        return rc;
    if (may_be_empty && (a.is_null || (a.is_text && a.text.len == 0)))
        return EMPTY;
    if (a.is_text && a.is_null)
        return fail_at(s, at, KI_ERR_INVALID, "the string is NULL");
    if (a.is_text)
        return write_text(s, at, a.text);
    ki_json_writer_raw_scalar(s->writer, a.text);
    return 0;
}

/* s->at is after "bool(" or "json(". */
static int take_parenthesis(source *s, argument *out)
{
    if (!take(s, '%'))
        return fail(s, "an argument is missing");
    int rc = take_argument(s, out);
    if (rc == 0 && !take(s, ')'))
        rc = fail(s, ") is missing");
    return rc;
}

static int write_bool(source *s, bool may_be_empty)
{
    const char *at = s->at;
    argument a = {0};
    int rc = take_parenthesis(s, &a);
    if (rc < 0)
        return rc;
    if (a.is_text || a.is_real)
        return fail_at(s, at, KI_ERR_INVALID, "bool() takes an integer argument");
    if (may_be_empty && a.is_null)
        return EMPTY;
    ki_json_write_bool(s->writer, !a.is_null);
    return 0;
}

static int write_json(source *s, bool may_be_empty)
{
    const char *at = s->at;
    argument a = {0};
    ki_error why = {0};
    int rc = take_parenthesis(s, &a);
    if (rc < 0)
        return rc;
    if (!a.is_text)
        return fail_at(s, at, KI_ERR_INVALID, "json() takes a string argument");
    if (a.text.len == 0)
        return may_be_empty ? EMPTY : fail_at(s, at, KI_ERR_INVALID, "the JSON text is empty");
    rc = ki_json_validate(a.text, &why);
    if (rc < 0)
        return fail_at(s, at, rc, why.message);
    ki_json_write_value(s->writer, ki_json_of(a.text));
    return 0;
}

static int write_literal(source *s)
{
    const char *at = s->at;
    ki_json_decimal ignored;
    ki_str word = {at, strcspn(at, ",:?]}()[{'\"% \t\r\n")};
    bool is_word = ki_str_equal(word, KI_STR("true")) || ki_str_equal(word, KI_STR("false")) ||
                   ki_str_equal(word, KI_STR("null"));
    if (word.len == 0)
        return fail(s, "a value is missing");
    if (!is_word && ki_json_decimal_parse(word, &ignored) != 0)
        return fail(s, "not a value; strings need quotes");
    s->at += word.len;
    ki_json_writer_raw_scalar(s->writer, word);
    return 0;
}

/* ---- containers ---------------------------------------------------------------------------------------- */

static int write_value(source *s, bool may_be_empty);

/* *out_name is valid until the next quoted string is read. */
static int take_name(source *s, ki_str *out_name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./$";
    const char *at = s->at;
    argument a = {0};
    int rc = 0;
    if (skip_space(s) == '\'' || *s->at == '"') {
        rc = take_quoted(s);
        *out_name = ki_buf_str(&s->text);
    } else if (*s->at == '%') {
        s->at++;
        rc = take_argument(s, &a);
        if (rc == 0 && (!a.is_text || a.is_null))
            return fail_at(s, at, KI_ERR_INVALID, "a name must be a string, not NULL");
        *out_name = a.text;
    } else {
        *out_name = (ki_str){s->at, strspn(s->at, letters)};
        s->at += out_name->len;
        if (out_name->len == 0)
            return fail(s, "a name is missing");
    }
    return rc < 0 ? rc : check_text(s, at, *out_name);
}

/* Whether a member of this name was already written. The object is not closed yet; its text ends where the
 * next member would begin. */
static bool has_member(const source *s, size_t object_at, ki_str name)
{
    const ki_buf *text = &s->writer->text;
    assert(object_at < text->len && text->data[object_at] == '{');
    ki_json object = {{text->data + object_at, text->len - object_at}};
    return ki_json_type_of(ki_json_member(object, name)) != KI_JSON_NONE;
}

/* Returns 0; EMPTY if the member was omitted, and its name removed from the text; or a negative code. */
static int write_member(source *s, size_t object_at)
{
    ki_json_mark mark = ki_json_writer_mark(s->writer);
    const char *at = s->at;
    ki_str name = {0};
    int rc = take_name(s, &name);
    if (rc < 0)
        return rc;
    bool is_twice = has_member(s, object_at, name);
    ki_json_write_name(s->writer, name);
    bool may_be_empty = take(s, '?');
    if (!take(s, ':'))
        return fail(s, ": is missing after the name");
    rc = write_value(s, may_be_empty);
    if (rc == EMPTY && may_be_empty) {
        ki_json_writer_rewind(s->writer, mark);
        return EMPTY;
    }
    if (rc >= 0 && is_twice)
        return fail_at(s, at, KI_ERR_INVALID, "the object has a member of this name already");
    return rc < 0 ? rc : 0;
}

static int write_members(source *s, bool *is_empty)
{
    size_t object_at = s->writer->text.len - 1;
    do {
        int rc = write_member(s, object_at);
        if (rc < 0)
            return rc;
        *is_empty = *is_empty && rc == EMPTY;
    } while (take(s, ','));
    return 0;
}

static int write_elements(source *s, bool *is_empty)
{
    *is_empty = false;
    do {
        int rc = write_value(s, false);
        if (rc < 0)
            return rc;
    } while (take(s, ','));
    return 0;
}

/* s->at is at the opening bracket. */
static int write_container(source *s, bool is_object)
{
    assert(*s->at == (is_object ? '{' : '['));
    char end = is_object ? '}' : ']';
    bool is_empty = true;
    if (++s->depth > DEPTH_MAX)
        return fail_at(s, s->at, KI_ERR_JSON_DEPTH, "nested too deeply");
    s->at++;
    (is_object ? ki_json_write_object_begin : ki_json_write_array_begin)(s->writer);
    int rc = check_writer(s);
    if (rc == 0 && skip_space(s) != end)
        rc = is_object ? write_members(s, &is_empty) : write_elements(s, &is_empty);
    if (rc < 0)
        return rc;
    if (!take(s, end))
        return fail(s, is_object ? ", or } is missing" : ", or ] is missing");
    assert(s->depth > 0);
    s->depth--;
    (is_object ? ki_json_write_object_end : ki_json_write_array_end)(s->writer);
    return is_empty ? EMPTY : 0;
}

static int write_quoted(source *s, bool may_be_empty)
{
    int rc = take_quoted(s);
    if (rc < 0)
        return rc;
    if (may_be_empty && s->text.len == 0)
        return EMPTY;
    ki_json_write_string(s->writer, ki_buf_str(&s->text));
    return 0;
}

static int write_any(source *s, bool may_be_empty)
{
    switch (skip_space(s)) {
    case '{':
    case '[':
        return write_container(s, *s->at == '{');
    case '%':
        return write_argument(s, may_be_empty);
    case '\'':
    case '"':
        return write_quoted(s, may_be_empty);
    default:
        if (take_word(s, "bool("))
            return write_bool(s, may_be_empty);
        if (take_word(s, "json("))
            return write_json(s, may_be_empty);
        return write_literal(s);
    }
}

/* Returns 0; EMPTY if an empty container was written or, with `may_be_empty`, if another empty value was
 * omitted; or a negative code. */
static int write_value(source *s, bool may_be_empty)
{
    int rc = write_any(s, may_be_empty);
    int written = rc < 0 ? 0 : check_writer(s);
    return written < 0 ? written : rc;
}

int ki_body_format_value(ki_json_writer *writer, const char *format, va_list args, ki_error *err)
{
    source s = {.start = format, .at = format, .writer = writer, .err = err};
    if (format == NULL)
        return ki_fail(err, KI_ERR_INVALID, "format: must not be NULL");
    va_copy(s.args, args);
    ki_buf_init(&s.text, KI_BODY_BYTES_MAX);
    int rc = write_value(&s, false);
    if (rc >= 0)
        rc = skip_space(&s) == 0 ? 0 : fail(&s, "text after the value");
    ki_buf_fini(&s.text);
    va_end(s.args);
    return rc;
}
