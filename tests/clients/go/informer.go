// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sort"
	"strings"
	"sync/atomic"
	"time"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	namespace = "go-informer"
	patience  = 20 * time.Second
	pause     = 10 * time.Millisecond
	objects   = 30
)

// A transport that counts the requests and checks the types of the answers.
type requests struct {
	next   http.RoundTripper
	accept string
	lists  atomic.Int64
	others atomic.Int64 // answers of a different type
}

func (all *requests) RoundTrip(request *http.Request) (*http.Response, error) {
	query := request.URL.Query()
	isList := query.Get("watch") == "" || query.Get("sendInitialEvents") == "true"
	if request.Method == http.MethodGet && strings.HasSuffix(request.URL.Path, "/configmaps") && isList {
		all.lists.Add(1)
	}
	response, err := all.next.RoundTrip(request)
	if err == nil && !strings.HasPrefix(response.Header.Get("Content-Type"), all.accept) {
		all.others.Add(1)
	}
	return response, err
}

// The events of the handler.
type events struct{ added, updated, deleted atomic.Int64 }

type follower struct {
	context  context.Context
	config   *rest.Config
	client   kubernetes.Interface
	requests *requests
	events   events
	lister   listers.ConfigMapNamespaceLister
}

func until(what string, condition func() bool) error {
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(pause) {
		if condition() {
			fmt.Println("ok:", what)
			return nil
		}
	}
	return errors.New("not within " + patience.String() + ": " + what)
}

// POST or DELETE of /debug/…, which is not part of Kubernetes.
func (f *follower) debug(method, path, body string) error {
	request, err := http.NewRequest(method, f.config.Host+"/debug/"+path, strings.NewReader(body))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultTransport.RoundTrip(request)
	// The request that cuts all connections may get no response.
	if path == "cut" {
		return nil
	}
	if err != nil {
		return err
	}
	response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s /debug/%s: %s", method, path, response.Status)
	}
	return nil
}

// ---- writing, with the typed client ----

func (f *follower) create(name, value string) error {
	object := &core.ConfigMap{ObjectMeta: meta.ObjectMeta{Name: name}, Data: map[string]string{"value": value}}
	_, err := f.client.CoreV1().ConfigMaps(namespace).Create(f.context, object, meta.CreateOptions{})
	return err
}

func (f *follower) update(name, value string) error {
	object, err := f.client.CoreV1().ConfigMaps(namespace).Get(f.context, name, meta.GetOptions{})
	if err != nil {
		return err
	}
	object.Data = map[string]string{"value": value}
	_, err = f.client.CoreV1().ConfigMaps(namespace).Update(f.context, object, meta.UpdateOptions{})
	return err
}

func (f *follower) remove(name string) error {
	return f.client.CoreV1().ConfigMaps(namespace).Delete(f.context, name, meta.DeleteOptions{})
}

func (f *follower) valueOf(name string) string {
	object, err := f.lister.Get(name)
	if err != nil {
		return ""
	}
	return object.Data["value"]
}

// ---- scenarios ----

func (f *follower) start() error {
	space := &core.Namespace{ObjectMeta: meta.ObjectMeta{Name: namespace}}
	if _, err := f.client.CoreV1().Namespaces().Create(f.context, space, meta.CreateOptions{}); err != nil {
		return err
	}
	for i := range objects {
		if err := f.create(fmt.Sprint("object-", i), "first"); err != nil {
			return err
		}
	}
	factory := informers.NewSharedInformerFactoryWithOptions(f.client, 0, informers.WithNamespace(namespace))
	informer := factory.Core().V1().ConfigMaps()
	f.lister = informer.Lister().ConfigMaps(namespace)
	_, err := informer.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc:    func(any) { f.events.added.Add(1) },
		UpdateFunc: func(any, any) { f.events.updated.Add(1) },
		DeleteFunc: func(any) { f.events.deleted.Add(1) },
	})
	if err != nil {
		return err
	}
	factory.Start(f.context.Done())
	return until("client-go's informer syncs", func() bool {
		return informer.Informer().HasSynced() && f.events.added.Load() == objects
	})
}

func (f *follower) live() error {
	if err := errors.Join(f.create("new", "first"), f.update("object-1", "second"), f.remove("object-2")); err != nil {
		return err
	}
	return until("it receives an addition, an update and a deletion", func() bool {
		return f.events.added.Load() == objects+1 && f.events.updated.Load() == 1 && f.events.deleted.Load() == 1 &&
			f.valueOf("object-1") == "second"
	})
}

func (f *follower) cut() error {
	lists := f.requests.lists.Load()
	if err := f.debug(http.MethodPost, "cut", ""); err != nil {
		return err
	}
	if err := errors.Join(f.update("object-3", "after the cut"), f.remove("object-4")); err != nil {
		return err
	}
	err := until("it reconnects after a cut", func() bool {
		return f.valueOf("object-3") == "after the cut" && f.valueOf("object-4") == ""
	})
	if err == nil && f.requests.lists.Load() != lists {
		err = errors.New("it has listed again, although the history was available")
	}
	return err
}

// Its watch cannot be resumed, so it has to list.
func (f *follower) compact() error {
	lists := f.requests.lists.Load()
	err := errors.Join(
		f.debug(http.MethodPost, "faults", `{"action": "status", "on": ["watch", "streamed-list"], "code": 503}`),
		f.debug(http.MethodPost, "cut", ""),
		f.update("object-5", "compacted"), f.remove("object-6"), f.create("another", "compacted"),
		f.debug(http.MethodPost, "compact", ""),
		f.debug(http.MethodDelete, "faults", ""))
	if err != nil {
		return err
	}
	return until("it lists again after a compaction", func() bool {
		return f.requests.lists.Load() > lists && f.valueOf("object-5") == "compacted" &&
			f.valueOf("object-6") == "" && f.valueOf("another") == "compacted"
	})
}

func summary(all []*core.ConfigMap) string {
	lines := []string{}
	for _, object := range all {
		lines = append(lines, fmt.Sprint(object.Name, object.UID, object.ResourceVersion, object.Data))
	}
	sort.Strings(lines)
	return strings.Join(lines, "\n")
}

func (f *follower) compare() error {
	if f.requests.others.Load() > 0 {
		return fmt.Errorf("%d answers are not %s", f.requests.others.Load(), f.requests.accept)
	}
	list, err := f.client.CoreV1().ConfigMaps(namespace).List(f.context, meta.ListOptions{})
	if err != nil {
		return err
	}
	served := []*core.ConfigMap{}
	for i := range list.Items {
		served = append(served, &list.Items[i])
	}
	if len(served) != objects-1 {
		return fmt.Errorf("%d objects instead of %d", len(served), objects-1)
	}
	return until("its cache has the server's objects", func() bool {
		cached, err := f.lister.List(labels.Everything())
		return err == nil && summary(cached) == summary(served)
	})
}

func follow(arguments []string) error {
	types := map[string]string{"json": jsonType, "protobuf": protobufType}
	if len(arguments) != 2 || types[arguments[0]] == "" {
		return errors.New(usage)
	}
	config, err := clientcmd.BuildConfigFromFlags("", arguments[1])
	if err != nil {
		return err
	}
	f := &follower{config: rest.CopyConfig(config), requests: &requests{accept: types[arguments[0]]}}
	config.ContentType = f.requests.accept
	config.AcceptContentTypes = f.requests.accept
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		f.requests.next = next
		return f.requests
	})
	var stop context.CancelFunc
	f.context, stop = context.WithCancel(context.Background())
	defer stop()
	if f.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	for _, step := range []func() error{f.start, f.live, f.cut, f.compact, f.compare} {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
