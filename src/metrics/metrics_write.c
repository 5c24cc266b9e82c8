/* SPDX-License-Identifier: Apache-2.0 */
/* Writes the metrics as text, in pieces of at most one family. */
#include <kinformer/metrics.h>
#include <stdbool.h>

#include "metrics/prometheus.h"
#include "metrics/registry.h"
#include "util/alloc.h"
#include "util/buf.h"
#include "util/error.h"

/* PIECE_BYTES: a piece ends after this many bytes, and the lock is released; the last sample may exceed
 * it. */
enum { PIECE_BYTES = 64 * 1024, PIECE_BYTES_MAX = 64 * 1024 * 1024 };

/* The state of a walk. Between two pieces, families and children may be added and children may be removed.
 * So the walk continues by the name of the family and the labels of the last sample. */
typedef struct walk {
    const ki_metric_family *family; /* the family being written */
    ki_buf labels;                  /* of the last sample written */
    bool is_inside;                 /* more samples of the family may follow */
    ki_buf text;
} walk;

static int note_family(ki_metric_node *node, void *user)
{
    const ki_metric_family *family = (const ki_metric_family *)node;
    if (family->children.count == 0)
        return 0;
    *(const ki_metric_family **)user = family;
    return 1;
}

/* Writes one sample. Returns 0, 1 if the piece is full, or an error. */
static int put_child(ki_metric_node *node, void *user)
{
    walk *w = user;
    int rc = ki_prometheus_child(&w->text, (ki_metric_child *)node);
    if (rc < 0 || w->text.len < PIECE_BYTES)
        return rc;
    ki_buf_reset(&w->labels, PIECE_BYTES);
    rc = ki_buf_append_str(&w->labels, node->key);
    return rc < 0 ? rc : 1;
}

static int put_more_locked(const ki_metrics *metrics, walk *w) KI_REQUIRES(metrics->mu)
{
    KI_ASSERT_HELD(metrics->mu);
    ki_str labels = ki_buf_str(&w->labels);
    int rc = 0;
    if (!w->is_inside) {
        const ki_str *name = w->family == NULL ? NULL : &w->family->node.key;
        w->family = NULL;
        if (ki_metric_set_walk(&metrics->families, name, note_family, &w->family) == 0)
            return 0;
        rc = ki_prometheus_head(&w->text, w->family);
    }
    if (rc == 0)
        rc = ki_metric_set_walk(&w->family->children, w->is_inside ? &labels : NULL, put_child, w);
    w->is_inside = rc == 1;
    return rc < 0 ? rc : 0;
}

/* Writes the next piece. At the end, `family` is NULL. The loop skips empty pieces: the rest of a family
 * may have been removed meanwhile. */
static int next_piece(ki_metrics *metrics, walk *w)
{
    int rc;
    ki_buf_reset(&w->text, PIECE_BYTES_MAX);
    do {
        ki_mutex_lock(&metrics->mu);
        rc = put_more_locked(metrics, w);
        ki_mutex_unlock(&metrics->mu);
    } while (rc == 0 && w->family != NULL && w->text.len == 0);
    return rc;
}

static int fail_write(ki_error *err, int rc)
{
    return rc == KI_ERR_TOO_LARGE ? ki_fail(err, rc, "the metrics exceed the maximum size")
                                  : ki_fail_no_memory(err);
}

/* The callback may free the client that owns these metrics, so this holds its own reference. */
int ki_metrics_write(const ki_metrics *metrics, ki_metrics_write_cb callback, ki_error *err, void *user)
{
    walk w = {0};
    int rc = 0;
    if (metrics == NULL)
        return ki_fail_missing(err, "no metrics");
    if (callback == NULL)
        return ki_fail(err, KI_ERR_INVALID, "the callback must not be NULL");
    ki_buf_init(&w.text, PIECE_BYTES_MAX);
    ki_buf_init(&w.labels, PIECE_BYTES_MAX);
    ki_metrics *mine = ki_metrics_ref((ki_metrics *)metrics); /* neither lock nor count is const */
    do {
        rc = next_piece(mine, &w);
        if (rc < 0)
            rc = fail_write(err, rc);
        else if (w.family != NULL)
            rc = callback(w.family->node.key, ki_buf_str(&w.text), user);
    } while (rc == 0 && w.family != NULL);
    ki_metrics_free(mine);
    ki_buf_fini(&w.labels);
    ki_buf_fini(&w.text);
    return rc;
}

static int append(ki_str name, ki_str text, void *user)
{
    (void)name;
    return ki_buf_append_str(user, text);
}

int ki_metrics_render(const ki_metrics *metrics, ki_metrics_text *out_text, ki_error *err)
{
    ki_buf text;
    if (metrics == NULL)
        return ki_fail_missing(err, "no metrics");
    if (out_text == NULL)
        return ki_fail(err, KI_ERR_INVALID, "the output must not be NULL");
    ki_buf_init(&text, metrics->bytes_max);
    int rc = ki_metrics_write(metrics, append, err, &text);
    if (rc == 0)
        rc = ki_buf_append_byte(&text, 0);
    if (rc < 0) {
        ki_buf_fini(&text);
        return fail_write(err, rc);
    }
    *out_text = (ki_metrics_text){.bytes = text.data, .len = text.len - 1};
    return 0;
}

void ki_metrics_text_fini(ki_metrics_text *text)
{
    if (text == NULL)
        return;
    ki_free(text->bytes);
    *text = (ki_metrics_text){0};
}
