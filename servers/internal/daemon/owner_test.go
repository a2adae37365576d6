package daemon

import (
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"testing"
)

// A server and its folder go when their owner is killed by a signal that leaves it no time for anything.
func TestServerEndsWithAKilledOwner(t *testing.T) {
	t.Parallel()
	owner := exec.Command(os.Args[0])
	owner.Env = append(os.Environ(), envOwner+"=1")
	out, err := owner.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := owner.Start(); err != nil {
		t.Fatal(err)
	}
	var folder string
	var pid int
	if _, err := fmt.Fscan(out, &folder, &pid); err != nil {
		_ = owner.Process.Kill()
		t.Fatalf("the owner did not start a server: %v", err)
	}
	if len(alive([]int{pid})) == 0 {
		t.Error("the server does not run while its owner does")
	}
	if err := owner.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = owner.Wait() // killed, as it should be
	eventually(t, "the server ended", func() bool { return len(alive([]int{pid})) == 0 })
	eventually(t, "the folder is gone", func() bool {
		_, err := os.Stat(folder)
		return os.IsNotExist(err)
	})
}

// The guard alone does the same, for systems whose kernel does not tell a child that its parent died.
func TestGuardEndsThePausedServerOfALostOwner(t *testing.T) {
	t.Parallel()
	folder := newFolder(t)
	process := startShell(t, folder, "touch up; sleep 300 & wait")
	process.Pause()
	if err := folder.guard.pipe.Close(); err != nil { // what the kernel does when the owner dies
		t.Fatal(err)
	}
	<-process.Done()
	eventually(t, "the folder is gone", func() bool {
		_, err := os.Stat(folder.Path)
		return os.IsNotExist(err)
	})
	for _, pid := range process.family()[1:] {
		_ = syscall.Kill(pid, syscall.SIGKILL)
	}
}
