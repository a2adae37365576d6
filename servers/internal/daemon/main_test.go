package daemon

import (
	"context"
	"fmt"
	"os"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"
)

// envOwner makes the test program play the owner of a server that a test then kills.
const envOwner = "SATCHEL_TEST_DAEMON_OWNER"

func TestMain(m *testing.M) {
	if os.Getenv(envOwner) != "" {
		playOwner()
	}
	goleak.VerifyTestMain(m)
}

// playOwner starts a server, tells its folder and process id, and waits to be killed.
func playOwner() {
	user, err := Unprivileged()
	if err == nil {
		var folder *Folder
		if folder, err = NewFolder("satchel-test", user, syscall.SIGTERM); err == nil {
			var process *Process
			if process, err = Start(folder, shell("sleep 300"), syscall.SIGTERM); err == nil {
				fmt.Println(folder.Path, process.PID())
				time.Sleep(5 * time.Minute)
			}
		}
	}
	fmt.Println(err)
	os.Exit(1)
}

// shell runs a script as a server.
func shell(script string) Program {
	return Program{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"PATH=/usr/bin:/bin"}}
}

// newFolder makes a folder that is removed with the test.
func newFolder(t *testing.T) *Folder {
	t.Helper()
	user, err := Unprivileged()
	if err != nil {
		t.Fatal(err)
	}
	folder, err := NewFolder("satchel-test", user, syscall.SIGTERM)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := folder.Remove(); err != nil {
			t.Errorf("remove: %v", err)
		}
	})
	return folder
}

// startShell starts a script and waits until it says that it is up, by making a file named up.
func startShell(t *testing.T, folder *Folder, script string) *Process {
	t.Helper()
	process, err := Start(folder, shell(script), syscall.SIGKILL)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = process.Kill() })
	eventually(t, "the script is up", func() bool {
		_, err := os.Stat(folder.Path + "/up")
		return err == nil
	})
	return process
}

// eventually fails the test when the condition does not come true within a generous time.
func eventually(t *testing.T, what string, condition func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for !condition() {
		select {
		case <-ctx.Done():
			t.Fatalf("it never came true that %s", what)
		case <-time.After(10 * time.Millisecond):
		}
	}
}
