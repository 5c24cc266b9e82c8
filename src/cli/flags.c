/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/flags.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/duration.h"
#include "cli/failure.h"
#include "cli/secret_word.h"

/* ---- finding ------------------------------------------------------------------------------------------- */

/* A flag, its target struct, and its spelling. */
typedef struct found {
    const cli_flag *flag;
    char *base;
    char spelling[64];
} found;

typedef int (*matches_cb)(const cli_flag *flag, ki_str name);

static int has_name(const cli_flag *flag, ki_str name)
{
    return ki_str_equal(ki_str_of(flag->name), name);
}

static int has_letter(const cli_flag *flag, ki_str letter)
{
    assert(letter.len == 1);
    return flag->letter != 0 && flag->letter == letter.ptr[0];
}

static int find(const cli_flag_set *set, matches_cb matches, ki_str name, found *out)
{
    assert(out != NULL);
    for (size_t g = 0; g < set->group_count; g++)
        for (size_t i = 0; i < set->groups[g].count; i++)
            if (matches(&set->groups[g].flags[i], name)) {
                out->flag = &set->groups[g].flags[i];
                out->base = set->groups[g].base;
                return 1;
            }
    return 0;
}

/* How many letters must be changed, added or removed. Names are short. */
static size_t distance(ki_str a, const char *b)
{
    enum { LONGEST = 40 };
    size_t row[LONGEST + 1];
    size_t columns = strlen(b);
    if (a.len > LONGEST || columns > LONGEST)
        return LONGEST;
    for (size_t j = 0; j <= columns; j++)
        row[j] = j;
    for (size_t i = 0; i < a.len; i++) {
        size_t before = row[0]++;
        for (size_t j = 0; j < columns; j++) {
            size_t cost = before + (a.ptr[i] != b[j]);
            before = row[j + 1];
            size_t other = 1 + (before < row[j] ? before : row[j]);
            row[j + 1] = cost < other ? cost : other;
        }
    }
    return row[columns];
}

static const char *nearest(const cli_flag_set *set, ki_str name)
{
    const char *best = NULL;
    size_t least = 3;
    for (size_t g = 0; g < set->group_count; g++)
        for (size_t i = 0; i < set->groups[g].count; i++) {
            size_t d = distance(name, set->groups[g].flags[i].name);
            if (d < least) {
                least = d;
                best = set->groups[g].flags[i].name;
            }
        }
    return best;
}

static int fail_unknown(const cli_flag_set *set, ki_str name, ki_error *err)
{
    const char *near = nearest(set, name);
    return cli_fail(err, "unknown flag --%.*s%s%s%s; `kinformer %s --help` lists them", KI_STR_ARGS(name),
                    near == NULL ? "" : " (did you mean --", near == NULL ? "" : near,
                    near == NULL ? "" : "?)", set->command);
}

/* ---- values -------------------------------------------------------------------------------------------- */

static int set_bool(const found *f, const char *value, ki_error *err)
{
    static const char *const words[] = {"false", "0", "f", "true", "1", "t"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(value, words[i]) == 0) {
            *(int *)(void *)(f->base + f->flag->offset) = i >= 3;
            return 0;
        }
    return cli_fail(err, "%s: \"%s\" is neither true nor false", f->spelling, value);
}

static int add_text(const found *f, const char *value, ki_error *err)
{
    cli_texts *texts = (void *)(f->base + f->flag->offset);
    if (texts->count == CLI_TEXTS_MAX)
        return cli_fail(err, "%s: more than %d times", f->spelling, CLI_TEXTS_MAX);
    texts->items[texts->count++] = value;
    return 0;
}

/* The words of a command line are writable, and a value is part of such a word. */
static int set_secret(const found *f, const char *value, ki_error *err)
{
    assert(f->flag->type == CLI_FLAG_SECRET || f->flag->type == CLI_FLAG_SECRETS);
    const char *kept = cli_secret_word_take((char *)value);
    if (kept == NULL)
        return cli_fail_no_memory(err);
    if (f->flag->type == CLI_FLAG_SECRETS)
        return add_text(f, kept, err);
    memcpy(f->base + f->flag->offset, &kept, sizeof(kept));
    return 0;
}

static int set_duration(const found *f, const char *value, ki_error *err)
{
    assert(f->flag->type == CLI_FLAG_DURATION || f->flag->type == CLI_FLAG_TIMEOUT);
    ki_error why = {0};
    uint64_t ms = 0;
    if (cli_duration_parse(value, &ms, &why) < 0)
        return cli_fail(err, "%s: %s", f->spelling, why.message);
    memcpy(f->base + f->flag->offset, &ms, sizeof(ms));
    return 0;
}

static int set_timeout(const found *f, const char *value, ki_error *err)
{
    char seconds[32];
    size_t n = strlen(value);
    if (n == 0 || n > 18 || strspn(value, "0123456789") != n)
        return set_duration(f, value, err);
    snprintf(seconds, sizeof(seconds), "%ss", value);
    return set_duration(f, seconds, err);
}

static int set_number(const found *f, const char *value, ki_error *err)
{
    int64_t number = 0;
    size_t n = strspn(value, "0123456789");
    if (n == 0 || n > 18 || value[n] != 0)
        return cli_fail(err, "%s: \"%s\" is not a non-negative integer", f->spelling, value);
    number = strtoll(value, NULL, 10);
    memcpy(f->base + f->flag->offset, &number, sizeof(number));
    return 0;
}

