package main

import (
	"errors"

	"k8s.io/mount-utils"
)

// Mounter pretends to mount, and fails where a rule with a MountError matches
// the source: "server:/export" for NFS, "tmpfs" for Secrets.
type Mounter struct {
	mount.FakeMounter
	rules *Rules
}

// Mount is MountSensitive without secrets.
func (m *Mounter) Mount(source, target, fstype string, options []string) error {
	return m.MountSensitive(source, target, fstype, options, nil)
}

// MountSensitive fails or not.
func (m *Mounter) MountSensitive(source, target, fstype string, options, sensitive []string) error {
	if rule, ok := m.rules.Find(Subject{Source: source}, func(r Rule) bool { return r.MountError != "" }); ok {
		return errors.New(rule.MountError)
	}
	return m.FakeMounter.MountSensitive(source, target, fstype, options, sensitive)
}

// MountSensitiveWithoutSystemd is MountSensitive: nothing here uses systemd.
func (m *Mounter) MountSensitiveWithoutSystemd(source, target, fstype string, options, sensitive []string) error {
	return m.MountSensitive(source, target, fstype, options, sensitive)
}

// MountSensitiveWithoutSystemdWithMountFlags is MountSensitive without flags.
func (m *Mounter) MountSensitiveWithoutSystemdWithMountFlags(source, target, fstype string, options, sensitive, _ []string) error {
	return m.MountSensitive(source, target, fstype, options, sensitive)
}
