/* SPDX-License-Identifier: Apache-2.0 */
#include "credentials/credentials.h"

#include <assert.h>
#include <stdatomic.h>
#include <string.h>

#include "config/token_file.h"
#include "credentials/authorization.h"
#include "credentials/certificate_files.h"
#include "credentials/exec_plugin.h"
#include "credentials/impersonation.h"
#include "util/alloc.h"
#include "util/error.h"
#include "util/log.h"
#include "util/secret.h"
#include "util/text/mask.h"
#include "util/units.h"

/* FAILURE_KEPT_NS: how long the failure of a plug-in is returned without running it again.
 * CREDENTIAL_USED_NS: how long its credential is used at least. So a credential that has expired when it
 * arrives, or that is refused like the previous one, does not start the next run at once. */
#define FAILURE_KEPT_NS KI_NS_PER_S
#define CREDENTIAL_USED_NS (5 * KI_NS_PER_S)

typedef struct waiter_node {
    ki_list_node node;
    ki_job *job;
} waiter_node;

typedef enum exec_state { EXEC_NONE, EXEC_RUNNING, EXEC_READY, EXEC_FAILED } exec_state;

struct ki_credentials {
    ki_config config;
    const ki_identity_source *source; /* NULL for the configuration */
    const ki_clock *clock;
    ki_authorization authorization;
    char **headers;
    uint64_t generation;
    uint64_t certificate_generation;
    ki_token_file token_file;
    ki_certificate_files files;
    bool is_plaintext;       /* constant: the server must not receive any credentials */
    atomic_bool is_withheld; /* some credentials are withheld; set by any thread, never reset */
    bool was_logged;         /* it was logged that credentials are withheld */
    bool is_given;           /* ki_credentials_set_token() was called: its token takes precedence */
    bool uses_exec;
    ki_exec_plugin plugin;
    exec_state state;
    ki_exec_credential credential;
    uint64_t ended_ns; /* when the last run ended */
    bool was_refused;  /* the credential was refused, and there is no new one yet */
    bool is_second;    /* it was requested because the previous one was refused */
    ki_error failure;
    ki_list waiters;
};

/* ---- the header ---------------------------------------------------------------------------------------- */

static int set_bearer(ki_credentials *credentials, const char *token, ki_error *err)
{
    int rc = ki_authorization_set_bearer(&credentials->authorization, token);
    if (rc == KI_ERR_INVALID)
        return ki_fail(err, KI_ERR_CONFIG,
                       "the token of user \"%.60s\" contains a character that is not allowed in a header",
                       credentials->config.user != NULL ? credentials->config.user : "");
    if (rc < 0)
        return ki_fail_no_memory(err);
    assert(rc == 0 || rc == 1); /* whether the token has changed */
    credentials->generation += (uint64_t)rc;
    return 0;
}

#define PLAINTEXT_HINT "use https://, or set allow_plaintext_credentials in ki_client_options"

/* Logs this only once. */
static void withhold(ki_credentials *credentials)
{
    assert(credentials->is_plaintext);
    credentials->is_withheld = true;
    if (!credentials->was_logged)
        ki_log(KI_LOG_WARNING, "credentials", KI_LOG_NO_FIELDS,
               "credentials are withheld: the address of the server begins with http://, so anyone on the "
               "network could read them (" PLAINTEXT_HINT ")");
    credentials->was_logged = true;
}

int ki_credentials_set_token(ki_credentials *credentials, const char *token)
{
    int rc = ki_authorization_give(&credentials->authorization, token);
    if (rc == 0 && credentials->is_plaintext)
        credentials->is_withheld = true; /* the next error mentions it; io logs it */
    return rc;
}

static void take_given(ki_credentials *credentials)
{
    char *given = ki_authorization_take(&credentials->authorization);
    if (given == NULL)
        return;
    credentials->is_given = true;
    if (credentials->is_plaintext) {
        ki_secret_free(given);
        withhold(credentials);
        return;
    }
    ki_authorization_set(&credentials->authorization, given);
    credentials->generation++;
}

/* ---- waiters ------------------------------------------------------------------------------------------- */

