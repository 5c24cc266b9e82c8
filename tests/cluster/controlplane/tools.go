// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"google.golang.org/grpc/grpclog"
)

var errArguments = errors.New("one argument is needed")

// All ports are kept open until the last one is found, so that none is printed twice.
func freePorts(arguments []string) error {
	if len(arguments) != 1 {
		return errArguments
	}
	count, err := strconv.Atoi(arguments[0])
	for i := 0; i < count && err == nil; i++ {
		var listener net.Listener
		if listener, err = net.Listen("tcp", "127.0.0.1:0"); err == nil {
			defer listener.Close()
			fmt.Println(listener.Addr().(*net.TCPAddr).Port)
		}
	}
	return err
}

func key(arguments []string) error {
	if len(arguments) != 1 {
		return errArguments
	}
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return err
	}
	der, err := x509.MarshalECPrivateKey(private)
	if err != nil {
		return err
	}
	return os.WriteFile(arguments[0], pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: der}), 0o600)
}

func compact(arguments []string) error {
	if len(arguments) != 1 {
		return errArguments
	}
	// It warns about failed connections, even if the next one succeeds.
	grpclog.SetLoggerV2(grpclog.NewLoggerV2(io.Discard, io.Discard, io.Discard))
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	client, err := clientv3.New(clientv3.Config{Endpoints: arguments})
	if err != nil {
		return err
	}
	defer client.Close()
	now, err := client.Get(ctx, "none")
	if err != nil {
		return err
	}
	_, err = client.Compact(ctx, now.Header.Revision, clientv3.WithCompactPhysical())
	return err
}
