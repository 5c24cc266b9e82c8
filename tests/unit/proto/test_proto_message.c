/* SPDX-License-Identifier: Apache-2.0 */
/* What single bytes mean: absent fields, special types, repeated fields, text that is not UTF-8. The bytes
 * are written in hexadecimal; the JSON is what Go produces. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "proto/item.h"
#include "support/unit.h"

enum { BYTES_MAX = 4096 };

static size_t from_hex(const char *hex, char *out)
{
    size_t n = 0;
    for (; *hex != 0; hex++) {
        unsigned byte = 0;
        if (*hex == ' ')
            continue;
        assert_int_equal(sscanf(hex, "%2x", &byte), 1);
        assert_true(n < BYTES_MAX);
        out[n++] = (char)byte;
        hex++;
    }
    return n;
}

typedef struct result {
    int code;
    char json[BYTES_MAX];
    ki_proto_unknown unknown;
} result;

static result read_hex(const char *api_version, const char *kind, const char *hex)
{
    char bytes[BYTES_MAX];
    result r = {0};
    ki_error err = {0};
    ki_proto_reader reader;
    ki_proto_reader_init(&reader, NULL, 0);
    const ki_proto_source source = {.message = ki_proto_find(ki_str_of(api_version), ki_str_of(kind)),
                                    .bytes = {bytes, from_hex(hex, bytes)},
                                    .bytes_max = 1 << 20};
    assert_non_null(source.message);
    r.code = ki_proto_read(&reader, &source, &err);
    assert_int_equal(err.code, r.code);
    snprintf(r.json, sizeof(r.json), "%.*s", KI_STR_ARGS(ki_buf_str(&reader.sink.text)));
    r.unknown = reader.unknown;
    ki_proto_reader_fini(&reader);
    return r;
}

typedef struct sample {
    const char *api_version;
    const char *kind;
    const char *hex;
    const char *json; /* NULL: malformed */
} sample;

static void check(const sample *samples, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        result r = read_hex(samples[i].api_version, samples[i].kind, samples[i].hex);
        if (samples[i].json == NULL ? r.code >= 0 : r.code != 0 || strcmp(r.json, samples[i].json) != 0)
            fail_msg("%s %s: %s (%s), not %s", samples[i].kind, samples[i].hex, r.json, ki_error_name(r.code),
                     samples[i].json == NULL ? "an error" : samples[i].json);
    }
}

#define CHECK(...)                                                                                           \
    do {                                                                                                     \
        const sample samples[] = {__VA_ARGS__};                                                              \
        check(samples, sizeof(samples) / sizeof(samples[0]));                                                \
    } while (0)

static void an_absent_field_is_omitted_null_or_zero_according_to_its_tag(void **state)
{
    (void)state;
    CHECK({"v1", "Pod", "", "{\"metadata\":{},\"spec\":{\"containers\":null},\"status\":{}}"},
          {"v1", "Pod", "0a00 1200 1a00", "{\"metadata\":{},\"spec\":{\"containers\":null},\"status\":{}}"},
          {"apps/v1", "Deployment", "",
           "{\"metadata\":{},\"spec\":{\"selector\":null,\"template\":{\"metadata\":{},\"spec\":{"
           "\"containers\":"
           "null}},\"strategy\":{}},\"status\":{}}"},
          {"rbac.authorization.k8s.io/v1", "Role", "", "{\"metadata\":{},\"rules\":null}"},
          {"v1", "Event", "",
           "{\"metadata\":{},\"involvedObject\":{},\"source\":{},\"firstTimestamp\":null,\"lastTimestamp\":"
           "null,"
           "\"eventTime\":null,\"reportingComponent\":\"\",\"reportingInstance\":\"\"}"});
}

