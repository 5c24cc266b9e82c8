// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"

	coordination "k8s.io/api/coordination/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
	"k8s.io/client-go/tools/leaderelection"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

const (
	leaseName     = "go-and-c"
	leaseDuration = 2 * time.Second
	renewDeadline = 1500 * time.Millisecond
	retryPeriod   = 200 * time.Millisecond
)

// Contenders for one Lease: client-go's leader election in this process, and a sample-controller process.
type contest struct {
	client     kubernetes.Interface
	program    string
	kubeconfig string
	leads      atomic.Bool // client-go
}

// client-go contends until the returned function is called; then it releases the Lease if `releases` is set.
func (c *contest) startGo(releases bool) (context.CancelFunc, error) {
	ctx, cancel := context.WithCancel(context.Background())
	elector, err := leaderelection.NewLeaderElector(leaderelection.LeaderElectionConfig{
		Lock: &resourcelock.LeaseLock{
			LeaseMeta:  meta.ObjectMeta{Name: leaseName, Namespace: "default"},
			Client:     c.client.CoordinationV1(),
			LockConfig: resourcelock.ResourceLockConfig{Identity: "go"},
		},
		LeaseDuration:   leaseDuration,
		RenewDeadline:   renewDeadline,
		RetryPeriod:     retryPeriod,
		ReleaseOnCancel: releases,
		Callbacks: leaderelection.LeaderCallbacks{
			OnStartedLeading: func(context.Context) { c.leads.Store(true) },
			OnStoppedLeading: func() { c.leads.Store(false) },
		},
	})
	if err != nil {
		cancel()
		return nil, err
	}
	ended := make(chan struct{})
	go func() { elector.Run(ctx); close(ended) }()
	return func() { cancel(); <-ended }, nil
}

func (c *contest) startC() (*exec.Cmd, error) {
	command := exec.Command(c.program, "--kubeconfig", c.kubeconfig, "--leader-elect",
		"--leader-elect-resource-name", leaseName, "--leader-elect-resource-namespace", "default",
		"--leader-elect-identity", "c", "--leader-elect-lease-duration", leaseDuration.String(),
		"--leader-elect-renew-deadline", renewDeadline.String(),
		"--leader-elect-retry-period", retryPeriod.String())
	command.Stderr = os.Stderr
	return command, command.Start()
}

func (c *contest) lease() (*coordination.Lease, error) {
	return c.client.CoordinationV1().Leases("default").Get(context.Background(), leaseName, meta.GetOptions{})
}

// Waits until this holder has the Lease, and both agree on how often it has changed hands.
func (c *contest) untilHeldBy(holder string, transitions int32) error {
	return until(fmt.Sprintf("%s holds the lease, transition %d", holder, transitions), func() bool {
		lease, err := c.lease()
		return err == nil && lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity == holder &&
			lease.Spec.LeaseTransitions != nil && *lease.Spec.LeaseTransitions == transitions &&
			c.leads.Load() == (holder == "go")
	})
}

// Checks that the Lease stays with a holder that renews it, for longer than it lasts.
func (c *contest) staysWith(holder string) error {
	for end := time.Now().Add(2 * leaseDuration); time.Now().Before(end); time.Sleep(pause) {
		lease, err := c.lease()
		if err != nil {
			return err
		}
		if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity != holder {
			return errors.New("the lease was taken away from " + holder)
		}
	}
	fmt.Println("ok:", holder, "keeps the lease")
	return nil
}

func first(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}

// Each takes over the Lease from the other: when it is released, and when its holder is killed.
func (c *contest) run() error {
	var stopGo context.CancelFunc
	var process *exec.Cmd
	defer func() {
		if process != nil {
			_ = process.Process.Kill()
		}
	}()
	startGo := func(releases bool) func() error {
		return func() (err error) { stopGo, err = c.startGo(releases); return err }
	}
	startC := func() (err error) { process, err = c.startC(); return err }
	endGo := func() error { stopGo(); return nil }
	endC := func(signal syscall.Signal) func() error {
		return func() error {
			if err := process.Process.Signal(signal); err != nil {
				return err
			}
			if err := process.Wait(); err != nil && signal == syscall.SIGTERM {
				return err
			}
			process = nil
			return nil
		}
	}
	held := func(holder string, transitions int32) func() error {
		return func() error { return c.untilHeldBy(holder, transitions) }
	}
	stays := func(holder string) func() error { return func() error { return c.staysWith(holder) } }
	return first(
		startGo(true), held("go", 0), startC, stays("go"),
		endGo, held("c", 1), startGo(false), stays("c"),
		endC(syscall.SIGTERM), held("go", 2), startC, stays("go"),
		endGo, held("c", 3), startGo(true), stays("c"),
		endC(syscall.SIGKILL), held("go", 4), endGo)
}

func contend(args []string) error {
	if len(args) != 2 {
		return errors.New("usage: clients leader PROGRAM KUBECONFIG")
	}
	config, err := clientcmd.BuildConfigFromFlags("", args[1])
	if err != nil {
		return err
	}
	config.QPS = -1 // no rate limit, so that the test's requests do not delay renewals
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	return (&contest{client: client, program: args[0], kubeconfig: args[1]}).run()
}
