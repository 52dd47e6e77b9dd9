//go:build unix

package adapter

import (
	"os/exec"
	"syscall"
)

// command runs text in a shell, as the leader of a process group, so that what the
// shell starts can be ended with it.
func command(text string) *exec.Cmd {
	cmd := exec.Command("/bin/sh", "-c", text)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return cmd
}

// kill ends the command and what it started. That it has ended already is no error.
func kill(cmd *exec.Cmd) { _ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
