package server

import (
	"fmt"
	"os"
	"os/user"
	"strconv"
	"syscall"
)

// account is the user that a program is run as; nil is the present one.
type account struct{ uid, gid int }

// unprivileged returns the account for a program that refuses to run as root.
func unprivileged() (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("nobody")
	if err != nil {
		return nil, fmt.Errorf("find a user for a program that root can't run: %w", err)
	}
	uid, err := strconv.Atoi(u.Uid)
	if err != nil {
		return nil, fmt.Errorf("find a user for a program that root can't run: %w", err)
	}
	gid, err := strconv.Atoi(u.Gid)
	if err != nil {
		return nil, fmt.Errorf("find a user for a program that root can't run: %w", err)
	}
	return &account{uid, gid}, nil
}

// own gives a folder to the account.
func (a *account) own(path string) error {
	if a == nil {
		return nil
	}
	return os.Chown(path, a.uid, a.gid)
}

// attributes are those of a program that runs as a. The kernel ends it when the
// test binary was killed and could not.
func (a *account) attributes() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	if a != nil {
		attr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
	}
	return attr
}
