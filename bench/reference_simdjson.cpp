// SPDX-License-Identifier: Apache-2.0
// simdjson's On-Demand interface, used as its manual advises for speed: one parser for all documents,
// fields read in document order with find_field, error codes instead of exceptions.
#include <simdjson.h>

#include "reference.h"

namespace
{

using namespace simdjson;

static_assert(REFERENCE_PADDING >= SIMDJSON_PADDING, "documents have too little space after their end");

ondemand::parser &shared_parser()
{
    static ondemand::parser parser;
    return parser;
}

void mix_view(reference_result *result, std::string_view text)
{
    reference_mix(result, text.data(), text.size());
}

// As fast as taking the text between its quotes with raw_json_token.
template <typename value_type> error_code mix_string(reference_result *result, value_type &&value)
{
    std::string_view text;
    error_code error = value.get_string().get(text);
    if (error == SUCCESS) {
        mix_view(result, text);
    }
    return error;
}

error_code mix_labels(reference_result *result, ondemand::object labels)
{
    for (auto label : labels) {
        std::string_view key;
        error_code error = label.unescaped_key().get(key);
        if (error != SUCCESS) {
            return error;
        }
        mix_view(result, key);
        error = mix_string(result, label.value());
        if (error != SUCCESS) {
            return error;
        }
    }
    return SUCCESS;
}

error_code mix_owners(reference_result *result, ondemand::array owners)
{
    for (auto owner : owners) {
        error_code error = mix_string(result, owner.find_field("uid"));
        if (error != SUCCESS) {
            return error;
        }
    }
    return SUCCESS;
}

error_code mix_metadata(reference_result *result, ondemand::object metadata)
{
    static constexpr std::string_view names[] = {"name", "namespace", "uid", "resourceVersion",
                                                 "creationTimestamp"};
    for (std::string_view name : names) {
        error_code error = mix_string(result, metadata.find_field(name));
        if (error != SUCCESS) {
            return error;
        }
    }
    ondemand::object labels;
    error_code error = metadata.find_field("labels").get(labels);
    if (error == SUCCESS) {
        error = mix_labels(result, labels);
    }
    ondemand::array owners;
    if (error == SUCCESS) {
        error = metadata.find_field("ownerReferences").get(owners);
    }
    if (error == SUCCESS) {
        error = mix_owners(result, owners);
    }
    result->objects++;
    return error;
}

template <typename value_type> error_code mix_object(reference_result *result, value_type &&object)
{
    ondemand::object metadata;
    error_code error = object.find_field("metadata").get(metadata);
    return error == SUCCESS ? mix_metadata(result, metadata) : error;
}

template <typename value_type> error_code mix_event(reference_result *result, value_type &&event)
{
    error_code error = mix_string(result, event.find_field("type"));
    ondemand::object object;
    if (error == SUCCESS) {
        error = event.find_field("object").get(object);
    }
    if (error == SUCCESS) {
        error = mix_string(result, object.find_field("kind"));
    }
    if (error == SUCCESS) {
        error = mix_string(result, object.find_field("apiVersion"));
    }
    return error == SUCCESS ? mix_object(result, object) : error;
}

error_code open_document(const char *data, size_t length, ondemand::document &out_document)
{
    return shared_parser().iterate(data, length, length + REFERENCE_PADDING).get(out_document);
}

} // namespace

const char *reference_simdjson_implementation(void)
{
    static const std::string name = get_active_implementation()->name() + " first pass, " +
                                    SIMDJSON_STRINGIFY(SIMDJSON_BUILTIN_IMPLEMENTATION) + " second";
    return name.c_str();
}

bool reference_simdjson_list(const char *data, size_t length, reference_result *result)
{
    ondemand::document list;
    ondemand::array items;
    if (open_document(data, length, list) != SUCCESS ||
        mix_string(result, list.find_field("kind")) != SUCCESS ||
        mix_string(result, list.find_field("apiVersion")) != SUCCESS ||
        list.find_field("items").get(items) != SUCCESS) {
        return false;
    }
    for (auto item : items) {
        if (mix_object(result, item) != SUCCESS) {
            return false;
        }
    }
    return true;
}

bool reference_simdjson_split(const char *data, size_t length, reference_result *result)
{
    ondemand::document list;
    ondemand::array items;
    if (open_document(data, length, list) != SUCCESS || list.find_field("items").get(items) != SUCCESS) {
        return false;
    }
    for (auto item : items) {
        if (item.error() != SUCCESS) {
            return false;
        }
        result->objects++;
    }
    return true;
}

// Line by line: iterate_many, which makes its first pass over many lines at once, is a quarter slower here.
bool reference_simdjson_watch(const char *data, size_t length, reference_result *result)
{
    const char *end = data + length;
    while (data < end) {
        const void *newline = memchr(data, '\n', static_cast<size_t>(end - data));
        if (newline == nullptr) {
            return false;
        }
        size_t line_length = static_cast<size_t>(static_cast<const char *>(newline) - data);
        ondemand::document event;
        if (open_document(data, line_length, event) != SUCCESS || mix_event(result, event) != SUCCESS) {
            return false;
        }
        data += line_length + 1;
    }
    return true;
}
