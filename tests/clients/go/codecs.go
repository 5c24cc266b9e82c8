// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"reflect"
	"strings"

	apiextensions "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const (
	jsonType     = "application/json"
	protobufType = "application/vnd.kubernetes.protobuf"
)

// Creates an object with a dry run, and returns what the server would have stored.
func dryRun(config *rest.Config, contentType, accept string, object runtime.Object, version schema.GroupVersionKind) (any, error) {
	config = rest.CopyConfig(config)
	group := version.GroupVersion()
	config.GroupVersion = &group
	config.APIPath = "/apis"
	if group.Group == "" {
		config.APIPath = "/api"
	}
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	config.ContentType = contentType
	config.AcceptContentTypes = accept
	client, err := rest.RESTClientFor(config)
	if err != nil {
		return nil, err
	}
	resource, _ := meta.UnsafeGuessKindToResource(version)
	isCluster := strings.HasPrefix(version.Kind, "Cluster") || strings.HasSuffix(version.Kind, "Definition") ||
		strings.HasSuffix(version.Kind, "Configuration")
	request := client.Post().NamespaceIfScoped("default", !isCluster).Resource(resource.Resource)
	var answered string
	answer, err := request.Param("dryRun", "All").Body(object).Do(context.Background()).ContentType(&answered).Get()
	if err == nil && answered != accept {
		err = errors.New("the answer is " + answered)
	}
	if err != nil {
		return nil, fmt.Errorf("%s as %s, answered as %s: %w", version.Kind, contentType, accept, err)
	}
	answer.GetObjectKind().SetGroupVersionKind(version)
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, err
	}
	// A Job also has its uid in labels and selectors.
	var kept metav1.PartialObjectMetadata
	if err = json.Unmarshal(text, &kept); err != nil {
		return nil, err
	}
	text = bytes.ReplaceAll(text, []byte(kept.UID), []byte("uid"))
	var tree map[string]any
	err = json.Unmarshal(text, &tree)
	metadata, _ := tree["metadata"].(map[string]any)
	// These fields differ in each run.
	for _, name := range []string{"uid", "resourceVersion", "creationTimestamp", "managedFields"} {
		delete(metadata, name)
	}
	if version.Kind == "CustomResourceDefinition" {
		delete(tree, "status")
	}
	if spec, is := tree["spec"].(map[string]any); is && version.Kind == "Service" {
		for _, port := range spec["ports"].([]any) {
			delete(port.(map[string]any), "nodePort")
		}
	}
	return tree, err
}

func compareCodecs(config *rest.Config, text string) error {
	object, version, err := scheme.Codecs.UniversalDeserializer().Decode([]byte(text), nil, nil)
	if err != nil {
		return err
	}
	fromJSON, err := dryRun(config, jsonType, jsonType, object, *version)
	if err != nil {
		return err
	}
	for _, types := range [][2]string{{protobufType, jsonType}, {jsonType, protobufType}} {
		other, err := dryRun(config, types[0], types[1], object, *version)
		if err != nil {
			return err
		}
		if !reflect.DeepEqual(fromJSON, other) {
			left, _ := json.Marshal(fromJSON)
			right, _ := json.Marshal(other)
			return fmt.Errorf("%s: JSON gives\n%s\nand %s, answered as %s,\n%s", version.Kind, left, types[0], types[1], right)
		}
	}
	fmt.Println("ok: protobuf and JSON are the same, in the request and in the answer:", version.Kind)
	return nil
}

func codecs(arguments []string) error {
	if len(arguments) != 2 {
		return errors.New(usage)
	}
	text, err := os.ReadFile(arguments[0])
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", arguments[1])
	if err != nil {
		return err
	}
	if err := apiextensions.AddToScheme(scheme.Scheme); err != nil {
		return err
	}
	for _, document := range strings.Split(string(text), "\n---\n") {
		if err := compareCodecs(config, document); err != nil {
			return err
		}
	}
	return nil
}
