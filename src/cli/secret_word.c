/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/secret_word.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/failure.h"

enum { LINE_BYTES = 64 * 1024 };

typedef struct kept_word {
    struct kept_word *next;
    char text[];
} kept_word;

/* All copies are kept: flags borrow the strings until the program ends. */
static kept_word *words;

static const char *keep(const char *text, size_t n)
{
    kept_word *kept = malloc(sizeof(*kept) + n + 1);
    if (kept == NULL)
        return NULL;
    memcpy(kept->text, text, n);
    kept->text[n] = 0;
    kept->next = words;
    words = kept;
    return kept->text;
}

/* Overwrites the word with blanks, as curl does. */
const char *cli_secret_word_take(char *word)
{
    size_t n = strlen(word);
    const char *kept = keep(word, n);
    memset(word, ' ', n);
    return kept;
}

/* Returns the problem with the first line; NULL if it is valid. A line that contains a NUL seems to end
 * there. */
static const char *find_mistake(FILE *file, const char *line, size_t n)
{
    assert(n < LINE_BYTES);
    if (ferror(file))
        return "cannot be read";
    if (n == 0)
        return "its first line is empty";
    if (n == LINE_BYTES - 1)
        return "its first line is too long";
    return line[n] == 0 && !feof(file) ? "its first line contains a NUL" : NULL;
}

int cli_secret_word_read(const char *flag, const char *path, const char **out_word, ki_error *err)
{
    assert(flag != NULL && path != NULL && out_word != NULL);
    char line[LINE_BYTES] = "";
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return cli_fail(err, "%s: %s: %s", flag, path, strerror(errno));
    (void)setvbuf(file, NULL, _IONBF, 0); /* the buffer would keep a copy */
    (void)!fgets(line, sizeof(line), file);
    size_t n = strcspn(line, "\r\n");
    const char *mistake = find_mistake(file, line, n);
    (void)fclose(file);
    *out_word = mistake == NULL ? keep(line, n) : NULL;
    explicit_bzero(line, sizeof(line));
    if (mistake != NULL)
        return cli_fail(err, "%s: %s: %s", flag, path, mistake);
    return *out_word == NULL ? cli_fail_no_memory(err) : 0;
}

const char *cli_secret_word_of(const char *variable)
{
    const char *text = getenv(variable);
    return text == NULL || text[0] == 0 ? NULL : text;
}