static void zero_is_a_value_for_a_pointer(void **state)
{
    (void)state;
    CHECK(
        {"v1", "ReplicationController", "1200", "{\"metadata\":{},\"spec\":{},\"status\":{\"replicas\":0}}"},
        {"v1", "ReplicationController", "12020800",
         "{\"metadata\":{},\"spec\":{\"replicas\":0},\"status\":{\"replicas\":0}}"},
        /* minReadySeconds is not a pointer */
        {"v1", "ConfigMap", "0a03 0a8000", "{\"metadata\":{}}"}, /* a length of 0 in two bytes */
        {"v1", "ReplicationController", "1206 208080808010",     /* 2^32 is truncated to 0 */
         "{\"metadata\":{},\"spec\":{},\"status\":{\"replicas\":0}}"},
        {"v1", "ReplicationController", "12022000",
         "{\"metadata\":{},\"spec\":{},\"status\":{\"replicas\":0}}"},
        {"networking.k8s.io/v1", "NetworkPolicy", "1206 0a00 1200 1a00",
         "{\"metadata\":{},\"spec\":{\"podSelector\":{},\"ingress\":[{}],\"egress\":[{}]}}"});
}

static void empty_bytes_are_not_absent(void **state)
{
    (void)state;
    CHECK({"certificates.k8s.io/v1", "CertificateSigningRequest", "1200",
           "{\"metadata\":{},\"spec\":{\"request\":null,\"signerName\":\"\"},\"status\":{}}"},
          {"certificates.k8s.io/v1", "CertificateSigningRequest", "12020a00",
           "{\"metadata\":{},\"spec\":{\"request\":\"\",\"signerName\":\"\"},\"status\":{}}"},
          {"certificates.k8s.io/v1", "CertificateSigningRequest", "1206 0a04 00ff1061",
           "{\"metadata\":{},\"spec\":{\"request\":\"AP8QYQ==\",\"signerName\":\"\"},\"status\":{}}"});
}

static void maps_keep_the_last_of_a_name_and_have_defaults(void **state)
{
    (void)state;
    /* Secret.data: no value, an empty one, no name */
    CHECK({"v1", "Secret", "1203 0a0161", "{\"metadata\":{},\"data\":{\"a\":\"\"}}"},
          {"v1", "Secret", "1205 0a0161 1200", "{\"metadata\":{},\"data\":{\"a\":\"\"}}"},
          {"v1", "Secret", "1203 120162", "{\"metadata\":{},\"data\":{\"\":\"Yg==\"}}"},
          /* ConfigMap.data: sorted, not sorted, a name twice, in two places */
          {"v1", "ConfigMap", "1206 0a0161 120131 1206 0a0162 120132",
           "{\"metadata\":{},\"data\":{\"a\":\"1\",\"b\":\"2\"}}"},
          {"v1", "ConfigMap", "1206 0a0162 120132 1206 0a0161 120131",
           "{\"metadata\":{},\"data\":{\"a\":\"1\",\"b\":\"2\"}}"},
          {"v1", "ConfigMap", "1206 0a0161 120131 1206 0a0161 120132",
           "{\"metadata\":{},\"data\":{\"a\":\"2\"}}"},
          {"v1", "ConfigMap", "1206 0a0161 120131 0a00 1206 0a0161 120132",
           "{\"metadata\":{},\"data\":{\"a\":\"2\"}}"},
          /* The name twice in one entry, and a field that entries do not have. */
          {"v1", "ConfigMap", "120b 0a0161 0a0162 120131 1800", "{\"metadata\":{},\"data\":{\"b\":\"1\"}}"});
}

static void extra_values_are_never_null(void **state)
{
    (void)state;
    CHECK({"certificates.k8s.io/v1", "CertificateSigningRequest", "1207 3205 0a0161 1200",
           "{\"metadata\":{},\"spec\":{\"request\":null,\"signerName\":\"\",\"extra\":{\"a\":[]}},\"status\":"
           "{}}"},
          {"certificates.k8s.io/v1", "CertificateSigningRequest", "120a 3208 0a0161 1203 0a0178",
           "{\"metadata\":{},\"spec\":{\"request\":null,\"signerName\":\"\",\"extra\":{\"a\":[\"x\"]}},"
           "\"status\":{}}"});
}

#define TIMED(time) "{\"metadata\":{\"creationTimestamp\":\"" time "\"}}"

