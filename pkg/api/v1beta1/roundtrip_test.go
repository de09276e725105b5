package v1beta1_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"

	"github.com/kubectl-workspace/kubectl-workspace/pkg/api/v1beta1"
)

// TestRoundTrip decodes objects into the Go types and encodes them again. Nothing may be lost, added or
// changed. The objects are valid and have all their defaults, as they come from an API server.
func TestRoundTrip(t *testing.T) {
	scheme := runtime.NewScheme()
	if err := v1beta1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	// Strict, so that a field which the types do not have is an error and not just a difference.
	decoder := serializer.NewCodecFactory(scheme, serializer.EnableStrict).UniversalDeserializer()

	files, err := filepath.Glob("../../../testdata/api/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Fatal("no test data")
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			for _, document := range documents(t, file) {
				var stored unstructured.Unstructured
				if err := utilyaml.Unmarshal(document, &stored.Object); err != nil {
					t.Fatal(err)
				}
				typed, gvk, err := decoder.Decode(document, nil, nil)
				if err != nil {
					t.Fatal(err)
				}
				if *gvk != stored.GroupVersionKind() {
					t.Errorf("decoded as %s, want %s", gvk, stored.GroupVersionKind())
				}

				// Typed objects are written as JSON by typed clients, and as unstructured data by
				// dynamic ones and for patches. The two are different code.
				encoded, err := json.Marshal(typed)
				if err != nil {
					t.Fatal(err)
				}
				var viaJSON map[string]any
				if err := utilyaml.Unmarshal(encoded, &viaJSON); err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(stored.Object, viaJSON); diff != "" {
					t.Errorf("%s changed on the way through JSON (-stored +encoded):\n%s", stored.GetName(), diff)
				}
				viaConverter, err := runtime.DefaultUnstructuredConverter.ToUnstructured(typed)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(stored.Object, viaConverter); diff != "" {
					t.Errorf("%s changed on the way through the converter (-stored +encoded):\n%s", stored.GetName(), diff)
				}

				if diff := cmp.Diff(typed, typed.DeepCopyObject()); diff != "" {
					t.Errorf("the copy of %s differs:\n%s", stored.GetName(), diff)
				}
			}
		})
	}
}

// TestAbsent checks that what an object does not say is not made up, apart from the booleans and
// numbers whose zero is what the API server would put there.
func TestAbsent(t *testing.T) {
	cases := map[string]struct {
		object any
		want   string
	}{
		"no spec, no status": {&v1beta1.Workspace{}, `{"metadata":{}}`},
		"kind, no status":    {&v1beta1.WorkspaceKind{}, `{"metadata":{}}`},
		"spec": {
			&v1beta1.WorkspaceSpec{Kind: "lab"},
			`{"paused":false,"kind":"lab","podTemplate":{"volumes":{},"options":{"imageConfig":"","podConfig":""}}}`,
		},
		"default mode":  {&v1beta1.SecretMount{SecretName: "s", MountPath: "/s"}, `{"secretName":"s","mountPath":"/s"}`},
		"filter effect": {&v1beta1.FilterEffectAPI{}, `{}`},
		"probe without intervals": {
			&v1beta1.ActivityProbe{PodExec: &v1beta1.ActivityProbePodExec{Script: "#!"}},
			`{"podExec":{"script":"#!"}}`,
		},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			got, err := json.Marshal(tc.object)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestSecretMountMode(t *testing.T) {
	zero := int32(0)
	cases := map[string]struct {
		mode *int32
		want int32
	}{
		"absent":        {nil, 420},
		"explicit zero": {&zero, 0},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			mount := v1beta1.SecretMount{DefaultMode: tc.mode}
			if got := mount.Mode(); got != tc.want {
				t.Errorf("got %d, want %d", got, tc.want)
			}
		})
	}
}

// documents splits a file at its document separators.
func documents(t *testing.T, file string) [][]byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	for {
		document, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, document)
	}
}
