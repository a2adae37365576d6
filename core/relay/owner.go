package relay

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"

	"github.com/satchel-go/satchel/core/internal/text"
)

// newOwner returns a name that no other relay has, also not an earlier one of the
// same host or process.
func newOwner() string {
	host, err := os.Hostname()
	if err != nil || text.Check(host) != text.None {
		host = "host"
	}
	return fmt.Sprintf("%.180s-%d-%.8s", host, os.Getpid(), strings.ToLower(rand.Text()))
}
