/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE
#include "http_child.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench.h"

enum { REPORT_FD = 3, NUMBER_BYTES = 24, ROLE_ARGUMENTS = 6 };

/* ---- what a process reports about itself ------------------------------------------------------------ */

static double cpu_of(const struct rusage *usage)
{
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec) * 1e-6;
}

double http_cpu_seconds(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return cpu_of(&usage);
}

/* ru_maxrss is not used: it includes the process that this one was forked from. */
void http_report_fill(struct http_report *report)
{
    char line[256];
    report->finished = bench_now_seconds();
    report->cpu_seconds = http_cpu_seconds();
    FILE *status = fopen("/proc/self/status", "re");
    while (status != NULL && fgets(line, sizeof(line), status) != NULL) {
        uint64_t number = 0;
        if (sscanf(line, "VmHWM: %" SCNu64, &number) == 1) {
            report->resident_peak_bytes = number * 1024;
        } else if (sscanf(line, "VmRSS: %" SCNu64, &number) == 1) {
            report->resident_bytes = number * 1024;
        } else if (sscanf(line, "Threads: %" SCNu64, &number) == 1) {
            report->threads = number;
        }
    }
    if (status != NULL) {
        fclose(status);
    }
}

/* ---- in the child ----------------------------------------------------------------------------------- */

/* Objects are not freed: the end of the process does that, and it is not part of the work. */
static int run_role(const struct http_role *role, const struct http_task *task)
{
    struct http_report report = {0};
    if (!role->run(task, &report)) {
        fprintf(stderr, "%s failed\n", role->name);
        return EXIT_FAILURE;
    }
    if (write(REPORT_FD, &report, sizeof(report)) != (ssize_t)sizeof(report)) {
        perror("report");
        _exit(EXIT_FAILURE);
    }
    _exit(EXIT_SUCCESS);
}

bool http_child_is_role(int count, char **arguments, const struct http_role *roles, int *out_code)
{
    if (count != ROLE_ARGUMENTS || strcmp(arguments[1], "--role") != 0) {
        return false;
    }
    const struct http_task task = {
        .role = arguments[2],
        .port = (unsigned)strtoul(arguments[3], NULL, 10),
        .numbers = {strtoull(arguments[4], NULL, 10), strtoull(arguments[5], NULL, 10)},
    };
    *out_code = 2;
    for (const struct http_role *role = roles; role->name != NULL; role++) {
        if (strcmp(role->name, task.role) == 0) {
            *out_code = run_role(role, &task);
        }
    }
    return true;
}

/* ---- in the parent ---------------------------------------------------------------------------------- */

static pid_t spawn(char *const *arguments, int report_fd)
{
    pid_t pid = fork();
    if (pid != 0) {
        return pid;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (report_fd >= 0) {
        dup2(report_fd, REPORT_FD);
    }
    execvp(arguments[0], arguments);
    perror(arguments[0]);
    _exit(EXIT_FAILURE);
}

bool http_child_run(const struct http_task *task, struct http_report *out_report)
{
    char port[NUMBER_BYTES];
    char numbers[2][NUMBER_BYTES];
    int ends[2];
    (void)snprintf(port, sizeof(port), "%u", task->port);
    (void)snprintf(numbers[0], NUMBER_BYTES, "%" PRIu64, task->numbers[0]);
    (void)snprintf(numbers[1], NUMBER_BYTES, "%" PRIu64, task->numbers[1]);
    char *const arguments[] = {"/proc/self/exe", "--role", (char *)task->role, port, numbers[0],
                               numbers[1],       NULL};
    if (pipe2(ends, O_CLOEXEC) < 0) {
        return false;
    }
    pid_t pid = spawn(arguments, ends[1]);
    close(ends[1]);
    bool is_read = pid > 0 && read(ends[0], out_report, sizeof(*out_report)) == (ssize_t)sizeof(*out_report);
    close(ends[0]);
    int status = 0;
    return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0 && is_read;
}

bool http_child_run_curl(const char *options_path, struct http_report *out_report)
{
    char *const arguments[] = {"curl", "-q", "-K", (char *)options_path, NULL};
    struct rusage usage;
    int status = 0;
    pid_t pid = spawn(arguments, -1);
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid || status != 0) {
        fprintf(stderr, "curl failed\n");
        return false;
    }
    *out_report = (struct http_report){.finished = bench_now_seconds(), .cpu_seconds = cpu_of(&usage)};
    return true;
}
