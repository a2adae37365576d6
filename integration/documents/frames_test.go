package documents

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// frames are the folders with what a reader has around the Go of a document.
const frames = "testdata/frames"

var hole = regexp.MustCompile(`(?m)^\t*// block (\d+)\n`)

// The Go of a document compiles where it belongs.
func TestFrames(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	used := map[string]bool{}
	for _, d := range documents(t) {
		var blocks []block
		for _, b := range d.blocks {
			if b.lang == "go" {
				blocks = append(blocks, b)
			}
		}
		if len(blocks) == 0 {
			continue
		}
		name := strings.ReplaceAll(strings.TrimSuffix(d.path, ".md"), "/", "_")
		used[name] = true
		framed := fill(t, name, folder, blocks)
		for i, b := range blocks {
			if framed[i+1] != 1 {
				t.Errorf("%s: %d frames in %s/%s have a line // block %d", b.where, framed[i+1], frames, name, i+1)
			}
		}
	}
	for _, path := range glob(t, frames+"/*") {
		if name := filepath.Base(path); !used[name] {
			t.Errorf("%s/%s is the frame of nothing", frames, name)
		}
	}

	write(t, filepath.Join(folder, "go.mod"), "module example.com/documents\n\ngo 1.26.4\n")
	workspace(t, folder)
	s := newShell(t)
	for _, args := range [][]string{{"generate", "./..."}, {"test", "./..."}} {
		if out, err := s.output(folder, "go", args...); err != nil {
			t.Errorf("go %s: %v\n%s", strings.Join(args, " "), err, out)
		}
	}
}

// fill copies the frames of a document and puts its blocks into them. It returns how often it
// has used each of them.
func fill(t *testing.T, name, folder string, blocks []block) map[int]int {
	t.Helper()
	framed := map[int]int{}
	err := filepath.WalkDir(filepath.Join(frames, name), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		frame, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		filled := hole.ReplaceAllStringFunc(string(frame), func(line string) string {
			i, _ := strconv.Atoi(hole.FindStringSubmatch(line)[1])
			framed[i]++
			if i < 1 || i > len(blocks) {
				t.Errorf("%s: the document has no block %d", path, i)
				return ""
			}
			// Errors of the compiler name the document.
			return fmt.Sprintf("//line %s\n%s//line %s:1\n", blocks[i-1].where, blocks[i-1].text, filepath.Base(path))
		})
		relative, err := filepath.Rel(frames, path)
		if err != nil {
			return err
		}
		write(t, filepath.Join(folder, relative), filled)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	return framed
}

// workspace makes a workspace of our modules and the one in folder.
func workspace(t *testing.T, folder string) {
	t.Helper()
	doc, err := os.ReadFile(filepath.Join(root, "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	absolute, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	work := strings.ReplaceAll(string(doc), "\t./", "\t"+absolute+"/")
	write(t, filepath.Join(folder, "go.work"), work+"\nuse .\n")
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return paths
}
