/* SPDX-License-Identifier: Apache-2.0 */
/* Creates, finds and drops metrics: everything that needs the lock, except writing. */
#include "metrics/metrics.h"

#include <assert.h>
#include <string.h>

#include "metrics/prometheus.h"
#include "metrics/registry.h"
#include "util/alloc.h"
#include "util/buf.h"
#include "util/error.h"
#include "util/text/byte.h"

enum {
    CHILDREN_MAX = 1000000,
    LABELS_BYTES_MAX = 64 * 1024,
};

/* ---- creating and freeing ------------------------------------------------------------------------------ */

static int is_name(ki_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        bool is_word = ki_byte_is_letter_or_digit(c) || c == '_' || c == ':';
        if (!is_word || (i == 0 && ki_byte_is_digit(c)))
            return 0;
    }
    return 1;
}

ki_metrics *ki_metrics_new(const ki_metrics_options *options, ki_error *err)
{
    ki_metrics_options given = options == NULL ? (ki_metrics_options){0} : *options;
    ki_str prefix = ki_str_of(given.prefix);
    if (!is_name(prefix)) {
        ki_fail(err, KI_ERR_INVALID, "the name of a metric cannot begin with \"%.*s\"", KI_STR_ARGS(prefix));
        return NULL;
    }
    if (ki_fork_check(err) < 0)
        return NULL;
    ki_metrics *metrics = ki_malloc(sizeof(*metrics) + prefix.len);
    if (metrics == NULL) {
        ki_fail_no_memory(err);
        return NULL;
    }
    *metrics = (ki_metrics){
        .prefix = {(char *)(metrics + 1), prefix.len},
        .children_max = given.children_max > 0 ? given.children_max : CHILDREN_MAX,
        .bytes_max = given.bytes_max > 0 ? given.bytes_max : SIZE_MAX,
    };
    if (prefix.len > 0)
        memcpy(metrics + 1, prefix.ptr, prefix.len);
    ki_refcount_init(&metrics->refs);
    ki_mutex_init(&metrics->mu);
    metrics->fork_hook = (ki_fork_hook){.order = KI_FORK_LEAVES, .mutex = &metrics->mu};
    if (ki_fork_add(&metrics->fork_hook) < 0) {
        ki_fail_no_memory(err);
        ki_metrics_free(metrics);
        return NULL;
    }
    return metrics;
}

ki_metrics *ki_metrics_ref(ki_metrics *metrics)
{
    if (metrics != NULL)
        ki_refcount_ref(&metrics->refs);
    return metrics;
}

static int free_child(ki_metric_node *node, void *user)
{
    (void)user;
    ki_free(((ki_metric_child *)node)->allocation);
    return 0;
}

static int free_family(ki_metric_node *node, void *user)
{
    ki_metric_family *family = (ki_metric_family *)node;
    (void)ki_metric_set_walk(&family->children, NULL, free_child, user);
    ki_free(family);
    return 0;
}

void ki_metrics_free(ki_metrics *metrics)
{
    if (metrics == NULL || !ki_refcount_unref(&metrics->refs))
        return;
    (void)ki_metric_set_walk(&metrics->families, NULL, free_family, NULL);
    ki_fork_remove(&metrics->fork_hook);
    ki_mutex_fini(&metrics->mu);
    ki_free(metrics);
}

uint64_t ki_metrics_refused(const ki_metrics *metrics)
{
    /* Relaxed: a counter that orders nothing. */
    return metrics == NULL ? 0 : atomic_load_explicit(&metrics->refused, memory_order_relaxed);
}

/* ---- families ------------------------------------------------------------------------------------------ */

static ki_metric_family *new_family(ki_metrics *metrics, const ki_metric_desc *desc)
{
    ki_str name = ki_str_of(desc->name);
    ki_metric_family *family = ki_malloc(sizeof(*family) + metrics->prefix.len + name.len);
    if (family == NULL)
        return NULL;
    char *text = (char *)(family + 1);
    *family = (ki_metric_family){.desc = desc, .metrics = metrics};
    family->node.key = (ki_str){text, metrics->prefix.len + name.len};
    memcpy(text, metrics->prefix.ptr, metrics->prefix.len);
    memcpy(text + metrics->prefix.len, name.ptr, name.len);
    return family;
}

