//go:build before_1_37

package main

import (
	cadvisor "github.com/google/cadvisor/info/v1"
	cadvisorv2 "github.com/google/cadvisor/info/v2"
)

type (
	fsInfo      = cadvisorv2.FsInfo
	machineInfo = cadvisor.MachineInfo
	instanceID  = cadvisor.InstanceID
)

// MachineInfo is what the kubelet asks for the machine.
func (m *Machine) MachineInfo() (*machineInfo, error) { return m.info(), nil }
