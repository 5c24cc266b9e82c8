// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"os"
	goruntime "runtime"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
)

// The CPU time of the process: of the decoding and of the garbage collector.
func cpuMicroseconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		fail("%v", err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1000
}

// Decodes a list of pods again and again, as client-go does, on one thread. Prints the microseconds for a pod: the mean CPU time, with
// the collection of the garbage that decoding makes, and the time of the best round, in which nothing was collected.
func bench(name string) {
	data, err := os.ReadFile(name)
	if err != nil {
		fail("%v", err)
	}
	goruntime.GOMAXPROCS(1)
	scheme := newScheme()
	serializer := protobuf.NewSerializer(scheme, scheme)
	best, pods := 0.0, 0
	before := cpuMicroseconds()
	for range 60 {
		start := time.Now()
		object, _, err := serializer.Decode(data, nil, nil)
		each := float64(time.Since(start).Nanoseconds()) / 1000
		if err != nil {
			fail("%v", err)
		}
		count := len(object.(*corev1.PodList).Items)
		pods += count
		each /= float64(count)
		if best == 0 || each < best {
			best = each
		}
	}
	fmt.Println((cpuMicroseconds()-before)/float64(pods), best)
}
