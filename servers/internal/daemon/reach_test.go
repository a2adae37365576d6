package daemon

import (
	"net"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// stranger is an account that owns none of the folders of these tests.
func stranger() *User { return &User{Name: "stranger", UID: 4_000_001, GID: 4_000_001} }

func TestReachable(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		outer, inner os.FileMode
		want         bool
	}{
		"open":                       {outer: 0o755, inner: 0o755, want: true},
		"passable above":             {outer: 0o711, inner: 0o755, want: true},
		"closed above":               {outer: 0o700, inner: 0o755},
		"passable but not readable":  {outer: 0o755, inner: 0o711},
		"readable but not passable":  {outer: 0o755, inner: 0o744},
		"open for the group only":    {outer: 0o750, inner: 0o755},
		"closed for everybody else":  {outer: 0o755, inner: 0o700},
		"readable above, no passage": {outer: 0o744, inner: 0o755},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			outer, err := os.MkdirTemp("/tmp", "satchel-reach-")
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = os.RemoveAll(outer) })
			inner := filepath.Join(outer, "inner")
			if err := os.Mkdir(inner, 0o700); err != nil {
				t.Fatal(err)
			}
			// The inner one first: afterwards the outer one may be closed to an ordinary user too.
			for _, folder := range []struct {
				path string
				mode os.FileMode
			}{{inner, test.inner}, {outer, test.outer}} {
				if err := os.Chmod(folder.path, folder.mode); err != nil {
					t.Fatal(err)
				}
			}
			defer func() { _ = os.Chmod(outer, 0o700) }()
			if got := stranger().Reachable(inner); got != test.want {
				t.Errorf("outer %v, inner %v: got %v, want %v", test.outer, test.inner, got, test.want)
			}
		})
	}
}

func TestReachableFollowsLinks(t *testing.T) {
	t.Parallel()
	closed := t.TempDir() // its parent is for its owner only
	link := filepath.Join("/tmp", "satchel-link-"+strconv.Itoa(os.Getpid()))
	if err := os.Symlink(closed, link); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Remove(link) })
	if stranger().Reachable(link) {
		t.Error("a link hides that its target is closed")
	}
	if stranger().Reachable(filepath.Join(closed, "missing")) {
		t.Error("a folder that is not there is reachable")
	}
	var self *User
	if !self.Reachable(link) {
		t.Error("this process cannot reach its own folder")
	}
}

func TestFreePortIsFree(t *testing.T) {
	t.Parallel()
	port, err := FreePort()
	if err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(port)))
	if err != nil {
		t.Fatalf("port %d: %v", port, err)
	}
	_ = listener.Close()
}
