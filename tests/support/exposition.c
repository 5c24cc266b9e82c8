/* SPDX-License-Identifier: Apache-2.0 */
#include "support/exposition.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/unit.h"

typedef struct reader {
    const char *at;
    exposition *out;
    char family[EXPOSITION_TEXT_BYTES]; /* of the last TYPE line */
    char type[EXPOSITION_TEXT_BYTES];
    char seen[EXPOSITION_TEXT_BYTES][EXPOSITION_TEXT_BYTES]; /* all families */
} reader;

static void take(reader *r, const char *expected)
{
    size_t len = strlen(expected);
    if (strncmp(r->at, expected, len) != 0)
        fail_msg("expected \"%s\" before: %.60s", expected, r->at);
    r->at += len;
}

static int skip_if(reader *r, const char *text)
{
    if (strncmp(r->at, text, strlen(text)) != 0)
        return 0;
    r->at += strlen(text);
    return 1;
}

static void append(char *out, char c)
{
    size_t len = strlen(out);
    assert_true(len + 1 < EXPOSITION_TEXT_BYTES);
    out[len] = c;
    out[len + 1] = 0;
}

/* [a-zA-Z_:][a-zA-Z0-9_:]* */
static void read_name(reader *r, char *out)
{
    out[0] = 0;
    while (isalpha((unsigned char)*r->at) || *r->at == '_' || *r->at == ':' ||
           (out[0] != 0 && isdigit((unsigned char)*r->at)))
        append(out, *r->at++);
    if (out[0] == 0)
        fail_msg("expected a name before: %.60s", r->at);
}

static void read_label_value(reader *r, char *out)
{
    out[0] = 0;
    take(r, "\"");
    while (*r->at != '"') {
        assert_true(*r->at != 0 && *r->at != '\n');
        if (*r->at != '\\') {
            append(out, *r->at++);
            continue;
        }
        r->at++;
        assert_true(*r->at == '\\' || *r->at == '"' || *r->at == 'n');
        append(out, *r->at == 'n' ? '\n' : *r->at);
        r->at++;
    }
    take(r, "\"");
}

static void read_labels(reader *r, exposition_sample *sample)
{
    do {
        assert_true(sample->label_count < EXPOSITION_LABELS_MAX);
        read_name(r, sample->label_names[sample->label_count]);
        take(r, "=");
        read_label_value(r, sample->label_values[sample->label_count]);
        sample->label_count++;
    } while (skip_if(r, ","));
    take(r, "}");
}

static int belongs_to_family(const reader *r, const char *name)
{
    static const char *const suffixes[] = {"_bucket", "_sum", "_count"};
    size_t len = strlen(r->family);
    if (strncmp(name, r->family, len) != 0)
        return 0;
    if (strcmp(r->type, "histogram") != 0)
        return name[len] == 0;
    for (size_t i = 0; i < 3; i++)
        if (strcmp(name + len, suffixes[i]) == 0)
            return 1;
    return 0;
}

static int same_labels(const exposition_sample *a, const exposition_sample *b, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(a->label_names[i], b->label_names[i]) != 0 ||
            strcmp(a->label_values[i], b->label_values[i]) != 0)
            return 0;
    return 1;
}

static void read_sample(reader *r)
{
    exposition_sample sample = {.label_count = 0};
    char *end;
    read_name(r, sample.name);
    if (skip_if(r, "{"))
        read_labels(r, &sample);
    take(r, " ");
    assert_true(isdigit((unsigned char)*r->at) || *r->at == '-' || *r->at == '+');
    sample.value = strtod(r->at, &end);
    r->at = end;
    take(r, "\n");
    if (!belongs_to_family(r, sample.name))
        fail_msg("%s follows the TYPE line of %s", sample.name, r->family);
    memcpy(sample.family, r->family, sizeof(sample.family));
    for (size_t i = 0; i < r->out->count; i++) {
        const exposition_sample *other = &r->out->samples[i];
        if (strcmp(other->name, sample.name) == 0 && other->label_count == sample.label_count)
            assert_false(same_labels(other, &sample, sample.label_count));
    }
    r->out->samples = realloc(r->out->samples, (r->out->count + 1) * sizeof(sample));
    assert_non_null(r->out->samples);
    r->out->samples[r->out->count++] = sample;
}

