package daemon

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Folder is the temporary folder of one server, watched by a guard. It belongs to User, and nobody else may enter it.
type Folder struct {
	Path string
	User *User

	guard  *guard
	remove sync.Once
	err    error
}

// NewFolder makes a folder whose name begins with prefix, in the system's temporary folder, and starts its guard.
//
// last is the signal that the guard sends to the server if this process dies: one on which the server ends at once.
func NewFolder(prefix string, u *User, last syscall.Signal) (*Folder, error) {
	path, err := makeFolder(prefix, u)
	if err != nil {
		return nil, err
	}
	f := &Folder{Path: path, User: u}
	if f.guard, err = startGuard(path, u, last); err != nil {
		return nil, errors.Join(err, os.RemoveAll(path))
	}
	return f, nil
}

// makeFolder prefers the temporary folder that the environment names, and falls back to the one that every account can
// reach: root's own may lie where an unprivileged server cannot follow.
func makeFolder(prefix string, u *User) (string, error) {
	base := os.TempDir()
	if u != nil && !u.Reachable(base) {
		base = "/tmp"
	}
	path, err := os.MkdirTemp(base, prefix+"-")
	if err != nil {
		return "", fmt.Errorf("temporary folder: %w", err)
	}
	if err := u.own(path); err != nil {
		return "", errors.Join(fmt.Errorf("temporary folder: %w", err), os.RemoveAll(path))
	}
	return path, nil
}

// WriteFile writes a file that the server's user owns; name is relative to the folder.
func (f *Folder) WriteFile(name string, text string) error {
	path := filepath.Join(f.Path, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		return err
	}
	return f.User.own(path)
}

// Remove ends the guard and removes the folder. The server must have ended before. Later calls do nothing.
func (f *Folder) Remove() error {
	f.remove.Do(func() {
		f.guard.dismiss()
		f.err = os.RemoveAll(f.Path)
	})
	return f.err
}

// LogPath is the file that takes what the server prints.
func (f *Folder) LogPath() string { return filepath.Join(f.Path, "log") }

// LogTail returns the last lines of the server's log, to be shown when it did not start. It holds what the server
// printed about itself, which a server that was only just made cannot have filled with anybody's data.
func (f *Folder) LogTail() string {
	const lines = 8
	text, err := os.ReadFile(f.LogPath())
	if err != nil {
		return "no log: " + err.Error()
	}
	all := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(all[max(0, len(all)-lines):], "\n")
}

// pidFile is read by the guard.
const pidFile = "pid"

func (f *Folder) notePID(pid int) error {
	return f.WriteFile(pidFile, strconv.Itoa(pid)+"\n")
}

// PID returns the id of the process that was last started in the folder, 0 if none was.
func (f *Folder) PID() int {
	text, err := os.ReadFile(filepath.Join(f.Path, pidFile))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}
