/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/output.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/control.h"

/* How long a slow reader may delay the end of the program. */
enum { LAST_WAIT_MS = 100 };

void cli_output_init(cli_output *output, int fd, int (*is_stopped)(void))
{
    output->fd = fd;
    output->is_terminal = isatty(fd);
    output->is_stopped = is_stopped;
    output->state = CLI_OUTPUT_OPEN;
    output->error = 0;
    output->len = 0;
}

/* ---- writing ------------------------------------------------------------------------------------------- */

static int is_stopped(const cli_output *output)
{
    return output->is_stopped != NULL && output->is_stopped();
}

/* EBADF: stdout was closed from the start. */
static void note_failure(cli_output *output, int error)
{
    assert(error != 0);
    int is_gone = error == EPIPE || error == EBADF || error == ECONNRESET;
    output->state = is_gone ? CLI_OUTPUT_CLOSED : CLI_OUTPUT_FAILED;
    output->error = error;
}

/* A signal interrupts the wait, and is checked afterwards. Returns 0 if waiting is pointless. */
static int wait_for_reader(cli_output *output)
{
    int has_stopped = is_stopped(output);
    struct pollfd reader = {.fd = output->fd, .events = POLLOUT};
    int ready = poll(&reader, 1, has_stopped ? LAST_WAIT_MS : -1);
    if (ready == 0 && has_stopped)
        output->state = CLI_OUTPUT_STOPPED;
    return output->state == CLI_OUTPUT_OPEN;
}

static void write_all(cli_output *output, const char *bytes, size_t n)
{
    assert(bytes != NULL || n == 0);
    while (n > 0 && output->state == CLI_OUTPUT_OPEN) {
        if (is_stopped(output) && !wait_for_reader(output))
            return;
        ssize_t done = write(output->fd, bytes, n);
        if (done >= 0) {
            bytes += done;
            n -= (size_t)done;
        } else if (errno == EAGAIN) {
            (void)wait_for_reader(output);
        } else if (errno != EINTR) {
            note_failure(output, errno);
        }
    }
}

void cli_output_flush(cli_output *output)
{
    assert(output->len <= sizeof(output->bytes));
    write_all(output, output->bytes, output->len);
    output->len = 0;
}

void cli_output_put(cli_output *output, ki_str text)
{
    assert(output->len <= sizeof(output->bytes) && (text.ptr != NULL || text.len == 0));
    if (text.len > sizeof(output->bytes) - output->len)
        cli_output_flush(output);
    if (text.len > sizeof(output->bytes)) {
        write_all(output, text.ptr, text.len);
    } else if (text.len > 0) {
        memcpy(output->bytes + output->len, text.ptr, text.len);
        output->len += text.len;
    }
}

void cli_output_put_text(cli_output *output, const char *text)
{
    cli_output_put(output, ki_str_of(text));
}

void cli_output_put_plain(cli_output *output, ki_str text)
{
    size_t begin = 0;
    for (size_t at = 0; at < text.len;) {
        size_t n = cli_control_bytes(text.ptr + at, text.len - at);
        if (n > 0) {
            cli_output_put(output, (ki_str){text.ptr + begin, at - begin});
            cli_output_put_text(output, "?");
            begin = at + n;
        }
        at += n == 0 ? 1 : n;
    }
    if (begin < text.len)
        cli_output_put(output, (ki_str){text.ptr + begin, text.len - begin});
}

void cli_output_put_number(cli_output *output, uint64_t number)
{
    char text[24];
    int n = snprintf(text, sizeof(text), "%" PRIu64, number);
    cli_output_put(output, (ki_str){text, (size_t)n});
}

/* A read-only descriptor means that stdout was closed from the start (cli_signals_guard_descriptors()). */
int cli_output_is_closed(cli_output *output)
{
    struct pollfd reader = {.fd = output->fd, .events = 0};
    int mode = fcntl(output->fd, F_GETFL);
    if (output->state == CLI_OUTPUT_OPEN && ((mode & O_ACCMODE) == O_RDONLY || poll(&reader, 1, 0) > 0))
        note_failure(output, EPIPE);
    return output->state == CLI_OUTPUT_CLOSED;
}

/* ---- strings ------------------------------------------------------------------------------------------- */

/* The length of the UTF-8 character at the start; 0 if it is invalid: overlong, a surrogate, past
 * U+10FFFF. */
static size_t character_bytes(const unsigned char *at, size_t n)
{
    assert(n > 0);
    size_t length = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    if (length == 0 || length > n || at[0] > 0xf4)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((at[i] & 0xc0) != 0x80)
            return 0;
    if ((at[0] == 0xe0 && at[1] < 0xa0) || (at[0] == 0xed && at[1] > 0x9f) ||
        (at[0] == 0xf0 && at[1] < 0x90) || (at[0] == 0xf4 && at[1] > 0x8f))
        return 0;
    return length;
}

static void put_unicode(cli_output *output, unsigned character)
{
    char text[8];
    snprintf(text, sizeof(text), "\\u%04x", character & 0xffff);
    cli_output_put_text(output, text);
}

/* A character of one to three bytes in UTF-8. */
static void put_control(cli_output *output, const char *at, size_t n)
{
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f};
    assert(n >= 1 && n < sizeof(masks));
    unsigned character = (unsigned char)at[0] & masks[n];
    for (size_t i = 1; i < n; i++)
        character = character << 6 | ((unsigned char)at[i] & 0x3f);
    put_unicode(output, character);
}

void cli_output_put_json(cli_output *output, ki_str json)
{
    size_t begin = 0;
    for (size_t at = 0; output->is_terminal && at < json.len;) {
        size_t n = (unsigned char)json.ptr[at] < ' ' ? 0 : cli_control_bytes(json.ptr + at, json.len - at);
        if (n > 0) {
            cli_output_put(output, (ki_str){json.ptr + begin, at - begin});
            put_control(output, json.ptr + at, n);
            begin = at + n;
        }
        at += n == 0 ? 1 : n;
    }
    if (begin < json.len)
        cli_output_put(output, (ki_str){json.ptr + begin, json.len - begin});
}

static void put_escaped(cli_output *output, unsigned char c)
{
    char text[8];
    if (c == '"' || c == '\\')
        snprintf(text, sizeof(text), "\\%c", c);
    else if (c == '\n')
        snprintf(text, sizeof(text), "\\n");
    else if (c == '\t')
        snprintf(text, sizeof(text), "\\t");
    else {
        put_unicode(output, c);
        return;
    }
    cli_output_put_text(output, text);
}

void cli_output_put_json_string(cli_output *output, ki_str text)
{
    const unsigned char *at = (const unsigned char *)text.ptr;
    const unsigned char *end = at + text.len;
    cli_output_put_text(output, "\"");
    while (at < end) {
        size_t n = character_bytes(at, (size_t)(end - at));
        if (n == 0)
            cli_output_put_text(output, "\xef\xbf\xbd");
        else if (n == 1 && (*at < ' ' || *at == '"' || *at == '\\'))
            put_escaped(output, *at);
        else if (cli_control_bytes((const char *)at, n) > 0)
            put_control(output, (const char *)at, n);
        else
            cli_output_put(output, (ki_str){(const char *)at, n});
        at += n == 0 ? 1 : n;
    }
    cli_output_put_text(output, "\"");
}
