/* SPDX-License-Identifier: Apache-2.0 */
#include "pod_shape.h"

/* One per language; chosen by pod_shape.language. */
static const char *const descriptions[] = {
    "Zahlungsabwicklung für Händler in Österreich – bitte nicht löschen",
    "注文を検索するサービス（本番環境）",
    "Сервис рассылки уведомлений, владелец: группа платформы",
    "خدمة البحث عن الطلبات",
    "결제 서비스 백엔드 🚀",
    "Passerelle d’accès : délai réglé à 30 s, « ne pas modifier »",
};

static void write_network_status(struct text *out, const struct pod_shape *pod)
{
    text_put(out, "[{\\n    \\\"name\\\": \\\"cbr0\\\",\\n    \\\"interface\\\": \\\"eth0\\\",\\n",
             "    \\\"ips\\\": [\\n        \\\"", pod->pod_address, "\\\"\\n    ],\\n",
             "    \\\"default\\\": true,\\n    \\\"dns\\\": {}\\n}]");
}

/* Go's encoder writes < > & as escapes; the contact contains all three. */
static void write_contact(struct text *out, const struct pod_shape *pod)
{
    text_put(out, pod->app, " \\u003c", pod->app,
             "@example.com\\u003e, runbook https://runbooks.example.com/?app=", pod->app,
             "\\u0026stage=live");
}

static void write_annotation_value(struct text *out, const struct pod_shape *pod,
                                   const struct annotation_key *key)
{
    switch (key->bit) {
    case ANNOTATION_CHECKSUM:
        text_put(out, pod->config_checksum);
        break;
    case ANNOTATION_CONTACT:
        write_contact(out, pod);
        break;
    case ANNOTATION_LANGUAGE:
        text_put(out, descriptions[pod->language]);
        break;
    case ANNOTATION_NETWORK:
        write_network_status(out, pod);
        break;
    case ANNOTATION_RESTARTED:
        text_put(out, pod->created_at);
        break;
    default:
        text_put(out, strcmp(key->key, "prometheus.io/port") == 0 ? pod->containers[0].port : "true");
        break;
    }
}

static void write_annotations(struct text *out, const struct pod_shape *pod)
{
    const char *before = "\"annotations\":{\"";
    for (size_t i = 0; i < pod_annotation_key_count; i++) {
        const struct annotation_key *key = &pod_annotation_keys[i];
        if ((pod->annotations & key->bit) != 0) {
            text_put(out, before, key->key, "\":\"");
            write_annotation_value(out, pod, key);
            before = "\",\"";
        }
    }
    text_put(out, "\"},");
}

static void write_labels(struct text *out, const struct pod_shape *pod)
{
    const char *before = "\"labels\":{\"";
    for (size_t i = 0; i < pod->label_count; i++) {
        text_put(out, before, pod->labels[i].key, "\":\"", pod->labels[i].value);
        before = "\",\"";
    }
    text_put(out, "\"},");
}

static void write_owner(struct text *out, const struct pod_shape *pod)
{
    static const char *const kinds[] = {
        [WORKLOAD_REPLICA_SET] = "ReplicaSet",
        [WORKLOAD_STATEFUL_SET] = "StatefulSet",
        [WORKLOAD_DAEMON_SET] = "DaemonSet",
    };
    text_put(out, "\"ownerReferences\":[{\"apiVersion\":\"apps/v1\",\"kind\":\"", kinds[pod->kind],
             "\",\"name\":\"", pod->owner_name, "\",\"uid\":\"", pod->owner_uid,
             "\",\"controller\":true,\"blockOwnerDeletion\":true}],");
}

void pod_write_metadata(struct text *out, const struct pod_shape *pod)
{
    text_put(out, "\"metadata\":{\"name\":\"", pod->name, "\",\"generateName\":\"", pod->generate_name,
             "\",\"namespace\":\"", pod->namespace_name, "\",\"uid\":\"", pod->uid,
             "\",\"resourceVersion\":\"", pod->resource_version,
             "\",\"generation\":1,\"creationTimestamp\":\"", pod->created_at, "\",");
    if (pod->deleted_at[0] != '\0') {
        text_put(out, "\"deletionTimestamp\":\"", pod->deleted_at, "\",\"deletionGracePeriodSeconds\":30,");
    }
    write_labels(out, pod);
    if (pod->annotations != 0) {
        write_annotations(out, pod);
    }
    write_owner(out, pod);
    pod_write_managed_fields(out, pod);
    text_put_literal(out, "}");
}
