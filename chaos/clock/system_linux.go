package clock

import (
	"errors"
	"fmt"
	"os"
	"syscall"
	"unsafe"
)

// mapControl maps the control file, to be shared with the programs.
func mapControl(path string) (c *control, unmap func(), err error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	b, err := syscall.Mmap(int(f.Fd()), 0, int(unsafe.Sizeof(*c)), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, nil, fmt.Errorf("map %s: %w", path, err)
	}
	return (*control)(unsafe.Pointer(&b[0])), func() { syscall.Munmap(b) }, nil
}

// kernelNow reads the system's clock, in ns since 1970. time.Now would be the
// time of the bubble inside of one.
func kernelNow() int64 {
	const realtime = 0
	var t syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, realtime, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		panic("clock: the kernel does not tell the time: " + errno.Error())
	}
	return t.Nano()
}

// own makes sure that dir is a folder of this user, which others can't write to.
func own(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok || !info.IsDir() || int(stat.Uid) != os.Getuid() || info.Mode().Perm()&0o022 != 0 {
		return errors.New(dir + " is there, and is not a folder of this user alone")
	}
	return nil
}
