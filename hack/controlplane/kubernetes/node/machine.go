package main

import (
	"context"
	"time"

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

// info gives cores and memory.
func (m *Machine) info() *machineInfo {
	return &machineInfo{NumCores: cores, MemoryCapacity: memory, InstanceID: instanceID(m.NodeName)}
}

// RootFsInfo is the disk for Pods.
func (m *Machine) RootFsInfo() (fsInfo, error) { return disk(), nil }

// ImagesFsInfo is the same disk.
func (m *Machine) ImagesFsInfo(context.Context) (fsInfo, error) { return disk(), nil }

// ContainerFsInfo is the same disk.
func (m *Machine) ContainerFsInfo(context.Context) (fsInfo, error) { return disk(), nil }

// GetDirFsInfo is the same disk for every folder.
func (m *Machine) GetDirFsInfo(string) (fsInfo, error) { return disk(), nil }

func disk() fsInfo {
	inodes, free := uint64(1<<20), uint64(1<<20-1000)
	return fsInfo{Timestamp: time.Now(), Device: "/dev/sda1", Mountpoint: "/", Capacity: diskCapacity,
		Available: diskCapacity - diskUsed, Usage: diskUsed, Inodes: &inodes, InodesFree: &free}
}
