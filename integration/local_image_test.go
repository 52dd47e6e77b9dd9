package integration

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/moby/moby/client"
	"github.com/testcontainers/testcontainers-go"
)

// localImage is a Docker image made of what is installed on this machine: that
// takes no registry.
type localImage struct {
	name     string
	programs []string          // paths, also of plugins; the libraries that they load go along
	folders  []string          // paths
	open     []string          // folders that anyone may write to
	texts    map[string]string // files by path
	changes  []string          // instructions as in a Dockerfile
}

// make makes the image. It is removed after the test.
func (i localImage) make(t *testing.T) {
	t.Helper()
	ctx := context.Background()
	docker, err := testcontainers.NewDockerClientWithOpts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { docker.Close() })
	answer, err := docker.ImageImport(ctx, client.ImageImportSource{Source: i.layer(t), SourceName: "-"}, i.name,
		client.ImageImportOptions{Changes: i.changes})
	if err != nil {
		t.Fatalf("import an image: %v", err)
	}
	defer answer.Close()
	if text, err := io.ReadAll(answer); err != nil || bytes.Contains(text, []byte(`"error"`)) {
		t.Fatalf("import an image: %s, %v", text, err)
	}
	t.Cleanup(func() {
		if _, err := docker.ImageRemove(ctx, i.name, client.ImageRemoveOptions{Force: true}); err != nil {
			t.Errorf("remove the image: %v", err)
		}
	})
}

// layer returns the files of the image, as a tar.
func (i localImage) layer(t *testing.T) io.Reader {
	t.Helper()
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	added := map[string]bool{}
	add := func(path string, mode int64, text []byte) {
		if added[path] {
			return
		}
		added[path] = true
		header := &tar.Header{Name: path[1:], Mode: mode, Size: int64(len(text))}
		if text == nil {
			header.Typeflag, header.Name = tar.TypeDir, header.Name+"/"
		}
		if err := w.WriteHeader(header); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(text); err != nil {
			t.Fatal(err)
		}
	}
	// What a link leads to stands in for the link.
	file := func(path string) {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		add(path, 0o755, text)
	}
	for _, folder := range append(i.open, "/tmp") {
		add(folder, 0o1777, nil)
	}
	for path, text := range i.texts {
		add(path, 0o755, []byte(text))
	}
	for _, program := range i.programs {
		for _, library := range libraries(t, program) {
			file(library)
		}
		file(program)
	}
	for _, folder := range i.folders {
		err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
			switch info, statErr := os.Stat(path); {
			case err != nil:
				return err
			case statErr != nil || info.IsDir():
				return nil // a link to nowhere; folders come with their files
			default:
				file(path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &layer
}

// libraries returns what the dynamic linker loads for a program, itself among
// it.
func libraries(t *testing.T, program string) []string {
	t.Helper()
	text, err := exec.Command("ldd", program).Output()
	if err != nil {
		t.Fatalf("ldd %s: %v", program, err)
	}
	var files []string
	for _, m := range regexp.MustCompile(`(?m)(/\S+) \(0x`).FindAllStringSubmatch(string(text), -1) {
		files = append(files, m[1])
	}
	return files
}
