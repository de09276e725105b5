package cluster

import (
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSecretInfo(t *testing.T) {
	const metadata = `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{"name":"s","namespace":"team-a","labels":{"a":"b"}}}`
	for name, c := range map[string]struct{ answer, wantType, wantErr string }{
		"table": {
			answer: `{"kind":"Table","apiVersion":"meta.k8s.io/v1","columnDefinitions":[{"name":"Name"},{"name":"Type"},{"name":"Data"}],
				"rows":[{"cells":["s","helm.sh/release.v1",1],"object":` + metadata + `}]}`,
			wantType: "helm.sh/release.v1",
		},
		"no such column": {answer: `{"kind":"Table","apiVersion":"meta.k8s.io/v1","rows":[{"cells":["s"],"object":` + metadata + `}]}`},
		"metadata":       {answer: metadata},
		"something else": {answer: `{"kind":"Secret","data":{"k":"djE="}}`, wantErr: `answers with a "Secret"`},
	} {
		t.Run(name, func(t *testing.T) {
			l := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if accept := r.Header.Get("Accept"); !strings.Contains(accept, "as=Table") || strings.HasSuffix(accept, "application/json") {
					t.Errorf("Accept: %s: the server may send data", accept)
				}
				w.Header().Set("Content-Type", "application/json")
				_, _ = w.Write([]byte(c.answer))
			})
			u, err := l.SecretInfo(t.Context(), "team-a", "s")
			if c.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), c.wantErr) {
					t.Errorf("error %v, want %q", err, c.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, _ := u.Object[SecretType].(string)
			if got != c.wantType || u.GetName() != "s" || u.GetLabels()["a"] != "b" || u.GetKind() != "Secret" {
				t.Errorf("%v", u.Object)
			}
		})
	}
}

func TestSecretKeysKeepNoValue(t *testing.T) {
	keys, err := secretKeys([]byte(`{"kind":"Secret","data":{"b":"djE=","a":null,"c":{"not":["a","string"]}}}`))
	if diff := cmp.Diff([]string{"a", "b", "c"}, keys); diff != "" || err != nil {
		t.Error(err, diff)
	}
	if _, err := secretKeys([]byte(`{"data":"dG9w"}`)); err == nil || strings.Contains(err.Error(), "dG9w") {
		t.Errorf("error %v", err)
	}
}
