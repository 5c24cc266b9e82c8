/* SPDX-License-Identifier: Apache-2.0 */
#include "support/decode/bodies.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_answer(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);
    return len > 5 && strcmp(entry->d_name + len - 5, ".http") == 0;
}

static void die(const char *what, const char *name)
{
    fprintf(stderr, "%s: %s\n", what, name);
    abort();
}

static void load(recorded_body *body, const char *name)
{
    ki_error err = {0};
    fixture_http answer;
    snprintf(body->name, sizeof(body->name), "%s", name);
    if (fixture_load(&body->file, name, &err) < 0)
        die(err.message, name);
    if (fixture_split_http((ki_str){body->file.data, body->file.len}, &answer) < 0)
        die("not an HTTP response", name);
    ki_str type = fixture_http_header(&answer, "Content-Type");
    body->text = answer.body;
    body->is_json = type.len >= 16 && memcmp(type.ptr, "application/json", 16) == 0 &&
                    fixture_http_header(&answer, "Content-Encoding").len == 0;
}

recorded_bodies recorded_bodies_load(void)
{
    const char *directory = getenv("KI_FIXTURES");
    struct dirent **entries = NULL;
    int count = scandir(directory == NULL ? "tests/fixtures" : directory, &entries, is_answer, alphasort);
    if (count <= 0)
        die("no recorded responses", directory == NULL ? "tests/fixtures" : directory);
    recorded_bodies bodies = {calloc((size_t)count, sizeof(recorded_body)), (size_t)count};
    if (bodies.list == NULL)
        die("out of memory", "");
    for (int i = 0; i < count; i++) {
        load(&bodies.list[i], entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    return bodies;
}

void recorded_bodies_free(recorded_bodies *bodies)
{
    for (size_t i = 0; i < bodies->count; i++)
        fixture_free(&bodies->list[i].file);
    free(bodies->list);
    *bodies = (recorded_bodies){0};
}
