/* SPDX-License-Identifier: Apache-2.0 */
/* Giving the text out, one family at a time. */
#include <kinformer/metrics.h>

#include "metrics/prometheus.h"
#include "metrics/registry.h"
#include "util/alloc.h"
#include "util/buf.h"
#include "util/error.h"

/* The family behind `name` in order, or NULL. Families come while a walk is on its way, so it goes on by name
 * and not by number. */
static const ki_metric_family *family_behind_locked(const ki_metrics *metrics, ki_str name)
    KI_REQUIRES(metrics->mu)
{
    size_t at = ki_metric_set_lower_bound(&metrics->families, name);
    if (at < metrics->families.count && ki_str_equal(metrics->families.nodes[at]->key, name))
        at++;
    return at < metrics->families.count ? (const ki_metric_family *)metrics->families.nodes[at] : NULL;
}

/* Appends the text of the next family that has one. Returns 0 with the family, or with NULL at the end. */
static int write_next(ki_metrics *metrics, ki_str name, ki_buf *text, const ki_metric_family **out_family)
{
    int rc = 0;
    size_t before = text->len;
    const ki_metric_family *family;
    ki_mutex_lock(&metrics->mu);
    do {
        family = family_behind_locked(metrics, name);
        if (family == NULL)
            break;
        name = family->node.key;
        rc = ki_prometheus_family(text, family);
    } while (rc == 0 && text->len == before);
    ki_mutex_unlock(&metrics->mu);
    *out_family = family;
    return rc;
}

static int fail_write(ki_error *err, int rc)
{
    return rc == KI_ERR_TOO_LARGE ? ki_fail(err, rc, "the text of the metrics is too large")
                                  : ki_fail_no_memory(err);
}

int ki_metrics_write(ki_metrics *metrics, ki_metrics_write_cb callback, void *user, ki_error *err)
{
    const ki_metric_family *family = NULL;
    ki_str name = {0};
    ki_buf text;
    int rc;
    if (metrics == NULL || callback == NULL)
        return ki_fail(err, KI_ERR_INVALID, "metrics or callback are missing");
    ki_buf_init(&text, metrics->bytes_max);
    for (;;) {
        ki_buf_reset(&text, metrics->bytes_max);
        rc = write_next(metrics, name, &text, &family);
        if (rc < 0)
            rc = fail_write(err, rc);
        if (rc < 0 || family == NULL)
            break;
        name = family->node.key;
        rc = callback(name, ki_buf_str(&text), user);
        if (rc != 0)
            break;
    }
    ki_buf_fini(&text);
    return rc;
}

int ki_metrics_render(ki_metrics *metrics, ki_metrics_text *out_text, ki_error *err)
{
    const ki_metric_family *family = NULL;
    ki_str name = {0};
    ki_buf text;
    int rc;
    if (metrics == NULL || out_text == NULL)
        return ki_fail(err, KI_ERR_INVALID, "metrics or a place for their text are missing");
    ki_buf_init(&text, metrics->bytes_max);
    do {
        rc = write_next(metrics, name, &text, &family);
        name = family == NULL ? name : family->node.key;
    } while (rc == 0 && family != NULL);
    if (rc == 0)
        rc = ki_buf_append_byte(&text, 0);
    if (rc < 0) {
        ki_buf_fini(&text);
        return fail_write(err, rc);
    }
    *out_text = (ki_metrics_text){text.data, text.len - 1};
    return 0;
}

void ki_metrics_text_fini(ki_metrics_text *text)
{
    if (text == NULL)
        return;
    ki_free(text->bytes);
    *text = (ki_metrics_text){0};
}
