package lab

import (
	"flag"
	"fmt"
	"os"
	"testing"

	"go.uber.org/goleak"
)

// Main runs the tests of a package, or, in a child process, the role that it was started for. After the tests it drops
// their databases and fails if a goroutine is left.
func Main(m *testing.M, roles map[string]Role) {
	if name := os.Getenv(roleVariable); name != "" {
		os.Exit(act(name, roles))
	}
	flag.Parse()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "test.parallel" })
	if !given { // tests wait for time to pass, not for a processor
		_ = flag.Set("test.parallel", "8")
	}
	code := m.Run()
	if err := dropAll(); err != nil {
		fmt.Fprintln(os.Stderr, "drop the test databases:", err)
		code = max(code, 1)
	}
	if err := Leaks(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// Leaks waits for goroutines to end and describes those that do not.
func Leaks(options ...goleak.Option) (err error) {
	for range 8 { // one call waits about two seconds
		if err = goleak.Find(options...); err == nil {
			return nil
		}
	}
	return err
}

// Stress reports whether tests should be larger and longer.
func Stress() bool { return os.Getenv("SATCHEL_STRESS") == "1" }

// Sized returns the usual size of something, or the larger one under stress.
func Sized(usual, stress int) int {
	if Stress() {
		return stress
	}
	return usual
}
