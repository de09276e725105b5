package controller

import (
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/types"
)

// StatefulSetForTest returns a StatefulSet that is nothing but its uid.
func StatefulSetForTest(uid types.UID) *appsv1.StatefulSet {
	set := &appsv1.StatefulSet{}
	set.UID = uid
	return set
}
