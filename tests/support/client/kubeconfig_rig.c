/* SPDX-License-Identifier: Apache-2.0 */
#include "support/client/kubeconfig_rig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/kubeconfig.h"
#include "support/unit.h"

int kubeconfig_resolve(ki_config *config, const char *text, const ki_config_overrides *overrides,
                       ki_error *err)
{
    static const ki_config_overrides none = {0};
    ki_kubeconfig kubeconfig = {0};
    ki_config_origin origin = {0};
    *config = (ki_config){0};
    if (overrides == NULL)
        overrides = &none;
    int rc = ki_kubeconfig_add(&kubeconfig, KUBECONFIG_NAME, ki_str_of(text), err);
    if (rc == 0)
        rc = ki_config_select(config, &kubeconfig, overrides, &origin, err);
    if (rc == 0) {
        rc = ki_config_override(config, overrides, &origin);
        if (rc < 0)
            err->code = rc;
    }
    if (rc == 0)
        rc = ki_config_validate(config, &origin, err);
    ki_kubeconfig_fini(&kubeconfig);
    return rc;
}

void kubeconfig_assert_too_much(char *text, const char *message)
{
    ki_kubeconfig kubeconfig = {0};
    ki_error err = {0};
    assert_int_equal(ki_kubeconfig_add(&kubeconfig, KUBECONFIG_NAME, ki_str_of(text), &err), KI_ERR_CONFIG);
    if (strstr(err.message, message) == NULL)
        fail_msg("%s\ninstead of %s", err.message, message);
    ki_kubeconfig_fini(&kubeconfig);
    free(text);
}

char *kubeconfig_repeat(const char *before, const char *format, int count)
{
    size_t bytes = strlen(before) + (size_t)count * (strlen(format) + 8) + 1;
    char *text = malloc(bytes);
    assert_non_null(text);
    size_t len = (size_t)snprintf(text, bytes, "%s", before);
    for (int i = 0; i < count; i++)
        len += (size_t)snprintf(text + len, bytes - len, format, i);
    return text;
}