static void times_are_written_as_by_go(void **state)
{
    (void)state;
    CHECK(
        {"v1", "ConfigMap", "0a02 4200", "{\"metadata\":{}}"}, /* zero, and omitted */
        {"v1", "ConfigMap", "0a06 4204 08001000", TIMED("1970-01-01T00:00:00Z")},
        {"v1", "ConfigMap", "0a04 4202 1005", TIMED("1970-01-01T00:00:00Z")},
        {"v1", "ConfigMap", "0a0d 420b 08ffffffffffffffffff01", TIMED("1969-12-31T23:59:59Z")},
        {"v1", "ConfigMap", "0a0d 420b 088092b8c398feffffff01", "{\"metadata\":{}}"},
        {"v1", "ConfigMap", "0a09 4207 0880e0cbffaf07", TIMED("9999-12-31T00:00:00Z")},
        {"v1", "ConfigMap", "0a09 4207 088083d1ffaf07", TIMED("10000-01-01T00:00:00Z")},
        {"v1", "ConfigMap", "0a08 4206 08808a8ca606", TIMED("2023-07-28T00:00:00Z")},
        /* a pointer to a zero time */
        {"v1", "ConfigMap", "0a02 4a00", "{\"metadata\":{\"deletionTimestamp\":null}}"},
        {"coordination.k8s.io/v1", "Lease", "1206 2204 08001000",
         "{\"metadata\":{},\"spec\":{\"renewTime\":\"1970-01-01T00:00:00.000000Z\"}}"},
        {"coordination.k8s.io/v1", "Lease", "1207 2205 080010cf0f",
         "{\"metadata\":{},\"spec\":{\"renewTime\":\"1970-01-01T00:00:00.000001Z\"}}"},
        {"coordination.k8s.io/v1", "Lease", "1202 2200", "{\"metadata\":{},\"spec\":{\"renewTime\":null}}"});
}

/* The encoding of Go: {1: five bytes, 2: 0}. */
static ki_str timed_message(char *out, uint64_t seconds)
{
    size_t n = from_hex("0a0a 4208 08", out);
    for (int i = 0; i < 5; i++)
        out[n++] = (char)((seconds >> (7 * i) & 0x7f) | (i < 4 ? 0x80 : 0));
    n += from_hex("1000", out + n);
    return (ki_str){out, n};
}

static void times_of_many_days_are_distinguished(void **state)
{
    (void)state;
    char bytes[BYTES_MAX];
    char json[BYTES_MAX];
    ki_proto_reader reader;
    ki_proto_reader_init(&reader, NULL, 0);
    for (int i = 0; i < 200; i++) {
        const time_t seconds = 1700000000 + (time_t)(i * 7 % 100) * 86399;
        struct tm parts;
        const ki_proto_source source = {.message = ki_proto_find(KI_STR("v1"), KI_STR("ConfigMap")),
                                        .bytes = timed_message(bytes, (uint64_t)seconds),
                                        .bytes_max = 1 << 20};
        assert_int_equal(ki_proto_read(&reader, &source, NULL), 0);
        assert_true(strftime(json, sizeof(json), TIMED("%Y-%m-%dT%H:%M:%SZ"), gmtime_r(&seconds, &parts)) >
                    0);
        assert_int_equal(reader.sink.text.len, strlen(json));
        assert_memory_equal(reader.sink.text.data, json, strlen(json));
    }
    ki_proto_reader_fini(&reader);
}

#define HARD(value) "{\"metadata\":{},\"spec\":{\"hard\":{\"a\":" value "}},\"status\":{}}"

