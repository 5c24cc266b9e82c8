/* SPDX-License-Identifier: Apache-2.0 */
#include "config/pem.h"

#include <stdio.h>
#include <string.h>

#include "support/client/certificates.h"
#include "support/failing_allocator.h"
#include "support/unit.h"

#define BLOCK(name, body) "-----BEGIN " name "-----\n" body "\n-----END " name "-----\n"
#define CERTIFICATE BLOCK("CERTIFICATE", "MAIwAA==")
#define KEY BLOCK("EC PRIVATE KEY", "MAMCAQA=")

static const char *problem_of(const char *text, ki_pem_kind kind)
{
    const char *problem = "";
    assert_int_equal(ki_pem_check(ki_str_of(text), kind, &problem), 0);
    return problem;
}

static void real_certificates_and_keys_are_accepted(void **state)
{
    (void)state;
    certificate made = certificate_make("k", NULL, NULL);
    assert_null(problem_of(made.pem, KI_PEM_CERTIFICATE));
    assert_null(problem_of(made.key_pem, KI_PEM_KEY));
    assert_string_equal(problem_of(made.pem, KI_PEM_KEY), "has no private key");
    assert_string_equal(problem_of(made.key_pem, KI_PEM_CERTIFICATE), "has no certificate");
    certificate_free(&made);
}

/* The last bytes of the base64 are padding, or have a few bits that do not matter. */
static void a_truncated_certificate_is_refused(void **state)
{
    (void)state;
    char text[8192];
    certificate made = certificate_make("k", NULL, NULL);
    size_t end = (size_t)(strstr(made.pem, "\n-----END") - made.pem);
    for (size_t len = 0; len < end - 3; len++) {
        snprintf(text, sizeof(text), "%.*s", (int)len, made.pem);
        assert_non_null(problem_of(text, KI_PEM_CERTIFICATE));
        if (len > strlen("-----BEGIN CERTIFICATE-----")) {
            snprintf(text, sizeof(text), "%.*s%s", (int)len, made.pem, made.pem + end);
            assert_non_null(problem_of(text, KI_PEM_CERTIFICATE));
        }
    }
    certificate_free(&made);
}

static void text_between_blocks_is_skipped(void **state)
{
    (void)state;
    assert_null(
        problem_of("Bag\r\n" CERTIFICATE "x" KEY BLOCK("X", "junk") CERTIFICATE "end", KI_PEM_CERTIFICATE));
    assert_null(problem_of(CERTIFICATE KEY, KI_PEM_KEY));
    assert_null(problem_of(BLOCK("CERTIFICATE", " MAIw\t\r\n AA== "), KI_PEM_CERTIFICATE));
}

static void text_without_a_certificate_or_key_is_refused_with_a_reason(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        ki_pem_kind kind;
        const char *problem;
    } cases[] = {
        {"", KI_PEM_CERTIFICATE, "has no certificate"},
        {"root:x:0:0", KI_PEM_KEY, "has no private key"},
        {"-----BEGIN ", KI_PEM_CERTIFICATE, "has an incomplete PEM block"},
        {"-----BEGIN CERTIFICATE-----\nMAIwAA==\n-----END X-----", KI_PEM_CERTIFICATE,
         "has an incomplete PEM block"},
        {BLOCK("CERTIFICATE", "junk!"), KI_PEM_CERTIFICATE, "has an invalid certificate"},
        {BLOCK("CERTIFICATE", "anVuaw=="), KI_PEM_CERTIFICATE, "has an invalid certificate"},
        {BLOCK("CERTIFICATE", "MAMwAA=="), KI_PEM_CERTIFICATE, "has an invalid certificate"},
        {BLOCK("CERTIFICATE", "MP8="), KI_PEM_CERTIFICATE, "has an invalid certificate"},
        {BLOCK("CERTIFICATE", "MII="), KI_PEM_CERTIFICATE, "has an invalid certificate"},
        {CERTIFICATE BLOCK("CERTIFICATE", ""), KI_PEM_CERTIFICATE, "has an invalid certificate"},
        {BLOCK("RSA PRIVATE KEY", "MAIwAA=="), KI_PEM_KEY, "has an invalid private key"},
        {BLOCK("ENCRYPTED PRIVATE KEY", "MAIwAA=="), KI_PEM_KEY,
         "has a key that is encrypted with a passphrase, which is not supported"},
        {BLOCK("RSA PRIVATE KEY", "Proc-Type: 4,ENCRYPTED\n\nMAMCAQA="), KI_PEM_KEY,
         "has a key that is encrypted with a passphrase, which is not supported"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
        assert_string_equal(problem_of(cases[i].text, cases[i].kind), cases[i].problem);
}

static void a_zero_byte_is_not_text(void **state)
{
    (void)state;
    const char *problem = NULL;
    assert_int_equal(ki_pem_check((ki_str){CERTIFICATE, sizeof(CERTIFICATE)}, KI_PEM_CERTIFICATE, &problem),
                     0);
    assert_string_equal(problem, "is not text");
}

static void when_out_of_memory_it_fails(void **state)
{
    (void)state;
    const char *problem = NULL;
    failing_allocator_install();
    failing_allocator_fail_at(1);
    assert_int_equal(ki_pem_check(KI_STR(CERTIFICATE), KI_PEM_CERTIFICATE, &problem), KI_ERR_NO_MEMORY);
    failing_allocator_fail_at(0);
    assert_int_equal(failing_allocator_live_count(), 0);
    failing_allocator_remove();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_certificates_and_keys_are_accepted),
        cmocka_unit_test(a_truncated_certificate_is_refused),
        cmocka_unit_test(text_between_blocks_is_skipped),
        cmocka_unit_test(text_without_a_certificate_or_key_is_refused_with_a_reason),
        cmocka_unit_test(a_zero_byte_is_not_text),
        cmocka_unit_test(when_out_of_memory_it_fails),
    };
    return RUN_TESTS(tests);
}
