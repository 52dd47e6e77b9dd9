package cage

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
)

// Child is this program once more, in a cage, which leaves what it finds in a file.
type Child struct {
	Args   []string
	File   string   // the variable of the environment that tells it the file
	Env    []string // further ones
	Pipe   *os.File // what it inherits as descriptor 3; nil is nothing
	Limits Limits
}

// Run runs the child and decodes what it has left into v. If it has left nothing, ended
// says how it ended. err is no fault of the child.
func (c Child) Run(ctx context.Context, v any) (ended, err error) {
	dir, err := os.MkdirTemp("", "leasekit-child-*")
	if err != nil {
		return nil, fmt.Errorf("make a folder for the child process: %w", err)
	}
	defer os.RemoveAll(dir)
	exe, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	file := filepath.Join(dir, "left.json")
	cmd := exec.Command(exe, c.Args...)
	cmd.Env = append(append(os.Environ(), c.Env...), c.File+"="+file)
	if c.Pipe != nil {
		cmd.ExtraFiles = []*os.File{c.Pipe}
	}
	ended = Run(ctx, cmd, c.Limits)
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist) && ended == nil:
		return errors.New("it left no report, and ended as if all were well"), nil
	case errors.Is(err, fs.ErrNotExist):
		return ended, nil
	case err == nil:
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return nil, fmt.Errorf("read what the child process has left: %w", err)
	}
	return nil, nil
}

// Leave is the child's part: it leaves v in the file that the variable tells.
func Leave(variable string, v any) error {
	text, err := json.Marshal(v)
	if err == nil {
		err = os.WriteFile(os.Getenv(variable), text, 0o644)
	}
	if err != nil {
		return fmt.Errorf("leave what was found: %w", err)
	}
	return nil
}
