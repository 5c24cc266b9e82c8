// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

type settings struct {
	kubeconfig, kinformer    string
	listPods, download       string
	server, authority, token string
	apiserver, etcd          int // process ids
	pods, rounds, atOnce     int
	longest                  time.Duration
	only                     string
	client                   *http.Client
}

// The cost of one run of a row, or the median of several.
type cost struct {
	wall, clientCPU, serverCPU, etcdCPU float64 // seconds
	serverPeak, clientPeak, read        float64 // MB; a client's peak is at least this program's own size at its start
}

// clientReport is the last line that each client prints.
type clientReport struct {
	Objects   int     `json:"objects"`
	BytesRead float64 `json:"bytes_read"`
}

func readSettings(arguments []string) (*settings, error) {
	s := &settings{}
	flags := flag.NewFlagSet("measure", flag.ContinueOnError)
	flags.StringVar(&s.kubeconfig, "kubeconfig", "", "of the control plane")
	flags.StringVar(&s.kinformer, "kinformer", "", "the program")
	flags.StringVar(&s.listPods, "list-pods", "", "the program of bench/cmd_list_pods.c")
	flags.StringVar(&s.download, "download", "", "the program of bench/cmd_download.c")
	flags.IntVar(&s.apiserver, "apiserver", 0, "process id")
	flags.IntVar(&s.etcd, "etcd", 0, "process id")
	flags.IntVar(&s.pods, "pods", 0, "the number of pods; a client that finds a different number has failed")
	flags.IntVar(&s.rounds, "rounds", 5, "how often each row runs")
	flags.DurationVar(&s.longest, "longest", time.Hour, "no new round begins if it would probably end after this time")
	flags.IntVar(&s.atOnce, "at-once", 1, "clients at the same time")
	flags.StringVar(&s.only, "only", "", "rows whose name contains one of these words, separated by commas")
	if err := flags.Parse(arguments); err != nil {
		return nil, err
	}
	config, err := clientcmd.BuildConfigFromFlags("", s.kubeconfig)
	if err != nil {
		return nil, err
	}
	s.server, s.authority, s.token = config.Host, config.CAFile, config.BearerToken
	s.client, err = rest.HTTPClientFor(config)
	return s, err
}

// ---- one run ----

// collect makes kube-apiserver collect its garbage, so that each run begins with the same heap.
func (s *settings) collect() error {
	response, err := s.client.Get(s.server + "/debug/pprof/heap?gc=1")
	if err != nil {
		return err
	}
	return response.Body.Close()
}

func (s *settings) start(r row) ([]*exec.Cmd, error) {
	commands := []*exec.Cmd{}
	for range s.atOnce {
		command := exec.Command(r.command[0], r.command[1:]...)
		output := &bytes.Buffer{}
		command.Stdout, command.Stderr = output, output
		command.Env = append(os.Environ(), r.environment...)
		if err := command.Start(); err != nil {
			return commands, err
		}
		commands = append(commands, command)
	}
	return commands, nil
}

// A download does not count objects.
func (s *settings) readReport(command *exec.Cmd) (report clientReport, err error) {
	output := command.Stdout.(*bytes.Buffer).String()
	err = errors.New("no report")
	if begin := strings.LastIndex(output, "{"); begin >= 0 {
		err = json.Unmarshal([]byte(output[begin:]), &report)
	}
	if err == nil && report.Objects != 0 && report.Objects != s.pods {
		err = fmt.Errorf("%d objects instead of %d", report.Objects, s.pods)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w: %s", command.Path, err, output)
	}
	return report, err
}

func (s *settings) end(commands []*exec.Cmd, c *cost) error {
	var failure error
	for _, command := range commands {
		err := command.Wait()
		report, reportErr := s.readReport(command)
		if failure = errors.Join(failure, err, reportErr); failure != nil {
			continue
		}
		usage := command.ProcessState.SysUsage().(*syscall.Rusage)
		c.clientCPU += command.ProcessState.UserTime().Seconds() + command.ProcessState.SystemTime().Seconds()
		c.clientPeak = max(c.clientPeak, float64(usage.Maxrss)/1024)
		c.read += report.BytesRead / 1e6
	}
	return failure
}

func (s *settings) runOnce(r row) (c cost, err error) {
	if err = errors.Join(s.collect(), forgetPeak(s.apiserver)); err != nil {
		return c, err
	}
	apiserver, etcd, begin := cpuSeconds(s.apiserver), cpuSeconds(s.etcd), time.Now()
	commands, err := s.start(r)
	if err = errors.Join(err, s.end(commands, &c)); err != nil {
		return c, err
	}
	c.wall = time.Since(begin).Seconds()
	c.serverCPU = cpuSeconds(s.apiserver) - apiserver
	c.etcdCPU = cpuSeconds(s.etcd) - etcd
	c.serverPeak = peakMegabytes(s.apiserver)
	return c, nil
}

// ---- all of them ----

func (s *settings) wants(r row) bool {
	for _, word := range strings.Split(s.only, ",") {
		if strings.Contains(r.name(), word) {
			return true
		}
	}
	return false
}

func median(costs []cost, of func(cost) float64) float64 {
	values := []float64{}
	for _, c := range costs {
		values = append(values, of(c))
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func medians(costs []cost) cost {
	return cost{
		wall:       median(costs, func(c cost) float64 { return c.wall }),
		clientCPU:  median(costs, func(c cost) float64 { return c.clientCPU }),
		serverCPU:  median(costs, func(c cost) float64 { return c.serverCPU }),
		etcdCPU:    median(costs, func(c cost) float64 { return c.etcdCPU }),
		serverPeak: median(costs, func(c cost) float64 { return c.serverPeak }),
		clientPeak: median(costs, func(c cost) float64 { return c.clientPeak }),
		read:       median(costs, func(c cost) float64 { return c.read }),
	}
}

// Each round begins with a different row, so that no row is always the first one or follows the same one.
func (s *settings) runRounds(rows []row) ([][]cost, error) {
	costs := make([][]cost, len(rows))
	begin := time.Now()
	for round := range s.rounds {
		if passed := time.Since(begin); passed+passed/time.Duration(max(round, 1)) > s.longest {
			break
		}
		for i := range rows {
			at := (i + round*3) % len(rows)
			c, err := s.runOnce(rows[at])
			if err != nil {
				return nil, err
			}
			costs[at] = append(costs[at], c)
		}
	}
	return costs, nil
}

func measure(arguments []string) error {
	s, err := readSettings(arguments)
	if err != nil {
		return err
	}
	rows := []row{}
	for _, wire := range []string{"json", "protobuf"} {
		rows = append(rows, append(rowsOfKinformer(s, wire), rowsOfOthers(s, wire)...)...)
	}
	rows = slices.DeleteFunc(rows, func(r row) bool { return !s.wants(r) })
	costs, err := s.runRounds(rows)
	if err != nil {
		return err
	}
	all := map[string]cost{}
	for i, r := range rows {
		all[r.name()] = medians(costs[i])
	}
	printTable(s, rows, all, costs)
	printGoals(rows, all)
	return nil
}
