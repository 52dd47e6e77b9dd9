package filelease

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/leasekit/lease"
)

// schema is the version of the record that this package reads and writes.
const schema = 1

// record is what the file of a key holds. It outlives the grants of the key.
type record struct {
	Schema  int    `json:"schema"`
	Key     string `json:"key"`
	Holder  string `json:"holder"`  // of the last grant; empty after its release
	Token   int64  `json:"token"`   // of the last grant
	Expires int64  `json:"expires"` // its end, in milliseconds since 1970
}

func (r *record) live(now time.Time) bool {
	return r.Holder != "" && now.Before(time.UnixMilli(r.Expires))
}

// is says whether l is the last grant of its key, live or not.
func (r *record) is(l lease.Lease) bool {
	return r.Holder == l.Holder && r.Token == l.Token
}

// path is the file of key. Keys are longer than file names may be and hold what
// file systems give a meaning, or ignore, so the name is a hash of the key.
func path(dir, key string) string {
	sum := sha256.Sum256([]byte(key))
	return filepath.Join(dir, hex.EncodeToString(sum[:])+".json")
}

// read returns the record of key, a fresh one if the key was never taken. What
// is there and is no record of this key is an error.
func read(dir, key string) (record, error) {
	text, err := os.ReadFile(path(dir, key))
	if errors.Is(err, fs.ErrNotExist) {
		return record{Schema: schema, Key: key}, nil
	}
	if err != nil {
		return record{}, err
	}
	var r record
	if err := json.Unmarshal(text, &r); err != nil {
		return record{}, err
	}
	// The text has to be the one that write makes, so a field that is missing,
	// unknown or written twice is found too.
	if same, err := json.Marshal(r); err != nil || !bytes.Equal(same, text) {
		return record{}, fmt.Errorf("not a record of schema %d", schema)
	}
	if r.Schema != schema || r.Key != key || r.Token < 0 || r.Expires < 0 {
		return record{}, fmt.Errorf("a record of schema %d for %q with token %d", r.Schema, r.Key, r.Token)
	}
	return r, nil
}

// write replaces the record as a whole: a crash leaves the old one or the new
// one, never a part. The caller has the lock, so one temporary name will do.
func write(dir string, r record) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	temp := filepath.Join(dir, "temp")
	f, err := os.Create(temp)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(temp, path(dir, r.Key)); err != nil {
		return err
	}
	// The new name is on disk once the folder is.
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// lock waits until nobody else is at work in dir, or ctx ends. The lock belongs
// to the open file, not to the process, so it keeps goroutines apart as well,
// and the kernel frees it when the process dies. The file stays for ever: a lock
// file that is removed can be held twice.
func lock(ctx context.Context, dir string) (unlock func(), err error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(filepath.Join(dir, "lock"), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, err
	}
	// flock can't be told to stop. It is left behind if ctx ends first, and
	// gives the lock back as soon as it has it.
	locked := make(chan error)
	go func() {
		err := flock(f)
		select {
		case locked <- err:
		case <-ctx.Done():
			f.Close()
		}
	}()
	select {
	case err := <-locked:
		if err != nil {
			f.Close()
			return nil, err
		}
		return func() { f.Close() }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func flock(f *os.File) error {
	for {
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != syscall.EINTR {
			return err
		}
	}
}