static void quantities_are_in_canonical_form(void **state)
{
    (void)state;
    CHECK({"v1", "ResourceQuota", "120d 0a0b 0a0161 1206 0a04 31354d69", HARD("\"15Mi\"")},
          {"v1", "ResourceQuota", "120a 0a08 0a0161 1203 0a0130", HARD("\"0\"")},
          {"v1", "ResourceQuota", "120e 0a0c 0a0161 1207 0a05 313030306d", HARD("\"1\"")},      /* 1000m */
          {"v1", "ResourceQuota", "120f 0a0d 0a0161 1208 0a06 313032344d69", HARD("\"1Gi\"")},  /* 1024Mi */
          {"v1", "ResourceQuota", "120e 0a0c 0a0161 1207 0a05 312e354769", HARD("\"1536Mi\"")}, /* 1.5Gi */
          {"v1", "ResourceQuota", "120d 0a0b 0a0161 1206 0a04 312e3530", HARD("\"1500m\"")},    /* 1.50 */
          {"v1", "ResourceQuota", "120d 0a0b 0a0161 1206 0a04 31303030", HARD("\"1k\"")},       /* 1000 */
          {"v1", "ResourceQuota", "120b 0a09 0a0161 1204 0a02 3037", HARD("\"7\"")},            /* 07 */
          {"v1", "ResourceQuota", "120b 0a09 0a0161 1204 0a02 306d", HARD("\"0\"")},            /* 0m */
          {"v1", "ResourceQuota", "120c 0a0a 0a0161 1205 0a03 314b69", HARD("\"1Ki\"")},
          {"v1", "ResourceQuota", "120d 0a0b 0a0161 1206 0a04 31303345",
           HARD("\"103E\"")}, /* beyond an int64 */
          {"v1", "ResourceQuota", "1207 0a05 0a0161 1200", HARD("\"0\"")},
          {"v1", "ResourceQuota", "1209 0a07 0a0161 1202 0a00", NULL},
          {"v1", "ResourceQuota", "120b 0a09 0a0161 1204 0a02 3171", NULL});
}

#define PORT(value)                                                                                          \
    "{\"metadata\":{},\"spec\":{\"ports\":[{\"port\":0,\"targetPort\":" value "}]},\"status\":{"             \
    "\"loadBalancer\":{}}}"

static void the_type_of_an_int_or_string_decides(void **state)
{
    (void)state;
    CHECK({"v1", "Service", "1202 0a00", PORT("0")}, {"v1", "Service", "1204 0a02 2200", PORT("0")},
          {"v1", "Service", "120b 0a09 2207 0801 1007 1a0178", PORT("\"x\"")},
          {"v1", "Service", "120b 0a09 2207 0800 1007 1a0178", PORT("7")},
          {"v1", "Service", "120f 0a0d 220b 10ffffffffffffffffff01", PORT("-1")},
          {"v1", "Service", "120a 0a08 2206 108580808010", PORT("5")}, /* 2^32 + 5 */
          {"v1", "Service", "1206 0a04 2202 0802", NULL});
}

#define DATA(value) "{\"metadata\":{},\"data\":" value ",\"revision\":0}"

static void raw_json_is_checked_and_minified(void **state)
{
    (void)state;
    CHECK({"apps/v1", "ControllerRevision", "", DATA("null")},
          {"apps/v1", "ControllerRevision", "1200", DATA("null")},
          {"apps/v1", "ControllerRevision", "1204 0a02 7b7d", DATA("{}")},
          {"apps/v1", "ControllerRevision", "120a 0a08 207b202261223a31", NULL},
          {"apps/v1", "ControllerRevision", "120d 0a0b 20 7b2261223a312e307d 0a", DATA("{\"a\":1.0}")},
          /* {}},"x":1 must not be inserted. */
          {"apps/v1", "ControllerRevision", "120b 0a09 7b7d7d2c2278223a31", NULL},
          {"apps/v1", "ControllerRevision", "1205 0a03 22ff22", NULL});
}

static void text_that_is_not_utf8_is_replaced_byte_by_byte(void **state)
{
    (void)state;
#define FFFD "\xef\xbf\xbd"
    CHECK({"v1", "ConfigMap", "0a0a 0a08 61ffe2827aeda080",
           "{\"metadata\":{\"name\":\"a" FFFD FFFD FFFD "z" FFFD FFFD FFFD "\"}}"},
          {"v1", "ConfigMap", "0a06 0a04 f09f9880", "{\"metadata\":{\"name\":\"\xf0\x9f\x98\x80\"}}"},
          {"v1", "ConfigMap", "0a0a 0a08 225c000a1f7f3c26",
           "{\"metadata\":{\"name\":\"\\\"\\\\\\u0000\\n\\u001f\x7f<&\"}}"},
          /* Two names that become the same. */
          {"v1", "ConfigMap", "1206 0a01fe 120131 1206 0a01ff 120132",
           "{\"metadata\":{},\"data\":{\"" FFFD "\":\"1\",\"" FFFD "\":\"2\"}}"});
}

