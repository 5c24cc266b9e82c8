/* SPDX-License-Identifier: Apache-2.0 */
#include "support/decode/fixtures.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "util/error.h"

#ifndef KI_FIXTURES_DIR
#define KI_FIXTURES_DIR "tests/fixtures"
#endif

static FILE *open_fixture(const char *name, ki_error *err)
{
    const char *directory = getenv("KI_FIXTURES");
    if (directory == NULL || directory[0] == 0)
        directory = KI_FIXTURES_DIR;
    char path[PATH_MAX];
    errno = ENAMETOOLONG;
    int len = snprintf(path, sizeof(path), "%s/%s", directory, name);
    FILE *file = len < 0 || (size_t)len >= sizeof(path) ? NULL : fopen(path, "rbe");
    if (file == NULL)
        ki_fail(err, errno == ENOENT ? KI_ERR_NOT_FOUND : KI_ERR_SYSTEM, "opening %s failed", path);
    return file;
}

static int read_all(FILE *file, fixture *out)
{
    if (fseek(file, 0, SEEK_END) != 0)
        return KI_ERR_SYSTEM;
    long size = ftell(file);
    if (size < 0 || fseek(file, 0, SEEK_SET) != 0)
        return KI_ERR_SYSTEM;
    size_t len = (size_t)size;
    char *data = malloc(len + 1);
    if (data == NULL)
        return KI_ERR_NO_MEMORY;
    if (fread(data, 1, len, file) != len) {
        free(data);
        return KI_ERR_SYSTEM;
    }
    data[len] = 0;
    *out = (fixture){data, len};
    return 0;
}

int fixture_load(fixture *out, const char *name, ki_error *err)
{
    ki_error opening = {0};
    FILE *file = open_fixture(name, &opening);
    if (file == NULL)
        return ki_fail(err, opening.code, "%s", opening.message);
    int rc = read_all(file, out);
    fclose(file);
    return rc < 0 ? ki_fail(err, rc, "reading %s: %s", name, ki_error_text(rc)) : 0;
}

void fixture_free(fixture *file)
{
    free(file->data);
    *file = (fixture){0};
}

/* Splits the text at the first `mark`; `out_after` is the text after it.
 * Returns 0, or KI_ERR_INVALID without a mark. */
static int cut(ki_str text, ki_str mark, ki_str *out_before, ki_str *out_after)
{
    for (size_t i = 0; i + mark.len <= text.len; i++) {
        if (memcmp(text.ptr + i, mark.ptr, mark.len) != 0)
            continue;
        *out_before = (ki_str){text.ptr, i};
        *out_after = (ki_str){text.ptr + i + mark.len, text.len - i - mark.len};
        return 0;
    }
    return KI_ERR_INVALID;
}

/* "HTTP/1.1 200 OK" gives 200; any other line a negative code. */
static int parse_status(ki_str line)
{
    static const char start[] = "HTTP/1.1 ";
    const size_t at = sizeof(start) - 1;
    if (line.len < at + 3 || memcmp(line.ptr, start, at) != 0)
        return KI_ERR_INVALID;
    int status = 0;
    for (size_t i = at; i < at + 3; i++) {
        if (line.ptr[i] < '0' || line.ptr[i] > '9')
            return KI_ERR_INVALID;
        status = status * 10 + (line.ptr[i] - '0');
    }
    return status;
}

int fixture_split_http(ki_str answer, fixture_http *out)
{
    ki_str head;
    ki_str body;
    if (cut(answer, KI_STR("\r\n\r\n"), &head, &body) < 0)
        return KI_ERR_INVALID;
    head.len += 2; /* include the CRLF of the last line, so that every line has one */
    ki_str status_line;
    ki_str headers;
    if (cut(head, KI_STR("\r\n"), &status_line, &headers) < 0)
        return KI_ERR_INVALID;
    int status = parse_status(status_line);
    if (status < 0)
        return status;
    *out = (fixture_http){status, headers, body};
    return 0;
}

ki_str fixture_http_header(const fixture_http *answer, const char *name)
{
    size_t name_len = strlen(name);
    ki_str line;
    for (ki_str rest = answer->headers; cut(rest, KI_STR("\r\n"), &line, &rest) == 0;) {
        if (line.len <= name_len || line.ptr[name_len] != ':' || strncasecmp(line.ptr, name, name_len) != 0)
            continue;
        ki_str value = {line.ptr + name_len + 1, line.len - name_len - 1};
        while (value.len > 0 && value.ptr[0] == ' ')
            value = (ki_str){value.ptr + 1, value.len - 1};
        return value;
    }
    return (ki_str){0};
}
