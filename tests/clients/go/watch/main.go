// SPDX-License-Identifier: Apache-2.0

// watch follows the pods of one namespace with client-go's informer, in protobuf, until an object of the given version
// arrives at its handler. It prints the number of events, and the seconds of wall and processor time they took.
//
//	watch URL NAMESPACE VERSION
package main

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

const protobufType = "application/vnd.kubernetes.protobuf"

func processorSeconds() float64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		panic(err)
	}
	return float64(usage.Utime.Nano()+usage.Stime.Nano()) / 1e9
}

func follow(url, namespace, version string) error {
	config := &rest.Config{Host: url}
	config.ContentType = protobufType
	config.AcceptContentTypes = protobufType
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactoryWithOptions(client, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().Pods().Informer()
	events := 0
	done := make(chan struct{})
	count := func(object any) {
		events++
		if pod, is := object.(*core.Pod); is && pod.ResourceVersion == version {
			close(done)
		}
	}
	_, err = informer.AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    count,
		UpdateFunc: func(_, object any) { count(object) },
		DeleteFunc: count,
	})
	if err != nil {
		return err
	}
	start, processor := time.Now(), processorSeconds()
	factory.Start(context.Background().Done())
	<-done
	fmt.Println(events, time.Since(start).Seconds(), processorSeconds()-processor)
	return nil
}

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: watch URL NAMESPACE VERSION")
		os.Exit(2)
	}
	// The server supports lists and watches, but not streamed lists.
	os.Setenv("KUBE_FEATURE_WatchListClient", "false")
	if err := follow(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		fmt.Fprintln(os.Stderr, "watch:", err)
		os.Exit(1)
	}
}
