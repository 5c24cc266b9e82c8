/* SPDX-License-Identifier: Apache-2.0 */
#include "credentials/exec_mask.h"

#include <string.h>
#include <unistd.h>

#include "util/alloc.h"
#include "util/secret.h"
#include "util/text/mask.h"

extern char **environ;

/* ---- names --------------------------------------------------------------------------------------------- */

/* Compares without regard to case, and treats '-' like '_': "client-secret" contains "SECRET". */
static bool is_same(ki_str text, const char *word)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i] == '-' ? '_' : text.ptr[i];
        c = c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
        if (c != word[i])
            return false;
    }
    return true;
}

static bool has_word(ki_str name, const char *word)
{
    size_t len = strlen(word);
    for (size_t i = 0; i + len <= name.len; i++)
        if (is_same((ki_str){name.ptr + i, len}, word))
            return true;
    return false;
}

static bool ends_with(ki_str name, const char *word)
{
    size_t len = strlen(word);
    return name.len >= len && is_same((ki_str){name.ptr + name.len - len, len}, word);
}

/* "AWS_ACCESS_KEY_ID" and "TOKEN_FILE" refer to a secret, but are not secret. */
static bool says_secret(ki_str name)
{
    static const char *const words[] = {"TOKEN",      "SECRET",     "PASSWORD",    "PASSWD", "PASSPHRASE",
                                        "CREDENTIAL", "ACCESS_KEY", "PRIVATE_KEY", "API_KEY"};
    static const char *const ends[] = {"_FILE", "_PATH", "_DIR", "_ID", "_URL", "_NAME"};
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++)
        if (ends_with(name, ends[i]))
            return false;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (has_word(name, words[i]))
            return true;
    return false;
}

/* ---- values -------------------------------------------------------------------------------------------- */

/* The text has one line, so of a value with several lines, only single lines can occur in it. Each of them is
 * masked. When out of memory the text is dropped. */
static size_t mask_value(char *text, size_t len, const char *value)
{
    while (*value != 0) {
        size_t line = strcspn(value, "\r\n");
        char *secret = ki_str_copy((ki_str){value, line});
        if (secret == NULL)
            return 0;
        len = ki_mask_secret(text, len, secret);
        ki_secret_free(secret);
        value += line;
        value += strspn(value, "\r\n");
    }
    return len;
}

static size_t mask_variables(char *text, size_t len)
{
    for (char **entry = environ; entry != NULL && *entry != NULL; entry++) {
        size_t name_len = strcspn(*entry, "=");
        if ((*entry)[name_len] == '=' && says_secret((ki_str){*entry, name_len}))
            len = mask_value(text, len, *entry + name_len + 1);
    }
    return len;
}

/* "--name=value", or "--name" followed by the value. */
static size_t mask_arguments(char *text, size_t len, char *const *arguments)
{
    for (; arguments != NULL && *arguments != NULL; arguments++) {
        size_t name_len = strcspn(*arguments, "=");
        if ((*arguments)[0] != '-' || !says_secret((ki_str){*arguments, name_len}))
            continue;
        if ((*arguments)[name_len] == '=')
            len = mask_value(text, len, *arguments + name_len + 1);
        else if (arguments[1] != NULL && arguments[1][0] != '-')
            len = mask_value(text, len, arguments[1]);
    }
    return len;
}

size_t ki_exec_mask(const ki_config_exec *exec, char *text, size_t len)
{
    for (size_t i = 0; i < exec->env_count; i++) {
        const ki_config_pair *pair = &exec->env[i];
        if (strlen(pair->value) >= KI_EXEC_MASK_VALUE_BYTES_MIN || says_secret(ki_str_of(pair->name)))
            len = mask_value(text, len, pair->value);
    }
    len = mask_arguments(text, len, exec->args);
    return mask_variables(text, len);
}
