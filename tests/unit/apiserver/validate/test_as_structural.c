/* SPDX-License-Identifier: Apache-2.0 */
/* Schemas of definitions: each path of an object has one type. */
#include <stdio.h>
#include <time.h>

#include "apiserver/validate/validate.h"
#include "apiserver/value/tree.h"
#include "support/apiserver/trees.h"
#include "support/unit.h"
#include "util/units.h"

/* A definition with the schema is accepted (NULL), or rejected with a message that contains this. */
static void defined(const char *schema, const char *message)
{
    struct ki_as_resource resource = resource_of(
        "apiextensions.k8s.io/v1", "cluster/customresourcedefinitions", "CustomResourceDefinition");
    struct ki_as_failure failure = {0};
    char text[2048];
    (void)snprintf(
        text, sizeof(text),
        "{'metadata':{'name':'widgets.example.com'},'spec':{'group':'example.com','scope':'Cluster','names':"
        "{'plural':'widgets','kind':'Widget'},'versions':[{'name':'v1','served':true,'storage':true,"
        "'schema':{'openAPIV3Schema':%s}}]}}",
        schema);
    json_t *tree = tree_of(text);
    int rc = ki_as_validate(&resource, tree, &failure);
    if (message == NULL)
        assert_taken(rc, &failure);
    else
        assert_refused_with(&failure, 422, message);
    json_decref(tree);
}

/* The same for one property. */
static void property(const char *schema, const char *message)
{
    char text[768];
    (void)snprintf(text, sizeof(text), "{'type':'object','properties':{'a':%s}}", schema);
    defined(text, message);
}

#define PLACE "spec.validation.openAPIV3Schema.properties[a]"

static void each_place_has_a_type(void **state)
{
    (void)state;
    defined("{'type':'object'}", NULL);
    defined("{}", "spec.validation.openAPIV3Schema.type: Required value: must not be empty at the root");
    defined("{'type':'string'}",
            "spec.validation.openAPIV3Schema.type: Invalid value: \"string\": must be object at the root");
    property("{}", PLACE ".type: Required value: must not be empty for specified object fields");
    property("{'x-kubernetes-preserve-unknown-fields':true}", NULL);
    property("{'x-kubernetes-int-or-string':true}", NULL);
    property("{'type':'map'}",
             PLACE ".type: Unsupported value: \"map\": supported values: \"array\", \"boolean\", "
                   "\"integer\", \"number\", \"object\", \"string\"");
    property("{'type':'array'}", PLACE ".items: Required value: must be specified");
    property("{'type':'array','items':{}}",
             PLACE ".items.type: Required value: must not be empty for specified array items");
    property("{'type':'array','items':[{'type':'string'}]}",
             PLACE ".items: Forbidden: items must be a schema object and not an array");
    property("{'type':'object','additionalProperties':{}}",
             PLACE ".additionalProperties.type: Required value");
    property("{'type':'object','additionalProperties':true}", NULL);
}

static void conditional_schemas_have_no_types(void **state)
{
    (void)state;
    property("{'type':'string','anyOf':[{'pattern':'a'},{'minLength':3}]}", NULL);
    property("{'type':'string','anyOf':[{'type':'string'}]}",
             PLACE ".anyOf[0].type: Forbidden: must be empty to be structural");
    property("{'type':'string','not':{'description':'x'}}",
             PLACE ".not.description: Forbidden: must be empty to be structural");
    property("{'x-kubernetes-int-or-string':true,'anyOf':[{'type':'integer'},{'type':'string'}]}", NULL);
    property("{'x-kubernetes-int-or-string':true,'anyOf':[{'type':'string'},{'type':'integer'}]}",
             PLACE ".anyOf[0].type: Forbidden: must be empty to be structural");
}

static void keys_of_lists_are_required(void **state)
{
    static const char list[] = "{'type':'array','x-kubernetes-list-type':'map'%s,'items':{'type':'object'%s,"
                               "'properties':{'k':{'type':'string'}}}}";
    char text[512];
    (void)state;
    (void)snprintf(text, sizeof(text), list, "", "");
    property(text, PLACE ".x-kubernetes-list-map-keys: Required value: must not be empty if "
                         "x-kubernetes-list-type is map");
    (void)snprintf(text, sizeof(text), list, ",'x-kubernetes-list-map-keys':['k']", "");
    property(text, PLACE ".items.properties[k].default: Required value: this property is in "
                         "x-kubernetes-list-map-keys, so it must have a default or be a required property");
    (void)snprintf(text, sizeof(text), list, ",'x-kubernetes-list-map-keys':['k']", ",'required':['k']");
    property(text, NULL);
}

