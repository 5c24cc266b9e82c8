/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memmem() */
/* download - reads a collection with libcurl and discards it: a list with all its pages, or the list at the
 * beginning of a watch. No client that gets the same response can be faster. */
#include <curl/curl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* In the annotation of the bookmark that ends the list of a watch. */
static const char END_MARK[] = "k8s.io/initial-events-end";
/* The beginning of a continue token: `{"v":"` in base64. The token is in the metadata of the list,
 * before the items. */
static const char TOKEN_MARK[] = "eyJ2Ijoi";
static const char TOKEN_CHARACTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

enum { HEAD_MAX = 4096, URL_MAX = 8192, BUFFER_BYTES = 100 * 1024, SEAM = sizeof(END_MARK) - 1 };

struct answer {
    bool is_watch;
    bool has_ended; /* the list of a watch has ended */
    unsigned long long bytes;
    size_t head_length;
    char head[HEAD_MAX]; /* of the current page */
    size_t seam_length;
    char seam[2 * SEAM]; /* the last bytes so far, and the first bytes of the next piece */
};

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

static bool has_mark(const char *bytes, size_t length)
{
    return memmem(bytes, length, END_MARK, SEAM) != NULL;
}

/* The mark may be split between pieces. */
static bool has_end(struct answer *answer, const char *bytes, size_t length)
{
    size_t first = least(length, SEAM);
    memcpy(answer->seam + answer->seam_length, bytes, first);
    size_t joined = answer->seam_length + first;
    if (has_mark(answer->seam, joined) || has_mark(bytes, length)) {
        return true;
    }
    size_t kept = least(joined, SEAM);
    memmove(answer->seam, length < SEAM ? answer->seam + joined - kept : bytes + length - kept, kept);
    answer->seam_length = kept;
    return false;
}

static size_t take(char *bytes, size_t size, size_t count, void *user)
{
    struct answer *answer = user;
    size_t length = size * count;
    size_t of_head = least(length, HEAD_MAX - answer->head_length);
    memcpy(answer->head + answer->head_length, bytes, of_head);
    answer->head_length += of_head;
    answer->bytes += length;
    answer->has_ended = answer->is_watch && has_end(answer, bytes, length);
    return answer->has_ended ? 0 : length;
}

/* Returns whether another page follows. */
static bool find_next_page(struct answer *answer, const char *first, char *out_url)
{
    const char *end = answer->head + answer->head_length;
    const char *token = memmem(answer->head, answer->head_length, TOKEN_MARK, sizeof(TOKEN_MARK) - 1);
    answer->head_length = 0;
    if (answer->is_watch || token == NULL) {
        return false;
    }
    int length = 0;
    while (token + length < end && strchr(TOKEN_CHARACTERS, token[length]) != NULL && token[length] != 0) {
        length++;
    }
    return snprintf(out_url, URL_MAX, "%s&continue=%.*s", first, length, token) < URL_MAX;
}

static CURLcode download(CURL *curl, struct answer *answer, const char *first)
{
    char url[URL_MAX];
    CURLcode rc = CURLE_OK;
    (void)snprintf(url, sizeof(url), "%s", first);
    do {
        curl_easy_setopt(curl, CURLOPT_URL, url);
        rc = curl_easy_perform(curl);
    } while (rc == CURLE_OK && find_next_page(answer, first, url));
    if (answer->is_watch) {
        return answer->has_ended ? CURLE_OK : CURLE_PARTIAL_FILE;
    }
    return rc;
}

/* Like the program curl, whose buffer is larger than libcurl's default. */
static void set_up(CURL *curl, char **arguments, struct curl_slist *headers, struct answer *answer)
{
    curl_easy_setopt(curl, CURLOPT_CAINFO, arguments[1]);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "bench");
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl, CURLOPT_BUFFERSIZE, (long)BUFFER_BYTES);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, answer);
}

int main(int count, char **arguments)
{
    if (count != 5) {
        fprintf(stderr, "usage: %s CA-FILE AUTHORIZATION-HEADER ACCEPT-HEADER URL\n", arguments[0]);
        return 2;
    }
    static struct answer answer;
    answer.is_watch = strstr(arguments[4], "watch=true") != NULL;
    CURL *curl = curl_easy_init();
    struct curl_slist *headers = curl_slist_append(curl_slist_append(NULL, arguments[2]), arguments[3]);
    if (curl == NULL || headers == NULL) {
        return 1;
    }
    set_up(curl, arguments, headers, &answer);
    CURLcode rc = download(curl, &answer, arguments[4]);
    if (rc == CURLE_OK) {
        printf("{\"bytes_read\":%llu}\n", answer.bytes);
    } else {
        fprintf(stderr, "download: %s\n", curl_easy_strerror(rc));
    }
    curl_slist_free_all(headers);
    curl_easy_cleanup(curl);
    return rc != CURLE_OK;
}
