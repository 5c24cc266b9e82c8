/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/failure.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/control.h"

enum { LINE_BYTES = 8192 };

static int is_inside_character(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Ends a truncated text with a mark, between two characters. */
static void mark_cut(char *text, size_t bytes)
{
    static const char mark[] = "\xe2\x80\xa6";
    assert(bytes > sizeof(mark));
    size_t end = bytes - sizeof(mark);
    while (end > 0 && is_inside_character(text[end]))
        end--;
    memcpy(text + end, mark, sizeof(mark));
}

void cli_shorten(char *out, size_t out_bytes, ki_str text)
{
    assert(out_bytes > 0);
    if (snprintf(out, out_bytes, "%.*s", KI_STR_ARGS(text)) >= (int)out_bytes)
        mark_cut(out, out_bytes);
}

int cli_fail(ki_error *err, const char *format, ...)
{
    if (err != NULL) {
        va_list arguments;
        *err = (ki_error){.code = KI_ERR_INVALID};
        va_start(arguments, format);
        int n = vsnprintf(err->message, sizeof(err->message), format, arguments);
        va_end(arguments);
        if (n >= (int)sizeof(err->message))
            mark_cut(err->message, sizeof(err->message));
    }
    return KI_ERR_INVALID;
}

int cli_fail_no_memory(ki_error *err)
{
    (void)cli_fail(err, "%s", ki_error_text(KI_ERR_NO_MEMORY));
    if (err != NULL)
        err->code = KI_ERR_NO_MEMORY;
    return KI_ERR_NO_MEMORY;
}

/* Writes each line with one call, so that lines of several programs do not mix. Failures cannot be
 * reported. */
static void put_line(char *line, size_t n)
{
    assert(n < LINE_BYTES);
    size_t kept = 0;
    for (size_t at = 0; at < n; kept++) {
        size_t control = cli_control_bytes(line + at, n - at);
        line[kept] = control > 0 ? '?' : line[at];
        at += control > 0 ? control : 1;
    }
    line[kept] = '\n';
    (void)!write(STDERR_FILENO, line, kept + 1);
}

void cli_say(const char *format, ...)
{
    static const char prefix[] = "kinformer: ";
    char line[LINE_BYTES];
    va_list arguments;
    size_t begin = sizeof(prefix) - 1;
    memcpy(line, prefix, begin);
    va_start(arguments, format);
    vsnprintf(line + begin, sizeof(line) - begin, format, arguments);
    va_end(arguments);
    put_line(line, strlen(line));
}

int cli_end_with(const ki_error *err)
{
    assert(err->code < 0);
    cli_say("%s", err->message[0] == 0 ? ki_error_text(err->code) : err->message);
    return err->code == KI_ERR_NO_MEMORY || err->code == KI_ERR_SYSTEM ? CLI_EXIT_FAILED : CLI_EXIT_USAGE;
}