static waiter_node *find_waiter(const ki_credentials *credentials, const ki_job *job)
{
    ki_list_node *node = ki_list_first(&credentials->waiters);
    for (; node != NULL; node = ki_list_next(&credentials->waiters, node)) {
        waiter_node *waiter = KI_CONTAINER_OF(node, waiter_node, node);
        if (waiter->job == job)
            return waiter;
    }
    return NULL;
}

static int add_waiter(ki_credentials *credentials, ki_job *job, ki_error *err)
{
    assert(job != NULL);
    assert(credentials->state == EXEC_RUNNING);
    if (find_waiter(credentials, job) != NULL)
        return 1;
    waiter_node *waiter = ki_calloc(1, sizeof(*waiter));
    if (waiter == NULL)
        return ki_fail_no_memory(err);
    waiter->job = job;
    ki_list_push_back(&credentials->waiters, &waiter->node);
    assert(find_waiter(credentials, job) == waiter);
    return 1;
}

static void release_waiters(ki_credentials *credentials, bool are_woken)
{
    ki_list_node *node;
    while ((node = ki_list_pop_front(&credentials->waiters)) != NULL) {
        waiter_node *waiter = KI_CONTAINER_OF(node, waiter_node, node);
        if (are_woken)
            ki_job_wake(waiter->job);
        ki_free(waiter);
    }
}

void ki_credentials_forget(ki_credentials *credentials, ki_job *waiter)
{
    if (credentials->source != NULL) {
        credentials->source->forget(waiter, credentials->source->user);
        return;
    }
    waiter_node *found = find_waiter(credentials, waiter);
    if (found == NULL)
        return;
    ki_list_remove(&found->node);
    ki_free(found);
}

/* ---- the plug-in --------------------------------------------------------------------------------------- */

static bool are_equal(const char *a, const char *b)
{
    return a == NULL || b == NULL ? a == b : strcmp(a, b) == 0;
}

/* A credential without a token has only a certificate. */
static int use_credential(ki_credentials *credentials, ki_exec_credential *fresh, ki_error *err)
{
    ki_exec_credential *old = &credentials->credential;
    int rc = fresh->token != NULL ? set_bearer(credentials, fresh->token, err) : 0;
    if (rc < 0) {
        ki_exec_credential_fini(fresh);
        return rc;
    }
    if (fresh->token == NULL) {
        ki_authorization_set(&credentials->authorization, NULL);
        credentials->generation++;
    }
    if (!are_equal(old->certificate_pem, fresh->certificate_pem) || !are_equal(old->key_pem, fresh->key_pem))
        credentials->certificate_generation++;
    credentials->generation++;
    ki_exec_credential_fini(old);
    *old = *fresh;
    credentials->is_second = credentials->was_refused;
    credentials->was_refused = false;
    return 0;
}

static void plugin_ended(ki_exec_credential *credential, const ki_error *err, void *user)
{
    ki_credentials *credentials = user;
    assert(credentials->uses_exec && credentials->state == EXEC_RUNNING);
    ki_error failure = *err;
    if (credentials->is_given) { /* a token was set meanwhile */
        if (credential != NULL)
            ki_exec_credential_fini(credential);
        credentials->state = EXEC_NONE;
        release_waiters(credentials, true);
        return;
    }
    int rc = credential == NULL ? failure.code : use_credential(credentials, credential, &failure);
    ki_mask_error(&(ki_mask){ki_credentials_hide, credentials}, &failure); /* may quote the plug-in */
    credentials->ended_ns = ki_clock_now_ns(credentials->clock);
    credentials->state = rc < 0 ? EXEC_FAILED : EXEC_READY;
    credentials->failure = failure;
    release_waiters(credentials, true);
}

static bool is_young(const ki_credentials *credentials)
{
    return ki_clock_now_ns(credentials->clock) - credentials->ended_ns < CREDENTIAL_USED_NS;
}

static bool is_fresh(const ki_credentials *credentials)
{
    int64_t wall_s = ki_clock_wall_ns(credentials->clock) / (int64_t)KI_NS_PER_S;
    return wall_s < credentials->credential.expires_s || is_young(credentials);
}

