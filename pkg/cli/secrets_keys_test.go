package cli

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"path"
	"strings"
	"testing"
)

// --keys shows the names of the keys, reads each Secret once, and nothing shows a value.
func TestSecretsListKeys(t *testing.T) {
	const value = "a-value-that-nobody-may-see"
	encoded := base64.StdEncoding.EncodeToString([]byte(value))
	s := newAPIServer(t)
	workspace := s.objects[workspacePath]
	volumes := workspace["spec"].(map[string]any)["podTemplate"].(map[string]any)["volumes"].(map[string]any)
	volumes["secrets"] = []any{
		map[string]any{"secretName": "minio-creds", "mountPath": "/a"},
		map[string]any{"secretName": "minio-creds", "mountPath": "/b"},
		map[string]any{"secretName": "private", "mountPath": "/c"},
		map[string]any{"secretName": "missing", "mountPath": "/d"},
	}
	reads := map[string]int{}
	s.fail = func(w http.ResponseWriter, r *http.Request, _ int) bool {
		if path.Base(path.Dir(r.URL.Path)) != "secrets" || strings.Contains(r.Header.Get("Accept"), "PartialObjectMetadata") {
			return false
		}
		name := path.Base(r.URL.Path)
		reads[name]++
		if name == "private" {
			status(w, http.StatusForbidden, "Forbidden", `secrets "private" is forbidden`)
			return true
		}
		reply(w, http.StatusOK, map[string]any{"apiVersion": "v1", "kind": "Secret", "metadata": map[string]any{"name": name},
			"data": map[string]any{"secretkey": encoded, "accesskey": encoded, "empty": nil}})
		return true
	}
	s.objects["/api/v1/namespaces/team-a/secrets/private"] = map[string]any{
		"apiVersion": "meta.k8s.io/v1", "kind": "PartialObjectMetadata", "metadata": map[string]any{"name": "private", "namespace": "team-a"}}

	const stderr = "Note: --keys reads 2 Secrets; the values are dropped on arrival\n" +
		"Warning: could not check Secret/private (keys): secrets \"private\" is forbidden\n"
	for args, want := range map[string]string{
		"--no-headers": "alice-notebook minio-creds /a 0644 yes yes pending accesskey,empty,secretkey\n" +
			"alice-notebook minio-creds /b 0644 yes yes pending accesskey,empty,secretkey\n" +
			"alice-notebook private /c 0644 yes no pending -\n" +
			"alice-notebook missing /d 0644 no - pending -\n",
		"-o jsonpath={.items[*].keys}": `["accesskey","empty","secretkey"] ["accesskey","empty","secretkey"]`,
	} {
		t.Run(args, func(t *testing.T) {
			clear(reads)
			code, out, errOut := s.run(t, append([]string{"list", "alice-notebook", "--keys"}, strings.Fields(args)...)...)
			var got strings.Builder
			for line := range strings.Lines(out) {
				got.WriteString(strings.Join(strings.Fields(line), " "))
				if strings.HasSuffix(line, "\n") {
					got.WriteByte('\n')
				}
			}
			if code != 0 || got.String() != want || errOut != stderr {
				t.Errorf("exit code %d, stdout:\n%s\nstderr:\n%s\nwant:\n%s\n%s", code, got.String(), errOut, want, stderr)
			}
			if strings.Contains(out+errOut, value) || strings.Contains(out+errOut, encoded) {
				t.Error("a value is in the output")
			}
			if fmt.Sprint(reads) != "map[minio-creds:1 private:1]" {
				t.Errorf("Secrets read: %v", reads)
			}
		})
	}
	t.Run("without --keys none is read", func(t *testing.T) {
		clear(reads)
		if code, out, _ := s.run(t, "list", "alice-notebook"); code != 0 || len(reads) > 0 || strings.Contains(out, "accesskey") {
			t.Errorf("exit code %d, Secrets read: %v, stdout:\n%s", code, reads, out)
		}
	})
}