#define SCHEMA(text)                                                                                         \
    "{\"metadata\":{},\"spec\":{\"group\":\"\",\"names\":{\"plural\":\"\",\"kind\":\"\"},\"scope\":\"\","    \
    "\"validation\":{\"openAPIV3Schema\":" text "}},\"status\":{\"conditions\":null,\"acceptedNames\":{"     \
    "\"plural\":\"\",\"kind\":\"\"},\"storedVersions\":null}}"
#define CRD "apiextensions.k8s.io/v1beta1", "CustomResourceDefinition"

/* In each case: spec (2), validation (5), openAPIV3Schema (1), then additionalProperties (30), items (24),
 * dependencies (32), maximum (9). */
static void schemas_may_be_booleans_lists_or_numbers(void **state)
{
    (void)state;
    CHECK({CRD, "1207 2a05 0a03 f20100", SCHEMA("{\"additionalProperties\":false}")},
          {CRD, "1209 2a07 0a05 f201020801", SCHEMA("{\"additionalProperties\":true}")},
          {CRD, "1209 2a07 0a05 f201021200", SCHEMA("{\"additionalProperties\":{}}")},
          {CRD, "1207 2a05 0a03 c20100", SCHEMA("{\"items\":null}")},
          {CRD, "1209 2a07 0a05 c201020a00", SCHEMA("{\"items\":{}}")},
          {CRD, "120b 2a09 0a07 c201041200 1200", SCHEMA("{\"items\":[{},{}]}")},
          {CRD, "120f 2a0d 0a0b 820208 0a0161 1203 120178", SCHEMA("{\"dependencies\":{\"a\":[\"x\"]}}")},
          {CRD, "120c 2a0a 0a08 820205 0a0161 1200", SCHEMA("{\"dependencies\":{\"a\":null}}")},
          {CRD, "120d 2a0b 0a09 49 508aea0f9e5c4b44", SCHEMA("{\"maximum\":1.0094717583759696e+21}")},
          {CRD, "120d 2a0b 0a09 49 000000000000f07f", NULL}); /* infinity */
}

static void a_repeated_field_is_merged_as_in_go(void **state)
{
    (void)state;
    CHECK(/* name: the last one; metadata in two parts */
          {"v1", "ConfigMap", "0a06 0a0161 0a0162", "{\"metadata\":{\"name\":\"b\"}}"},
          {"v1", "ConfigMap", "0a03 0a0161 0a03 1a0162",
           "{\"metadata\":{\"name\":\"a\",\"namespace\":\"b\"}}"},
          {"v1", "ConfigMap", "0a03 1a0162 0a03 0a0161",
           "{\"metadata\":{\"name\":\"a\",\"namespace\":\"b\"}}"},
          /* finalizers in two parts, with a label between them */
          {"v1", "ConfigMap", "0a0e 720161 5a06 0a0178 120179 720162",
           "{\"metadata\":{\"labels\":{\"x\":\"y\"},\"finalizers\":[\"a\",\"b\"]}}"},
          /* A repeated time replaces the earlier one. */
          {"v1", "ConfigMap", "0a08 42020801 42021001", TIMED("1970-01-01T00:00:00Z")},
          /* a port in two parts */
          {"v1", "Service", "120b 0a09 22020801 2203 1a0178", PORT("\"x\"")},
          {"apps/v1", "ControllerRevision", "1203 0a0131 1200", DATA("1")},
          /* spec.volumes[0].emptyDir.sizeLimit: an empty quantity leaves the earlier one. */
          {"v1", "Pod", "1210 0a0e 0a0176 1209 1207 1203 0a0135 1200",
           "{\"metadata\":{},\"spec\":{\"volumes\":[{\"name\":\"v\",\"emptyDir\":{\"sizeLimit\":\"5\"}}],"
           "\"containers\":null},\"status\":{}}"});
}

