/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_projection - any paths over any bytes.
 *
 * Input: lines "+path" (keep), "-path" (drop), "?path" (capture) and "!path" (capture even if dropped), an
 *        empty line, and the text. Every kernel and every split must give the same result. Whether the text
 *        is accepted does not depend on the paths. What is kept is JSON,
 *        and a second projection keeps all of it. Captures are JSON.
 */
#include <stdlib.h>
#include <string.h>

#include "support/json/scan_run.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { PATHS_MAX = 24 };

typedef struct paths {
    char *memory;
    const char *keep[PATHS_MAX + 1];
    const char *drop[PATHS_MAX + 1];
    ki_projection_capture captures[KI_PROJECTION_CAPTURES_MAX];
    size_t keep_count;
    size_t drop_count;
    size_t capture_count;
} paths;

static void require(int condition)
{
    if (!condition)
        abort();
}

static void add_path(paths *p, char kind, const char *path)
{
    if (kind == '+' && p->keep_count < PATHS_MAX)
        p->keep[p->keep_count++] = path;
    else if (kind == '-' && p->drop_count < PATHS_MAX)
        p->drop[p->drop_count++] = path;
    else if ((kind == '?' || kind == '!') && p->capture_count < KI_PROJECTION_CAPTURES_MAX)
        p->captures[p->capture_count++] = (ki_projection_capture){path, kind == '!'};
}

/* Returns the text after the paths. */
static ki_str read_paths(paths *p, ki_str input)
{
    *p = (paths){.memory = malloc(input.len + 1)};
    require(p->memory != NULL);
    if (input.len > 0)
        memcpy(p->memory, input.ptr, input.len);
    p->memory[input.len] = 0;
    size_t at = 0;
    while (at < input.len && input.ptr[at] != '\n') {
        const char *end = memchr(input.ptr + at, '\n', input.len - at);
        size_t next = end == NULL ? input.len : (size_t)(end - input.ptr);
        p->memory[next] = 0;
        add_path(p, p->memory[at], p->memory + at + 1);
        at = next + (end != NULL);
    }
    at += at < input.len;
    return (ki_str){input.ptr + at, input.len - at};
}

/* Leaves in `first` the result of the best kernel for the whole text. */
static void run_all(scan_run *first, ki_str text, uint64_t seed)
{
    scan_run other;
    scan_run_init(&other);
    other.projection = first->projection;
    require(scan_run_all_agree(first, &other, text, seed));
    scan_run_fini(&other);
}

/* The text is one value without white space. */
static void require_minified(scan_run *run, ki_str text)
{
    run->projection = NULL;
    require(scan_run_text(run, text, (scan_split){0}) == 0 && run->values == 1);
    require(ki_str_equal(scan_run_kept(run), text));
}

static void check_kept(const scan_run *run)
{
    scan_run again;
    scan_run_init(&again);
    require_minified(&again, scan_run_kept(run));
    for (size_t i = 0; i < KI_PROJECTION_CAPTURES_MAX; i++)
        if (run->captures[i].place != KI_CAPTURE_NONE)
            require_minified(&again, scan_run_capture(run, i));
    again.projection = run->projection;
    require(scan_run_text(&again, scan_run_kept(run), (scan_split){0}) == 0);
    require(ki_str_equal(scan_run_kept(&again), scan_run_kept(run)));
    scan_run_fini(&again);
}

static void check_projection(const ki_projection *projection, ki_str text)
{
    scan_run plain, run;
    scan_run_init(&plain);
    scan_run_init(&run);
    run.projection = projection;
    scan_run_text(&plain, text, (scan_split){0});
    run_all(&run, text, text.len);
    require(run.code == plain.code && run.offset == plain.offset && run.values == plain.values);
    if (run.values > 0) {
        require(scan_run_kept(&run).len <= scan_run_kept(&plain).len);
        check_kept(&run);
    }
    scan_run_fini(&plain);
    scan_run_fini(&run);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    paths p;
    ki_error err = {0};
    ki_str text = read_paths(&p, (ki_str){(const char *)data, size});
    ki_projection *projection =
        ki_projection_new(&(ki_projection_options){p.keep, p.drop, p.captures, p.capture_count}, &err);
    if (projection == NULL)
        require((err.code == KI_ERR_INVALID || err.code == KI_ERR_TOO_LARGE) && err.message[0] != 0);
    else
        check_projection(projection, text);
    ki_projection_free(projection);
    free(p.memory);
    return 0;
}
