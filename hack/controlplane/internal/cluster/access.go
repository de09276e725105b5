package cluster

import (
	"bytes"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"os"
	"path/filepath"
	"sort"
)

// persona is a user of the cluster: a bearer token is all that makes one.
type persona struct {
	groups    string
	namespace string // default namespace of the kubeconfig
}

// personas returns all users: people, and the components themselves.
func personas(nodes []string) map[string]persona {
	all := map[string]persona{
		"admin":                          {groups: "system:masters", namespace: "default"},
		"namespace-user":                 {namespace: "team-a"},
		"workspaces-only":                {namespace: "team-a"},
		"system:kube-controller-manager": {},
		"system:kube-scheduler":          {},
	}
	for _, node := range nodes {
		all["system:node:"+node] = persona{groups: "system:nodes"}
	}
	return all
}

// people are the personas whose kubeconfig files are told to the user.
var people = []string{"admin", "namespace-user", "workspaces-only"}

// tokenFile renders the API server's table of users, and returns their tokens.
func tokenFile(all map[string]persona) (csv []byte, tokens map[string]string) {
	names := make([]string, 0, len(all))
	for name := range all {
		names = append(names, name)
	}
	sort.Strings(names)
	var b bytes.Buffer
	tokens = map[string]string{}
	for _, name := range names {
		tokens[name] = rand.Text()
		fmt.Fprintf(&b, "%s,%s,%s", tokens[name], name, name)
		if groups := all[name].groups; groups != "" {
			fmt.Fprintf(&b, ",%q", groups)
		}
		b.WriteByte('\n')
	}
	return b.Bytes(), tokens
}

// kubeconfig renders a kubeconfig file; JSON is YAML too.
func kubeconfig(server string, ca []byte, user, token, namespace string) ([]byte, error) {
	type object = map[string]any
	context := object{"cluster": "controlplane", "user": user}
	if namespace != "" {
		context["namespace"] = namespace
	}
	return json.MarshalIndent(object{
		"apiVersion":      "v1",
		"kind":            "Config",
		"current-context": user,
		// []byte is base64 in JSON, as kubeconfig wants it
		"clusters": []object{{"name": "controlplane", "cluster": object{"server": server, "certificate-authority-data": ca}}},
		"users":    []object{{"name": user, "user": object{"token": token}}},
		"contexts": []object{{"name": user, "context": context}},
	}, "", "  ")
}

// writeSigningKey makes the key for ServiceAccount tokens.
func writeSigningKey(dir string) (string, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "service-account.key")
	block := &pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}
	return path, os.WriteFile(path, pem.EncodeToMemory(block), 0o600)
}