static void fields_in_any_order_have_the_order_of_the_json(void **state)
{
    (void)state;
    CHECK({"v1", "ConfigMap", "0a11 720163 5a06 0a0178 120179 1a0162 0a0161",
           "{\"metadata\":{\"name\":\"a\",\"namespace\":\"b\",\"labels\":{\"x\":\"y\"},\"finalizers\":["
           "\"c\"]}}"},
          {"v1", "Pod", "1a00 0a03 0a0161 1200",
           "{\"metadata\":{\"name\":\"a\"},\"spec\":{\"containers\":null},\"status\":{}}"},
          /* volumes, initContainers, containers, nodeName: Go writes field 20 last. */
          {"v1", "Pod", "1210 0a03 0a0176 1200 520161 a20103 0a0163",
           "{\"metadata\":{},\"spec\":{\"volumes\":[{\"name\":\"v\"}],\"initContainers\":[{\"name\":\"c\","
           "\"resources\":{}}],\"containers\":[{\"name\":\"\",\"resources\":{}}],\"nodeName\":\"a\"},"
           "\"status\":{}}"},
          /* Absent fields before and between others. */
          {"v1", "Pod", "1206 0a0176 520161", NULL},
          {"v1", "Pod", "1208 0a03 0a0176 520161",
           "{\"metadata\":{},\"spec\":{\"volumes\":[{\"name\":\"v\"}],\"containers\":null,\"nodeName\":"
           "\"a\"},\"status\":{}}"});
}

static void numbers_may_be_packed_truncated_or_negative(void **state)
{
    (void)state;
#define GROUPS(list)                                                                                         \
    "{\"metadata\":{},\"spec\":{\"containers\":null,\"securityContext\":{\"supplementalGroups\":" list       \
    "}},\"status\":{}}"
    CHECK({"v1", "Pod", "1206 7204 20012002", GROUPS("[1,2]")},
          {"v1", "Pod", "1206 7204 22020102", GROUPS("[1,2]")},
          {"v1", "Pod", "1208 7206 20012202 0203", GROUPS("[1,2,3]")},
          {"v1", "Pod", "120d 720b 20ffffffffffffffffff01", GROUPS("[-1]")},
          {"v1", "Pod", "120d 720b 20ffffffffffffffff7f 00", NULL},
          {"v1", "Pod", "120c 720a 20ffffffffffffffff7f", GROUPS("[9223372036854775807]")},
          {"v1", "Pod", "120d 720b 2080808080808080808001", GROUPS("[-9223372036854775808]")},
          {"v1", "ConfigMap", "0a02 3863", "{\"metadata\":{\"generation\":99}}"},
          {"v1", "ConfigMap", "0a02 3864", "{\"metadata\":{\"generation\":100}}"},
          {"v1", "ConfigMap", "0a0a 38ffff8fbbbad6adf00d",
           "{\"metadata\":{\"generation\":999999999999999999}}"},
          {"v1", "ConfigMap", "0a0a 388080 90bbbad6adf00d",
           "{\"metadata\":{\"generation\":1000000000000000000}}"},
          {"v1", "Pod", "1206 7204 22020180", NULL},
          /* hostNetwork, 2 is true */
          {"v1", "Pod", "1202 5802",
           "{\"metadata\":{},\"spec\":{\"containers\":null,\"hostNetwork\":true},\"status\":{}}"});
}

static void inlined_messages_have_their_members_beside_the_others(void **state)
{
    (void)state;
    CHECK({"v1", "Pod", "1209 0a07 0a0176 1202 1200",
           "{\"metadata\":{},\"spec\":{\"volumes\":[{\"name\":\"v\",\"emptyDir\":{}}],\"containers\":null},"
           "\"status\":{}}"},
          {"networking.k8s.io/v1", "Ingress", "120a 1a08 0a0161 1203 0a0112", NULL},
          {"networking.k8s.io/v1", "Ingress", "1209 1a07 0a0161 1202 0a00",
           "{\"metadata\":{},\"spec\":{\"rules\":[{\"host\":\"a\",\"http\":{\"paths\":null}}]},\"status\":{"
           "\"loadBalancer\":{}}}"});
}

