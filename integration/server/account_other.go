//go:build !linux

package server

import "syscall"

// account is the user that a program is run as: here always the present one.
type account struct{}

func unprivileged() (*account, error) { return nil, nil }

func (a *account) own(string) error { return nil }

// attributes has nothing to say here: a server outlives a test binary that was
// killed.
func (a *account) attributes() *syscall.SysProcAttr { return nil }
