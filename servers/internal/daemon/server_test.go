package daemon

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// counting is a server that counts its starts in its folder and is ready once its file says the current process id.
func counting(folder *Folder) *Server {
	return &Server{
		Folder:  folder,
		Program: shell(`echo start >>starts; echo $$ >ready; while :; do sleep 0.05; done`),
		Ready: func(context.Context) error {
			text, err := os.ReadFile(filepath.Join(folder.Path, "ready"))
			if err != nil {
				return err
			}
			if strings.TrimSpace(string(text)) != strings.TrimSpace(readFile(folder, pidFile)) {
				return errors.New("an earlier one's file")
			}
			return nil
		},
		Orderly: syscall.SIGTERM,
		Quick:   syscall.SIGKILL,
	}
}

func readFile(folder *Folder, name string) string {
	text, _ := os.ReadFile(filepath.Join(folder.Path, name))
	return string(text)
}

func TestServerKeepsItsFolderUntilItIsRemoved(t *testing.T) {
	t.Parallel()
	folder := newFolder(t)
	server := counting(folder)
	if err := server.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	first := folder.PID()
	if err := server.Crash(t.Context()); err != nil {
		t.Fatal(err)
	}
	for range 2 { // once from a crash, once from running
		if err := server.Restart(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if got := strings.Count(readFile(folder, "starts"), "start"); got != 3 {
		t.Errorf("%d starts in one folder, want 3", got)
	}
	if folder.PID() == first {
		t.Error("the process id was not noted anew")
	}
	if err := server.Remove(t.Context()); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(folder.Path); !os.IsNotExist(err) {
		t.Errorf("folder after Remove: %v, want it gone", err)
	}
}

func TestServerThatEndsWhileStarting(t *testing.T) {
	t.Parallel()
	server := counting(newFolder(t))
	server.Program = shell("echo address in use; exit 1")
	err := server.Start(t.Context())
	if !errors.Is(err, ErrEnded) || !strings.Contains(err.Error(), "address in use") {
		t.Errorf("got %v, want ErrEnded with the end of the log", err)
	}
}

func TestServerThatNeverBecomesReady(t *testing.T) {
	t.Parallel()
	notYet := errors.New("not yet")
	server := counting(newFolder(t))
	server.Ready = func(context.Context) error { return notYet }
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	err := server.Start(ctx)
	if !errors.Is(err, context.DeadlineExceeded) || !errors.Is(err, notYet) {
		t.Errorf("got %v, want the end of the context and the last check's error", err)
	}
	if server.process.Running() {
		t.Error("the server was left running")
	}
}