static int start_plugin(ki_credentials *credentials, ki_error *err)
{
    assert(credentials->uses_exec && credentials->state != EXEC_RUNNING);
    ki_error failure = {0};
    int rc = ki_exec_plugin_start(&credentials->plugin, &failure);
    if (rc == 0) {
        credentials->state = EXEC_RUNNING;
        return 0;
    }
    credentials->state = EXEC_FAILED;
    credentials->failure = failure;
    credentials->ended_ns = ki_clock_now_ns(credentials->clock);
    if (err != NULL)
        *err = failure;
    return rc;
}

/* Returns 0 if there is a credential, 1 if the caller has to wait. */
static int refresh_exec(ki_credentials *credentials, ki_job *waiter, ki_error *err)
{
    assert(credentials->uses_exec && !credentials->is_given);
    uint64_t now_ns = ki_clock_now_ns(credentials->clock);
    if (credentials->state == EXEC_READY && is_fresh(credentials))
        return 0;
    if (credentials->state == EXEC_FAILED && now_ns - credentials->ended_ns < FAILURE_KEPT_NS) {
        if (err != NULL)
            *err = credentials->failure;
        return credentials->failure.code;
    }
    int rc = credentials->state == EXEC_RUNNING ? 0 : start_plugin(credentials, err);
    return rc < 0 ? rc : add_waiter(credentials, waiter, err);
}

/* ---- files --------------------------------------------------------------------------------------------- */

/* A configured token is used until the file has been read once. */
static int refresh_token(ki_credentials *credentials, ki_error *err)
{
    ki_token_file *file = &credentials->token_file;
    if (file->path == NULL)
        return 0;
    bool has_other = credentials->config.token != NULL;
    ki_error why = {0};
    int rc = ki_token_file_refresh(file, ki_clock_now_ns(credentials->clock), &why);
    if (rc == KI_ERR_CONFIG && has_other) {
        ki_token_file_report(file, why.message);
        return 0;
    }
    if (rc < 0 && err != NULL)
        *err = why;
    if (rc < 0)
        return rc;
    return set_bearer(credentials, file->token, err);
}

static int refresh_certificate(ki_credentials *credentials, ki_error *err)
{
    int rc = ki_certificate_files_refresh(&credentials->files, ki_clock_now_ns(credentials->clock), err);
    if (rc <= 0)
        return rc;
    credentials->generation++;
    credentials->certificate_generation++;
    return 0;
}

/* ---- the calls ----------------------------------------------------------------------------------------- */

static bool has_some(const ki_config *config)
{
    return config->token != NULL || config->token_file != NULL || config->username != NULL ||
           config->password != NULL || config->exec != NULL;
}

/* This applies to loopback addresses, too: the process that listens there may run as another user. */
static int init_authorization(ki_credentials *credentials, ki_loop *loop, ki_error *err)
{
    assert(!credentials->uses_exec && credentials->state == EXEC_NONE);
    const ki_config *config = &credentials->config;
    credentials->is_plaintext =
        config->server != NULL && !ki_config_uses_tls(config) && !config->allow_plaintext_credentials;
    if (credentials->is_plaintext) {
        if (has_some(config))
            withhold(credentials);
        return 0;
    }
    if (config->token_file != NULL)
        ki_token_file_init(&credentials->token_file, config->token_file);
    if (config->token != NULL)
        return set_bearer(credentials, config->token, err);
    if (config->token_file != NULL)
        return 0;
    if (config->username != NULL || config->password != NULL)
        return ki_authorization_set_basic(&credentials->authorization, config->username, config->password) < 0
                   ? ki_fail_no_memory(err)
                   : 0;
    if (config->exec == NULL)
        return 0;
    credentials->uses_exec = true;
    if (ki_exec_plugin_init(&credentials->plugin, config, loop) < 0)
        return ki_fail_no_memory(err);
    credentials->plugin.on_end = plugin_ended;
    credentials->plugin.user = credentials;
    return 0;
}

