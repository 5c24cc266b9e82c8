/* SPDX-License-Identifier: Apache-2.0 */
#include "http/trust.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "config/pem.h"
#include "util/alloc.h"
#include "util/error.h"

enum { READ_BYTES = 16 * 1024 };

/* Returns 0, or the error of ki_buf_reserve(), or KI_ERR_SYSTEM with errno set. */
static int read_all(int fd, ki_buf *buf)
{
    for (;;) {
        int rc = ki_buf_reserve(buf, READ_BYTES);
        if (rc < 0)
            return rc;
        ssize_t n = read(fd, buf->data + buf->len, READ_BYTES);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? KI_ERR_SYSTEM : 0;
        buf->len += (size_t)n;
    }
}

static int check(const char *path, const ki_buf *buf, ki_error *err)
{
    const char *problem = NULL;
    if (ki_pem_check(ki_buf_str(buf), KI_PEM_CERTIFICATE, &problem) < 0)
        return ki_fail_no_memory(err);
    return problem == NULL ? 0
                           : ki_fail(err, KI_ERR_CONFIG, "certificate-authority: %.200s: %s", path, problem);
}

/* Opening a FIFO must not block. */
static int read_file(const char *path, ki_buf *out_buf, ki_error *err)
{
    ki_buf buf;
    ki_buf_init(&buf, KI_TRUST_BYTES_MAX);
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int rc = fd < 0 ? KI_ERR_SYSTEM : read_all(fd, &buf);
    int why = errno;
    if (fd >= 0)
        (void)close(fd);
    if (rc == 0)
        rc = check(path, &buf, err);
    else if (rc == KI_ERR_SYSTEM)
        rc = ki_fail(err, KI_ERR_CONFIG, "certificate-authority: %.200s: %s", path, strerror(why));
    else if (rc == KI_ERR_TOO_LARGE)
        rc = ki_fail(err, KI_ERR_CONFIG, "certificate-authority: %.200s: is too large", path);
    else if (rc < 0)
        (void)ki_fail_no_memory(err);
    if (rc < 0) {
        ki_buf_fini(&buf);
        return rc;
    }
    ki_buf_fini(out_buf);
    *out_buf = buf;
    return 0;
}

static int remember_file(ki_trust *trust, const char *path, ki_error *err)
{
    size_t size = strlen(path) + 1;
    trust->file = ki_malloc(size);
    if (trust->file == NULL)
        return ki_fail_no_memory(err);
    memcpy(trust->file, path, size);
    return 0;
}

int ki_trust_init(ki_trust *trust, const ki_config *config, ki_error *err)
{
    ki_trust made = {.is_off = config->insecure_skip_tls_verify};
    ki_buf_init(&made.pem, KI_TRUST_BYTES_MAX);
    int rc = 0;
    if (!made.is_off && config->ca_file != NULL)
        rc = remember_file(&made, config->ca_file, err);
    if (rc == 0 && !made.is_off && config->ca_pem != NULL) {
        if (ki_buf_append_str(&made.pem, ki_str_of(config->ca_pem)) < 0)
            rc = ki_fail_no_memory(err);
    } else if (rc == 0 && made.file != NULL) {
        rc = read_file(made.file, &made.pem, err);
    }
    if (rc < 0)
        ki_trust_fini(&made);
    else
        *trust = made;
    return rc;
}

void ki_trust_fini(ki_trust *trust)
{
    assert(trust != NULL);
    ki_free(trust->file);
    ki_buf_fini(&trust->pem);
    *trust = (ki_trust){0};
}

void ki_trust_refresh(ki_trust *trust)
{
    assert(trust != NULL);
    if (trust->is_old && trust->file != NULL)
        (void)!read_file(trust->file, &trust->pem, NULL);
    trust->is_old = false;
}
