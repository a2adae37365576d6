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

func TestStopAsksFirst(t *testing.T) {
	t.Parallel()
	folder := newFolder(t)
	process := startShell(t, folder, `trap 'echo asked; exit 0' TERM; touch up; while :; do sleep 0.05; done`)
	if !process.Running() {
		t.Fatal("not running")
	}
	if err := process.Stop(t.Context(), syscall.SIGTERM); err != nil {
		t.Errorf("Stop: %v", err)
	}
	if process.Running() || process.Err() != nil {
		t.Errorf("running %v, ended with %v; want an end with status 0", process.Running(), process.Err())
	}
	if got := folder.LogTail(); got != "asked" {
		t.Errorf("log %q, want the answer to the signal", got)
	}
	if err := process.Stop(t.Context(), syscall.SIGTERM); err != nil {
		t.Errorf("Stop after the end: %v", err)
	}
}

func TestStopKillsWhatDoesNotListen(t *testing.T) {
	t.Parallel()
	process := startShell(t, newFolder(t), `trap '' TERM; touch up; while :; do sleep 0.05; done`)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := process.Stop(ctx, syscall.SIGTERM); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Stop: got %v, want the end of the context", err)
	}
	if process.Running() {
		t.Error("the process still runs")
	}
}

func TestKillTakesTheChildrenToo(t *testing.T) {
	t.Parallel()
	process := startShell(t, newFolder(t), `sleep 300 & sh -c 'sleep 300 & wait' & touch up; wait`)
	var family []int
	eventually(t, "four processes run", func() bool {
		family = process.family()
		return len(family) == 4
	})
	if err := process.Kill(); err != nil {
		t.Errorf("Kill: %v", err)
	}
	if left := alive(family); len(left) != 0 {
		t.Errorf("processes %v of %v are left", left, family)
	}
}

func TestPauseStopsAndResumeContinues(t *testing.T) {
	t.Parallel()
	process := startShell(t, newFolder(t), `touch up; while :; do sleep 0.05; done`)
	stopped := func() bool {
		state, _, _ := procStat(process.PID())
		return state == "T"
	}
	process.Pause()
	eventually(t, "the process is stopped", stopped)
	process.Resume()
	eventually(t, "the process continues", func() bool { return !stopped() })
	process.Pause()
	if err := process.Stop(t.Context(), syscall.SIGTERM); err != nil {
		t.Errorf("Stop of a paused process: %v", err)
	}
}

func TestServerRunsAsTheFoldersUser(t *testing.T) {
	t.Parallel()
	folder := newFolder(t)
	if err := Run(t.Context(), folder, shell("id -u; pwd; touch mine")); err != nil {
		t.Fatal(err)
	}
	said := folder.LogTail()
	if os.Geteuid() == 0 && strings.HasPrefix(said, "0\n") {
		t.Errorf("the program ran as root: %q", said)
	}
	if _, err := os.Stat(filepath.Join(folder.Path, "mine")); err != nil {
		t.Errorf("the program could not write its folder: %v", err)
	}
	info, err := os.Stat(folder.Path)
	if err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("folder: %v, mode %v; want it closed to others", err, info.Mode())
	}
}

func TestRunTellsWhyAProgramFailed(t *testing.T) {
	t.Parallel()
	err := Run(t.Context(), newFolder(t), shell("echo no space; exit 4"))
	if err == nil || !strings.Contains(err.Error(), "no space") || !strings.Contains(err.Error(), "exit status 4") {
		t.Errorf("got %v, want the status and the end of the log", err)
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if err := Run(ctx, newFolder(t), shell("sleep 300")); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want the end of the context", err)
	}
}

func TestProgramThatCannotStart(t *testing.T) {
	t.Parallel()
	_, err := Start(newFolder(t), Program{Path: "/does/not/exist"}, syscall.SIGKILL)
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("got %v, want that there is no such program", err)
	}
}