static int set_choice(const found *f, const char *value, ki_error *err)
{
    assert(f->flag->choices != NULL);
    int place = 0;
    size_t length = strlen(value);
    for (const char *at = f->flag->choices; *at != 0; place++) {
        size_t n = strcspn(at, "|");
        if (n == length && memcmp(at, value, n) == 0) {
            *(int *)(void *)(f->base + f->flag->offset) = place;
            return 0;
        }
        at += n + (at[n] == '|');
    }
    return cli_fail(err, "%s: \"%s\" is not one of %s", f->spelling, value, f->flag->choices);
}

static int set_value(const found *f, const char *value, ki_error *err)
{
    switch (f->flag->type) {
    case CLI_FLAG_BOOL:
        return set_bool(f, value, err);
    case CLI_FLAG_TEXT:
        memcpy(f->base + f->flag->offset, &value, sizeof(value));
        return 0;
    case CLI_FLAG_TEXTS:
        return add_text(f, value, err);
    case CLI_FLAG_SECRET:
    case CLI_FLAG_SECRETS:
        return set_secret(f, value, err);
    case CLI_FLAG_DURATION:
        return set_duration(f, value, err);
    case CLI_FLAG_TIMEOUT:
        return set_timeout(f, value, err);
    case CLI_FLAG_NUMBER:
        return set_number(f, value, err);
    case CLI_FLAG_CHOICE:
        return set_choice(f, value, err);
    }
    return KI_ERR_INVALID;
}

/* ---- the words of a command line ----------------------------------------------------------------------- */

typedef struct words {
    int count;
    char *const *items;
    int next;
} words;

/* Sets a flag whose value is not in the same word. */
static int set_from_next(const found *f, words *w, ki_error *err)
{
    if (f->flag->type == CLI_FLAG_BOOL)
        return set_value(f, "true", err);
    if (w->next == w->count)
        return cli_fail(err, "%s needs a value: %s", f->spelling,
                        f->flag->choices == NULL ? f->flag->argument : f->flag->choices);
    assert(w->next < w->count);
    return set_value(f, w->items[w->next++], err);
}

static int take_long(const cli_flag_set *set, const char *word, words *w, ki_error *err)
{
    assert(word[0] == '-' && word[1] == '-');
    found f;
    ki_str name = {word + 2, strcspn(word + 2, "=")};
    if (!find(set, has_name, name, &f))
        return fail_unknown(set, name, err);
    snprintf(f.spelling, sizeof(f.spelling), "--%s", f.flag->name);
    if (name.ptr[name.len] == '=')
        return set_value(&f, name.ptr + name.len + 1, err);
    return set_from_next(&f, w, err);
}

/* One word may contain several letters; the first letter that takes a value gets the rest of the word. */
static int take_short(const cli_flag_set *set, const char *word, words *w, ki_error *err)
{
    assert(word[0] == '-' && word[1] != '-');
    for (const char *at = word + 1; *at != 0; at++) {
        found f;
        if (!find(set, has_letter, (ki_str){at, 1}, &f))
            return cli_fail(err, "unknown flag -%c in %s; `kinformer %s --help` lists them", *at, word,
                            set->command);
        snprintf(f.spelling, sizeof(f.spelling), "-%c (--%s)", *at, f.flag->name);
        if (at[1] == '=')
            return set_value(&f, at + 2, err);
        if (f.flag->type != CLI_FLAG_BOOL && at[1] != 0)
            return set_value(&f, at + 1, err);
        int rc = set_from_next(&f, w, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int take_argument(cli_arguments *arguments, const char *word, ki_error *err)
{
    if (arguments->count == CLI_ARGUMENTS_MAX)
        return cli_fail(err, "more than %d arguments", CLI_ARGUMENTS_MAX);
    arguments->items[arguments->count++] = word;
    return 0;
}

static int is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

int cli_flags_parse(const cli_flag_set *set, int argc, char *const *argv, cli_arguments *out_arguments,
                    ki_error *err)
{
    assert(set != NULL && out_arguments != NULL);
    words w = {argc, argv, 0};
    cli_arguments arguments = {0};
    int has_ended = 0;
    int rc = 0;
    while (w.next < w.count && rc == 0 && !arguments.is_help) {
        const char *word = w.items[w.next++];
        if (has_ended || word[0] != '-' || word[1] == 0)
            rc = take_argument(&arguments, word, err);
        else if (strcmp(word, "--") == 0)
            has_ended = 1;
        else if (is_help(word))
            arguments.is_help = 1;
        else if (word[1] == '-')
            rc = take_long(set, word, &w, err);
        else
            rc = take_short(set, word, &w, err);
    }
    if (rc == 0)
        *out_arguments = arguments;
    return rc;
}

/* ---- help ---------------------------------------------------------------------------------------------- */

enum { HELP_COLUMN = 38 };

static void print_flag(const cli_flag *flag)
{
    assert(flag->name != NULL && flag->help != NULL);
    char left[80];
    char letter[8] = "    ";
    if (flag->letter != 0)
        snprintf(letter, sizeof(letter), "-%c, ", flag->letter);
    snprintf(left, sizeof(left), "  %s--%s%s%s", letter, flag->name, flag->argument == NULL ? "" : " ",
             flag->argument == NULL ? "" : flag->argument);
    printf("%-*s %s\n", HELP_COLUMN, left, flag->help);
}

void cli_flags_print(const cli_flag_set *set)
{
    for (size_t g = 0; g < set->group_count; g++) {
        printf("\n%s:\n", set->groups[g].title);
        for (size_t i = 0; i < set->groups[g].count; i++)
            print_flag(&set->groups[g].flags[i]);
    }
    printf("  -h, --help%*s this text\n", HELP_COLUMN - 12, "");
}
