package main

import (
	"strings"
	"testing"
)

func TestWithDatabase(t *testing.T) {
	t.Parallel()
	for given, want := range map[string]string{
		"postgres://u:p@h:1/postgres?sslmode=disable": "postgres://u:p@h:1/demo?sslmode=disable",
		"postgres://h":             "postgres://h/demo",
		"host=h dbname=a user='x'": "host=h dbname=a user='x' dbname=demo",
	} {
		if got, err := withDatabase(given, "demo"); err != nil || got != want {
			t.Errorf("%s: got %s, %v", given, got, err)
		}
	}
	if _, err := withDatabase("postgres://u:secret@h:x/y", "demo"); err == nil || strings.Contains(err.Error(), "secret") {
		t.Errorf("a URL that cannot be read: %v", err)
	}
}

func TestNumber(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int{"": 7, "1": 1, "9": 9, "0": 0, "10": 0, "x": 0} {
		n, err := number("ORDERS", text, 7, 1, 9)
		if n != want || (err != nil) != (want == 0) {
			t.Errorf("%q: got %d, %v", text, n, err)
		}
	}
}
