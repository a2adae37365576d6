package cache

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/satchel-go/satchel/servers/internal/daemon"
)

func TestUsersOwnCacheComesFirst(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	base, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	want := filepath.Join(base, "satchel")
	folder, err := Writable(nil)
	if err != nil || folder != want {
		t.Errorf("got %q, %v; want %q", folder, err, want)
	}
	left, err := os.ReadDir(folder)
	if err != nil || len(left) != 0 {
		t.Errorf("the new folder holds %v", left)
	}
	if folders := Folders(); folders[0] != want || folders[len(folders)-1] != shared {
		t.Errorf("folders %v, want the user's own first and the shared one last", folders)
	}
}

// A folder below one that is for its owner only is no place for programs that another account runs.
func TestCacheOutOfReach(t *testing.T) {
	t.Parallel()
	stranger := &daemon.User{Name: "stranger", UID: 4_000_001, GID: 4_000_001}
	if err := usable(filepath.Join(t.TempDir(), "satchel"), stranger); err == nil {
		t.Error("a folder that the account cannot reach is used")
	}
	if err := usable("/proc/satchel", nil); err == nil {
		t.Error("a folder that cannot be made is used")
	}
}
