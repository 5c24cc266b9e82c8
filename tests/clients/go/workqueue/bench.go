// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime"
	"sync"
	"time"

	"k8s.io/client-go/util/workqueue"
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

// As bench/workqueue_contest.c does it: all keys are added by one, and taken by the workers behind that or meanwhile.
func once(keys []string, workers int, meanwhile bool) time.Duration {
	queue := workqueue.NewTyped[string]()
	group := sync.WaitGroup{}
	group.Add(workers)
	start := time.Now()
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
	return time.Since(start)
}

func bench(count, workers int) {
	keys := make([]string, count)
	for i := range keys {
		keys[i] = fmt.Sprintf("namespace-%03d/object-%07d", i%1000, i)
	}
	for _, meanwhile := range []bool{false, true} {
		runtime.GC()
		fmt.Printf("%.1f\n", float64(once(keys, workers, meanwhile).Nanoseconds())/float64(count))
	}
}
