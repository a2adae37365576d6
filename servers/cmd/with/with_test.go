package main

import (
	"bytes"
	"flag"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"go.uber.org/goleak"
)

// envMain makes the test program behave as the command, so that signals can be sent to it.
const envMain = "SATCHEL_TEST_WITH_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(envMain) != "" {
		main()
	}
	flag.Parse()
	goleak.VerifyTestMain(m)
}

func TestStatusIsTheCommands(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		args []string
		want int
	}{
		"success":        {[]string{"--", "true"}, 0},
		"failure":        {[]string{"--", "sh", "-c", "exit 37"}, 37},
		"signal":         {[]string{"--", "sh", "-c", "kill -TERM $$"}, 128 + int(syscall.SIGTERM)},
		"no such":        {[]string{"--", "/does/not/exist"}, statusCommand},
		"no command":     {[]string{"-redis"}, statusUsage},
		"unknown flag":   {[]string{"-oracle", "--", "true"}, statusUsage},
		"broken setting": {[]string{"-postgres-setting", "fsync", "--", "true"}, statusUsage},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if got := run(t.Context(), test.args, io.Discard); got != test.want {
				t.Errorf("status %d, want %d", got, test.want)
			}
		})
	}
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	o, err := parse([]string{
		"-postgres", "-postgres-ephemeral", "-postgres-setting", "max_connections=300",
		"-postgres-setting", "search_path=a=b", "-kafka", "make", "-k", "test",
	}, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if !o.postgres || o.redis || !o.kafka || !o.ephemeral ||
		o.settings["max_connections"] != "300" || o.settings["search_path"] != "a=b" ||
		strings.Join(o.command, " ") != "make -k test" {
		t.Errorf("read as %+v", o)
	}
}

// The command finds its servers by the environment, and they are gone afterwards.
func TestServersAreThereForTheCommand(t *testing.T) {
	for _, name := range []string{"SATCHEL_DATABASE_URL", "SATCHEL_REDIS_URL", "SATCHEL_REQUIRE_REAL"} {
		t.Setenv(name, "")
	}
	seen := filepath.Join(t.TempDir(), "seen")
	var out bytes.Buffer
	status := run(t.Context(), []string{
		"-postgres", "-postgres-ephemeral", "-redis", "--",
		"sh", "-c", `echo "$SATCHEL_DATABASE_URL $SATCHEL_REDIS_URL" >"$0"; exit 3`, seen,
	}, &out)
	text, err := os.ReadFile(seen)
	if status != 3 || err != nil {
		t.Fatalf("status %d, %v; it printed:\n%s", status, err, &out)
	}
	urls := strings.Fields(string(text))
	if len(urls) != 2 || !strings.HasPrefix(urls[0], "postgres://") || !strings.HasPrefix(urls[1], "redis://") {
		t.Errorf("the command saw %q", urls)
	}
	for _, line := range []string{"postgres: ", "redis: "} {
		if !strings.Contains(out.String(), line) {
			t.Errorf("no line for %sin:\n%s", line, &out)
		}
	}

	// Once more, with what is now the URL of a server that was stopped: it must not be replaced by another.
	t.Setenv("SATCHEL_DATABASE_URL", urls[0])
	out.Reset()
	if status := run(t.Context(), []string{"-postgres", "--", "true"}, &out); status != statusServers {
		t.Errorf("status %d with a given server that is gone, want %d:\n%s", status, statusServers, &out)
	}
}

// A signal reaches the command, and the servers are stopped after it.
func TestSignalReachesTheCommand(t *testing.T) {
	t.Parallel()
	for name, sig := range map[string]syscall.Signal{"TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(os.Args[0], "--", "sh", "-c",
				`trap 'echo heard; exit 9' `+name+`; echo up; while :; do sleep 0.05; done`)
			cmd.Env = append(os.Environ(), envMain+"=1")
			out, err := cmd.StdoutPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			up := make([]byte, len("up\n"))
			if _, err := io.ReadFull(out, up); err != nil {
				t.Fatal(err)
			}
			if err := cmd.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			rest, _ := io.ReadAll(out)
			_ = cmd.Wait()
			if got := cmd.ProcessState.ExitCode(); got != 9 || string(rest) != "heard\n" {
				t.Errorf("status %d, output %q; want the command's own end", got, rest)
			}
		})
	}
}

// "go run" passes no signal on; when it is gone, the command is told to end all the same.
func TestEndOfGoRunReachesTheCommand(t *testing.T) {
	t.Parallel()
	if _, err := os.Stat("/proc/self/comm"); err != nil {
		t.Log("nothing is promised without /proc")
		return
	}
	folder := t.TempDir()
	fakeGo := filepath.Join(folder, "go")
	if err := os.Symlink("/bin/sh", fakeGo); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(fakeGo, "-c", `"$0" -- sh -c 'trap "echo heard; exit" TERM; echo up; while :; do sleep 0.05; done'; :`,
		os.Args[0])
	cmd.Env = append(os.Environ(), envMain+"=1")
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	up := make([]byte, len("up\n"))
	if _, err := io.ReadFull(out, up); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(out) // ends when the command does
	if err != nil || string(rest) != "heard\n" {
		t.Errorf("after the end of go run the command said %q, %v", rest, err)
	}
	_ = cmd.Wait() // killed, as it should be
}

// A signal while the servers are being found ends the search.
func TestSignalEndsTheSearch(t *testing.T) {
	t.Parallel()
	s := &signals{arrived: make(chan os.Signal, 1)}
	s.arrived <- syscall.SIGTERM
	ctx, cancel := s.cancelled(t.Context())
	defer cancel()
	<-ctx.Done()
	ctx2, cancel2 := s.cancelled(t.Context())
	if ctx2.Err() != nil {
		t.Error("one signal ended two searches")
	}
	cancel2()
}
