package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// watchGoRun sends SIGTERM to signals when "go run", which started this process, is gone. "go run" passes no signal on:
// one that is ended, as by timeout(1), would leave us, the command and the servers behind. Any other parent may end
// without meaning us, so it is not watched. Where there is no /proc, nothing is.
func watchGoRun(arrived chan<- os.Signal, done <-chan struct{}) {
	parent := os.Getppid()
	name, err := os.ReadFile("/proc/" + strconv.Itoa(parent) + "/comm")
	if err != nil || strings.TrimSpace(string(name)) != "go" {
		return
	}
	const interval = 250 * time.Millisecond
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		select {
		case <-done:
			return
		case <-ticker.C:
			if os.Getppid() != parent {
				select {
				case arrived <- syscall.SIGTERM:
				case <-done:
				}
				return
			}
		}
	}
}
