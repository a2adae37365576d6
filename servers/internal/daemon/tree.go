package daemon

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Kill ends the process and its children by SIGKILL, as a crash would, and returns when all of them are gone.
func (p *Process) Kill() error {
	family := p.family()
	p.signal(family, syscall.SIGKILL)
	<-p.done
	// The children are reaped by somebody else; a server started anew in the same folder may refuse while one lives.
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if left := alive(family[1:]); len(left) == 0 {
			return nil
		} else if time.Now().After(deadline) {
			return fmt.Errorf("processes %v survived SIGKILL", left)
		}
	}
}

// Pause stops the process and its children (SIGSTOP): connections stay open, and nothing answers any more.
func (p *Process) Pause() { p.signal(p.family(), syscall.SIGSTOP) }

// Resume continues what Pause stopped.
func (p *Process) Resume() { p.signal(p.family(), syscall.SIGCONT) }

func (p *Process) signal(family []int, sig syscall.Signal) {
	if !p.Running() {
		return
	}
	for _, pid := range family {
		_ = syscall.Kill(pid, sig) // a child may have ended meanwhile
	}
}

// family lists the process first, then its children and theirs. The parent comes first so that it cannot start
// another child while they are being stopped.
func (p *Process) family() []int {
	children := make(map[int][]int)
	for _, pair := range processTable() {
		children[pair.parent] = append(children[pair.parent], pair.pid)
	}
	family := []int{p.pid}
	for i := 0; i < len(family); i++ {
		family = append(family, children[family[i]]...)
	}
	return family
}

type kinship struct{ pid, parent int }

// processTable reads /proc, which needs no program, or asks ps where there is no /proc.
func processTable() []kinship {
	if entries, err := os.ReadDir("/proc"); err == nil && len(entries) > 0 {
		return fromProc(entries)
	}
	out, err := exec.Command("ps", "-A", "-o", "pid=,ppid=").Output()
	if err != nil {
		return nil
	}
	var table []kinship
	for line := range strings.Lines(string(out)) {
		var k kinship
		if n, _ := fmt.Sscan(line, &k.pid, &k.parent); n == 2 {
			table = append(table, k)
		}
	}
	return table
}

func fromProc(entries []os.DirEntry) []kinship {
	var table []kinship
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if _, parent, ok := procStat(pid); ok {
			table = append(table, kinship{pid: pid, parent: parent})
		}
	}
	return table
}

// procStat returns the state letter and the parent. The name before them is in parentheses and may hold anything.
func procStat(pid int) (state string, parent int, ok bool) {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return "", 0, false
	}
	_, rest, found := strings.Cut(string(stat[strings.LastIndexByte(string(stat), ')')+1:]), " ")
	if !found {
		return "", 0, false
	}
	n, _ := fmt.Sscan(rest, &state, &parent)
	return state, parent, n == 2
}

// alive returns those that still run. A zombie has ended and holds nothing, but signal 0 still finds it.
func alive(pids []int) []int {
	var left []int
	for _, pid := range pids {
		if syscall.Kill(pid, 0) != nil {
			continue
		}
		if state, _, ok := procStat(pid); ok && state == "Z" {
			continue
		}
		left = append(left, pid)
	}
	return left
}
