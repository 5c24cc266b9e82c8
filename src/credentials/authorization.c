/* SPDX-License-Identifier: Apache-2.0 */
#include "credentials/authorization.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "config/token_file.h"
#include "util/alloc.h"
#include "util/secret.h"
#include "util/text/base64.h"
#include "util/text/mask.h"

static const char bearer[] = "Bearer ";
static const char basic[] = "Basic ";

void ki_authorization_fini(ki_authorization *authorization)
{
    assert(authorization != NULL);
    ki_secret_free(authorization->value);
    ki_secret_free(ki_authorization_take(authorization));
    for (size_t i = 0; i < KI_AUTHORIZATION_FORMER_MAX; i++)
        ki_secret_free(authorization->former[i]);
    memset(authorization, 0, sizeof(*authorization));
}

void ki_authorization_set(ki_authorization *authorization, char *value)
{
    assert(authorization != NULL);
    if (authorization->value != NULL) {
        size_t at = authorization->former_count++ % KI_AUTHORIZATION_FORMER_MAX;
        ki_secret_free(authorization->former[at]);
        authorization->former[at] = authorization->value;
    }
    authorization->value = value;
}

/* ---- bearer -------------------------------------------------------------------------------------------- */

/* Returns 0 with a text for ki_secret_free(). */
static int make_bearer(const char *token, char **out_value)
{
    if (!ki_token_is_valid(ki_str_of(token)))
        return KI_ERR_INVALID;
    size_t bytes = sizeof(bearer) + strlen(token);
    char *value = ki_malloc(bytes);
    if (value == NULL)
        return KI_ERR_NO_MEMORY;
    snprintf(value, bytes, "%s%s", bearer, token);
    *out_value = value;
    return 0;
}

int ki_authorization_set_bearer(ki_authorization *authorization, const char *token)
{
    assert(authorization != NULL);
    const char *before = authorization->value;
    char *value = NULL;
    if (before != NULL && strcmp(before + strlen(bearer), token) == 0)
        return 0;
    int rc = make_bearer(token, &value);
    if (rc < 0)
        return rc;
    ki_authorization_set(authorization, value);
    return 1;
}

/* The caller's thread builds the header, so that io cannot fail when it takes it. */
int ki_authorization_give(ki_authorization *authorization, const char *token)
{
    assert(authorization != NULL);
    char *value = NULL;
    int rc = make_bearer(token, &value);
    if (rc == 0)
        ki_secret_free(atomic_exchange(&authorization->coming, value));
    return rc;
}

char *ki_authorization_take(ki_authorization *authorization)
{
    assert(authorization != NULL);
    return atomic_exchange(&authorization->coming, NULL);
}

/* ---- basic --------------------------------------------------------------------------------------------- */

int ki_authorization_set_basic(ki_authorization *authorization, const char *name, const char *password)
{
    name = name != NULL ? name : "";
    password = password != NULL ? password : "";
    size_t pair_bytes = strlen(name) + strlen(password) + 2;
    size_t bytes = sizeof(basic) + KI_BASE64_ENCODED_BYTES(pair_bytes);
    char *pair = ki_malloc(pair_bytes);
    char *value = ki_malloc(bytes);
    if (pair == NULL || value == NULL) {
        ki_free(pair);
        ki_free(value);
        return KI_ERR_NO_MEMORY;
    }
    snprintf(pair, pair_bytes, "%s:%s", name, password);
    memcpy(value, basic, sizeof(basic) - 1);
    size_t len = ki_base64_encode((ki_str){pair, pair_bytes - 1}, value + sizeof(basic) - 1);
    value[sizeof(basic) - 1 + len] = 0;
    ki_secret_free(pair);
    ki_authorization_set(authorization, value);
    return 0;
}

/* ---- hiding -------------------------------------------------------------------------------------------- */

/* The part after the scheme. */
static const char *secret_of(const char *value)
{
    const char *blank = value == NULL ? NULL : strchr(value, ' ');
    return blank == NULL ? NULL : blank + 1;
}

size_t ki_authorization_hide(const ki_authorization *authorization, char *text, size_t len)
{
    assert(authorization != NULL);
    len = ki_mask_secret(text, len, secret_of(authorization->value));
    for (size_t i = 0; i < KI_AUTHORIZATION_FORMER_MAX && i < authorization->former_count; i++)
        len = ki_mask_secret(text, len, secret_of(authorization->former[i]));
    return len;
}
