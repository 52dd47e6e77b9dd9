package server

import "syscall"

// dieWithParent makes the kernel end a server whose test binary was killed and
// could not end it.
func dieWithParent() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
