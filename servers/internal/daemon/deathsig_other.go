//go:build !linux

package daemon

import "syscall"

// signalOnParentDeath does nothing here: the guard alone ends a server whose owner died.
func signalOnParentDeath(*syscall.SysProcAttr, syscall.Signal) {}
