// SPDX-License-Identifier: Apache-2.0

package main

import (
	"reflect"
	"sort"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	imagepolicyv1alpha1 "k8s.io/api/imagepolicy/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1beta1 "k8s.io/apimachinery/pkg/apis/meta/v1beta1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationv1beta1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1beta1"
)

// A kind that has a protobuf form.
type kind struct {
	schema.GroupVersionKind
	goType reflect.Type
}

type protoMessage interface {
	Unmarshal([]byte) error
}

func newScheme() *runtime.Scheme {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		clientscheme.AddToScheme, admissionv1.AddToScheme, admissionv1beta1.AddToScheme,
		imagepolicyv1alpha1.AddToScheme, apiextensionsv1.AddToScheme, apiextensionsv1beta1.AddToScheme,
		apiregistrationv1.AddToScheme, apiregistrationv1beta1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	scheme.AddKnownTypes(metav1.SchemeGroupVersion, &metav1.Status{}, &metav1.PartialObjectMetadata{},
		&metav1.PartialObjectMetadataList{})
	scheme.AddKnownTypes(metav1beta1.SchemeGroupVersion, &metav1beta1.PartialObjectMetadata{},
		&metav1beta1.PartialObjectMetadataList{})
	scheme.AddKnownTypes(schema.GroupVersion{Version: "v1"}, &metav1.Status{})
	return scheme
}

// Lists, and the types of package meta that every group registers, are left out.
func isWanted(gvk schema.GroupVersionKind, t reflect.Type) bool {
	if gvk.Version == runtime.APIVersionInternal || strings.HasSuffix(gvk.Kind, "List") {
		return false
	}
	if _, ok := reflect.New(t).Interface().(protoMessage); !ok {
		return false
	}
	isMeta := strings.HasSuffix(t.PkgPath(), "apis/meta/v1") || strings.HasSuffix(t.PkgPath(), "apis/meta/v1beta1")
	isMetaGroup := gvk.Group == "meta.k8s.io" || gvk.Group == "" && gvk.Kind == "Status"
	return isMetaGroup && (gvk.Kind == "Status" || gvk.Kind == "PartialObjectMetadata") || !isMetaGroup && !isMeta
}

func allKinds(scheme *runtime.Scheme) []kind {
	var kinds []kind
	for gvk, t := range scheme.AllKnownTypes() {
		if isWanted(gvk, t) {
			kinds = append(kinds, kind{gvk, t})
		}
	}
	sort.Slice(kinds, func(i, j int) bool { return kinds[i].name() < kinds[j].name() })
	return kinds
}

func (k kind) apiVersion() string { return k.GroupVersion().String() }

// What the table is sorted by.
func (k kind) name() string { return k.apiVersion() + " " + k.Kind }
