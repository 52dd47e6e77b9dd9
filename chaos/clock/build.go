package clock

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
)

//go:embed shim/clock.c
var source []byte

// flags for the compiler. Without libraries and without what distributions add,
// the result needs nothing but what any libc has.
var flags = []string{"-shared", "-fPIC", "-nostdlib", "-O2", "-fvisibility=hidden", "-fno-stack-protector", "-U_FORTIFY_SOURCE"}

// library returns where the shim is, built if need be.
var library = sync.OnceValues(func() (string, error) {
	if runtime.GOOS != "linux" {
		return "", fmt.Errorf("the clock of a server can't be moved on %s: the clock shim is for Linux", runtime.GOOS)
	}
	cache, err := cacheFolder()
	if err == nil {
		var path string
		if path, err = build(cache); err == nil {
			return path, nil
		}
	}
	return "", fmt.Errorf("the clock of a server can't be moved, for lack of the clock shim: %w", err)
})

// cacheFolder returns a folder for what is built. Nobody else may write to it:
// what lies there is loaded into servers.
func cacheFolder() (string, error) {
	failed := error(nil)
	if cache, err := os.UserCacheDir(); err == nil {
		cache = filepath.Join(cache, "leasekit")
		if failed = os.MkdirAll(cache, 0o700); failed == nil {
			if failed = writable(cache); failed == nil {
				return cache, nil
			}
		}
	} else {
		failed = err
	}
	cache := filepath.Join(os.TempDir(), fmt.Sprintf("leasekit-%d", os.Getuid()))
	err := os.Mkdir(cache, 0o700)
	if errors.Is(err, os.ErrExist) {
		err = own(cache)
	}
	if err != nil {
		return "", errors.Join(failed, fmt.Errorf("make a cache folder: %w", err))
	}
	return cache, nil
}

func writable(dir string) error {
	f, err := os.CreateTemp(dir, "try-")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// build returns the shim in the folder cache, built now unless it is there.
// Several processes may build at once: each renames what it made, and all make
// the same.
func build(cache string) (string, error) {
	name := sha256.New()
	fmt.Fprintln(name, runtime.GOARCH, flags)
	name.Write(source)
	path := filepath.Join(cache, fmt.Sprintf("clock-%x.so", name.Sum(nil)[:8]))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}

	compiler, err := findCompiler()
	if err != nil {
		return "", err
	}
	out, err := os.CreateTemp(cache, "clock-*.new")
	if err != nil {
		return "", err
	}
	defer os.Remove(out.Name())
	out.Close()
	cmd := exec.Command(compiler[0], append(compiler[1:], append(flags, "-x", "c", "-o", out.Name(), "-")...)...)
	cmd.Stdin = bytes.NewReader(source)
	if said, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build it with %s: %w: %.2000s", strings.Join(compiler, " "), err, bytes.TrimSpace(said))
	}
	if err := os.Rename(out.Name(), path); err != nil {
		return "", err
	}
	return path, nil
}

// findCompiler returns the command of the C compiler: that in CC, as go has it,
// else one with a usual name.
func findCompiler() ([]string, error) {
	const install = "install one (apt-get install gcc libc6-dev), or set CC"
	if cc := strings.Fields(os.Getenv("CC")); len(cc) > 0 {
		if _, err := exec.LookPath(cc[0]); err != nil {
			return nil, fmt.Errorf("the C compiler that CC names is not there: %w; %s", err, install)
		}
		return cc, nil
	}
	for _, cc := range []string{"cc", "gcc", "clang"} {
		if _, err := exec.LookPath(cc); err == nil {
			return []string{cc}, nil
		}
	}
	return nil, fmt.Errorf("there is no C compiler (cc, gcc or clang); %s", install)
}
