// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"sync"
	"syscall"
	"time"

	"k8s.io/client-go/util/workqueue"
	_ "k8s.io/component-base/metrics/prometheus/workqueue" // gives a named queue the metrics of Prometheus
)

func work(queue workqueue.TypedInterface[string], group *sync.WaitGroup) {
	defer group.Done()
	for {
		key, shutdown := queue.Get()
		if shutdown {
			return
		}
		queue.Done(key)
	}
}

// Like bench/workqueue_contest.c: one goroutine adds all keys, and the workers take them after that or meanwhile.
func once(queue workqueue.TypedInterface[string], keys []string, workers int, meanwhile bool) {
	group := sync.WaitGroup{}
	group.Add(workers)
	begin := func() {
		for range workers {
			go work(queue, &group)
		}
	}
	if meanwhile {
		begin()
	}
	for _, key := range keys {
		queue.Add(key)
	}
	if !meanwhile {
		begin()
	}
	queue.ShutDown()
	group.Wait()
}

// The processor time of all threads, including the garbage collector's.
func processorTime() time.Duration {
	usage := syscall.Rusage{}
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
}

func bench(count, workers int, name string) {
	keys := make([]string, count)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace-%03d/object-%07d", i%1000, i)
	}
	for _, meanwhile := range []bool{false, true} {
		processor, wall := time.Duration(0), time.Duration(0)
		for range 2 { // the first round only warms up the memory
			runtime.GC()
			queue := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Name: name})
			start, processorStart := time.Now(), processorTime()
			once(queue, keys, workers, meanwhile)
			processor, wall = processorTime()-processorStart, time.Since(start)
		}
		fmt.Printf("%.1f %.1f\n", float64(wall)/float64(count), float64(processor)/float64(count))
	}
}
