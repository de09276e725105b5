package main

import (
	"context"
	"time"

	cadvisor "github.com/google/cadvisor/lib/model"
	"k8s.io/klog/v2"
	cadvisortest "k8s.io/kubernetes/pkg/kubelet/cadvisor/testing"
)

// The pretended machine: large enough for many notebooks, and a number that
// nobody mistakes for this computer.
const (
	cores        = 16
	memory       = 64 << 30
	diskCapacity = 100 << 30
	diskUsed     = 10 << 30
)

// Machine tells the kubelet what its node has.
type Machine struct{ cadvisortest.Fake }

// MachineInfo gives cores and memory.
func (m *Machine) MachineInfo(klog.Logger) (*cadvisor.MachineInfo, error) {
	return &cadvisor.MachineInfo{NumCores: cores, MemoryCapacity: memory, InstanceID: cadvisor.InstanceID(m.NodeName)}, nil
}

// RootFsInfo is the disk for Pods.
func (m *Machine) RootFsInfo() (cadvisor.FsInfo, error) { return disk(), nil }

// ImagesFsInfo is the same disk.
func (m *Machine) ImagesFsInfo(context.Context) (cadvisor.FsInfo, error) { return disk(), nil }

// ContainerFsInfo is the same disk.
func (m *Machine) ContainerFsInfo(context.Context) (cadvisor.FsInfo, error) { return disk(), nil }

// GetDirFsInfo is the same disk for every folder.
func (m *Machine) GetDirFsInfo(string) (cadvisor.FsInfo, error) { return disk(), nil }

func disk() cadvisor.FsInfo {
	inodes, free := uint64(1<<20), uint64(1<<20-1000)
	return cadvisor.FsInfo{Timestamp: time.Now(), Device: "/dev/sda1", Mountpoint: "/", Capacity: diskCapacity,
		Available: diskCapacity - diskUsed, Usage: diskUsed, Inodes: &inodes, InodesFree: &free}
}
