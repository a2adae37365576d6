// Package stmt holds the SQL of the store: one file for each statement, read as SQL.
//
// A table is written {name}; [Load] puts the configured schema in front, once, when
// a store is made. Nothing else is ever put into a statement: every value is a
// parameter.
package stmt

import (
	"embed"
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/satchel-go/satchel/core/fault"
)

//go:embed sql/*.sql
var files embed.FS

// Set is the statements for one placement of the tables.
type Set struct {
	Settings, Claim, ClaimTurn, Strays, NextDue, Notify        string
	SettleKeep, SettleDelete, SettleArchive, SettleOther       string
	Successors                                                 string
	LeaseEnd, LeaseRenew                                       string
	RelayAdvertise, RelayReap, RelayRetire                     string
	Reclaim, Bump, Heal                                        string
	DeletePublished, DeleteDeadLetters, DeleteInbox            string
	Insert, InsertOne, InboxRecord, LockAggregate              string
	MaintenanceLock, MaintenanceBegin, MaintenanceEnd, LastRun string
	ArchiveMaintain                                            string

	// Outbox is the qualified name of the table of entries.
	Outbox string
}

// Load returns the statements with every table in the given schema, or unqualified
// when schema is empty. The schema must be one valid identifier.
func Load(schema string) (*Set, error) {
	prefix := ""
	if schema != "" {
		if reason := checkIdentifier(schema); reason != "" {
			return nil, fault.NewInvalid("schema name", reason)
		}
		prefix = quote(schema) + "."
	}
	s := &Set{Outbox: prefix + "outbox"}
	for name, target := range map[string]*string{
		"settings": &s.Settings, "claim": &s.Claim, "claim_turn": &s.ClaimTurn, "strays": &s.Strays, "next_due": &s.NextDue, "notify": &s.Notify,
		"settle_keep": &s.SettleKeep, "settle_delete": &s.SettleDelete, "settle_archive": &s.SettleArchive, "settle_other": &s.SettleOther,
		"successors": &s.Successors, "lease_end": &s.LeaseEnd, "lease_renew": &s.LeaseRenew,
		"relay_advertise": &s.RelayAdvertise, "relay_reap": &s.RelayReap, "relay_retire": &s.RelayRetire,
		"reclaim": &s.Reclaim, "bump": &s.Bump, "heal": &s.Heal,
		"delete_published": &s.DeletePublished, "delete_dead_letters": &s.DeleteDeadLetters, "delete_inbox": &s.DeleteInbox,
		"insert": &s.Insert, "insert_one": &s.InsertOne, "inbox_record": &s.InboxRecord, "lock_aggregate": &s.LockAggregate,
		"maintenance_lock": &s.MaintenanceLock, "maintenance_begin": &s.MaintenanceBegin, "maintenance_end": &s.MaintenanceEnd, "archive_maintain": &s.ArchiveMaintain,
		"last_run": &s.LastRun,
	} {
		text, err := files.ReadFile("sql/" + name + ".sql")
		if err != nil {
			return nil, fmt.Errorf("satchel: statement %s: %w", name, err)
		}
		*target = place(string(text), prefix)
	}
	return s, nil
}

var (
	comment = regexp.MustCompile(`(?m)^\s*--.*\n`)
	table   = regexp.MustCompile(`\{(\w+)\}`)
)

// place drops the comments, which a server would parse each time, and qualifies tables.
func place(text, prefix string) string {
	text = comment.ReplaceAllString(text, "")
	return strings.TrimSuffix(strings.TrimSpace(table.ReplaceAllString(text, strings.ReplaceAll(prefix, "$", "$$")+"$1")), ";")
}

// checkIdentifier says why a name cannot be a schema, or "". Whatever PostgreSQL takes
// in quotes is accepted, except what would mean something else.
func checkIdentifier(name string) string {
	switch {
	case strings.TrimSpace(name) == "":
		return "is blank"
	case len(name) > 63:
		return "is longer than 63 bytes"
	case !utf8.ValidString(name) || strings.ContainsFunc(name, unicode.IsControl):
		return "is not valid text"
	case strings.Contains(name, "."):
		return "has a dot: one name is wanted, not a qualified one"
	case strings.HasPrefix(name, "pg_"), name == "information_schema", name == "$user":
		return "is reserved by PostgreSQL"
	}
	return ""
}

// quote keeps the case of the name and makes keywords harmless.
func quote(name string) string { return `"` + strings.ReplaceAll(name, `"`, `""`) + `"` }
