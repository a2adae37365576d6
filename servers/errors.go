package servers

import (
	"errors"
	"os"
)

var (
	// ErrUnavailable tells that no source had a server. The error that matches it holds the reason of each.
	ErrUnavailable = errors.New("no server available")

	// ErrGiven refuses to disturb a server that this process was given and did not start.
	ErrGiven = errors.New("a given server is not ours to disturb")

	// ErrStopped tells that the server was stopped for good.
	ErrStopped = errors.New("server was stopped")

	// ErrStandIn tells that only a stand-in was left and that stand-ins were refused.
	ErrStandIn = errors.New("a stand-in would be used, and a real server is required")
)

// EnvRequireReal is the variable that refuses stand-ins when it is set to 1. A continuous build sets it, so that a
// green run means that the real servers were there.
const EnvRequireReal = "SATCHEL_REQUIRE_REAL"

// RealRequired reports whether the environment refuses stand-ins.
func RealRequired() bool { return os.Getenv(EnvRequireReal) == "1" }
