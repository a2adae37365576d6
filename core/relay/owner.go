package relay

import (
	"crypto/rand"
	"fmt"
	"os"
	"strings"
	"unicode/utf8"
)

// newOwner returns a name that no other relay has, also not an earlier one of the
// same host or process.
func newOwner() string {
	host, err := os.Hostname()
	if err != nil || checkOwner(host) != "" {
		host = "host"
	}
	return fmt.Sprintf("%.180s-%d-%.8s", host, os.Getpid(), strings.ToLower(rand.Text()))
}

func checkOwner(owner string) string {
	switch {
	case strings.TrimSpace(owner) == "":
		return "is blank"
	case !utf8.ValidString(owner) || strings.ContainsRune(owner, 0):
		return "is not valid text"
	case utf8.RuneCountInString(owner) > 255:
		return "is longer than 255 characters"
	}
	return ""
}
