//go:build !unix

package adapter

import (
	"os/exec"
	"strings"
)

// command runs text, which is a program and its arguments with blanks in between.
func command(text string) *exec.Cmd {
	words := strings.Fields(text)
	return exec.Command(words[0], words[1:]...)
}

// kill ends the command. That it has ended already is no error.
func kill(cmd *exec.Cmd) { _ = cmd.Process.Kill() }
