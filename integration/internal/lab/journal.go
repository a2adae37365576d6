package lab

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/satchel-go/satchel/core/delivery"
)

// Kinds of events.
const (
	Began     = "began"     // a handler was called
	Delivered = "delivered" // it is about to return nil
	Failed    = "failed"    // it is about to return an error that allows another attempt
	Died      = "died"      // it is about to return an error that does not
	Killed    = "killed"    // a node was killed before this
	Amnesty   = "amnesty"   // whatever was delivered before this may be delivered again
)

// Event is a line of a journal.
type Event struct {
	Kind      string
	Node      string
	Aggregate string `json:",omitempty"`
	N         int    `json:",omitempty"`
	Entry     int64  `json:",omitempty"`
	Message   string `json:",omitempty"`
}

// Journal is a file to which any number of processes append.
type Journal struct {
	// Path is given to child processes.
	Path string
	file *os.File
}

// NewJournal returns an empty journal for a test.
func NewJournal(t testing.TB) *Journal {
	t.Helper()
	j, err := OpenJournal(filepath.Join(t.TempDir(), "journal"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = j.file.Close() })
	return j
}

// OpenJournal opens the journal at path.
func OpenJournal(path string) (*Journal, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_RDWR, 0o600)
	return &Journal{Path: path, file: file}, err
}

// Write appends an event. The system keeps each write in one piece, also among processes.
func (j *Journal) Write(e Event) {
	line, err := json.Marshal(e)
	if err == nil {
		_, err = j.file.Write(append(line, '\n'))
	}
	if err != nil {
		panic(err) // the test would be blind from here on
	}
}

// Record surrounds the work of a handler with its events. work gets the entry's number within its aggregate.
func (j *Journal) Record(ctx context.Context, node string, e delivery.Envelope, work func(ctx context.Context, n int) error) error {
	event := Event{Node: node, Aggregate: e.AggregateID, N: Number(e), Entry: int64(e.ID), Message: e.MessageID.String()}
	event.Kind = Began
	j.Write(event)
	err := work(ctx, event.N)
	switch {
	case err == nil:
		event.Kind = Delivered
	case delivery.VerdictOf(err) == delivery.VerdictPermanent:
		event.Kind = Died
	default:
		event.Kind = Failed
	}
	j.Write(event)
	return err
}

// Events reads everything that was written so far.
func (j *Journal) Events(t testing.TB) []Event {
	t.Helper()
	text, err := os.ReadFile(j.Path)
	if err != nil {
		t.Fatal(err)
	}
	var events []Event
	for s := bufio.NewScanner(bytes.NewReader(text)); s.Scan(); {
		var e Event
		if err := json.Unmarshal(s.Bytes(), &e); err != nil {
			t.Fatalf("journal: %v", err)
		}
		events = append(events, e)
	}
	return events
}

// Count returns the number of events of a kind.
func (j *Journal) Count(t testing.TB, kind string) int {
	t.Helper()
	n := 0
	for _, e := range j.Events(t) {
		if e.Kind == kind {
			n++
		}
	}
	return n
}
