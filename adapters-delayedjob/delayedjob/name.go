package delayedjob

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/satchel-go/satchel/core/claim"
)

const (
	// maxJobID is the longest job id: a job id is a destination of the outbox.
	maxJobID = claim.MaxTargetLength
	// maxQueue leaves room for a band's suffix in a Redis key of a sane length.
	maxQueue = 128
)

// checkName says why a name cannot be used, as the end of a sentence, or "".
// asynq itself accepts everything that is not blank, but a task is a protobuf
// message: one malformed character would fail on every attempt, inside asynq and
// without a type that tells it from a Redis that is down.
func checkName(s string, limit int) string {
	switch {
	case strings.TrimSpace(s) == "":
		return "is empty or blank"
	case utf8.RuneCountInString(s) > limit:
		return "is too long"
	}
	return checkText(s)
}

// checkText is the part of checkName that also holds for optional text.
func checkText(s string) string {
	switch {
	case !utf8.ValidString(s):
		return "is not valid UTF-8"
	case strings.ContainsFunc(s, unicode.IsControl):
		return "has a control character"
	}
	return ""
}

// checkPrefix is checkText for the prefix of headers. Spaces and colons end the name of
// a header wherever tasks are passed on over a text protocol.
func checkPrefix(s string) string {
	if strings.ContainsAny(s, " :") {
		return "has a space or a colon"
	}
	return checkText(s)
}

// checkQueue is checkName for queues. Braces are refused because asynq puts the
// queue between braces, where Redis Cluster reads the hash tag.
func checkQueue(s string) string {
	if strings.ContainsAny(s, "{}") {
		return "has a brace"
	}
	return checkName(s, maxQueue)
}
