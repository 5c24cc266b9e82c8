/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/signals.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "cli/failure.h"
#include "cli/moment.h"

/* The time for an orderly end: a second, less the time that the system needs to end a process. */
enum { PATIENCE_NS = 700 * CLI_NS_PER_MS };

static volatile sig_atomic_t has_come;
static volatile sig_atomic_t has_expired;
static int event_fd = -1;
static timer_t timer;            /* first for the deadline, then for the time that the end may take */
static void (*last_words)(void); /* NULL: an end that takes too long is forced */

/* Like the functions below, calls only async-signal-safe functions. */
static void stop(void)
{
    int saved = errno;
    uint64_t one = 1;
    if (!has_come && last_words == NULL)
        (void)timer_settime(timer, 0, &(struct itimerspec){.it_value = {.tv_nsec = PATIENCE_NS}}, NULL);
    has_come = 1;
    (void)!write(event_fd, &one, sizeof(one));
    errno = saved;
}

static void on_stop(int number)
{
    (void)number;
    if (has_come && last_words != NULL) {
        last_words();
        _exit(CLI_EXIT_FAILED);
    }
    stop();
}

/* The deadline has passed, or the end takes too long. */
static void on_alarm(int number)
{
    (void)number;
    if (has_come)
        _exit(has_expired ? CLI_EXIT_TIMEOUT : CLI_EXIT_OK);
    has_expired = 1;
    stop();
}

/* Without SA_RESTART, so that a write that waits for its reader returns. */
static int handle(int number, void (*function)(int number))
{
    struct sigaction action = {.sa_handler = function};
    sigset_t set;
    sigemptyset(&action.sa_mask);
    sigemptyset(&set);
    sigaddset(&set, number);
    if (sigaction(number, &action, NULL) < 0)
        return -1;
    return sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int cli_signals_install(ki_error *err)
{
    assert(event_fd < 0); /* once per process */
    struct sigevent ring = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGALRM};
    event_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (event_fd < 0 || timer_create(CLOCK_MONOTONIC, &ring, &timer) < 0 || handle(SIGALRM, on_alarm) < 0 ||
        handle(SIGINT, on_stop) < 0 || handle(SIGTERM, on_stop) < 0 || handle(SIGPIPE, SIG_IGN) < 0) {
        (void)cli_fail(err, "cannot install signal handlers: %s", strerror(errno));
        err->code = KI_ERR_SYSTEM;
        return KI_ERR_SYSTEM;
    }
    return event_fd;
}

void cli_signals_be_patient(void (*words)(void))
{
    last_words = words;
}

void cli_signals_set_deadline(uint64_t ms)
{
    assert(event_fd >= 0);
    const struct itimerspec at = {.it_value = {.tv_sec = (time_t)(ms / CLI_MS_PER_S),
                                               .tv_nsec = (long)(ms % CLI_MS_PER_S * CLI_NS_PER_MS)}};
    if (!has_come)
        (void)timer_settime(timer, 0, &at, NULL);
}

int cli_signals_is_stopped(void)
{
    return has_come;
}

int cli_signals_has_expired(void)
{
    return has_expired;
}

/* Opened for reading, so that a write still fails as it would on a closed descriptor. */
void cli_signals_guard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY) < 0)
            return;
}
