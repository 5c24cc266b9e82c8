/* SPDX-License-Identifier: Apache-2.0 */
/* fuzz_selector - label and field selectors from any bytes, matched against any labels.
 *
 * Input: a selector, a NUL, and JSON of labels, valid or not. A refused selector is refused at a position
 *        inside the text. An accepted one reads back from its canonical text as the same selector,
 *        with the same matches.
 */
#include <kinformer/selector.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(int condition)
{
    if (!condition)
        abort();
}

static void require_refusal(const ki_error *err, ki_str text)
{
    require(err->code == KI_ERR_SELECTOR && err->offset <= text.len);
    require(strchr(err->message, '^') != NULL);
}

/* Both calls of a format: the second one has a buffer of exactly the size that the first one returned. */
static ki_str formatted(const ki_selector *selector)
{
    int len = ki_selector_format(selector, NULL, 0);
    require(len >= 0);
    char *buffer = malloc((size_t)len + 1);
    require(buffer != NULL && ki_selector_format(selector, buffer, (size_t)len + 1) == len);
    require(buffer[len] == 0);
    return (ki_str){buffer, (size_t)len};
}

static void run_label_selector(ki_str text, ki_json labels)
{
    ki_error err = {0};
    ki_selector *selector = ki_selector_parse(text, &err);
    if (selector == NULL) {
        require_refusal(&err, text);
        return;
    }
    ki_str canonical = formatted(selector);
    ki_selector *again = ki_selector_parse(canonical, NULL);
    require(again != NULL);
    ki_str second = formatted(again);
    require(ki_str_equal(canonical, second));
    require(ki_selector_is_everything(selector) == (canonical.len == 0));
    require(ki_selector_matches_labels(selector, labels) == ki_selector_matches_labels(again, labels));
    ki_selector_free(selector);
    ki_selector_free(again);
    free((void *)canonical.ptr);
    free((void *)second.ptr);
}

static void run_field_selector(ki_str text)
{
    ki_error err = {0};
    int len = ki_field_selector_format(text, NULL, 0, &err);
    if (len < 0) {
        require_refusal(&err, text);
        return;
    }
    size_t bytes = (size_t)len + 1;
    char *canonical = malloc(bytes);
    char *second = malloc(bytes);
    require(canonical != NULL && second != NULL);
    require(ki_field_selector_format(text, canonical, bytes, NULL) == len);
    require(ki_field_selector_format((ki_str){canonical, (size_t)len}, second, bytes, NULL) == len);
    require(memcmp(canonical, second, bytes) == 0);
    free(canonical);
    free(second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *bytes = (const char *)data;
    const char *end = size > 0 ? memchr(bytes, 0, size) : NULL;
    size_t len = end == NULL ? size : (size_t)(end - bytes);
    size_t rest = end == NULL ? size : len + 1;
    ki_str text = {bytes, len};
    run_label_selector(text, ki_json_of((ki_str){bytes + rest, size - rest}));
    run_field_selector(text);
    return 0;
}
