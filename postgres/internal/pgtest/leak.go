package pgtest

import (
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// Main runs the tests of a package, drops the databases they used, and reports
// goroutines that outlived them.
func Main(m *testing.M) {
	flag.Parse()
	parallel := true
	flag.Visit(func(f *flag.Flag) { parallel = parallel && f.Name != "test.parallel" })
	if parallel { // the tests wait for a server and for time to pass, not for a processor
		_ = flag.Set("test.parallel", "4")
	}
	code := m.Run()
	if err := stop(); err != nil {
		fmt.Fprintln(os.Stderr, "drop the test databases:", err)
		code = max(code, 1)
	}
	if left := leaked(); left != "" && code == 0 {
		fmt.Fprintf(os.Stderr, "goroutines outlived the tests:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// leaked returns the stacks of goroutines that run code of this module or of a
// database driver, after giving them time to end.
func leaked() (left string) {
	for range 100 {
		if left = running(); left == "" {
			return ""
		}
		time.Sleep(50 * time.Millisecond)
	}
	return left
}

func running() string {
	stacks := make([]byte, 1<<20)
	stacks = stacks[:runtime.Stack(stacks, true)]
	var left []string
	for i, stack := range strings.Split(string(stacks), "\n\n") {
		if i == 0 { // this goroutine
			continue
		}
		for _, owner := range []string{"satchel-go/satchel/", "jackc/pgx", "jackc/puddle", "lib/pq", "database/sql"} {
			if strings.Contains(stack, owner) {
				left = append(left, stack)
				break
			}
		}
	}
	return strings.Join(left, "\n\n")
}