ki_credentials *ki_credentials_new(const ki_config *config, ki_loop *loop, ki_error *err)
{
    ki_credentials *credentials = ki_calloc(1, sizeof(*credentials));
    if (credentials == NULL) {
        (void)ki_fail_no_memory(err);
        return NULL;
    }
    credentials->clock = loop->clock;
    credentials->generation = credentials->certificate_generation = 1;
    ki_list_init(&credentials->waiters);
    int rc = ki_config_copy(&credentials->config, config);
    if (rc == 0)
        rc = ki_certificate_files_init(&credentials->files, &credentials->config);
    if (rc < 0)
        (void)ki_fail_no_memory(err);
    if (rc == 0)
        rc = ki_impersonation_new(config, &credentials->headers, err);
    if (rc == 0)
        rc = init_authorization(credentials, loop, err);
    if (rc == 0)
        return credentials;
    ki_credentials_free(credentials);
    return NULL;
}

void ki_credentials_use_source(ki_credentials *credentials, const ki_identity_source *source)
{
    assert(source == NULL || (source->get != NULL && source->forget != NULL));
    credentials->source = source;
}

void ki_credentials_free(ki_credentials *credentials)
{
    if (credentials == NULL)
        return;
    if (credentials->uses_exec)
        ki_exec_plugin_fini(&credentials->plugin);
    release_waiters(credentials, false);
    ki_exec_credential_fini(&credentials->credential);
    ki_token_file_fini(&credentials->token_file);
    ki_certificate_files_fini(&credentials->files);
    ki_secret_free_list(credentials->headers);
    ki_authorization_fini(&credentials->authorization);
    ki_config_fini(&credentials->config);
    ki_free(credentials);
}

static ki_identity identity_of(const ki_credentials *credentials)
{
    bool is_from_exec = credentials->credential.certificate_pem != NULL;
    return (ki_identity){
        .authorization = credentials->authorization.value,
        .certificate_pem =
            is_from_exec ? credentials->credential.certificate_pem : credentials->files.certificate.pem.data,
        .key_pem = is_from_exec ? credentials->credential.key_pem : credentials->files.key.pem.data,
        .headers = (const char *const *)credentials->headers,
        .generation = credentials->generation,
        .certificate_generation = credentials->certificate_generation,
    };
}

const char *ki_credentials_withheld(const ki_credentials *credentials)
{
    return credentials->is_withheld
               ? "no credentials were sent, because its address begins with http:// (" PLAINTEXT_HINT ")"
               : NULL;
}

void ki_credentials_certificate_names(const ki_credentials *credentials, ki_certificate_names *out_names)
{
    const ki_certificate_files *files = &credentials->files;
    if (credentials->credential.certificate_pem != NULL) {
        *out_names =
            (ki_certificate_names){"the plug-in's clientCertificateData", "the plug-in's clientKeyData"};
        return;
    }
    ki_certificate_part_name(&files->certificate, out_names->certificate, sizeof(out_names->certificate));
    ki_certificate_part_name(&files->key, out_names->key, sizeof(out_names->key));
}

int ki_credentials_get(ki_credentials *credentials, ki_job *waiter, ki_identity *out_identity, ki_error *err)
{
    if (credentials->source != NULL)
        return credentials->source->get(waiter, out_identity, err, credentials->source->user);
    take_given(credentials);
    int rc = refresh_certificate(credentials, err);
    if (rc == 0 && !credentials->is_given)
        rc = refresh_token(credentials, err);
    if (rc == 0 && credentials->uses_exec && !credentials->is_given)
        rc = refresh_exec(credentials, waiter, err);
    if (rc == 0)
        *out_identity = identity_of(credentials);
    return rc;
}

size_t ki_credentials_hide(char *text, size_t len, const void *user)
{
    const ki_credentials *credentials = user;
    /* Masks the header first: in base64 it contains the user name before the password. */
    len = ki_authorization_hide(&credentials->authorization, text, len);
    len = ki_mask_secret(text, len, credentials->config.token);
    return ki_mask_secret(text, len, credentials->config.password);
}

void ki_credentials_refused(ki_credentials *credentials, uint64_t generation)
{
    if (credentials->source != NULL) {
        credentials->source->refused(generation, credentials->source->user);
        return;
    }
    if (generation != credentials->generation)
        return;
    ki_token_file_expire(&credentials->token_file);
    ki_certificate_files_expire(&credentials->files);
    if (credentials->state != EXEC_READY || (credentials->is_second && is_young(credentials)))
        return;
    credentials->state = EXEC_NONE;
    credentials->was_refused = true;
}