static void forbidden_schema_fields_are_refused(void **state)
{
    (void)state;
    property("{'$ref':'#/a'}", PLACE ".$ref: Forbidden: $ref is not supported");
    property("{'type':'array','items':{'type':'string'},'uniqueItems':true}",
             PLACE ".uniqueItems: Forbidden");
    property("{'type':'object','properties':{},'additionalProperties':{'type':'string'}}", PLACE
             ".additionalProperties: Forbidden: additionalProperties and properties are mutual exclusive");
    property("{'type':'string','default':5}", PLACE ".default: Invalid value: \"integer\"");
    property("{'type':'string','default':'x'}", NULL);
    defined("{'type':'object','properties':{'kind':{'type':'integer'}}}",
            "properties[kind].type: Invalid value: \"integer\": must be string");
    defined(
        "{'type':'object','properties':{'metadata':{'type':'object','properties':{'labels':{'type':'object'}}"
        "}}}",
        "properties[metadata]: Forbidden: must not specify anything other than name and generateName, but "
        "metadata is implicitly specified");
}

/* A definition of a list with this many keys. */
static json_t *definition_with_keys(int count)
{
    json_t *tree = tree_of(
        "{'metadata':{'name':'widgets.example.com'},'spec':{'group':'example.com','scope':'Cluster','names':"
        "{'plural':'widgets','kind':'Widget'},'versions':[{'name':'v1','served':true,'storage':true,"
        "'schema':{'openAPIV3Schema':{'type':'object','properties':{'a':{'type':'array',"
        "'x-kubernetes-list-type':'map','x-kubernetes-list-map-keys':[],'items':{'type':'object',"
        "'required':[]}}}}}}]}}");
    const json_t *versions = json_object_get(json_object_get(tree, "spec"), "versions");
    const json_t *list = ki_as_tree_at(json_array_get(versions, 0), "schema.openAPIV3Schema.properties.a");
    json_t *keys = json_object_get(list, "x-kubernetes-list-map-keys");
    json_t *required = (json_t *)ki_as_tree_at(list, "items.required");
    for (int i = 0; i < count; i++) {
        assert_int_equal(json_array_append_new(keys, json_sprintf("k%d", i)), 0);
        assert_int_equal(json_array_append_new(required, json_sprintf("k%d", i)), 0);
    }
    return tree;
}

/* The CPU time to validate it, the shortest of three runs. */
static int64_t cost_of_keys(int count)
{
    enum { TRIES = 3 };
    struct ki_as_resource resource = resource_of(
        "apiextensions.k8s.io/v1", "cluster/customresourcedefinitions", "CustomResourceDefinition");
    struct ki_as_failure failure = {0};
    int64_t least_ns = INT64_MAX;
    json_t *tree = definition_with_keys(count);
    for (int i = 0; i < TRIES; i++) {
        struct timespec start;
        struct timespec end;
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &start);
        assert_taken(ki_as_validate(&resource, tree, &failure), &failure);
        (void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
        int64_t ns =
            (int64_t)(end.tv_sec - start.tv_sec) * (int64_t)KI_NS_PER_S + end.tv_nsec - start.tv_nsec;
        least_ns = ns < least_ns ? ns : least_ns;
    }
    json_decref(tree);
    return least_ns;
}

/* The storage lock is held meanwhile. Quadratic time would be 64 times as long. */
static void many_keys_do_not_take_quadratic_time(void **state)
{
    enum { FEW = 250, MANY = 8 * FEW, GROWTH_MAX = 24 };
    (void)state;
    int64_t few_ns = cost_of_keys(FEW);
    assert_in_range(cost_of_keys(MANY) / (few_ns + 1), 0, GROWTH_MAX);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_place_has_a_type),
        cmocka_unit_test(conditional_schemas_have_no_types),
        cmocka_unit_test(keys_of_lists_are_required),
        cmocka_unit_test(forbidden_schema_fields_are_refused),
        cmocka_unit_test(many_keys_do_not_take_quadratic_time),
    };
    return RUN_TESTS(tests);
}