typedef struct sought_family {
    const ki_metric_desc *desc;
    ki_metric_family *found;
} sought_family;

static int compare_desc(ki_metric_node *node, void *user)
{
    sought_family *sought = user;
    ki_metric_family *family = (ki_metric_family *)node;
    if (family->desc == sought->desc)
        sought->found = family;
    return sought->found != NULL;
}

/* Finds or creates the family. NULL when out of memory. */
static ki_metric_family *family_locked(ki_metrics *metrics, const ki_metric_desc *desc)
    KI_REQUIRES(metrics->mu)
{
    KI_ASSERT_HELD(metrics->mu);
    sought_family sought = {.desc = desc};
    if (ki_metric_set_walk(&metrics->families, NULL, compare_desc, &sought) != 0)
        return sought.found;
    ki_metric_family *family = new_family(metrics, desc);
    if (family != NULL)
        ki_metric_set_insert(&metrics->families, &family->node);
    return family;
}

/* ---- children ------------------------------------------------------------------------------------------ */

static size_t cell_bytes(const ki_metric_desc *desc)
{
    assert(desc->type != KI_METRIC_HISTOGRAM || desc->bounds != NULL);
    size_t bytes = desc->type == KI_METRIC_GAUGE ? sizeof(ki_gauge) : sizeof(uint64_t);
    if (desc->type == KI_METRIC_HISTOGRAM)
        bytes = sizeof(ki_histogram) + (desc->bounds->count + 1) * sizeof(uint64_t);
    return (bytes + KI_METRIC_LINE_BYTES - 1) / KI_METRIC_LINE_BYTES * KI_METRIC_LINE_BYTES;
}

static void init_cell(const ki_metric_desc *desc, void *cell)
{
    assert((uintptr_t)cell % KI_METRIC_LINE_BYTES == 0);
    if (desc->type == KI_METRIC_COUNTER) {
        atomic_init(&((ki_counter *)cell)->value, 0);
    } else if (desc->type == KI_METRIC_GAUGE) {
        ki_gauge *gauge = cell;
        atomic_init(&gauge->value, 0);
        gauge->read = NULL;
        gauge->user = NULL;
    } else {
        ki_histogram *histogram = cell;
        histogram->bounds = desc->bounds;
        atomic_init(&histogram->sum, 0);
        for (size_t i = 0; i <= desc->bounds->count; i++)
            atomic_init(&histogram->counts[i], 0);
    }
}

static ki_metric_child *new_child(ki_metric_family *family, ki_str labels)
{
    size_t cell = cell_bytes(family->desc);
    size_t slack = KI_METRIC_LINE_BYTES - 1;
    char *allocation = ki_malloc(slack + KI_METRIC_LINE_BYTES + cell + labels.len);
    if (allocation == NULL)
        return NULL;
    size_t beyond = (uintptr_t)allocation % KI_METRIC_LINE_BYTES;
    char *aligned = allocation + (beyond == 0 ? 0 : KI_METRIC_LINE_BYTES - beyond);
    char *text = aligned + KI_METRIC_LINE_BYTES + cell;
    if (labels.len > 0)
        memcpy(text, labels.ptr, labels.len);
    ki_metric_child *child = (ki_metric_child *)(void *)aligned;
    *child = (ki_metric_child){.node.key = {text, labels.len}, .family = family, .allocation = allocation};
    init_cell(family->desc, ki_metric_cell(child));
    return child;
}

/* Finds or creates the child, and counts one use. NULL when out of memory, or when the family has too many
 * children. */
