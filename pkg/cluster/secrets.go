package cluster

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// tableOf asks for the columns that kubectl get shows, and the objects as metadata. Of
// a Secret that is its type and the number of its keys, and neither keys nor values: the
// server leaves them out. A server that cannot answer so sends the metadata.
const tableOf = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io"

// SecretType is where SecretInfo keeps the type of a Secret: the field that a Secret has.
const SecretType = "type"

// SecretInfo reads the metadata of a Secret and its type; the type is empty where the
// server does not tell.
func (l *Live) SecretInfo(ctx context.Context, namespace, name string) (*unstructured.Unstructured, error) {
	raw, err := l.secret(ctx, namespace, name, tableOf)
	if err != nil {
		return nil, err
	}
	var table metav1.Table
	if err := json.Unmarshal(raw, &table); err != nil {
		return nil, fmt.Errorf("cannot decode Secret %q: %w", name, err)
	}
	var metadata metav1.PartialObjectMetadata
	kind := ""
	switch {
	case table.Kind == "PartialObjectMetadata":
		err = json.Unmarshal(raw, &metadata)
	case table.Kind == "Table" && len(table.Rows) == 1:
		err = json.Unmarshal(table.Rows[0].Object.Raw, &metadata)
		i := slices.IndexFunc(table.ColumnDefinitions, func(c metav1.TableColumnDefinition) bool { return c.Name == "Type" })
		if i >= 0 && i < len(table.Rows[0].Cells) {
			kind, _ = table.Rows[0].Cells[i].(string)
		}
	default:
		return nil, fmt.Errorf("the server answers with a %q where a Table was asked for", table.Kind)
	}
	if err != nil {
		return nil, fmt.Errorf("cannot decode Secret %q: %w", name, err)
	}
	u, err := metadataObject(Secrets, &metadata)
	if err == nil && kind != "" {
		u.Object[SecretType] = kind
	}
	return u, err
}

// SecretKeys reads the names of the keys of a Secret, sorted. It is the only request
// of this program whose answer holds values: nothing else tells the keys. The values
// are skipped while the answer is decoded, and the answer is wiped.
func (l *Live) SecretKeys(ctx context.Context, namespace, name string) ([]string, error) {
	raw, err := l.secret(ctx, namespace, name, "application/json")
	if err != nil {
		return nil, err
	}
	defer clear(raw)
	return secretKeys(raw)
}

func secretKeys(raw []byte) ([]string, error) {
	var secret struct {
		Data map[string]skipped `json:"data"`
	}
	if err := json.Unmarshal(raw, &secret); err != nil {
		// Not err itself, which may quote the answer.
		return nil, fmt.Errorf("the server's answer is not a Secret")
	}
	keys := make([]string, 0, len(secret.Data))
	for k := range secret.Data {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys, nil
}

// skipped stands for a JSON value that is not kept.
type skipped struct{}

// UnmarshalJSON implements json.Unmarshaler.
func (*skipped) UnmarshalJSON([]byte) error { return nil }

func (l *Live) secret(ctx context.Context, namespace, name, accept string) ([]byte, error) {
	result := l.version.RESTClient().Get().AbsPath("/api/v1/namespaces", namespace, Secrets.Resource, name).
		SetHeader("Accept", accept).Do(ctx)
	// Only Error decodes what the server says of a failure.
	if err := result.Error(); err != nil {
		return nil, err
	}
	return result.Raw()
}
