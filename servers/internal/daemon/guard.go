package daemon

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// guardScript waits for a line on its standard input. A line means that all ended well. An end without a line means
// that the owner died: the kernel closed its side of the pipe. Then the server is told to end (and continued, since a
// stopped process hears nothing), and its folder goes; the loop is for files that a dying server still writes.
const guardScript = `
if read -r _; then exit 0; fi
pid=$(cat "$1/pid" 2>/dev/null)
if [ -n "$pid" ]; then kill -"$2" "$pid"; kill -CONT "$pid"; fi 2>/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do
	sleep 1
	rm -rf "$1" 2>/dev/null
	[ -e "$1" ] || exit 0
done
`

// guard outlives its owner on purpose, by the seconds that cleaning up takes, and by nothing else.
type guard struct {
	cmd  *exec.Cmd
	pipe io.WriteCloser
}

func startGuard(folder string, u *User, last syscall.Signal) (*guard, error) {
	cmd := exec.Command("/bin/sh", "-c", guardScript, "guard", folder, strconv.Itoa(int(last)))
	cmd.Dir = "/"
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	// A process group of its own: an interrupt typed at the terminal must not end the guard before its owner.
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Credential: u.credential()}
	pipe, err := cmd.StdinPipe()
	if err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("guard: %w", err)
	}
	return &guard{cmd: cmd, pipe: pipe}, nil
}

// dismiss tells the guard that its work is done. A guard that somebody killed needs no telling, hence no errors here.
func (g *guard) dismiss() {
	_, _ = io.WriteString(g.pipe, "done\n")
	_ = g.pipe.Close()
	_ = g.cmd.Wait()
}
