// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"

	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

var bytesRead atomic.Int64 // bytes of the connections: with TLS, and compressed where client-go asks for that

type countedConnection struct{ net.Conn }

func (c countedConnection) Read(into []byte) (int, error) {
	count, err := c.Conn.Read(into)
	bytesRead.Add(int64(count))
	return count, err
}

func dial(ctx context.Context, network, address string) (net.Conn, error) {
	connection, err := (&net.Dialer{}).DialContext(ctx, network, address)
	return countedConnection{connection}, err
}

// Everything else has client-go's defaults; $KUBE_FEATURE_WatchListClient=false makes it list instead of stream.
func inform(kubeconfig, wire string) error {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	config.Dial = dial
	config.ContentType = "application/json"
	if wire == "protobuf" {
		config.ContentType = "application/vnd.kubernetes.protobuf"
	}
	config.AcceptContentTypes = config.ContentType
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	informer := factory.Core().V1().Pods().Informer()
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	factory.Start(ctx.Done())
	if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
		return errors.New("the informer has not synced")
	}
	fmt.Printf("{\"objects\":%d,\"bytes_read\":%d}\n", len(informer.GetStore().ListKeys()), bytesRead.Load())
	return nil
}
