// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	"strings"
)

const ticksPerSecond = 100 // USER_HZ of Linux

// cpuSeconds is the user and system time of all threads of a process so far.
func cpuSeconds(pid int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	_, fields, _ := strings.Cut(string(text), ") ") // after the name, which may contain spaces
	var user, system float64
	list := strings.Fields(fields)
	if len(list) > 12 {
		fmt.Sscan(list[11]+" "+list[12], &user, &system)
	}
	return (user + system) / ticksPerSecond
}

// forgetPeak resets VmHWM to the current resident size.
func forgetPeak(pid int) error {
	return os.WriteFile(fmt.Sprintf("/proc/%d/clear_refs", pid), []byte("5"), 0)
}

func peakMegabytes(pid int) float64 {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	_, rest, _ := strings.Cut(string(text), "VmHWM:")
	var kilobytes float64
	fmt.Sscan(rest, &kilobytes)
	return kilobytes / 1024
}
