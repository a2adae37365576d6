package lab

import (
	"syscall"
	"time"
)

// ProcessorTime returns the time that this process has computed. Unlike the time by the
// clock it hardly changes when the machine does something else besides.
func ProcessorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