static void unknown_fields_are_counted(void **state)
{
    (void)state;
    /* PodSpec 42; a group in Pod; a 32-bit number in it */
    result r = read_hex("v1", "Pod", "1206 d202 03 616263");
    assert_int_equal(r.code, 0);
    assert_int_equal(r.unknown.count, 1);
    assert_int_equal(r.unknown.number, 42);
    assert_true(ki_str_equal(r.unknown.message, KI_STR("PodSpec")));
    r = read_hex("v1", "Pod", "ab06 0801 b306 b406 ac06 9d06 01020304");
    assert_int_equal(r.code, 0);
    assert_int_equal(r.unknown.count, 2);
    assert_int_equal(r.unknown.number, 101);
    r = read_hex("v1", "Pod", "1206 0a0161 0a0162");
    assert_int_equal(r.code, KI_ERR_PROTOBUF);
}

/* Go's JSON shows the CBOR as JSON, so the object has to be read as JSON. */
static void cbor_instead_of_json_counts_as_an_unknown_field(void **state)
{
    (void)state;
    static const char *const messages[] = {"1206 0a04 d9d9f7a0", "1203 0a01 a0"};
    for (size_t i = 0; i < 2; i++) {
        result r = read_hex("apps/v1", "ControllerRevision", messages[i]);
        assert_int_equal(r.code, 0);
        assert_int_equal(r.unknown.count, 1);
        assert_int_equal(r.unknown.number, 1);
        assert_true(ki_str_equal(r.unknown.message, KI_STR("RawExtension in CBOR")));
    }
}

static void malformed_messages_are_refused(void **state)
{
    (void)state;
    CHECK({"v1", "Pod", "08", NULL},   /* a wrong wire type */
          {"v1", "Pod", "0801", NULL}, /* likewise */
          {"v1", "Pod", "0a", NULL},   /* no length */
          {"v1", "Pod", "0a01", NULL}, /* past the end */
          {"v1", "Pod", "0aff", NULL}, /* half a length */
          {"v1", "Pod", "0affffffffffffffffff01", NULL}, {"v1", "Pod", "0affffffffffffffffff7f", NULL},
          {"v1", "Pod", "0a8080808080808080808000", NULL},        /* eleven bytes */
          {"v1", "Pod", "00", NULL},                              /* field 0 */
          {"v1", "Pod", "0200", NULL}, {"v1", "Pod", "0c", NULL}, /* an end without a group */
          {"v1", "Pod", "ab06", NULL},                            /* a group without an end */
          {"v1", "Pod", "0f", NULL},                              /* an invalid wire type */
          {"v1", "Pod", "a906 00", NULL}                          /* truncated 64 bits */
    );
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_absent_field_is_omitted_null_or_zero_according_to_its_tag),
        cmocka_unit_test(zero_is_a_value_for_a_pointer),
        cmocka_unit_test(empty_bytes_are_not_absent),
        cmocka_unit_test(maps_keep_the_last_of_a_name_and_have_defaults),
        cmocka_unit_test(extra_values_are_never_null),
        cmocka_unit_test(times_are_written_as_by_go),
        cmocka_unit_test(times_of_many_days_are_distinguished),
        cmocka_unit_test(quantities_are_in_canonical_form),
        cmocka_unit_test(the_type_of_an_int_or_string_decides),
        cmocka_unit_test(raw_json_is_checked_and_minified),
        cmocka_unit_test(text_that_is_not_utf8_is_replaced_byte_by_byte),
        cmocka_unit_test(schemas_may_be_booleans_lists_or_numbers),
        cmocka_unit_test(a_repeated_field_is_merged_as_in_go),
        cmocka_unit_test(fields_in_any_order_have_the_order_of_the_json),
        cmocka_unit_test(numbers_may_be_packed_truncated_or_negative),
        cmocka_unit_test(inlined_messages_have_their_members_beside_the_others),
        cmocka_unit_test(unknown_fields_are_counted),
        cmocka_unit_test(cbor_instead_of_json_counts_as_an_unknown_field),
        cmocka_unit_test(malformed_messages_are_refused),
    };
    return RUN_TESTS(tests);
}
