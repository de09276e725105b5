package env

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Namespace creates a namespace for one test and removes it at the test's end.
// In it the personas may do what they may do in team-a.
func (e *Env) Namespace(t testing.TB, personas ...string) string {
	t.Helper()
	return e.NamespaceNamed(t, metav1.ObjectMeta{GenerateName: "test-"}, personas...)
}

// NamespaceNamed is Namespace with a name, or the beginning of one, of the test's choice.
func (e *Env) NamespaceNamed(t testing.TB, meta metav1.ObjectMeta, personas ...string) string {
	t.Helper()
	client := e.Client(t, Admin)
	ns, err := client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: meta}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("create a namespace: %v", err)
	}
	t.Cleanup(func() { // the test's own context has ended by now
		now := int64(0)
		err := client.CoreV1().Namespaces().Delete(context.Background(), ns.Name, metav1.DeleteOptions{GracePeriodSeconds: &now})
		if err != nil {
			t.Errorf("delete namespace %s: %v", ns.Name, err)
		}
	})
	for _, persona := range personas {
		e.bind(t, ns.Name, persona, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: persona})
	}
	// Without its default ServiceAccount a namespace takes no Pods.
	Eventually(t, 30*time.Second, func() error {
		_, err := client.CoreV1().ServiceAccounts(ns.Name).Get(t.Context(), "default", metav1.GetOptions{})
		return err
	})
	return ns.Name
}

// Grant gives a persona more rights in a namespace, until that is gone.
func (e *Env) Grant(t testing.TB, namespace, persona string, rules ...rbacv1.PolicyRule) {
	t.Helper()
	role, err := e.Client(t, Admin).RbacV1().Roles(namespace).Create(t.Context(),
		&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{GenerateName: persona + "-"}, Rules: rules}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("create a Role: %v", err)
	}
	e.bind(t, namespace, persona, rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name})
}

func (e *Env) bind(t testing.TB, namespace, persona string, role rbacv1.RoleRef) {
	t.Helper()
	_, err := e.Client(t, Admin).RbacV1().RoleBindings(namespace).Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{GenerateName: persona + "-"},
		RoleRef:    role,
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: persona}},
	}, metav1.CreateOptions{})
	if err != nil {
		t.Fatalf("bind %s: %v", role.Name, err)
	}
}

// WaitForEvent waits for an Event with the reason whose message contains a
// text, and returns it.
func (e *Env) WaitForEvent(t testing.TB, namespace, reason, text string, timeout time.Duration) corev1.Event {
	t.Helper()
	client := e.Client(t, Admin)
	var found corev1.Event
	Eventually(t, timeout, func() error {
		events, err := client.CoreV1().Events(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		var seen []string
		for _, event := range events.Items {
			if event.Reason == reason && strings.Contains(event.Message, text) {
				found = event
				return nil
			}
			seen = append(seen, event.Reason+": "+event.Message)
		}
		return fmt.Errorf("no Event %s with %q; there are:\n%s", reason, text, strings.Join(seen, "\n"))
	})
	return found
}
