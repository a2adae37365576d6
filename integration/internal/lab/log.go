package lab

import (
	"context"
	"log/slog"
	"strings"
	"sync"
)

// Log is a slog.Handler that keeps what it is given.
type Log struct {
	mu      sync.Mutex
	records []slog.Record
}

var _ slog.Handler = (*Log)(nil)

// Logger returns a logger that writes here, at every level.
func (l *Log) Logger() *slog.Logger { return slog.New(l) }

// Enabled implements slog.Handler.
func (l *Log) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (l *Log) Handle(_ context.Context, r slog.Record) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.records = append(l.records, r.Clone())
	return nil
}

// WithAttrs implements slog.Handler; the attributes are dropped.
func (l *Log) WithAttrs([]slog.Attr) slog.Handler { return l }

// WithGroup implements slog.Handler.
func (l *Log) WithGroup(string) slog.Handler { return l }

// Count returns the number of lines whose message contains a text.
func (l *Log) Count(text string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := 0
	for _, r := range l.records {
		if strings.Contains(r.Message, text) {
			n++
		}
	}
	return n
}

// Lines returns the messages so far.
func (l *Log) Lines() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := make([]string, len(l.records))
	for i, r := range l.records {
		out[i] = r.Message
	}
	return out
}
