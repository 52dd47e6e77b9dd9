//go:build !linux

package server

import "syscall"

// dieWithParent has no counterpart here: a server outlives a test binary that
// was killed.
func dieWithParent() *syscall.SysProcAttr { return nil }