static ki_metric_child *child_locked(ki_metrics *metrics, const ki_metric_desc *desc, ki_str labels)
    KI_REQUIRES(metrics->mu)
{
    KI_ASSERT_HELD(metrics->mu);
    ki_metric_family *family = family_locked(metrics, desc);
    if (family == NULL)
        return NULL;
    ki_metric_child *child = (ki_metric_child *)ki_metric_set_find(&family->children, labels);
    if (child == NULL) {
        if (family->children.count >= metrics->children_max)
            return NULL;
        child = new_child(family, labels);
        if (child == NULL)
            return NULL;
        ki_metric_set_insert(&family->children, &child->node);
    }
    child->uses++;
    assert(child->uses > 0 && child->family == family);
    return child;
}

static void *find_cell(ki_metrics *metrics, const ki_metric_desc *desc, const ki_str *label_values)
{
    ki_metric_child *child = NULL;
    ki_buf labels;
    if (metrics == NULL)
        return NULL;
    ki_buf_init(&labels, LABELS_BYTES_MAX);
    if (ki_prometheus_labels(&labels, desc, label_values) == 0) {
        ki_mutex_lock(&metrics->mu);
        child = child_locked(metrics, desc, ki_buf_str(&labels));
        ki_mutex_unlock(&metrics->mu);
    }
    ki_buf_fini(&labels);
    if (child != NULL)
        return ki_metric_cell(child);
    /* Relaxed: a counter that orders nothing. */
    atomic_fetch_add_explicit(&metrics->refused, 1, memory_order_relaxed);
    return NULL;
}

static void drop_cell(void *cell)
{
    if (cell == NULL)
        return;
    ki_metric_child *child = ki_metric_child_of(cell);
    ki_metrics *metrics = child->family->metrics;
    ki_mutex_lock(&metrics->mu);
    assert(child->uses > 0 && ki_metric_set_find(&child->family->children, child->node.key) == &child->node);
    int is_last = --child->uses == 0;
    if (is_last)
        ki_metric_set_remove(&child->family->children, &child->node);
    ki_mutex_unlock(&metrics->mu);
    if (is_last)
        (void)free_child(&child->node, NULL);
}

/* ---- by type ------------------------------------------------------------------------------------------- */

ki_counter *ki_metrics_counter(ki_metrics *metrics, const ki_metric_desc *desc, const ki_str *label_values)
{
    assert(desc->type == KI_METRIC_COUNTER);
    return find_cell(metrics, desc, label_values);
}

ki_gauge *ki_metrics_gauge(ki_metrics *metrics, const ki_metric_desc *desc, const ki_str *label_values)
{
    assert(desc->type == KI_METRIC_GAUGE);
    return find_cell(metrics, desc, label_values);
}

ki_histogram *ki_metrics_histogram(ki_metrics *metrics, const ki_metric_desc *desc,
                                   const ki_str *label_values)
{
    assert(desc->type == KI_METRIC_HISTOGRAM);
    return find_cell(metrics, desc, label_values);
}

static void set_source(ki_gauge *gauge, int64_t (*read)(const void *user), const void *user)
{
    gauge->read = read;
    gauge->user = user;
    ki_gauge_set(gauge, INT64_MAX);
}

void ki_gauge_follow(ki_gauge *gauge, int64_t (*read)(const void *user), const void *user)
{
    if (gauge == NULL)
        return;
    ki_metrics *metrics = ki_metric_child_of(gauge)->family->metrics;
    ki_mutex_lock(&metrics->mu);
    set_source(gauge, read, user);
    ki_mutex_unlock(&metrics->mu);
}

void ki_gauge_unfollow(ki_gauge *gauge, const void *user)
{
    if (gauge == NULL)
        return;
    ki_metrics *metrics = ki_metric_child_of(gauge)->family->metrics;
    ki_mutex_lock(&metrics->mu);
    if (gauge->user == user)
        set_source(gauge, NULL, NULL);
    ki_mutex_unlock(&metrics->mu);
}

void ki_counter_drop(ki_counter *counter)
{
    drop_cell(counter);
}

void ki_gauge_drop(ki_gauge *gauge)
{
    drop_cell(gauge);
}

void ki_histogram_drop(ki_histogram *histogram)
{
    drop_cell(histogram);
}
