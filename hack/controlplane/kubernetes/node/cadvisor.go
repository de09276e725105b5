//go:build !before_1_37

package main

import (
	cadvisor "github.com/google/cadvisor/lib/model"
	"k8s.io/klog/v2"
)

type (
	fsInfo      = cadvisor.FsInfo
	machineInfo = cadvisor.MachineInfo
	instanceID  = cadvisor.InstanceID
)

// MachineInfo is what the kubelet asks for the machine.
func (m *Machine) MachineInfo(klog.Logger) (*machineInfo, error) { return m.info(), nil }
