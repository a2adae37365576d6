package daemon

import "syscall"

// signalOnParentDeath lets the kernel signal the child when the thread that started it ends (see Process.own).
func signalOnParentDeath(attr *syscall.SysProcAttr, sig syscall.Signal) { attr.Pdeathsig = sig }