static void read_help(reader *r, char *name)
{
    read_name(r, name);
    take(r, " ");
    for (; *r->at != '\n'; r->at++) {
        assert_true(*r->at != 0);
        if (*r->at == '\\') {
            r->at++;
            assert_true(*r->at == '\\' || *r->at == 'n');
        }
    }
    take(r, "\n");
}

static void read_family_head(reader *r)
{
    char name[EXPOSITION_TEXT_BYTES];
    take(r, "# HELP ");
    read_help(r, r->family);
    take(r, "# TYPE ");
    read_name(r, name);
    assert_string_equal(name, r->family);
    take(r, " ");
    read_name(r, r->type);
    take(r, "\n");
    assert_true(strcmp(r->type, "counter") == 0 || strcmp(r->type, "gauge") == 0 ||
                strcmp(r->type, "histogram") == 0);
    for (size_t i = 0; i < r->out->families; i++)
        assert_true(strcmp(r->seen[i], name) < 0);
    assert_true(r->out->families < EXPOSITION_TEXT_BYTES);
    memcpy(r->seen[r->out->families++], name, sizeof(name));
    assert_true(*r->at != 0 && *r->at != '#');
}

/* Checks the buckets of the histogram that begin at `first`; returns the position after them. */
static size_t check_buckets(const exposition *out, size_t first)
{
    const exposition_sample *samples = out->samples;
    size_t labels = samples[first].label_count - 1;
    double le = -INFINITY;
    double count = 0;
    size_t i = first;
    for (; i < out->count && strstr(samples[i].name, "_bucket") != NULL && le < INFINITY; i++) {
        assert_int_equal(samples[i].label_count, labels + 1);
        assert_true(same_labels(&samples[i], &samples[first], labels));
        assert_string_equal(samples[i].label_names[labels], "le");
        double bound = strtod(samples[i].label_values[labels], NULL);
        assert_true(bound > le && samples[i].value >= count);
        le = bound;
        count = samples[i].value;
    }
    assert_true(isinf(le));
    assert_true(i + 1 < out->count && strstr(samples[i].name, "_sum") != NULL);
    assert_true(strstr(samples[i + 1].name, "_count") != NULL && samples[i + 1].value == count);
    assert_true(samples[i].label_count == labels && same_labels(&samples[i], &samples[first], labels));
    return i + 2;
}

void exposition_read(exposition *out, const char *text)
{
    reader *r = calloc(1, sizeof(*r));
    assert_non_null(r);
    *out = (exposition){0};
    r->at = text;
    r->out = out;
    while (*r->at != 0) {
        if (*r->at == '#')
            read_family_head(r);
        read_sample(r);
    }
    for (size_t i = 0; i < out->count;) {
        size_t len = strlen(out->samples[i].family);
        i = strcmp(out->samples[i].name + len, "_bucket") == 0 ? check_buckets(out, i) : i + 1;
    }
    free(r);
}

void exposition_free(exposition *read)
{
    free(read->samples);
    *read = (exposition){0};
}

void exposition_render(exposition *out, ki_metrics *metrics)
{
    ki_metrics_text text = {0};
    assert_int_equal(ki_metrics_render(metrics, &text, NULL), 0);
    exposition_read(out, text.bytes);
    ki_metrics_text_fini(&text);
}

const exposition_sample *exposition_find(const exposition *read, const char *name, const char *labels)
{
    for (size_t i = 0; i < read->count; i++) {
        const exposition_sample *sample = &read->samples[i];
        char text[2 * EXPOSITION_LABELS_MAX * EXPOSITION_TEXT_BYTES] = "";
        size_t len = 0;
        for (size_t k = 0; k < sample->label_count; k++)
            len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s=%s", k > 0 ? "," : "",
                                    sample->label_names[k], sample->label_values[k]);
        if (strcmp(sample->name, name) == 0 && strcmp(text, labels) == 0)
            return sample;
    }
    return NULL;
}

const char *exposition_label(const exposition_sample *sample, const char *name)
{
    for (size_t i = 0; i < sample->label_count; i++)
        if (strcmp(sample->label_names[i], name) == 0)
            return sample->label_values[i];
    return NULL;
}

bool exposition_has(ki_metrics *metrics, const char *line)
{
    ki_metrics_text text = {0};
    assert_int_equal(ki_metrics_render(metrics, &text, NULL), 0);
    bool is_there = strstr(text.bytes, line) != NULL;
    ki_metrics_text_fini(&text);
    return is_there;
}
