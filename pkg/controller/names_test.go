package controller

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
)

// The lengths at which names are cut, and what they end in then.
func TestNames(t *testing.T) {
	a := func(n int) string { return strings.Repeat("a", n) }
	hash := func(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s)))[:8] }
	for _, c := range []struct{ what, got, want string }{
		{"StatefulSet, fits", generateName(a(42), maxStatefulSetName), "ws-" + a(42) + "-"},
		{"StatefulSet, cut", generateName(a(43), maxStatefulSetName), "ws-" + a(42) + "-"},
		{"StatefulSet, dash at the cut", generateName(a(41)+"-bbb", maxStatefulSetName), "ws-" + a(41) + "-"},
		{"StatefulSet, dash after the cut", generateName(a(42)+"-bbb", maxStatefulSetName), "ws-" + a(42) + "-"},
		{"Service, fits", generateName(a(53), maxServiceName), "ws-" + a(53) + "-"},
		{"Service, cut", generateName(a(54), maxServiceName), "ws-" + a(53) + "-"},
		{"ServiceAccount", serviceAccountName("alice"), "ws-alice"},
		{"ServiceAccount, fits", serviceAccountName(a(250)), "ws-" + a(250)},
		{"ServiceAccount, cut", serviceAccountName(a(251)), "ws-" + a(241) + "-" + hash(a(251))},
		{"ServiceAccount, cut, another", serviceAccountName(a(250) + "b"), "ws-" + a(241) + "-" + hash(a(250)+"b")},
		{"RoleBinding", roleBindingName("alice", "system:view"), "ws-alice-" + hash("alice/system:view")},
		{"RoleBinding, fits", roleBindingName(a(241), "view"), "ws-" + a(241) + "-" + hash(a(241)+"/view")},
		{"RoleBinding, cut", roleBindingName(a(242), "view"), "ws-" + a(241) + "-" + hash(a(242)+"/view")},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.what, c.got, c.want)
		}
		if len(c.got) > maxObjectName {
			t.Errorf("%s: %d characters", c.what, len(c.got))
		}
	}
}
